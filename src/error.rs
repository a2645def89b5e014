//! The error type of the library. Every variant carries the numbers that explain it.

use std::fmt;

use thiserror::Error;

/// An error. Each message names the operation and the numbers involved.
///
/// `Debug` prints the same sentence as `Display`, so that a program whose `main` returns this [`Result`] prints it:
/// ```
/// let e = sparring::Csr::<f64>::new(1, 1, vec![0, 1], vec![7], vec![1.0]).unwrap_err();
/// assert_eq!(format!("Error: {e:?}"), "Error: entry 0: column index 7 is not below 1");
/// ```
#[derive(Error)]
#[non_exhaustive]
pub enum Error {
    /// The shapes of two operands do not match.
    #[error("{op}: shapes do not agree: lhs is {}×{}, rhs is {}×{}", lhs.0, lhs.1, rhs.0, rhs.1)]
    Shape {
        /// The operation.
        op: &'static str,
        /// Rows and columns of the left operand.
        lhs: (usize, usize),
        /// Rows and columns of the right operand.
        rhs: (usize, usize),
    },
    /// The operation requires a square matrix.
    #[error("{op}: the matrix must be square, but it is {nrows}×{ncols}")]
    NotSquare {
        /// The operation.
        op: &'static str,
        /// Rows.
        nrows: usize,
        /// Columns.
        ncols: usize,
    },
    /// A size or index exceeds the range of its type.
    #[error("{what}: {needed} does not fit, the largest possible is {max}")]
    IndexOverflow {
        /// The size or index.
        what: &'static str,
        /// Required value.
        needed: u128,
        /// Largest value of the type.
        max: u128,
    },
    /// An allocation failed, or the budget does not allow it.
    #[error("out of memory: {bytes} bytes are needed for {what}")]
    OutOfMemory {
        /// Purpose of the memory.
        what: &'static str,
        /// Requested bytes.
        bytes: u128,
    },
    /// A memory budget set by the caller would be exceeded.
    #[error("memory budget: {what} needs {bytes} bytes, the budget is {budget} bytes")]
    Budget {
        /// Purpose of the memory.
        what: &'static str,
        /// Bytes needed.
        bytes: u128,
        /// Bytes allowed.
        budget: u128,
    },
    /// The length of an array does not match that of the others.
    #[error("{what}: length is {found}, expected {expected}")]
    Length {
        /// Which array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Length that the other arguments require.
        expected: usize,
    },
    /// Row pointers decrease, do not start at 0, or do not end at the number of entries.
    #[error("row pointers: row_ptr[{row}] is {found}, expected {expected}")]
    RowPointer {
        /// Position in the array.
        row: usize,
        /// Value found.
        found: usize,
        /// Valid values at this position.
        expected: String,
    },
    /// An index lies outside its dimension.
    #[error("entry {position}: {axis} index {index} is not below {bound}")]
    IndexRange {
        /// `"row"`, `"column"` or the name of a mode.
        axis: &'static str,
        /// Position in the list of entries.
        position: usize,
        /// Index found.
        index: u128,
        /// Size of the dimension.
        bound: usize,
    },
    /// An index of an index list lies outside its dimension.
    #[error("{list}: index {index} at position {position} of the list, of a dimension of {bound}")]
    ListIndex {
        /// Name of the list: `rows`, `cols`, `indices`.
        list: &'static str,
        /// Index found.
        index: i128,
        /// Its position.
        position: usize,
        /// Size of the dimension.
        bound: usize,
    },
    /// An index list repeats an index in an assignment that allows one value per index.
    #[error("{list}: index {index} is in the list twice; give an operator that joins what it gets")]
    RepeatedIndex {
        /// Name of the list.
        list: &'static str,
        /// The index.
        index: usize,
    },
    /// The column indices of a row do not increase.
    #[error("row {row}: column {column} at position {position} does not increase")]
    NotSorted {
        /// Row.
        row: usize,
        /// Position in the list of entries.
        position: usize,
        /// Column at this position.
        column: usize,
    },
    /// An entry is given twice where duplicates are not allowed.
    #[error("entry ({row}, {column}) is given twice")]
    Duplicate {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// An entry of a tensor is given twice where duplicates are not allowed.
    #[error("entry {place:?} is given twice (indices count from 0)")]
    Repeated {
        /// Its index in each mode.
        place: Vec<usize>,
    },
    /// The dimensions of two tensors, or of a tensor and its factors, do not agree.
    #[error("{op}: dimensions do not agree: lhs is {lhs:?}, rhs is {rhs:?}")]
    Dims {
        /// The operation.
        op: &'static str,
        /// Dimensions of the left operand.
        lhs: Vec<usize>,
        /// Dimensions of the right operand.
        rhs: Vec<usize>,
    },
    /// A plan was applied to matrices whose patterns differ from those that it was made for.
    #[error(
        "plan: operand {operand} has another pattern than the one planned for ({found} entries, planned {planned})"
    )]
    PatternChanged {
        /// `"A"` or `"B"`.
        operand: &'static str,
        /// Entries found.
        found: usize,
        /// Entries planned for.
        planned: usize,
    },
    /// The input violates its format.
    #[error("{file}:{line}:{column}: {message}")]
    Parse {
        /// File or stream name.
        file: String,
        /// Line, counted from 1.
        line: u64,
        /// Column in bytes, counted from 1.
        column: u64,
        /// What is wrong.
        message: String,
    },
    /// A valid request that the library does not support.
    #[error("{what} is not supported: {why}")]
    Unsupported {
        /// The request.
        what: String,
        /// The reason, or an alternative.
        why: String,
    },
    /// An argument outside its domain.
    #[error("{name}: {message}")]
    Argument {
        /// Argument.
        name: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// A formula that does not parse, or whose types do not match.
    #[error("formula: {message}\n{}", pointed(text, *at))]
    Formula {
        /// The formula.
        text: String,
        /// Where it goes wrong, in bytes.
        at: usize,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// An einsum expression that does not parse, or does not match its operands.
    #[error("expression: {message}\n{}", pointed(text, *at))]
    Expression {
        /// The expression.
        text: String,
        /// Where it goes wrong, in bytes.
        at: usize,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// An error of the file system.
    #[error("{path}: {source}")]
    Io {
        /// File.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The caller cancelled the operation.
    #[error("{op}: cancelled by the caller after {done} of {total}")]
    Cancelled {
        /// Operation.
        op: &'static str,
        /// Units of work done.
        done: u64,
        /// Units of work in total.
        total: u64,
    },
    /// The device does not exist, or a component that it requires is missing.
    #[error("no GPU {ordinal}: {why}")]
    NoDevice {
        /// Ordinal of the requested device.
        ordinal: usize,
        /// What is missing.
        why: String,
    },
    /// The compiler of device programs (NVRTC) is missing.
    #[error("no compiler for GPU programs: {why}")]
    NoCompiler {
        /// Where it was searched for.
        why: String,
    },
    /// A device program does not compile.
    #[error("{program} does not compile: {log}\n{source_text}")]
    Compile {
        /// Name of the program.
        program: String,
        /// The compiler's log.
        log: String,
        /// Source text of the program, with line numbers.
        source_text: String,
    },
    /// The driver or the device reported an error.
    #[error("{what}: {message}")]
    Device {
        /// The failed step; for a kernel its name and launch shape.
        what: String,
        /// The driver's message.
        message: String,
    },
    /// The device does not have enough free memory.
    #[error("out of device memory: {bytes} bytes are needed for {what}, {free} bytes are free")]
    DeviceMemory {
        /// Purpose of the memory.
        what: &'static str,
        /// Requested bytes.
        bytes: u128,
        /// Bytes that were free.
        free: u64,
    },
    /// Threads could not be started.
    #[error("cannot start {threads} threads: {message}")]
    Threads {
        /// Number of threads requested.
        threads: usize,
        /// The system's message.
        message: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The result of an operation of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The line of `text` that contains byte `at`, and a caret below that byte.
fn pointed(text: &str, at: usize) -> String {
    let at = (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    format!("  {line}\n  {}^", " ".repeat(text[start..at].chars().count()))
}
