//! C = A ⊕.⊗ B on the device, in two phases: the plan finds C's columns from the patterns, the numeric phase its values.
//!
//! Results have the bits of the CPU's: every value is folded from the identity of ⊕ in the order of A's row.

mod columns;
mod plan;
mod values;

use std::sync::Arc;

pub use plan::Plan;

use super::jit::Unit;
use super::{Cuda, DeviceCsr, DevicePattern, Operand};
use crate::algebra::{AnyPair, Lhs, Out, Rhs, Semiring, Value};
use crate::{Error, Result};

/// What the mask of a product may be: its entries, or all but them.
#[derive(Clone, Copy, Debug)]
pub struct Mask<'a> {
    /// Where the mask has entries.
    pub pattern: &'a Arc<DevicePattern>,
    /// Whether its complement is meant.
    pub complement: bool,
}

impl Cuda {
    /// Symbolic phase of C = A·B: patterns only, no values, no semiring.
    ///
    /// Cost: O(flops) time; on the device C's pattern and at most 16 bytes a row beside it.
    /// # Errors
    /// [`Error::Shape`]; [`Error::DeviceMemory`] with the bytes that C's pattern needs; [`Error::Device`].
    pub fn plan<T: Value, U: Value>(&self, a: &impl Operand<T>, b: &impl Operand<U>) -> Result<Plan> {
        plan::make(self, a.pattern_on(self)?, b.pattern_on(self)?, None)
    }
    /// Symbolic phase of C⟨M⟩ = A·B, or of C⟨¬M⟩ if the complement is meant: C has only entries that the mask allows,
    /// and the numeric phase folds nothing else.
    /// # Errors
    /// Those of [`plan`](Self::plan); [`Error::Shape`] if the mask has another shape than C.
    pub fn plan_masked<T: Value, U: Value>(
        &self,
        a: &impl Operand<T>,
        b: &impl Operand<U>,
        mask: Mask<'_>,
    ) -> Result<Plan> {
        plan::make(self, a.pattern_on(self)?, b.pattern_on(self)?, Some(mask))
    }
    /// Numeric phase: values of C over `ring`, with the structure of the plan.
    /// # Errors
    /// [`Error::PatternChanged`]; [`Error::DeviceMemory`], [`Error::Device`]; [`Error::Compile`] if the ring's text does
    /// not compile.
    pub fn numeric<R: Semiring, L: Operand<Lhs<R>>>(
        &self,
        plan: &Plan,
        ring: R,
        a: &L,
        b: &impl Operand<Rhs<R>>,
    ) -> Result<L::Of<Out<R>>> {
        let (a, b) = (a.to_device(self)?, b.to_device(self)?);
        plan.check(self, &a.pattern, &b.pattern)?;
        let values = Arc::new(self.alloc::<Out<R>>(plan.nnz(), "values of C")?);
        values::fill(self, plan, ring, &a, &b, &values)?;
        L::from_device(self, DeviceCsr { pattern: Arc::clone(plan.pattern()), values })
    }
    /// Numeric phase into a matrix that this plan made before: no allocation on the device.
    /// # Errors
    /// [`Error::PatternChanged`], also if `c` is of another plan; [`Error::Argument`] if `c` has a clone that shares its
    /// values; [`Error::Device`].
    pub fn numeric_into<R: Semiring>(
        &self,
        plan: &Plan,
        ring: R,
        a: &DeviceCsr<Lhs<R>>,
        b: &DeviceCsr<Rhs<R>>,
        c: &mut DeviceCsr<Out<R>>,
    ) -> Result<()> {
        plan.check(self, &a.pattern, &b.pattern)?;
        if !Arc::ptr_eq(plan.pattern(), &c.pattern) {
            return Err(Error::PatternChanged { operand: "C", found: c.nnz(), planned: plan.nnz() });
        }
        if Arc::get_mut(&mut c.values).is_none() {
            let message = "another matrix shares its values; drop the clone first".to_string();
            return Err(Error::Argument { name: "c", message });
        }
        values::fill(self, plan, ring, a, b, &c.values)
    }
    /// C⟨M⟩ = A ⊕.⊗ B, with the mask chained: `cuda.mxm(ring, &a, &b).mask(&m).eval()?`.
    pub fn mxm<'a, R: Semiring, L: Operand<Lhs<R>>, B: Operand<Rhs<R>>>(
        &'a self,
        ring: R,
        a: &'a L,
        b: &'a B,
    ) -> Mxm<'a, R, L, B> {
        Mxm { cuda: self, ring, a, b, mask: None, complement: false }
    }
}

/// A product about to be computed.
#[must_use = "call eval()"]
pub struct Mxm<'a, R, L, B> {
    cuda: &'a Cuda,
    ring: R,
    a: &'a L,
    b: &'a B,
    mask: Option<Result<Arc<DevicePattern>>>,
    complement: bool,
}

impl<R: Semiring, L: Operand<Lhs<R>>, B: Operand<Rhs<R>>> Mxm<'_, R, L, B> {
    /// Computes only entries that `mask` has (structural mask).
    pub fn mask<S: Value>(mut self, mask: &impl Operand<S>) -> Self {
        self.mask = Some(mask.pattern_on(self.cuda));
        self
    }
    /// Computes only entries that the mask does not have.
    pub fn complement(mut self) -> Self {
        self.complement = true;
        self
    }
    /// The product.
    /// # Errors
    /// Those of [`Cuda::plan`] and [`Cuda::numeric`]; [`Error::Shape`] if the mask has another shape.
    pub fn eval(self) -> Result<L::Of<Out<R>>> {
        let Self { cuda, ring, a, b, mask, complement } = self;
        let (a, b) = (a.to_device(cuda)?, b.to_device(cuda)?);
        let mask = match mask.transpose()? {
            Some(mask) => Some((mask, complement)),
            // The complement of no mask at all lets nothing through (GraphBLAS C API 2.1, §2.7).
            None if complement => Some((Arc::new(cuda.empty_pattern(a.shape().0, b.shape().1)?), false)),
            None => None,
        };
        let mask = mask.as_ref().map(|(pattern, complement)| Mask { pattern, complement: *complement });
        let plan = plan::make(cuda, Arc::clone(&a.pattern), Arc::clone(&b.pattern), mask)?;
        L::from_device(cuda, cuda.numeric(&plan, ring, &a, &b)?)
    }
}

/// The semiring that finds out which entries of a mask a product has.
type Hits = AnyPair<bool>;

pub(crate) fn programs() -> Vec<Unit> {
    [columns::programs(), plan::programs(), values::programs()].concat()
}
