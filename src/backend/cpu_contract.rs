//! Contractions of dense tensors on [`Cpu`].

use std::sync::Arc;

use crate::algebra::{Arithmetic, PlusTimes, Value};
use crate::contract::{
    Arrangement, Batch, Einsum, EinsumPlan, GroupMut, Layout, Old, Plan, RowMajor, Update, ViewMut, run,
};
use crate::par::filled;
use crate::{Cpu, Error, Result};

impl Cpu {
    /// `C(r…) = ⊕ x₁(…) ⊗ x₂(…) ⊗ …`, folded over the indices that C does not have: `cpu.einsum(ring, einsum).eval()?`,
    /// with [`Einsum::new`] or [`einsum!`](crate::einsum!).
    ///
    /// Several operands are contracted pairwise, in the order of [`path`](EinsumBuilder::path). ⊗ is assumed to be
    /// commutative and to distribute over ⊕, as in any commutative semiring. Cost per pair: the product of the extents
    /// of all its indices, in operations; indices of one operand alone are folded first. No operand is transposed or
    /// copied as a whole: strided layouts are read in place.
    ///
    /// These assumptions hold for tropical semirings of floats. Over integers their identity, the largest or smallest
    /// number, wraps under addition, so an empty fold that is then multiplied gives another result.
    ///
    /// Each fold starts at the identity of ⊕ and runs over its folded indices in the order in which the expression
    /// names them, the last fastest. If ⊕ is + and ⊗ is × of floats, each step of the fold is rounded once
    /// ([`Monoid::fold`](crate::algebra::Monoid::fold)). Results are bitwise identical for any number of threads.
    ///
    /// Large tensors are contracted pair by pair, each on all threads; products of large matrices are packed in blocks
    /// and keep the fold order. Two kinds of long folds deviate from it, depending on extents and strides alone: folds
    /// with few results are split into parts of equal length, and contiguous terms are distributed over 32 partial
    /// sums. Parts and partial sums are combined pairwise. [`explain`](EinsumBuilder::explain) reports both.
    /// ```
    /// use sparring::{Cpu, algebra::{MinPlus, PlusTimes}, contract::{Einsum, Layout, View}};
    /// // Two products of 2×2 matrices, with one right operand for both.
    /// let (a, b) = ([1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 1.0, 0.0], [5.0, 6.0, 7.0, 8.0]);
    /// let a = View::new(&a, Layout::row_major(&[2, 2, 2])?)?;
    /// let b = View::new(&b, Layout::row_major(&[2, 2])?)?;
    /// let products = Einsum::new("bij,jk->bik", &[a, b])?;
    /// let cpu = Cpu::new();
    /// let c = cpu.einsum(PlusTimes::new(), products.clone()).eval()?;
    /// assert_eq!(c.values(), [19.0, 22.0, 43.0, 50.0, 7.0, 8.0, 5.0, 6.0]);
    /// // Over the tropical semiring: the least sum.
    /// assert_eq!(cpu.einsum(MinPlus::new(), products).eval()?.values(), [6.0, 7.0, 8.0, 9.0, 5.0, 6.0, 6.0, 7.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// Source: Abdelfattah et al. 2016, §4.
    pub fn einsum<'a, A: Arithmetic<T>, T: Value>(&'a self, ring: A, einsum: Einsum<'a, T>) -> EinsumBuilder<'a, A, T> {
        EinsumBuilder { cpu: self, ring, einsum, update: Update::PLAIN, plan: None }
    }
    /// The analysis of [`einsum`](Self::einsum), reusable for contractions of the same expression with the same layouts
    /// of operands and result ([`EinsumBuilder::plan`]). Cost: 3ⁿ steps for the path of n operands, up to eight, and
    /// the offsets of elements, one per value of the indices of one side of a step.
    /// # Errors
    /// [`Error::Dims`] if the result has other extents, [`Error::Length`] if its number of tensors differs,
    /// [`Error::Argument`] if elements of the result may alias; [`Error::OutOfMemory`].
    pub fn einsum_plan<T: Clone>(&self, einsum: &Einsum<'_, T>, result: &Layout) -> Result<EinsumPlan> {
        EinsumPlan::new(einsum, result, self.threads().count(), self.budget())
    }
}

