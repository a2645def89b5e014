//! Matrices from and to files of every format, with their labels.

use std::ffi::c_char;

use sparring::Error;
use sparring::algebra::Type;
use sparring::io::{
    CsvOptions, EdgeOptions, LabeledMatrix, Labels, MatlabOptions, NumpyOptions, ReadOptions, Repeated,
    SvmlightOptions, read_csv_with, read_dimacs_with, read_edges_with, read_mat_with, read_matrix_market_with,
    read_metis_with, read_npy_with, read_npz_with, read_svmlight_with, write_csv, write_matrix_market_any, write_npy,
    write_npz, write_svmlight,
};
use sparring::par::Threads;
use sparring::runtime::Matrix;

use crate::device::SparringDevice;
use crate::guard::{Fail, Fallible};
use crate::handle::{Object, handle, release};
use crate::matrix::{SparringMatrix, arrays};
use crate::matrix_market::{SparringWriteOptions, given, writing};
use crate::memory::{NewHandle, choice, copied, input, output, output_as, size, text, write, write_text};
use crate::sparse::Sparse;
use crate::status::SparringStatus::{self, SPARRING_INDEX_RANGE};
use crate::types::type_of;

/// Format of a matrix file, compressed by gzip or not.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringFormat {
    /// Matrix Market; values have the type of the file's field: int64_t, double, double complex, or bool for a pattern.
    SPARRING_MATRIX_MARKET = 1,
    /// MATLAB's MAT-file of version 5 to 7: a sparse or full matrix. Read only.
    SPARRING_MAT = 2,
    /// A table, one row per line: every element except 0 is an entry; doubles.
    SPARRING_CSV = 3,
    /// svmlight and libsvm: a label followed by column:value pairs; doubles.
    SPARRING_SVMLIGHT = 4,
    /// An edge per line: two vertices, optionally a weight; bool, or doubles. Read only.
    SPARRING_EDGES = 5,
    /// A graph of the DIMACS challenges. Read only.
    SPARRING_DIMACS = 6,
    /// A METIS graph. Read only.
    SPARRING_METIS = 7,
    /// A NumPy array of one or two dimensions.
    SPARRING_NPY = 8,
    /// A SciPy sparse matrix.
    SPARRING_NPZ = 9,
}

use SparringFormat::*;

/// Formats by code, with their names in messages.
const FORMATS: &[(u32, (SparringFormat, &str))] = &[
    (SPARRING_MATRIX_MARKET as u32, (SPARRING_MATRIX_MARKET, "SPARRING_MATRIX_MARKET")),
    (SPARRING_MAT as u32, (SPARRING_MAT, "SPARRING_MAT")),
    (SPARRING_CSV as u32, (SPARRING_CSV, "SPARRING_CSV")),
    (SPARRING_SVMLIGHT as u32, (SPARRING_SVMLIGHT, "SPARRING_SVMLIGHT")),
    (SPARRING_EDGES as u32, (SPARRING_EDGES, "SPARRING_EDGES")),
    (SPARRING_DIMACS as u32, (SPARRING_DIMACS, "SPARRING_DIMACS")),
    (SPARRING_METIS as u32, (SPARRING_METIS, "SPARRING_METIS")),
    (SPARRING_NPY as u32, (SPARRING_NPY, "SPARRING_NPY")),
    (SPARRING_NPZ as u32, (SPARRING_NPZ, "SPARRING_NPZ")),
];

/// A tristate option, for properties that a file may leave open.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringAnswer {
    /// Unspecified: the file decides, or is rejected if ambiguous.
    SPARRING_UNSAID = 0,
    /// Yes.
    SPARRING_YES = 1,
    /// No.
    SPARRING_NO = 2,
}

/// Treatment of duplicate weighted edges.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringRepeated {
    /// They are an error of the file.
    SPARRING_REPEATED_REFUSE = 0,
    /// Weights are summed.
    SPARRING_REPEATED_SUM = 1,
    /// The minimum weight is used.
    SPARRING_REPEATED_MIN = 2,
    /// The maximum weight is used.
    SPARRING_REPEATED_MAX = 3,
}

