//! Kernels and their launches: arguments are checked against the kernel's own list of parameters.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{result, sys};

pub(crate) use super::arg::{Arg, args};
use super::buffer::RawBuffer;
use super::driver::{ForkedStreams, Module, failed, foreign};
use crate::{Error, Result};

/// The launch shape of a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Blocks.
    pub(crate) grid: u32,
    /// Threads of a block.
    pub(crate) block: u32,
    /// Bytes of dynamic shared memory of a block.
    pub(crate) shared: u32,
}

impl Shape {
    /// One thread for each of `n` items.
    pub(crate) fn for_each(n: usize, block: u32) -> Result<Self> {
        Self::blocks(n.div_ceil(block as usize), block, 0)
    }
    /// `n` blocks.
    pub(crate) fn blocks(n: usize, block: u32, shared: u32) -> Result<Self> {
        let most = i32::MAX as usize;
        if n > most {
            return Err(Error::IndexOverflow { what: "blocks of a kernel", needed: n as u128, max: most as u128 });
        }
        Ok(Self { grid: n as u32, block, shared })
    }
}

/// A driver function that launches a kernel: the kernel, its grid and blocks, shared memory, stream, arguments.
type Start = unsafe fn(
    sys::CUfunction,
    (u32, u32, u32),
    (u32, u32, u32),
    u32,
    sys::CUstream,
    &mut [*mut c_void],
) -> std::result::Result<(), result::DriverError>;

/// A kernel of a loaded program.
#[derive(Clone)]
pub(crate) struct Kernel {
    name: Arc<str>,
    function: sys::CUfunction,
    parameters: Arc<[usize]>,
    module: Arc<Module>,
}

// SAFETY: a function's handle may be used from any thread that has bound the context, while its module is loaded.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

impl Kernel {
    /// Launches the kernel on the device's stream, behind all earlier launches. A grid of 0 blocks does nothing.
    pub(crate) fn launch(&self, shape: Shape, args: &[Arg]) -> Result<()> {
        self.launch_on(self.module.device().stream(), shape, args, result::launch_kernel)
    }
    /// Launches the kernel cooperatively: all blocks run at the same time and may wait for each other. More than
    /// [`blocks_per_multiprocessor`](Self::blocks_per_multiprocessor) on every multiprocessor are an error.
    pub(crate) fn launch_at_once(&self, shape: Shape, args: &[Arg]) -> Result<()> {
        self.launch_on(self.module.device().stream(), shape, args, result::launch_cooperative_kernel)
    }
    /// Launches the kernel in a lane, concurrently with the other lanes.
    pub(in crate::gpu) fn launch_in(
        &self,
        (streams, lane): (&mut ForkedStreams<'_>, usize),
        shape: Shape,
        args: &[Arg],
    ) -> Result<()> {
        self.launch_on(streams.stream(lane, self.module.device())?, shape, args, result::launch_kernel)
    }
    fn launch_on(&self, stream: sys::CUstream, shape: Shape, args: &[Arg], start: Start) -> Result<()> {
        if shape.grid == 0 {
            return Ok(());
        }
        let sizes: Vec<usize> = args.iter().map(Arg::size).collect();
        if *sizes != *self.parameters {
            let message = format!("arguments of {sizes:?} bytes for parameters of {:?} bytes", self.parameters);
            return Err(Error::Device { what: format!("kernel {}", self.name), message });
        }
        let device = self.module.device();
        // Each `Cuda` has its own stream, and nothing orders one after another.
        if !args.iter().all(|a| a.is_on(device)) {
            return Err(foreign(format!("kernel {}", self.name)));
        }
        device.bind()?;
        let mut copies = args.to_vec();
        let mut pointers: Vec<*mut c_void> = copies.iter_mut().map(Arg::at).collect();
        // SAFETY: 1. The function's module is loaded as long as `self` lives, and unloading waits for the stream.
        //         2. There are as many arguments as parameters, of the same sizes, checked above; they are copied
        //            before the call returns.
        //         3. Buffers are freed in the order of the device's stream, so they outlast the kernel: `stream` is the
        //            device's stream, or a lane's, which the device's stream waits for at the join, before the caller
        //            that forked frees anything. That the kernel stays within its buffers is checked by
        //            compute-sanitizer over the tests (CONTRIBUTING.md).
        unsafe { start(self.function, (shape.grid, 1, 1), (shape.block, 1, 1), shape.shared, stream, &mut pointers) }
            .map_err(|e| {
            let what = format!(
                "kernel {} on {} blocks of {} threads with {} bytes of shared memory",
                self.name, shape.grid, shape.block, shape.shared
            );
            device.failed(what)(e)
        })?;
        device.started(&self.name);
        Ok(())
    }

    /// Blocks of this kernel that one multiprocessor runs at a time.
    pub(crate) fn blocks_per_multiprocessor(&self, block: u32, shared: u32) -> Result<u32> {
        self.module.device().bind()?;
        // SAFETY: the function's module is loaded as long as `self` lives.
        let blocks = unsafe {
            result::occupancy::max_active_block_per_multiprocessor(
                self.function,
                i32::try_from(block).unwrap_or(i32::MAX),
                shared as usize,
            )
        };
        blocks.map(|n| u32::try_from(n).unwrap_or(0)).map_err(failed(format!("occupancy of kernel {}", self.name)))
    }
}

/// A kernel with its shape and arguments, ready to launch.
pub(crate) struct Launch {
    pub(crate) kernel: Kernel,
    pub(crate) shape: Shape,
    pub(crate) args: Vec<Arg>,
}

/// A loaded program and the kernels looked up in it so far.
pub(crate) struct Program {
    module: Arc<Module>,
    kernels: Mutex<HashMap<String, Kernel>>,
}

impl Program {
    pub(super) fn new(module: Module) -> Self {
        Self { module: Arc::new(module), kernels: Mutex::default() }
    }
    /// Copies values from element `first` on into the array `name` (`extern "C" __constant__` in the source), which
    /// they fill.
    ///
    /// Kernels launched before read the old values; those launched later read these.
    pub(crate) fn fill(&self, name: &str, values: &RawBuffer, first: usize) -> Result<()> {
        let (at, bytes) = self.module.array(name)?;
        let size = values.ty().size();
        if first.checked_mul(size).and_then(|at| at.checked_add(bytes)).is_none_or(|end| end as u64 > values.bytes()) {
            return Err(Error::Length {
                what: "values of a constant",
                found: values.len(),
                expected: first + bytes / size,
            });
        }
        let device = self.module.device();
        values.on(device, "values of a constant")?.copy(at, values.at + (first * size) as u64, bytes)
    }
    /// The kernel called `name` (`extern "C"` in the source).
    pub(crate) fn kernel(&self, name: &str) -> Result<Kernel> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(name) {
            return Ok(kernel.clone());
        }
        let (function, parameters) = self.module.function(name)?;
        let kernel =
            Kernel { name: name.into(), function, parameters: parameters.into(), module: Arc::clone(&self.module) };
        kernels.insert(name.into(), kernel.clone());
        Ok(kernel)
    }
}
