//! Status codes: one per class of library errors, and those of the C API.

use std::ffi::{CStr, c_char};

use sparring::Error;

/// Result of a function: SPARRING_OK or the reason of a failure. sparring_last_error() returns the message.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringStatus {
    /// Success.
    SPARRING_OK = 0,
    /// The shapes of the operands do not fit together.
    SPARRING_SHAPE = 1,
    /// The operation needs a square matrix.
    SPARRING_NOT_SQUARE = 2,
    /// A size or index exceeds its type.
    SPARRING_INDEX_OVERFLOW = 3,
    /// Memory allocation failed.
    SPARRING_OUT_OF_MEMORY = 4,
    /// The memory budget of the SparringDevice would be exceeded.
    SPARRING_BUDGET = 5,
    /// The lengths of parallel arrays disagree.
    SPARRING_LENGTH = 6,
    /// Row pointers decrease, do not start at 0 or do not end at the number of entries.
    SPARRING_ROW_POINTER = 7,
    /// An index lies outside its dimension.
    SPARRING_INDEX_RANGE = 8,
    /// The columns of a row are not increasing where that is required.
    SPARRING_NOT_SORTED = 9,
    /// Duplicate entries where they are not allowed.
    SPARRING_DUPLICATE = 10,
    /// A plan was used with matrices of another structure.
    SPARRING_PATTERN_CHANGED = 11,
    /// A file does not conform to its format.
    SPARRING_PARSE = 12,
    /// A valid request that this library does not support.
    SPARRING_UNSUPPORTED = 13,
    /// An argument is outside its domain.
    SPARRING_ARGUMENT = 14,
    /// An I/O error of the file system.
    SPARRING_IO = 15,
    /// Cancelled by a callback.
    SPARRING_CANCELLED = 16,
    /// Threads could not be started.
    SPARRING_THREADS = 17,
    /// There is no such GPU, or no driver for it.
    SPARRING_NO_DEVICE = 18,
    /// The compiler of GPU programs is missing.
    SPARRING_NO_COMPILER = 19,
    /// A GPU program does not compile.
    SPARRING_COMPILE = 20,
    /// The GPU or its driver reported an error.
    SPARRING_DEVICE_FAILED = 21,
    /// Not enough memory on the GPU.
    SPARRING_DEVICE_MEMORY = 22,
    /// A formula or an einsum expression cannot be parsed, or does not fit its operands; the message points to the
    /// position.
    SPARRING_FORMULA = 23,
    /// An error class unknown to this header.
    SPARRING_OTHER = 99,
    /// A handle was freed, is of another kind, or never was a handle.
    SPARRING_INVALID_HANDLE = 100,
    /// A pointer is NULL where it may not be.
    SPARRING_NULL_POINTER = 101,
    /// A bug of this library was caught. Please report it with the message.
    SPARRING_PANIC = 102,
    /// Values have a type that the operation or the semiring does not accept, or not that of the other operand.
    SPARRING_TYPE = 103,
    /// An empty scalar was read.
    SPARRING_NO_VALUE = 104,
}

use SparringStatus::*;

impl SparringStatus {
    /// Whether the error is about an argument, not about resources, a file or this library.
    pub(crate) fn is_about_an_argument(self) -> bool {
        !matches!(
            self,
            SPARRING_OK
                | SPARRING_OUT_OF_MEMORY
                | SPARRING_BUDGET
                | SPARRING_PARSE
                | SPARRING_IO
                | SPARRING_CANCELLED
                | SPARRING_THREADS
                | SPARRING_NO_DEVICE
                | SPARRING_NO_COMPILER
                | SPARRING_COMPILE
                | SPARRING_DEVICE_FAILED
                | SPARRING_DEVICE_MEMORY
                | SPARRING_OTHER
                | SPARRING_PANIC
        )
    }
}

