//! The GPU that tests run on.

use sparring::{Cuda, Error};

/// The first GPU; `None`, said aloud, where there is none.
pub(crate) fn cuda() -> Option<Cuda> {
    match Cuda::new(0) {
        Ok(cuda) => Some(cuda),
        Err(Error::NoDevice { .. }) => {
            println!("skipped: no GPU");
            None
        }
        Err(e) => panic!("{e}"),
    }
}
