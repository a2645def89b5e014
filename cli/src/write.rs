//! Where results go: Matrix Market files.

use sparring::io::{WriteOptions, write_matrix_market};
use sparring::{Csr, Result};

/// Writes `a` to the file `path`.
pub(crate) fn save(path: &str, a: &Csr<f64>) -> Result<()> {
    write_matrix_market(path, a, &WriteOptions::new())
}
