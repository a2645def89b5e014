//! Where matrices come from: files, and names of generated ones. All reading is here.

use std::sync::Arc;

use sparring::par::Threads;
use sparring::runtime::Matrix;
use sparring::{Csr, Error, Result, generate, io};

/// A matrix and what its file says about it.
pub(crate) struct Source {
    pub(crate) field: &'static str,
    pub(crate) symmetry: &'static str,
    pub(crate) layout: &'static str,
    /// Entries in the file, before symmetry is expanded.
    pub(crate) stored: usize,
    pub(crate) matrix: Csr<f64>,
}

/// The name of the generated matrix that `argument` asks for, if it does.
pub(crate) fn generated(argument: &str) -> Option<&str> {
    argument.strip_prefix("gen:")
}

/// The argument without `sym:`, which asks for the undirected graph under the matrix.
fn symmetrized(argument: &str) -> Option<&str> {
    argument.strip_prefix("sym:")
}

/// Refuses what [`load`] could not even begin with: unknown names, files that cannot be opened.
pub(crate) fn check(argument: &str) -> Result<()> {
    if let Some(argument) = symmetrized(argument) {
        return check(argument);
    }
    match generated(argument) {
        Some(name) => generate::check_name(name),
        None => match std::fs::File::open(argument) {
            Ok(_) => Ok(()),
            Err(source) => Err(Error::Io { path: argument.into(), source }),
        },
    }
}

/// The matrix in the file `argument`, or the generated one if it begins with `gen:`. With `sym:` in front, the
/// pattern of A + Aᵀ without the diagonal, all ones.
pub(crate) fn load(argument: &str) -> Result<Source> {
    if let Some(argument) = symmetrized(argument) {
        let mut source = load(argument)?;
        let pattern = source.matrix.pattern().symmetrized(&Threads::current())?;
        let ones = vec![1.0; pattern.nnz()];
        source.matrix = Csr::with_pattern(Arc::new(pattern), ones)?;
        return Ok(source);
    }
    if let Some(name) = generated(argument) {
        let matrix = generate::matrix(name)?;
        return Ok(Source { field: "real", symmetry: "general", layout: "generated", stored: matrix.nnz(), matrix });
    }
    let file = io::read_matrix_market(argument)?;
    let header = &file.header;
    Ok(Source {
        field: header.field.name(),
        symmetry: header.symmetry.name(),
        layout: header.layout.name(),
        stored: header.stored,
        matrix: file.csr::<f64>()?,
    })
}

/// The same in the file's own type: integers as i64 (u64 where they are beyond it), patterns as bool, complex numbers as such.
pub(crate) fn load_any(argument: &str) -> Result<Matrix> {
    if symmetrized(argument).is_some() || generated(argument).is_some() {
        return Ok(load(argument)?.matrix.into());
    }
    let (pattern, values) = io::read_matrix_market(argument)?.any()?;
    Matrix::new(pattern, values)
}
