//! File formats, by the ending of a name or by an option; reading and writing matrices in each format.

use std::io::Write;

use clap::ValueEnum;
use flate2::Compression;
use flate2::write::GzEncoder;
use sparring::algebra::Slice;
use sparring::io::{
    Labels, WriteOptions, ZstdWriter, write_csv_to, write_file, write_matrix_market_any_to, write_npy_to, write_npz_to,
    write_svmlight_to,
};
use sparring::par::filled;
use sparring::runtime::Matrix;
use sparring::{Error, Pattern, Result};

/// Name of standard input as an input file, and of standard output as an output file.
pub(crate) const STANDARD: &str = "-";

/// File formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Matrix Market
    #[value(name = "mtx")]
    MatrixMarket,
    /// Dense NumPy array
    Npy,
    /// SciPy sparse matrix
    Npz,
    /// MATLAB MAT-file
    Mat,
    /// Table of numbers
    Csv,
    /// svmlight or LIBSVM: lines of a label and column:value
    #[value(name = "svm")]
    Svmlight,
    /// Edge list: two vertices per line, and a weight
    Edges,
    /// DIMACS graph
    #[value(name = "gr")]
    Dimacs,
    /// METIS graph
    Metis,
    /// FROSTT sparse tensor
    #[value(name = "tns")]
    Frostt,
    /// Tab-separated neighbours.
    #[value(skip)]
    Tsv,
    /// A model written by cp.
    #[value(skip)]
    Json,
    /// A model as Tensor Toolbox text.
    #[value(skip)]
    Ktensor,
}

impl Format {
    /// Its name in `--format`.
    pub(crate) fn name(self) -> String {
        match self.to_possible_value() {
            Some(value) => value.get_name().to_owned(),
            None => format!("{self:?}").to_ascii_lowercase(),
        }
    }
}

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// The stem of a lower-case name, and the compression that its ending gives.
    fn of(name: &str) -> (&str, Option<Self>) {
        let ends = [(".gz", Self::Gzip), (".zst", Self::Zstd)];
        let found = ends.into_iter().find_map(|(end, packing)| Some((name.strip_suffix(end)?, Some(packing))));
        found.unwrap_or((name, None))
    }
}

/// A file format, and its compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) format: Format,
    pub(crate) packed: Option<Packing>,
}

const ENDINGS: &[(&str, Format)] = &[
    (".mtx", Format::MatrixMarket),
    (".mm", Format::MatrixMarket),
    (".npy", Format::Npy),
    (".npz", Format::Npz),
    (".mat", Format::Mat),
    (".csv", Format::Csv),
    (".svm", Format::Svmlight),
    (".svmlight", Format::Svmlight),
    (".libsvm", Format::Svmlight),
    (".tsv", Format::Tsv),
    (".txt", Format::Edges),
    (".el", Format::Edges),
    (".wel", Format::Edges),
    (".edges", Format::Edges),
    (".edgelist", Format::Edges),
    (".gr", Format::Dimacs),
    (".graph", Format::Metis),
    (".metis", Format::Metis),
    (".tns", Format::Frostt),
    (".json", Format::Json),
    (".ktensor", Format::Ktensor),
];

/// The format of a name by its ending, if known; `-` is Matrix Market.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    if name == STANDARD {
        return Some(Kind { format: Format::MatrixMarket, packed: None });
    }
    let lower = name.to_ascii_lowercase();
    let (stem, packed) = Packing::of(&lower);
    let (_, format) = ENDINGS.iter().find(|(end, _)| stem.ends_with(end))?;
    Some(Kind { format: *format, packed })
}

/// The format of an input file; Matrix Market if its name does not say.
pub(crate) fn kind_to_read(name: &str) -> Format {
    match kind(name).map_or(Format::MatrixMarket, |kind| kind.format) {
        Format::Tsv => Format::Edges,
        Format::Json | Format::Ktensor => Format::MatrixMarket,
        format => format,
    }
}

/// The format of an output file, one of `known`: `requested`, or that of the name, or the first for standard output.
/// Others are rejected before anything is computed.
pub(crate) fn kind_to_write(name: &str, requested: Option<Format>, known: &[Format]) -> Result<Kind> {
    let packed = Packing::of(&name.to_ascii_lowercase()).1;
    let kind = match requested {
        Some(format) => Some(Kind { format, packed }),
        None if name == STANDARD => known.first().map(|&format| Kind { format, packed }),
        None => kind(name),
    };
    let endings = || {
        let endings: Vec<_> =
            ENDINGS.iter().filter(|(_, format)| known.contains(format)).map(|(end, _)| *end).collect();
        endings.join(", ")
    };
    kind.filter(|kind| known.contains(&kind.format)).ok_or_else(|| match requested {
        Some(_) => {
            Error::Argument { name: "--output-format", message: format!("this result is written as {}", endings()) }
        }
        None => {
            let message = format!("'{name}' ends in none of {} (with .gz or .zst behind it: compressed)", endings());
            Error::Argument { name: "output", message }
        }
    })
}

/// Output formats of sparse matrices.
pub(crate) const SPARSE: &[Format] = &[Format::MatrixMarket, Format::Npz, Format::Npy, Format::Csv, Format::Svmlight];

