//! Matrix Market files and edge lists of which every rank reads a part.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use sparring::algebra::Type;
use sparring::io::{
    EdgeOptions, LabeledMatrix, parse_edges_with, parse_matrix_market, read_edges_with, read_matrix_market,
};
use sparring::runtime::{BinaryOp, Matrix};
use sparring::{Error, Result};

use crate::Cluster;
use crate::blocks::Block;
use crate::route::Triplets;

/// Bytes in which a header is looked for at first; twice as many where it is longer.
const HEAD: usize = 1 << 12;
/// Longest line that is looked for at the ends of a part.
const LINE: usize = 1 << 12;

/// What stands before the entries of a file.
struct Head {
    banner: String,
    shape: (usize, usize),
    entries: usize,
    /// Where the entries begin, and the number of lines before.
    start: u64,
    lines: usize,
}

impl Cluster {
    /// The matrix of a Matrix Market file that every rank can open, in the type that the file has
    /// ([`MatrixFile::value_type`](sparring::io::MatrixFile::value_type)). Collective.
    ///
    /// Rank r of p reads the lines that begin in its p-th part of the bytes, and sends entries to the ranks that hold
    /// them: O(size / p) bytes and O(entries / p) memory for each. Repeated entries are added up, those of a part
    /// first. A file that is compressed or lists all values of a dense matrix is read whole by every rank.
    /// # Errors
    /// Those of [`read_matrix_market`], lines counted from the beginning of the file, on every rank if one has them.
    /// # Example
    /// ```
    /// use sparring::Cpu;
    /// use sparring_cluster::Cluster;
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/karate.mtx.gz");
    /// let a = Cluster::new(Cpu::new())?.read_matrix_market(path)?;
    /// assert_eq!(a.shape(), (34, 34));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn read_matrix_market(&self, path: impl AsRef<Path>) -> Result<Matrix> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let head = self.agree("head of a file", head(path))?;
        let Some(head) = head.filter(|_| self.size() > 1) else {
            let file = self.agree("file", read_matrix_market(path).and_then(|file| file.any()))?;
            return self.machine().upload(&Matrix::new(file.0, file.1)?);
        };
        let text = self.agree("part of a file", part(path, head.start, self.rank(), self.size()))?;
        let newlines = newlines(&text);
        let found = self.0.world.all_words([newlines as u64, entries_of(&text) as u64]);
        let total: u64 = found.iter().map(|words| words[1]).sum();
        let before = found[..self.rank()].iter().map(|words| words[0] as usize).sum::<usize>() + head.lines;
        let parsed = if total as usize == head.entries {
            parsed(&head, &text, &name, before)
        } else {
            let message = format!("{} entries are announced, and there are {total}", head.entries);
            Err(Error::Parse { file: name, line: head.lines as u64, column: 1, message })
        };
        let part = self.agree("part of a file", parsed)?;
        // Entries of the type of the values: all ranks read the same field.
        let dup = match part.ty() {
            Type::Bool => BinaryOp::new("lor", Type::Bool)?,
            ty => BinaryOp::new("plus", ty)?,
        };
        self.collected("read", head.shape, || Triplets::of(&part, |i, j| Some((i, j))), Some(&dup))
    }
    /// The matrix of the entries that all ranks bring.
    pub(crate) fn collected(
        &self,
        what: &str,
        shape: (usize, usize),
        entries: impl FnOnce() -> Result<Triplets>,
        dup: Option<&BinaryOp>,
    ) -> Result<Matrix> {
        self.collected_or(what, shape, entries, dup, |row, column| Error::Duplicate { row, column })
    }
    /// The same; what the error of an entry that is there twice is.
    fn collected_or(
        &self,
        what: &str,
        shape: (usize, usize),
        entries: impl FnOnce() -> Result<Triplets>,
        dup: Option<&BinaryOp>,
        twice: impl Fn(usize, usize) -> Error,
    ) -> Result<Matrix> {
        let shared = Arc::clone(&self.0);
        let (rows, cols) = shared.grid.block(shape);
        let (block, nnz) = shared.together(what, || {
            let block = shared.routed(shape, entries(), dup).map_err(|e| match e {
                Error::Duplicate { row, column } => twice(rows.start + row, cols.start + column),
                e => e,
            })?;
            let nnz = block.nnz();
            Ok((block, nnz))
        })?;
        Ok(Block { shared, shape, nnz, block }.into())
    }
    /// The adjacency matrix of an edge list that every rank can open, as
    /// [`read_edges_with`](sparring::io::read_edges_with) makes it. Collective.
    ///
    /// Rank r of p reads the lines that begin in its p-th part of the bytes, and sends edges to the ranks that hold
    /// them: O(size / p) bytes and O(edges / p) memory for each, and O(n) for the rows of its part. Weights of repeated
    /// edges are joined within parts first. A file that is compressed, and one whose vertices are renumbered or have
    /// names, is read whole by every rank.
    /// # Errors
    /// Those of [`read_edges_with`](sparring::io::read_edges_with), lines counted from the beginning of the file, on
    /// every rank if one has them.
    /// # Example
    /// ```
    /// use sparring::{Cpu, io::EdgeOptions};
    /// use sparring_cluster::Cluster;
    /// let path = std::env::temp_dir().join("sparring-cluster-example.el");
    /// # let failed = |source| sparring::Error::Io { path: "example".into(), source };
    /// # std::fs::write(&path, "# a path\n0 1\n1 2\n").map_err(failed)?;
    /// let a = Cluster::new(Cpu::new())?.read_edges(&path, &EdgeOptions::new().undirected(true))?;
    /// assert_eq!((a.shape(), a.nnz()), ((3, 3), 4));
    /// # std::fs::remove_file(path).map_err(failed)?;
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn read_edges(&self, path: impl AsRef<Path>, options: &EdgeOptions<'_>) -> Result<Matrix> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let made = told(options).map_or(Ok(None), |told| Ok(edge_head(path)?.map(|head| (told, head))));
        let Some((told, head)) = self.agree("head of a file", made)?.filter(|_| self.size() > 1) else {
            let read = self.agree("file", read_edges_with(path, options))?;
            return self.machine().upload(&Matrix::new(read.pattern, read.values)?);
        };
        let text = self.agree("part of a file", part(path, 0, self.rank(), self.size()))?;
        let found = self.0.world.all_words([newlines(&text) as u64, 0]);
        let before = found[..self.rank()].iter().map(|words| words[0] as usize).sum::<usize>();
        // Whether vertices count from 0 is known when all have been seen.
        let from_zero = if told.is_based { *options } else { options.zero_based(true) };
        let part = self.agree("part of a file", edges_of(&head, &text, &name, before, &from_zero))?;
        let [zeros, rows, cols] = part.as_ref().map_or([0; 3], |a| {
            let pattern = &a.pattern;
            let first = pattern.nrows() > 0 && !pattern.row(0).is_empty() || pattern.col_idx().contains(&0);
            [u64::from(first), pattern.nrows() as u64, pattern.ncols() as u64]
        });
        let most = |words: [u64; 2]| {
            let all = self.0.world.all_words(words);
            [0, 1].map(|k| all.iter().map(|words| words[k]).max().unwrap_or(0) as usize)
        };
        let ([zeros, _], [rows, cols]) = (most([zeros, 0]), most([rows, cols]));
        let base = usize::from(!told.is_based && zeros == 0);
        if base == 1 {
            // Refused unless the first comment says that they count from 1.
            let first = [&head.comments[..], if head.is_weighted { b"1 1 1" } else { b"1 1" }].concat();
            self.agree("first vertex", parse_edges_with(&first, &name, options).map(drop))?;
        }
        let (ty, dup) = match head.is_weighted {
            false => (Type::Bool, Some(BinaryOp::new("lor", Type::Bool)?)),
            true => (Type::F64, told.repeated.map(|op| BinaryOp::new(op, Type::F64)).transpose()?),
        };
        let entries = || match part {
            None => Triplets::of(&Matrix::empty(ty, 0, 0)?, |_, _| None),
            Some(part) => Triplets::of(&Matrix::new(part.pattern, part.values)?, |i, j| Some((i - base, j - base))),
        };
        let shape = (rows.saturating_sub(base), cols.saturating_sub(base));
        let first = if told.is_based { told.first } else { base };
        let twice = |row, column| twice(&name, (row + first, column + first), options);
        self.collected_or("read", shape, entries, dup.as_ref(), twice)
    }
}

