//! Parsing of text into blocks of entries.

use super::block::{Block, IndexLists};
use super::value::{FrosttValue, read};
use crate::io::text::{Bad, Cursor, count_line_ends, long_line, other_kind, quoted};
use crate::par::{filled, reserved};
use crate::tensor::MAX_ORDER;
use crate::{Index, Result};

/// The line format.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) order: usize,
    pub(super) dims: Option<&'a [usize]>,
    pub(super) values: bool,
    pub(super) lenient: bool,
    /// Smallest index in the file, 0 or 1.
    pub(super) base: u64,
}

impl Rules<'_> {
    /// Size of a mode, or the largest possible one.
    fn bound(&self, mode: usize) -> usize {
        self.dims.map_or(u64::MAX_LEN, |dims| dims[mode])
    }
    /// The end of a message about a malformed line.
    fn line(&self) -> String {
        let indices = match self.order {
            1 => "i_1".to_owned(),
            2 => "i_1 i_2".to_owned(),
            3 => "i_1 i_2 i_3".to_owned(),
            order => format!("i_1 … i_{order}"),
        };
        let value = if self.values { " value" } else { "" };
        let why = if self.dims.is_some() { "the dimensions that are given say" } else { "the first entry says" };
        format!(": an entry is {indices}{value}, as {why}")
    }
}

/// An error if the first bytes look like another format.
pub(super) fn check_first(text: &[u8]) -> Result<(), Bad> {
    const MARKET: &[u8] = b"%%MatrixMarket";
    let market = text.get(..MARKET.len()).is_some_and(|word| word.eq_ignore_ascii_case(MARKET));
    let toolbox = [&b"tensor"[..], b"ktensor", b"sumtensor", b"matrix"];
    let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let instead = if market {
        ": this is a Matrix Market file, a matrix, which info and convert read"
    } else if toolbox.contains(&word) {
        ": this is a file of the Tensor Toolbox, of which sptensor is read here, and ktensor as a model"
    } else if let Some(sentence) = other_kind(text).filter(|_| word != b"sptensor") {
        sentence
    } else {
        return Ok(());
    };
    Err(Bad::new(0, format!("expected the entries of a tensor, found {}{instead}", quoted(text, 0))))
}

/// Advances to the first entry; returns whether there is one. An overlong line is an error.
pub(super) fn find_entry(cursor: &mut Cursor<'_>) -> Result<bool, Bad> {
    cursor.skip_entries(0, Some(COMMENT));
    match long_line(&cursor.text[..line_end(cursor)]) {
        Some(bad) => Err(bad),
        None => Ok(cursor.at < cursor.text.len()),
    }
}

/// Offset of the end of the current line.
fn line_end(cursor: &Cursor<'_>) -> usize {
    let rest = &cursor.text[cursor.at..];
    cursor.at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
}

pub(super) const COMMENT: u8 = b'#';

/// The order of a tensor, from its first entry at the cursor.
pub(super) fn order(cursor: &Cursor<'_>, values: bool, lenient: bool) -> Result<usize, Bad> {
    let line = &cursor.text[cursor.at..line_end(cursor)];
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let words = words.take_while(|word| !(lenient && word.first() == Some(&COMMENT))).count();
    match words.saturating_sub(values.into()) {
        0 => {
            let message = format!("expected an index and a value, found {} alone", quoted(cursor.text, cursor.at));
            Err(Bad::new(cursor.at, message))
        }
        order @ 1..=MAX_ORDER => Ok(order),
        order => {
            let message = format!("the entry has {order} indices, and a tensor at most {MAX_ORDER} modes");
            Err(Bad::new(cursor.at, message))
        }
    }
}

/// The entries of a piece, up to its first error.
pub(super) struct Parsed<T> {
    pub(super) block: Block<T>,
    pub(super) bad: Option<Bad>,
}

pub(super) fn parse_piece<T: FrosttValue>(text: &[u8], rules: &Rules<'_>) -> Result<Parsed<T>> {
    let long = long_line(text);
    let text = long.as_ref().map_or(text, |bad| &text[..bad.at]);
    let (bad, block) = match parse_as::<T, u32>(text, rules, IndexLists::Narrow)? {
        (Some(Stop::Wide), _) => parse_as::<T, u64>(text, rules, IndexLists::Wide)?,
        narrow => narrow,
    };
    let bad = match bad {
        Some(Stop::Wrong(bad)) => Some(bad),
        _ => long,
    };
    Ok(Parsed { block, bad })
}

/// A reason to stop parsing a piece.
enum Stop {
    Wrong(Bad),
    /// An index does not fit the index type.
    Wide,
}

