//! C = A ⊕.⊗ B on the device, in two phases: the plan computes C's pattern from those of A and B, the numeric phase its
//! values.
//!
//! Results are bitwise the CPU's: every value is folded from the identity of ⊕ in the order of A's row.
//!
//! [`Policy::KkSpGemm`], or an explicit accumulator, selects kkSpGEMM with its rules for GPUs: kkmem (linked lists) or
//! kklp (linear probing), each in two levels, the second in chunks of a shared memory pool. The settings
//! `dense_columns` and `pool` have no effect. The first numeric phase sorts C, for which it needs its memory a second
//! time; every numeric phase allocates the pool, at most half of the free memory. Unsorted rows of kklp may be in a
//! different order in the next run. A dense accumulator is not supported, and neither is compression under our own
//! policy.
//!
//! Source: Deveci, Trott, Rajamanickam 2018, §3; rules that it leaves open follow KokkosKernels 4.7.
//! # Example
//! ```no_run
//! use sparring::prelude::*;
//! use sparring::spgemm::{Options, Policy};
//! let cuda = Cuda::new(0)?;
//! let a = cuda.upload(&Csr::<f64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 2.0, 3.0])?)?;
//! let plan = cuda.plan(&a, &a).options(&Options { policy: Policy::KkSpGemm, ..Options::default() }).eval()?;
//! println!("{}", plan.explain());
//! let c: Csr<f64> = cuda.download(&cuda.mxm(PlusTimes::<f64>::default(), &a, &a).plan(&plan).eval()?)?;
//! assert_eq!(c.values(), [1.0, 8.0, 9.0]);
//! # Ok::<(), sparring::Error>(())
//! ```

mod bins;
mod columns;
mod folds;
mod kk;
mod lists;
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
use super::{Cuda, DevicePattern};
use crate::algebra::Printed;
use crate::spgemm::{Accumulator, Compress, Compression, Options, Policy};
use crate::{Error, Result};

/// The structure of C = A·B on the device, for any values and any semiring.
///
/// Created once from the patterns, it serves any number of numeric phases. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Plan {
    form: Form,
}

/// What a policy has computed of C at the end of the symbolic phase.
#[derive(Clone, Debug)]
enum Form {
    /// Our policy: C's pattern.
    Pattern(plan::Plan),
    /// kkSpGEMM: C's row pointers. The first numeric phase computes the columns, and later ones use them.
    Kk(kk::Plan),
}

impl Plan {
    /// Multiplications.
    #[must_use]
    pub fn flops(&self) -> u64 {
        match &self.form {
            Form::Pattern(plan) => plan.flops(),
            Form::Kk(plan) => plan.flops,
        }
    }
    /// Most multiplications in a row.
    #[must_use]
    pub fn max_row_flops(&self) -> u64 {
        match &self.form {
            Form::Pattern(plan) => plan.max_row_flops(),
            Form::Kk(plan) => plan.max_row_flops,
        }
    }
    /// Entries of C.
    #[must_use]
    pub fn nnz(&self) -> usize {
        match &self.form {
            Form::Pattern(plan) => plan.pattern().nnz,
            Form::Kk(plan) => plan.nnz,
        }
    }
    /// Rows and columns of C.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match &self.form {
            Form::Pattern(plan) => plan.pattern().shape(),
            Form::Kk(plan) => plan.shape(),
        }
    }
    /// C's pattern; `None` under kkSpGEMM until a numeric phase has computed its columns.
    #[must_use]
    pub fn pattern(&self) -> Option<&Arc<DevicePattern>> {
        match &self.form {
            Form::Pattern(plan) => Some(plan.pattern()),
            Form::Kk(plan) => plan.pattern(),
        }
    }
    /// What compression of B would save, if it was counted.
    #[must_use]
    pub fn compression(&self) -> Option<&Compression> {
        match &self.form {
            Form::Pattern(_) => None,
            Form::Kk(plan) => plan.compression.as_ref(),
        }
    }
    /// The choices, and their reasons.
    #[must_use]
    pub fn explain(&self) -> String {
        match &self.form {
            Form::Pattern(plan) => plan.explain().to_string(),
            Form::Kk(plan) => plan.why.to_string(),
        }
    }

    /// The patterns of A and B.
    fn operands(&self) -> [&Arc<DevicePattern>; 2] {
        match &self.form {
            Form::Pattern(plan) => plan.operands(),
            Form::Kk(plan) => [&plan.a, &plan.b],
        }
    }
    /// An array of the plan, which identifies its device.
    pub(crate) fn array(&self) -> &RawBuffer {
        self.operands()[0].col_idx.raw()
    }
    /// An error for operands with other patterns than those of the plan.
    fn check(&self, cuda: &Cuda, a: &Arc<DevicePattern>, b: &Arc<DevicePattern>) -> Result<()> {
        plan::check(cuda, self.operands(), [a, b])
    }
    /// An error for a result that does not have this plan's pattern.
    pub(crate) fn check_result(&self, c: &Arc<DevicePattern>) -> Result<()> {
        if self.pattern().is_some_and(|planned| Arc::ptr_eq(planned, c)) {
            return Ok(());
        }
        Err(Error::PatternChanged { operand: "C", found: c.nnz, planned: self.nnz() })
    }
}

