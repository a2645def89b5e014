//! Messages between ranks: what the rest of the crate asks of MPI, all of it collective.

use std::fmt::Debug;
use std::sync::Arc;

#[cfg(feature = "mpi")]
use sparring::Error;
use sparring::Result;

use crate::wire::broken;

/// A group of ranks that talk to each other; every rank of it makes the same calls in the same order.
pub(crate) trait Link: Debug + Send + Sync {
    /// Number of this rank in the group.
    fn rank(&self) -> usize;
    /// Ranks of the group.
    fn size(&self) -> usize;
    /// The bytes of every rank, in the order of ranks, and how many each has.
    fn all_gather(&self, mine: &[u8]) -> Result<Parts>;
    /// The bytes of every rank, whose numbers all ranks know, over `all`.
    fn all_gather_over(&self, mine: &[u8], lengths: &[usize], all: &mut [u8]);
    /// [`exchange`](Self::exchange) where all ranks know what comes, over `all`; no message where there is nothing.
    fn exchange_over(&self, to: &[u8], sent: &[usize], got: &[usize], all: &mut [u8]);
    /// Sends these bytes to every other rank, and fills what is there for each of them, in the order of ranks, with theirs;
    /// all ranks know how much comes.
    fn spread(&self, mine: &[&[u8]; 3], theirs: Vec<[&mut [u8]; 3]>);
    /// The two words of every rank: the cheapest exchange there is.
    fn all_words(&self, mine: [u64; 2]) -> Vec<[u64; 2]>;
    /// Sends bytes to the ranks of the group, to each the part of these that is its own, and gives what each sent here.
    fn exchange(&self, to: &Parts) -> Result<Parts>;
    /// The groups of ranks that name the same color, each in the order of ranks.
    fn split(&self, color: usize) -> Result<Arc<dyn Link>>;
    /// Ends the job, all ranks of it, with this status.
    fn abort(&self, status: i32) -> !;
}

/// The message of a rank that has failed; no other message has one byte.
const FAILED: u8 = 0;

/// What ranks send may fail to be made on one of them, for which the others must not wait. These calls therefore take
/// the result of making it: a rank with an error says so in its message, and every rank of the group has an error.
impl dyn Link + '_ {
    /// [`all_gather`](Link::all_gather) of messages that never have one byte; what else was made comes back.
    pub(crate) fn gather<T>(&self, mine: Result<(T, Vec<u8>)>) -> Result<(T, Parts)> {
        let all = self.all_gather(mine.as_ref().map_or(&[FAILED], |mine| &mine.1));
        let (made, _) = mine?;
        Ok((made, all?.of_all()?))
    }
    /// [`exchange`](Link::exchange) of messages that never have one byte; what else was made comes back.
    pub(crate) fn deal<T>(&self, to: Result<(T, Parts)>) -> Result<(T, Parts)> {
        let got = match &to {
            Ok((_, parts)) => self.exchange(parts),
            Err(_) => self.exchange(&Parts { bytes: vec![FAILED; self.size()], lengths: vec![1; self.size()] }),
        };
        let (made, _) = to?;
        Ok((made, got?.of_all()?))
    }
}

/// Bytes in parts, one behind the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) bytes: Vec<u8>,
    pub(crate) lengths: Vec<usize>,
}

impl Parts {
    /// One behind the other.
    pub(crate) fn of(parts: &[Vec<u8>]) -> Self {
        Self { bytes: parts.concat(), lengths: parts.iter().map(Vec::len).collect() }
    }
    /// Itself, unless a rank has said that it failed: which one, and why, is said at the end of the operation.
    fn of_all(self) -> Result<Self> {
        if self.lengths.contains(&1) { Err(broken()) } else { Ok(self) }
    }
    /// Empties the parts that are not kept.
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
    /// The parts, in their order.
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
