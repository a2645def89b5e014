//! Parallel readers of Matrix Market files, edge lists and DIMACS graphs: every rank parses a part.

use std::ops::ControlFlow::{self, Break, Continue};
use std::path::Path;
use std::sync::Arc;

use sparring::algebra::Type;
use sparring::io::{
    EdgeOptions, LabeledMatrix, MatrixFile, parse_dimacs_with, parse_edges_with, parse_matrix_market, read_dimacs_with,
    read_edges_with, read_matrix_market,
};
use sparring::par::Threads;
use sparring::runtime::{BinaryOp, Matrix};
use sparring::{Error, Result};

use crate::Cluster;
use crate::route::Triplets;
use crate::text::{BLOCK, Share, Shares, in_file, newlines};

/// Bytes of a block of decompressed text per row of the matrix, to amortize the row pointers that are built for each
/// block. A block has at least [`BLOCK`] and at most [`LARGEST`] bytes.
const ROW: usize = 16;
const LARGEST: usize = 1 << 28;

fn block_bytes(rows: usize) -> usize {
    rows.saturating_mul(ROW).clamp(BLOCK, LARGEST)
}

/// Header of a Matrix Market or DIMACS file.
struct Head {
    banner: String,
    shape: (usize, usize),
    entries: usize,
    /// Byte offset of the first entry, and the number of lines before it.
    start: usize,
    lines: usize,
}

