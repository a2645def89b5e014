//! How a measure is computed, in words that do not depend on its type.

use std::marker::PhantomData;

use super::engine::Way;
use crate::Result;
use crate::algebra::{AbsDiff, MaxFromZero, Monoid, MulOp, Real, Union, Value, emit_contract_as};
use crate::distance::{Measure, Options, Recipe, Visitor, emit_recipe};

/// One pass over common columns.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    /// `struct Exact` and `struct Recipe` in CUDA, and `struct Ring` or `CHEBYSHEV`.
    pub(super) text: String,
    /// Whether it is computed in f64, else in f32.
    pub(super) double: bool,
    /// What is kept beside the entries.
    pub(super) keeps: Keeps,
    /// d(x, y) = d(y, x), and rows are prepared in the same way on either side.
    pub(super) symmetric: bool,
}

/// What is kept beside the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Two norms of each row; a pair keeps a sum.
    Norms,
    /// Two norms of each row; a pair keeps a sum and the number of common columns.
    NormsAndCounts,
    /// Ranks of entries and the largest magnitudes of each row; a pair keeps a maximum and two masks.
    Ranks,
}

impl Pass {
    /// Bytes of shared memory of a pair.
    pub(super) fn bytes_of_pair(&self) -> u32 {
        let sum = if self.double { 8 } else { 4 };
        match self.keeps {
            Keeps::Norms => sum,
            Keeps::NormsAndCounts => sum + 4,
            Keeps::Ranks => sum + 8,
        }
    }
    /// The pass of a recipe.
    pub(super) fn of<R: Recipe>(recipe: R) -> Self {
        Self {
            text: emit_recipe(recipe),
            double: is_double::<R::W>(),
            keeps: if R::COUNTS { Keeps::NormsAndCounts } else { Keeps::Norms },
            symmetric: R::SYMMETRIC,
        }
    }
    /// The pass of the largest difference.
    pub(super) fn chebyshev<W: Real>() -> Self {
        let exact = emit_contract_as("Exact", Union(MaxFromZero::<W>::new(), AbsDiff::<W>::new()));
        let w = W::CUDA;
        let recipe = format!(
            "struct Recipe {{\n  using W = {w};\n  static constexpr bool zero_self = true;\n  \
             static __device__ {w} finish({w} key) {{ return key; }}\n}};\n"
        );
        Self {
            text: format!("#define CHEBYSHEV\n{exact}{recipe}"),
            double: is_double::<W>(),
            keeps: Keeps::Ranks,
            symmetric: true,
        }
    }
}

fn is_double<W: Value>() -> bool {
    W::CUDA == f64::CUDA
}

/// Hides what a measure is computed in.
struct ToWay<T>(PhantomData<T>);

impl<T: Real> Visitor for ToWay<T> {
    type Out = Box<dyn Way<T>>;

    fn one_pass<R: Recipe>(self, recipe: R) -> Self::Out {
        Box::new(Pass::of(recipe))
    }
    fn chebyshev<W: Real>(self) -> Self::Out {
        Box::new(Pass::chebyshev::<W>())
    }
    fn two_pass<W: Real, P: Monoid<Out = W>, X: MulOp<A = W, B = W, Out = W>>(self, namm: Union<P, X>) -> Self::Out {
        Box::new(namm)
    }
}

/// How `measure` is computed on entries of type `T`.
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) for a parameter outside its domain.
pub(super) fn way_of<T: Real, M: Measure>(measure: &M, options: &Options) -> Result<Box<dyn Way<T>>> {
    measure.visit::<T, _>(options, ToWay(PhantomData))
}
