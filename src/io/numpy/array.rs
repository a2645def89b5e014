//! The `.npy` format: `\x93NUMPY`, a version, a header line with type, order and shape, and the elements.

use super::element::{Element, with_kind, with_values};
use crate::algebra::Array;
use crate::par::{filled, reserved};
use crate::{Error, Result};

pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// A dense NumPy array.
#[derive(Debug)]
#[non_exhaustive]
pub struct NpyArray {
    /// Size of each dimension.
    pub shape: Vec<usize>,
    /// Whether the first index varies fastest, instead of the last.
    pub fortran_order: bool,
    /// The elements, in file order.
    pub values: Array,
}

impl NpyArray {
    /// NumPy's name of the element type, without byte order: `f8`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        fn kind<T: Element>(_: &[T]) -> &'static str {
            T::KIND
        }
        let values = self.values.slice();
        with_values!(values, x => kind(x), "no number")
    }
}

/// The error for an unsupported or damaged file.
pub(super) fn broken(name: &str, why: impl Into<String>) -> Error {
    Error::Unsupported { what: format!("the file {name}"), why: why.into() }
}

/// An array in a file.
pub(super) struct Raw<'a> {
    /// Name in errors.
    pub(super) name: &'a str,
    /// Element type without byte order, such as `f8`.
    pub(super) kind: &'a str,
    big_endian: bool,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
    pub(super) elements: &'a [u8],
}

/// The value after `'key':`, up to the comma or bracket that ends it.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = header.match_indices(key).find_map(|(at, _)| {
        let quote = header[..at].chars().next_back().filter(|q| matches!(q, '\'' | '"'))?;
        let rest = header[at + key.len()..].strip_prefix(quote)?.trim_start();
        Some(header.len() - rest.strip_prefix(':')?.len())
    })?;
    let rest = header[at..].trim_start();
    let end = if rest.starts_with('(') { rest.find(')')? + 1 } else { rest.find([',', '}'])? };
    Some(rest[..end].trim())
}

/// Type, order and shape of a header, and the bytes of the elements.
type Parts<'a> = (&'a str, bool, Vec<usize>, &'a [u8]);

fn parts(bytes: &[u8]) -> Option<Parts<'_>> {
    /// Maximum number of dimensions of a NumPy array.
    const MOST: usize = 64;
    let (version, rest) = bytes.strip_prefix(MAGIC)?.split_at_checked(2)?;
    let width = match version[0] {
        1 => 2,
        2 | 3 => 4,
        _ => return None,
    };
    let (len, rest) = rest.split_at_checked(width)?;
    let len = len.iter().rev().fold(0, |n, &b| n << 8 | usize::from(b));
    let (header, elements) = rest.split_at_checked(len)?;
    let header = std::str::from_utf8(header).ok()?;
    let descr = field(header, "descr")?.trim_matches(['\'', '"']);
    let fortran_order = match field(header, "fortran_order")? {
        "True" => true,
        "False" => false,
        _ => return None,
    };
    let shape = field(header, "shape")?.strip_prefix('(')?.strip_suffix(')')?;
    let words = || shape.split(',').map(str::trim).filter(|word| !word.is_empty());
    if words().count() > MOST {
        return None;
    }
    Some((descr, fortran_order, words().map(|word| word.parse().ok()).collect::<Option<_>>()?, elements))
}