/// Writes a matrix in this format.
pub(crate) fn write(out: &mut dyn Write, format: Format, a: &Matrix) -> Result<(), Stop> {
    let (Some(pattern), Some(values)) = (a.pattern(), a.values()) else {
        return Err(Error::Argument { name: "matrix", message: "it is on a GPU".into() }.into());
    };
    write_parts(out, format, pattern, values)
}

/// Writes a full matrix from its values by rows.
pub(crate) fn write_dense(
    out: &mut dyn Write,
    format: Format,
    (nrows, ncols): (usize, usize),
    values: Slice<'_>,
) -> Result<(), Stop> {
    write_parts(out, format, &full(nrows, ncols)?, values)
}

/// The pattern of a full matrix.
pub(crate) fn full(nrows: usize, ncols: usize) -> Result<Pattern> {
    let mut row_ptr = filled(nrows + 1, 0, "row pointers")?;
    row_ptr.iter_mut().enumerate().for_each(|(i, place)| *place = i * ncols);
    let mut columns = filled(nrows * ncols, 0u32, "column indices")?;
    columns.chunks_mut(ncols.max(1)).for_each(|row| row.iter_mut().zip(0..).for_each(|(to, j)| *to = j));
    Pattern::new(nrows, ncols, row_ptr, columns)
}

fn write_parts(mut out: &mut dyn Write, format: Format, pattern: &Pattern, values: Slice<'_>) -> Result<(), Stop> {
    let options = WriteOptions::new();
    match format {
        Format::Npy => write_npy_to(out, pattern, values),
        Format::Npz => write_npz_to(out, pattern, values),
        Format::Csv => write_csv_to(out, pattern, values, &options),
        Format::Svmlight => write_svmlight_to(out, pattern, values, &Labels::default(), &options),
        _ => write_matrix_market_any_to(&mut out, pattern, values, &options),
    }?;
    Ok(())
}

/// Runs `make`, which creates a compressor and panics if it cannot allocate.
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn packing<T>(make: impl FnOnce() -> T) -> Result<T> {
    // Checks for memory up front, so that a lack of it is reported before anything is written.
    filled(1 << 20, 0u8, "packing a file").map(|room| drop(std::hint::black_box(room)))?;
    let made = crate::failure::quietly(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(make)));
    made.map_err(|_| Error::OutOfMemory { what: "packing a file", bytes: 1 << 20 })
}

/// Errors of writing: I/O, or the matrix.
pub(crate) enum Stop {
    Io(std::io::Error),
    Other(Error),
}
impl From<std::io::Error> for Stop {
    fn from(e: std::io::Error) -> Self {
        Self::Io(e)
    }
}
impl From<Error> for Stop {
    fn from(e: Error) -> Self {
        match e {
            Error::Io { source, .. } => Self::Io(source),
            e => Self::Other(e),
        }
    }
}

/// Writes the file `name` with `body`, optionally compressed. The file appears only when complete.
pub(crate) fn to_file(
    name: &str,
    packed: Option<Packing>,
    body: impl FnOnce(&mut dyn Write) -> Result<(), Stop>,
) -> Result<()> {
    let compressed = |file: &mut dyn Write| match packed {
        None => body(file),
        Some(Packing::Gzip) => {
            let mut out = packing(|| GzEncoder::new(file, Compression::default()))?;
            body(&mut out)?;
            out.finish()?;
            Ok(())
        }
        Some(Packing::Zstd) => {
            let mut out = ZstdWriter::new(file)?;
            body(&mut out)?;
            out.finish()?;
            Ok(())
        }
    };
    let written = if name == STANDARD {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        compressed(&mut out).and_then(|()| Ok(out.flush()?))
    } else {
        write_file(name, compressed)
    };
    let path = if name == STANDARD { crate::failure::STDOUT } else { name };
    written.map_err(|stop| match stop {
        Stop::Io(source) => Error::Io { path: path.into(), source },
        Stop::Other(e) => e,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_says_what_the_file_is() {
        let of = |name| kind(name).map(|kind| (kind.format, kind.packed));
        assert_eq!(of("a.mtx"), Some((Format::MatrixMarket, None)));
        assert_eq!(of("b/a.MTX.GZ"), Some((Format::MatrixMarket, Some(Packing::Gzip))));
        assert_eq!(of("b/a.Mtx.Zst"), Some((Format::MatrixMarket, Some(Packing::Zstd))));
        assert_eq!(of("-"), Some((Format::MatrixMarket, None)));
        assert_eq!(
            (of("a.csv.gz"), of("a.npy")),
            (Some((Format::Csv, Some(Packing::Gzip))), Some((Format::Npy, None)))
        );
        assert_eq!((of("a.gz"), of("mtx"), of("a.parquet"), of("")), (None, None, None, None));
        assert_eq!(
            (kind_to_read("a.tsv.gz"), kind_to_read("a.txt"), kind_to_read("a"), kind_to_read("ä.CSV.zst")),
            (Format::Edges, Format::Edges, Format::MatrixMarket, Format::Csv)
        );
        let refused = kind_to_write("a.txt", None, &[Format::MatrixMarket, Format::Tsv]).unwrap_err().to_string();
        assert_eq!(refused, "output: 'a.txt' ends in none of .mtx, .mm, .tsv (with .gz or .zst behind it: compressed)");
    }
}
