//! What is measured: generated matrices by their names, and files.

use sparring::Csr;
use sparring_generate::Checks;

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
