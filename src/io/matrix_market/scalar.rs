//! How the values of one field are read from text, and what they are in a matrix.

use std::fmt::Debug;

use num_complex::Complex;

use super::banner::Symmetry;
use super::text::{Bad, Cursor, quoted};
use super::value::MarketValue;

/// How the values of one field are read from text. `()` is the field `pattern`, which has none.
pub(super) trait Scalar: Copy + Debug + Send + Sync {
    /// Fewest bytes that a value takes in a line, the blank or line end beside it included.
    const MIN_BYTES: usize;
    /// Reads one value; the cursor stands at its first byte.
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Bad>;
    /// Whether the imaginary part is zero.
    #[inline(always)]
    fn is_real(self) -> bool {
        true
    }
    /// Whether it may stand where a matrix is its own negative.
    fn is_zero(self) -> bool;
    /// The value on the other side of the diagonal, if there is one of the type.
    fn mirrored(self, symmetry: Symmetry) -> Option<Self>;
    /// As a value of a matrix.
    fn to<T: MarketValue>(self) -> Option<T>;
    /// The value on the other side of the diagonal.
    fn mirrored_to<T: MarketValue>(self, symmetry: Symmetry) -> Option<T> {
        match symmetry {
            Symmetry::SkewSymmetric => self.negated_to(),
            Symmetry::Hermitian => self.conjugate().to(),
            Symmetry::General | Symmetry::Symmetric => self.to(),
        }
    }
    /// −x.
    fn negated_to<T: MarketValue>(self) -> Option<T>;
    /// The complex conjugate.
    fn conjugate(self) -> Self {
        self
    }
}

impl Scalar for () {
    const MIN_BYTES: usize = 0;
    #[inline(always)]
    fn read(_: &mut Cursor<'_>) -> Result<Self, Bad> {
        Ok(())
    }
    fn is_zero(self) -> bool {
        true
    }
    fn mirrored(self, _: Symmetry) -> Option<Self> {
        Some(())
    }
    #[inline(always)]
    fn to<T: MarketValue>(self) -> Option<T> {
        Some(T::ONE)
    }
    // A position has one on the other side, whatever the symmetry.
    fn negated_to<T: MarketValue>(self) -> Option<T> {
        Some(T::ONE)
    }
}