/// What options say, as far as parts of a file need to know.
struct Told {
    /// Whether they say what number the first vertex has.
    is_based: bool,
    /// That number.
    first: usize,
    /// What joins weights of an edge that is repeated.
    repeated: Option<&'static str>,
}

/// What the library makes of edges by these options tells what the options are; nothing where vertices are numbered by
/// the whole of a file, or options are refused.
fn told(options: &EdgeOptions<'_>) -> Option<Told> {
    let one = parse_edges_with(b"1 1\n", "", options);
    let zero_based = options.zero_based(true);
    let plain = parse_edges_with(b"0 0\n", "", &zero_based).ok()?;
    if !plain.labels.is_empty() || !plain.ids.is_empty() {
        return None;
    }
    let sum = parse_edges_with(b"0 1 1\n0 1 2\n", "", &zero_based).ok();
    let sum = sum.and_then(|a| a.values.slice().get::<f64>().and_then(|values| values.first().copied()));
    let repeated = sum.map(|sum| {
        if sum == 3.0 {
            "plus"
        } else if sum == 1.0 {
            "min"
        } else {
            "max"
        }
    });
    Some(Told { is_based: one.is_ok(), first: usize::from(one.is_ok_and(|a| a.pattern.nrows() == 1)), repeated })
}

/// The error of an edge that stands in a file twice.
fn twice(name: &str, (u, v): (usize, usize), options: &EdgeOptions<'_>) -> Error {
    let text = format!("{u} {v} 1\n{u} {v} 1\n");
    let error = parse_edges_with(text.as_bytes(), name, &options.zero_based(true)).err();
    error.unwrap_or(Error::Duplicate { row: u, column: v })
}

