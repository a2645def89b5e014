//! A product with its optional parts chained.

use crate::algebra::{Lhs, Out, Rhs, Semiring, Value};
use crate::spgemm::{Options, Plan};
use crate::{Cpu, Csr, Index, Pattern, Result};

/// A product about to be computed.
#[must_use = "call eval()"]
pub struct Mxm<'a, R: Semiring, I: Index> {
    cpu: &'a Cpu,
    ring: R,
    a: &'a Csr<Lhs<R>, I>,
    b: &'a Csr<Rhs<R>, I>,
    mask: Option<&'a Pattern<I>>,
    complement: bool,
    options: Options,
}

impl<'a, R: Semiring, I: Index> Mxm<'a, R, I> {
    pub(crate) fn new(cpu: &'a Cpu, ring: R, a: &'a Csr<Lhs<R>, I>, b: &'a Csr<Rhs<R>, I>) -> Self {
        Self { cpu, ring, a, b, mask: None, complement: false, options: Options::default() }
    }
    /// Computes only entries that `mask` has (structural mask).
    pub fn mask(mut self, mask: &'a Pattern<I>) -> Self {
        self.mask = Some(mask);
        self
    }
    /// Computes only entries that the mask does not have.
    pub fn complement(mut self) -> Self {
        self.complement = true;
        self
    }
    /// How to compute it.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }
    /// The product.
    /// # Errors
    /// Those of [`Cpu::plan`]; [`Error::Shape`](crate::Error::Shape) if the mask has another shape.
    pub fn eval(self) -> Result<Csr<Out<R>, I>> {
        let plan = plan(self.cpu, self.a, self.b, self.mask, self.complement, &self.options)?;
        self.cpu.numeric(&plan, self.ring, self.a, self.b)
    }
}

/// The plan of [`Mxm::eval`], which is the same code for all semirings.
fn plan<T: Value, U: Value, I: Index>(
    cpu: &Cpu,
    a: &Csr<T, I>,
    b: &Csr<U, I>,
    mask: Option<&Pattern<I>>,
    complement: bool,
    options: &Options,
) -> Result<Plan<I>> {
    match mask {
        Some(mask) => cpu.plan_masked(a, b, mask, complement, options),
        // The complement of no mask at all lets nothing through (GraphBLAS C API 2.1, §2.7).
        None if complement => cpu.plan_masked(a, b, &Pattern::empty(a.nrows(), b.ncols())?, false, options),
        None => cpu.plan_with(a, b, options),
    }
}
