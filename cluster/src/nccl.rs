//! Blocks from GPU to GPU by NCCL. Beside `mpi_link.rs` the crate's only home of `unsafe`.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fmt;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaContext, CudaStream};
use cudarc::nccl::{result as nccl, sys};
use sparring::gpu::{Cuda, DeviceArray};
use sparring::runtime::{Machine, Matrix};
use sparring::{Error, Result};

use crate::link::Link;
use crate::panel::{ready, sizes};

/// The ranks of a line of the grid, each with a GPU of its own.
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
        // SAFETY: it was made by `Gpus::new` and is destroyed once. Nothing is under way: `spread` waits for its messages.
        _ = unsafe { nccl::comm_destroy(self.0) };
    }
}

impl fmt::Debug for Gpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} by NCCL", self.rank)
    }
}

/// The groups of this rank's row and column of the grid; `None` in the place of a line of one rank.
pub(crate) type Lines = [Option<Arc<Gpus>>; 2];

/// Those of all ranks, if each has a GPU that no other has, and NCCL. Collective.
pub(crate) fn lines(inner: &Machine, world: &dyn Link, of: [&dyn Link; 2]) -> Result<Option<Lines>> {
    let mine = inner.typed::<Cuda>().and_then(context);
    let all = world.all_gather(mine.as_ref().map_or(&[], |(_, uuid)| &uuid[..]))?;
    let gpus: BTreeSet<&[u8]> = all.iter().filter(|uuid| !uuid.is_empty()).collect();
    let (Some((context, _)), true) = (mine, gpus.len() == world.size() && gpus.len() > 1) else { return Ok(None) };
    let [row, col] = of;
    Ok(Some([Gpus::new(row, &context)?, Gpus::new(col, &context)?]))
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
    /// The ranks of a line, all of which call this; `None` for one rank.
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
        context.bind_to_thread().map_err(|e| refused("NCCL", e.to_string()))?;
        let stream = context.new_stream().map_err(|e| refused("NCCL", e.to_string()))?;
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
        let sizes = sizes(link, &block)?;
        let block = block?;
        let mut told = false;
        let made = inner.with_device_arrays(&block, |mine| {
            inner.matrices_filled(block.ty(), &sizes, |rooms| {
                told = true;
                ready(link, true)?;
                // The others would wait for one that does not take part.
                self.spread(mine, rooms).or_else(|error| {
                    eprintln!("{error}");
                    link.abort(1)
                })
            })
        });
        if !told {
            // The others hear of it; this rank's own error says more.
            _ = ready(link, false);
        }
        let mut made = made?;
        made.insert(self.rank, block);
        Ok(made)
    }
    /// Sends the arrays of this rank to all others of the line, and fills `rooms` with theirs.
    fn spread(&self, mine: &[DeviceArray; 3], rooms: &[[DeviceArray; 3]]) -> Result<()> {
        self.context.bind_to_thread().map_err(|e| refused("NCCL", e.to_string()))?;
        let comm = self.comm.lock().unwrap_or_else(PoisonError::into_inner);
        let stream: sys::cudaStream_t = self.stream.cu_stream().cast();
        checked("a beginning", nccl::group_start())?;
        for root in 0..=rooms.len() {
            let arrays = match root.cmp(&self.rank) {
                std::cmp::Ordering::Less => &rooms[root],
                std::cmp::Ordering::Equal => mine,
                std::cmp::Ordering::Greater => &rooms[root - 1],
            };
            for array in arrays.iter().filter(|array| !array.is_empty()) {
                let at = ptr::with_exposed_provenance_mut(array.address() as usize);
                let (bytes, kind) = (array.len() * array.ty().size(), sys::ncclDataType_t::ncclUint8);
                // SAFETY: 1. `mine` is lent and `rooms` are to be filled until `gathered` returns from them, and the stream
                //            is waited for below; each is of so many bytes in this GPU's memory.
                //         2. All ranks of the line call this for the same roots in the same order, and agree on the bytes
                //            of each: they have told each other rows, columns and entries, and the types are the same.
                //         3. The root's array is read and written in place, which NCCL leaves as it is.
                let sent = unsafe { nccl::broadcast(at, at, bytes, kind, root as i32, comm.0, stream) };
                checked("a block", sent)?;
            }
        }
        checked("an end", nccl::group_end())?;
        self.stream.synchronize().map_err(|e| refused("NCCL", e.to_string()))
    }
}
