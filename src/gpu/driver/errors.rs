//! Conversion of driver errors.

use cudarc::driver::result::DriverError;
use cudarc::driver::sys;

use crate::Error;

/// The driver's description and name of an error.
pub(in crate::gpu) fn message(e: DriverError) -> String {
    let text = |s: std::result::Result<&std::ffi::CStr, DriverError>| {
        s.map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
    };
    format!("{} ({})", text(e.error_string()), text(e.error_name()))
}

/// Converts a driver error; `what` names the operation.
pub(in crate::gpu) fn failed(what: impl Into<String>) -> impl FnOnce(DriverError) -> Error {
    let what = what.into();
    move |e| Error::Device { what, message: message(e) }
}

/// Whether the error may stem from a kernel launched earlier.
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

/// Whether the fault is in the image rather than in the device.
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

/// The error for an array of one `Cuda` passed to another.
pub(in crate::gpu) fn foreign(what: impl Into<String>) -> Error {
    let message =
        "an array belongs to another `Cuda`: use a clone of that one, or download the array there and upload it here";
    Error::Device { what: what.into(), message: message.into() }
}
