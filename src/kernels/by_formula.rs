//! Kernels of semirings known at run time: fused loops for the most common ones, unfused kernels for all others.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::staged::Staged;
use super::unfused::{Unfused, no_structs};
use super::{CompiledRing, Numeric, Products, Sums, VectorProducts, sums};
use crate::algebra::words::{from_words, words_mut};
use crate::algebra::*;
use crate::num_complex::Complex;
use crate::sparse::EffectiveMask;
use crate::{Csr, Error, Pattern, Result};

/// An operand: its pattern, its values, and the matrix itself, a `Csr` of the values' type.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    pub(crate) pattern: &'a Arc<Pattern>,
    pub(crate) values: Slice<'a>,
    pub(crate) csr: &'a dyn Any,
}

/// Runs the body with `$T` bound to the type of that name, or `$other` for a struct.
macro_rules! with_type {
    ($ty:expr, $T:ident => $body:expr, $other:expr) => {
        $crate::algebra::for_each_type!(numbers, with_type!(@ $ty, $T, $body, $other,))
    };
    (@ $ty:expr, $T:ident, $body:expr, $other:expr, $($variant:ident $t:ty),*) => {
        match $ty {
            $($crate::algebra::Type::$variant => {
                type $T = $t;
                $body
            })*
            $crate::algebra::Type::Struct(_) => $other,
        }
    };
}
pub(crate) use with_type;

/// New values over the semiring `ring`.
/// # Errors
/// [`Error::Argument`] if ⊗ takes other types than the operands', [`Error::Unsupported`] for structs; those of the
/// phase.
pub(crate) fn numeric_by_formula<N: Numeric<u32>>(
    ring: &CompiledRing,
    a: Operand<'_>,
    b: Operand<'_>,
    phase: &N,
) -> Result<(N::Structure, Array)> {
    check(ring.formula(), a.values.ty(), b.values.ty())?;
    if let Some(found) = fused(ring, a, b, &mut New(phase)) {
        return found;
    }
    with_type!(ring.ty(), T => {
        let (found, made) = phase.make(&staged(ring.unfused::<T>()?, a, b))?;
        // SAFETY: 1. `make` has no words but copies of those that the kernel returned or wrote (`Numeric`); 2. these
        // are values of type T (`Unfused`).
        Ok((found, Array::of(unsafe { from_words::<T>(made) })))
    }, Err(no_structs()))
}

/// Values over the semiring `ring`, overwriting `c`, which is of its type.
/// # Errors
/// As for [`numeric_by_formula`].
pub(crate) fn numeric_into_by_formula<N: super::NumericInto<u32>>(
    ring: &CompiledRing,
    a: Operand<'_>,
    b: Operand<'_>,
    phase: &N,
    c: &mut SliceMut<'_>,
) -> Result<()> {
    check(ring.formula(), a.values.ty(), b.values.ty())?;
    if c.ty() != ring.ty() {
        let message = format!("the semiring gives {}, these values are {}", ring.ty(), c.ty());
        return Err(Error::Argument { name: "c", message });
    }
    if let Some(done) = fused(ring, a, b, &mut Overwrite(phase, c)) {
        return done;
    }
    with_type!(ring.ty(), T => {
        let kernels = ring.unfused::<T>()?;
        let Some(c) = c.get::<T>() else { return Err(no_structs()) };
        // SAFETY: as above; `numeric_into` has no words but those of these values and of the kernel.
        phase.numeric_into(&staged(kernels, a, b), unsafe { words_mut(c) })
    }, Err(no_structs()))
}

/// Refuses operands of other types than those that ⊗ takes.
pub(super) fn check(ring: &RingFormula, a: Type, b: Type) -> Result<()> {
    let parameters = ring.mul().parameters();
    for (name, found) in [("a", a), ("b", b)] {
        let takes = parameters.iter().find(|p| &*p.0 == name).map_or(found, |p| p.1);
        if ring.mul().reads(name) && takes != found {
            let message = format!("its values are {found}, but ⊗ takes {takes}");
            return Err(Error::Argument { name: if name == "a" { "a" } else { "b" }, message });
        }
    }
    Ok(())
}

