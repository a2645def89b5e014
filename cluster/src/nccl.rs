//! Transfers between GPUs by NCCL. Besides `mpi_link.rs`, the only file of this crate with `unsafe` code.

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

/// A group of ranks with one GPU each.
pub(crate) struct Gpus {
    /// The NCCL communicator, used by one thread at a time.
    comm: Mutex<Comm>,
    stream: Arc<CudaStream>,
    context: Arc<CudaContext>,
    rank: usize,
}

struct Comm(sys::ncclComm_t);
// SAFETY: a communicator is a handle that any thread may use, one at a time; the mutex around it ensures that.
unsafe impl Send for Comm {}

impl Drop for Comm {
    fn drop(&mut self) {
        // SAFETY: created by `Gpus::new` and destroyed once. No message is in flight: `end` waits for all of them.
        _ = unsafe { nccl::comm_destroy(self.0) };
    }
}

impl fmt::Debug for Gpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} by NCCL", self.rank)
    }
}

/// The groups of this rank's grid row, of its grid column, and of all ranks; `None` for a group of one rank.
pub(crate) type Groups = [Option<Arc<Gpus>>; 3];

/// The groups, if every rank has NCCL and a GPU of its own. Collective.
pub(crate) fn groups(inner: &Machine, world: &dyn Link, of: [&dyn Link; 2]) -> Result<Option<Groups>> {
    let mine = inner.typed::<Cuda>().and_then(context);
    let all = world.all_gather(mine.as_ref().map_or(&[], |(_, uuid)| &uuid[..]))?;
    let gpus: BTreeSet<&[u8]> = all.iter().filter(|uuid| !uuid.is_empty()).collect();
    let (Some((context, _)), true) = (mine, gpus.len() == world.size() && gpus.len() > 1) else { return Ok(None) };
    let [row, col] = of;
    // Each call is collective, so all three run even if the first fails.
    let made = [row, col, world].map(|group| Gpus::new(group, &context));
    let all_ready = ready(world, made.iter().all(Result::is_ok));
    let [row, col, all] = made;
    let made = [row?, col?, all?];
    all_ready.map_err(|_| refused("NCCL", "another rank has no communicator"))?;
    Ok(Some(made))
}