impl<'a> Raw<'a> {
    pub(super) fn parse(name: &'a str, bytes: &'a [u8]) -> Result<Self> {
        let Some((descr, fortran_order, shape, elements)) = parts(bytes) else {
            return Err(broken(name, "it is no array of NumPy, or its header is damaged"));
        };
        let order = descr.starts_with(['<', '>', '=', '|']);
        let (order, kind) = if order { descr.split_at(1) } else { ("", descr) };
        Ok(Self { name, kind, big_endian: order == ">", fortran_order, shape, elements })
    }
    /// Number of elements; requires that [`count`](Self::count) succeeded.
    pub(super) fn len(&self) -> usize {
        self.shape.iter().product()
    }
    /// Number of elements, after a check that the bytes match the shape with elements of `size` bytes.
    pub(super) fn count(&self, size: usize) -> Result<usize> {
        let count = self.shape.iter().try_fold(1usize, |n, &len| n.checked_mul(len));
        match count.filter(|n| n.checked_mul(size) == Some(self.elements.len())) {
            Some(count) => Ok(count),
            None => {
                let bytes = self.elements.len();
                let (shape, kind) = (&self.shape, self.kind);
                Err(broken(self.name, format!("{bytes} bytes are no array of shape {shape:?} of {kind}")))
            }
        }
    }
    /// The elements; `T` must match `kind`.
    pub(super) fn iter<T: Element>(&self) -> Result<impl ExactSizeIterator<Item = T> + '_> {
        self.count(size_of::<T>())?;
        Ok(self.elements.chunks_exact(size_of::<T>()).map(|bytes| self.element(bytes)))
    }
    /// Decodes an element.
    pub(super) fn element<T: Element>(&self, bytes: &[u8]) -> T {
        const LARGEST: usize = 16;
        if !self.big_endian {
            return T::from_bytes(bytes);
        }
        let mut swapped = [0; LARGEST];
        let swapped = &mut swapped[..bytes.len()];
        swapped.copy_from_slice(bytes);
        swapped.chunks_exact_mut(T::PART).for_each(<[u8]>::reverse);
        T::from_bytes(swapped)
    }
    pub(super) fn list<T: Element>(&self) -> Result<Vec<T>> {
        let elements = self.iter::<T>()?;
        let mut list = reserved(elements.len(), "elements of an array")?;
        list.extend(elements);
        Ok(list)
    }
    /// The error for an unsupported element type.
    pub(super) fn unknown_kind(&self, what: &str) -> Error {
        broken(self.name, format!("{what} are of the type {}, which is not read", self.kind))
    }
    pub(super) fn into_array(self) -> Result<NpyArray> {
        let values = with_kind!(
            self.kind,
            T => Array::of(self.list::<T>()?),
            return Err(self.unknown_kind("its elements"))
        );
        Ok(NpyArray { shape: self.shape, fortran_order: self.fortran_order, values })
    }
    /// The elements as integers, from any index type of SciPy.
    pub(super) fn integers(&self) -> Result<Vec<i64>> {
        macro_rules! of_any {
            ($($t:ty)*) => {
                match self.kind {
                    $(<$t as Element>::KIND => {
                        let elements = self.iter::<$t>()?;
                        let mut list = reserved(elements.len(), "indices")?;
                        for x in elements {
                            let beyond = |_| broken(self.name, "an index is beyond 63 bits");
                            list.push(i64::try_from(x).map_err(beyond)?);
                        }
                        Ok(list)
                    })*
                    _ => Err(self.unknown_kind("its indices")),
                }
            };
        }
        of_any! { i8 i16 i32 i64 u8 u16 u32 u64 }
    }
    /// The string in an array of type `S` (bytes) or `U` (four-byte characters).
    pub(super) fn word(&self) -> Option<String> {
        const LONGEST: usize = 64;
        let wide = match self.kind.as_bytes().first()? {
            b'S' | b'a' => false,
            b'U' => true,
            _ => return None,
        };
        if self.elements.len() > LONGEST {
            return None;
        }
        let mut word = String::new();
        for part in self.elements.chunks(if wide { 4 } else { 1 }) {
            let code = part.iter().rev().fold(0u32, |n, &b| n << 8 | u32::from(b));
            let code = if wide && self.big_endian { code.swap_bytes() } else { code };
            word.push(char::from_u32(code)?);
        }
        Some(word.trim_end_matches('\0').to_owned())
    }
}

/// The magic bytes and the header; elements are aligned to 64 bytes.
pub(super) fn header(kind: &str, fortran_order: bool, shape: &[usize]) -> Vec<u8> {
    let order = if kind.ends_with("b1") || kind.ends_with("i1") || kind.ends_with("u1") || kind.starts_with('S') {
        '|'
    } else {
        '<'
    };
    let mut words: Vec<_> = shape.iter().map(usize::to_string).collect();
    if let [one] = &mut words[..] {
        one.push(',');
    }
    let (by_columns, shape) = (if fortran_order { "True" } else { "False" }, words.join(", "));
    let mut text = format!("{{'descr': '{order}{kind}', 'fortran_order': {by_columns}, 'shape': ({shape}), }}");
    let before = MAGIC.len() + 4;
    text.extend(std::iter::repeat_n(' ', 63 - (before + text.len()) % 64));
    text.push('\n');
    [MAGIC, &[1, 0], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat()
}

/// A row of zeros.
pub(super) fn zero_row<T: Element>(len: usize) -> Result<Vec<T>> {
    filled(len, T::ZERO, "a row of an array")
}
