//! The semirings that C can name: those of the library's table.

use std::ffi::{CString, c_char};
use std::sync::LazyLock;

use sparring::algebra::dynamic::SEMIRINGS;

static NAMES: LazyLock<Vec<CString>> =
    LazyLock::new(|| SEMIRINGS.iter().filter_map(|row| CString::new(row.name).ok()).collect());

/// Number of semirings that sparring_mxm knows by name.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_semiring_count() -> u64 {
    SEMIRINGS.len() as u64
}

/// Name of a semiring, `index` from 0 to sparring_semiring_count() - 1, or NULL beyond: "plus_times", "min_plus" and
/// so on, the sum first. Not every type has every one: the error that says so lists those that it has. "lor_land"
/// and its kind give bool, and those of positions ("any_secondi" and so on) give int64_t; all others give the type
/// of the operands. The text is constant and is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_semiring_name(index: u64) -> *const c_char {
    let name = usize::try_from(index).ok().and_then(|i| NAMES.get(i));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}
