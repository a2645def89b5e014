//! Number parsing. The cursor is at the first byte of a number before a call, and after its last byte afterwards.

use super::cursor::{Bad, Cursor, digits_before, quoted, short_number};

/// A real number: the decimal syntax of `strtod`, `nan` and `inf`, and Fortran's `1D5`.
#[inline(always)]
pub(crate) fn real(cursor: &mut Cursor<'_>) -> Result<f64, Bad> {
    if let Some((x, len)) = cursor.text.get(cursor.at..).and_then(short_real) {
        cursor.at += len;
        return Ok(x);
    }
    let start = cursor.at;
    // The parser rounds to nearest, stops at the end of the number, and accepts one sign, plus or minus.
    let Ok((mut x, len)) = fast_float2::parse_partial::<f64, _>(&cursor.text[start..]) else {
        return Err(not_a_number("a real number", cursor.text, start));
    };
    cursor.at += len;
    if !cursor.at_word_end() {
        x = fortran(cursor, start).ok_or_else(|| not_a_number("a real number", cursor.text, start))?;
    }
    if x.is_infinite() && cursor.text[start..cursor.at].iter().any(u8::is_ascii_digit) {
        let word = quoted(cursor.text, start);
        return Err(Bad::new(start, format!("{word} is beyond the range of a 64-bit real number")));
    }
    Ok(x)
}

/// A number of up to seven digits before and seven digits after the decimal point, and its length, if the word ends
/// there.
///
/// m / 10ᵏ with m < 2⁵³ and k ≤ 22 is rounded only once, hence correctly. Source: Clinger 1990, "How to read
/// floating point numbers accurately".
#[inline(always)]
fn short_real(text: &[u8]) -> Option<(f64, usize)> {
    const POWERS: [f64; 8] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];
    const WHOLE: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];
    let minus = usize::from(*text.first()? == b'-');
    let (whole, digits) = digits_before(&text[minus..])?;
    let point = minus + digits;
    let (m, len, behind) = if text[point] == b'.' {
        let (part, behind) = short_number(&text[point + 1..])?;
        (whole * WHOLE[behind] + part, point + 1 + behind, behind)
    } else if matches!(text[point], b' ' | b'\n' | b'\t' | b'\r') {
        (whole, point, 0)
    } else {
        return None;
    };
    let x = m as f64 / POWERS[behind];
    Some((if minus == 1 { -x } else { x }, len))
}

/// An integer that fits i64.
#[inline(always)]
pub(crate) fn signed(cursor: &mut Cursor<'_>) -> Result<i64, Bad> {
    let start = cursor.at;
    match whole(cursor) {
        Ok(x) => i64::try_from(x).map_err(|_| too_large("signed", cursor.text, start)),
        Err(true) => Err(too_large("signed", cursor.text, start)),
        Err(false) => Err(not_a_number("a whole number", cursor.text, start)),
    }
}

/// A nonnegative integer that fits u64.
#[inline(always)]
pub(crate) fn unsigned(cursor: &mut Cursor<'_>) -> Result<u64, Bad> {
    let start = cursor.at;
    if cursor.peek() == Some(b'+') {
        cursor.at += 1;
    }
    match cursor.digits() {
        Ok(n) => Ok(n),
        Err(true) => Err(too_large("unsigned", cursor.text, start)),
        Err(false) => Err(not_a_number("an unsigned whole number", cursor.text, start)),
    }
}

/// A 64-bit integer with optional sign. `Err(true)`: the magnitude exceeds 64 bits; `Err(false)`: not an integer.
#[inline(always)]
pub(crate) fn whole(cursor: &mut Cursor<'_>) -> Result<i128, bool> {
    let minus = cursor.peek() == Some(b'-');
    if minus || cursor.peek() == Some(b'+') {
        cursor.at += 1;
    }
    let magnitude = i128::from(cursor.digits()?);
    Ok(if minus { -magnitude } else { magnitude })
}

/// The word at `start` as a Fortran double-precision literal, with exponent letter D: `1.5D-5`.
#[cold]
fn fortran(cursor: &mut Cursor<'_>, start: usize) -> Option<f64> {
    const LONGEST: usize = 512;
    let mut word = [0; LONGEST];
    let found = cursor.text[start..].iter().take_while(|b| !b.is_ascii_whitespace());
    let mut len = 0;
    for (to, byte) in word.iter_mut().zip(found) {
        *to = if matches!(byte, b'd' | b'D') { b'e' } else { *byte };
        len += 1;
    }
    // The exponent letter must be the only one: `infinityD` is not a number.
    let word = &word[..len];
    if word.iter().filter(|b| b.is_ascii_alphabetic()).count() != 1 {
        return None;
    }
    cursor.at = start + len;
    if cursor.at_word_end() { fast_float2::parse(word).ok() } else { None }
}

/// The error for a missing number of this kind at `text[at]`.
#[cold]
pub(crate) fn not_a_number(kind: &str, text: &[u8], at: usize) -> Bad {
    Bad::new(at, format!("expected {kind}, found {}", quoted(text, at)))
}