/// Options for reading a file. All zero (`SparringFileOptions o = {0};`) are the defaults. An option of another format
/// is SPARRING_ARGUMENT.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SparringFileOptions {
    /// Limit in bytes, after decompression, beyond which the file is rejected: SPARRING_BUDGET. 0: no limit.
    pub max_bytes: u64,
    /// SPARRING_SVMLIGHT: number of columns. 0: the largest column in the file.
    pub columns: u64,
    /// SPARRING_MAT: name of the variable, "A", or "Problem.A" in a structure. NULL: its only matrix, or Problem.A.
    pub variable: *const c_char,
    /// Not 0: accepts common deviations from the format, including trailing garbage after gzip data.
    pub lenient: u32,
    /// SPARRING_CSV: whether the first line is a header, a SparringAnswer.
    pub header: u32,
    /// SPARRING_CSV: delimiter of cells, an ASCII character; ' ' for any number of spaces and tabs. 0: a comma.
    pub delimiter: u32,
    /// SPARRING_SVMLIGHT and SPARRING_EDGES: whether columns and vertices are numbered from 0, a SparringAnswer. If
    /// unspecified, columns are numbered from 1.
    pub zero_based: u32,
    /// SPARRING_EDGES: whether each edge is undirected, a SparringAnswer.
    pub undirected: u32,
    /// SPARRING_EDGES, not 0: edges connect two sets of vertices, rows and columns.
    pub bipartite: u32,
    /// SPARRING_EDGES, not 0: vertices are any integers, renumbered in increasing order: sparring_labels_ids.
    pub renumber: u32,
    /// SPARRING_EDGES, not 0: vertices are any words, numbered by first appearance: sparring_labels_row.
    pub named: u32,
    /// SPARRING_EDGES, SPARRING_DIMACS and SPARRING_METIS: a SparringRepeated.
    pub repeated: u32,
}

impl Default for SparringFileOptions {
    fn default() -> Self {
        Self {
            max_bytes: 0,
            columns: 0,
            variable: std::ptr::null(),
            lenient: 0,
            header: 0,
            delimiter: 0,
            zero_based: 0,
            undirected: 0,
            bipartite: 0,
            renumber: 0,
            named: 0,
            repeated: 0,
        }
    }
}

impl SparringFileOptions {
    /// Rejects options that do not apply to the format.
    fn check(&self, (format, name): (SparringFormat, &str)) -> Fallible {
        const GRAPHS: &[SparringFormat] = &[SPARRING_EDGES, SPARRING_DIMACS, SPARRING_METIS];
        let given: [(&str, bool, &[SparringFormat]); 10] = [
            ("columns", self.columns != 0, &[SPARRING_SVMLIGHT]),
            ("variable", !self.variable.is_null(), &[SPARRING_MAT]),
            ("header", self.header != 0, &[SPARRING_CSV]),
            ("delimiter", self.delimiter != 0, &[SPARRING_CSV]),
            ("zero_based", self.zero_based != 0, &[SPARRING_SVMLIGHT, SPARRING_EDGES]),
            ("undirected", self.undirected != 0, &[SPARRING_EDGES]),
            ("bipartite", self.bipartite != 0, &[SPARRING_EDGES]),
            ("renumber", self.renumber != 0, &[SPARRING_EDGES]),
            ("named", self.named != 0, &[SPARRING_EDGES]),
            ("repeated", self.repeated != 0, GRAPHS),
        ];
        match given.iter().find(|(_, set, formats)| *set && !formats.contains(&format)) {
            Some((option, ..)) => {
                let message = format!("{name} has no option {option}");
                Err(Fail { message: format!("options.{option}: {message}"), ..Fail::argument("options", message) })
            }
            None => Ok(()),
        }
    }
}

/// A tristate option.
fn answer(name: &'static str, code: u32) -> Fallible<Option<bool>> {
    use SparringAnswer::*;
    choice(
        name,
        code,
        &[(SPARRING_UNSAID as u32, None), (SPARRING_YES as u32, Some(true)), (SPARRING_NO as u32, Some(false))],
    )
}

fn repeated(code: u32) -> Fallible<Repeated> {
    use SparringRepeated::*;
    let all = [
        (SPARRING_REPEATED_REFUSE as u32, Repeated::Refuse),
        (SPARRING_REPEATED_SUM as u32, Repeated::Sum),
        (SPARRING_REPEATED_MIN as u32, Repeated::Min),
        (SPARRING_REPEATED_MAX as u32, Repeated::Max),
    ];
    choice("options.repeated", code, &all)
}

/// The labels of a file: a text per row (labels of svmlight, names of vertices), a text per column (the header of a
/// table), and the original vertex numbers. It never changes.
#[derive(Default)]
pub struct SparringLabels {
    rows: Labels,
    columns: Labels,
    ids: Vec<i64>,
}

