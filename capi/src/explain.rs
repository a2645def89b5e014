//! Explanations of calls, for C.

use std::ffi::c_char;

use crate::memory::write_text;
use crate::notes::{listen, with_noted};
use crate::status::SparringStatus;

/// Starts (`on` not 0) or stops (0) recording how the calls on this thread compute their results: for each operation
/// its operands and their storage forms, the kernel that ran, and why. Starting discards earlier records. A recorded
/// call takes a few microseconds longer. Other threads are not affected.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_explain(on: u32) -> SparringStatus {
    ffi!({
        listen(on != 0);
        Ok(())
    })
}

/// The record of the calls on this thread since sparring_explain(1), lines of UTF-8 text, written to `buffer` of
/// `capacity` bytes as by sparring_plan_explain; at most the first mebibyte. It can be read before and after
/// sparring_explain(0). Failed calls record what they ran until they failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_explanation(buffer: *mut c_char, capacity: u64, length: *mut u64) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        with_noted(|noted| unsafe { write_text(noted, buffer, capacity, length) })
    })
}