#[cold]
fn too_large(kind: &str, text: &[u8], at: usize) -> Bad {
    Bad::new(at, format!("{} does not fit a 64-bit {kind} integer", quoted(text, at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<X>(number: fn(&mut Cursor<'_>) -> X, text: &str) -> X {
        number(&mut Cursor { text: text.as_bytes(), at: 0 })
    }

    #[test]
    fn whole_numbers_are_exact_to_the_last_one() {
        assert_eq!(read(signed, "9223372036854775807"), Ok(i64::MAX));
        assert_eq!(read(signed, "-9223372036854775808 "), Ok(i64::MIN));
        assert_eq!(read(signed, "+0009223372036854775807"), Ok(i64::MAX));
        assert_eq!(read(unsigned, "18446744073709551615\r"), Ok(u64::MAX));
        assert_eq!(read(whole, "18446744073709551615\t"), Ok(u64::MAX.into()));
        assert_eq!(read(whole, "-18446744073709551615\n"), Ok(-i128::from(u64::MAX)));
        for text in ["9223372036854775808", "-9223372036854775809", "99999999999999999999999"] {
            assert!(read(signed, text).unwrap_err().message.contains("does not fit a 64-bit signed"), "{text}");
        }
        assert!(read(unsigned, "18446744073709551616").unwrap_err().message.contains("unsigned"));
        assert_eq!(read(whole, "18446744073709551616"), Err(true));
        for text in ["", "-", "+", "+-1", "--1", "1.0", "1e3", "0x1", "1\u{b2}", "1,", "nan"] {
            assert!(read(signed, text).unwrap_err().message.starts_with("expected a whole number"), "{text}");
            assert!(read(unsigned, text).is_err(), "{text}");
            assert_eq!(read(whole, text), Err(false), "{text}");
        }
        assert!(read(unsigned, "-1").is_err());
    }

    /// With all separators that occur in files: bitwise equal to the standard library.
    #[test]
    fn short_numbers_round_to_nearest() {
        let mut state = 1u64;
        let mut next = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..if cfg!(miri) { 50 } else { 20_000 } {
            let digits = next(9) as u32;
            let whole = next(10u64.pow(digits));
            let behind = next(10) as usize;
            let part = next(10u64.pow(behind as u32));
            let sign = ["", "-", "+"][next(3) as usize];
            let text = match next(4) {
                0 => format!("{sign}{whole}"),
                1 => format!("{sign}{whole}."),
                2 => format!("{sign}{whole}.{part:0behind$}e{}", next(40)),
                _ => format!("{sign}{whole}.{part:0behind$}"),
            };
            let want = text.parse::<f64>().unwrap().to_bits();
            for end in ["", " ", "\n", "\r\n", "\t1 2 3 4 5"] {
                let line = format!("{text}{end}");
                let mut cursor = Cursor { text: line.as_bytes(), at: 0 };
                assert_eq!(real(&mut cursor).unwrap().to_bits(), want, "{line:?}");
                assert_eq!(cursor.at, text.len());
                let line = format!("{text}{end}        8");
                if !end.is_empty() {
                    assert_eq!(read(real, &line).unwrap().to_bits(), want, "{line:?}");
                }
            }
        }
        assert_eq!(read(real, "-0.000        ").unwrap().to_bits(), (-0.0f64).to_bits());
        for text in
            ["1.5x       ", "1..5       ", "1.5.       ", "-x1        ", "--1        ", ".          ", "-.         "]
        {
            assert!(read(real, text).is_err(), "{text}");
        }
    }

    #[test]
    fn real_numbers_round_to_nearest_and_end_with_the_word() {
        for text in ["0", "-0", "1.", ".5", "+2.5", "1e5", "1E+05", "4.9e-324", "2.2250738585072011e-308", "0.1"] {
            assert_eq!(read(real, text).unwrap().to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
        assert!(read(real, "NaN").unwrap().is_nan());
        assert!(read(real, "-nan").unwrap().is_nan());
        assert_eq!(read(real, "Inf"), Ok(f64::INFINITY));
        assert_eq!(read(real, "-INFINITY"), Ok(f64::NEG_INFINITY));
        for text in [
            "", ".", "-", "e5", "1e", "1e+", "+-1", "++1", "1.2.3", "0x1p3", "nan(1)", "infin", "1d", "1e5d1", "d5",
            "1dd0", "infd1", "1,5", "--1",
        ] {
            assert!(read(real, text).unwrap_err().message.starts_with("expected a real number"), "{text}");
        }
        for (text, x) in [("1D5", 1e5), ("-1.5d-05", -1.5e-5), ("+.5D+2", 50.0), ("2.D0\n", 2.0)] {
            assert_eq!(read(real, text), Ok(x), "{text}");
        }
        assert!(read(real, "1D999").unwrap_err().message.contains("beyond the range"));
        assert!(read(real, &format!("1{}D0", "0".repeat(600))).is_err());
        assert!(read(real, "-1e309").unwrap_err().message.contains("beyond the range"));
        assert!(read(real, "1e-999").unwrap() == 0.0);
    }
}
