//! The two types of numbers that rows are made of, told apart at run time without `unsafe`.
//!
//! What is generic in the type of the entries is a thin front; behind it stand functions that take a [`Typed`], are not
//! generic, and so are compiled once, with the library.

use std::marker::PhantomData;

use crate::algebra::Real;
use crate::{Error, Result};

/// The numbers of which rows are made: f32 and f64.
pub trait Float: Real + sealed::Sealed {
    /// What stands in the place of a sum that nothing was added to: bits that no sum of finite numbers has.
    #[doc(hidden)]
    const NOTHING: Self;
    /// Whether it is [`NOTHING`](Self::NOTHING), bit by bit.
    #[doc(hidden)]
    fn is_nothing(self) -> bool;
    /// A thing made of numbers of this type, told by it.
    #[doc(hidden)]
    fn tell<F: Form>(x: F::Of<Self>) -> Typed<F>;
    /// A thing made of numbers of this type, if it is one.
    /// # Errors
    /// The thing itself if it is made of the others.
    #[doc(hidden)]
    fn take<F: Form>(x: Typed<F>) -> std::result::Result<F::Of<Self>, Typed<F>>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A thing that is made of numbers: a slice of them, a matrix.
#[doc(hidden)]
pub trait Form {
    /// It, made of numbers of type `T`.
    type Of<T: Float>;
}

/// A thing made of f32 or of f64.
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
    fn tell<F: Form>(x: F::Of<f32>) -> Typed<F> {
        Typed::F32(x)
    }
    #[inline(always)]
    fn take<F: Form>(x: Typed<F>) -> std::result::Result<F::Of<f32>, Typed<F>> {
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
    fn tell<F: Form>(x: F::Of<f64>) -> Typed<F> {
        Typed::F64(x)
    }
    #[inline(always)]
    fn take<F: Form>(x: Typed<F>) -> std::result::Result<F::Of<f64>, Typed<F>> {
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

/// Which type `T` is.
pub(crate) fn of_type<T: Float>() -> Typed<OfType> {
    T::tell::<OfType>(PhantomData)
}

/// A thing that is known to be made of numbers of type `T`.
/// # Errors
/// [`Error::Unsupported`] if it is not.
pub(crate) fn known<T: Float, F: Form>(x: Typed<F>) -> Result<F::Of<T>> {
    let not =
        |_| Error::Unsupported { what: format!("a result in {}", T::TYPE), why: "it is of the other type".into() };
    T::take(x).map_err(not)
}
