//! Blocks from GPU to GPU by NCCL. Beside `mpi_link.rs` the crate's only home of `unsafe`.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaContext, CudaStream};
use cudarc::nccl::{result as nccl, sys};
use sparring::algebra::Type;
use sparring::gpu::{Cuda, DeviceArray};
use sparring::runtime::{Machine, Matrix};
use sparring::{Error, Result};

use crate::link::{Link, Parts};
use crate::panel::{Size, ready, sizes};
use crate::wire::broken;

/// Ranks that each have a GPU of their own.
pub(crate) struct Gpus {
    /// NCCL's communicator, which one thread at a time uses.
    comm: Mutex<Comm>,
    stream: Arc<CudaStream>,
    context: Arc<CudaContext>,
    rank: usize,
}

struct Comm(sys::ncclComm_t);
// SAFETY: a communicator is a handle that any thread may use, one at a time, which the lock around it sees to.
unsafe impl Send for Comm {}

impl Drop for Comm {
    fn drop(&mut self) {
        // SAFETY: it was made by `Gpus::new` and is destroyed once. Nothing is under way: `end` waits for
        // all messages.
        _ = unsafe { nccl::comm_destroy(self.0) };
    }
}

impl fmt::Debug for Gpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} by NCCL", self.rank)
    }
}

/// The groups of this rank's row and column of the grid, and of all ranks; `None` in the place of a group of one rank.
pub(crate) type Groups = [Option<Arc<Gpus>>; 3];

/// Those of all ranks, if each has a GPU that no other has, and NCCL. Collective.
pub(crate) fn groups(inner: &Machine, world: &dyn Link, of: [&dyn Link; 2]) -> Result<Option<Groups>> {
    let mine = inner.typed::<Cuda>().and_then(context);
    let all = world.all_gather(mine.as_ref().map_or(&[], |(_, uuid)| &uuid[..]))?;
    let gpus: BTreeSet<&[u8]> = all.iter().filter(|uuid| !uuid.is_empty()).collect();
    let (Some((context, _)), true) = (mine, gpus.len() == world.size() && gpus.len() > 1) else { return Ok(None) };
    let [row, col] = of;
    // All three are made whatever becomes of the first: the other ranks wait.
    let made = [row, col, world].map(|group| Gpus::new(group, &context));
    let all_ready = ready(world, made.iter().all(Result::is_ok));
    let [row, col, all] = made;
    let made = [row?, col?, all?];
    all_ready.map_err(|_| refused("NCCL", "another rank has no communicator"))?;
    Ok(Some(made))
}

/// The context of a GPU that NCCL is there for, and which GPU it is.
fn context(cuda: &Cuda) -> Option<(Arc<CudaContext>, [u8; 16])> {
    // SAFETY: it opens a library by name and closes it. Without it, cudarc's first call would panic.
    if !unsafe { sys::is_culib_present() } {
        return None;
    }
    let context = CudaContext::new(cuda.limits().ordinal).ok()?;
    let uuid = context.uuid().ok()?.bytes.map(|b| b as u8);
    Some((context, uuid))
}

fn refused(what: &str, message: impl Into<String>) -> Error {
    Error::Device { what: what.into(), message: message.into() }
}

/// What NCCL says of a call.
fn checked(what: &str, said: std::result::Result<nccl::NcclStatus, nccl::NcclError>) -> Result<()> {
    let Err(nccl::NcclError(code)) = said else { return Ok(()) };
    // SAFETY: NCCL's own text for a code, which lives as long as the library.
    let text = unsafe { CStr::from_ptr(sys::ncclGetErrorString(code)) };
    Err(refused(&format!("NCCL, {what}"), text.to_string_lossy()))
}

