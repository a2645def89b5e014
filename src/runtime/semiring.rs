//! A semiring by name or by formula.

use std::fmt;
use std::sync::Arc;

use super::names::Names;
use super::operator::{BinaryOp, Monoid};
use crate::Result;
#[cfg(feature = "cuda")]
use crate::algebra::{PlusTimes, Printable, Printed, print_once, printed_arithmetic};
use crate::algebra::{RingFormula, Type};
use crate::kernels::CompiledRing;

/// A semiring for matrices of given types: `min_plus`, or `min, a + 2*b`.
///
/// It is a shared handle: cloning it is cheap, and [`new`](Self::new) caches semirings by their text, at least the last
/// 512. The code that runs it, on the CPU or a GPU, is compiled by the first call that needs it and serves all threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Semiring(Arc<CompiledRing>);

impl Semiring {
    /// The semiring of this name, or of this formula, over values of one type.
    ///
    /// A name joins those of a monoid and of an operator by `_`; every pair defined on the type exists. A formula is ⊕,
    /// a comma, ⊗; see [`RingFormula::parse`].
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a name not defined on the type;
    /// [`Error::Formula`](crate::Error::Formula), which points at the position;
    /// [`Error::Argument`](crate::Error::Argument) if ⊕ is no monoid, with a counterexample.
    pub fn new(text: &str, ty: Type) -> Result<Self> {
        Self::between(text, ty, ty)
    }
    /// The semiring of a formula for A and B of different types.
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn between(text: &str, a: Type, b: Type) -> Result<Self> {
        static KNOWN: Names<CompiledRing> = Names::new();
        let make = || Ok(CompiledRing::new(text.trim(), RingFormula::parse(text, a, b)?));
        KNOWN.get(text, [a, b], make).map(Self)
    }
    /// The semiring of a monoid and an operator that gives its type; they may be the caller's functions
    /// ([`BinaryOp::from_fn`]).
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) if ⊗ gives another type than ⊕ takes.
    pub fn of(add: &Monoid, mul: &BinaryOp) -> Result<Self> {
        let formula = RingFormula::new(add.formula().clone(), mul.formula())?;
        let text = formula.name().unwrap_or_else(|| format!("{add}, {mul}"));
        Ok(Self(Arc::new(CompiledRing::new(&text, formula))))
    }
    /// Type of the results.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.0.ty()
    }
    /// The monoid ⊕.
    #[must_use]
    pub fn add(&self) -> Monoid {
        Monoid::of_formula(self.formula().add().clone())
    }
    /// The semiring's formula.
    #[must_use]
    pub fn formula(&self) -> &RingFormula {
        self.0.formula()
    }
    /// The semiring of the transposed product: C = A ⊕.⊗ B is Cᵀ = Bᵀ ⊕.⊗′ Aᵀ with b ⊗′ a = a ⊗ b.
    ///
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::{Machine, Matrix, Scalar, Semiring};
    /// use sparring::{Cpu, Csr};
    /// let (cpu, first) = (Machine::from(Cpu::new()), Semiring::new("plus_first", Type::I32)?);
    /// let a = Matrix::from(Csr::<i32>::new(1, 2, vec![0, 2], vec![0, 1], vec![3, 4])?);
    /// let b = Matrix::from(Csr::<i32>::new(2, 1, vec![0, 1, 2], vec![0, 0], vec![5, 6])?);
    /// let c = cpu.mxm(&first, &a, &b)?;
    /// let of_transposes = cpu.mxm(&first.transposed(), &cpu.transpose(&b)?, &cpu.transpose(&a)?)?;
    /// assert_eq!((c.get(0, 0)?, of_transposes.get(0, 0)?), (Some(Scalar::from(7)), Some(Scalar::from(7))));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    #[must_use]
    pub fn transposed(&self) -> Self {
        Self(self.0.transposed())
    }
    /// The semiring for blocks of A and B that begin at (i, k) and (k, j): a positional ⊗ sees positions in the whole
    /// matrices. Unchanged if ⊗ is not positional.
    #[must_use]
    pub fn shifted(&self, by: [u64; 3]) -> Self {
        let formula = self.formula().shifted(by);
        if formula == *self.formula() {
            return self.clone();
        }
        Self(Arc::new(CompiledRing::new(&format!("{self}, at {by:?}"), formula)))
    }
    /// The name of a host function that ⊕ or ⊗ calls, if any.
    #[cfg(feature = "cuda")]
    pub(super) fn host_function(&self) -> Option<&str> {
        self.formula().add().op().host_function().or_else(|| self.formula().mul().host_function())
    }
    /// The compiled semiring.
    pub(super) fn compiled(&self) -> &CompiledRing {
        &self.0
    }
    /// The semiring as device code for contractions, with the fold of statically typed arithmetic for + and × of floats.
    #[cfg(feature = "cuda")]
    pub(super) fn printed_arithmetic(&self) -> Arc<Printed> {
        let f = self.formula();
        match (self.ty(), f.name().as_deref()) {
            (Type::F32, Some("plus_times")) => printed_arithmetic::<f32, _>(PlusTimes::<f32>::new()),
            (Type::F64, Some("plus_times")) => printed_arithmetic::<f64, _>(PlusTimes::<f64>::new()),
            _ => {
                let (add, identity) = (f.add().op().clone(), f.add().identity().clone());
                print_once(Printable::Arithmetic(add, identity, f.mul().clone(), None))
            }
        }
    }
    /// The semiring as device code.
    #[cfg(feature = "cuda")]
    pub(super) fn printed(&self) -> &Arc<Printed> {
        self.0.printed()
    }
}

impl fmt::Display for Semiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.text())
    }
}
