//! How a measure is computed, in words that do not depend on its type.

use crate::algebra::{Monoid, MulOp, Real, Union, Value};
use crate::distance::{Measure, Options, Recipe, Visitor, emit_recipe};
use crate::{Error, Result};

/// A ⊕ that is +: one pass over common columns.
#[derive(Clone, Debug)]
pub(super) struct OnePass {
    /// `struct Ring`, `struct Exact` and `struct Recipe` in CUDA.
    pub(super) text: String,
    /// Whether it is computed in f64, else in f32.
    pub(super) double: bool,
    /// Whether it wants the number of common columns.
    pub(super) counts: bool,
    pub(super) symmetric: bool,
}

/// How a measure is computed.
pub(super) enum Way {
    OnePass(OnePass),
    Chebyshev { double: bool },
}

struct ToWay {
    name: String,
}

impl Visitor for ToWay {
    type Out = Result<Way>;

    fn one_pass<R: Recipe>(self, recipe: R) -> Result<Way> {
        Ok(Way::OnePass(OnePass {
            text: emit_recipe(recipe),
            double: is_double::<R::W>(),
            counts: R::COUNTS,
            symmetric: R::SYMMETRIC,
        }))
    }
    fn chebyshev<W: Real>(self) -> Result<Way> {
        Ok(Way::Chebyshev { double: is_double::<W>() })
    }
    fn two_pass<W: Real, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>>(self, _: Union<P, X>) -> Result<Way> {
        let why = "its ⊕ is not +, which takes two passes over the union; the CPU has them".into();
        Err(Error::Unsupported { what: format!("{} on the device", self.name), why })
    }
}

fn is_double<W: Value>() -> bool {
    W::CUDA == f64::CUDA
}

/// The way of `measure` on entries of type `T`.
/// # Errors
/// [`Error::Argument`] for a parameter outside its domain, [`Error::Unsupported`].
pub(super) fn way<T: Real, M: Measure>(measure: &M, options: &Options) -> Result<Way> {
    measure.visit::<T, _>(options, ToWay { name: measure.name() })?
}
