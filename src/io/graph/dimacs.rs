//! DIMACS graphs: `p sp n m`, then a line `a u v weight` for each of m arcs.

use std::io::Read;
use std::path::Path;

use super::edges::{duplicate, fold, matrix};
use super::options::EdgeOptions;
use crate::Result;
use crate::io::labeled::{LabeledMatrix, check_shape};
use crate::io::text::{Bad, Cursor, Expected, Halt, Line, Lines, Text, push, signed, text_from, text_of};
use crate::par::{Threads, reserved};
use crate::sparse::sums::{Sums, overflow};

const EXPECTED: Expected<'static> = Expected { what: "a graph of DIMACS", but: &[] };
const LIST: &str = "arcs";

/// Reads a graph of the DIMACS shortest paths challenge, compressed by gzip or not, as its weighted adjacency matrix
/// (i64).
/// # Errors
/// [`Error::Io`](crate::Error::Io); [`Error::Parse`](crate::Error::Parse) with line and column of the first error;
/// [`Error::Unsupported`](crate::Error::Unsupported) for a duplicate arc, unless
/// [`EdgeOptions::repeated`] combines duplicates; [`Error::Budget`](crate::Error::Budget);
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn read_dimacs_with(path: impl AsRef<Path>, options: &EdgeOptions<'_>) -> Result<LabeledMatrix> {
    let (name, bytes) = text_of(path.as_ref(), &options.limits(), &EXPECTED)?;
    parse_dimacs_with(&bytes, &name, options)
}

/// [`read_dimacs_with`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_dimacs_with`].
pub fn read_dimacs_from(from: &mut dyn Read, name: &str, options: &EdgeOptions<'_>) -> Result<LabeledMatrix> {
    let bytes = text_from(from, name, &options.limits(), &EXPECTED)?;
    parse_dimacs_with(&bytes, name, options)
}

/// [`read_dimacs_with`] from the bytes of a file; `name` appears in errors.
/// ```
/// use sparring::io::{EdgeOptions, parse_dimacs_with};
/// let graph = parse_dimacs_with(b"c two arcs\np sp 3 2\na 1 2 17\na 3 1 5\n", "example", &EdgeOptions::new())?;
/// assert_eq!(graph.csr::<i64>()?.get(2, 0), Some(&5));
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// As [`read_dimacs_with`].
pub fn parse_dimacs_with(bytes: &[u8], name: &str, options: &EdgeOptions<'_>) -> Result<LabeledMatrix> {
    let here = Threads::current();
    let threads = options.common.threads.unwrap_or(&here);
    let text = Text { name, bytes, limits: options.limits(), threads, expected: EXPECTED };
    let (found, blocks) = text.parse(&head, &|head: &Head, text| arcs(text, head))?;
    let head = found.ok_or_else(|| text.wrong_at_end("expected the line p sp, found the end of the file"))?;
    let found: usize = blocks.iter().map(|block| block.0.len()).sum();
    if found != head.arcs {
        return Err(text.wrong_at_end(format!("the line p sp declares {} arcs, the file has {found}", head.arcs)));
    }
    let (mut from, mut to, mut weights) = (reserved(found, LIST)?, reserved(found, LIST)?, reserved(found, "weights")?);
    for block in blocks {
        from.extend_from_slice(&block.0);
        to.extend_from_slice(&block.1);
        weights.extend_from_slice(&block.2);
    }
    let sums = Sums::default();
    let fold = fold(options.repeated, |sum: i64, again| sums.keep(sum, sum.checked_add(again)));
    let duplicate = |i: usize, j: usize| duplicate(name, (i as i64 + 1, j as i64 + 1));
    let made = matrix((head.vertices, head.vertices), (from, to, weights), fold, threads, &duplicate)?;
    if sums.overflowed() { Err(overflow::<i64>(&format!("{name}: a sum of repeated weights"))) } else { Ok(made) }
}

struct Head {
    vertices: usize,
    arcs: usize,
}

/// An integer of a line.
fn whole(word: Option<Line<'_>>, line: &Line<'_>, what: &str) -> Result<i64, Bad> {
    let word =
        word.ok_or_else(|| Bad::new(line.at + line.text.len(), format!("expected {what}, found the end of the line")))?;
    let mut cursor = Cursor { text: word.text, at: 0 };
    match signed(&mut cursor) {
        Ok(x) if cursor.at == word.text.len() => Ok(x),
        Err(bad) if bad.message.contains("fit") => Err(Bad::new(word.at, bad.message)),
        _ => Err(word.wrong(format!("expected {what}, found {}", word.shown()))),
    }
}

fn is_comment(line: &Line<'_>) -> bool {
    line.words(&[]).next().is_some_and(|word| word.text == b"c")
}

fn end<'a>(mut words: impl Iterator<Item = Line<'a>>) -> Result<(), Bad> {
    match words.next() {
        None => Ok(()),
        Some(word) => Err(word.wrong(format!("expected the end of the line, found {}", word.shown()))),
    }
}

fn head((): &mut (), lines: &mut Lines<'_>) -> Result<Option<Head>, Halt> {
    while let Some(line) = lines.next_entry(&[])? {
        if is_comment(&line) {
            continue;
        }
        let mut words = line.words(&[]);
        let mut kind = words.next().into_iter().chain(words.next());
        if (kind.next().map(|w| w.text), kind.next().map(|w| w.text)) != (Some(b"p"), Some(b"sp")) {
            return Err(line.wrong(format!("expected the line p sp of DIMACS, found {}", line.shown())).into());
        }
        let mut size = |what| {
            let n = whole(words.next(), &line, what)?;
            usize::try_from(n).map_err(|_| line.wrong(format!("the {what} is negative")))
        };
        let (vertices, arcs) = (size("number of vertices")?, size("number of arcs")?);
        end(words)?;
        check_shape(vertices, vertices)?;
        return Ok(Some(Head { vertices, arcs }));
    }
    Ok(None)
}

type Block = (Vec<i64>, Vec<i64>, Vec<i64>);

fn arcs(text: &[u8], head: &Head) -> Result<Block, Halt> {
    let (mut from, mut to, mut weights) = (vec![], vec![], vec![]);
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next_entry(&[])? {
        if is_comment(&line) {
            continue;
        }
        let mut words = line.words(&[]);
        if words.next().map(|word| word.text) != Some(b"a") {
            return Err(line.wrong(format!("expected an arc, a u v weight, found {}", line.shown())).into());
        }
        let vertex = |words: &mut dyn Iterator<Item = Line<'_>>| {
            let word = words.next();
            let at = word.map_or(line.at, |word| word.at);
            let n = whole(word, &line, "a vertex")?;
            if n < 1 || n as u64 > head.vertices as u64 {
                return Err(Bad::new(at, format!("vertex {n} is not from 1 to {}", head.vertices)));
            }
            Ok(n - 1)
        };
        push(&mut from, vertex(&mut words)?, LIST)?;
        push(&mut to, vertex(&mut words)?, LIST)?;
        push(&mut weights, whole(words.next(), &line, "a weight, which is a whole number")?, "weights")?;
        end(words)?;
    }
    Ok((from, to, weights))
}
