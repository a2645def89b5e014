//! The panic guard of every exported function, and the message of the last failure.

use std::any::Any;
use std::cell::Cell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use sparring::Error;

use crate::notes::noted;
use crate::status::SparringStatus::{self, *};

/// Why a call did not succeed.
#[derive(Debug)]
pub(crate) struct Fail {
    pub(crate) status: SparringStatus,
    pub(crate) message: String,
}

/// Result type inside `ffi!`.
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
    /// Values of an unsupported type.
    pub(crate) fn of_type(name: &str, message: String) -> Self {
        Self { status: SPARRING_TYPE, message: format!("{name}: {message}") }
    }
    /// The same, prefixed with the name of the invalid C argument, if there is one and it is not named yet.
    pub(crate) fn naming(mut self, argument: &str) -> Self {
        let named = self.message.strip_prefix(argument).is_some_and(|rest| rest.starts_with([':', '.', '[', ' ']));
        if self.status.is_about_an_argument() && !named {
            self.message = format!("{argument}: {}", self.message);
        }
        self
    }
    /// The failure of array `name`, attributed to its element `k`.
    pub(crate) fn at(mut self, name: &str, k: usize) -> Self {
        if let Some(rest) = self.message.strip_prefix(name) {
            self.message = format!("{name}[{k}]{rest}");
        }
        self
    }
    /// The library's error about two operands, with their names in C.
    pub(crate) fn of_operands(e: Error, left: &str, right: &str) -> Self {
        let status = SparringStatus::from(&e);
        let message = match e {
            Error::Shape { op, lhs, rhs } => {
                format!("{op}: shapes do not agree: {left} is {}×{}, {right} is {}×{}", lhs.0, lhs.1, rhs.0, rhs.1)
            }
            Error::PatternChanged { operand, found, planned } => {
                let name = if operand == "A" {
                    left
                } else if operand == "B" {
                    right
                } else {
                    "c"
                };
                format!("{name}: another pattern than the one planned for ({found} entries, planned {planned})")
            }
            other => return Self::from(other),
        };
        Self { status, message }
    }
    fn panic(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = format!("a bug in sparring: {}", text.unwrap_or("panic without a message"));
        // Dropping a payload may panic again, outside of the guard.
        std::mem::forget(payload);
        Self { status: SPARRING_PANIC, message }
    }
}

/// `ffi!({ body })` runs a body that returns `Fallible`, and returns its status: a panic becomes
/// SPARRING_PANIC, and the message is stored for `sparring_last_error`.
// The functions themselves are outside the macro, because cbindgen reads the source without expanding macros.
macro_rules! ffi {
    ($body:block) => {
        $crate::guard::call(|| -> $crate::guard::Fallible { $body })
    };
}

/// Maximum bytes of a message including its zero; longer messages are truncated.
pub(crate) const MESSAGE_BYTES: usize = 4096;

thread_local! {
    // At a constant address for the lifetime of its thread: C may hold the address across calls.
    static MESSAGE: [Cell<u8>; MESSAGE_BYTES] = const { [const { Cell::new(0) }; MESSAGE_BYTES] };
}

/// The longest prefix of `text` of at most `bytes` bytes and whole characters.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

/// Stores the message for `sparring_last_error`.
fn keep(message: &str) {
    let text = cut(message, MESSAGE_BYTES - 1).bytes().map(|byte| if byte == 0 { b' ' } else { byte });
    MESSAGE.with(|room| room.iter().zip(text.chain([0])).for_each(|(place, byte)| place.set(byte)));
}

/// Implementation of `ffi!`.
pub(crate) fn call(body: impl FnOnce() -> Fallible) -> SparringStatus {
    let mut body = Some(body);
    guarded(&mut || body.take().map_or(Ok(()), |body| body()))
}

/// The non-generic part of [`call`].
fn guarded(body: &mut dyn FnMut() -> Fallible) -> SparringStatus {
    // Unwind safety: a panic can leave only the values of a matrix partially written, each of which is a valid number;
    // poisoned locks are taken as well.
    let (status, message) = match noted(|| catch_unwind(AssertUnwindSafe(body))) {
        Ok(Ok(())) => (SPARRING_OK, String::new()),
        Ok(Err(fail)) => (fail.status, fail.message),
        Err(payload) => {
            let fail = Fail::panic(payload);
            (fail.status, fail.message)
        }
    };
    keep(&message);
    status
}

/// The error message of the last call on this thread that returns a SparringStatus: UTF-8 text with the numbers
/// involved, cut to 4095 bytes, empty after success. Each thread has one such text, at a constant address, valid until
/// the thread ends and not to be freed: reading it always gives the message of the most recent call. So
/// `printf("%d %s", call(), sparring_last_error())` prints the message of `call()` in either evaluation order. Copy a
/// message that must outlast the next call.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_last_error() -> *const c_char {
    MESSAGE.with(|room| room.as_ptr().cast())
}

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"unknown",
};

/// Version of the running library, such as "0.1.0". The text is constant; do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Version of the running library as a number to compare; that of the header is SPARRING_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_version_number() -> u32 {
    const fn number(text: &str) -> u32 {
        match u32::from_str_radix(text, 10) {
            Ok(number) => number,
            Err(_) => panic!("a part of the version is no number"),
        }
    }
    const {
        let (major, minor) = (number(env!("CARGO_PKG_VERSION_MAJOR")), number(env!("CARGO_PKG_VERSION_MINOR")));
        1_000_000 * major + 1000 * minor + number(env!("CARGO_PKG_VERSION_PATCH"))
    }
}
