//! What a file is, by the end of its name; and matrices from and to each kind of file.

mod csv;
mod npy;
mod npz;
mod stop;
mod svmlight;
mod values;
mod zip;

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use sparring::io::{WriteOptions, write_file, write_matrix_market_any_to};
use sparring::par::filled;
use sparring::runtime::Matrix;
use sparring::{Error, Result};

pub(crate) use npy::{Array, Columns, tensor};
pub(crate) use npz::arrays;
pub(crate) use stop::Stop;
use stop::broken;
pub(crate) use values::Element;

/// Standard input as a file to read, standard output as one to write.
pub(crate) const STANDARD: &str = "-";

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    MatrixMarket,
    /// An array of NumPy's.
    Npy,
    /// A sparse matrix of SciPy's.
    Npz,
    /// A table of numbers with commas between.
    Csv,
    /// Lines of a label and `column:value`.
    Svmlight,
    /// Lines of numbers with tabs between: neighbours.
    Tsv,
}

/// A kind of file, and whether it is compressed by gzip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) format: Format,
    pub(crate) packed: bool,
}

const ENDINGS: &[(&str, Format)] = &[
    (".mtx", Format::MatrixMarket),
    (".mm", Format::MatrixMarket),
    (".npy", Format::Npy),
    (".npz", Format::Npz),
    (".csv", Format::Csv),
    (".svm", Format::Svmlight),
    (".svmlight", Format::Svmlight),
    (".libsvm", Format::Svmlight),
    (".tsv", Format::Tsv),
];

/// What a name stands for, if its end says so; `-` is Matrix Market.
pub(crate) fn kind(name: &str) -> Option<Kind> {
    if name == STANDARD {
        return Some(Kind { format: Format::MatrixMarket, packed: false });
    }
    let lower = name.to_ascii_lowercase();
    let (stem, packed) = lower.strip_suffix(".gz").map_or((&*lower, false), |stem| (stem, true));
    let (_, format) = ENDINGS.iter().find(|(end, _)| stem.ends_with(end))?;
    Some(Kind { format: *format, packed })
}

/// The kind of a file to write, one of `known`; any other is refused before anything is computed.
pub(crate) fn kind_to_write(name: &str, known: &[Format]) -> Result<Kind> {
    kind(name).filter(|kind| known.contains(&kind.format)).ok_or_else(|| {
        let endings: Vec<_> =
            ENDINGS.iter().filter(|(_, format)| known.contains(format)).map(|(end, _)| *end).collect();
        let message = format!("'{name}' ends in none of {} (with .gz behind it: compressed)", endings.join(", "));
        Error::Argument { name: "output", message }
    })
}

/// What a sparse matrix is written as.
pub(crate) const SPARSE: &[Format] = &[Format::MatrixMarket, Format::Npz, Format::Npy, Format::Csv, Format::Svmlight];

/// A matrix from a file that is not Matrix Market; `None` for one that is, or may be.
pub(crate) fn read(name: &str, max_bytes: u64) -> Result<Option<Matrix>> {
    let Some(kind) = kind(name).filter(|kind| kind.format != Format::MatrixMarket) else { return Ok(None) };
    let bytes = bytes(name, kind.packed, max_bytes)?;
    Ok(Some(match kind.format {
        Format::Npy => npy::read(name, &bytes)?,
        Format::Npz => npz::read(name, &bytes)?,
        Format::Csv => csv::read(name, &bytes)?,
        Format::Svmlight => svmlight::read(name, &bytes)?,
        Format::MatrixMarket | Format::Tsv => return Err(broken(name, "matrices are not read from such files")),
    }))
}

/// The array of a file of NumPy's.
pub(crate) fn array(name: &str, max_bytes: u64) -> Result<Array> {
    match kind(name) {
        Some(Kind { format: Format::Npy, packed }) => Array::parse(name, &bytes(name, packed, max_bytes)?),
        _ => Err(Error::Argument { name: "operand", message: format!("'{name}' ends in neither .npy nor .npy.gz") }),
    }
}

fn bytes(name: &str, packed: bool, max_bytes: u64) -> Result<Vec<u8>> {
    let failed = |source| Error::Io { path: name.into(), source };
    let file = std::fs::File::open(name).map_err(failed)?;
    let mut bytes = Vec::new();
    let limit = max_bytes.saturating_add(1);
    let read = if packed {
        MultiGzDecoder::new(file).take(limit).read_to_end(&mut bytes)
    } else {
        file.take(limit).read_to_end(&mut bytes)
    };
    let read = read.map_err(failed)? as u64;
    if read > max_bytes {
        return Err(Error::Budget { what: "a file", bytes: read.into(), budget: max_bytes.into() });
    }
    Ok(bytes)
}

/// Writes a matrix as the end of the name says.
pub(crate) fn write(name: &str, a: &Matrix) -> Result<()> {
    let kind = kind_to_write(name, SPARSE)?;
    if kind.packed || kind.format == Format::Npz {
        room_to_pack()?;
    }
    let (Some(pattern), Some(values)) = (a.pattern(), a.values()) else {
        return Err(Error::Argument { name: "matrix", message: "it is on a GPU".into() });
    };
    to_file(name, kind.packed, |mut out| match kind.format {
        Format::MatrixMarket | Format::Tsv => {
            Ok(write_matrix_market_any_to(&mut out, pattern, values, &WriteOptions::new())?)
        }
        Format::Npy => npy::write(out, pattern, values),
        Format::Npz => npz::write(out, pattern, values),
        Format::Csv => csv::write(out, pattern, values),
        Format::Svmlight => svmlight::write(out, pattern, values),
    })
}

/// Whether there is memory for what packs a file: where that finds none, it ends the process.
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn room_to_pack() -> Result<()> {
    filled(1 << 20, 0u8, "packing a file").map(|room| drop(std::hint::black_box(room)))
}

/// Lets `body` write the file `name`, compressed or not; it is there when all of it is.
pub(crate) fn to_file(name: &str, packed: bool, body: impl FnOnce(&mut dyn Write) -> Result<(), Stop>) -> Result<()> {
    let compressed = |file: &mut dyn Write| {
        if !packed {
            return body(file);
        }
        let mut out = GzEncoder::new(file, Compression::default());
        body(&mut out)?;
        out.finish()?;
        Ok(())
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
        assert_eq!(of("a.mtx"), Some((Format::MatrixMarket, false)));
        assert_eq!(of("b/a.MTX.GZ"), Some((Format::MatrixMarket, true)));
        assert_eq!(of("-"), Some((Format::MatrixMarket, false)));
        assert_eq!((of("a.csv.gz"), of("a.npy")), (Some((Format::Csv, true)), Some((Format::Npy, false))));
        assert_eq!((of("a.gz"), of("mtx"), of("a.txt"), of("")), (None, None, None, None));
        let refused = kind_to_write("a.txt", &[Format::MatrixMarket, Format::Tsv]).unwrap_err().to_string();
        assert_eq!(refused, "output: 'a.txt' ends in none of .mtx, .mm, .tsv (with .gz behind it: compressed)");
    }
}
