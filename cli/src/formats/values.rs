//! Values of any type as bytes and as text.

use sparring::algebra::{Plus, Slice, Value};
use sparring::num_complex::Complex;
use sparring::runtime::Matrix;
use sparring::{Coo, Csr, Error, Result, algebra::Lor};

/// A type of values that NumPy has too.
pub(crate) trait Element: Value + PartialEq + std::fmt::Debug {
    /// Its name in NumPy, without the order of bytes.
    const KIND: &'static str;
    const ZERO: Self;
    /// From bytes with the lowest first.
    fn from_bytes(bytes: &[u8]) -> Self;
    fn push_bytes(self, to: &mut Vec<u8>);
    /// Bytes of a number, two of which make a complex one.
    const PART: usize = size_of::<Self>();
    /// Repeated entries are added up, truth values joined by or.
    fn summed(coo: Coo<Self>) -> Result<Csr<Self>>;
}

/// What reads row pointers finds them: there is memory for them.
fn with_rows<T>(a: Csr<T>) -> Result<Csr<T>> {
    a.compressed()?;
    Ok(a)
}

macro_rules! numbers {
    ($($t:ty: $kind:literal)*) => {$(
        impl Element for $t {
            const KIND: &'static str = $kind;
            const ZERO: Self = 0 as $t;
            fn from_bytes(bytes: &[u8]) -> Self {
                let mut all = [0; size_of::<Self>()];
                all.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                Self::from_le_bytes(all)
            }
            fn push_bytes(self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
            fn summed(coo: Coo<Self>) -> Result<Csr<Self>> {
                with_rows(coo.to_csr(Plus::new())?)
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
            fn from_bytes(bytes: &[u8]) -> Self {
                let (re, im) = bytes.split_at(Self::PART.min(bytes.len()));
                Self { re: <$t>::from_bytes(re), im: <$t>::from_bytes(im) }
            }
            fn push_bytes(self, to: &mut Vec<u8>) {
                self.re.push_bytes(to);
                self.im.push_bytes(to);
            }
            fn summed(coo: Coo<Self>) -> Result<Csr<Self>> {
                with_rows(coo.to_csr(Plus::new())?)
            }
        }
    )*};
}
complex! { f32: "c8" f64: "c16" }

impl Element for bool {
    const KIND: &'static str = "b1";
    const ZERO: Self = false;
    fn from_bytes(bytes: &[u8]) -> Self {
        bytes.first().is_some_and(|&b| b != 0)
    }
    fn push_bytes(self, to: &mut Vec<u8>) {
        to.push(self.into());
    }
    fn summed(coo: Coo<Self>) -> Result<Csr<Self>> {
        with_rows(coo.to_csr(Lor::new())?)
    }
}

/// Runs `$body` with `$t` the type of this name in NumPy.
macro_rules! with_kind {
    ($kind:expr, $t:ident => $body:expr, $otherwise:expr) => {
        $crate::formats::values::with_kind!(@ $kind, $t, $body, $otherwise,
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 (sparring::num_complex::Complex<f32>)
            (sparring::num_complex::Complex<f64>))
    };
    (@ $kind:expr, $t:ident, $body:expr, $otherwise:expr, $($of:tt)*) => {
        match $kind {
            $(kind if kind == <$crate::formats::values::plain!($of) as $crate::formats::values::Element>::KIND => {
                type $t = $crate::formats::values::plain!($of);
                $body
            })*
            _ => $otherwise,
        }
    };
}
/// The type, without parentheses.
macro_rules! plain {
    (($t:ty)) => {
        $t
    };
    ($t:ty) => {
        $t
    };
}
/// Runs `$body` with `$x` the values of whatever type they are.
macro_rules! with_values {
    ($values:expr, $x:ident => $body:expr, $otherwise:expr) => {
        $crate::formats::values::with_values!(@ $values, $x, $body, $otherwise,
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 (sparring::num_complex::Complex<f32>)
            (sparring::num_complex::Complex<f64>))
    };
    (@ $values:expr, $x:ident, $body:expr, $otherwise:expr, $($of:tt)*) => {{
        $(if let Some($x) = $values.get::<$crate::formats::values::plain!($of)>() {
            return $body;
        })*
        $otherwise
    }};
}
pub(super) use {plain, with_kind, with_values};

/// The error for values that a format does not have.
pub(super) fn not_held(values: Slice<'_>, format: &str) -> Error {
    Error::Unsupported { what: format!("{} in {format}", values.ty()), why: "it holds real numbers".into() }
}

/// Appends a value, by its number, as text.
pub(super) type Text<'a> = Box<dyn Fn(usize, &mut Vec<u8>) + 'a>;

/// How values are written as text; `None` for complex numbers.
pub(super) fn texts(values: Slice<'_>) -> Option<Text<'_>> {
    use std::io::Write;
    if let Some(x) = values.get::<bool>() {
        return Some(Box::new(move |e, text| text.push(if x[e] { b'1' } else { b'0' })));
    }
    macro_rules! first_of {
        ($($t:ty)*) => {$(
            if let Some(x) = values.get::<$t>() {
                // Debug: the shortest text that reads as the same number. Writing to a vector does not fail.
                return Some(Box::new(move |e, text| drop(write!(text, "{:?}", x[e]))));
            }
        )*};
    }
    first_of! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
    None
}

/// A matrix of entries in any order.
pub(super) fn matrix<T: Element>(
    (nrows, ncols): (usize, usize),
    (rows, cols, values): (Vec<u32>, Vec<u32>, Vec<T>),
) -> Result<Matrix>
where
    Matrix: From<Csr<T>>,
{
    Ok(T::summed(Coo::new(nrows, ncols, rows, cols, values)?)?.into())
}

/// An index as matrices have it.
pub(super) fn narrow(i: usize) -> Result<u32> {
    let overflow = |_| Error::IndexOverflow { what: "index", needed: i as u128, max: u128::from(u32::MAX) };
    u32::try_from(i).map_err(overflow)
}
