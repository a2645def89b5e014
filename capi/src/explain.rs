//! How calls computed their results, for C.

use std::ffi::c_char;

use crate::memory::write_text;
use crate::notes::{listen, with_noted};
use crate::status::SparringStatus;

/// Begins (`on` not 0) or ends (0) to note how the calls on this thread compute their results: for each operation its
/// operands and their forms, the kernel that ran, and why. Beginning forgets what was noted before. A call that notes
/// takes some microseconds more. Other threads are not concerned.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_explain(on: u32) -> SparringStatus {
    ffi!({
        listen(on != 0);
        Ok(())
    })
}

/// What the calls on this thread noted since sparring_explain(1), lines of UTF-8 text, into `buffer` of `capacity`
/// bytes as for sparring_plan_explain; of more than a mebibyte the beginning. It may be read before and after
/// sparring_explain(0). Failed calls note what they ran until they failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_explanation(buffer: *mut c_char, capacity: u64, length: *mut u64) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        with_noted(|noted| unsafe { write_text(noted, buffer, capacity, length) })
    })
}
