//! Value types of matrices in Matrix Market files.

use num_complex::Complex;

use super::banner::Field;
use crate::algebra::{Value, for_each_type};

/// A value type that can be read from and written to Matrix Market files.
///
/// Implemented for all real and complex number types and `bool`; implement it for other types to read and write them.
/// The `from_…` functions return `None` if the type cannot represent the number, which ends reading with an error that
/// names the entry. Conversions: to f64 and f32, the nearest value, if finite numbers stay finite; to integers, only
/// exact values; to `bool`, whether the number differs from 0; from complex to real, only if the imaginary part is
/// zero.
#[diagnostic::on_unimplemented(
    message = "Matrix Market files hold no values of type `{Self}`",
    label = "cannot be read from or written to a Matrix Market file",
    note = "bool, the integers, f32, f64 and their complex numbers can; for a type of your own, implement `MarketValue`"
)]
pub trait MarketValue: Value {
    /// An entry of a pattern file.
    const ONE: Self;
    /// Converts an entry of a real file.
    fn from_real(x: f64) -> Option<Self>;
    /// Converts an entry of an integer file.
    fn from_integer(x: i64) -> Option<Self>;
    /// Converts an entry of an unsigned-integer file.
    fn from_unsigned(x: u64) -> Option<Self>;
    /// Converts an entry of a complex file.
    fn from_complex(x: Complex<f64>) -> Option<Self> {
        if x.im == 0.0 { Self::from_real(x.re) } else { None }
    }
    /// Combines an entry with a later duplicate `again`.
    fn repeated(self, again: Self) -> Self;
    /// [`repeated`](Self::repeated), `None` on overflow, which ends reading with an error that names the position.
    fn checked_repeated(self, again: Self) -> Option<Self> {
        Some(self.repeated(again))
    }
    /// The most specific field that represents all of `values`.
    fn field(values: &[Self]) -> Field;
    /// Appends the formatted value; reading it restores the value.
    fn write(self, text: &mut Vec<u8>);
}

macro_rules! integers {
    ($($variant:ident $t:ty),*) => {$(
        impl MarketValue for $t {
            const ONE: Self = 1;
            fn from_real(x: f64) -> Option<Self> {
                // `as` saturates and truncates, so out-of-range, fractional and NaN values do not round-trip.
                // Exception: the largest 64-bit integer, which f64 cannot represent, rounds up to the out-of-range
                // bound.
                let n = x as $t;
                (n as f64 == x && (size_of::<$t>() < 8 || n != <$t>::MAX)).then_some(n)
            }
            #[inline]
            fn from_integer(x: i64) -> Option<Self> {
                x.try_into().ok()
            }
            #[inline]
            fn from_unsigned(x: u64) -> Option<Self> {
                x.try_into().ok()
            }
            #[inline]
            fn repeated(self, again: Self) -> Self {
                self.wrapping_add(again)
            }
            #[inline]
            fn checked_repeated(self, again: Self) -> Option<Self> {
                self.checked_add(again)
            }
            fn field(values: &[Self]) -> Field {
                // Only values beyond i64 need `unsigned-integer`, which few readers support.
                if values.iter().all(|&x| i64::try_from(x).is_ok()) { Field::Integer } else { Field::Unsigned }
            }
            fn write(self, text: &mut Vec<u8>) {
                text.extend_from_slice(itoa::Buffer::new().format(self).as_bytes());
            }
        }
    )*};
}
for_each_type!(integers, integers!());

/// The nearest float, if a finite number stays finite.
macro_rules! nearest {
    ($x:expr, $t:ty) => {{
        let nearest = $x as $t;
        (nearest.is_finite() || !$x.is_finite()).then_some(nearest)
    }};
}

