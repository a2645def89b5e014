//! [`Link`] over MPI. Besides `nccl.rs`, the only file of this crate with `unsafe` code.

use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use mpi::Threading;
use mpi::datatype::{Partition, PartitionMut};
use mpi::environment::Universe;
use mpi::topology::{Color, Communicator, SimpleCommunicator};
use mpi::traits::*;
use sparring::{Error, Result};

use super::link::{Link, Parts, room};

/// Maximum bytes of one message; MPI counts have 31 bits.
const MESSAGE: usize = 1 << 30;
/// Above this size, ranks first agree that all have allocated their receive buffers.
const AGREED: usize = 1 << 20;

/// Only one thread at a time may be inside MPI, whatever the communicator: `MPI_THREAD_SERIALIZED` requires it.
static TURN: Mutex<()> = Mutex::new(());
/// The MPI session, alive as long as a communicator of this crate.
static SESSION: Mutex<Weak<Session>> = Mutex::new(Weak::new());

/// Keeps MPI initialized between `rank_on_node` and the first cluster.
static KEPT: Mutex<Option<Arc<Session>>> = Mutex::new(None);

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An initialized MPI. Drop finalizes MPI if this crate initialized it.
struct Session(Option<Universe>);

impl Session {
    fn get() -> Result<Arc<Self>> {
        let refuse = |message: &str| Err(Error::Device { what: "MPI".into(), message: message.into() });
        let mut known = locked(&SESSION);
        if let Some(session) = known.upgrade() {
            return Ok(session);
        }
        if mpi::environment::is_finalized() {
            return refuse("it was finalized in this process, and begins once");
        }
        let universe = match mpi::initialize_with_threading(Threading::Serialized) {
            // Initialized by the caller, who also finalizes it.
            None => None,
            Some((universe, _)) => {
                end_with_panics();
                Some(universe)
            }
        };
        if mpi::environment::threading_support() < Threading::Serialized {
            return refuse("it was initialized for one thread; MPI_THREAD_SERIALIZED is needed");
        }
        let session = Arc::new(Self(universe));
        *known = Arc::downgrade(&session);
        Ok(session)
    }
}
impl Drop for Session {
    fn drop(&mut self) {
        let _turn = locked(&TURN);
        drop(self.0.take());
    }
}

/// Makes a panic of one rank abort the job; the other ranks would block on it.
fn end_with_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        before(info);
        let world = SimpleCommunicator::world();
        eprintln!("rank {}: it panicked, and ends the job", world.rank());
        world.abort(101);
    }));
}

/// A communicator that any thread may use, but only one at a time.
struct Handle(SimpleCommunicator);
// SAFETY: a communicator is an MPI handle, which any thread may use under MPI_THREAD_SERIALIZED. `Session::get` has
// checked that level, and a `Handle` exists only beside a `Session`.
unsafe impl Send for Handle {}
// SAFETY: as above; every use holds `TURN`, so no two threads are inside MPI at once.
unsafe impl Sync for Handle {}

/// A communicator.
pub(crate) struct Mpi {
    // Freed before MPI may be finalized.
    comm: ManuallyDrop<Handle>,
    session: Arc<Session>,
}

impl Drop for Mpi {
    fn drop(&mut self) {
        let _turn = locked(&TURN);
        // SAFETY: dropped only here, and not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.comm) };
    }
}

impl fmt::Debug for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {} by MPI", self.rank(), self.size())
    }
}

impl Mpi {
    /// All processes of the job.
    pub(crate) fn world() -> Result<Self> {
        let session = Session::get()?;
        let _turn = locked(&TURN);
        let comm = Handle(SimpleCommunicator::world().duplicate());
        drop(_turn);
        drop(locked(&KEPT).take());
        Ok(Self { comm: ManuallyDrop::new(comm), session })
    }
    /// The processes of a communicator.
    pub(crate) fn of(comm: &impl Communicator) -> Result<Self> {
        let session = Session::get()?;
        let _turn = locked(&TURN);
        let comm = Handle(comm.duplicate());
        Ok(Self { comm: ManuallyDrop::new(comm), session })
    }
    /// Rank of this process among those that share its memory.
    pub(crate) fn rank_on_node() -> Result<usize> {
        let session = Session::get()?;
        let rank = {
            let _turn = locked(&TURN);
            SimpleCommunicator::world().split_shared(0).rank()
        };
        *locked(&KEPT) = Some(session);
        Ok(rank as usize)
    }
    fn comm(&self) -> (&SimpleCommunicator, MutexGuard<'static, ()>) {
        (&self.comm.0, locked(&TURN))
    }
    /// The receive buffer, if every rank has allocated one.
    fn agreed(&self, room: Result<Vec<u8>>) -> Result<Vec<u8>> {
        let failed = self.all_words([u64::from(room.is_err()), 0]).iter().position(|words| words[0] != 0);
        match (room, failed) {
            (Ok(_), Some(rank)) => {
                Err(Error::Device { what: format!("rank {rank}"), message: "out of memory for messages".into() })
            }
            (room, _) => room,
        }
    }
}

