//! Matrices from files of every format, and into them, with the texts that stand beside the numbers.

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

/// What kind of file a matrix is in, compressed by gzip or not.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringFormat {
    /// Matrix Market; values are of the file's field: int64_t, double, double complex, of a pattern bool.
    SPARRING_MATRIX_MARKET = 1,
    /// MATLAB's MAT-file of version 5 to 7: a sparse or full matrix. It is read alone.
    SPARRING_MAT = 2,
    /// A table, a row a line: every element, of which 0 is no entry; doubles.
    SPARRING_CSV = 3,
    /// svmlight and libsvm: rows of column:value behind a label; doubles.
    SPARRING_SVMLIGHT = 4,
    /// An edge a line: two vertices, perhaps a weight; bool, or doubles. It is read alone.
    SPARRING_EDGES = 5,
    /// A graph of the DIMACS challenges. It is read alone.
    SPARRING_DIMACS = 6,
    /// A graph of METIS. It is read alone.
    SPARRING_METIS = 7,
    /// An array of NumPy, of one or two dimensions.
    SPARRING_NPY = 8,
    /// A sparse matrix of SciPy.
    SPARRING_NPZ = 9,
}

use SparringFormat::*;

/// Formats by their codes, and what messages call them.
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

/// The answer to a question that a file may leave open.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringAnswer {
    /// Nothing is said of it: the file decides, or is refused where it does not.
    SPARRING_UNSAID = 0,
    /// Yes.
    SPARRING_YES = 1,
    /// No.
    SPARRING_NO = 2,
}

/// What becomes of an edge with a weight that stands in a graph more than once.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of C, so that one search finds both sides")]
pub enum SparringRepeated {
    /// It is an error of the file.
    SPARRING_REPEATED_REFUSE = 0,
    /// Weights are added up.
    SPARRING_REPEATED_SUM = 1,
    /// The least weight counts.
    SPARRING_REPEATED_MIN = 2,
    /// The greatest weight counts.
    SPARRING_REPEATED_MAX = 3,
}

/// How a file is read. All zero (`SparringFileOptions o = {0};`) are the defaults. What is set for another format than
/// the file's is SPARRING_ARGUMENT.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SparringFileOptions {
    /// Bytes, after decompression, beyond which the file is refused: SPARRING_BUDGET. 0: no limit.
    pub max_bytes: u64,
    /// SPARRING_SVMLIGHT: number of columns, for rows that leave out the last ones. 0: the largest that it has.
    pub columns: u64,
    /// SPARRING_MAT: which variable, "A", or "Problem.A" in a structure. NULL: its only matrix, or Problem.A.
    pub variable: *const c_char,
    /// Not 0: also read what other programs write and the format leaves open, garbage behind gzip among it.
    pub lenient: u32,
    /// SPARRING_CSV: whether the first line is a heading, a SparringAnswer.
    pub header: u32,
    /// SPARRING_CSV: what stands between cells, a character of ASCII; ' ' for any number of spaces and tabs. 0: a
    /// comma.
    pub delimiter: u32,
    /// SPARRING_SVMLIGHT and SPARRING_EDGES: whether columns and vertices count from 0, a SparringAnswer. Columns count
    /// from 1 if nothing is said.
    pub zero_based: u32,
    /// SPARRING_EDGES: whether each edge stands for both directions, a SparringAnswer.
    pub undirected: u32,
    /// SPARRING_EDGES, not 0: edges go from one set of vertices to another, rows and columns.
    pub bipartite: u32,
    /// SPARRING_EDGES, not 0: vertices are any integers, numbered in their order: sparring_labels_ids.
    pub renumber: u32,
    /// SPARRING_EDGES, not 0: vertices are any words, numbered as they appear: sparring_labels_row.
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
    /// Refuses options that the format has no use for.
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

/// An option that may be left open.
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

/// What a file says beside its numbers: a text for each row, as the labels of svmlight and the names of vertices, one
/// for each column, as the heading of a table, and the numbers that vertices have in it. It never changes.
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
    // Those that every reader has.
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
                let message = || format!("{} is no character of ASCII", options.delimiter);
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

/// The error of values that the type does not hold.
fn unheld(e: Error) -> Fail {
    match e {
        Error::Unsupported { .. } => Fail::of_type("type", e.to_string()),
        other => other.into(),
    }
}

/// A matrix from a file of the format `format`, a SparringFormat, read by the threads of `device`. `type` is a
/// SparringType, or 0 for that of the file; a value that it does not hold: SPARRING_TYPE. `options` may be NULL.
/// `labels` is NULL, or gets what the file says beside its numbers, which is empty for a format that has nothing of it;
/// free it with sparring_labels_free. An error of the file (SPARRING_PARSE) says path:line:column and what is wrong
/// there. For a GPU the processor reads: sparring_matrix_to. `path` is UTF-8. `*matrix` gets the handle, NULL on
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

/// Writes the matrix, which is in the processor's memory (see sparring_matrix_to), as a file of the format `format`, a
/// SparringFormat, by the threads of `device`: SPARRING_MATRIX_MARKET, SPARRING_CSV, SPARRING_SVMLIGHT, SPARRING_NPY or
/// SPARRING_NPZ; others are read alone: SPARRING_UNSUPPORTED. Text is compressed by gzip if `path` ends in ".gz".
/// `labels` has a label for each row of SPARRING_SVMLIGHT, NULL: each is 0; for other formats it is NULL. The file is
/// written beside its place and takes it when it is complete: on failure, what was at `path` is as it was. `path` is
/// UTF-8.
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
            _ => Err(Error::Unsupported { what: format!("format: {name}"), why: "it is read alone".into() }),
        };
        written.map_err(|e| match e {
            Error::Length { what: "labels", .. } | Error::Argument { .. } => Fail::from(e).naming("labels"),
            other => other.into(),
        })
    })
}

/// Labels of rows that are numbers, for sparring_matrix_write_file: `len` doubles, each the shortest text that gives it
/// back. `*labels` gets the handle, NULL on failure; free it with sparring_labels_free.
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
            return Err(Fail::argument("numbers", format!("number {at} is {}, and a label is finite", numbers[at])));
        }
        let texts = copied(numbers, "labels", |x| x.to_string())?;
        let rows = Labels::of(texts.iter().map(String::as_str))?;
        out.give(SparringLabels { rows, ..SparringLabels::default() })
    })
}

/// How many labels of rows, names of columns and numbers of vertices there are; each may be NULL.
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

/// The label of row `at`, from 0: UTF-8 text into `buffer` of `capacity` bytes, as for sparring_plan_explain.
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

/// The name of column `at`, from 0: UTF-8 text into `buffer` of `capacity` bytes, as for sparring_plan_explain.
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

/// The labels of all rows as numbers, into an array of `capacity` doubles. One that is no number: SPARRING_PARSE.
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
                message: format!("labels: that of row {at}, '{label}', is no number"),
            })?);
        }
        if numbers.is_null() {
            return Err(Fail::null("numbers"));
        }
        // SAFETY: by the contract `numbers` has room for `capacity`.
        unsafe { output(&found, numbers, capacity, "numbers") }
    })
}

/// The numbers that the vertices have in the file, in the order of rows and columns, into an array of `capacity`.
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
