//! Element types shared with NumPy.

use num_complex::Complex;

use crate::io::MarketValue;

/// An element type and its binary representation.
pub(super) trait Element: MarketValue {
    /// NumPy's name of the type, without byte order.
    const KIND: &'static str;
    const ZERO: Self;
    /// Bytes of a number, or of one part of a complex number.
    const PART: usize = size_of::<Self>();
    /// From little-endian bytes.
    fn from_bytes(bytes: &[u8]) -> Self;
    fn push_bytes(self, to: &mut Vec<u8>);
    /// Whether it equals 0; true for −0.
    fn is_zero(self) -> bool;
}

macro_rules! numbers {
    ($($t:ty: $kind:literal)*) => {$(
        impl Element for $t {
            const KIND: &'static str = $kind;
            const ZERO: Self = 0 as $t;
            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                let mut all = [0; size_of::<Self>()];
                all.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                Self::from_le_bytes(all)
            }
            #[inline]
            fn push_bytes(self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn is_zero(self) -> bool {
                self == Self::ZERO
            }
        }
    )*};
}
numbers! {
    i8: "i1" i16: "i2" i32: "i4" i64: "i8" u8: "u1" u16: "u2" u32: "u4" u64: "u8" f32: "f4" f64: "f8"
}

macro_rules! complex {
    ($($t:ty: $kind:literal)*) => {$(
        impl Element for Complex<$t> {
            const KIND: &'static str = $kind;
            const ZERO: Self = Self { re: 0.0, im: 0.0 };
            const PART: usize = size_of::<$t>();
            #[inline]
            fn from_bytes(bytes: &[u8]) -> Self {
                let (re, im) = bytes.split_at(Self::PART.min(bytes.len()));
                Self { re: <$t>::from_bytes(re), im: <$t>::from_bytes(im) }
            }
            #[inline]
            fn push_bytes(self, to: &mut Vec<u8>) {
                self.re.push_bytes(to);
                self.im.push_bytes(to);
            }
            #[inline]
            fn is_zero(self) -> bool {
                self == Self::ZERO
            }
        }
    )*};
}
complex! { f32: "c8" f64: "c16" }

impl Element for bool {
    const KIND: &'static str = "b1";
    const ZERO: Self = false;
    #[inline]
    fn from_bytes(bytes: &[u8]) -> Self {
        bytes.first().is_some_and(|&b| b != 0)
    }
    #[inline]
    fn push_bytes(self, to: &mut Vec<u8>) {
        to.push(self.into());
    }
    #[inline]
    fn is_zero(self) -> bool {
        !self
    }
}

/// Runs `$body` with `$t` bound to the type of this NumPy name.
macro_rules! with_kind {
    ($kind:expr, $t:ident => $body:expr, $otherwise:expr) => {
        $crate::io::numpy::element::with_kind!(@ $kind, $t, $body, $otherwise,
            (bool) (i8) (i16) (i32) (i64) (u8) (u16) (u32) (u64) (f32) (f64)
            (num_complex::Complex<f32>) (num_complex::Complex<f64>))
    };
    (@ $kind:expr, $t:ident, $body:expr, $otherwise:expr, $(($of:ty))*) => {
        match $kind {
            $(kind if kind == <$of as $crate::io::numpy::element::Element>::KIND => {
                type $t = $of;
                $body
            })*
            _ => $otherwise,
        }
    };
}
/// Runs `$body` with `$x` bound to the typed values.
macro_rules! with_values {
    ($values:expr, $x:ident => $body:expr, $otherwise:expr) => {
        $crate::io::numpy::element::with_values!(@ $values, $x, $body, $otherwise,
            (bool) (i8) (i16) (i32) (i64) (u8) (u16) (u32) (u64) (f32) (f64)
            (num_complex::Complex<f32>) (num_complex::Complex<f64>))
    };
    (@ $values:expr, $x:ident, $body:expr, $otherwise:expr, $(($of:ty))*) => {
        'found: {
            $(if let Some($x) = $values.get::<$of>() {
                break 'found $body;
            })*
            $otherwise
        }
    };
}
pub(super) use {with_kind, with_values};
