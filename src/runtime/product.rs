//! C⟨M⟩ = A ⊕.⊗ B for one use, by whatever takes least time.

use super::engine::{Call, MaskSpec, Op, Operand};
use super::{Machine, Matrix, Plan, Semiring};
use crate::Result;
use crate::spgemm::{Made, Options};

/// A product, and how it was computed.
#[derive(Clone, Debug)]
pub struct Product {
    matrix: Matrix,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    Made(Made),
    /// By an engine that has the two phases alone.
    Planned(Plan),
}

impl Product {
    pub(super) fn made(matrix: Matrix, how: Made) -> Self {
        Self { matrix, how: How::Made(how) }
    }
    pub(super) fn planned(matrix: Matrix, plan: Plan) -> Self {
        Self { matrix, how: How::Planned(plan) }
    }
    /// The result.
    #[must_use]
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }
    /// The result by itself.
    #[must_use]
    pub fn into_matrix(self) -> Matrix {
        self.matrix
    }
    /// Multiplications, those outside of the mask included.
    #[must_use]
    pub fn flops(&self) -> u64 {
        match &self.how {
            How::Made(made) => made.flops,
            How::Planned(plan) => plan.flops(),
        }
    }
    /// What was chosen, and why.
    #[must_use]
    pub fn explain(&self) -> String {
        match &self.how {
            How::Made(made) => made.explain(),
            How::Planned(plan) => plan.explain(),
        }
    }
}

impl Machine {
    /// C = A ⊕.⊗ B.
    /// # Errors
    /// Those of [`mxm_with`](Self::mxm_with).
    pub fn mxm(&self, ring: &Semiring, a: &Matrix, b: &Matrix) -> Result<Matrix> {
        self.engine().run(&Call::binary(Op::Mxm(ring, &Options::default()), a, b))?.try_into()
    }
    /// C⟨M⟩ = A ⊕.⊗ B for one use: only where the mask has an entry, whatever its value, or where it has none (`true`).
    ///
    /// Shapes: `a` m×k, `b` k×n, mask and result m×n. On the processor the algorithm, its cost and the bits of the result are those of
    /// [`spgemm::mxm`](crate::spgemm::mxm), in one pass where that is faster; on a GPU the product is planned and computed. For several products of one
    /// structure see [`plan_masked`](Self::plan_masked).
    /// # Errors
    /// Those of [`plan_masked`](Self::plan_masked) and [`numeric`](Self::numeric).
    /// # Example
    /// ```
    /// use sparring::algebra::Type;
    /// use sparring::runtime::{Machine, Matrix, Semiring};
    /// use sparring::spgemm::Options;
    /// use sparring::{Cpu, Csr};
    /// let a = Matrix::from(Csr::<i64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![1, 2, 3])?);
    /// let (cpu, ring) = (Machine::from(Cpu::new()), Semiring::new("plus_times", Type::I64)?);
    /// let inside = cpu.mxm_with(&ring, &a, &a, Some((&a, false)), &Options::default())?;
    /// let outside = cpu.mxm_with(&ring, &a, &a, Some((&a, true)), &Options::default())?;
    /// assert_eq!((inside.matrix().nnz(), outside.matrix().nnz(), inside.flops()), (3, 1, 5));
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn mxm_with(
        &self,
        ring: &Semiring,
        a: &Matrix,
        b: &Matrix,
        mask: Option<(&Matrix, bool)>,
        options: &Options,
    ) -> Result<Product> {
        let mask = mask.map(|(m, complement)| MaskSpec { structure: Operand::Matrix(m), complement });
        self.engine().product(ring, a, b, mask, options)
    }
}