impl Cluster {
    /// Reads a Matrix Market file accessible to every rank, with the value type of the file
    /// ([`MatrixFile::value_type`](sparring::io::MatrixFile::value_type)). Collective.
    ///
    /// Rank r of p parses the lines that begin in the r-th of p equal parts of the bytes, or every p-th block of a few
    /// MiB of compressed text, and sends entries to their owners: O(entries / p + m) memory per rank. Every rank
    /// decompresses all of a compressed file, a block at a time. Duplicates are summed, first within each part or
    /// block. A file in array format (all values of a dense matrix) is read whole by every rank.
    /// # Errors
    /// Those of [`read_matrix_market`], with line numbers of the whole file. An error of one rank is reported on all.
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
        self.read_market(path.as_ref(), None)
    }
    /// [`read_matrix_market`](Self::read_matrix_market) with each entry converted to `ty` before duplicates are summed,
    /// as by [`MatrixFile::of_type`]. Collective.
    /// # Errors
    /// Those of [`read_matrix_market`](Self::read_matrix_market) and of [`MatrixFile::of_type`].
    /// # Example
    /// ```
    /// use sparring::{Cpu, algebra::Type};
    /// use sparring_cluster::Cluster;
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../data/karate.mtx.gz");
    /// let a = Cluster::new(Cpu::new())?.read_matrix_market_as(path, Type::U8)?;
    /// assert_eq!(a.ty(), Type::U8);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn read_matrix_market_as(&self, path: impl AsRef<Path>, ty: Type) -> Result<Matrix> {
        self.read_market(path.as_ref(), Some(ty))
    }
    fn read_market(&self, path: &Path, ty: Option<Type>) -> Result<Matrix> {
        let name = path.display().to_string();
        let matrix = |file: MatrixFile| {
            let (pattern, values) = match ty {
                Some(ty) => file.of_type(ty, &Threads::current())?,
                None => file.any()?,
            };
            Matrix::new(pattern, values)
        };
        let Some((mut shares, head)) = self.by_parts(path, |shares| shares.head(head))? else {
            return self.read_by_all(read_matrix_market(path).and_then(matrix));
        };
        let parsed = |share: &Share| {
            let ((m, n), count) = (head.shape, entries_of(&share.text));
            let first = format!("{}\n{m} {n} {count}\n", head.banner);
            behind(&first, share, |text| parse_matrix_market(text, &name).and_then(matrix))
        };
        shares.skip(head.start, head.lines);
        let (mut rounds, mut total) = (Vec::new(), 0);
        while let Some(share) = shares.next(self, &[], block_bytes(head.shape.0))? {
            let found = self.0.world.all_words([entries_of(&share.text) as u64, 0]);
            let entries = |words: &[[u64; 2]]| words.iter().map(|words| words[0] as usize).sum::<usize>();
            let before = total + entries(&found[..self.rank()]);
            total += entries(&found);
            if total > head.entries {
                break;
            }
            let part = parsed(&share).map_err(|error| numbered(error, &name, before));
            let part = part.and_then(|part| Triplets::of(&part, |i, j| Some((i, j))));
            rounds.push(self.agree("part of a file", part)?);
        }
        if total != head.entries {
            let found = if total < head.entries { format!("ends after {total}") } else { "has more".to_owned() };
            let message = format!("the size line declares {} entries, the file {found}", head.entries);
            return Err(Error::Parse { file: name, line: shares.lines() as u64 + 1, column: 1, message });
        }
        // Integers beyond i64 may occur in a single round only.
        let is_wide = rounds.iter().any(|round| round.ty == Type::U64);
        let any_wide = self.0.world.all_words([u64::from(is_wide), 0]).iter().any(|words| words[0] != 0);
        let ty = match rounds.first() {
            Some(round) if any_wide && round.ty == Type::I64 => Type::U64,
            Some(round) => round.ty,
            None => self.agree("part of a file", parsed(&Share::default()))?.ty(),
        };
        let wide = rounds.iter_mut().try_for_each(|round| round.widen(ty));
        self.agree("values of a file", wide)?;
        let dup = match ty {
            Type::Bool => BinaryOp::new("lor", Type::Bool)?,
            ty => BinaryOp::new("plus", ty)?,
        };
        self.collected_in_rounds("read", head.shape, (rounds, ty), Some(&dup), |row, column| Error::Duplicate {
            row,
            column,
        })
    }
    /// A matrix that every rank has read whole.
    fn read_by_all(&self, read: Result<Matrix>) -> Result<Matrix> {
        self.machine().upload(&self.agree("file", read)?)
    }
    /// [`by_parts`](Self::by_parts) for a graph, with the settings that parsing depends on.
    fn graph_by_parts<H>(
        &self,
        path: &Path,
        options: &EdgeOptions<'_>,
        head: impl Fn(&[u8], bool) -> ControlFlow<Option<H>>,
    ) -> Result<Option<(Shares, (EdgeRules, H))>> {
        self.by_parts(path, |shares| {
            let Some(rules) = edge_rules(options) else { return Ok(None) };
            Ok(shares.head(head)?.map(|head| (rules, head)))
        })
    }
    /// The matrix assembled from the entries of all ranks.
    pub(crate) fn collected(
        &self,
        what: &str,
        shape: (usize, usize),
        entries: impl FnOnce() -> Result<Triplets>,
        dup: Option<&BinaryOp>,
    ) -> Result<Matrix> {
        self.made(
            what,
            shape,
            |shared| shared.routed(shape, entries(), dup),
            |row, column| Error::Duplicate { row, column },
        )
    }
    /// [`collected`](Self::collected) in equally many rounds on all ranks; `duplicate` makes the error of a duplicate.
    fn collected_in_rounds(
        &self,
        what: &str,
        shape: (usize, usize),
        (mut rounds, ty): (Vec<Triplets>, Type),
        dup: Option<&BinaryOp>,
        duplicate: impl Fn(usize, usize) -> Error,
    ) -> Result<Matrix> {
        if rounds.is_empty() {
            rounds.push(Triplets::none(ty));
        }
        self.made(what, shape, |shared| shared.routed_in_rounds(shape, rounds.into_iter().map(Ok), dup), duplicate)
    }
    /// The matrix of which each rank builds its block.
    pub(crate) fn made(
        &self,
        what: &str,
        shape: (usize, usize),
        block: impl FnOnce(&Arc<crate::cluster::Shared>) -> Result<Matrix>,
        duplicate: impl Fn(usize, usize) -> Error,
    ) -> Result<Matrix> {
        let (rows, cols) = self.0.grid.block(shape);
        let block = || {
            block(&self.0).map_err(|e| match e {
                Error::Duplicate { row, column } => duplicate(rows.start + row, cols.start + column),
                e => e,
            })
        };
        self.matrix(what, shape, block)?.try_into()
    }
    /// The adjacency matrix of an edge list accessible to every rank, as by
    /// [`read_edges_with`](sparring::io::read_edges_with). Collective.
    ///
    /// Rank r of p parses the lines that begin in the r-th of p equal parts of the bytes, or every p-th block of a few
    /// MiB of compressed text, and sends edges to their owners: O(edges / p + n) memory per rank. Every rank
    /// decompresses all of a compressed file, a block at a time. Weights of duplicate edges are combined within each
    /// part or block first. If vertices are renumbered or have names, every rank reads the whole file.
    /// # Errors
    /// Those of [`read_edges_with`](sparring::io::read_edges_with), with line numbers of the whole file. An error of
    /// one rank is reported on all.
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
        let Some((mut shares, (rules, head))) = self.graph_by_parts(path, options, edge_head)? else {
            return self.read_by_all(read_edges_with(path, options).and_then(adjacency));
        };
        let ty = if head.is_weighted { Type::F64 } else { Type::Bool };
        // Whether indices are zero-based is known only after all rounds.
        let from_zero = if rules.is_based { *options } else { options.zero_based(true) };
        let (mut rounds, mut zeros, mut rows, mut cols) = (Vec::new(), false, 0, 0);
        while let Some(share) = shares.next(self, &[], block_bytes(rows.max(cols)))? {
            let part = edges_of(&head, &share, &name, &from_zero).and_then(|part| {
                let Some(a) = part else { return Ok(([0; 3], Triplets::none(ty))) };
                let pattern = &a.pattern;
                let first = pattern.nrows() > 0 && !pattern.row(0).is_empty() || pattern.col_idx().contains(&0);
                let extent = [u64::from(first), pattern.nrows() as u64, pattern.ncols() as u64];
                Ok((extent, Triplets::of(&adjacency(a)?, |i, j| Some((i, j)))?))
            });
            let ([first, m, n], round) = self.agree("part of a file", part)?;
            rounds.push(round);
            zeros |= self.0.world.all_words([first, 0]).iter().any(|words| words[0] != 0);
            for words in self.0.world.all_words([m, n]) {
                (rows, cols) = (rows.max(words[0] as usize), cols.max(words[1] as usize));
            }
        }
        let base = usize::from(!rules.is_based && !zeros);
        if base == 1 {
            // An error unless the first comment declares one-based indices.
            let first = [&head.comments[..], if head.is_weighted { b"1 1 1" } else { b"1 1" }].concat();
            self.agree("first vertex", parse_edges_with(&first, &name, options).map(drop))?;
        }
        let dup = match head.is_weighted {
            false => Some(BinaryOp::new("lor", Type::Bool)?),
            true => rules.repeated.map(|op| BinaryOp::new(op, Type::F64)).transpose()?,
        };
        for round in &mut rounds {
            round.rows.iter_mut().chain(&mut round.cols).for_each(|i| *i -= base);
        }
        let shape = (rows.saturating_sub(base), cols.saturating_sub(base));
        let first = if rules.is_based { rules.first } else { base };
        let duplicate = |row, column| duplicate(&name, (row + first, column + first), options);
        self.collected_in_rounds("read", shape, (rounds, ty), dup.as_ref(), duplicate)
    }
    /// The weighted adjacency matrix (i64) of a DIMACS graph accessible to every rank, as by
    /// [`read_dimacs_with`](sparring::io::read_dimacs_with). Collective; the cost is that of
    /// [`read_edges`](Self::read_edges).
    /// # Errors
    /// Those of [`read_dimacs_with`](sparring::io::read_dimacs_with), with line numbers of the whole file. An error of
    /// one rank is reported on all.
    /// # Example
    /// ```
    /// use sparring::{Cpu, io::EdgeOptions};
    /// use sparring_cluster::Cluster;
    /// let path = std::env::temp_dir().join("sparring-cluster-example.gr");
    /// # let failed = |source| sparring::Error::Io { path: "example".into(), source };
    /// # std::fs::write(&path, "c two arcs\np sp 3 2\na 1 2 17\na 3 1 5\n").map_err(failed)?;
    /// let a = Cluster::new(Cpu::new())?.read_dimacs(&path, &EdgeOptions::new())?;
    /// assert_eq!((a.shape(), a.nnz()), ((3, 3), 2));
    /// # std::fs::remove_file(path).map_err(failed)?;
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn read_dimacs(&self, path: impl AsRef<Path>, options: &EdgeOptions<'_>) -> Result<Matrix> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let Some((mut shares, (rules, head))) = self.graph_by_parts(path, options, dimacs_head)? else {
            return self.read_by_all(read_dimacs_with(path, options).and_then(adjacency));
        };
        shares.skip(head.start, head.lines);
        let ((n, _), mut rounds, mut total) = (head.shape, Vec::new(), 0);
        while let Some(share) = shares.next(self, &[], block_bytes(n))? {
            let arcs = lines_of(&share.text, is_dimacs_comment);
            total += self.0.world.all_words([arcs as u64, 0]).iter().map(|words| words[0] as usize).sum::<usize>();
            let part = behind(&format!("p sp {n} {arcs}\n"), &share, |text| parse_dimacs_with(text, &name, options));
            let part = part.and_then(|a| Triplets::of(&adjacency(a)?, |i, j| Some((i, j))));
            rounds.push(self.agree("part of a file", part)?);
        }
        if total != head.entries {
            let message = format!("the line p sp declares {} arcs, the file has {total}", head.entries);
            return Err(Error::Parse { file: name, line: shares.lines() as u64 + 1, column: 1, message });
        }
        let dup = rules.repeated.map(|op| BinaryOp::new(op, Type::I64)).transpose()?;
        let duplicate = |row, column| duplicate(&name, (row + 1, column + 1), options);
        self.collected_in_rounds("read", head.shape, (rounds, Type::I64), dup.as_ref(), duplicate)
    }
}