/// A builder for a contraction; [`eval`](Self::eval) or [`into`](Self::into) computes it.
#[must_use = "nothing is computed before `eval` or `into`"]
#[derive(Debug)]
pub struct EinsumBuilder<'a, A, T> {
    cpu: &'a Cpu,
    ring: A,
    einsum: Einsum<'a, T>,
    update: Update<T>,
    plan: Option<&'a EinsumPlan>,
}

impl<'a, A: Arithmetic<T>, T: Value> EinsumBuilder<'a, A, T> {
    /// Scales the contraction: α ⊗ contraction.
    pub fn alpha(mut self, alpha: T) -> Self {
        self.update.alpha = Some(alpha);
        self
    }
    /// [`into`](Self::into) computes C = (β ⊗ C) ⊕ contraction. If β is the identity of ⊕ (0 for plus-times), C is not
    /// read.
    pub fn beta(mut self, beta: T) -> Self {
        self.update.old = Old::scaled::<A>(beta);
        self
    }
    /// [`into`](Self::into) computes C = C ⊕ contraction.
    pub fn accumulate(mut self) -> Self {
        self.update.old = Old::Added;
        self
    }
    /// Uses a plan. Evaluation fails with [`Error::Argument`] if the plan has another expression or other layouts of
    /// operands or result ([`eval`](Self::eval) uses a row-major result, [`eval_in`](Self::eval_in) the given layout).
    pub fn plan(mut self, plan: &'a EinsumPlan) -> Self {
        self.plan = Some(plan);
        self
    }
    /// Pairs of operands in contraction order: the n operands have the numbers 0 to n − 1, the result of the k-th pair
    /// n + k. The order is optimal for up to eight operands. Beyond that it is greedy: each step takes the pair whose
    /// result is smallest relative to the two operands.
    /// # Errors
    /// As [`eval`](Self::eval).
    pub fn path(&self) -> Result<Vec<(usize, usize)>> {
        Ok(self.steps(&self.layout()?, None)?.path().to_vec())
    }
    /// A description of the computation, for a row-major result or the plan: the order of pairs, the loops of each step
    /// with reasons, and the partition of the result, line by line.
    /// ```
    /// use sparring::{Cpu, algebra::PlusTimes, contract::{Einsum, Layout, View}};
    /// let (x, layout) = ([1.0; 9], Layout::row_major(&[3, 3])?);
    /// let x = View::new(&x, layout)?;
    /// let how = Cpu::new().einsum(PlusTimes::new(), Einsum::new("ij,jk->ik", &[x.clone(), x])?).explain()?;
    /// let step = "operand 0 and operand 1 to the result: 1 products of matrices 3×3 and 3×3";
    /// assert_eq!(how, format!("einsum: ij,jk->ik of f64\n  {step}\n  1 blocks of 3 values of 'i'"));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// # Errors
    /// As [`eval`](Self::eval).
    pub fn explain(&self) -> Result<String> {
        let plan = self.steps(&self.layout()?, None)?;
        Ok(format!("einsum: {} of {}\n{}", self.einsum.text(), T::TYPE, plan.explain()))
    }
    /// Bytes of workspace beyond operands and result, for a row-major result or the plan: intermediate tensors, packed
    /// columns or blocks, partial folds, and offsets.
    /// # Errors
    /// As [`eval`](Self::eval).
    pub fn workspace_bytes(&self) -> Result<u128> {
        let plan = self.steps(&self.layout()?, None)?;
        Ok(plan.workspace(self.cpu.threads().count(), size_of::<T>()))
    }
    /// The contraction as new tensors, row-major and contiguous; C is taken as the identity of ⊕.
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`]; [`Error::Budget`] if result and workspace exceed the budget;
    /// [`Error::Cancelled`].
    pub fn eval(self) -> Result<Batch<T>> {
        self.eval_in(&RowMajor)
    }
    /// The contraction as new tensors in the given arrangement: [`ColumnMajor`](crate::contract::ColumnMajor),
    /// [`Interleaved`](crate::contract::Interleaved), or a custom one. Gaps between elements hold the identity of ⊕.
    /// # Errors
    /// As [`into`](Self::into) with that layout, and those of the arrangement.
    pub fn eval_in(self, by: &dyn Arrangement) -> Result<Batch<T>> {
        let layout = self.einsum.arranged(by)?;
        let len = layout.array_len();
        let plan = self.planned(&layout, len)?;
        let mut out = Batch::new(filled(len, A::ZERO, "einsum")?, layout)?;
        let mut view = out.view_mut()?;
        run(self.cpu.threads(), self.ring, &self.einsum, &plan, self.update, &mut [view.data_mut()])?;
        Ok(out)
    }
    /// The contraction into `out`.
    /// # Errors
    /// [`Error::Dims`] if `out` has other extents, [`Error::Length`] if its number of tensors differs; otherwise as
    /// [`eval`](Self::eval). After cancellation, some elements have new values and the others old ones.
    pub fn into(self, out: &mut ViewMut<'_, T>) -> Result<()> {
        let plan = self.planned(out.layout(), 0)?;
        run(self.cpu.threads(), self.ring, &self.einsum, &plan, self.update, &mut [out.data_mut()])
    }
    /// The contraction into separate arrays, one per tensor; bitwise identical to [`into`](Self::into).
    /// # Errors
    /// As [`into`](Self::into).
    pub fn into_group(self, out: &mut GroupMut<'_, T>) -> Result<()> {
        let plan = self.planned(out.layout(), 0)?;
        run(self.cpu.threads(), self.ring, &self.einsum, &plan, self.update, out.arrays_mut())
    }
    /// The plan for a result of this layout, after checking its workspace and `own` elements against the budget.
    fn planned(&self, layout: &Layout, own: usize) -> Result<Arc<Plan>> {
        let plan = self.steps(layout, self.cpu.budget())?;
        let bytes = plan.workspace(self.cpu.threads().count(), size_of::<T>()) + own as u128 * size_of::<T>() as u128;
        match self.cpu.budget() {
            Some(budget) if bytes > budget.into() => {
                Err(Error::Budget { what: "einsum", bytes, budget: budget.into() })
            }
            _ => Ok(plan),
        }
    }
    fn steps(&self, layout: &Layout, budget: Option<u64>) -> Result<Arc<Plan>> {
        match self.plan {
            Some(plan) => plan.of(&self.einsum, layout),
            None => Ok(Arc::new(Plan::new(&self.einsum, layout, self.cpu.threads().count(), budget)?)),
        }
    }
    /// The layout of the result: that of the plan, or row-major.
    fn layout(&self) -> Result<Layout> {
        self.plan.map_or_else(|| self.einsum.row_major(), |plan| Ok(plan.result().clone()))
    }
}

impl EinsumPlan {
    /// [`EinsumBuilder::into`] of doubles over plus-times with this plan. Separately compiled callers reuse the loops
    /// that the library has for contractions by name.
    /// # Errors
    /// Those of [`EinsumBuilder::into`].
    #[doc(hidden)]
    pub fn run_doubles(
        &self,
        cpu: &Cpu,
        einsum: Einsum<'_, f64>,
        [alpha, beta]: [Option<f64>; 2],
        out: &mut ViewMut<'_, f64>,
    ) -> Result<()> {
        let asked = cpu.einsum(PlusTimes::new(), einsum).plan(self);
        let asked = match alpha {
            Some(alpha) => asked.alpha(alpha),
            None => asked,
        };
        match beta {
            Some(beta) => asked.beta(beta).into(out),
            None => asked.into(out),
        }
    }
}
