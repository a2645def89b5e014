//! Parsing of index lists and scalars.

use sparring::Error;
use sparring::algebra::Type;
use sparring::runtime::{IndexList, Scalar};

/// Parses a list of rows or columns.
pub(super) fn index_list(name: &'static str, text: &str, n: usize) -> sparring::Result<IndexList> {
    if text == ":" {
        return Ok(IndexList::all());
    }
    let bad = |part: &str, why: &str| Error::Argument {
        name,
        message: format!("{part:?} {why}; expected indices from 0 and ranges START:STOP:STEP, as 0:10,12 or ::2"),
    };
    let whole = |part: &str, text: &str| text.parse::<usize>().map_err(|_| bad(part, "is not an index"));
    // Start, step and number of indices.
    let range = |part: &str| -> sparring::Result<(usize, isize, usize)> {
        let fields: Vec<&str> = part.split(':').collect();
        let (start, stop, step) = match fields[..] {
            [one] => return Ok((whole(part, one)?, 1, 1)),
            [start, stop] => (start, stop, ""),
            [start, stop, step] => (start, stop, step),
            _ => return Err(bad(part, "is not a range")),
        };
        let step = match step {
            "" => 1,
            step => step.parse::<isize>().ok().filter(|s| *s != 0).ok_or_else(|| bad(part, "has no valid step"))?,
        };
        let last = n.saturating_sub(1);
        let start = if start.is_empty() { if step > 0 { 0 } else { last } } else { whole(part, start)? };
        let stop = match stop {
            "" if step > 0 => n as i128,
            "" => -i128::from(n > 0),
            stop => whole(part, stop)? as i128,
        };
        let (reach, by) = ((stop - start as i128) * step.signum() as i128, step.unsigned_abs() as i128);
        let len = usize::try_from((reach + by - 1).max(0) / by).map_err(|_| bad(part, "has too many indices"))?;
        Ok((start, step, len))
    };
    if !text.contains(',') {
        let (start, step, len) = range(text)?;
        return Ok(IndexList::strided(start, step, len));
    }
    let mut list = Vec::new();
    for part in text.split(',') {
        let (start, step, len) = range(part)?;
        // Positions are counted from the beginning of the whole list.
        let indices = IndexList::strided(start, step, len).to_vec(name, n).map_err(|e| match e {
            Error::ListIndex { list: name, index, position, bound } => {
                Error::ListIndex { list: name, index, position: list.len() + position, bound }
            }
            e => e,
        });
        list.extend(indices?);
    }
    Ok(list.into())
}

/// Parses a scalar for an operator.
pub(super) fn scalar(name: &'static str, text: &str, ty: Type) -> sparring::Result<Scalar> {
    let negative = text.strip_prefix('-').filter(|_| matches!(ty, Type::U8 | Type::U16 | Type::U32 | Type::U64));
    if negative.is_some() {
        return Err(Error::Argument { name, message: format!("{text} is below 0, and values are {ty}") });
    }
    Scalar::parse(text, ty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_like_slices() {
        let of = |text: &str, n| index_list("--rows", text, n).and_then(|list| list.to_vec("--rows", n));
        for (text, want) in [
            (":", &[0, 1, 2, 3, 4][..]),
            ("1:3", &[1, 2]),
            ("::2", &[0, 2, 4]),
            ("::-1", &[4, 3, 2, 1, 0]),
            ("3:0:-2", &[3, 1]),
            ("2:2", &[]),
            ("4,0:2,4", &[4, 0, 1, 4]),
        ] {
            assert_eq!(of(text, 5).unwrap(), want, "{text}");
        }
        assert_eq!(of(":", 0).unwrap(), [0; 0]);
        assert_eq!(of("::-1", 0).unwrap_or_default(), [0; 0]);
        for text in ["", "x", "1:9", "5", "-1", "0:2:0", "1:2:3:4", "1,,2"] {
            let error = of(text, 5).unwrap_err().to_string();
            assert!(error.starts_with("--rows: "), "{text}: {error}");
        }
        let error = of("0:3,9", 5).unwrap_err().to_string();
        assert!(error.contains("index 9 at position 3"), "{error}");
    }
}
