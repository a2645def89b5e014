//! Status codes: one for each class of error of the library, and the border's own.

use std::ffi::{CStr, c_char};

use sparring::Error;

/// What a function returns: SPARRING_OK, or why not. sparring_last_error() has the message.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringStatus {
    /// Done.
    SPARRING_OK = 0,
    /// The shapes of the operands do not fit together.
    SPARRING_SHAPE = 1,
    /// The operation needs a square matrix.
    SPARRING_NOT_SQUARE = 2,
    /// A size or index is larger than its type holds.
    SPARRING_INDEX_OVERFLOW = 3,
    /// Memory could not be had.
    SPARRING_OUT_OF_MEMORY = 4,
    /// The memory budget of the SparringDevice would be exceeded.
    SPARRING_BUDGET = 5,
    /// The lengths of parallel arrays disagree.
    SPARRING_LENGTH = 6,
    /// Row pointers decrease, or do not start at 0 or end at the number of entries.
    SPARRING_ROW_POINTER = 7,
    /// An index lies outside its dimension.
    SPARRING_INDEX_RANGE = 8,
    /// The columns of a row do not increase where they must.
    SPARRING_NOT_SORTED = 9,
    /// The same entry was given twice where that is not allowed.
    SPARRING_DUPLICATE = 10,
    /// A plan was used with matrices that it was not made for.
    SPARRING_PATTERN_CHANGED = 11,
    /// A file is not what its format says.
    SPARRING_PARSE = 12,
    /// Legal, but not something that this library does.
    SPARRING_UNSUPPORTED = 13,
    /// An argument is outside its domain.
    SPARRING_ARGUMENT = 14,
    /// The file system refused.
    SPARRING_IO = 15,
    /// Stopped by a callback.
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
    /// The GPU has not that much memory left.
    SPARRING_DEVICE_MEMORY = 22,
    /// A formula cannot be read, or an expression of indices, or it does not fit its operands; the message points at
    /// the place.
    SPARRING_FORMULA = 23,
    /// An error of a class that this header does not know yet.
    SPARRING_OTHER = 99,
    /// A handle was freed before, is of another kind, or never was a handle.
    SPARRING_INVALID_HANDLE = 100,
    /// A pointer is NULL where it may not be.
    SPARRING_NULL_POINTER = 101,
    /// A defect of this library was met and contained. Please report it with the message.
    SPARRING_PANIC = 102,
    /// Values are of a type that the operation or the semiring does not take, or not of that of the other operand.
    SPARRING_TYPE = 103,
    /// A scalar that is empty was read.
    SPARRING_NO_VALUE = 104,
}

use SparringStatus::*;

impl SparringStatus {
    /// Whether an argument of the caller's is what is wrong, not the machine, a file or this library.
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

/// Name of a status code, such as "SPARRING_SHAPE"; "unknown status" for a number that is none.
/// The text is constant and is not freed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_status_name(status: u32) -> *const c_char {
    ALL.iter().find(|(code, _)| *code as u32 == status).map_or(c"unknown status", |(_, name)| name).as_ptr()
}
