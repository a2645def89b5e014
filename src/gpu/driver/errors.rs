//! What the driver says, as our errors.

use cudarc::driver::result::DriverError;
use cudarc::driver::sys;

use crate::Error;

/// Name and text of a driver's error.
pub(in crate::gpu) fn message(e: DriverError) -> String {
    let text = |s: std::result::Result<&std::ffi::CStr, DriverError>| {
        s.map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
    };
    format!("{} ({})", text(e.error_string()), text(e.error_name()))
}

/// The driver's word as ours; `what` was being done.
pub(in crate::gpu) fn failed(what: impl Into<String>) -> impl FnOnce(DriverError) -> Error {
    let what = what.into();
    move |e| Error::Device { what, message: message(e) }
}

/// Whether the error may be that of a kernel which was started before.
pub(super) fn of_a_kernel(e: DriverError) -> bool {
    use sys::CUresult as Code;
    matches!(
        e.0,
        Code::CUDA_ERROR_ILLEGAL_ADDRESS
            | Code::CUDA_ERROR_LAUNCH_FAILED
            | Code::CUDA_ERROR_LAUNCH_TIMEOUT
            | Code::CUDA_ERROR_ASSERT
            | Code::CUDA_ERROR_HARDWARE_STACK_ERROR
            | Code::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | Code::CUDA_ERROR_MISALIGNED_ADDRESS
            | Code::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | Code::CUDA_ERROR_INVALID_PC
            | Code::CUDA_ERROR_ECC_UNCORRECTABLE
            | Code::CUDA_ERROR_UNKNOWN
    )
}

/// Whether the error lies in the image and not in the device.
pub(super) fn of_image(e: DriverError) -> bool {
    use sys::CUresult as Code;
    matches!(
        e.0,
        Code::CUDA_ERROR_NO_BINARY_FOR_GPU
            | Code::CUDA_ERROR_INVALID_IMAGE
            | Code::CUDA_ERROR_INVALID_SOURCE
            | Code::CUDA_ERROR_INVALID_PTX
            | Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    )
}

/// An array of one `Cuda` was given to another.
pub(in crate::gpu) fn foreign(what: impl Into<String>) -> Error {
    let message =
        "an array belongs to another `Cuda`; clones of one share theirs, else download it there and upload it here";
    Error::Device { what: what.into(), message: message.into() }
}
