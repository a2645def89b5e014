//! The FROSTT reader: threads parse pieces of text, which are concatenated into a tensor.

use std::io::Read;
use std::path::Path;

use super::assemble::tensor;
use super::block::Block;
use super::header::header;
use super::options::{Duplicates, FrosttOptions};
use super::parse::{COMMENT, Parsed, Rules, check_first, find_entry, order, parse_piece};
use super::repeats;
use super::value::FrosttValue;
use crate::algebra::precompiled;
use crate::io::text::{
    Bad, Cursor, Stream, bytes_from, bytes_of, check_size, is_packed, parse_pieces, pieces, position,
};
use crate::par::Threads;
use crate::tensor::{AnyTensor, Tensor};
use crate::{Error, Index, Result};

/// Reads a FROSTT file, compressed by gzip or not; duplicates are summed.
///
/// ```no_run
/// let x = sparring::io::read_frostt::<f64>("aminoacid.tns.gz")?;
/// assert_eq!(x.dims(), [5, 201, 61]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Cost: O(bytes), shared by all threads; decompression is single-threaded. Unsorted entries are sorted, unless
/// [`Duplicates::Keep`] is set. Memory: the file, a few pieces of text if it is compressed, the tensor and a copy of
/// one of its index lists; sorting takes another 16 to 24 bytes per entry and a copy of the tensor.
/// # Errors
/// [`Error::Io`]; [`Error::Parse`] with line and column of the first error; [`Error::OutOfMemory`].
pub fn read_frostt<T: FrosttValue>(path: impl AsRef<Path>) -> Result<AnyTensor<T>> {
    read_frostt_with(path, &FrosttOptions::new())
}

/// [`read_frostt`] with options.
/// # Errors
/// As [`read_frostt`]; [`Error::Budget`] for text beyond [`FrosttOptions::max_bytes`]; [`Error::Argument`] and
/// [`Error::IndexOverflow`] for invalid [`FrosttOptions::dims`].
pub fn read_frostt_with<T: FrosttValue>(path: impl AsRef<Path>, options: &FrosttOptions<'_>) -> Result<AnyTensor<T>> {
    let (name, bytes) = bytes_of(path.as_ref(), &options.limits(), &check_first)?;
    parse_frostt_with(&bytes, &name, options)
}

/// [`read_frostt_with`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_frostt_with`].
pub fn read_frostt_from<T: FrosttValue>(
    from: &mut dyn Read,
    name: &str,
    options: &FrosttOptions<'_>,
) -> Result<AnyTensor<T>> {
    let bytes = bytes_from(from, name, &options.limits(), &check_first)?;
    parse_frostt_with(&bytes, name, options)
}

/// Parses the bytes of a FROSTT file, compressed by gzip or not; `name` appears in errors.
///
/// ```
/// let x = sparring::io::parse_frostt::<i64>(b"# two entries\n1 2 1 5\n3 1 2 -7\n", "example")?.narrow().unwrap();
/// assert_eq!((x.dims(), x.values()), (&[3, 2, 2][..], &[5, -7][..]));
/// assert_eq!(x.indices(0), [0, 2]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// As [`read_frostt`].
pub fn parse_frostt<T: FrosttValue>(bytes: &[u8], name: &str) -> Result<AnyTensor<T>> {
    parse_frostt_with(bytes, name, &FrosttOptions::new())
}