impl Link for Mpi {
    fn rank(&self) -> usize {
        self.comm().0.rank() as usize
    }
    fn size(&self) -> usize {
        self.comm().0.size() as usize
    }
    fn all_words(&self, mine: [u64; 2]) -> Vec<[u64; 2]> {
        let (comm, _turn) = self.comm();
        let mut all = vec![0u64; 2 * comm.size() as usize];
        comm.all_gather_into(&mine[..], &mut all[..]);
        all.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
    }
    fn all_gather(&self, mine: &[u8]) -> Result<Parts> {
        let lengths: Vec<usize> = self.all_words([mine.len() as u64, 0]).iter().map(|w| w[0] as usize).collect();
        let total: usize = lengths.iter().sum();
        // Open MPI rejects buffers without a valid address.
        if total == 0 {
            return Ok(Parts { bytes: Vec::new(), lengths });
        }
        // A failed small allocation aborts the process and the job with it, so no rank blocks.
        let mut bytes = if total > AGREED { self.agreed(room(total))? } else { vec![0; total] };
        if total > MESSAGE {
            self.in_pieces(&vec![mine; lengths.len()], &mut bytes, &lengths);
            return Ok(Parts { bytes, lengths });
        }
        let (counts, starts) = laid_out(&lengths);
        let (comm, _turn) = self.comm();
        comm.all_gather_varcount_into(addressed(mine), &mut PartitionMut::new(&mut bytes[..], counts, starts));
        Ok(Parts { bytes, lengths })
    }
    fn exchange(&self, to: &Parts) -> Result<Parts> {
        let outgoing: Vec<u64> = to.lengths.iter().map(|&n| n as u64).collect();
        let mut incoming = vec![0u64; outgoing.len()];
        {
            let (comm, _turn) = self.comm();
            comm.all_to_all_into(&outgoing[..], &mut incoming[..]);
        }
        let lengths: Vec<usize> = incoming.iter().map(|&n| n as usize).collect();
        let received = lengths.iter().sum::<usize>();
        let bytes = room(received);
        let all = self.all_words([u64::from(bytes.is_err()), to.bytes.len().max(received) as u64]);
        if let Some(rank) = all.iter().position(|words| words[0] != 0) {
            let message = "out of memory for messages".into();
            return bytes.and(Err(Error::Device { what: format!("rank {rank}"), message }));
        }
        let mut bytes = bytes?;
        let largest = all.iter().map(|words| words[1] as usize).max().unwrap_or(0);
        if largest > MESSAGE {
            let parts: Vec<&[u8]> = to.iter().collect();
            self.in_pieces(&parts, &mut bytes, &lengths);
        } else if largest > 0 {
            let ((counts, starts), (to_here, from)) = (laid_out(&to.lengths), laid_out(&lengths));
            let (comm, _turn) = self.comm();
            comm.all_to_all_varcount_into(
                &Partition::new(addressed(&to.bytes), counts, starts),
                &mut PartitionMut::new(with_address(&mut bytes, &mut [0]), to_here, from),
            );
        }
        Ok(Parts { bytes, lengths })
    }
    fn all_gather_over(&self, mine: &[u8], lengths: &[usize], all: &mut [u8]) {
        if all.is_empty() {
            return;
        }
        if all.len() > MESSAGE {
            return self.in_pieces(&vec![mine; lengths.len()], all, lengths);
        }
        let (counts, starts) = laid_out(lengths);
        let (comm, _turn) = self.comm();
        comm.all_gather_varcount_into(addressed(mine), &mut PartitionMut::new(all, counts, starts));
    }
    fn exchange_over(&self, to: &[u8], sent: &[usize], got: &[usize], all: &mut [u8]) {
        let (comm, _turn) = self.comm();
        let (me, ranks) = (comm.rank() as usize, sent.len());
        let (mut to_ranks, mut from_ranks) = (Vec::with_capacity(ranks), Vec::with_capacity(ranks));
        let (mut to, mut all) = (to, all);
        for (&sent, &got) in sent.iter().zip(got) {
            let (mine, rest) = to.split_at(sent);
            to_ranks.push(mine);
            to = rest;
            let (mine, rest) = all.split_at_mut(got);
            from_ranks.push(mine);
            all = rest;
        }
        std::mem::take(&mut from_ranks[me]).copy_from_slice(std::mem::take(&mut to_ranks[me]));
        let pieces = |n: usize| n.div_ceil(MESSAGE);
        let count = sent.iter().chain(got).map(|&n| pieces(n)).sum();
        mpi::request::multiple_scope(count, |scope, requests| {
            for (rank, bytes) in from_ranks.into_iter().enumerate() {
                for piece in bytes.chunks_mut(MESSAGE) {
                    requests.add(comm.process_at_rank(rank as i32).immediate_receive_into(scope, piece));
                }
            }
            // Starts with the next rank, so that not all ranks send to the same one.
            for rank in (me + 1..ranks).chain(0..me) {
                for piece in to_ranks[rank].chunks(MESSAGE) {
                    requests.add(comm.process_at_rank(rank as i32).immediate_send(scope, piece));
                }
            }
            requests.wait_all(&mut Vec::new());
        });
    }
    fn spread(&self, mine: &[&[u8]; 3], theirs: Vec<[&mut [u8]; 3]>) {
        let (comm, _turn) = self.comm();
        let others = || (0..comm.size()).filter(|rank| *rank != comm.rank());
        let pieces = |bytes: &[u8]| bytes.len().div_ceil(MESSAGE);
        let sent: usize = mine.iter().map(|bytes| pieces(bytes)).sum();
        let got: usize = theirs.iter().flatten().map(|bytes| pieces(bytes)).sum();
        mpi::request::multiple_scope(got + sent * others().count(), |scope, requests| {
            for (rank, arrays) in others().zip(theirs) {
                for piece in arrays.into_iter().flat_map(|bytes| bytes.chunks_mut(MESSAGE)) {
                    requests.add(comm.process_at_rank(rank).immediate_receive_into(scope, piece));
                }
            }
            for rank in others() {
                for piece in mine.iter().flat_map(|bytes| bytes.chunks(MESSAGE)) {
                    requests.add(comm.process_at_rank(rank).immediate_send(scope, piece));
                }
            }
            requests.wait_all(&mut Vec::new());
        });
    }
    fn split(&self, color: usize) -> Result<Arc<dyn Link>> {
        let (comm, _turn) = self.comm();
        let made = comm.split_by_color(Color::with_value(color as i32));
        let none = || Error::Device { what: "MPI".into(), message: "a communicator was not split".into() };
        Ok(Arc::new(Self {
            comm: ManuallyDrop::new(Handle(made.ok_or_else(none)?)),
            session: Arc::clone(&self.session),
        }))
    }
    fn abort(&self, status: i32) -> ! {
        self.comm.0.abort(status)
    }
}

