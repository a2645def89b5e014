//! C = A ⊕.⊗ B on the device, in two phases: the plan finds C's columns from the patterns, the numeric phase its values.
//!
//! Results have the bits of the CPU's: every value is folded from the identity of ⊕ in the order of A's row.

mod bins;
mod columns;
mod kk;
mod map;
mod parts;
mod plan;
mod symbolic;
mod values;

use std::sync::Arc;

use super::buffer::RawBuffer;
use super::csr::RawCsr;
use super::jit::Unit;
use super::memory::alone;
use super::{Cuda, DeviceCsr, DevicePattern, Operand};
use crate::algebra::{Lhs, Out, Printed, Rhs, Semiring, Value, printed_ring};
use crate::spgemm::{Accumulator, Compress, Compression, Options, Policy};
use crate::{Error, Result};

pub use symbolic::Mask;

/// The structure of C = A·B on the device, for any values and any semiring.
///
/// It is made once from the patterns, and serves any number of numeric phases. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Plan {
    form: Form,
}

/// What a policy knows of C when the symbolic phase is over.
#[derive(Clone, Debug)]
enum Form {
    /// Ours: all of its pattern.
    Pattern(plan::Plan),
    /// kkSpGEMM's: its row pointers. The first numeric phase finds the columns, and the later ones use them.
    Rows(kk::Plan),
}

impl Plan {
    /// Multiplications.
    #[must_use]
    pub fn flops(&self) -> u64 {
        match &self.form {
            Form::Pattern(plan) => plan.flops(),
            Form::Rows(plan) => plan.flops,
        }
    }
    /// Most multiplications in a row.
    #[must_use]
    pub fn max_row_flops(&self) -> u64 {
        match &self.form {
            Form::Pattern(plan) => plan.max_row_flops(),
            Form::Rows(plan) => plan.max_row_flops,
        }
    }
    /// Entries of C.
    #[must_use]
    pub fn nnz(&self) -> usize {
        match &self.form {
            Form::Pattern(plan) => plan.pattern().nnz,
            Form::Rows(plan) => plan.nnz,
        }
    }
    /// Rows and columns of C.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match &self.form {
            Form::Pattern(plan) => plan.pattern().shape(),
            Form::Rows(plan) => plan.shape(),
        }
    }
    /// Where C has entries; `None` under kkSpGEMM's policy until a numeric phase has found its columns.
    #[must_use]
    pub fn pattern(&self) -> Option<&Arc<DevicePattern>> {
        match &self.form {
            Form::Pattern(plan) => Some(plan.pattern()),
            Form::Rows(plan) => plan.pattern(),
        }
    }
    /// What compression of B would save, if it was counted.
    #[must_use]
    pub fn compression(&self) -> Option<&Compression> {
        match &self.form {
            Form::Pattern(_) => None,
            Form::Rows(plan) => plan.compression.as_ref(),
        }
    }
    /// What was chosen, and why.
    #[must_use]
    pub fn explain(&self) -> String {
        match &self.form {
            Form::Pattern(plan) => plan.explain().to_string(),
            Form::Rows(plan) => plan.why.to_string(),
        }
    }

    /// Refuses operands that this plan was not made for.
    fn check(&self, cuda: &Cuda, a: &Arc<DevicePattern>, b: &Arc<DevicePattern>) -> Result<()> {
        let planned = match &self.form {
            Form::Pattern(plan) => plan.operands(),
            Form::Rows(plan) => [&plan.a, &plan.b],
        };
        plan::check(cuda, planned, [a, b])
    }
}

/// The plan of a product by `options`. As on the CPU, a masked product has our policy.
pub(crate) fn plan_of(
    cuda: &Cuda,
    a: Arc<DevicePattern>,
    b: Arc<DevicePattern>,
    mask: Option<Mask<'_>>,
    options: &Options,
) -> Result<Plan> {
    let theirs = options.policy == Policy::KkSpGemm || options.accumulator != Accumulator::Auto;
    let form = if theirs && mask.is_none() {
        symbolic::check_shapes(&a, &b)?;
        Form::Rows(kk::make(cuda, a, b, options)?)
    } else {
        if options.compress == Compress::On {
            return Err(Error::Unsupported {
                what: "compression of B on the GPU by the default policy".into(),
                why: "its symbolic phase reads columns; ask for Policy::KkSpGemm, without a mask".into(),
            });
        }
        Form::Pattern(symbolic::make(cuda, a, b, mask)?)
    };
    Ok(Plan { form })
}

