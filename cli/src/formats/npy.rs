//! Arrays of NumPy: `\x93NUMPY`, a version, a line of text that says type, order and shape, and the elements.
//!
//! A matrix is read from an array of two dimensions, or of one as a column; elements that are 0 are absent.
//! Source: NumPy Enhancement Proposal 1, *A Simple File Format for NumPy Arrays*.

use std::io::Write;

use sparring::algebra::Slice;
use sparring::runtime::Matrix;
use sparring::{Error, Pattern, Result};

use super::stop::{Stop, broken};
use super::values::{Element, matrix, narrow, with_kind, with_values};

const MAGIC: &[u8] = b"\x93NUMPY";

/// An array: what its header says, and the bytes of its elements, lowest first.
pub(crate) struct Array {
    /// As `f8`, without the order of bytes.
    pub(crate) kind: String,
    /// The first index varies fastest.
    pub(crate) by_columns: bool,
    pub(crate) shape: Vec<usize>,
    pub(super) elements: Vec<u8>,
}

/// The word behind `'key':`, up to the comma or bracket that ends it.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let rest = header.split_once(&format!("'{key}':"))?.1.trim_start();
    let end = if rest.starts_with('(') { rest.find(')')? + 1 } else { rest.find([',', '}'])? };
    Some(rest[..end].trim())
}

impl Array {
    pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<Self> {
        let parsed = || {
            let rest = bytes.strip_prefix(MAGIC)?;
            let (version, rest) = rest.split_at_checked(2)?;
            let width = if version[0] == 1 { 2 } else { 4 };
            let (len, rest) = rest.split_at_checked(width)?;
            let len = len.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
            let (header, elements) = rest.split_at_checked(len)?;
            let header = std::str::from_utf8(header).ok()?;
            let descr = field(header, "descr")?.trim_matches(['\'', '"']);
            let shape = field(header, "shape")?.trim_matches(['(', ')']).split(',').map(str::trim);
            let shape = shape.filter(|word| !word.is_empty()).map(|word| word.parse().ok()).collect::<Option<_>>()?;
            Some((descr, field(header, "fortran_order")? == "True", shape, elements))
        };
        let Some((descr, by_columns, shape, elements)) = parsed() else {
            return Err(broken(name, "it is no array of NumPy, or its header is damaged"));
        };
        let mut elements = sparring_bytes(elements)?;
        let (order, kind) = if descr.starts_with(['<', '>', '=', '|']) { descr.split_at(1) } else { ("", descr) };
        if order == ">" {
            let part = with_kind!(kind, T => T::PART, 1);
            elements.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        }
        Ok(Self { kind: kind.into(), by_columns, shape, elements })
    }
    /// The elements, all of one type.
    pub(super) fn values<T: Element>(&self, name: &str) -> Result<impl Iterator<Item = T> + '_> {
        let count = self.shape.iter().try_fold(1usize, |n, &len| n.checked_mul(len));
        let size = size_of::<T>();
        if count.and_then(|n| n.checked_mul(size)) != Some(self.elements.len()) {
            let bytes = self.elements.len();
            return Err(broken(name, format!("{bytes} bytes are no array of shape {:?} of {}", self.shape, T::KIND)));
        }
        Ok(self.elements.chunks_exact(size).map(T::from_bytes))
    }
    /// The elements as they lie, all of one type.
    pub(crate) fn list<T: Element>(self, name: &str) -> Result<Vec<T>> {
        let mut list = sparring::par::filled(self.elements.len() / size_of::<T>(), T::ZERO, "elements of an array")?;
        list.iter_mut().zip(self.values::<T>(name)?).for_each(|(to, from)| *to = from);
        Ok(list)
    }
    /// The elements as indices.
    pub(super) fn indices(&self, name: &str) -> Result<Vec<usize>> {
        macro_rules! converted {
            ($($t:ty)*) => {
                match self.kind.as_str() {
                    $(<$t as Element>::KIND => {
                        let all = self.values::<$t>(name)?.map(|i| usize::try_from(i).ok()).collect::<Option<Vec<_>>>();
                        all.ok_or_else(|| broken(name, "an index is negative"))
                    })*
                    kind => Err(broken(name, format!("indices of type {kind}"))),
                }
            };
        }
        converted! { i32 i64 u32 u64 }
    }
}

/// A copy, or the error that there is no memory for it.
fn sparring_bytes(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = sparring::par::filled(bytes.len(), 0u8, "elements of an array")?;
    copy.copy_from_slice(bytes);
    Ok(copy)
}

