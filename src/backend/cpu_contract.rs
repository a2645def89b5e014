//! Contractions of dense tensors with the threads and the budget of a [`Cpu`].

use std::sync::Arc;

use crate::algebra::{Arithmetic, PlusTimes, Value};
use crate::contract::{
    Arrangement, Batch, Einsum, EinsumPlan, GroupMut, Layout, Old, Plan, RowMajor, Update, ViewMut, run,
};
use crate::par::filled;
use crate::{Cpu, Error, Result};

impl Cpu {
    /// `C(r…) = ⊕ x₁(…) ⊗ x₂(…) ⊗ …`, folded over the indices that C has not: `cpu.einsum(ring, einsum).eval()?`, by
    /// [`Einsum::new`] or [`einsum!`](crate::einsum!).
    ///
    /// Several operands are contracted two by two, in the order of [`path`](AskedEinsum::path); ⊗ is taken for
    /// commutative and ⊕ to distribute, as in any semiring. Cost: for each pair the product of the extents of all its
    /// indices, in operations; what one operand alone has is folded first. No operand is transposed or copied as a
    /// whole: other orders are read as they lie.
    ///
    /// That is so of tropical semirings of floats; over integers their identity, the largest or least number, wraps
    /// when something is added to it, so a fold over no values means something else there once it is multiplied.
    ///
    /// A step starts each fold at the identity of ⊕ and runs through its folded indices in the order in which the
    /// expression names them, the last fastest; where ⊕ is + and ⊗ is × of floats, a step is rounded once
    /// ([`Monoid::fold`](crate::algebra::Monoid::fold)). The result is the same bits for any number of threads.
    ///
    /// Large tensors are contracted step by step, each by all threads; products of large matrices are packed in blocks
    /// and keep that order. Two kinds of long folds leave it, as extents and strides alone decide: those of few results
    /// are cut into parts of equal length, and terms that lie side by side are dealt to 32 sums. Parts and sums are
    /// joined by neighbours. [`explain`](AskedEinsum::explain) names each.
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
    pub fn einsum<'a, A: Arithmetic<T>, T: Value>(&'a self, ring: A, einsum: Einsum<'a, T>) -> AskedEinsum<'a, A, T> {
        AskedEinsum { cpu: self, ring, einsum, update: Update::PLAIN, plan: None }
    }
    /// What [`einsum`](Self::einsum) finds out before it computes, to be kept for contractions of the same expression
    /// whose operands and results lie as these: [`AskedEinsum::plan`]. Cost: the path, 3ⁿ steps for n operands up to
    /// eight, and the places of elements, as many as the indices of one side of a step have values.
    /// # Errors
    /// [`Error::Dims`] if the result has other extents, [`Error::Length`] if it has not as many tensors,
    /// [`Error::Argument`] if two of its elements may be one; [`Error::OutOfMemory`].
    pub fn einsum_plan<T: Clone>(&self, einsum: &Einsum<'_, T>, result: &Layout) -> Result<EinsumPlan> {
        EinsumPlan::new(einsum, result, self.threads().count(), self.budget())
    }
}

/// A contraction that is asked for; [`eval`](Self::eval) or [`into`](Self::into) compute it.
#[must_use = "nothing is computed before `eval` or `into`"]
#[derive(Debug)]
pub struct AskedEinsum<'a, A, T> {
    cpu: &'a Cpu,
    ring: A,
    einsum: Einsum<'a, T>,
    update: Update<T>,
    plan: Option<&'a EinsumPlan>,
}

