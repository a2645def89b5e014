//! Where results go: Matrix Market files.

use sparring::io::{WriteOptions, write_matrix_market, write_matrix_market_any};
use sparring::runtime::Matrix;
use sparring::{Csr, Error, Result};

/// Writes `a` to the file `path`.
pub(crate) fn save(path: &str, a: &Csr<f64>) -> Result<()> {
    write_matrix_market(path, a, &WriteOptions::new())
}

/// Writes `a` to the file `path`, as integers, a pattern, reals or complex numbers, by its type.
pub(crate) fn save_any(path: &str, a: &Matrix) -> Result<()> {
    let (Some(pattern), Some(values)) = (a.pattern(), a.values()) else {
        return Err(Error::Argument { name: "matrix", message: "it is on a GPU".into() });
    };
    write_matrix_market_any(path, pattern, values, &WriteOptions::new())
}
