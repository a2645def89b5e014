//! Datatypes, shapes and attributes.

use super::bytes::{CUT, Cursor, Parsed, uint};
use super::object::{ATTRIBUTE, DATASPACE, Object};
use crate::io::text::push;

/// Storage format of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Type code of such numbers in MAT-files of version 5.
    pub(super) code: u32,
    pub(super) bytes: usize,
    pub(super) big_endian: bool,
}

/// Type of the elements of a dataset or an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Datatype {
    Number(Number),
    /// A real and an imaginary part.
    Complex(Number),
    Text,
    Other,
}

/// Type codes of f32 and f64 in MAT-files of version 5.
const FLOATS: [u32; 2] = [7, 9];
/// Type codes of i8, i16, i32 and i64; each unsigned type is the next number.
const SIGNED: [u32; 4] = [1, 3, 5, 12];

impl Number {
    /// Whether these are floating-point numbers.
    pub(super) fn is_float(self) -> bool {
        FLOATS.contains(&self.code)
    }

    /// The value of a nonnegative integer; `None` for a negative one.
    pub(super) fn unsigned(self, bytes: &[u8]) -> Option<u64> {
        let (value, sign) = (uint(bytes, self.big_endian), 1 << (8 * self.bytes - 1));
        (value & sign == 0 || !SIGNED.contains(&self.code)).then_some(value)
    }
}

impl Datatype {
    /// Reads a datatype, and its size in bytes.
    pub(super) fn read(from: &mut Cursor<'_>) -> Parsed<(Self, usize)> {
        let head = from.byte()?;
        let (version, class) = (head >> 4, head & 15);
        let bits = from.uint(3)?;
        let len = from.uint(4)? as usize;
        let ty = match class {
            0 => Self::integer(from, bits, len)?,
            1 => Self::float(from, bits, len)?,
            3 => Self::Text,
            6 => Self::compound(from, version, bits, len)?,
            _ => Self::Other,
        };
        Ok((ty, len))
    }

    fn integer(from: &mut Cursor<'_>, bits: u64, bytes: usize) -> Parsed<Self> {
        let (offset, precision) = (from.short()?, from.short()?);
        let code = match bytes {
            1 | 2 | 4 | 8 => SIGNED[bytes.ilog2() as usize],
            _ => return Ok(Self::Other),
        };
        let code = if bits & 8 != 0 { code } else { code + 1 };
        let plain = offset == 0 && precision == 8 * bytes;
        Ok(if plain { Self::Number(Number { code, bytes, big_endian: bits & 1 != 0 }) } else { Self::Other })
    }

    fn float(from: &mut Cursor<'_>, bits: u64, bytes: usize) -> Parsed<Self> {
        let fields = from.take(12)?;
        // Bit offset and precision, position and size of exponent and mantissa, and exponent bias, as in IEEE 754.
        let single: &[u8] = &[0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0];
        let double: &[u8] = &[0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0];
        let code = match bytes {
            4 if fields == single => FLOATS[0],
            8 if fields == double => FLOATS[1],
            _ => return Ok(Self::Other),
        };
        // Bits 0 and 6 are the byte order; both are set for VAX order.
        Ok(match (bits & 1, bits >> 6 & 1) {
            (order, 0) => Self::Number(Number { code, bytes, big_endian: order == 1 }),
            _ => Self::Other,
        })
    }

    /// A complex number is a compound of two members of one type, `real` and `imag`.
    fn compound(from: &mut Cursor<'_>, version: u8, members: u64, bytes: usize) -> Parsed<Self> {
        if members & 0xffff != 2 {
            return Ok(Self::Other);
        }
        let mut parts = [None; 2];
        for (part, expected) in parts.iter_mut().zip([&b"real"[..], b"imag"]) {
            let name = from.text(version < 3)?;
            let offset = match version {
                1 | 2 => from.uint(4)?,
                // As wide as the size of the compound requires.
                _ => from.uint((bytes.max(1).ilog2() / 8 + 1) as usize)?,
            };
            // Dimensions of the member, in version 1 only.
            from.skip(if version == 1 { 28 } else { 0 })?;
            let head = from.rest().first().copied().ok_or(CUT)?;
            // A member must be an integer or a float.
            if head & 15 > 1 || name != expected {
                return Ok(Self::Other);
            }
            if let (Self::Number(number), _) = Self::read(from)? {
                *part = Some((offset, number));
            }
        }
        Ok(match parts {
            [Some((0, real)), Some((second, imag))]
                if real == imag && second == real.bytes as u64 && 2 * real.bytes == bytes =>
            {
                Self::Complex(real)
            }
            _ => Self::Other,
        })
    }
}

/// The dimensions of a dataspace; empty for a scalar, `[0]` for a null dataspace.
pub(super) fn dimensions(mut from: Cursor<'_>) -> Parsed<Vec<u64>> {
    let (version, rank) = (from.byte()?, from.byte()?);
    from.skip(1)?;
    match version {
        1 => from.skip(5)?,
        2 if from.byte()? == 2 => return Ok(vec![0]),
        2 => {}
        _ => return Err(CUT.into()),
    }
    let mut dims = Vec::new();
    for _ in 0..rank {
        push(&mut dims, from.length()?, "a MAT-file")?;
    }
    Ok(dims)
}

/// The dimensions of a dataset.
pub(super) fn shape(object: &Object<'_>) -> Parsed<Vec<u64>> {
    dimensions(object.one(DATASPACE)?.ok_or(CUT)?)
}

/// An attribute of one element.
struct Attribute<'a> {
    datatype: Datatype,
    content: &'a [u8],
}

/// The attribute of this name.
fn attribute<'a>(object: &Object<'a>, wanted: &str) -> Parsed<Option<Attribute<'a>>> {
    for message in object.all(ATTRIBUTE) {
        let mut message = message?;
        let (version, flags) = (message.byte()?, message.byte()?);
        let sizes = [message.short()?, message.short()?, message.short()?];
        message.skip(if version == 3 { 1 } else { 0 })?;
        let sizes = if version == 1 { sizes.map(|size| size.next_multiple_of(8)) } else { sizes };
        let name = message.take(sizes[0])?;
        if name.split(|&b| b == 0).next() != Some(wanted.as_bytes()) {
            continue;
        }
        let (mut datatype, space) = (message.part(sizes[1])?, message.part(sizes[2])?);
        if !(1..=3).contains(&version) || (version > 1 && flags & 3 != 0) {
            return Err(format!("its attribute {wanted} is stored in a way that is not read").into());
        }
        let (datatype, len) = Datatype::read(&mut datatype)?;
        if dimensions(space)?.iter().any(|&n| n != 1) {
            return Err(CUT.into());
        }
        return Ok(Some(Attribute { datatype, content: message.take(len)? }));
    }
    Ok(None)
}

/// The text of an attribute.
pub(super) fn text<'a>(object: &Object<'a>, name: &str) -> Parsed<Option<&'a [u8]>> {
    let found = attribute(object, name)?.filter(|found| found.datatype == Datatype::Text);
    Ok(found.map(|found| found.content.split(|&b| b == 0).next().unwrap_or_default()))
}

/// The value of an integer attribute. A negative one is an error.
pub(super) fn number(object: &Object<'_>, name: &str) -> Parsed<Option<u64>> {
    let Some(Attribute { datatype, content }) = attribute(object, name)? else { return Ok(None) };
    match datatype {
        Datatype::Number(number) if !number.is_float() => match number.unsigned(content) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("its attribute {name} is negative").into()),
        },
        _ => Err(CUT.into()),
    }
}
