//! Edge lists, as published by SNAP, KONECT, networkrepository.com and GAP.

use std::fmt::Display;
use std::io::Read;
use std::path::Path;

use super::names::Names;
use super::options::{EdgeOptions, Repeated};
use crate::algebra::{Array, Value};
use crate::io::labeled::{LabeledMatrix, Labels, check_shape};
use crate::io::text::{Bad, Cursor, Expected, Halt, Line, Lines, Text, push, real, signed, text_from, text_of};
use crate::par::{Threads, collected, filled, out_of_memory, reserved};
use crate::{Coo, Error, Index, Result};

const EXPECTED: Expected<'static> = Expected { what: "edges, two vertices a line", but: &[] };
const LIST: &str = "edges";

/// Reads an edge list, compressed by gzip or not, as the adjacency matrix of its graph: bool, or f64 if edges have
/// weights.
///
/// Cost: O(bytes), shared by all threads, and a sort of the edges. Memory: the file, 16 to 40 bytes per edge.
/// # Errors
/// [`Error::Io`]; [`Error::Parse`] with line and column of the first error; [`Error::Unsupported`] if the file is
/// ambiguous and no option decides; [`Error::Budget`] for a file larger than [`EdgeOptions::max_bytes`];
/// [`Error::OutOfMemory`].
pub fn read_edges_with(path: impl AsRef<Path>, options: &EdgeOptions<'_>) -> Result<LabeledMatrix> {
    let (name, bytes) = text_of(path.as_ref(), &options.limits(), &EXPECTED)?;
    parse_edges_with(&bytes, &name, options)
}

/// [`read_edges_with`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_edges_with`].
pub fn read_edges_from(from: &mut dyn Read, name: &str, options: &EdgeOptions<'_>) -> Result<LabeledMatrix> {
    let bytes = text_from(from, name, &options.limits(), &EXPECTED)?;
    parse_edges_with(&bytes, name, options)
}

/// [`read_edges_with`] from the bytes of a file; `name` appears in errors.
/// # Errors
/// As [`read_edges_with`].
pub fn parse_edges_with(bytes: &[u8], name: &str, options: &EdgeOptions<'_>) -> Result<LabeledMatrix> {
    let here = Threads::current();
    let threads = options.common.threads.unwrap_or(&here);
    if (options.renumber || options.named) && options.bipartite {
        let message = "vertices of two sets are not renumbered".to_owned();
        return Err(Error::Argument { name: "renumber", message });
    }
    if options.renumber && options.named {
        let message = "names and integers are not renumbered together".to_owned();
        return Err(Error::Argument { name: "renumber", message });
    }
    let text = Text { name, bytes, limits: options.limits(), threads, expected: EXPECTED };
    let (found, blocks) = text.parse(&head, &|head: &Head, text| edges(text, head, options))?;
    let head = found.ok_or_else(|| text.wrong_at_end("the file has no edges"))?;
    let nnz = blocks.iter().map(|block| block.from.len()).sum();
    let (mut from, mut to, mut weights) = (reserved(nnz, LIST)?, reserved(nnz, LIST)?, Vec::new());
    if head.weighted {
        weights = reserved(nnz, "weights")?;
    }
    let mut names = Names::default();
    for mut block in blocks {
        if options.named {
            let mut numbers: Vec<i64> = reserved(block.names.labels.len(), "vertices")?;
            for name in block.names.labels.iter() {
                numbers.push(names.number(name)?.into());
            }
            block.from.iter_mut().chain(&mut block.to).for_each(|id| *id = numbers[*id as usize]);
        }
        from.extend_from_slice(&block.from);
        to.extend_from_slice(&block.to);
        weights.extend_from_slice(&block.weights);
    }
    let graph = Graph { name, options, threads, konect: head.konect, names: &names.labels };
    let mut matrix = if head.weighted {
        graph.matrix(from, to, weights, graph.fold())?
    } else {
        let ones = filled(nnz, true, "edges")?;
        graph.matrix(from, to, ones, Some(Box::new(|a: bool, b: bool| a | b)))?
    };
    matrix.labels = names.labels;
    Ok(matrix)
}

/// The graph type in the first comment of a KONECT file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Konect {
    Undirected,
    Directed,
    Bipartite,
}

/// Properties of the list, from its first lines.
#[derive(Clone, Copy)]
struct Head {
    konect: Option<Konect>,
    weighted: bool,
}

/// Parses a KONECT comment: `% sym unweighted`.
fn konect(line: &Line<'_>) -> Option<Konect> {
    let mut words = line.words(&[]).map(|word| word.text);
    let first = words.next()?;
    let word = if first == b"%" { words.next()? } else { first.strip_prefix(b"%")? };
    match word {
        b"sym" => Some(Konect::Undirected),
        b"asym" => Some(Konect::Directed),
        b"bip" => Some(Konect::Bipartite),
        _ => None,
    }
}

