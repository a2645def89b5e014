//! C⟨M⟩ = A ⊕.⊗ B for one use, by whatever takes least time.

use super::matrix::Matrix;
use super::plan::Plan;
use crate::spgemm::Made;

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
