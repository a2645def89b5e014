//! The two types of entries, distinguished at run time without `unsafe`.
//!
//! Generic functions are a thin layer. The functions behind them take a [`Typed`], are not generic, and so are compiled
//! once, with the library.

use std::marker::PhantomData;

use crate::algebra::Real;
use crate::{Error, Result};

/// The types of entries: f32 and f64.
pub trait Float: Real + sealed::Sealed {
    /// Marks a sum to which nothing was added: a NaN payload that no sum of finite numbers has.
    #[doc(hidden)]
    const NOTHING: Self;
    /// Whether it is [`NOTHING`](Self::NOTHING), bit by bit.
    #[doc(hidden)]
    fn is_nothing(self) -> bool;
    /// Wraps a value made of numbers of this type.
    #[doc(hidden)]
    fn into_typed<F: Form>(x: F::Of<Self>) -> Typed<F>;
    /// Unwraps a value made of numbers of this type.
    /// # Errors
    /// The value itself if it is made of the other type.
    #[doc(hidden)]
    fn from_typed<F: Form>(x: Typed<F>) -> std::result::Result<F::Of<Self>, Typed<F>>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A family of values made of numbers, such as a slice or a matrix.
#[doc(hidden)]
pub trait Form {
    /// The member made of numbers of type `T`.
    type Of<T: Float>;
}

/// A value made of f32 or of f64.
#[doc(hidden)]
#[allow(missing_debug_implementations)]
pub enum Typed<F: Form> {
    F32(F::Of<f32>),
    F64(F::Of<f64>),
}

impl Float for f32 {
    const NOTHING: Self = f32::from_bits(0x7fc0_5a3e);
    #[inline(always)]
    fn is_nothing(self) -> bool {
        self.to_bits() == Self::NOTHING.to_bits()
    }
    #[inline(always)]
    fn into_typed<F: Form>(x: F::Of<f32>) -> Typed<F> {
        Typed::F32(x)
    }
    #[inline(always)]
    fn from_typed<F: Form>(x: Typed<F>) -> std::result::Result<F::Of<f32>, Typed<F>> {
        match x {
            Typed::F32(x) => Ok(x),
            Typed::F64(_) => Err(x),
        }
    }
}

impl Float for f64 {
    const NOTHING: Self = f64::from_bits(0x7ff8_0000_05a3_e000);
    #[inline(always)]
    fn is_nothing(self) -> bool {
        self.to_bits() == Self::NOTHING.to_bits()
    }
    #[inline(always)]
    fn into_typed<F: Form>(x: F::Of<f64>) -> Typed<F> {
        Typed::F64(x)
    }
    #[inline(always)]
    fn from_typed<F: Form>(x: Typed<F>) -> std::result::Result<F::Of<f64>, Typed<F>> {
        match x {
            Typed::F64(x) => Ok(x),
            Typed::F32(_) => Err(x),
        }
    }
}

/// A type alone, as a [`Form`].
pub(crate) struct OfType;

impl Form for OfType {
    type Of<T: Float> = PhantomData<T>;
}

/// The tag of type `T`.
pub(crate) fn of_type<T: Float>() -> Typed<OfType> {
    T::into_typed::<OfType>(PhantomData)
}

/// Unwraps a value that should be made of numbers of type `T`.
/// # Errors
/// [`Error::Unsupported`] if it is made of the other type.
pub(crate) fn known<T: Float, F: Form>(x: Typed<F>) -> Result<F::Of<T>> {
    let not =
        |_| Error::Unsupported { what: format!("a result in {}", T::TYPE), why: "it is of the other type".into() };
    T::from_typed(x).map_err(not)
}