impl Scalar for f64 {
    const MIN_BYTES: usize = 2;
    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Bad> {
        let start = cursor.at;
        // The parser rounds to nearest and stops where the number does; it takes one sign, which may be a plus.
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
    fn is_zero(self) -> bool {
        self == 0.0
    }
    fn mirrored(self, symmetry: Symmetry) -> Option<Self> {
        if symmetry == Symmetry::SkewSymmetric { Some(-self) } else { Some(self) }
    }
    #[inline(always)]
    fn to<T: MarketValue>(self) -> Option<T> {
        T::from_real(self)
    }
    fn negated_to<T: MarketValue>(self) -> Option<T> {
        T::from_real(-self)
    }
}

impl Scalar for i64 {
    const MIN_BYTES: usize = 2;
    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Bad> {
        let start = cursor.at;
        let minus = cursor.peek() == Some(b'-');
        if minus || cursor.peek() == Some(b'+') {
            cursor.at += 1;
        }
        let magnitude = match cursor.digits() {
            Ok(n) => n,
            Err(true) => return Err(too_large("signed", cursor.text, start)),
            Err(false) => return Err(not_a_number("a whole number", cursor.text, start)),
        };
        let x = if minus { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() };
        x.ok_or_else(|| too_large("signed", cursor.text, start))
    }
    fn is_zero(self) -> bool {
        self == 0
    }
    fn mirrored(self, symmetry: Symmetry) -> Option<Self> {
        if symmetry == Symmetry::SkewSymmetric { self.checked_neg() } else { Some(self) }
    }
    #[inline(always)]
    fn to<T: MarketValue>(self) -> Option<T> {
        T::from_integer(self)
    }
    fn negated_to<T: MarketValue>(self) -> Option<T> {
        // −i64::MIN is beyond i64, not beyond every T.
        self.checked_neg().map_or_else(|| T::from_unsigned(self.unsigned_abs()), T::from_integer)
    }
}

impl Scalar for u64 {
    const MIN_BYTES: usize = 2;
    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Bad> {
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
    fn is_zero(self) -> bool {
        self == 0
    }
    fn mirrored(self, symmetry: Symmetry) -> Option<Self> {
        (symmetry != Symmetry::SkewSymmetric).then_some(self)
    }
    #[inline(always)]
    fn to<T: MarketValue>(self) -> Option<T> {
        T::from_unsigned(self)
    }
    fn negated_to<T: MarketValue>(self) -> Option<T> {
        None
    }
}

impl Scalar for Complex<f64> {
    const MIN_BYTES: usize = 4;
    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Bad> {
        let re = f64::read(cursor)?;
        cursor.skip_blanks();
        if cursor.line_end().is_some() {
            return Err(not_a_number("a real number as the imaginary part", cursor.text, cursor.at));
        }
        Ok(Self { re, im: f64::read(cursor)? })
    }
    #[inline(always)]
    fn is_real(self) -> bool {
        self.im == 0.0
    }
    fn is_zero(self) -> bool {
        self.re == 0.0 && self.im == 0.0
    }
    fn mirrored(self, symmetry: Symmetry) -> Option<Self> {
        Some(match symmetry {
            Symmetry::SkewSymmetric => -self,
            Symmetry::Hermitian => self.conj(),
            Symmetry::General | Symmetry::Symmetric => self,
        })
    }
    #[inline(always)]
    fn to<T: MarketValue>(self) -> Option<T> {
        T::from_complex(self)
    }
    fn negated_to<T: MarketValue>(self) -> Option<T> {
        T::from_complex(-self)
    }
    fn conjugate(self) -> Self {
        self.conj()
    }
}

/// The number that the word at `start` is as Fortran writes it, with D for the exponent of its longer type: `1.5D-5`.
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
    // No letter but that one: `infinityD` is none.
    let word = &word[..len];
    if word.iter().filter(|b| b.is_ascii_alphabetic()).count() != 1 {
        return None;
    }
    cursor.at = start + len;
    if cursor.at_word_end() { fast_float2::parse(word).ok() } else { None }
}

#[cold]
fn not_a_number(kind: &str, text: &[u8], at: usize) -> Bad {
    Bad::new(at, format!("expected {kind}, found {}", quoted(text, at)))
}

#[cold]
fn too_large(kind: &str, text: &[u8], at: usize) -> Bad {
    Bad::new(at, format!("{} does not fit a 64-bit {kind} integer", quoted(text, at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<X: Scalar>(text: &str) -> Result<X, Bad> {
        X::read(&mut Cursor { text: text.as_bytes(), at: 0 })
    }

    #[test]
    fn whole_numbers_are_exact_to_the_last_one() {
        assert_eq!(read::<i64>("9223372036854775807"), Ok(i64::MAX));
        assert_eq!(read::<i64>("-9223372036854775808 "), Ok(i64::MIN));
        assert_eq!(read::<i64>("+0009223372036854775807"), Ok(i64::MAX));
        assert_eq!(read::<u64>("18446744073709551615\r"), Ok(u64::MAX));
        for text in ["9223372036854775808", "-9223372036854775809", "99999999999999999999999"] {
            assert!(read::<i64>(text).unwrap_err().message.contains("does not fit a 64-bit signed"), "{text}");
        }
        assert!(read::<u64>("18446744073709551616").unwrap_err().message.contains("unsigned"));
        for text in ["", "-", "+", "+-1", "--1", "1.0", "1e3", "0x1", "1\u{b2}", "1,", "nan"] {
            assert!(read::<i64>(text).unwrap_err().message.starts_with("expected a whole number"), "{text}");
            assert!(read::<u64>(text).is_err(), "{text}");
        }
        assert!(read::<u64>("-1").is_err());
    }

    #[test]
    fn real_numbers_round_to_nearest_and_end_with_the_word() {
        for text in ["0", "-0", "1.", ".5", "+2.5", "1e5", "1E+05", "4.9e-324", "2.2250738585072011e-308", "0.1"] {
            assert_eq!(read::<f64>(text).unwrap().to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
        assert!(read::<f64>("NaN").unwrap().is_nan());
        assert!(read::<f64>("-nan").unwrap().is_nan());
        assert_eq!(read::<f64>("Inf"), Ok(f64::INFINITY));
        assert_eq!(read::<f64>("-INFINITY"), Ok(f64::NEG_INFINITY));
        for text in [
            "", ".", "-", "e5", "1e", "1e+", "+-1", "++1", "1.2.3", "0x1p3", "nan(1)", "infin", "1d", "1e5d1", "d5",
            "1dd0", "infd1", "1,5", "--1",
        ] {
            assert!(read::<f64>(text).unwrap_err().message.starts_with("expected a real number"), "{text}");
        }
        for (text, x) in [("1D5", 1e5), ("-1.5d-05", -1.5e-5), ("+.5D+2", 50.0), ("2.D0\n", 2.0)] {
            assert_eq!(read::<f64>(text), Ok(x), "{text}");
        }
        assert!(read::<f64>("1D999").unwrap_err().message.contains("beyond the range"));
        assert!(read::<f64>(&format!("1{}D0", "0".repeat(600))).is_err());
        assert!(read::<f64>("-1e309").unwrap_err().message.contains("beyond the range"));
        assert!(read::<f64>("1e-999").unwrap() == 0.0);
    }

    #[test]
    fn a_complex_number_is_two_real_ones() {
        assert_eq!(read("1.5  -2 \n"), Ok(Complex { re: 1.5, im: -2.0 }));
        assert!(read::<Complex<f64>>("-inf\tnan").unwrap().im.is_nan());
        for (text, at, message) in [
            ("1.5", 3, "expected a real number as the imaginary part, found the end of the file"),
            ("1.5 \n2", 4, "expected a real number as the imaginary part, found the end of the line"),
            ("1.5i", 0, "expected a real number, found \"1.5i\""),
            ("1 2i", 2, "expected a real number, found \"2i\""),
            ("(1,2)", 0, "expected a real number, found \"(1,2)\""),
        ] {
            assert_eq!(read::<Complex<f64>>(text), Err(Bad::new(at, message)), "{text}");
        }
        let x = Complex { re: 1.0, im: 2.0 };
        let images = [Symmetry::Symmetric, Symmetry::Hermitian, Symmetry::SkewSymmetric].map(|s| x.mirrored_to(s));
        assert_eq!(images, [Some(x), Some(Complex { re: 1.0, im: -2.0 }), Some(-x)]);
    }
}
