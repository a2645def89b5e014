//! Programs loaded into a device, and their kernels.

use std::ffi::CString;
use std::sync::Arc;

use cudarc::driver::result;
use cudarc::driver::sys;

use super::device::{Device, driver_version};
use super::errors::{failed, message, of_image};
use crate::{Error, Result};

/// Why an image was not loaded.
pub(in crate::gpu) enum Unloadable {
    /// It does not fit this device or this driver: another image may.
    Image(Error),
    /// Anything else.
    Other(Error),
}

impl Device {
    /// Loads the image of the program `name`; on failure the message has the compiler's version from `nvrtc`.
    pub(in crate::gpu) fn load(
        self: &Arc<Self>,
        image: &[u8],
        name: &str,
        nvrtc: &dyn Fn() -> Option<(u32, u32)>,
    ) -> std::result::Result<Module, Unloadable> {
        self.bind().map_err(Unloadable::Other)?;
        // SAFETY: `image` is complete: it came from NVRTC, or from the cache, which checks its length and checksum. PTX
        // ends with a zero byte, as NVRTC returns it.
        match unsafe { result::module::load_data(image.as_ptr().cast()) } {
            Ok(module) => Ok(Module { module, device: Arc::clone(self) }),
            Err(e) if of_image(e) => {
                let (major, minor) = driver_version().unwrap_or((0, 0));
                let by =
                    nvrtc().map_or_else(String::new, |(major, minor)| format!("NVRTC {major}.{minor} compiled it, "));
                let message = format!("{}; {by}the driver is for CUDA {major}.{minor}", message(e));
                Err(Unloadable::Image(Error::Device { what: format!("loading {name}"), message }))
            }
            Err(e) => Err(Unloadable::Other(failed(format!("loading {name}"))(e))),
        }
    }
}

/// A loaded program.
pub(crate) struct Module {
    module: sys::CUmodule,
    device: Arc<Device>,
}

// SAFETY: a module's handle may be used from any thread that has bound the context; it is unloaded once, in `drop`.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    pub(in crate::gpu) fn device(&self) -> &Arc<Device> {
        &self.device
    }
    /// A kernel of this module, and the sizes of its parameters.
    pub(in crate::gpu) fn function(&self, name: &str) -> Result<(sys::CUfunction, Vec<usize>)> {
        self.device.bind()?;
        let c = CString::new(name).map_err(|e| Error::Device { what: name.into(), message: e.to_string() })?;
        // SAFETY: the module is loaded as long as `self` lives.
        let function =
            unsafe { result::module::get_function(self.module, c) }.map_err(failed(format!("kernel {name}")))?;
        let (count, mut sizes) = (self.parameters_of(name), vec![]);
        while count.is_none_or(|n| sizes.len() < n) {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the function belongs to this module; both pointers are to locals.
            match unsafe { sys::cuFuncGetParamInfo(function, sizes.len(), &raw mut offset, &raw mut size) }.result() {
                Ok(()) => sizes.push(size),
                Err(_) if count.is_none() => break,
                Err(e) => return Err(failed(format!("parameter {} of kernel {name}", sizes.len()))(e)),
            }
        }
        // SAFETY: the function belongs to this module. More than 48 KiB of shared memory must be requested explicitly;
        // static shared arrays of a kernel reduce what it can request.
        unsafe {
            let fixed = result::function::get_function_attribute(
                function,
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
            )
            .map_err(failed(format!("kernel {name}")))?;
            let most = i32::try_from(self.device.limits().shared_per_block).unwrap_or(i32::MAX) - fixed;
            result::function::set_function_attribute(
                function,
                sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                most,
            )
            .map_err(failed(format!("shared memory of kernel {name}")))?;
        }
        Ok((function, sizes))
    }
    /// Address and bytes of the array `name` of this module.
    pub(in crate::gpu) fn array(&self, name: &str) -> Result<(sys::CUdeviceptr, usize)> {
        self.device.bind()?;
        let c = CString::new(name).map_err(|e| Error::Device { what: name.into(), message: e.to_string() })?;
        // SAFETY: the module is loaded as long as `self` lives.
        unsafe { result::module::get_global(self.module, c) }.map_err(failed(format!("array {name}")))
    }
    /// The number of a kernel's parameters: the length of the array that cuda/kernel.cuh declares beside it, if the
    /// driver finds it. Otherwise they are queried until that fails, and compute-sanitizer reports a failing call.
    fn parameters_of(&self, kernel: &str) -> Option<usize> {
        let name = CString::new(format!("{kernel}_parameters")).ok()?;
        // SAFETY: the module is loaded as long as `self` lives.
        unsafe { result::module::get_global(self.module, name) }.ok().map(|(_, bytes)| bytes)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            let _ = self.device.synchronize();
            // SAFETY: nothing of this module runs any more; kernels hold an `Arc` of it, so none is left.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}
