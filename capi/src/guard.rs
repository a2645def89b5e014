//! The one guard that every function stands behind, and the message of the last failure.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use sparring::Error;

use crate::status::SparringStatus::{self, *};

/// Why a call did not succeed.
#[derive(Debug)]
pub(crate) struct Fail {
    pub(crate) status: SparringStatus,
    pub(crate) message: String,
}

/// What goes on inside `ffi!`.
pub(crate) type Fallible<T = ()> = Result<T, Fail>;

impl From<Error> for Fail {
    fn from(e: Error) -> Self {
        Self { status: SparringStatus::from(&e), message: e.to_string() }
    }
}

impl Fail {
    pub(crate) fn null(name: &'static str) -> Self {
        Self { status: SPARRING_NULL_POINTER, message: format!("{name} is NULL") }
    }
    /// An argument outside its domain.
    pub(crate) fn argument(name: &'static str, message: String) -> Self {
        Error::Argument { name, message }.into()
    }
    fn panic(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = format!("a defect of sparring: {}", text.unwrap_or("panic without a message"));
        // Dropping a payload may run code that panics again, outside of the guard.
        std::mem::forget(payload);
        Self { status: SPARRING_PANIC, message }
    }
}

/// `ffi!({ body })` runs a body that returns `Fallible`, and gives C the status: a panic becomes
/// SPARRING_PANIC, and the message is kept for `sparring_last_error`.
// The functions themselves stand outside the macro, because cbindgen reads the source without expanding macros.
macro_rules! ffi {
    ($body:block) => {
        $crate::guard::call(|| -> $crate::guard::Fallible { $body })
    };
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// What `ffi!` does.
pub(crate) fn call(body: impl FnOnce() -> Fallible) -> SparringStatus {
    // Unwind safety: what a panic may leave half done is the values of a matrix being written, each of which
    // is a valid number; locks are taken whether or not they are poisoned.
    let (status, message) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => (SPARRING_OK, String::new()),
        Ok(Err(fail)) => (fail.status, fail.message),
        Err(payload) => {
            let fail = Fail::panic(payload);
            (fail.status, fail.message)
        }
    };
    let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
    // While a thread ends its message may be gone already; the status is still right.
    let _ = MESSAGE.try_with(|m| *m.borrow_mut() = message);
    status
}

/// What went wrong in the last call on this thread: UTF-8 with the numbers involved, empty if it
/// succeeded. The pointer is good until the next call on this thread of a function that returns a
/// SparringStatus, and is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_last_error() -> *const c_char {
    MESSAGE.try_with(|m| m.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"unknown",
};

/// Version of the library, such as "0.1.0". The text is constant and is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_version() -> *const c_char {
    VERSION.as_ptr()
}
