//! Benchmark cases: generated matrices by name, and files.

use sparring::algebra::Type;
use sparring::{Csr, Dense, Vector, runtime};
use sparring_generate::{self as generate, Checks};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::read;

/// The argument of `context.load` for a case: a generated matrix, unless the name looks like a file.
pub(super) fn source(name: &str) -> String {
    let file = name.ends_with(".mtx") || name.ends_with(".gz") || read::generated(name).is_some();
    if file { name.into() } else { format!("gen:{name}") }
}

pub(super) fn load(context: &Context, name: &str) -> Result<Csr<f64>> {
    Ok(context.load(&source(name))?.0.matrix)
}

/// Checks the sums of a product against those computed from its factors.
pub(super) fn verify(name: &str, expected: Checks, found: Checks, once: [Option<Checks>; 2]) -> Result {
    let [sorted, unsorted] = once;
    for (what, found) in [("", Some(found)), (", for one use", sorted), (", unsorted", unsorted)] {
        if let Some(found) = found.filter(|found| !found.agrees(&expected)) {
            return Err(Failure::Wrong(format!("{name}{what}: checksums {found:?}, expected {expected:?}")));
        }
    }
    Ok(())
}

/// The error for a result that is not f64.
fn other_type() -> sparring::Error {
    sparring::Error::Argument { name: "c", message: "it is not of f64".into() }
}

/// The result of an operation.
pub(super) enum Output {
    Matrix(Csr<f64>),
    /// Absent entries count as 0.
    Vector(Vector<f64>),
    Entries(Vector<f64>),
    /// An untyped vector.
    Named(runtime::Vector),
    NamedMatrix(runtime::Matrix),
    Dense(Dense<f64>),
    Number(f64),
    /// The result was written into an existing object.
    Nothing,
}

/// A variant of an operation: the prefix of its times, and a function that runs it once.
pub(super) type Variant<'a> = (&'static str, Box<dyn FnMut() -> sparring::Result<Output> + 'a>);

impl Output {
    /// Entries and checksums, for comparison with other libraries.
    pub(super) fn checks(self) -> sparring::Result<Option<(usize, Checks)>> {
        let row = |n: usize, js: Vec<u32>, xs: Vec<f64>| Csr::new(1, n, vec![0, js.len()], js, xs);
        let c = match self {
            Self::Matrix(c) => c,
            Self::NamedMatrix(c) => c.download()?.csr::<f64>().ok_or_else(other_type)?.clone(),
            Self::Vector(y) => row(y.len(), (0..y.len() as u32).collect(), y.to_dense(0.0)?)?,
            Self::Entries(y) => {
                let (js, xs) = y.to_sparse()?.into_parts();
                row(y.len(), js, xs)?
            }
            Self::Named(y) => {
                let y = y.download()?.cast(Type::F64)?;
                let (js, xs) = y.typed::<f64>().ok_or_else(other_type)?.to_sparse()?.into_parts();
                row(y.len(), js, xs)?
            }
            Self::Dense(y) => {
                let (m, n) = y.shape();
                let row_ptr = (0..=m).map(|i| i * n).collect();
                Csr::new(m, n, row_ptr, (0..m * n).map(|p| (p % n) as u32).collect(), y.values().to_vec())?
            }
            Self::Number(x) => row(1, vec![0], vec![x])?,
            Self::Nothing => return Ok(None),
        };
        Ok(Some((c.nnz(), generate::checks(&c))))
    }
}