impl From<&Error> for SparringStatus {
    fn from(e: &Error) -> Self {
        match e {
            Error::Shape { .. } | Error::Dims { .. } => SPARRING_SHAPE,
            Error::NotSquare { .. } => SPARRING_NOT_SQUARE,
            Error::IndexOverflow { .. } => SPARRING_INDEX_OVERFLOW,
            Error::OutOfMemory { .. } => SPARRING_OUT_OF_MEMORY,
            Error::Budget { .. } => SPARRING_BUDGET,
            Error::Length { .. } => SPARRING_LENGTH,
            Error::RowPointer { .. } => SPARRING_ROW_POINTER,
            Error::IndexRange { .. } | Error::ListIndex { .. } => SPARRING_INDEX_RANGE,
            Error::NotSorted { .. } => SPARRING_NOT_SORTED,
            Error::Duplicate { .. } | Error::Repeated { .. } | Error::RepeatedIndex { .. } => SPARRING_DUPLICATE,
            Error::PatternChanged { .. } => SPARRING_PATTERN_CHANGED,
            Error::Parse { .. } => SPARRING_PARSE,
            Error::Unsupported { .. } => SPARRING_UNSUPPORTED,
            Error::Argument { .. } => SPARRING_ARGUMENT,
            Error::Io { .. } => SPARRING_IO,
            Error::Cancelled { .. } => SPARRING_CANCELLED,
            Error::Threads { .. } => SPARRING_THREADS,
            Error::NoDevice { .. } => SPARRING_NO_DEVICE,
            Error::NoCompiler { .. } => SPARRING_NO_COMPILER,
            Error::Compile { .. } => SPARRING_COMPILE,
            Error::Device { .. } => SPARRING_DEVICE_FAILED,
            Error::DeviceMemory { .. } => SPARRING_DEVICE_MEMORY,
            Error::Formula { .. } | Error::Expression { .. } => SPARRING_FORMULA,
            _ => SPARRING_OTHER,
        }
    }
}

/// Every code with its name, for `sparring_status_name`.
pub(crate) const ALL: &[(SparringStatus, &CStr)] = &[
    (SPARRING_OK, c"SPARRING_OK"),
    (SPARRING_SHAPE, c"SPARRING_SHAPE"),
    (SPARRING_NOT_SQUARE, c"SPARRING_NOT_SQUARE"),
    (SPARRING_INDEX_OVERFLOW, c"SPARRING_INDEX_OVERFLOW"),
    (SPARRING_OUT_OF_MEMORY, c"SPARRING_OUT_OF_MEMORY"),
    (SPARRING_BUDGET, c"SPARRING_BUDGET"),
    (SPARRING_LENGTH, c"SPARRING_LENGTH"),
    (SPARRING_ROW_POINTER, c"SPARRING_ROW_POINTER"),
    (SPARRING_INDEX_RANGE, c"SPARRING_INDEX_RANGE"),
    (SPARRING_NOT_SORTED, c"SPARRING_NOT_SORTED"),
    (SPARRING_DUPLICATE, c"SPARRING_DUPLICATE"),
    (SPARRING_PATTERN_CHANGED, c"SPARRING_PATTERN_CHANGED"),
    (SPARRING_PARSE, c"SPARRING_PARSE"),
    (SPARRING_UNSUPPORTED, c"SPARRING_UNSUPPORTED"),
    (SPARRING_ARGUMENT, c"SPARRING_ARGUMENT"),
    (SPARRING_IO, c"SPARRING_IO"),
    (SPARRING_CANCELLED, c"SPARRING_CANCELLED"),
    (SPARRING_THREADS, c"SPARRING_THREADS"),
    (SPARRING_NO_DEVICE, c"SPARRING_NO_DEVICE"),
    (SPARRING_NO_COMPILER, c"SPARRING_NO_COMPILER"),
    (SPARRING_COMPILE, c"SPARRING_COMPILE"),
    (SPARRING_DEVICE_FAILED, c"SPARRING_DEVICE_FAILED"),
    (SPARRING_DEVICE_MEMORY, c"SPARRING_DEVICE_MEMORY"),
    (SPARRING_FORMULA, c"SPARRING_FORMULA"),
    (SPARRING_OTHER, c"SPARRING_OTHER"),
    (SPARRING_INVALID_HANDLE, c"SPARRING_INVALID_HANDLE"),
    (SPARRING_NULL_POINTER, c"SPARRING_NULL_POINTER"),
    (SPARRING_PANIC, c"SPARRING_PANIC"),
    (SPARRING_TYPE, c"SPARRING_TYPE"),
    (SPARRING_NO_VALUE, c"SPARRING_NO_VALUE"),
];

/// Name of a status code, such as "SPARRING_SHAPE"; "unknown status" for other numbers. The text is constant; do not
/// free it.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_status_name(status: u32) -> *const c_char {
    ALL.iter().find(|(code, _)| *code as u32 == status).map_or(c"unknown status", |(_, name)| name).as_ptr()
}