fn head(seen: &mut Option<Konect>, lines: &mut Lines<'_>) -> Result<Option<Head>, Halt> {
    while let Some(line) = lines.next_line()? {
        match line.text.trim_ascii_start().first() {
            None | Some(b'#') => {}
            Some(b'%') => *seen = seen.or_else(|| konect(&line)),
            Some(_) => {
                lines.at = line.at;
                let words = line.words(b",").count();
                return Ok(Some(Head { konect: *seen, weighted: words > 2 }));
            }
        }
    }
    Ok(None)
}

/// Consecutive edges.
struct Block {
    from: Vec<i64>,
    to: Vec<i64>,
    weights: Vec<f64>,
    /// Vertex names, to which the vertex numbers of the block refer.
    names: Names,
}

fn edges(text: &[u8], head: &Head, options: &EdgeOptions<'_>) -> Result<Block, Halt> {
    let mut block = Block { from: vec![], to: vec![], weights: vec![], names: Names::default() };
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next_entry(b"#%")? {
        let mut words = line.words(b",");
        let mut vertex = || match words.next() {
            Some(word) if options.named => Ok(block.names.number(name(&word)?)?.into()),
            Some(word) => Ok(vertex(&word, options)?),
            None => {
                Err(Halt::from(line.wrong(format!("expected an edge, which is two vertices, found {}", line.shown()))))
            }
        };
        let (from, to) = (vertex()?, vertex()?);
        push(&mut block.from, from, LIST)?;
        push(&mut block.to, to, LIST)?;
        let weight = words.next();
        if head.weighted != weight.is_some() {
            let (this, first) = if head.weighted { ("no weight", "one") } else { ("a weight", "none") };
            return Err(line.wrong(format!("the edge has {this}, and the first has {first}")).into());
        }
        if let Some(word) = weight {
            push(&mut block.weights, number(&word)?, "weights")?;
        }
        if let Some(word) = words.next().filter(|_| !options.common.lenient) {
            let message =
                format!("{} stands behind a weight; read it leniently (--lenient) to leave it out", word.shown());
            return Err(word.wrong(message).into());
        }
    }
    Ok(block)
}

/// The name of a vertex.
fn name<'a>(word: &Line<'a>) -> Result<&'a str, Bad> {
    if word.text.starts_with(b"\"") {
        return Err(word.wrong("expected the name of a vertex, found a quote; names are words, without blanks"));
    }
    std::str::from_utf8(word.text).map_err(|_| word.wrong("expected the name of a vertex, found no UTF-8"))
}

fn vertex(word: &Line<'_>, options: &EdgeOptions<'_>) -> Result<i64, Bad> {
    let mut cursor = Cursor { text: word.text, at: 0 };
    let id = match signed(&mut cursor) {
        Ok(id) if cursor.at == word.text.len() => id,
        Err(bad) if bad.message.contains("fit") => return Err(Bad::new(word.at, bad.message)),
        _ => {
            let found = word.shown();
            let message =
                format!("expected a vertex, which is a whole number, found {found}; names are read by --labels");
            return Err(word.wrong(message));
        }
    };
    if options.renumber {
        return Ok(id);
    }
    let first = i64::from(options.zero_based == Some(false));
    if id < first || id > u32::MAX_LEN as i64 {
        let why = match (id, first) {
            (0, 1) => "vertices count from 1; if here they count from 0, say so (--zero-based)",
            (..0, _) => "a vertex is not negative; any integers are read where vertices are renumbered (--renumber)",
            _ => "it is beyond 32 bits; any integers are read where vertices are renumbered (--renumber)",
        };
        return Err(word.wrong(format!("vertex {id}: {why}")));
    }
    Ok(id)
}

fn number(word: &Line<'_>) -> Result<f64, Bad> {
    let mut cursor = Cursor { text: word.text, at: 0 };
    match real(&mut cursor) {
        Ok(x) if cursor.at == word.text.len() => Ok(x),
        Err(bad) if bad.message.contains("beyond") => Err(Bad::new(word.at, bad.message)),
        _ => Err(word.wrong(format!("expected a weight, which is a number, found {}", word.shown()))),
    }
}

/// Combines the values of duplicate edges; `None` if duplicates are errors.
pub(super) type Fold<'a, T> = Option<Box<dyn Fn(T, T) -> T + Sync + 'a>>;

/// The fold of duplicate weights.
pub(super) fn fold<'a, T: Copy + PartialOrd>(repeated: Repeated, add: impl Fn(T, T) -> T + Sync + 'a) -> Fold<'a, T> {
    match repeated {
        Repeated::Refuse => None,
        Repeated::Sum => Some(Box::new(add)),
        Repeated::Min => Some(Box::new(|a, b| if b < a { b } else { a })),
        Repeated::Max => Some(Box::new(|a, b| if b > a { b } else { a })),
    }
}

/// The error for a duplicate weighted edge.
pub(super) fn duplicate(name: &str, edge: (impl Display, impl Display)) -> Error {
    Error::Unsupported {
        what: format!("the file {name}"),
        why: format!(
            "the edge {} {} stands there more than once, with weights; say which counts: --repeated sum, min or max",
            edge.0, edge.1
        ),
    }
}