/// [`parse_frostt`] with options.
/// # Errors
/// As [`read_frostt_with`].
pub fn parse_frostt_with<T: FrosttValue>(
    bytes: &[u8],
    name: &str,
    options: &FrosttOptions<'_>,
) -> Result<AnyTensor<T>> {
    let parse: Parse<T> = precompiled!(float parsed: Parse<T>);
    parse(bytes, name, options)
}
type Parse<T> = fn(&[u8], &str, &FrosttOptions<'_>) -> Result<AnyTensor<T>>;

fn parsed<T: FrosttValue>(bytes: &[u8], name: &str, options: &FrosttOptions<'_>) -> Result<AnyTensor<T>> {
    if let Some(dims) = options.dims {
        Tensor::<T, u64>::empty(dims.to_vec())?;
    }
    let here = Threads::current();
    let threads = options.threads.unwrap_or(&here);
    let packed = is_packed(bytes);
    let announced = options.dims.is_some() || !options.values;
    let found = if packed {
        let mut stream = Stream::open(name, bytes, &options.limits(), check_first)?;
        match stream.next_piece()? {
            None => None,
            Some(piece) => match header(&piece, announced) {
                Ok(found) => found,
                Err(bad) => return Err(stream.wrong(bad, &piece)),
            },
        }
    } else {
        check_first(bytes).map_err(|bad| bad.locate(name, bytes))?;
        check_size(options.limits().what, bytes.len() as u64, options.max_bytes)?;
        header(bytes, announced).map_err(|bad| bad.locate(name, bytes))?
    };
    let (start, nnz) = found.as_ref().map_or((0, None), |found| (found.end, found.nnz));
    if let (Some(found), Some(dims)) = (&found, options.dims)
        && found.dims != dims
    {
        let message = format!("the header of {name} says {:?}, and {dims:?} is given", found.dims);
        return Err(Error::Argument { name: "dims", message });
    }
    let options = match &found {
        Some(found) if options.dims.is_none() => {
            Tensor::<T, u64>::empty(found.dims.clone())?;
            &options.dims(&found.dims)
        }
        _ => options,
    };
    if packed {
        tensor_of(&Packed { name, bytes, start, options, threads }, options, threads, nnz)
    } else {
        tensor_of(&Plain { name, text: bytes, start, options, threads }, options, threads, nnz)
    }
}

/// The tensor in the text of `source`, with `nnz` entries if a header declares them.
fn tensor_of<T: FrosttValue>(
    source: &impl Source,
    options: &FrosttOptions<'_>,
    threads: &Threads,
    nnz: Option<usize>,
) -> Result<AnyTensor<T>> {
    let (blocks, order) = match (source.rules()?, options.dims) {
        (Some(rules), _) => (source.blocks(&rules)?, rules.order),
        (None, Some(dims)) => (Vec::new(), dims.len()),
        (None, None) => {
            return Err(source.wrong_at_end("the file has no entries, and dimensions are not given".to_owned()));
        }
    };
    let found = blocks.iter().map(Block::len).sum::<usize>();
    if let Some(nnz) = nnz.filter(|&nnz| nnz != found) {
        return Err(source.wrong_at_end(format!("the header declares {nnz} entries, and the file has {found}")));
    }
    match tensor(blocks, order, options.dims, threads)? {
        AnyTensor::Narrow(x) => without_repeats(x, source, options, threads).map(AnyTensor::Narrow),
        AnyTensor::Wide(x) => without_repeats(x, source, options, threads).map(AnyTensor::Wide),
    }
}

fn without_repeats<T: FrosttValue, I: Index>(
    x: Tensor<T, I>,
    source: &impl Source,
    options: &FrosttOptions<'_>,
    threads: &Threads,
) -> Result<Tensor<T, I>> {
    match options.duplicates {
        Duplicates::Keep => Ok(x),
        Duplicates::Sum => repeats::summed(threads, x),
        Duplicates::Refuse => match repeats::first(threads, &x)? {
            None => Ok(x),
            Some((earlier, later)) => Err(repeated(&x.coordinates(later), options, earlier, later, source)),
        },
    }
}

/// The error for a duplicate of the entry at `index`.
fn repeated(index: &[usize], options: &FrosttOptions<'_>, earlier: usize, later: usize, source: &impl Source) -> Error {
    const SHOWN: usize = 8;
    let mut indices: Vec<String> =
        index.iter().take(SHOWN).map(|i| (i + usize::from(!options.zero_based)).to_string()).collect();
    if index.len() > SHOWN {
        indices.push("…".to_owned());
    }
    let before = match source.wrong_at(earlier, String::new()) {
        Error::Parse { line, .. } => format!(", in line {line}"),
        _ => String::new(),
    };
    source.wrong_at(later, format!("entry ({}) is in the file already{before}", indices.join(", ")))
}

/// A source of text.
trait Source {
    /// The line format; `None` if there is no entry.
    fn rules(&self) -> Result<Option<Rules<'_>>>;
    /// The entries, in the order of the file.
    fn blocks<T: FrosttValue>(&self, rules: &Rules<'_>) -> Result<Vec<Block<T>>>;
    /// An error at entry `number`, from 0.
    fn wrong_at(&self, number: usize, message: String) -> Error;
    /// An error at the end of the text.
    fn wrong_at_end(&self, message: String) -> Error;
}

/// Advances to the first entry, and returns the line format that it determines.
fn first_rules<'a>(cursor: &mut Cursor<'_>, options: &FrosttOptions<'a>) -> Result<Option<Rules<'a>>, Bad> {
    let FrosttOptions { dims, values, lenient, zero_based, .. } = *options;
    if !find_entry(cursor)? {
        return Ok(None);
    }
    let order = dims.map_or_else(|| order(cursor, values, lenient), |dims| Ok(dims.len()))?;
    Ok(Some(Rules { order, dims, values, lenient, base: u64::from(!zero_based) }))
}

/// Text in memory.
struct Plain<'a> {
    name: &'a str,
    text: &'a [u8],
    /// Offset after the header.
    start: usize,
    options: &'a FrosttOptions<'a>,
    threads: &'a Threads,
}

impl Source for Plain<'_> {
    fn rules(&self) -> Result<Option<Rules<'_>>> {
        let mut cursor = Cursor { text: self.text, at: self.start };
        first_rules(&mut cursor, self.options).map_err(|bad| bad.locate(self.name, self.text))
    }
    fn blocks<T: FrosttValue>(&self, rules: &Rules<'_>) -> Result<Vec<Block<T>>> {
        let pieces = pieces(self.text, self.start, self.options.piece_bytes);
        let parse = |piece: &[u8]| parse_piece::<T>(piece, rules);
        let parsed = parse_pieces(self.threads, self.text, &pieces, parse, |parsed| parsed.bad.is_some())?;
        let mut blocks = Vec::with_capacity(parsed.len());
        for (piece, parsed) in pieces.iter().zip(parsed) {
            let Parsed { block, bad } = parsed?;
            if let Some(bad) = bad {
                return Err(Bad { at: bad.at + piece.start, ..bad }.locate(self.name, self.text));
            }
            blocks.push(block);
        }
        Ok(blocks)
    }
    fn wrong_at(&self, number: usize, message: String) -> Error {
        let mut cursor = Cursor { text: self.text, at: self.start };
        cursor.skip_entries(number, Some(COMMENT));
        Bad::new(cursor.at, message).locate(self.name, self.text)
    }
    fn wrong_at_end(&self, message: String) -> Error {
        Bad::new(self.text.len(), message).locate(self.name, self.text)
    }
}

