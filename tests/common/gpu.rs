//! The device that the tests run on, where there is one.

use sparring::{Cuda, Error};

/// Device 0; `None`, and a word about it, where there is none.
pub(crate) fn cuda() -> Option<Cuda> {
    match Cuda::new(0) {
        Ok(cuda) => Some(cuda),
        Err(Error::NoDevice { .. }) => {
            eprintln!("skipped: no GPU");
            None
        }
        Err(e) => panic!("{e}"),
    }
}
