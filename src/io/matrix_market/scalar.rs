//! Parsing of the values of each field, and their conversion to matrix values.

use std::fmt::Debug;

use num_complex::Complex;

use super::banner::Symmetry;
use super::value::MarketValue;
use crate::io::text::{Bad, Cursor, not_a_number, real, signed, unsigned};

/// The parsed value type of a field. `()` stands for the field `pattern`, which has no values.
pub(super) trait Scalar: Copy + Debug + Send + Sync {
    /// Minimum bytes of a value in a line, its separator included.
    const MIN_BYTES: usize;
    /// Reads one value at the cursor.
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Bad>;
    /// Reads one value, also in the form of programs that write all numbers as reals: `3.0` for 3.
    fn read_leniently(cursor: &mut Cursor<'_>) -> Result<Self, Bad> {
        Self::read(cursor)
    }
    /// Whether the imaginary part is zero.
    #[inline(always)]
    fn is_real(self) -> bool {
        true
    }
    /// Whether the value is allowed on the diagonal of a skew-symmetric matrix.
    fn is_zero(self) -> bool;
    /// The mirrored value, if the type can represent it.
    fn mirrored(self, symmetry: Symmetry) -> Option<Self>;
    /// Converts to a matrix value.
    fn to<T: MarketValue>(self) -> Option<T>;
    /// Converts the mirrored value to a matrix value.
    fn mirrored_to<T: MarketValue>(self, symmetry: Symmetry) -> Option<T> {
        self.mirrored(symmetry).and_then(Self::to)
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
}

impl Scalar for f64 {
    const MIN_BYTES: usize = 2;
    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Bad> {
        real(cursor)
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
}

impl Scalar for i64 {
    const MIN_BYTES: usize = 2;
    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Bad> {
        signed(cursor)
    }
    fn read_leniently(cursor: &mut Cursor<'_>) -> Result<Self, Bad> {
        whole_or_real(cursor, signed, Self::from_real)
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
    fn mirrored_to<T: MarketValue>(self, symmetry: Symmetry) -> Option<T> {
        // −i64::MIN exceeds i64, but not every T.
        self.mirrored(symmetry).map_or_else(|| T::from_unsigned(self.unsigned_abs()), T::from_integer)
    }
}

impl Scalar for u64 {
    const MIN_BYTES: usize = 2;
    #[inline(always)]
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, Bad> {
        unsigned(cursor)
    }
    fn read_leniently(cursor: &mut Cursor<'_>) -> Result<Self, Bad> {
        whole_or_real(cursor, unsigned, Self::from_real)
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
}

/// The result of `read`, or an integral real number in the range where f64 represents all integers.
#[cold]
fn whole_or_real<X>(
    cursor: &mut Cursor<'_>,
    read: fn(&mut Cursor<'_>) -> Result<X, Bad>,
    from_real: fn(f64) -> Option<X>,
) -> Result<X, Bad> {
    const LARGEST: f64 = (1u64 << 53) as f64;
    let mut ahead = cursor.clone();
    let bad = match read(&mut ahead) {
        Ok(x) => {
            *cursor = ahead;
            return Ok(x);
        }
        Err(bad) => bad,
    };
    let mut ahead = cursor.clone();
    match real(&mut ahead).ok().filter(|x| x.abs() < LARGEST).and_then(from_real) {
        Some(x) => {
            *cursor = ahead;
            Ok(x)
        }
        None => Err(bad),
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<X: Scalar>(text: &str) -> Result<X, Bad> {
        X::read(&mut Cursor { text: text.as_bytes(), at: 0 })
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