/// The structure of C = A·B within a mask, or outside it if complemented: patterns only, no values, no semiring. As on
/// the CPU, a masked product uses our policy.
///
/// Cost: O(flops) time; on the device C's pattern, some 30 bytes a row, 5 bytes for each product of rows with at most
/// 64 of them (1 of these stays with the plan), and a compressed copy of B, 32 columns to a word, where that saves
/// work. The second numeric phase records the destinations of products for later phases, if memory allows: for up to
/// 2²² products 8 bytes for each and 4 for each entry of C; for more a byte for each product of rows with at most 128
/// entries, 2 for those of longer rows and 8 for each entry of A in each part of them.
/// # Errors
/// [`Error::Shape`]; [`Error::DeviceMemory`] with the bytes that C's pattern needs; [`Error::Argument`] for settings
/// out of range; [`Error::Unsupported`] for a dense accumulator, and for compression under our own policy.
pub(crate) fn plan_of(
    cuda: &Cuda,
    a: Arc<DevicePattern>,
    b: Arc<DevicePattern>,
    mask: Option<(&Arc<DevicePattern>, bool)>,
    options: &Options,
) -> Result<Plan> {
    if let Some((_, complement)) = mask {
        options.check_masked(complement)?;
    }
    let theirs = options.policy == Policy::KkSpGemm || options.accumulator != Accumulator::Auto;
    let form = if theirs {
        symbolic::check_shapes(&a, &b)?;
        Form::Kk(kk::make(cuda, a, b, options)?)
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
    /// Numeric phase: values of C over a ring, with the structure of the plan.
    /// # Errors
    /// [`Error::PatternChanged`]; [`Error::DeviceMemory`], [`Error::Device`]; [`Error::Compile`] if the ring's text
    /// does not compile.
    pub(crate) fn numeric_raw(&self, plan: &Plan, ring: &Printed, a: &RawCsr, b: &RawCsr) -> Result<RawCsr> {
        plan.check(self, &a.pattern, &b.pattern)?;
        match &plan.form {
            Form::Pattern(plan) => {
                let values = self.alloc_raw(ring.out, plan.pattern().nnz, "values of C")?;
                values::fill(self, plan, ring, a, b, &values)?;
                Ok(RawCsr { pattern: Arc::clone(plan.pattern()), values })
            }
            Form::Kk(plan) => kk::numeric(self, plan, ring, a, b),
        }
    }
    /// Numeric phase into the values of a matrix that this plan created, with the pattern `c`. Allocates nothing on the
    /// device, except for kkSpGEMM's pool.
    /// # Errors
    /// [`Error::PatternChanged`], also if `c` is of another plan; [`Error::Argument`] if the values are shared.
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
        plan.check_result(c)?;
        alone(values, "c")?;
        match &plan.form {
            Form::Pattern(plan) => values::fill(self, plan, ring, a, b, values),
            Form::Kk(plan) => kk::numeric_into(self, plan, ring, a, b, c, values),
        }
    }
}

pub(crate) fn programs() -> Vec<Unit> {
    [
        bins::programs(),
        columns::programs(),
        folds::programs(),
        kk::programs(),
        lists::programs(),
        map::programs(),
        parts::programs(),
        values::programs(),
    ]
    .concat()
}
