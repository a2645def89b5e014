//! The processor as a backend.

use std::ops::ControlFlow;

use super::Mxm;
use crate::algebra::{Lhs, Out, Rhs, Semiring, Value};
use crate::par::{Progress, Threads};
use crate::spgemm::{self, Options, Plan, Request};
use crate::{Csr, Index, Pattern, Result};

/// The processor: a pool of threads and the settings of the operations that run on it.
#[derive(Debug, Default)]
pub struct Cpu {
    threads: Threads,
    pub(super) budget: Option<u64>,
}

impl Cpu {
    /// The threads of the pool that the caller is in.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// `n` threads of its own.
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) for 0, [`Error::Threads`](crate::Error::Threads) if the system refuses.
    pub fn with_threads(n: usize) -> Result<Self> {
        Ok(Self { threads: Threads::new(n)?, ..Self::default() })
    }
    /// Refuses operations whose results and scratch memory would exceed `bytes`.
    #[must_use]
    pub fn memory_budget(mut self, bytes: u64) -> Self {
        self.budget = Some(bytes);
        self
    }
    /// Reports progress of long operations to `f`, which may stop them.
    #[must_use]
    pub fn on_progress(mut self, f: impl Fn(Progress) -> ControlFlow<()> + Send + Sync + 'static) -> Self {
        self.threads = self.threads.on_progress(f);
        self
    }
    /// The pool of threads.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Symbolic phase of C = A·B: patterns only, no values, no semiring.
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::Budget`](crate::Error::Budget).
    pub fn plan<T: Value, U: Value, I: Index>(&self, a: &Csr<T, I>, b: &Csr<U, I>) -> Result<Plan<I>> {
        self.plan_with(a, b, &Options::default())
    }
    /// Symbolic phase with options.
    /// # Errors
    /// Those of [`plan`](Self::plan).
    pub fn plan_with<T: Value, U: Value, I: Index>(
        &self,
        a: &Csr<T, I>,
        b: &Csr<U, I>,
        options: &Options,
    ) -> Result<Plan<I>> {
        spgemm::symbolic(&self.threads, a.pattern(), b.pattern(), &Request { options, budget: self.budget, mask: None })
    }
    /// Symbolic phase of C⟨M⟩ = A·B, or of C⟨¬M⟩ if `complement`: entries outside the mask are never collected,
    /// and the numeric phase never multiplies for them.
    /// # Errors
    /// Those of [`plan`](Self::plan); [`Error::Shape`](crate::Error::Shape) if the mask has another shape than C.
    pub fn plan_masked<T: Value, U: Value, I: Index>(
        &self,
        a: &Csr<T, I>,
        b: &Csr<U, I>,
        mask: &Pattern<I>,
        complement: bool,
        options: &Options,
    ) -> Result<Plan<I>> {
        let request = Request { options, budget: self.budget, mask: Some((mask, complement)) };
        spgemm::symbolic(&self.threads, a.pattern(), b.pattern(), &request)
    }
    /// Numeric phase: values of C over `ring`, with the structure of the plan.
    /// # Errors
    /// [`Error::PatternChanged`](crate::Error::PatternChanged), [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn numeric<R: Semiring, I: Index>(
        &self,
        plan: &Plan<I>,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        b: &Csr<Rhs<R>, I>,
    ) -> Result<Csr<Out<R>, I>> {
        spgemm::numeric(&self.threads, self.budget, plan, ring, a, b)
    }
    /// Numeric phase into a matrix that this plan made before: no allocation.
    /// # Errors
    /// [`Error::PatternChanged`](crate::Error::PatternChanged).
    pub fn numeric_into<R: Semiring, I: Index>(
        &self,
        plan: &Plan<I>,
        ring: R,
        a: &Csr<Lhs<R>, I>,
        b: &Csr<Rhs<R>, I>,
        c: &mut Csr<Out<R>, I>,
    ) -> Result<()> {
        spgemm::numeric_into(&self.threads, plan, ring, a, b, c)
    }
    /// C⟨M⟩ = A ⊕.⊗ B, with mask and options chained: `cpu.mxm(ring, &a, &b).mask(&m).eval()?`.
    pub fn mxm<'a, R: Semiring, I: Index>(
        &'a self,
        ring: R,
        a: &'a Csr<Lhs<R>, I>,
        b: &'a Csr<Rhs<R>, I>,
    ) -> Mxm<'a, R, I> {
        Mxm::new(self, ring, a, b)
    }
}