/// What an edge list begins with.
struct EdgeHead {
    /// The lines before the first edge.
    comments: Vec<u8>,
    first: Vec<u8>,
    is_weighted: bool,
}

/// Whether a line is no edge.
fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'#' | b'%'))
}

/// Nothing for a file that is not read by parts, or has no edge.
fn edge_head(path: &Path) -> Result<Option<EdgeHead>> {
    let mut file = File::open(path).map_err(|e| io(path, e))?;
    let (mut bytes, mut wanted) = (Vec::new(), HEAD);
    loop {
        (&mut file).take((wanted - bytes.len()) as u64).read_to_end(&mut bytes).map_err(|e| io(path, e))?;
        let is_all = bytes.len() < wanted;
        // A file that is packed, or one of another kind.
        if bytes.first().is_some_and(|b| !b.is_ascii() || *b < b' ' && !b.is_ascii_whitespace()) {
            return Ok(None);
        }
        let mut start = 0;
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            if (line.ends_with(b"\n") || is_all) && !is_comment(line) {
                let words = line.split(|b| b.is_ascii_whitespace() || *b == b',').filter(|word| !word.is_empty());
                let (comments, first) = (bytes[..start].to_vec(), line.to_vec());
                return Ok(Some(EdgeHead { comments, is_weighted: words.count() > 2, first }));
            }
            start += line.len();
        }
        if is_all || wanted > 1 << 26 {
            return Ok(None);
        }
        wanted *= 2;
    }
}

fn newlines(text: &[u8]) -> usize {
    text.iter().filter(|b| **b == b'\n').count()
}

/// The edges of a part, `before` lines of the file being before it; nothing where it has none.
fn edges_of(
    head: &EdgeHead,
    mut text: &[u8],
    name: &str,
    mut before: usize,
    options: &EdgeOptions<'_>,
) -> Result<Option<LabeledMatrix>> {
    // What the file begins with says how all of it is read, and comments before the edges of a part do not.
    loop {
        let end = text.iter().position(|b| *b == b'\n').map_or(text.len(), |at| at + 1);
        if end == 0 {
            return Ok(None);
        }
        if !is_comment(&text[..end]) {
            break;
        }
        (text, before) = (&text[end..], before + 1);
    }
    let parse = |start: &[&[u8]]| {
        let start = start.concat();
        let mut whole = crate::wire::buffer(start.len() + text.len())?;
        whole.extend_from_slice(&start);
        whole.extend_from_slice(text);
        let shift = before as i64 - newlines(&start) as i64;
        parse_edges_with(&whole, name, options).map_err(|e| match e {
            Error::Parse { file, line, column, message } => {
                Error::Parse { file, line: line.saturating_add_signed(shift), column, message }
            }
            e => e,
        })
    };
    let made = parse(&[&head.comments])?;
    if (made.values.ty() == Type::F64) != head.is_weighted {
        // The error that the first edge and those here differ.
        let end: &[u8] = if head.first.ends_with(b"\n") { b"" } else { b"\n" };
        return parse(&[&head.comments, &head.first, end]).map(Some);
    }
    Ok(Some(made))
}

fn io(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.display().to_string(), source }
}

/// What stands before the entries; `None` for a file that is not read by parts.
fn head(path: &Path) -> Result<Option<Head>> {
    let mut file = File::open(path).map_err(|e| io(path, e))?;
    let mut bytes = Vec::new();
    let mut wanted = HEAD;
    loop {
        (&mut file).take((wanted - bytes.len()) as u64).read_to_end(&mut bytes).map_err(|e| io(path, e))?;
        if let Some(head) = head_of(&bytes) {
            return Ok(Some(head));
        }
        // The banner is the first line, and says whether entries have places.
        if bytes.len() < wanted || wanted > 1 << 26 || !bytes.starts_with(b"%%MatrixMarket") {
            return Ok(None);
        }
        wanted *= 2;
    }
}