fn parse_as<T: FrosttValue, I: Index>(
    text: &[u8],
    rules: &Rules<'_>,
    indices: fn(Vec<Vec<I>>) -> IndexLists,
) -> Result<(Option<Stop>, Block<T>)> {
    // An entry takes a line, and each number at least a digit and a separator; the last line may lack its end.
    let shortest = 2 * (rules.order + usize::from(rules.values));
    let most = (count_line_ends(text) + 1).min((text.len() + 1) / shortest + 1);
    let mut lists: Vec<Vec<I>> = reserved(rules.order, LISTS)?;
    for _ in 0..rules.order {
        lists.push(reserved(most, LISTS)?);
    }
    let mut values = reserved(most, "values")?;
    let mut bounds: Vec<u64> = reserved(rules.order, LISTS)?;
    bounds.extend((0..rules.order).map(|mode| rules.bound(mode).min(I::MAX_LEN) as u64));
    let mut dims = filled(rules.order, 0, LISTS)?;
    let stop = parse_lines(&mut Cursor { text, at: 0 }, rules, &bounds, &mut lists, &mut values, &mut dims).err();
    Ok((stop, Block { indices: indices(lists), values, dims }))
}

const LISTS: &str = "a tensor's indices";

#[inline(always)]
fn parse_lines<T: FrosttValue, I: Index>(
    cursor: &mut Cursor<'_>,
    rules: &Rules<'_>,
    bounds: &[u64],
    lists: &mut [Vec<I>],
    values: &mut Vec<T>,
    dims: &mut [usize],
) -> Result<(), Stop> {
    while cursor.at < cursor.text.len() {
        cursor.skip_blanks();
        if let Some(n) = cursor.line_end() {
            cursor.at += n;
            continue;
        }
        if cursor.peek() == Some(COMMENT) {
            cursor.skip_line();
            continue;
        }
        for (mode, ((list, dim), bound)) in lists.iter_mut().zip(&mut *dims).zip(bounds).enumerate() {
            cursor.skip_blanks();
            let start = cursor.at;
            let n = match cursor.digits() {
                // For one-based indices, 0 wraps to the largest number, which exceeds every bound.
                Ok(n) if n.wrapping_sub(rules.base) < *bound => n.wrapping_sub(rules.base) as usize,
                found => return Err(no_index(cursor.text, start, mode, *bound, rules, found)),
            };
            *dim = (n + 1).max(*dim);
            list.push(I::cast(n));
        }
        let x = if rules.values {
            cursor.skip_blanks();
            let at = cursor.at;
            read(cursor).map_err(|bad| no_value(cursor.text, at, bad, rules))?
        } else {
            T::ONE
        };
        cursor.skip_blanks();
        match cursor.line_end() {
            Some(n) => cursor.at += n,
            None if rules.lenient && cursor.peek() == Some(COMMENT) => cursor.skip_line(),
            None => return Err(no_end(cursor.text, cursor.at, rules)),
        }
        values.push(x);
    }
    Ok(())
}

/// The error for an invalid index of `mode` at `text[at]`, where `digits` was parsed.
#[cold]
fn no_index(text: &[u8], at: usize, mode: usize, bound: u64, rules: &Rules<'_>, digits: Result<u64, bool>) -> Stop {
    let (i, found) = (mode + 1, quoted(text, at));
    let size = rules.bound(mode);
    let message = match (digits, rules.dims) {
        (Ok(0), _) if rules.base == 1 => {
            format!("index i_{i} is 0: FROSTT counts from 1; if here it counts from 0, say so (--zero-based)")
        }
        // The index type is too narrow, not the mode.
        (Ok(n), _) if bound <= n - rules.base && n - rules.base < size as u64 => return Stop::Wide,
        (Ok(_) | Err(true), Some(_)) => format!("index i_{i} is {found}, beyond the size {size} of its mode"),
        (Ok(_) | Err(true), None) => format!("index i_{i} is {found}, and the largest possible is {size}"),
        (Err(false), _) => format!("expected index i_{i}, found {found}{}", rules.line()),
    };
    Stop::Wrong(Bad::new(at, message))
}

/// The error for an invalid value; a missing value is reported as a short line.
#[cold]
fn no_value(text: &[u8], at: usize, bad: Bad, rules: &Rules<'_>) -> Stop {
    let cursor = Cursor { text, at };
    let line = if cursor.line_end().is_some() { rules.line() } else { String::new() };
    Stop::Wrong(Bad { message: bad.message + &line, ..bad })
}

/// The error for trailing text after an entry.
#[cold]
fn no_end(text: &[u8], at: usize, rules: &Rules<'_>) -> Stop {
    let why =
        if text.get(at) == Some(&COMMENT) { ": comments have lines of their own".to_owned() } else { rules.line() };
    Stop::Wrong(Bad::new(at, format!("expected the end of the line, found {}{why}", quoted(text, at))))
}