impl Object for SparringLabels {
    const NAME: &'static str = "SparringLabels";
}

/// # Safety
/// `options.variable` is NULL or points to text ended by a zero.
unsafe fn read(
    path: &str,
    format: (SparringFormat, &str),
    options: &SparringFileOptions,
    threads: &Threads,
) -> Fallible<LabeledMatrix> {
    options.check(format)?;
    let most = if options.max_bytes == 0 { u64::MAX } else { options.max_bytes };
    let lenient = options.lenient != 0;
    // Options of every reader.
    macro_rules! common {
        ($options:ident) => {
            $options::new().threads(threads).max_bytes(most).lenient(lenient)
        };
    }
    let edges = || -> Fallible<EdgeOptions<'_>> {
        let mut how = common!(EdgeOptions).bipartite(options.bipartite != 0).renumber(options.renumber != 0);
        how = how.named(options.named != 0).repeated(repeated(options.repeated)?);
        if let Some(zero_based) = answer("options.zero_based", options.zero_based)? {
            how = how.zero_based(zero_based);
        }
        if let Some(undirected) = answer("options.undirected", options.undirected)? {
            how = how.undirected(undirected);
        }
        Ok(how)
    };
    let file = match format.0 {
        SPARRING_MATRIX_MARKET => unreachable!("it is read by its own function"),
        SPARRING_MAT => {
            let mut how = common!(MatlabOptions);
            if !options.variable.is_null() {
                // SAFETY: the caller's promise.
                how = how.variable(unsafe { text(options.variable, "options.variable")? });
            }
            read_mat_with(path, &how)
        }
        SPARRING_CSV => {
            let mut how = common!(CsvOptions);
            if let Some(header) = answer("options.header", options.header)? {
                how = how.header(header);
            }
            if options.delimiter != 0 {
                let ascii = u8::try_from(options.delimiter).ok().filter(u8::is_ascii);
                let message = || format!("{} is not an ASCII character", options.delimiter);
                how = how.delimiter(ascii.ok_or_else(|| Fail::argument("options.delimiter", message()))?);
            }
            read_csv_with(path, &how)
        }
        SPARRING_SVMLIGHT => {
            let zero_based = answer("options.zero_based", options.zero_based)?.unwrap_or(false);
            let mut how = common!(SvmlightOptions).zero_based(zero_based);
            if options.columns != 0 {
                how = how.columns(size(options.columns, "options.columns")?);
            }
            read_svmlight_with(path, &how)
        }
        SPARRING_EDGES => read_edges_with(path, &edges()?),
        SPARRING_DIMACS => read_dimacs_with(path, &edges()?),
        SPARRING_METIS => read_metis_with(path, &edges()?),
        SPARRING_NPY => read_npy_with(path, &common!(NumpyOptions)),
        SPARRING_NPZ => read_npz_with(path, &common!(NumpyOptions)),
    };
    file.map_err(|e| Fail::from(e).naming("path"))
}

/// The error of values that the type cannot represent.
fn unheld(e: Error) -> Fail {
    match e {
        Error::Unsupported { .. } => Fail::of_type("type", e.to_string()),
        other => other.into(),
    }
}

/// Reads a matrix from a file of the format `format`, a SparringFormat, with the threads of `device`. `type` is a
/// SparringType, or 0 for that of the file; a value that it cannot represent: SPARRING_TYPE. `options` may be NULL.
/// `labels` is NULL, or receives the labels of the file, which are empty if the format has none; free them with
/// sparring_labels_free. An error in the file (SPARRING_PARSE) reports path:line:column and the problem. The matrix is
/// read into host memory; sparring_matrix_to moves it to a GPU. `path` is UTF-8. `*matrix` receives the handle, NULL on
/// failure; free it with sparring_matrix_free.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "a file, how it is read, and what is made of it")]
pub unsafe extern "C" fn sparring_matrix_read_file(
    device: *const SparringDevice,
    format: u32,
    r#type: u32,
    path: *const c_char,
    options: *const SparringFileOptions,
    labels: *mut *mut SparringLabels,
    matrix: *mut *mut SparringMatrix,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract `matrix` points to room for a handle, `labels` too or is NULL.
        let out = unsafe { NewHandle::at(matrix, "matrix")? };
        // SAFETY: as above.
        let beside = if labels.is_null() { None } else { Some(unsafe { NewHandle::at(labels, "labels")? }) };
        // SAFETY: by the contract `path` points to text ended by a zero, and `options` to options or to nothing.
        let (path, options) = unsafe { (text(path, "path")?, given(options)?) };
        let device = handle(device, "device")?;
        let format = choice("format", format, FORMATS)?;
        let ty = if r#type == 0 { None } else { Some(type_of("type", r#type)?) };
        let current = Threads::current();
        let threads = device.threads(&current);
        let (read, said) = if format.0 == SPARRING_MATRIX_MARKET {
            options.check(format)?;
            (market(path, ty, &options, threads)?, SparringLabels::default())
        } else {
            // SAFETY: by the contract `variable` points to text ended by a zero or is NULL.
            let LabeledMatrix { pattern, values, labels: rows, columns, ids, .. } =
                unsafe { read(path, format, &options, threads)? };
            let matrix = Matrix::new(pattern, values)?;
            let matrix = ty.map_or(Ok(matrix.clone()), |ty| matrix.cast(ty)).map_err(unheld)?;
            (matrix, SparringLabels { rows, columns, ids })
        };
        if let Some(beside) = beside {
            beside.give(said)?;
        }
        out.give(read.into())
    })
}

