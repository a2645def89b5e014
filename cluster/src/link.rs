//! Collective communication between ranks: the operations that the rest of the crate needs from MPI.

use std::fmt::Debug;
use std::sync::Arc;

#[cfg(feature = "mpi")]
use sparring::Error;
use sparring::Result;

use crate::wire::{broken, grow};

/// A group of communicating ranks. All calls are collective over the group.
pub(crate) trait Link: Debug + Send + Sync {
    /// Rank of this process in the group.
    fn rank(&self) -> usize;
    /// Number of ranks in the group.
    fn size(&self) -> usize;
    /// All-gather: the bytes of every rank, in rank order, and their lengths.
    fn all_gather(&self, mine: &[u8]) -> Result<Parts>;
    /// All-gather into `all`, with lengths known to all ranks.
    fn all_gather_over(&self, mine: &[u8], lengths: &[usize], all: &mut [u8]);
    /// [`exchange`](Self::exchange) into `all`, with lengths known on both sides; empty parts cost no message.
    fn exchange_over(&self, to: &[u8], sent: &[usize], got: &[usize], all: &mut [u8]);
    /// Sends three arrays to every other rank, and fills the buffers `theirs`, in rank order, with those of the others;
    /// all lengths are known.
    fn spread(&self, mine: &[&[u8]; 3], theirs: Vec<[&mut [u8]; 3]>);
    /// All-gather of two words per rank: the cheapest collective.
    fn all_words(&self, mine: [u64; 2]) -> Vec<[u64; 2]>;
    /// All-to-all: sends part k to rank k, and returns the parts received, in rank order.
    fn exchange(&self, to: &Parts) -> Result<Parts>;
    /// Splits the group by color, each new group in rank order.
    fn split(&self, color: usize) -> Result<Arc<dyn Link>>;
    /// Aborts the whole job with this status.
    fn abort(&self, status: i32) -> !;
}

/// The message of a failed rank; no other message is one byte long.
const FAILED: u8 = 0;

/// A rank may fail to prepare its message, and the others must not block on it. These calls therefore take a `Result`:
/// a failed rank sends a failure notice instead, and the call is an error on every rank of the group.
impl dyn Link + '_ {
    /// [`all_gather`](Link::all_gather) of messages that are never one byte long; passes the `T` through.
    pub(crate) fn gather<T>(&self, mine: Result<(T, Vec<u8>)>) -> Result<(T, Parts)> {
        let all = self.all_gather(mine.as_ref().map_or(&[FAILED], |mine| &mine.1));
        let (made, _) = mine?;
        Ok((made, all?.of_all()?))
    }
    /// [`exchange`](Link::exchange) of messages that are never one byte long; passes the `T` through.
    pub(crate) fn all_to_all<T>(&self, to: Result<(T, Parts)>) -> Result<(T, Parts)> {
        let got = match &to {
            Ok((_, parts)) => self.exchange(parts),
            Err(_) => self.exchange(&Parts { bytes: vec![FAILED; self.size()], lengths: vec![1; self.size()] }),
        };
        let (made, _) = to?;
        Ok((made, got?.of_all()?))
    }
}

/// Concatenated byte strings with their lengths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) bytes: Vec<u8>,
    pub(crate) lengths: Vec<usize>,
}

impl Parts {
    /// Concatenates the parts.
    pub(crate) fn of(parts: impl Iterator<Item = Result<Vec<u8>>>) -> Result<Self> {
        let mut made = Self::default();
        for part in parts {
            let part = part?;
            grow(&mut made.bytes, part.len(), "a message")?;
            made.bytes.extend_from_slice(&part);
            made.lengths.push(part.len());
        }
        Ok(made)
    }
    /// `self`, unless a rank sent a failure notice. The closing handshake reports which rank failed and why.
    fn of_all(self) -> Result<Self> {
        if self.lengths.contains(&1) { Err(broken()) } else { Ok(self) }
    }
    /// Empties the parts for which `keep` is false.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let (mut from, mut to) = (0, 0);
        for (k, length) in self.lengths.iter_mut().enumerate() {
            let n = *length;
            if keep(k) {
                self.bytes.copy_within(from..from + n, to);
                to += n;
            } else {
                *length = 0;
            }
            from += n;
        }
        self.bytes.truncate(to);
    }
    /// The parts, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.bytes[..];
        self.lengths.iter().map(move |&n| {
            let (part, after) = rest.split_at(n);
            rest = after;
            part
        })
    }
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
    fn all_gather(&self, mine: &[u8]) -> Result<Parts> {
        Ok(Parts { bytes: mine.to_vec(), lengths: vec![mine.len()] })
    }
    fn all_gather_over(&self, mine: &[u8], _: &[usize], all: &mut [u8]) {
        all.copy_from_slice(mine);
    }
    fn exchange_over(&self, to: &[u8], _: &[usize], _: &[usize], all: &mut [u8]) {
        all.copy_from_slice(to);
    }
    fn spread(&self, _: &[&[u8]; 3], _: Vec<[&mut [u8]; 3]>) {}
    fn all_words(&self, mine: [u64; 2]) -> Vec<[u64; 2]> {
        vec![mine]
    }
    fn exchange(&self, to: &Parts) -> Result<Parts> {
        Ok(to.clone())
    }
    fn split(&self, _: usize) -> Result<Arc<dyn Link>> {
        Ok(Arc::new(Alone))
    }
    fn abort(&self, status: i32) -> ! {
        std::process::exit(status)
    }
}

/// A receive buffer, or the error that there is no memory for it.
#[cfg(feature = "mpi")]
pub(crate) fn room(bytes: usize) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    let wrong = |_| Error::OutOfMemory { bytes: bytes as u128, what: "a message" };
    // The dangling address of an empty vector is 1, which Open MPI takes for `MPI_IN_PLACE`.
    buffer.try_reserve_exact(bytes.max(1)).map_err(wrong)?;
    buffer.resize(bytes, 0);
    Ok(buffer)
}