/// The context and the UUID of a GPU, if NCCL is installed.
fn context(cuda: &Cuda) -> Option<(Arc<CudaContext>, [u8; 16])> {
    // SAFETY: opens a library by name and closes it. If the library is missing, cudarc's first call would panic.
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

/// Converts the status of an NCCL call.
fn checked(what: &str, status: std::result::Result<nccl::NcclStatus, nccl::NcclError>) -> Result<()> {
    let Err(nccl::NcclError(code)) = status else { return Ok(()) };
    // SAFETY: a static string of NCCL, which lives as long as the library.
    let text = unsafe { CStr::from_ptr(sys::ncclGetErrorString(code)) };
    Err(refused(&format!("NCCL, {what}"), text.to_string_lossy()))
}

impl Gpus {
    /// Creates the NCCL communicator of a group; `None` for one rank. Collective.
    fn new(line: &dyn Link, context: &Arc<CudaContext>) -> Result<Option<Arc<Self>>> {
        if line.size() == 1 {
            return Ok(None);
        }
        let name = if line.rank() == 0 {
            nccl::get_uniqueid().map(|id| id.internal.map(|c| c as u8).to_vec()).unwrap_or_default()
        } else {
            Vec::new()
        };
        // The unique id from rank 0; empty if it failed.
        let name = line.all_gather(&name)?.bytes;
        let name: [u8; 128] = name.try_into().map_err(|_| refused("NCCL", "the first rank could not name a group"))?;
        let id = sys::ncclUniqueId { internal: name.map(|b| b as std::ffi::c_char) };
        // NCCL uses the context of the calling thread.
        let stream = context.bind_to_thread().and_then(|()| context.new_stream());
        let stream = stream.map_err(|e| refused("NCCL", e.to_string()));
        let all_ready = ready(line, stream.is_ok());
        let stream = stream?;
        all_ready?;
        let mut comm = MaybeUninit::uninit();
        let (size, rank) = (line.size() as i32, line.rank() as i32);
        // SAFETY: NCCL writes the communicator unless it fails; all ranks of the group call this with the same id and
        // distinct ranks.
        let made = unsafe { nccl::comm_init_rank(comm.as_mut_ptr(), size, id, rank) };
        checked("a group of ranks", made)?;
        // SAFETY: initialized, because the call succeeded.
        let comm = Mutex::new(Comm(unsafe { comm.assume_init() }));
        Ok(Some(Arc::new(Self { comm, stream, context: Arc::clone(context), rank: line.rank() })))
    }
    /// Gathers the blocks of all ranks of the group, which is that of `link`, on the local GPU. A failed block or
    /// allocation on one rank is an error on all.
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
    /// All-to-all of matrices over the group, which is that of `link`: block k goes to rank k, and the matrices
    /// received have these shapes. A failed block or allocation on one rank is an error on all.
    pub(crate) fn exchanged(
        &self,
        link: &dyn Link,
        inner: &Machine,
        blocks: Result<Vec<Matrix>>,
        shapes: &[(usize, usize)],
    ) -> Result<Vec<Matrix>> {
        let counted = blocks.map(|blocks| {
            let counts: Vec<u8> = blocks.iter().flat_map(|block| (block.nnz() as u64).to_le_bytes()).collect();
            let lengths = vec![8; blocks.len()];
            (blocks, Parts { bytes: counts, lengths })
        });
        let (blocks, counts) = link.all_to_all(counted)?;
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
    /// Sends arrays to ranks of the group, and receives arrays from others.
    fn swap<'a>(
        &self,
        to: impl Iterator<Item = (usize, &'a [DeviceArray; 3])>,
        from: impl Iterator<Item = (usize, &'a [DeviceArray; 3])>,
    ) -> Result<()> {
        let (comm, stream) = self.begin()?;
        let kind = sys::ncclDataType_t::ncclUint8;
        for (rank, array) in to.flat_map(|(rank, arrays)| arrays.iter().map(move |array| (rank, array))) {
            let at = ptr::with_exposed_provenance(array.address() as usize);
            // SAFETY: the array has that many bytes of this GPU's memory and lives until `exchanged` has waited for the
            // stream. The other rank was sent the count, and receives as many bytes in the same order.
            let sent = unsafe { nccl::send(at, bytes_of(array), kind, rank as i32, comm.0, stream) };
            checked("a part of a vector", sent)?;
        }
        for (rank, array) in from.flat_map(|(rank, arrays)| arrays.iter().map(move |array| (rank, array))) {
            let at = ptr::with_exposed_provenance_mut(array.address() as usize);
            // SAFETY: likewise, for writable memory.
            let got = unsafe { nccl::recv(at, bytes_of(array), kind, rank as i32, comm.0, stream) };
            checked("a part of a vector", got)?;
        }
        self.end()
    }
    /// Sends parts of arrays to ranks of the group and receives parts from others, enqueued on the stream of `inner`;
    /// returns once enqueued. An error aborts the job, because the other ranks would block.
    pub(crate) fn moved(&self, link: &dyn Link, inner: &Cuda, to: &[Stretch], from: &[Stretch]) {
        let made = || {
            let (comm, _) = self.begin()?;
            let stream = ptr::with_exposed_provenance_mut(inner.stream() as usize);
            let kind = sys::ncclDataType_t::ncclUint8;
            for part in to.iter().filter(|part| part.bytes > 0) {
                let at = ptr::with_exposed_provenance(part.at as usize);
                // SAFETY: that many bytes of an array in this GPU's memory, checked by `Stretch::of`. The array is
                //         freed in stream order, after this transfer. The other rank receives as many bytes in the
                //         same order.
                let sent = unsafe { nccl::send(at, part.bytes, kind, part.rank as i32, comm.0, stream) };
                checked("a part of an array", sent)?;
            }
            for part in from.iter().filter(|part| part.bytes > 0) {
                let at = ptr::with_exposed_provenance_mut(part.at as usize);
                // SAFETY: likewise, for writable memory that nothing else reads before the transfer.
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
    /// Locks the communicator, binds the GPU's context, and opens an NCCL group call.
    fn begin(&self) -> Result<(MutexGuard<'_, Comm>, sys::cudaStream_t)> {
        self.context.bind_to_thread().map_err(|e| refused("NCCL", e.to_string()))?;
        let comm = self.comm.lock().unwrap_or_else(PoisonError::into_inner);
        checked("a beginning", nccl::group_start())?;
        Ok((comm, self.stream.cu_stream().cast()))
    }
    /// Closes the group call and waits for its transfers.
    fn end(&self) -> Result<()> {
        checked("an end", nccl::group_end())?;
        self.stream.synchronize().map_err(|e| refused("NCCL", e.to_string()))
    }
    /// Broadcasts this rank's arrays to the group, and fills `rooms` with those of the others.
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
                // SAFETY: 1. `mine` is borrowed and `rooms` are writable until `gathered` returns, and `end` waits for
                //            the stream below; each array has that many bytes in this GPU's memory.
                //         2. All ranks of the group call this for the same roots in the same order with the same byte
                //            counts: they have exchanged rows, columns and entries, and the types are equal.
                //         3. The root's array is sent in place, which NCCL leaves unchanged.
                let sent = unsafe { nccl::broadcast(at, at, bytes, kind, root as i32, comm.0, stream) };
                checked("a block", sent)?;
            }
        }
        self.end()
    }
}

/// A part of an array in this GPU's memory, and the rank it is sent to or received from.
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

/// Calls `then` with the device arrays of several matrices, columns sorted within rows.
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

/// Matrices of these sizes, filled by `fill` once every rank of the group has allocated its own.
fn filled(
    link: &dyn Link,
    inner: &Machine,
    ty: Type,
    sizes: &[Size],
    fill: impl FnOnce(&[[DeviceArray; 3]]) -> Result<()>,
) -> Result<Vec<Matrix>> {
    let mut notified = false;
    let made = inner.matrices_filled(ty, sizes, |rooms| {
        notified = true;
        ready(link, true)?;
        // The other ranks would block on a rank that does not take part.
        fill(rooms).or_else(|error| {
            eprintln!("rank {} of its group: {error}", link.rank());
            link.abort(1)
        })
    });
    if !notified {
        // Notifies the others; this rank's own error is more specific.
        _ = ready(link, false);
    }
    made
}
