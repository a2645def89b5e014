//! What is measured: generated matrices by their names, and files.

use sparring::Csr;

use crate::context::Context;
use crate::failure::Result;
use crate::read;

/// What `context.load` calls a case: a name is that of a generated one, unless it looks like a file's.
pub(super) fn source(name: &str) -> String {
    let file = name.ends_with(".mtx") || name.ends_with(".gz") || read::generated(name).is_some();
    if file { name.into() } else { format!("gen:{name}") }
}

pub(super) fn load(context: &Context, name: &str) -> Result<Csr<f64>> {
    Ok(context.load(&source(name))?.0.matrix)
}