macro_rules! reals {
    ($($t:ty)*) => {$(
        impl MarketValue for $t {
            const ONE: Self = 1.0;
            #[inline]
            fn from_real(x: f64) -> Option<Self> {
                nearest!(x, $t)
            }
            #[inline]
            fn from_integer(x: i64) -> Option<Self> {
                Some(x as $t)
            }
            #[inline]
            fn from_unsigned(x: u64) -> Option<Self> {
                Some(x as $t)
            }
            #[inline]
            fn repeated(self, again: Self) -> Self {
                self + again
            }
            fn field(_: &[Self]) -> Field {
                Field::Real
            }
            fn write(self, text: &mut Vec<u8>) {
                if self.is_finite() {
                    let mut buffer = zmij::Buffer::new();
                    let mut digits = buffer.format_finite(self);
                    // Readers parse an f64 and round it to f32. If this double rounding missed the value, the shortest
                    // digits of the value as f64 are written instead.
                    if size_of::<$t>() == 4 && fast_float2::parse::<f64, _>(digits).map(|x| x as $t) != Ok(self) {
                        digits = buffer.format_finite(f64::from(self));
                    }
                    text.extend_from_slice(digits.as_bytes());
                } else if self.is_nan() {
                    text.extend_from_slice(b"nan");
                } else {
                    text.extend_from_slice(if self > 0.0 { b"inf" } else { b"-inf" });
                }
            }
        }
    )*};
}
reals! { f32 f64 }

macro_rules! complex {
    ($($t:ty)*) => {$(
        impl MarketValue for Complex<$t> {
            const ONE: Self = Self { re: 1.0, im: 0.0 };
            #[inline]
            fn from_real(x: f64) -> Option<Self> {
                Some(Self { re: nearest!(x, $t)?, im: 0.0 })
            }
            #[inline]
            fn from_integer(x: i64) -> Option<Self> {
                Some(Self { re: x as $t, im: 0.0 })
            }
            #[inline]
            fn from_unsigned(x: u64) -> Option<Self> {
                Some(Self { re: x as $t, im: 0.0 })
            }
            #[inline]
            fn from_complex(x: Complex<f64>) -> Option<Self> {
                Some(Self { re: nearest!(x.re, $t)?, im: nearest!(x.im, $t)? })
            }
            #[inline]
            fn repeated(self, again: Self) -> Self {
                self + again
            }
            fn field(_: &[Self]) -> Field {
                Field::Complex
            }
            fn write(self, text: &mut Vec<u8>) {
                MarketValue::write(self.re, text);
                text.push(b' ');
                MarketValue::write(self.im, text);
            }
        }
    )*};
}
complex! { f32 f64 }

impl MarketValue for bool {
    const ONE: Self = true;
    fn from_real(x: f64) -> Option<Self> {
        Some(x != 0.0)
    }
    fn from_integer(x: i64) -> Option<Self> {
        Some(x != 0)
    }
    fn from_unsigned(x: u64) -> Option<Self> {
        Some(x != 0)
    }
    fn from_complex(x: Complex<f64>) -> Option<Self> {
        Some(x.re != 0.0 || x.im != 0.0)
    }
    #[inline]
    fn repeated(self, again: Self) -> Self {
        self | again
    }
    fn field(values: &[Self]) -> Field {
        // An explicit false is an entry, which a pattern file would turn into true.
        if values.iter().all(|&x| x) { Field::Pattern } else { Field::Integer }
    }
    fn write(self, text: &mut Vec<u8>) {
        text.push(if self { b'1' } else { b'0' });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_takes_a_real_only_if_it_holds_it() {
        assert_eq!(i8::from_real(-128.0), Some(-128));
        assert_eq!(i8::from_real(127.0), Some(127));
        assert_eq!(i8::from_real(128.0), None);
        assert_eq!(u8::from_real(-1.0), None);
        assert_eq!(u8::from_real(0.5), None);
        assert_eq!(i32::from_real(f64::NAN), None);
        assert_eq!(i64::from_real(f64::INFINITY), None);
        assert_eq!(i64::from_real(-(2f64.powi(63))), Some(i64::MIN));
        assert_eq!(i64::from_real(2f64.powi(63)), None);
        assert_eq!(i64::from_real(2f64.powi(63) - 1024.0), Some(i64::MAX - 1023));
        assert_eq!(u64::from_real(2f64.powi(64)), None);
        assert_eq!(u64::from_real(2f64.powi(64) - 2048.0), Some(u64::MAX - 2047));
    }
}
