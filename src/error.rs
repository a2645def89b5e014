//! The one error type. Every variant carries the numbers that explain it.

use std::fmt;

use thiserror::Error;

/// What can go wrong. Each message names the operation and the numbers involved.
///
/// `Debug` prints the same sentence as `Display`, so that a program whose `main` returns this [`Result`] ends with it:
/// ```
/// let e = sparring::Csr::<f64>::new(1, 1, vec![0, 1], vec![7], vec![1.0]).unwrap_err();
/// assert_eq!(format!("Error: {e:?}"), "Error: entry 0: column index 7 is not below 1");
/// ```
#[derive(Error)]
#[non_exhaustive]
pub enum Error {
    /// Two operands do not fit together.
    #[error("{op}: shapes do not agree: lhs is {}×{}, rhs is {}×{}", lhs.0, lhs.1, rhs.0, rhs.1)]
    Shape {
        /// Operation that was asked for.
        op: &'static str,
        /// Rows and columns of the left operand.
        lhs: (usize, usize),
        /// Rows and columns of the right operand.
        rhs: (usize, usize),
    },
    /// An operation that needs a square matrix got another.
    #[error("{op}: the matrix must be square, but it is {nrows}×{ncols}")]
    NotSquare {
        /// Operation that was asked for.
        op: &'static str,
        /// Rows.
        nrows: usize,
        /// Columns.
        ncols: usize,
    },
    /// A size or index is larger than its type holds.
    #[error("{what}: {needed} does not fit, the largest possible is {max}")]
    IndexOverflow {
        /// What was being sized.
        what: &'static str,
        /// Value that was needed.
        needed: u128,
        /// Largest value the type holds.
        max: u128,
    },
    /// Memory could not be had, or the budget does not allow it.
    #[error("out of memory: {bytes} bytes are needed for {what}")]
    OutOfMemory {
        /// What the memory was for.
        what: &'static str,
        /// Bytes asked for.
        bytes: u128,
    },
    /// A memory budget set by the caller would be exceeded.
    #[error("memory budget: {what} needs {bytes} bytes, the budget is {budget} bytes")]
    Budget {
        /// What the memory was for.
        what: &'static str,
        /// Bytes needed.
        bytes: u128,
        /// Bytes allowed.
        budget: u128,
    },
    /// Lengths of parallel arrays disagree.
    #[error("{what}: length is {found}, expected {expected}")]
    Length {
        /// Which array.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Length that the other arguments call for.
        expected: usize,
    },
    /// Row pointers decrease, or do not start at zero or end at the number of entries.
    #[error("row pointers: row_ptr[{row}] is {found}, expected {expected}")]
    RowPointer {
        /// Position in the array.
        row: usize,
        /// Value found.
        found: usize,
        /// What would be right there.
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
    /// An index of a list lies outside its dimension.
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
    /// An index stands in a list twice where each place may get one value.
    #[error("{list}: index {index} is in the list twice; give an operator that joins what it gets")]
    RepeatedIndex {
        /// Name of the list.
        list: &'static str,
        /// The index.
        index: usize,
    },
    /// A row's columns do not increase.
    #[error("row {row}: column {column} at position {position} does not increase")]
    NotSorted {
        /// Row.
        row: usize,
        /// Position in the list of entries.
        position: usize,
        /// Column found there.
        column: usize,
    },
    /// The same entry was given twice where that is not allowed.
    #[error("entry ({row}, {column}) is given twice")]
    Duplicate {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// The same entry of a tensor was given twice where that is not allowed.
    #[error("entry {place:?} is given twice (indices count from 0)")]
    Repeated {
        /// Its index in each mode.
        place: Vec<usize>,
    },
    /// The dimensions of two tensors, or of a tensor and its factors, do not agree.
    #[error("{op}: dimensions do not agree: lhs is {lhs:?}, rhs is {rhs:?}")]
    Dims {
        /// Operation that was asked for.
        op: &'static str,
        /// Dimensions of the left operand.
        lhs: Vec<usize>,
        /// Dimensions of the right operand.
        rhs: Vec<usize>,
    },
    /// A plan was used with matrices that it was not made for.
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
    /// Text that is not what its format says.
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
    /// Something legal that this library does not do.
    #[error("{what} is not supported: {why}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// Why not, or what to do instead.
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
    /// A formula that cannot be read, or whose types do not fit together.
    #[error("formula: {message}\n{}", pointed(text, *at))]
    Formula {
        /// The formula.
        text: String,
        /// Where it goes wrong, in bytes.
        at: usize,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// The indices of a contraction that cannot be read, or do not fit its operands.
    #[error("expression: {message}\n{}", pointed(text, *at))]
    Expression {
        /// The expression.
        text: String,
        /// Where it goes wrong, in bytes.
        at: usize,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// File.
        path: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The progress callback asked to stop.
    #[error("{op}: cancelled by the caller after {done} of {total}")]
    Cancelled {
        /// Operation.
        op: &'static str,
        /// Units of work done.
        done: u64,
        /// Units in all.
        total: u64,
    },
    /// There is no such device, or something that it needs is missing.
    #[error("no GPU {ordinal}: {why}")]
    NoDevice {
        /// Number of the device asked for.
        ordinal: usize,
        /// What is missing.
        why: String,
    },
    /// The compiler of device programs is missing.
    #[error("no compiler for GPU programs: {why}")]
    NoCompiler {
        /// What was looked for.
        why: String,
    },
    /// A device program does not compile.
    #[error("{program} does not compile: {log}\n{source_text}")]
    Compile {
        /// Name of the program.
        program: String,
        /// The compiler's words.
        log: String,
        /// The program, its lines numbered.
        source_text: String,
    },
    /// The driver or the device reported an error.
    #[error("{what}: {message}")]
    Device {
        /// What was being done; for a kernel its name and launch shape.
        what: String,
        /// The driver's words.
        message: String,
    },
    /// The device has not that much memory left.
    #[error("out of device memory: {bytes} bytes are needed for {what}, {free} bytes are free")]
    DeviceMemory {
        /// What the memory was for.
        what: &'static str,
        /// Bytes asked for.
        bytes: u128,
        /// Bytes that were free.
        free: u64,
    },
    /// Threads could not be started.
    #[error("cannot start {threads} threads: {message}")]
    Threads {
        /// Number asked for.
        threads: usize,
        /// The system's words.
        message: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Result of this library's operations.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The line of `text` that holds byte `at`, and a mark under that place.
fn pointed(text: &str, at: usize) -> String {
    let at = (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    format!("  {line}\n  {}^", " ".repeat(text[start..at].chars().count()))
}