/// The settings of edge options that parsing by parts depends on.
struct EdgeRules {
    /// Whether the options fix the number of the first vertex.
    is_based: bool,
    /// Number of the first vertex.
    first: usize,
    /// Operator that combines the weights of duplicate edges.
    repeated: Option<&'static str>,
}

/// Infers the settings by parsing small inputs with these options. `None` if vertex numbers depend on the whole file,
/// or the options are invalid.
fn edge_rules(options: &EdgeOptions<'_>) -> Option<EdgeRules> {
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
    Some(EdgeRules { is_based: one.is_ok(), first: usize::from(one.is_ok_and(|a| a.pattern.nrows() == 1)), repeated })
}

/// The error of a duplicate edge.
fn duplicate(name: &str, (u, v): (usize, usize), options: &EdgeOptions<'_>) -> Error {
    let text = format!("{u} {v} 1\n{u} {v} 1\n");
    let error = parse_edges_with(text.as_bytes(), name, &options.zero_based(true)).err();
    error.unwrap_or(Error::Duplicate { row: u, column: v })
}

/// Start of an edge list, up to the first edge.
struct EdgeHead {
    /// Lines before the first edge.
    comments: Vec<u8>,
    first: Vec<u8>,
    is_weighted: bool,
}

/// Whether a line of an edge list is blank or a comment.
fn is_comment(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start().first(), None | Some(b'#' | b'%'))
}

