//! METIS graphs: `n m [fmt [ncon]]`, then a line per vertex with its neighbours and optional weights.

use std::io::Read;
use std::path::Path;

use super::options::EdgeOptions;
use crate::Result;
use crate::algebra::Array;
use crate::io::labeled::{LabeledMatrix, Labels, Rows, check_shape, sort_row, stacked};
use crate::io::text::{Bad, Cursor, Expected, Halt, Line, Lines, Text, push, signed, text_from, text_of};
use crate::par::{Threads, filled};

const EXPECTED: Expected<'static> = Expected { what: "a graph of METIS", but: &[] };

/// Reads a METIS graph, compressed by gzip or not, as its adjacency matrix: i64 if edges have weights, else bool.
/// Vertex sizes and weights are ignored.
/// # Errors
/// [`Error::Io`](crate::Error::Io); [`Error::Parse`](crate::Error::Parse) with line and column of the first error;
/// [`Error::Budget`](crate::Error::Budget); [`Error::OutOfMemory`](crate::Error::OutOfMemory).
pub fn read_metis_with(path: impl AsRef<Path>, options: &EdgeOptions<'_>) -> Result<LabeledMatrix> {
    let (name, bytes) = text_of(path.as_ref(), &options.limits(), &EXPECTED)?;
    parse_metis_with(&bytes, &name, options)
}

/// [`read_metis_with`] from any reader, such as standard input; `name` appears in errors.
/// # Errors
/// As [`read_metis_with`].
pub fn read_metis_from(from: &mut dyn Read, name: &str, options: &EdgeOptions<'_>) -> Result<LabeledMatrix> {
    let bytes = text_from(from, name, &options.limits(), &EXPECTED)?;
    parse_metis_with(&bytes, name, options)
}

/// [`read_metis_with`] from the bytes of a file; `name` appears in errors.
/// ```
/// use sparring::io::{EdgeOptions, parse_metis_with};
/// let graph = parse_metis_with(b"% a path\n3 2\n2\n1 3\n2\n", "example", &EdgeOptions::new())?;
/// assert_eq!((graph.pattern.shape(), graph.pattern.nnz()), ((3, 3), 4));
/// # Ok::<(), sparring::Error>(())
/// ```
/// # Errors
/// As [`read_metis_with`].
pub fn parse_metis_with(bytes: &[u8], name: &str, options: &EdgeOptions<'_>) -> Result<LabeledMatrix> {
    let here = Threads::current();
    let threads = options.common.threads.unwrap_or(&here);
    let text = Text { name, bytes, limits: options.limits(), threads, expected: EXPECTED };
    let (found, mut blocks) = text.parse(&head, &|head: &Head, text| rows(text, head))?;
    let head = found.ok_or_else(|| text.wrong_at_end("expected the number of vertices, found the end of the file"))?;
    let mut lines: usize = blocks.iter().map(|rows| rows.lens.len()).sum();
    // Empty lines after the last vertex do not count.
    for rows in blocks.iter_mut().rev() {
        while lines > head.vertices && rows.lens.last() == Some(&0) {
            rows.lens.pop();
            lines -= 1;
        }
        if !rows.lens.is_empty() {
            break;
        }
    }
    let entries: usize = blocks.iter().map(|rows| rows.cols.len()).sum();
    if lines != head.vertices {
        let message = format!("the first line declares {} vertices, the file has lines for {lines}", head.vertices);
        return Err(text.wrong_at_end(message));
    }
    if Some(entries) != head.edges.checked_mul(2) {
        let message = format!(
            "the first line declares {} edges, each of which stands at both its vertices, and the file has {entries} neighbours",
            head.edges
        );
        return Err(text.wrong_at_end(message));
    }
    let mut graph = stacked(blocks, head.vertices)?;
    if !head.weighted {
        graph.values = Array::of(filled(entries, true, "edges")?);
    }
    Ok(graph)
}

struct Head {
    vertices: usize,
    edges: usize,
    /// Count of numbers in a line before the neighbours.
    before: usize,
    weighted: bool,
}

fn whole(word: &Line<'_>, what: &str) -> Result<i64, Bad> {
    let mut cursor = Cursor { text: word.text, at: 0 };
    match signed(&mut cursor) {
        Ok(x) if cursor.at == word.text.len() => Ok(x),
        Err(bad) if bad.message.contains("fit") => Err(Bad::new(word.at, bad.message)),
        _ => Err(word.wrong(format!("expected {what}, found {}", word.shown()))),
    }
}

fn head((): &mut (), lines: &mut Lines<'_>) -> Result<Option<Head>, Halt> {
    let Some(line) = lines.next_entry(b"%")? else { return Ok(None) };
    let words = line.words(&[]);
    let (mut numbers, mut count) = ([0, 0, 0, 1], 0);
    for word in words {
        let Some(number) = numbers.get_mut(count) else {
            let message = format!("expected n m [fmt [ncon]], which is four numbers at most, found {}", word.shown());
            return Err(word.wrong(message).into());
        };
        let n = whole(&word, "a whole number")?;
        *number = usize::try_from(n).map_err(|_| word.wrong(format!("{n} is negative")))?;
        count += 1;
    }
    let [vertices, edges, format, constraints] = numbers;
    let digits = [format / 100, format / 10 % 10, format % 10];
    if count < 2 || digits.iter().any(|&digit| digit > 1) {
        let message = format!("expected n m [fmt [ncon]], whose fmt has three digits 0 or 1, found {}", line.shown());
        return Err(line.wrong(message).into());
    }
    check_shape(vertices, vertices)?;
    let before = digits[0] + digits[1].saturating_mul(constraints);
    Ok(Some(Head { vertices, edges, before, weighted: digits[2] == 1 }))
}

fn rows(text: &[u8], head: &Head) -> Result<Rows<i64>, Halt> {
    let mut rows = Rows { lens: vec![], cols: vec![], values: vec![], labels: Labels::default() };
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next_line()? {
        if line.text.trim_ascii_start().starts_with(b"%") {
            continue;
        }
        let mut words = line.words(&[]);
        let start = rows.cols.len();
        let blank = words.clone().next().is_none();
        for _ in 0..if blank { 0 } else { head.before } {
            let word =
                words.next().ok_or_else(|| line.wrong("the line has too few sizes and weights of its vertex"))?;
            whole(&word, "a size or weight of the vertex")?;
        }
        while let Some(word) = words.next() {
            let n = whole(&word, "a neighbour")?;
            if n < 1 || n as u64 > head.vertices as u64 {
                return Err(word.wrong(format!("neighbour {n} is not from 1 to {}", head.vertices)).into());
            }
            push(&mut rows.cols, (n - 1) as u32, "neighbours")?;
            let weight = if head.weighted {
                let weight = words.next().ok_or_else(|| word.wrong(format!("neighbour {n} has no weight")))?;
                whole(&weight, "the weight of an edge")?
            } else {
                1
            };
            push(&mut rows.values, weight, "weights")?;
        }
        if let Some(j) = sort_row(&mut rows.cols[start..], &mut rows.values[start..])? {
            return Err(line.wrong(format!("neighbour {} is in the line twice", u64::from(j) + 1)).into());
        }
        push(&mut rows.lens, (rows.cols.len() - start) as u32, "vertices")?;
    }
    Ok(rows)
}
