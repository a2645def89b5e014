//! Large copies between host and device through two pinned buffers.
//!
//! The device accesses pinned memory at the full speed of the bus, pageable memory at a fraction of it. While the
//! device copies one buffer, all threads fill or empty the other.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use rayon::prelude::*;

use crate::par::Threads;

/// Bytes of a buffer.
const CHUNK: usize = 8 << 20;
/// Bytes that one thread copies at a time.
const PIECE: usize = 256 << 10;
/// Smaller copies go directly: starting two copies would cost more than it gains.
pub(super) const LEAST: usize = 1 << 20;

/// Plain bytes, some of which may be uninitialized padding.
type Byte = MaybeUninit<u8>;

/// Copies with all threads.
fn spread(to: &mut [Byte], from: &[Byte]) {
    Threads::current().install(|| {
        to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE)).for_each(|(to, from)| to.copy_from_slice(from));
    });
}

/// A pinned buffer, and the event after which the device no longer uses it.
struct Pinned {
    at: *mut c_void,
    through: sys::CUevent,
}

// SAFETY: pinned memory and events may be used from any thread that has bound the context; there is one owner.
unsafe impl Send for Pinned {}

impl Pinned {
    /// A buffer of [`CHUNK`] bytes. The context must be bound.
    fn new() -> Result<Self, DriverError> {
        // SAFETY: 1. A buffer for ordinary use (flags 0: not write-combined, which is slow to read), freed in `Drop`.
        //         2. The event is created in the bound context, and destroyed in `Drop`.
        unsafe {
            let at = result::malloc_host(CHUNK, 0)?;
            match result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING) {
                Ok(through) => {
                    at.cast::<u8>().write_bytes(0, CHUNK);
                    Ok(Self { at, through })
                }
                Err(e) => {
                    let _ = result::free_host(at);
                    Err(e)
                }
            }
        }
    }
    /// The buffer, once the device no longer uses it.
    fn wait(&mut self) -> Result<&mut [Byte], DriverError> {
        // SAFETY: the event is alive; one that was never recorded counts as completed.
        unsafe { result::event::synchronize(self.through) }?;
        // SAFETY: the buffer is `CHUNK` bytes long, and the device is not copying: each of its copies is followed by
        // the event, waited for above.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.at.cast(), CHUNK) })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: both are released once, after the device is done with them: the wait ensures it, or the device is
        // lost. Errors cannot be reported here.
        unsafe {
            let _ = result::event::synchronize(self.through);
            let _ = result::event::destroy(self.through);
            let _ = result::free_host(self.at);
        }
    }
}

/// The two buffers. The caller binds the context wherever one is used, created or dropped.
pub(super) struct Staging {
    pair: [Pinned; 2],
}

impl Staging {
    pub(super) fn new() -> Result<Self, DriverError> {
        Ok(Self { pair: [Pinned::new()?, Pinned::new()?] })
    }

    /// Copies `from` to the device at `to`. Returns once `from` has been read; the device may still be working.
    ///
    /// `enqueue` calls its argument with the stream when the stream may take work, and passes its errors on.
    /// # Safety
    /// `to` has room for all of `from`, and its memory outlives the stream's work.
    pub(super) unsafe fn put<E>(
        &mut self,
        to: sys::CUdeviceptr,
        from: &[Byte],
        failed: impl Fn(DriverError) -> E,
        enqueue: impl Fn(&dyn Fn(sys::CUstream) -> Result<(), DriverError>) -> Result<(), E>,
    ) -> Result<(), E> {
        for (i, part) in from.chunks(CHUNK).enumerate() {
            let pinned = &mut self.pair[i % 2];
            let through = pinned.through;
            let Some(staged) = pinned.wait().map_err(&failed)?.get_mut(..part.len()) else { break };
            spread(staged, part);
            enqueue(&|stream| {
                // SAFETY: 1. `to` has room for all parts: the caller's promise.
                //         2. The staged bytes do not change until the event, which `wait` awaits before their next use.
                unsafe {
                    result::memcpy_htod_async(to + (i * CHUNK) as u64, staged, stream)?;
                    result::event::record(through, stream)
                }
            })?;
        }
        Ok(())
    }

    /// Copies from the device at `from` to all of `to`, and waits.
    /// # Safety
    /// At `from` there are at least as many bytes as in `to`.
    pub(super) unsafe fn get<E>(
        &mut self,
        to: &mut [Byte],
        from: sys::CUdeviceptr,
        failed: impl Fn(DriverError) -> E,
        enqueue: impl Fn(&dyn Fn(sys::CUstream) -> Result<(), DriverError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = to.len();
        let start_copy = |pinned: &Pinned, i: usize| {
            let start = i * CHUNK;
            if start >= bytes {
                return Ok(());
            }
            let (at, through, len) = (pinned.at, pinned.through, CHUNK.min(bytes - start));
            enqueue(&|stream| {
                // SAFETY: 1. `start + len` bytes exist at `from`: the caller's promise.
                //         2. The buffer has `len` bytes, and the host does not read it before the event.
                unsafe {
                    let staged = std::slice::from_raw_parts_mut(at.cast::<Byte>(), len);
                    result::memcpy_dtoh_async(staged, from + start as u64, stream)?;
                    result::event::record(through, stream)
                }
            })
        };
        start_copy(&self.pair[0], 0)?;
        start_copy(&self.pair[1], 1)?;
        for (i, part) in to.chunks_mut(CHUNK).enumerate() {
            let pinned = &mut self.pair[i % 2];
            if let Some(staged) = pinned.wait().map_err(&failed)?.get(..part.len()) {
                spread(part, staged);
            }
            start_copy(pinned, i + 2)?;
        }
        Ok(())
    }
}
