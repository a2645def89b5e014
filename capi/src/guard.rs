//! The one guard that every function stands behind, and the message of the last failure.

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
    /// Values of a type that they cannot have here.
    pub(crate) fn of_type(name: &str, message: String) -> Self {
        Self { status: SPARRING_TYPE, message: format!("{name}: {message}") }
    }
    /// The same, beginning with the argument of C that is wrong, if one is and it does not say so already.
    pub(crate) fn naming(mut self, argument: &str) -> Self {
        let named = self.message.strip_prefix(argument).is_some_and(|rest| rest.starts_with([':', '.', '[', ' ']));
        if self.status.is_about_an_argument() && !named {
            self.message = format!("{argument}: {}", self.message);
        }
        self
    }
    /// What was said of the array `name`, of the array that stands there at place `k`.
    pub(crate) fn at(mut self, name: &str, k: usize) -> Self {
        if let Some(rest) = self.message.strip_prefix(name) {
            self.message = format!("{name}[{k}]{rest}");
        }
        self
    }
    /// What the library says about two operands, by their names in C.
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

/// Bytes of a message with its zero; what is longer is cut.
pub(crate) const MESSAGE_BYTES: usize = 4096;

thread_local! {
    // It stays where it is for as long as its thread, whatever is written to it: C may hold its address across calls.
    static MESSAGE: [Cell<u8>; MESSAGE_BYTES] = const { [const { Cell::new(0) }; MESSAGE_BYTES] };
}

/// The beginning of `text` that takes at most `bytes`, of whole characters.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

/// Keeps the message for `sparring_last_error`.
fn keep(message: &str) {
    let text = cut(message, MESSAGE_BYTES - 1).bytes().map(|byte| if byte == 0 { b' ' } else { byte });
    MESSAGE.with(|room| room.iter().zip(text.chain([0])).for_each(|(place, byte)| place.set(byte)));
}

/// What `ffi!` does.
pub(crate) fn call(body: impl FnOnce() -> Fallible) -> SparringStatus {
    let mut body = Some(body);
    guarded(&mut || body.take().map_or(Ok(()), |body| body()))
}

/// The part of [`call`] that no body has of its own.
fn guarded(body: &mut dyn FnMut() -> Fallible) -> SparringStatus {
    // Unwind safety: what a panic may leave half done is the values of a matrix being written, each of which
    // is a valid number; locks are taken whether or not they are poisoned.
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

/// What went wrong in the last call on this thread of a function that returns a SparringStatus: UTF-8 with the numbers
/// involved, cut to 4095 bytes, empty if it succeeded. Each thread has one such text, always at the same address, good
/// until the thread ends and not to be freed: what is read there is the message of the last call before the reading. So
/// `printf("%d %s", call(), sparring_last_error())` prints the message of `call()`, whichever of the two is evaluated
/// first. Copy what has to outlast the next call.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_last_error() -> *const c_char {
    MESSAGE.with(|room| room.as_ptr().cast())
}

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"unknown",
};

/// Version of the library that runs, such as "0.1.0". The text is constant and is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Version of the library that runs, as a number to compare: that of the header is SPARRING_VERSION.
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
