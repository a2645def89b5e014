//! C⟨M⟩ = A ⊕.⊗ B for a single use, by the fastest algorithm.

use super::matrix::Matrix;
use super::plan::Plan;
use crate::spgemm::MxmInfo;

/// A product, and how it was computed.
#[derive(Clone, Debug)]
pub struct Product {
    matrix: Matrix,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    OnePass(MxmInfo),
    /// By the two phases of an engine without one-pass products.
    Planned(Plan),
}

impl Product {
    /// The same facts with another matrix.
    pub(super) fn with_matrix(self, matrix: Matrix) -> Self {
        Self { matrix, ..self }
    }
    pub(super) fn one_pass(matrix: Matrix, how: MxmInfo) -> Self {
        Self { matrix, how: How::OnePass(how) }
    }
    pub(super) fn planned(matrix: Matrix, plan: Plan) -> Self {
        Self { matrix, how: How::Planned(plan) }
    }
    /// The result.
    #[must_use]
    pub fn matrix(&self) -> &Matrix {
        &self.matrix
    }
    /// The result alone.
    #[must_use]
    pub fn into_matrix(self) -> Matrix {
        self.matrix
    }
    /// Multiplications, including those outside the mask.
    #[must_use]
    pub fn flops(&self) -> u64 {
        match &self.how {
            How::OnePass(info) => info.flops,
            How::Planned(plan) => plan.flops(),
        }
    }
    /// The choices and their reasons.
    #[must_use]
    pub fn explain(&self) -> String {
        match &self.how {
            How::OnePass(info) => info.explain(),
            How::Planned(plan) => plan.explain(),
        }
    }
}