fn market(path: &str, ty: Option<Type>, options: &SparringFileOptions, threads: &Threads) -> Fallible<Matrix> {
    let most = if options.max_bytes == 0 { u64::MAX } else { options.max_bytes };
    let how = ReadOptions::new().threads(threads).max_bytes(most).lenient(options.lenient != 0);
    let file = read_matrix_market_with(path, &how).map_err(|e| Fail::from(e).naming("path"))?;
    let read = file.of_type(ty.unwrap_or(file.value_type()), threads);
    let (pattern, values) = if ty.is_some() { read.map_err(unheld)? } else { read? };
    Ok(Matrix::new(pattern, values)?)
}

/// Writes a matrix in host memory (see sparring_matrix_to) to a file of the format `format`, a SparringFormat, with the
/// threads of `device`: SPARRING_MATRIX_MARKET, SPARRING_CSV, SPARRING_SVMLIGHT, SPARRING_NPY or SPARRING_NPZ; other
/// formats are read only: SPARRING_UNSUPPORTED. Text is compressed by gzip if `path` ends in ".gz". `labels` has a
/// label per row of SPARRING_SVMLIGHT, or is NULL for labels 0; for other formats it is NULL. The file is replaced
/// atomically: on failure, the old file at `path` is unchanged. `path` is UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_matrix_write_file(
    device: *const SparringDevice,
    format: u32,
    matrix: *const SparringMatrix,
    labels: *const SparringLabels,
    path: *const c_char,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract `path` points to text ended by a zero.
        let path = unsafe { text(path, "path")? };
        let (format, name) = choice("format", format, FORMATS)?;
        let (device, matrix) = (handle(device, "device")?, handle(matrix, "matrix")?.snapshot());
        let labels = if labels.is_null() { None } else { Some(handle(labels, "labels")?) };
        if labels.is_some() && format != SPARRING_SVMLIGHT {
            return Err(Fail::argument("labels", format!("{name} has none")));
        }
        let (pattern, values) = arrays(&matrix)?;
        let current = Threads::current();
        let how = writing(path, &SparringWriteOptions::default(), device.threads(&current))?;
        let none = Labels::default();
        let written = match format {
            SPARRING_MATRIX_MARKET => write_matrix_market_any(path, pattern, values, &how),
            SPARRING_CSV => write_csv(path, pattern, values, &how),
            SPARRING_SVMLIGHT => {
                write_svmlight(path, pattern, values, labels.as_ref().map_or(&none, |labels| &labels.rows), &how)
            }
            SPARRING_NPY => write_npy(path, pattern, values),
            SPARRING_NPZ => write_npz(path, pattern, values),
            _ => Err(Error::Unsupported { what: format!("format: {name}"), why: "it is read only".into() }),
        };
        written.map_err(|e| match e {
            Error::Length { what: "labels", .. } | Error::Argument { .. } => Fail::from(e).naming("labels"),
            other => other.into(),
        })
    })
}

