//! Products of sparse tensors with the threads and the budget of a [`Cpu`].

use crate::algebra::Value;
use crate::par::{explained, note};
use crate::tensor::{Arithmetic, Kept, Mttkrp, Tensor, TensorRef, Variant, check_mode};
use crate::{Cpu, Dense, Error, Index, Result};

impl Cpu {
    /// `V(i, r) = ⊕ x ⊗ ⊗_{m ≠ mode} Aₘ(iₘ, r)` over the entries of `x` whose index in `mode` is i: the matricized
    /// tensor times the Khatri–Rao product of the other factors, `cpu.mttkrp(ring, &x, &factors, mode).eval()?`.
    ///
    /// Factors are nₘ × R; that of `mode` is not read. ⊗ is taken for commutative. Cost: O(d·R·nnz). Several products
    /// of one tensor share what [`mttkrp_plan`](Self::mttkrp_plan) prepares. Results are the same bits for any number
    /// of threads (variants A and B excepted); variants differ by rounding.
    /// ```
    /// use sparring::{Cpu, Dense, Tensor, algebra::{MinPlus, PlusTimes}};
    /// let x = Tensor::<f64>::new(vec![2, 2, 2], vec![vec![0, 1, 1], vec![0, 0, 1], vec![0, 1, 1]],
    ///     vec![1.0, 2.0, 3.0])?;
    /// let factors = vec![
    ///     Dense::filled(2, 1, 1.0)?, Dense::new(2, 1, vec![5.0, 7.0])?, Dense::new(2, 1, vec![10.0, 20.0])?];
    /// let cpu = Cpu::new();
    /// // x(0,0,0)·5·10, and x(1,0,1)·5·20 + x(1,1,1)·7·20.
    /// assert_eq!(cpu.mttkrp(PlusTimes::new(), &x, &factors, 0).eval()?.values(), [50.0, 620.0]);
    /// // Over the tropical semiring: the least sum.
    /// assert_eq!(cpu.mttkrp(MinPlus::new(), &x, &factors, 0).eval()?.values(), [16.0, 27.0]);
    /// # Ok::<(), sparring::Error>(())
    /// ```
    /// Source: Phipps and Kolda 2019, eq. 2.
    pub fn mttkrp<'a, A: Arithmetic<T>, T: Value, I: Index>(
        &'a self,
        ring: A,
        x: &'a Tensor<T, I>,
        factors: &'a [Dense<T>],
        mode: usize,
    ) -> AskedMttkrp<'a, A, T, I> {
        AskedMttkrp { cpu: self, ring, x, factors, mode, variant: None, plan: None, kept: None, beside: 0 }
    }

    /// What the products of `x` with factors of `rank` columns share: copies or permutations, chosen by its shape and
    /// the memory budget, or as `variant` says. The plan borrows `&x`, or shares an `Arc<Tensor>`.
    /// # Errors
    /// [`Error::Budget`](crate::Error::Budget) and [`Error::OutOfMemory`](crate::Error::OutOfMemory), before the memory
    /// is taken; [`Error::IndexOverflow`](crate::Error::IndexOverflow) if `I` cannot number the entries.
    pub fn mttkrp_plan<'x, T: Value, I: Index>(
        &self,
        x: impl Into<TensorRef<'x, T, I>>,
        rank: usize,
        variant: Option<Variant>,
    ) -> Result<Mttkrp<'x, T, I>> {
        self.mttkrp_plan_beside(x, rank, variant, 0)
    }

    /// [`mttkrp_plan`](Self::mttkrp_plan), with `beside` bytes of the caller's counted to the memory budget: factors
    /// and results that are made for the products.
    /// # Errors
    /// Those of [`mttkrp_plan`](Self::mttkrp_plan).
    pub fn mttkrp_plan_beside<'x, T: Value, I: Index>(
        &self,
        x: impl Into<TensorRef<'x, T, I>>,
        rank: usize,
        variant: Option<Variant>,
        beside: u64,
    ) -> Result<Mttkrp<'x, T, I>> {
        Mttkrp::new(self.threads(), x.into(), rank, None, variant, self.left(beside)?)
    }

    /// What a budget leaves beside so many bytes.
    pub(crate) fn left(&self, beside: u64) -> Result<Option<u64>> {
        let left = |budget: u64| {
            let refused = Error::Budget { what: "mttkrp", bytes: beside.into(), budget: budget.into() };
            budget.checked_sub(beside).ok_or(refused)
        };
        self.budget().map(left).transpose()
    }
}

