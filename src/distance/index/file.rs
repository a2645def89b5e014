//! Index files: the inputs of an index, with a checksum.
//!
//! All numbers little-endian, floats as their IEEE bits:
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | `SPARRIDX` |
//! | 4 | version: 1 |
//! | 4 | one byte each: bytes of a value (4, 8), bytes of a column (4, 8), normalize (0 the metric's default, 1 no, 2 yes), and flags: 1 computed in the type of the entries, 2 entries unchecked, 4 the metric has a parameter |
//! | 8 | the parameter, or 0 |
//! | 8, then that many | length of the metric's name or formula, and its text in UTF-8 |
//! | 8, 8, 8 | rows, columns, entries |
//! | 8 × (rows + 1) | row pointers |
//! | bytes × entries | columns |
//! | bytes × entries | values |
//! | 8 | checksum: FNV-1a of all preceding bytes, 64 bits |
//!
//! Prepared rows and the index itself are not stored. Rebuilding them takes about as long as reading, and the file
//! stays readable by any later version.

use std::io::{BufRead, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use super::NeighbourIndex;
use crate::algebra::{Slice, Type};
use crate::distance::any::AnyMetric;
use crate::distance::float::Float;
use crate::distance::measure::Measure;
use crate::distance::options::{Options, Precision};
use crate::par::Threads;
use crate::replace::write_file;
use crate::sparse::framed::{In, Kind, Out};
use crate::{Csr, Error, Index, Result};

const INDEX: Kind = Kind { magic: b"SPARRIDX", version: 1, name: "an index" };
/// Longest name or formula.
const NAME: u64 = 1 << 16;

const ENTRIES_TYPE: u8 = 1;
const UNCHECKED: u8 = 2;
const PARAMETER: u8 = 4;

impl<T: Float, I: Index> NeighbourIndex<T, I> {
    /// Writes the index: its inputs, a version, a checksum. The format is documented in the source,
    /// `distance/index/file.rs`.
    ///
    /// ```
    /// use sparring::{Cpu, Csr, distance::{Metric, NeighbourIndex, Options}};
    /// let y = Csr::<f64>::new(2, 2, vec![0, 1, 2], vec![0, 1], vec![1.0, 1.0])?;
    /// let cpu = Cpu::new();
    /// let mut file = vec![];
    /// cpu.index(Metric::Manhattan, &y, Options::default())?.save_to(&mut file)?;
    /// let index: NeighbourIndex<f64> = cpu.load_index_from(&mut &file[..])?;
    /// assert_eq!(index.knn(&cpu, &y, 1)?.indices(), [0, 1]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// [`Error::Unsupported`] for a measure without a name, such as a closure; [`Error::Io`].
    pub fn save_to(&self, to: &mut dyn Write) -> Result<()> {
        write(to, &*self.measure, &self.options, &self.y)
    }
    /// Writes the index to a file, atomically: an existing file stays until the new one is complete.
    /// # Errors
    /// Those of [`save_to`](Self::save_to), with the file's name.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_path(path.as_ref(), |to| self.save_to(to))
    }
    pub(crate) fn load_from(threads: &Threads, budget: Option<u64>, from: &mut dyn Read) -> Result<Self> {
        let (measure, options, y) = read(from)?;
        Self::new(threads, Arc::new(measure), y, Options { memory_budget: budget, ..options })
    }
    pub(crate) fn load(threads: &Threads, budget: Option<u64>, path: &Path) -> Result<Self> {
        let (measure, options, y) = read_path(path)?;
        Self::new(threads, Arc::new(measure), y, Options { memory_budget: budget, ..options })
    }
}

/// Writes the inputs of an index.
pub(crate) fn write<T: Float, I: Index>(
    to: &mut dyn Write,
    measure: &dyn Measure,
    options: &Options,
    y: &Csr<T, I>,
) -> Result<()> {
    let Some((name, p)) = measure.named() else {
        let (what, why) =
            (format!("saving an index by {}", measure.name()), "it has no name that a file could store".into());
        return Err(Error::Unsupported { what, why });
    };
    let Options { normalize, precision, unchecked, .. } = *options;
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    let flags =
        flag(precision == Precision::Entries, ENTRIES_TYPE) | flag(unchecked, UNCHECKED) | flag(p.is_some(), PARAMETER);
    let normalize = normalize.map_or(0, |wanted| 1 + u8::from(wanted));
    let mut out = Out::new(to, INDEX, [size_of::<T>() as u8, size_of::<I>() as u8, normalize, flags])?;
    out.number(p.unwrap_or(0.0).to_bits())?;
    out.number(name.len() as u64)?;
    out.bytes(name.as_bytes())?;
    let (nrows, ncols) = y.shape();
    for size in [nrows, ncols, y.nnz()] {
        out.number(size as u64)?;
    }
    out.numbers(8, &mut y.row_ptr().iter().map(|&p| p as u64))?;
    out.numbers(size_of::<I>(), &mut y.col_idx().iter().map(|c| c.get() as u64))?;
    out.values(Slice::of(y.values()))?;
    out.finish()
}