/// Work to run with fused loops.
trait Run {
    type Out;
    fn run<R: Semiring>(&mut self, products: &Products<'_, R, u32>) -> Result<Self::Out>;
}
struct New<'p, N>(&'p N);
impl<N: Numeric<u32>> Run for New<'_, N> {
    type Out = (N::Structure, Array);
    fn run<R: Semiring>(&mut self, products: &Products<'_, R, u32>) -> Result<Self::Out> {
        let (found, values) = super::numeric(products, self.0)?;
        Ok((found, Array::of(values)))
    }
}
struct Overwrite<'p, 'c, 's, N>(&'p N, &'c mut SliceMut<'s>);
impl<N: super::NumericInto<u32>> Run for Overwrite<'_, '_, '_, N> {
    type Out = ();
    fn run<R: Semiring>(&mut self, products: &Products<'_, R, u32>) -> Result<()> {
        let Some(c) = self.1.get::<Out<R>>() else { return Err(no_structs()) };
        super::numeric_into(products, self.0, c)
    }
}

/// A semiring with fused loops: one of the most common in products. Holds its index in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fused(u32);

macro_rules! fused {
    ($($number:literal $ring:ty;)*) => {
        impl Fused {
            /// The index of the semiring in the table, if it has fused loops.
            pub(super) fn of(ring: &RingFormula) -> Option<Self> {
                static TABLE: OnceLock<HashMap<RingFormula, u32>> = OnceLock::new();
                let table = TABLE.get_or_init(|| HashMap::from([$((RingFormula::of(<$ring>::new()), $number)),*]));
                table.get(ring).copied().map(Self)
            }
        }
        /// Runs with the fused loops of the semiring, if it has any.
        fn fused<X: Run>(ring: &CompiledRing, a: Operand<'_>, b: Operand<'_>, run: &mut X) -> Option<Result<X::Out>> {
            match ring.fused()?.0 {
                $($number => {
                    let a = a.csr.downcast_ref::<Csr<Lhs<$ring>>>()?;
                    let b = b.csr.downcast_ref::<Csr<Rhs<$ring>>>()?;
                    Some(run.run(&Products::new(<$ring>::new(), a, b)))
                })*
                _ => None,
            }
        }
        /// [`fused`] for the sums of a vector times a matrix.
        pub(super) fn fused_sums(
            ring: &CompiledRing,
            (ks, xs): (&[u32], Slice<'_>),
            a: Operand<'_>,
            mask: Option<EffectiveMask<'_, u32>>,
            strategy: &impl Sums<u32>,
        ) -> Option<Result<(Vec<u32>, Array)>> {
            match ring.fused()?.0 {
                $($number => {
                    let a = a.csr.downcast_ref::<Csr<Rhs<$ring>>>()?;
                    let x = (ks, xs.get::<Lhs<$ring>>()?);
                    let made = sums(&VectorProducts { ring: <$ring>::new(), x, a, mask }, strategy);
                    Some(made.map(|(columns, sums)| (columns, Array::of(sums))))
                })*
                _ => None,
            }
        }
    };
}
impl Fused {
    /// [`PlusTimes`] on f64, and on f32.
    pub(super) const PLUS_TIMES: [Self; 2] = [Self(0), Self(1)];
}
fused! {
    0 PlusTimes<f64>;
    1 PlusTimes<f32>;
    2 PlusTimes<i64>;
    3 PlusTimes<i32>;
    4 PlusTimes<u64>;
    5 MinPlus<f64>;
    6 MinPlus<f32>;
    7 MinPlus<i64>;
    8 MaxPlus<f64>;
    9 MaxTimes<f64>;
    10 PlusPair<f64>;
    11 PlusPair<i64>;
    12 PlusFirst<f64>;
    13 PlusSecond<f64>;
    14 LorLand<bool>;
    15 AnyPair<bool>;
    16 LorLand<f64>;
    17 MinSecondI<f64>;
    18 PlusTimes<Complex<f64>>;
}

fn staged<'a, T: Value>(kernels: &'a Unfused<T>, a: Operand<'a>, b: Operand<'a>) -> Staged<'a, T::Word> {
    // SAFETY: ⊕ is on T, ⊗ returns T and takes the operands' types (`check`).
    unsafe { Staged::new((a.pattern, a.values), (b.pattern, b.values), kernels.fold(), kernels) }
}