impl Cuda {
    /// Symbolic phase of C = A·B: patterns only, no values, no semiring.
    ///
    /// Cost: O(flops) time; on the device C's pattern, some 30 bytes a row, 5 bytes for each product of rows with at most 64
    /// of them (1 of these stays with the plan), and B again with 32 columns to a word where that saves work.
    /// # Errors
    /// [`Error::Shape`]; [`Error::DeviceMemory`] with the bytes that C's pattern needs; [`Error::Device`].
    pub fn plan<T: Value, U: Value>(&self, a: &impl Operand<T>, b: &impl Operand<U>) -> Result<Plan> {
        plan_of(self, a.pattern_on(self)?, b.pattern_on(self)?, None, &Options::default())
    }
    /// Symbolic phase with options.
    ///
    /// [`Policy::KkSpGemm`], or an accumulator asked for, is kkSpGEMM with its rules for GPUs: kkmem (linked lists) or
    /// kklp (linear probing), each of two levels, the second from a memory pool whose chunks go to whom they are free
    /// for. Of the settings `dense_columns` and `pool` are of no use here. C is sorted by the first numeric phase, and
    /// takes as much memory again then; numeric phases take memory for the pool, at most half of what is free. Unsorted
    /// rows of kklp may be in another order in the next run.
    ///
    /// Source: Deveci, Trott, Rajamanickam 2018, §3; rules that it leaves open are those of KokkosKernels 4.7.
    /// # Errors
    /// Those of [`plan`](Self::plan); [`Error::Argument`] for settings out of range; [`Error::Unsupported`] for a dense
    /// accumulator, and for compression under our own policy.
    /// # Example
    /// ```no_run
    /// use sparring::algebra::PlusTimes;
    /// use sparring::spgemm::{Options, Policy};
    /// use sparring::{Csr, Cuda};
    /// let cuda = Cuda::new(0)?;
    /// let a = Csr::<f64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 2.0, 3.0])?;
    /// let plan = cuda.plan_with(&a, &a, &Options { policy: Policy::KkSpGemm, ..Options::default() })?;
    /// println!("{}", plan.explain());
    /// let c = cuda.numeric(&plan, PlusTimes::default(), &a, &a)?;
    /// assert_eq!(c.values(), [1.0, 8.0, 9.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn plan_with<T: Value, U: Value>(
        &self,
        a: &impl Operand<T>,
        b: &impl Operand<U>,
        options: &Options,
    ) -> Result<Plan> {
        plan_of(self, a.pattern_on(self)?, b.pattern_on(self)?, None, options)
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
        plan_of(self, a.pattern_on(self)?, b.pattern_on(self)?, Some(mask), &Options::default())
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
        L::from_device(self, self.numeric_raw(plan, &printed_ring(ring), &a.raw(), &b.raw())?.typed()?)
    }
    /// [`numeric`](Self::numeric) for a ring and values whose types are known at run time.
    pub(crate) fn numeric_raw(&self, plan: &Plan, ring: &Printed, a: &RawCsr, b: &RawCsr) -> Result<RawCsr> {
        plan.check(self, &a.pattern, &b.pattern)?;
        match &plan.form {
            Form::Pattern(plan) => {
                let values = self.alloc_raw(ring.out, plan.pattern().nnz, "values of C")?;
                values::fill(self, plan, ring, a, b, &values)?;
                Ok(RawCsr { pattern: Arc::clone(plan.pattern()), values })
            }
            Form::Rows(plan) => kk::numeric(self, plan, ring, a, b),
        }
    }
    /// Numeric phase into a matrix that this plan made before: no allocation on the device, but for the pool of
    /// kkSpGEMM's policy.
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
        let (ring, a, b) = (printed_ring(ring), a.raw(), b.raw());
        self.numeric_into_raw(plan, &ring, &a, &b, &c.pattern, c.values.raw_mut())
    }
    /// [`numeric_into`](Self::numeric_into) for a ring and values whose types are known at run time: the values of C, which
    /// has this pattern.
    pub(crate) fn numeric_into_raw(
        &self,
        plan: &Plan,
        ring: &Printed,
        a: &RawCsr,
        b: &RawCsr,
        c: &Arc<DevicePattern>,
        values: &mut Arc<RawBuffer>,
    ) -> Result<()> {
        plan.check(self, &a.pattern, &b.pattern)?;
        if !plan.pattern().is_some_and(|planned| Arc::ptr_eq(planned, c)) {
            return Err(Error::PatternChanged { operand: "C", found: c.nnz, planned: plan.nnz() });
        }
        alone(values, "c")?;
        match &plan.form {
            Form::Pattern(plan) => values::fill(self, plan, ring, a, b, values),
            Form::Rows(plan) => kk::numeric_into(self, plan, ring, a, b, c, values),
        }
    }
    /// C⟨M⟩ = A ⊕.⊗ B, with mask and options chained: `cuda.mxm(ring, &a, &b).mask(&m).eval()?`.
    pub fn mxm<'a, R: Semiring, L: Operand<Lhs<R>>, B: Operand<Rhs<R>>>(
        &'a self,
        ring: R,
        a: &'a L,
        b: &'a B,
    ) -> Mxm<'a, R, L, B> {
        Mxm { cuda: self, ring, a, b, mask: None, complement: false, options: Options::default() }
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
    options: Options,
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
    /// How to compute it; see [`Cuda::plan_with`]. A masked product has our own policy.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
    /// The product.
    /// # Errors
    /// Those of [`Cuda::plan_with`] and [`Cuda::numeric`]; [`Error::Shape`] if the mask has another shape.
    pub fn eval(self) -> Result<L::Of<Out<R>>> {
        let Self { cuda, ring, a, b, mask, complement, options } = self;
        let (a, b) = (a.to_device(cuda)?, b.to_device(cuda)?);
        let mask = match mask.transpose()? {
            Some(mask) => Some((mask, complement)),
            // The complement of no mask at all lets nothing through (GraphBLAS C API 2.1, §2.7).
            None if complement => Some((Arc::new(cuda.empty_pattern(a.shape().0, b.shape().1)?), false)),
            None => None,
        };
        let mask = mask.as_ref().map(|(pattern, complement)| Mask { pattern, complement: *complement });
        let plan = plan_of(cuda, Arc::clone(&a.pattern), Arc::clone(&b.pattern), mask, &options)?;
        L::from_device(cuda, cuda.numeric(&plan, ring, &a, &b)?)
    }
}

pub(crate) fn programs() -> Vec<Unit> {
    [bins::programs(), columns::programs(), kk::programs(), map::programs(), parts::programs(), values::programs()]
        .concat()
}
