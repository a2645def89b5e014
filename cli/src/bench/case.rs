//! What is measured: generated matrices by their names, and files.

use sparring::algebra::Type;
use sparring::{Csr, Dense, Vector, runtime};
use sparring_generate::{self as generate, Checks};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::read;

/// What `context.load` calls a case: a name is that of a generated one, unless it looks like a file's.
pub(super) fn source(name: &str) -> String {
    let file = name.ends_with(".mtx") || name.ends_with(".gz") || read::generated(name).is_some();
    if file { name.into() } else { format!("gen:{name}") }
}

pub(super) fn load(context: &Context, name: &str) -> Result<Csr<f64>> {
    Ok(context.load(&source(name))?.0.matrix)
}

/// The sums of a product follow from its factors; a result with others is wrong, however fast.
pub(super) fn verify(name: &str, expected: Checks, found: Checks, once: [Option<Checks>; 2]) -> Result {
    let [sorted, unsorted] = once;
    for (what, found) in [("", Some(found)), (", for one use", sorted), (", unsorted", unsorted)] {
        if let Some(found) = found.filter(|found| !found.agrees(&expected)) {
            return Err(Failure::Wrong(format!("{name}{what}: checksums {found:?}, expected {expected:?}")));
        }
    }
    Ok(())
}

/// The error of a result that is not of f64.
fn other_type() -> sparring::Error {
    sparring::Error::Argument { name: "c", message: "it is not of f64".into() }
}

/// What an operation made.
pub(super) enum Made {
    Matrix(Csr<f64>),
    /// Places without an entry count as 0.
    Vector(Vector<f64>),
    Entries(Vector<f64>),
    /// Of a type and on a machine known at run time.
    Named(runtime::Vector),
    NamedMatrix(runtime::Matrix),
    Dense(Dense<f64>),
    Number(f64),
    /// What was there has it.
    Nothing,
}

/// A way of doing it: what its times are called, and one run.
pub(super) type Way<'a> = (&'static str, Box<dyn FnMut() -> sparring::Result<Made> + 'a>);

impl Made {
    /// Entries and sums, to compare with those of others.
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