impl<'a, A: Arithmetic<T>, T: Value> AskedEinsum<'a, A, T> {
    /// α ⊗ what is folded.
    pub fn alpha(mut self, alpha: T) -> Self {
        self.update.alpha = Some(alpha);
        self
    }
    /// [`into`](Self::into) makes C = (β ⊗ C) ⊕ the contraction. The identity of ⊕ (0 of + and ×) forgets C, which is
    /// not read then.
    pub fn beta(mut self, beta: T) -> Self {
        self.update.old = Old::times::<A>(beta);
        self
    }
    /// [`into`](Self::into) makes C = C ⊕ the contraction.
    pub fn accumulate(mut self) -> Self {
        self.update.old = Old::Kept;
        self
    }
    /// By the steps of this plan: [`Error::Argument`] when it computes if they are those of another expression or other
    /// layouts, that of the result among them ([`eval`](Self::eval) makes it row-major, [`eval_in`](Self::eval_in) as
    /// you say).
    pub fn plan(mut self, plan: &'a EinsumPlan) -> Self {
        self.plan = Some(plan);
        self
    }
    /// Pairs of operands in the order in which they are contracted: n operands have the numbers 0 to n − 1, the result
    /// of the k-th pair n + k. Up to eight operands no other order costs less; with more, the pair is taken whose
    /// result is smallest compared with what it replaces.
    /// # Errors
    /// As [`eval`](Self::eval).
    pub fn path(&self) -> Result<Vec<(usize, usize)>> {
        Ok(self.steps(&self.layout()?, None)?.path().to_vec())
    }
    /// What is computed, as [`eval`](Self::eval) has it or the plan: the order of pairs, the loops of each step and
    /// why, and how the result is cut, line by line.
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
    /// Bytes taken beside operands and result, as [`eval`](Self::eval) has it or the plan: tensors between pairs,
    /// packed columns or blocks, parts of folds, and offsets.
    /// # Errors
    /// As [`eval`](Self::eval).
    pub fn workspace_bytes(&self) -> Result<u128> {
        let plan = self.steps(&self.layout()?, None)?;
        Ok(plan.workspace(self.cpu.threads().count(), size_of::<T>()))
    }
    /// The contraction as new tensors, row-major, one behind the other; C counts as the identity of ⊕ where it is to be
    /// read.
    /// # Errors
    /// [`Error::IndexOverflow`], [`Error::OutOfMemory`]; [`Error::Budget`] if result and workspace are larger;
    /// [`Error::Cancelled`].
    pub fn eval(self) -> Result<Batch<T>> {
        self.eval_in(&RowMajor)
    }
    /// The contraction as new tensors that lie as this rule says: [`ColumnMajor`](crate::contract::ColumnMajor),
    /// [`Interleaved`](crate::contract::Interleaved), or one of your own. What lies between elements is the identity of
    /// ⊕.
    /// # Errors
    /// As [`into`](Self::into) with such a layout, those of the rule among them.
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
    /// [`Error::Dims`] if `out` has other extents, [`Error::Length`] if it has not as many tensors; otherwise as
    /// [`eval`](Self::eval). If it is cancelled, some elements have their new values, the others their old ones.
    pub fn into(self, out: &mut ViewMut<'_, T>) -> Result<()> {
        let plan = self.planned(out.layout(), 0)?;
        run(self.cpu.threads(), self.ring, &self.einsum, &plan, self.update, &mut [out.data_mut()])
    }
    /// The contraction into arrays of which each holds one tensor, with the bits of [`into`](Self::into).
    /// # Errors
    /// As [`into`](Self::into).
    pub fn into_group(self, out: &mut GroupMut<'_, T>) -> Result<()> {
        let plan = self.planned(out.layout(), 0)?;
        run(self.cpu.threads(), self.ring, &self.einsum, &plan, self.update, out.arrays_mut())
    }
    /// The plan for a result of this layout, whose bytes, with those of `own` elements, are within the budget.
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
    /// Where the result lies: as the plan has it, or row-major.
    fn layout(&self) -> Result<Layout> {
        self.plan.map_or_else(|| self.einsum.row_major(), |plan| Ok(plan.result().clone()))
    }
}

impl EinsumPlan {
    /// [`AskedEinsum::into`] of doubles over + and × by this plan: for callers of this library that are compiled apart,
    /// whose loops are those of contractions by name.
    /// # Errors
    /// As there.
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