/// Numeric row labels for sparring_matrix_write_file: `len` doubles, each written as the shortest text that
/// round-trips. `*labels` receives the handle, NULL on failure; free it with sparring_labels_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_labels_from_numbers(
    numbers: *const f64,
    len: u64,
    labels: *mut *mut SparringLabels,
) -> SparringStatus {
    ffi!({
        // SAFETY: by the contract `labels` points to room for a handle, and `numbers` to `len` doubles.
        let (out, numbers) =
            unsafe { (NewHandle::at(labels, "labels")?, input(numbers, size(len, "len")?, "numbers")?) };
        if let Some(at) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(Fail::argument(
                "numbers",
                format!("number {at} is {}, but labels must be finite", numbers[at]),
            ));
        }
        let texts = copied(numbers, "labels", |x| x.to_string())?;
        let rows = Labels::of(texts.iter().map(String::as_str))?;
        out.give(SparringLabels { rows, ..SparringLabels::default() })
    })
}

/// Numbers of row labels, column names and vertex numbers; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_labels_counts(
    labels: *const SparringLabels,
    rows: *mut u64,
    columns: *mut u64,
    ids: *mut u64,
) -> SparringStatus {
    ffi!({
        let found = handle(labels, "labels")?;
        let counts = [(rows, found.rows.len(), "rows"), (columns, found.columns.len(), "columns")];
        for (to, count, name) in counts.into_iter().chain([(ids, found.ids.len(), "ids")]) {
            if !to.is_null() {
                // SAFETY: by the contract each points to room for a number or is NULL.
                unsafe { write(to, count as u64, name)? };
            }
        }
        Ok(())
    })
}

/// # Safety
/// `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
unsafe fn give_text(
    labels: &Labels,
    at: u64,
    what: &str,
    (buffer, capacity, length): (*mut c_char, u64, *mut u64),
) -> Fallible {
    let found = usize::try_from(at).ok().and_then(|at| labels.get(at));
    let text = found.ok_or_else(|| Fail {
        status: SPARRING_INDEX_RANGE,
        message: format!("at is {at}, not below the number of {what}, which is {}", labels.len()),
    })?;
    // SAFETY: the caller's promise.
    unsafe { write_text(text, buffer, capacity, length) }
}

/// The label of row `at`, from 0: UTF-8 text written to `buffer` of `capacity` bytes as by sparring_plan_explain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_labels_row(
    labels: *const SparringLabels,
    at: u64,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let labels = handle(labels, "labels")?;
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { give_text(&labels.rows, at, "labels of rows", (buffer, capacity, length)) }
    })
}

/// The name of column `at`, from 0: UTF-8 text written to `buffer` of `capacity` bytes as by sparring_plan_explain.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_labels_column(
    labels: *const SparringLabels,
    at: u64,
    buffer: *mut c_char,
    capacity: u64,
    length: *mut u64,
) -> SparringStatus {
    ffi!({
        let labels = handle(labels, "labels")?;
        // SAFETY: by the contract `buffer` has `capacity` bytes, and `length` is NULL or points to room for a number.
        unsafe { give_text(&labels.columns, at, "names of columns", (buffer, capacity, length)) }
    })
}

/// All row labels as numbers, written to an array of `capacity` doubles. A label that is not a number: SPARRING_PARSE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_labels_numbers(
    labels: *const SparringLabels,
    numbers: *mut f64,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let labels = handle(labels, "labels")?;
        let mut found = Vec::new();
        let bytes = labels.rows.len() as u128 * size_of::<f64>() as u128;
        found.try_reserve_exact(labels.rows.len()).map_err(|_| Error::OutOfMemory { what: "numbers", bytes })?;
        for (at, label) in labels.rows.iter().enumerate() {
            found.push(label.parse::<f64>().map_err(|_| Fail {
                status: SparringStatus::SPARRING_PARSE,
                message: format!("labels: that of row {at}, '{label}', is not a number"),
            })?);
        }
        if numbers.is_null() {
            return Err(Fail::null("numbers"));
        }
        // SAFETY: by the contract `numbers` has room for `capacity`.
        unsafe { output(&found, numbers, capacity, "numbers") }
    })
}

/// The original numbers of the vertices in the file, in the order of rows and columns, written to an array of
/// `capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sparring_labels_ids(
    labels: *const SparringLabels,
    ids: *mut i64,
    capacity: u64,
) -> SparringStatus {
    ffi!({
        let labels = handle(labels, "labels")?;
        if ids.is_null() {
            return Err(Fail::null("ids"));
        }
        // SAFETY: by the contract `ids` has room for `capacity`.
        unsafe { output_as(&labels.ids, ids, capacity, "ids", |x| x) }
    })
}

/// Frees labels; NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn sparring_labels_free(labels: *mut SparringLabels) -> SparringStatus {
    ffi!({ release(labels, "labels") })
}