fn head_of(bytes: &[u8]) -> Option<Head> {
    let mut at = 0;
    let mut banner = None;
    let mut lines = 0;
    loop {
        let end = at + bytes[at..].iter().position(|b| *b == b'\n')?;
        let line = std::str::from_utf8(&bytes[at..end]).ok()?.trim();
        (at, lines) = (end + 1, lines + 1);
        if lines == 1 {
            let lower = line.to_ascii_lowercase();
            if !lower.starts_with("%%matrixmarket") || !lower.contains("coordinate") {
                return None;
            }
            banner = Some(line.to_string());
        } else if !line.is_empty() && !line.starts_with('%') {
            let numbers: Vec<usize> = line.split_whitespace().map_while(|n| n.parse().ok()).collect();
            let [m, n, entries] = numbers[..] else { return None };
            return Some(Head { banner: banner?, shape: (m, n), entries, start: at as u64, lines });
        }
    }
}

/// The lines that begin in the part of a rank, of what a file has from `first` on.
fn part(path: &Path, first: u64, rank: usize, ranks: usize) -> Result<Vec<u8>> {
    let fail = |e| io(path, e);
    let mut file = File::open(path).map_err(fail)?;
    let size = file.metadata().map_err(fail)?.len().saturating_sub(first);
    let cut = |r: usize| first + (u128::from(size) * r as u128 / ranks as u128) as u64;
    let Range { start, end } = cut(rank)..cut(rank + 1);
    // One byte before tells whether a line begins here.
    let from = if start == first { start } else { start - 1 };
    file.seek(SeekFrom::Start(from)).map_err(fail)?;
    let mut bytes = crate::wire::buffer((end - from) as usize + LINE)?;
    (&mut file).take(end - from).read_to_end(&mut bytes).map_err(fail)?;
    if from < start {
        let Some(at) = bytes.iter().position(|b| *b == b'\n') else { return Ok(Vec::new()) };
        bytes.drain(..=at);
    }
    // The last line goes on in the next part.
    while bytes.last().is_some_and(|b| *b != b'\n') {
        let mut more = Vec::new();
        if (&mut file).take(LINE as u64).read_to_end(&mut more).map_err(fail)? == 0 {
            break;
        }
        let line = more.iter().position(|b| *b == b'\n').map_or(more.len(), |at| at + 1);
        bytes.extend_from_slice(&more[..line]);
    }
    Ok(bytes)
}

/// Lines that are neither empty nor comments.
fn entries_of(text: &[u8]) -> usize {
    text.split(|b| *b == b'\n').map(|line| line.trim_ascii()).filter(|l| !l.is_empty() && !l.starts_with(b"%")).count()
}

/// The entries of a part, as a matrix of the whole's shape.
fn parsed(head: &Head, text: &[u8], name: &str, before: usize) -> Result<Matrix> {
    let ((m, n), count) = (head.shape, entries_of(text));
    let first = format!("{}\n{m} {n} {count}\n", head.banner);
    let mut file = crate::wire::buffer(first.len() + text.len())?;
    file.extend_from_slice(first.as_bytes());
    file.extend_from_slice(text);
    let made = parse_matrix_market(&file, name).and_then(|file| file.any());
    let (pattern, values) = made.map_err(|e| match e {
        Error::Parse { file, line, column, message } => {
            Error::Parse { file, line: (line + before as u64).saturating_sub(2), column, message }
        }
        e => e,
    })?;
    Matrix::new(pattern, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_by_one_rank() {
        let folder = std::env::temp_dir().join(format!("sparring-cluster-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.mtx");
        for (case, newline) in [(0, "\n"), (1, "\r\n"), (2, "\n")] {
            let mut text =
                format!("%%MatrixMarket matrix coordinate integer general{newline}% c{newline}9 9 30{newline}");
            let mut lines = Vec::new();
            for k in 0..30 {
                let line = format!("{} {} {}", k % 9 + 1, k / 9 + 1, "7".repeat(k % 5 + 1));
                text += &line;
                lines.push(line);
                text += if case == 2 && k == 29 { "" } else { newline };
                if k % 11 == 3 {
                    text += &format!("%{}{newline}{newline}", "x".repeat(40));
                }
            }
            std::fs::write(&path, &text).unwrap();
            let head = head(&path).unwrap().unwrap();
            assert_eq!((head.shape, head.entries, head.lines), ((9, 9), 30, 3));
            for ranks in 1..60 {
                let mut all = Vec::new();
                for rank in 0..ranks {
                    let part = String::from_utf8(part(&path, head.start, rank, ranks).unwrap()).unwrap();
                    let lines = part.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('%'));
                    all.extend(lines.map(String::from));
                }
                assert_eq!(all, lines, "{ranks} ranks, case {case}");
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
