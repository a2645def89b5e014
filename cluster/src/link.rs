//! Messages between ranks: what the rest of the crate asks of MPI, all of it collective.

use std::fmt::Debug;
use std::sync::Arc;

#[cfg(feature = "mpi")]
use sparring::Error;
use sparring::Result;

/// A group of ranks that talk to each other; every rank of it makes the same calls in the same order.
pub(crate) trait Link: Debug + Send + Sync {
    /// Number of this rank in the group.
    fn rank(&self) -> usize;
    /// Ranks of the group.
    fn size(&self) -> usize;
    /// The bytes of every rank, in the order of ranks.
    fn all_gather(&self, mine: Vec<u8>) -> Result<Vec<Vec<u8>>>;
    /// The two words of every rank: the cheapest exchange there is.
    fn all_words(&self, mine: [u64; 2]) -> Vec<[u64; 2]>;
    /// Sends bytes to each rank of the group, and gives what each sent here.
    fn exchange(&self, to: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>>;
    /// The groups of ranks that name the same color, each in the order of ranks.
    fn split(&self, color: usize) -> Result<Arc<dyn Link>>;
    /// Ends the job, all ranks of it, with this status.
    fn abort(&self, status: i32) -> !;
}

/// A group of one.
#[derive(Debug)]
pub(crate) struct Alone;

impl Link for Alone {
    fn rank(&self) -> usize {
        0
    }
    fn size(&self) -> usize {
        1
    }
    fn all_gather(&self, mine: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        Ok(vec![mine])
    }
    fn all_words(&self, mine: [u64; 2]) -> Vec<[u64; 2]> {
        vec![mine]
    }
    fn exchange(&self, to: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        Ok(to)
    }
    fn split(&self, _: usize) -> Result<Arc<dyn Link>> {
        Ok(Arc::new(Alone))
    }
    fn abort(&self, status: i32) -> ! {
        std::process::exit(status)
    }
}

/// A buffer of bytes to be received, or the error of one that has no room.
#[cfg(feature = "mpi")]
pub(crate) fn room(bytes: usize) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let wrong = |_| Error::OutOfMemory { bytes: bytes as u128, what: "a message" };
    // An empty vector's address is one that means something else to Open MPI: `MPI_IN_PLACE`.
    buffer.try_reserve_exact(bytes.max(1)).map_err(wrong)?;
    buffer.resize(bytes, 0);
    Ok(buffer)
}