/// Writes a file atomically.
pub(crate) fn write_path(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    struct Stop(Error);
    impl From<std::io::Error> for Stop {
        fn from(e: std::io::Error) -> Self {
            Self(INDEX.io(e))
        }
    }
    write_file(path, |to| write(to).map_err(Stop)).map_err(|Stop(e)| of_file(path, e))
}

/// Reads the inputs of an index.
pub(crate) fn read<T: Float, I: Index>(from: &mut dyn Read) -> Result<(AnyMetric, Options, Csr<T, I>)> {
    let (mut file, [value, column, normalize, flags]) = In::new(from, INDEX)?;
    let wrong = |at, message| INDEX.wrong(at, message);
    if usize::from(value) != size_of::<T>() || usize::from(column) != size_of::<I>() {
        let (own_value, own_column) = (size_of::<T>(), size_of::<I>());
        return Err(wrong(
            12,
            format!(
                "values of {value} bytes and columns of {column}, read as values of {own_value} and columns of {own_column}"
            ),
        ));
    }
    let normalize = match normalize {
        0 => None,
        1 | 2 => Some(normalize == 2),
        other => return Err(wrong(14, format!("normalize is {other}, not 0, 1 or 2"))),
    };
    if flags > 7 {
        return Err(wrong(15, format!("flags are {flags}, the largest known value is 7")));
    }
    let p = f64::from_bits(file.number("parameter")?);
    let length = file.number("length of the metric's name")?;
    if length > NAME {
        return Err(wrong(24, format!("the metric's name has {length} bytes, at most {NAME} are allowed")));
    }
    let name = file.numbers(1, length, "name of the metric", |_, byte| Ok(byte as u8))?;
    let name = String::from_utf8(name).map_err(|e| wrong(32, format!("the metric's name: {e}")))?;
    let sizes = [file.number("number of rows")?, file.number("number of columns")?, file.number("number of entries")?];
    let most = usize::MAX as u64 / 32;
    if let Some(size) = sizes.iter().find(|&&size| size > most) {
        return Err(Error::IndexOverflow { what: "a size of an index", needed: (*size).into(), max: most.into() });
    }
    let [nrows, ncols, nnz] = sizes;
    let row_ptr = file.numbers(8, nrows + 1, "row pointers", |at, x| {
        usize::try_from(x).map_err(|_| wrong(at, format!("a row pointer is {x}, there are {nnz} entries")))
    })?;
    let columns = file.numbers(size_of::<I>(), nnz, "columns", |at, c| {
        if c < ncols { Ok(I::cast(c as usize)) } else { Err(wrong(at, format!("a column is {c}, there are {ncols}"))) }
    })?;
    let values = file.values(T::TYPE, nnz as usize, nnz as usize)?;
    let values = values.into_vec::<T>().map_err(|_| wrong(12, "values of another type".into()))?;
    file.finish()?;
    let p = (flags & PARAMETER != 0).then_some(p);
    let precision = if flags & ENTRIES_TYPE != 0 { Precision::Entries } else { Precision::Double };
    let unchecked = flags & UNCHECKED != 0;
    let options = Options { normalize, precision, unchecked, ..Options::default() };
    let y = Csr::from_unsorted(nrows as usize, ncols as usize, row_ptr, columns, values)?;
    Ok((AnyMetric::named(&name, p)?, options, y))
}

/// Reads the inputs of an index from a file.
pub(crate) fn read_path<T: Float, I: Index>(path: &Path) -> Result<(AnyMetric, Options, Csr<T, I>)> {
    let file = std::fs::File::open(path).map_err(|e| of_file(path, INDEX.io(e)))?;
    let mut file = std::io::BufReader::new(file);
    let found = read(&mut file).map_err(|e| of_file(path, e))?;
    let end = file.stream_position().map_err(|e| of_file(path, INDEX.io(e)))?;
    if file.fill_buf().map_err(|e| of_file(path, INDEX.io(e)))?.is_empty() {
        return Ok(found);
    }
    Err(of_file(path, INDEX.wrong(end, "trailing bytes after the checksum, where an index ends".to_owned())))
}

/// The value type of an index file.
pub(crate) fn type_of(path: &Path) -> Result<Type> {
    let mut file = std::fs::File::open(path).map_err(|e| of_file(path, INDEX.io(e)))?;
    let (_, head) = In::new(&mut file, INDEX).map_err(|e| of_file(path, e))?;
    Ok(if head[0] == 4 { Type::F32 } else { Type::F64 })
}

/// The error, with the file's name.
fn of_file(path: &Path, e: Error) -> Error {
    match e {
        Error::Io { source, .. } => Error::Io { path: path.display().to_string(), source },
        Error::Parse { line, column, message, .. } => {
            Error::Parse { file: path.display().to_string(), line, column, message }
        }
        other => other,
    }
}