/// The header and what stands before it; elements begin at a multiple of 64 bytes.
fn header(kind: &str, by_columns: bool, shape: &str) -> Vec<u8> {
    let order = if kind.ends_with('1') || kind.starts_with('S') { '|' } else { '<' };
    let by_columns = if by_columns { "True" } else { "False" };
    let mut text = format!("{{'descr': '{order}{kind}', 'fortran_order': {by_columns}, 'shape': {shape}, }}");
    let before = MAGIC.len() + 4;
    text.extend(std::iter::repeat_n(' ', 63 - (before + text.len()) % 64));
    text.push('\n');
    [MAGIC, &[1, 0], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
}

/// A list as an array of one dimension.
pub(super) fn list<T: Element>(values: impl ExactSizeIterator<Item = T>) -> Vec<u8> {
    let mut bytes = header(T::KIND, false, &format!("({},)", values.len()));
    values.for_each(|x| x.push_bytes(&mut bytes));
    bytes
}

/// A matrix, row after row, as an array of two dimensions.
pub(super) fn table(nrows: usize, ncols: usize, values: &[f64]) -> Vec<u8> {
    let mut bytes = header(f64::KIND, false, &format!("({nrows}, {ncols})"));
    values.iter().for_each(|x| x.push_bytes(&mut bytes));
    bytes
}

/// Elements as they lie, as an array of this shape.
pub(crate) fn tensor<T: Element>(
    out: &mut dyn Write,
    by_columns: bool,
    shape: &[usize],
    elements: &[T],
) -> Result<(), Stop> {
    let mut words: Vec<_> = shape.iter().map(usize::to_string).collect();
    if let [one] = &mut words[..] {
        one.push(',');
    }
    out.write_all(&header(T::KIND, by_columns, &format!("({})", words.join(", "))))?;
    Ok(put(out, elements, &mut Vec::new())?)
}

/// Writes elements part by part.
fn put<T: Element>(out: &mut dyn Write, elements: &[T], bytes: &mut Vec<u8>) -> std::io::Result<()> {
    for part in elements.chunks(1 << 13) {
        bytes.clear();
        bytes.try_reserve(size_of_val(part)).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        part.iter().for_each(|x| x.push_bytes(bytes));
        out.write_all(bytes)?;
    }
    Ok(())
}

pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Matrix> {
    let array = Array::parse(name, bytes)?;
    let (nrows, ncols) = match array.shape[..] {
        [n] => (n, 1),
        [n, m] => (n, m),
        _ => return Err(broken(name, format!("an array of {} dimensions is no matrix", array.shape.len()))),
    };
    with_kind!(
        array.kind.as_str(),
        T => {
            let (mut rows, mut cols, mut values) = (vec![], vec![], vec![]);
            let elements = array.elements.chunks_exact(size_of::<T>());
            for (e, (x, bytes)) in array.values::<T>(name)?.zip(elements).enumerate() {
                // −0 is there.
                if bytes.iter().any(|&b| b != 0) {
                    let (i, j) = if array.by_columns { (e % nrows, e / nrows) } else { (e / ncols, e % ncols) };
                    rows.push(narrow(i)?);
                    cols.push(narrow(j)?);
                    values.push(x);
                }
            }
            matrix((nrows, ncols), (rows, cols, values))
        },
        Err(broken(name, format!("its elements are of the type {}", array.kind)))
    )
}

pub(super) fn write(out: &mut dyn Write, pattern: &Pattern, values: Slice<'_>) -> Result<(), Stop> {
    fn rows<T: Element>(out: &mut dyn Write, pattern: &Pattern, x: &[T]) -> Result<(), Stop> {
        let (n, m) = pattern.shape();
        out.write_all(&header(T::KIND, false, &format!("({n}, {m})")))?;
        let mut row = sparring::par::filled(m, T::ZERO, "a row of an array")?;
        let mut bytes = Vec::new();
        for i in 0..n {
            row.fill(T::ZERO);
            for (&j, &x) in pattern.row(i).iter().zip(&x[pattern.row_ptr()[i]..]) {
                row[j as usize] = x;
            }
            bytes.clear();
            row.iter().for_each(|x| x.push_bytes(&mut bytes));
            out.write_all(&bytes)?;
        }
        Ok(())
    }
    with_values!(
        values,
        x => rows(out, pattern, x),
        Err(super::values::not_held(values, "an array").into())
    )
}

/// An array of f64 that is written column by column.
pub(crate) struct Columns<'a> {
    out: &'a mut dyn Write,
    bytes: Vec<u8>,
}

impl<'a> Columns<'a> {
    pub(crate) fn start(out: &'a mut dyn Write, nrows: usize, ncols: usize) -> Result<Self, Stop> {
        out.write_all(&header(f64::KIND, true, &format!("({nrows}, {ncols})")))?;
        Ok(Self { out, bytes: Vec::new() })
    }
    pub(crate) fn push(&mut self, elements: &[f64]) -> Result<(), Error> {
        let written = put(self.out, elements, &mut self.bytes);
        written.map_err(|source| Error::Io { path: String::new(), source })
    }
}

/// A word as an array without dimensions.
pub(super) fn word(word: &str) -> Vec<u8> {
    let mut bytes = header(&format!("S{}", word.len()), false, "()");
    bytes.extend_from_slice(word.as_bytes());
    bytes
}
