//! C = A ⊕.⊗ B on the device, in two phases: the plan finds C's columns from the patterns, the numeric phase its
//! values.
//!
//! Results have the bits of the CPU's: every value is folded from the identity of ⊕ in the order of A's row.
//!
//! [`Policy::KkSpGemm`], or an accumulator asked for, is kkSpGEMM with its rules for GPUs: kkmem (linked lists) or kklp
//! (linear probing), each of two levels, the second from a memory pool whose chunks go to whom they are free for. Of
//! the settings `dense_columns` and `pool` are of no use here. C is sorted by the first numeric phase, and takes as
//! much memory again then; numeric phases take memory for the pool, at most half of what is free. Unsorted rows of kklp
//! may be in another order in the next run. A dense accumulator is refused, and so is compression under our own policy.
//!
//! Source: Deveci, Trott, Rajamanickam 2018, §3; rules that it leaves open are those of KokkosKernels 4.7.
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

    /// The patterns of A and B.
    fn operands(&self) -> [&Arc<DevicePattern>; 2] {
        match &self.form {
            Form::Pattern(plan) => plan.operands(),
            Form::Rows(plan) => [&plan.a, &plan.b],
        }
    }
    /// An array of the plan, which tells the device that it is on.
    pub(crate) fn array(&self) -> &RawBuffer {
        self.operands()[0].col_idx.raw()
    }
    /// Refuses operands that this plan was not made for.
    fn check(&self, cuda: &Cuda, a: &Arc<DevicePattern>, b: &Arc<DevicePattern>) -> Result<()> {
        plan::check(cuda, self.operands(), [a, b])
    }
    /// Refuses a result that this plan has not made, or cannot have made yet.
    pub(crate) fn check_result(&self, c: &Arc<DevicePattern>) -> Result<()> {
        if self.pattern().is_some_and(|planned| Arc::ptr_eq(planned, c)) {
            return Ok(());
        }
        Err(Error::PatternChanged { operand: "C", found: c.nnz, planned: self.nnz() })
    }
}

/// The structure of C = A·B at the places of a mask, or with `true` beside it at all others: patterns only, no values,
/// no semiring. As on the CPU, a masked product has our policy.
///
/// Cost: O(flops) time; on the device C's pattern, some 30 bytes a row, 5 bytes for each product of rows with at most
/// 64 of them (1 of these stays with the plan), and B again with 32 columns to a word where that saves work. The second
/// numeric phase finds where products go, for those after it, where memory allows it: of up to 2²² products 8 bytes for
/// each and 4 for each entry of C; of more a byte for each product of rows with at most 128 entries, 2 for those of
/// longer rows and 8 for each entry of A in each part of them.
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
            Form::Rows(plan) => kk::numeric(self, plan, ring, a, b),
        }
    }
    /// Numeric phase into the values of a matrix that this plan made before, which has the pattern `c`: no allocation
    /// on the device, but for the pool of kkSpGEMM's policy.
    /// # Errors
    /// [`Error::PatternChanged`], also if `c` is of another plan; [`Error::Argument`] if someone shares the values.
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
            Form::Rows(plan) => kk::numeric_into(self, plan, ring, a, b, c, values),
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