/// Compressed text.
struct Packed<'a> {
    name: &'a str,
    bytes: &'a [u8],
    /// Offset after the header, in the first piece of text.
    start: usize,
    options: &'a FrosttOptions<'a>,
    threads: &'a Threads,
}

impl Packed<'_> {
    /// Reopens the text at its first entry; also returns the line format, if there is an entry.
    fn open(&self) -> Result<(Stream<'_>, Option<Rules<'_>>)> {
        let mut stream = Stream::open(self.name, self.bytes, &self.options.limits(), check_first)?;
        let mut start = self.start;
        while let Some(piece) = stream.next_piece()? {
            let mut cursor = Cursor { text: &piece, at: std::mem::take(&mut start) };
            match first_rules(&mut cursor, self.options) {
                Err(bad) => return Err(stream.wrong(bad, &piece)),
                Ok(Some(rules)) => {
                    // Includes the whole line, so that columns in errors are relative to its start.
                    let start = piece[..cursor.at].iter().rposition(|&b| b == b'\n').map_or(0, |p| p + 1);
                    stream.begin_again(piece, start, &self.options.limits());
                    return Ok((stream, Some(rules)));
                }
                Ok(None) => stream.lines += position(&piece, piece.len()).0 - 1,
            }
        }
        stream.check_budget()?;
        Ok((stream, None))
    }
}

impl Source for Packed<'_> {
    fn rules(&self) -> Result<Option<Rules<'_>>> {
        Ok(self.open()?.1)
    }
    fn blocks<T: FrosttValue>(&self, rules: &Rules<'_>) -> Result<Vec<Block<T>>> {
        let right = |piece: &[u8]| match parse_piece::<T>(piece, rules) {
            Ok(Parsed { block, bad: None }) => Some(block),
            _ => None,
        };
        if let Some(blocks) = self.open()?.0.at_once(self.threads, right) {
            return Ok(blocks);
        }
        // There is an error: parses piece by piece, to find the first one.
        let mut blocks = Vec::new();
        self.open()?.0.each(|piece| {
            let Parsed { block, bad } = parse_piece::<T>(piece, rules)?;
            blocks.push(block);
            Ok(bad.map_or(Ok(()), Err))
        })?;
        Ok(blocks)
    }
    fn wrong_at(&self, number: usize, message: String) -> Error {
        let mut left = number;
        let found = self.open().and_then(|(stream, _)| {
            stream.each(|piece| {
                let mut cursor = Cursor { text: piece, at: 0 };
                let here = cursor.skip_entries(left, Some(COMMENT));
                if here == left && cursor.at < piece.len() {
                    return Ok(Err(Bad::new(cursor.at, message.clone())));
                }
                left -= here;
                Ok(Ok(()))
            })
        });
        found.err().unwrap_or(Error::Argument { name: "file", message })
    }
    fn wrong_at_end(&self, message: String) -> Error {
        match Stream::open(self.name, self.bytes, &self.options.limits(), check_first)
            .and_then(|s| s.each(|_| Ok(Ok(()))))
        {
            Ok((line, column)) => Error::Parse { file: self.name.to_owned(), line, column, message },
            Err(e) => e,
        }
    }
}
