//! Matrix Market files of which every rank reads a part.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use sparring::algebra::Type;
use sparring::io::{parse_matrix_market, read_matrix_market};
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
    /// them: O(size / p) bytes and O(entries / p) memory for each. Repeated entries are added up, those of a part first. A
    /// file that is compressed or lists all values of a dense matrix is read whole by every rank.
    /// # Errors
    /// Those of [`read_matrix_market`], lines counted from the beginning of the file, on every rank if one has them.
    /// # Example
    /// ```
    /// use sparring::Cpu;
    /// use sparring_cluster::Cluster;
    /// let a = Cluster::new(Cpu::new())?.read_matrix_market(concat!(env!("CARGO_MANIFEST_DIR"), "/../data/karate.mtx.gz"))?;
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
        let text = self.agree("part of a file", part(path, &head, self.rank(), self.size()))?;
        let newlines = text.iter().filter(|b| **b == b'\n').count();
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
        let (shape, shared) = (head.shape, Arc::clone(&self.0));
        let (block, nnz) = self.0.together("read", || {
            let block = self.0.routed(shape, Triplets::of(&part, |i, j| Some((i, j))), Some(&dup))?;
            let nnz = block.nnz();
            Ok((block, nnz))
        })?;
        Ok(Block { shared, shape, nnz, block }.into())
    }
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

/// The lines that begin in the part of a rank.
fn part(path: &Path, head: &Head, rank: usize, ranks: usize) -> Result<Vec<u8>> {
    let fail = |e| io(path, e);
    let mut file = File::open(path).map_err(fail)?;
    let size = file.metadata().map_err(fail)?.len().saturating_sub(head.start);
    let cut = |r: usize| head.start + (u128::from(size) * r as u128 / ranks as u128) as u64;
    let Range { start, end } = cut(rank)..cut(rank + 1);
    // One byte before tells whether a line begins here.
    let from = if rank == 0 { start } else { start - 1 };
    file.seek(SeekFrom::Start(from)).map_err(fail)?;
    let mut bytes = crate::wire::buffer((end - from) as usize + LINE)?;
    (&mut file).take(end - from).read_to_end(&mut bytes).map_err(fail)?;
    if rank > 0 {
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
                    let part = String::from_utf8(part(&path, &head, rank, ranks).unwrap()).unwrap();
                    let lines = part.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('%'));
                    all.extend(lines.map(String::from));
                }
                assert_eq!(all, lines, "{ranks} ranks, case {case}");
            }
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