/// The head of an edge list; `None` if the file cannot be read by parts or has no edge.
fn edge_head(text: &[u8], is_all: bool) -> ControlFlow<Option<EdgeHead>> {
    // Not a text file.
    if text.first().is_some_and(|b| !b.is_ascii() || *b < b' ' && !b.is_ascii_whitespace()) {
        return Break(None);
    }
    let mut start = 0;
    for line in text.split_inclusive(|b| *b == b'\n') {
        if (line.ends_with(b"\n") || is_all) && !is_comment(line) {
            let words = line.split(|b| b.is_ascii_whitespace() || *b == b',').filter(|word| !word.is_empty());
            let (comments, first) = (text[..start].to_vec(), line.to_vec());
            return Break(Some(EdgeHead { comments, is_weighted: words.count() > 2, first }));
        }
        start += line.len();
    }
    Continue(())
}

/// The edges of a share; `None` if it has none.
fn edges_of(head: &EdgeHead, share: &Share, name: &str, options: &EdgeOptions<'_>) -> Result<Option<LabeledMatrix>> {
    // The first lines of the file control how all of it is parsed; comments at the start of a part must not.
    let (mut start, mut before) = (0, share.before);
    loop {
        let text = &share.text[start..];
        let end = text.iter().position(|b| *b == b'\n').map_or(text.len(), |at| at + 1);
        if end == 0 {
            return Ok(None);
        }
        if !is_comment(&text[..end]) {
            break;
        }
        (start, before) = (start + end, before + 1);
    }
    let parse = |first: &[&[u8]]| {
        let parse = |text: &[u8]| parse_edges_with(text, name, options);
        behind_bytes(&first.concat(), (&share.text[start..], before), parse)
    };
    let made = parse(&[&head.comments])?;
    if (made.values.ty() == Type::F64) != head.is_weighted {
        // Reproduces the parser's error for edges with and without weights in one file.
        let end: &[u8] = if head.first.ends_with(b"\n") { b"" } else { b"\n" };
        return parse(&[&head.comments, &head.first, end]).map(Some);
    }
    Ok(Some(made))
}