impl Mpi {
    /// Sends and receives parts too large for a 31-bit count, in messages of up to [`MESSAGE`] bytes.
    fn in_pieces(&self, to: &[&[u8]], all: &mut [u8], lengths: &[usize]) {
        let (comm, _turn) = self.comm();
        let pieces = |n: usize| n.div_ceil(MESSAGE);
        let count = to.iter().map(|b| pieces(b.len())).chain(lengths.iter().map(|&n| pieces(n))).sum();
        mpi::request::multiple_scope(count, |scope, requests| {
            let mut rest = all;
            for (rank, &length) in lengths.iter().enumerate() {
                let (mine, after) = std::mem::take(&mut rest).split_at_mut(length);
                rest = after;
                for piece in mine.chunks_mut(MESSAGE) {
                    requests.add(comm.process_at_rank(rank as i32).immediate_receive_into(scope, piece));
                }
            }
            // Messages between two ranks arrive in the order of sending.
            for (rank, bytes) in to.iter().enumerate() {
                for piece in bytes.chunks(MESSAGE) {
                    requests.add(comm.process_at_rank(rank as i32).immediate_send(scope, piece));
                }
            }
            requests.wait_all(&mut Vec::new());
        });
    }
}

/// [`addressed`] for a receive buffer.
fn with_address<'a>(buffer: &'a mut [u8], spare: &'a mut [u8; 1]) -> &'a mut [u8] {
    if buffer.is_empty() { &mut spare[..0] } else { buffer }
}

/// Counts and displacements of contiguous parts of these lengths; the sum is at most [`MESSAGE`].
fn laid_out(lengths: &[usize]) -> (Vec<i32>, Vec<i32>) {
    let counts: Vec<i32> = lengths.iter().map(|&n| n as i32).collect();
    let mut end = 0;
    let starts = counts.iter().map(|&n| {
        end += n;
        end - n
    });
    let starts = starts.collect();
    (counts, starts)
}

/// The same bytes, with a valid address if there are none: the address of an empty vector is 1, which Open MPI takes
/// for `MPI_IN_PLACE`.
fn addressed(bytes: &[u8]) -> &[u8] {
    static NONE: [u8; 1] = [0];
    if bytes.is_empty() { &NONE[..0] } else { bytes }
}