/// Conversion of edges to a matrix.
struct Graph<'a> {
    name: &'a str,
    options: &'a EdgeOptions<'a>,
    threads: &'a Threads,
    konect: Option<Konect>,
    names: &'a Labels,
}

impl Graph<'_> {
    fn open(&self, why: &str) -> Error {
        Error::Unsupported { what: format!("the file {}", self.name), why: why.into() }
    }
    fn fold(&self) -> Fold<'_, f64> {
        fold(self.options.repeated, |a, b| a + b)
    }
    /// Smallest vertex number, 0 or 1.
    fn base(&self, from: &[i64], to: &[i64]) -> Result<i64> {
        if let Some(zero_based) = self.options.zero_based {
            return Ok(i64::from(!zero_based));
        }
        if from.iter().chain(to).any(|&id| id == 0) {
            return Ok(0);
        }
        if self.konect.is_some() {
            return Ok(1);
        }
        Err(self.open(
            "it has no vertex 0, so that vertices may count from 0 or from 1; say which: --zero-based or --one-based",
        ))
    }
    fn matrix<T: Value>(
        &self,
        mut from: Vec<i64>,
        mut to: Vec<i64>,
        mut values: Vec<T>,
        fold: Fold<'_, T>,
    ) -> Result<LabeledMatrix> {
        let bipartite = self.options.bipartite || (self.konect == Some(Konect::Bipartite));
        // Bipartite edges have only one direction, whatever the first comment says.
        let undirected = self.options.undirected.unwrap_or(!bipartite && self.konect == Some(Konect::Undirected));
        if bipartite && self.options.undirected == Some(true) {
            return Err(self.open("its edges go from one set of vertices to another; leave out --undirected"));
        }
        let mut ids = Vec::new();
        let mut base = 0;
        if self.options.named {
            if bipartite {
                return Err(self.open("it has two sets of vertices, whose names are not read; leave out --labels"));
            }
        } else if self.options.renumber {
            if bipartite {
                return Err(self.open("it has two sets of vertices, which are not renumbered; leave out --renumber"));
            }
            ids = distinct(&from, &to)?;
            let rank = |id: &mut i64| *id = ids.partition_point(|other| other < id) as i64;
            from.iter_mut().chain(&mut to).for_each(rank);
        } else {
            base = self.base(&from, &to)?;
            from.iter_mut().chain(&mut to).for_each(|id| *id -= base);
        }
        let len = |list: &[i64]| list.iter().max().map_or(0, |&id| id as usize + 1);
        let (nrows, ncols) = (len(&from), len(&to));
        let shape = if bipartite { (nrows, ncols) } else { (nrows.max(ncols), nrows.max(ncols)) };
        check_shape(shape.0, shape.1)?;
        if undirected {
            let n = from.iter().zip(&to).filter(|(i, j)| i != j).count();
            for list in [&mut from, &mut to] {
                list.try_reserve(n).map_err(|_| out_of_memory::<i64>(LIST, n))?;
            }
            values.try_reserve(n).map_err(|_| out_of_memory::<T>(LIST, n))?;
            for e in 0..from.len() {
                if from[e] != to[e] {
                    let (i, j, x) = (from[e], to[e], values[e]);
                    from.push(j);
                    to.push(i);
                    values.push(x);
                }
            }
        }
        let named = |i: usize, j: usize| {
            let id = |i: usize| match self.names.get(i) {
                Some(name) => name.to_owned(),
                None => ids.get(i).copied().unwrap_or(i as i64 + base).to_string(),
            };
            duplicate(self.name, (id(i), id(j)))
        };
        let mut matrix = matrix(shape, (from, to, values), fold, self.threads, &named)?;
        matrix.ids = ids;
        Ok(matrix)
    }
}

/// The distinct numbers in both lists, sorted.
fn distinct(from: &[i64], to: &[i64]) -> Result<Vec<i64>> {
    let mut ids = reserved(from.len() + to.len(), "vertices")?;
    ids.extend(from.iter().chain(to));
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// The matrix of these entries, whose indices are in range; `duplicate` makes the error for a duplicate if there is no
/// fold.
pub(super) fn matrix<T: Value>(
    (nrows, ncols): (usize, usize),
    (from, to, values): (Vec<i64>, Vec<i64>, Vec<T>),
    fold: Fold<'_, T>,
    threads: &Threads,
    duplicate: &dyn Fn(usize, usize) -> Error,
) -> Result<LabeledMatrix> {
    let narrow = |list: Vec<i64>| collected(list.len(), list.iter().map(|&i| i as u32), LIST);
    let coo = Coo::from_parts(nrows, ncols, narrow(from)?, narrow(to)?, values);
    let made = coo.compress(threads, fold).and_then(|a| a.into_compressed());
    let (pattern, values) = match made {
        Ok(a) => a.into_parts(),
        Err(Error::Duplicate { row, column }) => return Err(duplicate(row, column)),
        Err(e) => return Err(e),
    };
    Ok(LabeledMatrix::new(pattern, Array::of(values)))
}
