//! MTTKRP of sparse tensors on [`Cpu`].

use crate::algebra::Value;
use crate::par::{explained, note};
use crate::tensor::{Arithmetic, Mttkrp, MttkrpCache, Tensor, TensorRef, Variant, check_mode};
use crate::{Cpu, Dense, Error, Index, Result};

impl Cpu {
    /// `V(i, r) = ⊕ x ⊗ ⊗_{m ≠ mode} Aₘ(iₘ, r)` over the entries of `x` whose index in `mode` is i: the matricized
    /// tensor times the Khatri–Rao product of the other factors, `cpu.mttkrp(ring, &x, &factors, mode).eval()?`.
    ///
    /// Factors are nₘ × R; that of `mode` is not read. ⊗ is assumed to be commutative. Cost: O(d·R·nnz). Several
    /// products of one tensor can share a plan ([`mttkrp_plan`](Self::mttkrp_plan)). Results are bitwise identical for
    /// any number of threads (except for variants A and B); variants differ by rounding.
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
    ) -> MttkrpBuilder<'a, A, T, I> {
        MttkrpBuilder { cpu: self, ring, x, factors, mode, variant: None, plan: None, cache: None, beside: 0 }
    }

    /// A plan for products of `x` with factors of `rank` columns: sorted copies or permutations, chosen by the shape
    /// and the memory budget, or by `variant`. The plan borrows `&x`, or shares an `Arc<Tensor>`.
    /// # Errors
    /// [`Error::Budget`](crate::Error::Budget) and [`Error::OutOfMemory`](crate::Error::OutOfMemory), before memory is
    /// allocated; [`Error::IndexOverflow`](crate::Error::IndexOverflow) if `I` cannot number the entries.
    pub fn mttkrp_plan<'x, T: Value, I: Index>(
        &self,
        x: impl Into<TensorRef<'x, T, I>>,
        rank: usize,
        variant: Option<Variant>,
    ) -> Result<Mttkrp<'x, T, I>> {
        self.mttkrp_plan_beside(x, rank, variant, 0)
    }

    /// [`mttkrp_plan`](Self::mttkrp_plan), with `beside` bytes of the caller counted against the memory budget, such as
    /// factors and results of the products.
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

    /// The budget minus `beside` bytes.
    pub(crate) fn left(&self, beside: u64) -> Result<Option<u64>> {
        let left = |budget: u64| {
            let refused = Error::Budget { what: "mttkrp", bytes: beside.into(), budget: budget.into() };
            budget.checked_sub(beside).ok_or(refused)
        };
        self.budget().map(left).transpose()
    }
}

/// A builder for an MTTKRP; [`eval`](Self::eval) or [`into`](Self::into) computes it.
#[must_use = "nothing is computed before `eval` or `into`"]
#[derive(Debug)]
pub struct MttkrpBuilder<'a, A, T, I: Index = u32> {
    cpu: &'a Cpu,
    ring: A,
    x: &'a Tensor<T, I>,
    factors: &'a [Dense<T>],
    mode: usize,
    variant: Option<Variant>,
    plan: Option<&'a Mttkrp<'a, T, I>>,
    cache: Option<&'a mut MttkrpCache<T>>,
    beside: u64,
}

impl<'a, A: Arithmetic<T>, T: Value, I: Index> MttkrpBuilder<'a, A, T, I> {
    /// Sets the variant; a plan takes precedence.
    pub fn variant(mut self, variant: Variant) -> Self {
        self.variant = Some(variant);
        self
    }
    /// Uses a plan for the same tensor.
    pub fn plan(mut self, plan: &'a Mttkrp<'a, T, I>) -> Self {
        self.plan = Some(plan);
        self
    }
    /// Declares the product part of a sweep through the modes in order, in which a factor changes only after its own
    /// mode. Intermediate results shared by modes are cached in `cache`.
    pub fn sweep(mut self, cache: &'a mut MttkrpCache<T>) -> Self {
        self.cache = Some(cache);
        self
    }
    /// Counts `bytes` of the caller against the memory budget, such as copies of factors for this product.
    pub fn beside(mut self, bytes: u64) -> Self {
        self.beside = bytes;
        self
    }
    /// The product as a new matrix, with a row for each index of the mode.
    /// # Errors
    /// [`Error::Dims`](crate::Error::Dims) if the number of rows of a factor differs from the size of its mode;
    /// [`Error::Shape`](crate::Error::Shape) if the numbers of columns of the factors differ;
    /// [`Error::Argument`](crate::Error::Argument) for an invalid mode or a plan of another tensor;
    /// [`Error::Budget`](crate::Error::Budget); [`Error::OutOfMemory`](crate::Error::OutOfMemory);
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn eval(self) -> Result<Dense<T>> {
        check_mode(self.x.order(), "mode", self.mode)?;
        let other = |(m, _): &(usize, &Dense<T>)| *m != self.mode;
        // A tensor of order 1 has no other factor; its only one gives the rank.
        let rank = self.factors.iter().enumerate().find(other).or(self.factors.iter().enumerate().next());
        let rank = rank.map_or(0, |(_, f)| f.ncols());
        let mut out = Dense::filled(self.x.dims()[self.mode], rank, A::ZERO)?;
        self.into(&mut out)?;
        Ok(out)
    }
    /// The product, and a description of the computation: the variant, the reason for it, and the method for the mode.
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
        let (threads, mut own) = (self.cpu.threads(), MttkrpCache::default());
        let cache = self.cache.unwrap_or(&mut own);
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
            return plan.mttkrp_into(threads, self.ring, self.factors, self.mode, out, cache);
        }
        check_mode(self.x.order(), "mode", self.mode)?;
        let left = self.cpu.left(self.beside)?;
        let plan = Mttkrp::new(threads, self.x.into(), out.ncols(), Some(self.mode), self.variant, left)?;
        noted(&plan);
        plan.mttkrp_into(threads, self.ring, self.factors, self.mode, out, cache)
    }
}