/// Parses a share with a header prepended, and maps line numbers in errors to those of the file.
fn behind<T>(first: &str, share: &Share, parse: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    behind_bytes(first.as_bytes(), (&share.text, share.before), parse)
}

fn behind_bytes<T>(first: &[u8], (text, before): (&[u8], usize), parse: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    let mut whole = crate::wire::buffer(first.len() + text.len())?;
    whole.extend_from_slice(first);
    whole.extend_from_slice(text);
    parse(&whole).map_err(|e| in_file(e, before, newlines(first)))
}

/// The error of an entry of a part that `before` entries of the file precede, with the number of the entry in the file.
fn numbered(error: Error, name: &str, before: usize) -> Error {
    let Error::Unsupported { what, why } = error else { return error };
    let entry = what.strip_prefix(name).and_then(|what| what.strip_prefix(": entry ")?.split_once(','));
    let entry = entry.and_then(|(number, value)| Some((number.parse::<usize>().ok()?, value)));
    let what = entry.map(|(number, value)| format!("{name}: entry {},{value}", before + number)).unwrap_or(what);
    Error::Unsupported { what, why }
}

/// The adjacency matrix of a graph.
fn adjacency(read: LabeledMatrix) -> Result<Matrix> {
    Matrix::new(read.pattern, read.values)
}

/// The header of a Matrix Market file; `None` if the file cannot be read by parts.
fn head(text: &[u8], _: bool) -> ControlFlow<Option<Head>> {
    let (mut start, mut banner) = (0, None);
    for (number, line) in text.split_inclusive(|b| *b == b'\n').enumerate() {
        if !line.ends_with(b"\n") {
            // The banner tells coordinate from array format. A long first line is none.
            return if number > 0 || is_banner(line) { Continue(()) } else { Break(None) };
        }
        start += line.len();
        let Ok(line) = std::str::from_utf8(line) else { return Break(None) };
        let line = line.trim();
        if number == 0 {
            if !is_banner(line.as_bytes()) || !line.to_ascii_lowercase().contains("coordinate") {
                return Break(None);
            }
            banner = Some(line.to_string());
        } else if !line.is_empty() && !line.starts_with('%') {
            let numbers: Vec<usize> = line.split_whitespace().map_while(|n| n.parse().ok()).collect();
            let ([m, n, entries], Some(banner)) = (&numbers[..], banner) else { return Break(None) };
            return Break(Some(Head { banner, shape: (*m, *n), entries: *entries, start, lines: number + 1 }));
        }
    }
    Continue(())
}

/// Whether a line begins as the first one of a Matrix Market file does.
fn is_banner(line: &[u8]) -> bool {
    line.get(..14).is_some_and(|word| word.eq_ignore_ascii_case(b"%%MatrixMarket"))
}

/// The header of a DIMACS graph; `None` if the file cannot be read by parts.
fn dimacs_head(text: &[u8], _: bool) -> ControlFlow<Option<Head>> {
    let mut start = 0;
    for (number, line) in text.split_inclusive(|b| *b == b'\n').enumerate().filter(|(_, l)| l.ends_with(b"\n")) {
        start += line.len();
        if line.trim_ascii().is_empty() || is_dimacs_comment(line) {
            continue;
        }
        let words: Vec<&str> = std::str::from_utf8(line).unwrap_or_default().split_ascii_whitespace().collect();
        let ["p", "sp", n, arcs] = words[..] else { return Break(None) };
        let (Ok(n), Ok(entries)) = (n.parse::<u32>(), arcs.parse()) else { return Break(None) };
        let shape = (n as usize, n as usize);
        return Break(Some(Head { banner: String::new(), shape, entries, start, lines: number + 1 }));
    }
    Continue(())
}

/// Whether the first word of a line is `c`.
fn is_dimacs_comment(line: &[u8]) -> bool {
    line.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()) == Some(b"c")
}

/// Number of lines that are neither blank nor comments.
fn lines_of(text: &[u8], is_comment: impl Fn(&[u8]) -> bool) -> usize {
    text.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty() && !is_comment(line)).count()
}
fn entries_of(text: &[u8]) -> usize {
    lines_of(text, |line| line.trim_ascii_start().starts_with(b"%"))
}