/// An MTTKRP that is asked for; [`eval`](Self::eval) or [`into`](Self::into) compute it.
#[must_use = "nothing is computed before `eval` or `into`"]
#[derive(Debug)]
pub struct AskedMttkrp<'a, A, T, I: Index = u32> {
    cpu: &'a Cpu,
    ring: A,
    x: &'a Tensor<T, I>,
    factors: &'a [Dense<T>],
    mode: usize,
    variant: Option<Variant>,
    plan: Option<&'a Mttkrp<'a, T, I>>,
    kept: Option<&'a mut Kept<T>>,
    beside: u64,
}

impl<'a, A: Arithmetic<T>, T: Value, I: Index> AskedMttkrp<'a, A, T, I> {
    /// Computes it so, if no plan is given.
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variant = Some(variant);
        self
    }
    /// Uses what was prepared for the same tensor.
    pub fn plan(mut self, plan: &'a Mttkrp<'a, T, I>) -> Self {
        self.plan = Some(plan);
        self
    }
    /// One of a sweep through the modes in their order, in which a factor changes only after its own mode: what modes
    /// share is kept.
    pub fn sweep(mut self, kept: &'a mut Kept<T>) -> Self {
        self.kept = Some(kept);
        self
    }
    /// Counts `bytes` of the caller's to the memory budget: factors, say, that are copies made for this product.
    pub fn beside(mut self, bytes: u64) -> Self {
        self.beside = bytes;
        self
    }
    /// The product as a new matrix, a row for each index of the mode.
    /// # Errors
    /// [`Error::Dims`](crate::Error::Dims) if a factor has not as many rows as its mode is long;
    /// [`Error::Shape`](crate::Error::Shape) if the factors' columns differ;
    /// [`Error::Argument`](crate::Error::Argument) if there is no such mode, or the plan is of another tensor;
    /// [`Error::Budget`](crate::Error::Budget); [`Error::OutOfMemory`](crate::Error::OutOfMemory);
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn eval(self) -> Result<Dense<T>> {
        check_mode(self.x.order(), "mode", self.mode)?;
        let other = |(m, _): &(usize, &Dense<T>)| *m != self.mode;
        // Of a vector the factors say nothing, and its only one gives the rank.
        let rank = self.factors.iter().enumerate().find(other).or(self.factors.iter().enumerate().next());
        let rank = rank.map_or(0, |(_, f)| f.ncols());
        let mut out = Dense::filled(self.x.dims()[self.mode], rank, A::ZERO)?;
        self.into(&mut out)?;
        Ok(out)
    }
    /// The product, and how it was computed: the variant and why, and how the mode is.
    /// # Errors
    /// As [`eval`](Self::eval).
    pub fn explain(self) -> Result<(Dense<T>, String)> {
        let (made, how) = explained(|| self.eval());
        Ok((made?, how))
    }
    /// The product into `out`.
    /// # Errors
    /// As [`eval`](Self::eval), and [`Error::Shape`](crate::Error::Shape) if `out` has another shape.
    pub fn into(self, out: &mut Dense<T>) -> Result<()> {
        let (threads, mut own) = (self.cpu.threads(), Kept::default());
        let kept = self.kept.unwrap_or(&mut own);
        let noted = |plan: &Mttkrp<'_, T, I>| {
            note(|| {
                let dims: Vec<String> = self.x.dims().iter().map(ToString::to_string).collect();
                let (dims, nnz, columns) = (dims.join("×"), self.x.nnz(), out.ncols());
                format!("mttkrp: {dims} with {nnz} entries of {}, mode {}, {columns} columns", T::TYPE, self.mode)
            });
            note(|| format!("  {}", plan.how(self.mode)));
        };
        if let Some(plan) = self.plan {
            if !std::ptr::eq(plan.tensor(), self.x) {
                let message = "the plan was made for another tensor".to_owned();
                return Err(Error::Argument { name: "plan", message });
            }
            check_mode(self.x.order(), "mode", self.mode)?;
            noted(plan);
            return plan.mttkrp_into(threads, self.ring, self.factors, self.mode, out, kept);
        }
        check_mode(self.x.order(), "mode", self.mode)?;
        let left = self.cpu.left(self.beside)?;
        let plan = Mttkrp::new(threads, self.x.into(), out.ncols(), Some(self.mode), self.variant, left)?;
        noted(&plan);
        plan.mttkrp_into(threads, self.ring, self.factors, self.mode, out, kept)
    }
}