impl Gpus {
    /// The ranks of a group, all of which call this; `None` for one rank.
    fn new(line: &dyn Link, context: &Arc<CudaContext>) -> Result<Option<Arc<Self>>> {
        if line.size() == 1 {
            return Ok(None);
        }
        let name = if line.rank() == 0 {
            nccl::get_uniqueid().map(|id| id.internal.map(|c| c as u8).to_vec()).unwrap_or_default()
        } else {
            Vec::new()
        };
        // The name that the first gives the group; none if it fails.
        let name = line.all_gather(&name)?.bytes;
        let name: [u8; 128] = name.try_into().map_err(|_| refused("NCCL", "the first rank could not name a group"))?;
        let id = sys::ncclUniqueId { internal: name.map(|b| b as std::ffi::c_char) };
        // NCCL takes the context of the calling thread.
        let stream = context.bind_to_thread().and_then(|()| context.new_stream());
        let stream = stream.map_err(|e| refused("NCCL", e.to_string()));
        let all_ready = ready(line, stream.is_ok());
        let stream = stream?;
        all_ready?;
        let mut comm = MaybeUninit::uninit();
        let (size, rank) = (line.size() as i32, line.rank() as i32);
        // SAFETY: a place for the communicator, which NCCL writes unless it fails; all ranks of the line are here with the
        // same name and numbers of their own.
        let made = unsafe { nccl::comm_init_rank(comm.as_mut_ptr(), size, id, rank) };
        checked("a group of ranks", made)?;
        // SAFETY: written, as it did not fail.
        let comm = Mutex::new(Comm(unsafe { comm.assume_init() }));
        Ok(Some(Arc::new(Self { comm, stream, context: Arc::clone(context), rank: line.rank() })))
    }
    /// The blocks of the ranks of the line, which is `link`'s, on this rank's machine. A rank that has none, or no room,
    /// is an error of all.
    pub(crate) fn gathered(&self, link: &dyn Link, inner: &Machine, block: Result<Matrix>) -> Result<Vec<Matrix>> {
        let sizes = sizes(link, &block);
        let block = block?;
        let sizes = sizes?;
        let mut made = filled(link, inner, block.ty(), &sizes, |rooms| {
            inner.with_device_arrays(&block, |mine| self.spread(mine, rooms))
        })?;
        made.insert(self.rank, block);
        Ok(made)
    }
    /// Matrices of which each rank sends one to each rank of the group, which is `link`'s, and itself; those that come have
    /// these shapes. A rank that has none to send, or no room, is an error of all.
    pub(crate) fn exchanged(
        &self,
        link: &dyn Link,
        inner: &Machine,
        blocks: Result<Vec<Matrix>>,
        shapes: &[(usize, usize)],
    ) -> Result<Vec<Matrix>> {
        let told = blocks.map(|blocks| {
            let counts: Vec<u8> = blocks.iter().flat_map(|block| (block.nnz() as u64).to_le_bytes()).collect();
            let lengths = vec![8; blocks.len()];
            (blocks, Parts { bytes: counts, lengths })
        });
        let (blocks, counts) = link.deal(told)?;
        let ty = blocks.first().ok_or_else(broken)?.ty();
        let (counts, _) = counts.bytes.as_chunks::<8>();
        let counts: Vec<usize> = counts.iter().map(|count| u64::from_le_bytes(*count) as usize).collect();
        let comes = |k: &usize| *k != self.rank && counts[*k] > 0;
        let from: Vec<usize> = (0..counts.len()).filter(comes).collect();
        let to: Vec<usize> = (0..blocks.len()).filter(|&k| k != self.rank && blocks[k].nnz() > 0).collect();
        let sizes: Vec<Size> = from.iter().map(|&k| (shapes[k], counts[k])).collect();
        let made = filled(link, inner, ty, &sizes, |rooms| {
            let sent: Vec<&Matrix> = to.iter().map(|&k| &blocks[k]).collect();
            lent(inner, &sent, &mut Vec::new(), &mut |arrays| {
                self.swap(to.iter().copied().zip(arrays), from.iter().copied().zip(rooms))
            })
        })?;
        let mut coming = made.into_iter();
        let mut mine = blocks.into_iter().nth(self.rank);
        let next = |k: usize| match (k == self.rank, counts[k]) {
            (true, _) => mine.take().ok_or_else(broken),
            (false, 0) => inner.upload(&Matrix::empty(ty, shapes[k].0, shapes[k].1)?),
            (false, _) => coming.next().ok_or_else(broken),
        };
        (0..counts.len()).map(next).collect()
    }
    /// Sends arrays to ranks of the group, and fills those that come from others.
    fn swap<'a>(
        &self,
        to: impl Iterator<Item = (usize, &'a [DeviceArray; 3])>,
        from: impl Iterator<Item = (usize, &'a [DeviceArray; 3])>,
    ) -> Result<()> {
        let (comm, stream) = self.begin()?;
        let kind = sys::ncclDataType_t::ncclUint8;
        for (rank, array) in to.flat_map(|(rank, arrays)| arrays.iter().map(move |array| (rank, array))) {
            let at = ptr::with_exposed_provenance(array.address() as usize);
            // SAFETY: so many bytes of this GPU's memory, there until `exchanged` has waited for the stream; the other rank
            // receives as many in the same order, whose number it was told.
            let sent = unsafe { nccl::send(at, bytes_of(array), kind, rank as i32, comm.0, stream) };
            checked("a part of a vector", sent)?;
        }
        for (rank, array) in from.flat_map(|(rank, arrays)| arrays.iter().map(move |array| (rank, array))) {
            let at = ptr::with_exposed_provenance_mut(array.address() as usize);
            // SAFETY: likewise, of memory that is to be filled.
            let got = unsafe { nccl::recv(at, bytes_of(array), kind, rank as i32, comm.0, stream) };
            checked("a part of a vector", got)?;
        }
        self.end()
    }
    /// Sends parts of arrays to ranks of the group and fills parts of others, behind what is on the stream of `inner`, and
    /// returns when that is asked. An error ends the job, for the others would wait.
    pub(crate) fn moved(&self, link: &dyn Link, inner: &Cuda, to: &[Stretch], from: &[Stretch]) {
        let made = || {
            let (comm, _) = self.begin()?;
            let stream = ptr::with_exposed_provenance_mut(inner.stream() as usize);
            let kind = sys::ncclDataType_t::ncclUint8;
            for part in to.iter().filter(|part| part.bytes > 0) {
                let at = ptr::with_exposed_provenance(part.at as usize);
                // SAFETY: so many bytes of an array in this GPU's memory, which `Stretch::of` saw to. The array is given
                //         back in the order of the stream on which this is put. The other rank receives as many in the
                //         same order.
                let sent = unsafe { nccl::send(at, part.bytes, kind, part.rank as i32, comm.0, stream) };
                checked("a part of an array", sent)?;
            }
            for part in from.iter().filter(|part| part.bytes > 0) {
                let at = ptr::with_exposed_provenance_mut(part.at as usize);
                // SAFETY: likewise, of memory that is to be filled, and that nothing else reads before.
                let got = unsafe { nccl::recv(at, part.bytes, kind, part.rank as i32, comm.0, stream) };
                checked("a part of an array", got)?;
            }
            checked("an end", nccl::group_end())
        };
        made().unwrap_or_else(|error: Error| {
            eprintln!("rank {} of its group: {error}", link.rank());
            link.abort(1)
        });
    }
    /// The communicator, in the context of this GPU, as messages begin.
    fn begin(&self) -> Result<(MutexGuard<'_, Comm>, sys::cudaStream_t)> {
        self.context.bind_to_thread().map_err(|e| refused("NCCL", e.to_string()))?;
        let comm = self.comm.lock().unwrap_or_else(PoisonError::into_inner);
        checked("a beginning", nccl::group_start())?;
        Ok((comm, self.stream.cu_stream().cast()))
    }
    /// Waits for what was begun.
    fn end(&self) -> Result<()> {
        checked("an end", nccl::group_end())?;
        self.stream.synchronize().map_err(|e| refused("NCCL", e.to_string()))
    }
    /// Sends the arrays of this rank to all others of the line, and fills `rooms` with theirs.
    fn spread(&self, mine: &[DeviceArray; 3], rooms: &[[DeviceArray; 3]]) -> Result<()> {
        let (comm, stream) = self.begin()?;
        for root in 0..=rooms.len() {
            let arrays = match root.cmp(&self.rank) {
                std::cmp::Ordering::Less => &rooms[root],
                std::cmp::Ordering::Equal => mine,
                std::cmp::Ordering::Greater => &rooms[root - 1],
            };
            for array in arrays.iter().filter(|array| !array.is_empty()) {
                let at = ptr::with_exposed_provenance_mut(array.address() as usize);
                let (bytes, kind) = (bytes_of(array), sys::ncclDataType_t::ncclUint8);
                // SAFETY: 1. `mine` is lent and `rooms` are to be filled until `gathered` returns from them, and the stream
                //            is waited for below; each is of so many bytes in this GPU's memory.
                //         2. All ranks of the line call this for the same roots in the same order, and agree on the bytes
                //            of each: they have told each other rows, columns and entries, and the types are the same.
                //         3. The root's array is read and written in place, which NCCL leaves as it is.
                let sent = unsafe { nccl::broadcast(at, at, bytes, kind, root as i32, comm.0, stream) };
                checked("a block", sent)?;
            }
        }
        self.end()
    }
}

/// A part of an array in this GPU's memory, and the rank of a group that it goes to or comes from.
pub(crate) struct Stretch {
    rank: usize,
    at: u64,
    bytes: usize,
}

impl Stretch {
    pub(crate) fn of(rank: usize, array: &DeviceArray, range: Range<usize>) -> Result<Self> {
        if range.start > range.end || range.end > array.len() {
            return Err(broken());
        }
        let size = array.ty().size();
        Ok(Self { rank, at: array.address() + (range.start * size) as u64, bytes: range.len() * size })
    }
}

fn bytes_of(array: &DeviceArray) -> usize {
    array.len() * array.ty().size()
}

/// What is made of the arrays of some matrices, columns increasing within rows.
fn lent(
    inner: &Machine,
    blocks: &[&Matrix],
    arrays: &mut Vec<[DeviceArray; 3]>,
    then: &mut dyn FnMut(&[[DeviceArray; 3]]) -> Result<()>,
) -> Result<()> {
    let Some((block, others)) = blocks.split_first() else { return then(arrays) };
    inner.with_device_arrays(block, |lend| {
        arrays.push(*lend);
        lent(inner, others, arrays, then)
    })
}

/// Matrices of these sizes, filled by `fill` when every rank of the group has room for its own.
fn filled(
    link: &dyn Link,
    inner: &Machine,
    ty: Type,
    sizes: &[Size],
    fill: impl FnOnce(&[[DeviceArray; 3]]) -> Result<()>,
) -> Result<Vec<Matrix>> {
    let mut told = false;
    let made = inner.matrices_filled(ty, sizes, |rooms| {
        told = true;
        ready(link, true)?;
        // The others would wait for one that does not take part.
        fill(rooms).or_else(|error| {
            eprintln!("rank {} of its group: {error}", link.rank());
            link.abort(1)
        })
    });
    if !told {
        // The others hear of it; this rank's own error says more.
        _ = ready(link, false);
    }
    made
}
