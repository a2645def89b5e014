//! The processor: a pool of threads and a memory budget.

use sparring::Cpu;

use crate::guard::Fail;
use crate::handle::{Object, handle, take};
use crate::memory::{NewHandle, write};
use crate::status::SparringStatus;

/// Where operations run: threads and a memory budget. Threads of yours may share one.
pub struct SparringCpu {
    pub(crate) cpu: Cpu,
}

impl Object for SparringCpu {
    const NAME: &'static str = "SparringCpu";
}

/// A pool of `threads` threads (0: one for each processor that this process may use), for operations that
/// refuse with SPARRING_BUDGET to use more than `memory_budget` bytes (0: no limit).
/// `*cpu` gets the handle, NULL on failure; free it with sparring_cpu_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_cpu_new(
    threads: u32,
    memory_budget: u64,
    cpu: *mut *mut SparringCpu,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract above `cpu` points to room for a handle.
        let out = unsafe { NewHandle::at(cpu, "cpu")? };
        let mut cpu = if threads == 0 { Cpu::new() } else { Cpu::with_threads(threads as usize)? };
        if memory_budget != 0 {
            cpu = cpu.memory_budget(memory_budget);
        }
        out.give(SparringCpu { cpu })
    })
}

/// Number of threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_cpu_threads(cpu: *const SparringCpu, threads: *mut u32) -> SparringStatus {
    ffi!({
        let count = handle(cpu)?.cpu.threads().count();
        let count = u32::try_from(count).map_err(|e| Fail::argument("threads", e.to_string()))?;
        // SAFETY: by the contract above `threads` points to room for a number.
        unsafe { write(threads, count, "threads") }
    })
}

/// Frees a SparringCpu; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_cpu_free(cpu: *mut SparringCpu) -> SparringStatus {
    ffi!({ take(cpu) })
}
