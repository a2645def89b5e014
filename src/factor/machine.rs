//! The interface of a machine on which CP-ALS runs: the steps of the algorithm, on factors that stay on the machine.

use std::time::Duration;

use crate::algebra::Real;
use crate::tensor::{Kruskal, Norm, Tensor, Variant};
use crate::{Dense, Index, Result};

/// Options of the least-squares problem for one factor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solve {
    /// ρ ≥ 0, added to the diagonal of Υ.
    pub ridge: f64,
    /// Constrains the factor to be nonnegative.
    pub nonnegative: bool,
}

/// ⟨X, M⟩ and ‖M‖² after a sweep, in f64 for any value type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// ⟨X, M⟩.
    pub inner: f64,
    /// ‖M‖².
    pub model: f64,
    /// Number of systems so far with singular Υ.
    pub singular: usize,
}

/// A machine on which [`CpAls`](super::CpAls) runs.
pub trait CpMachine<T: Real, I: Index> {
    /// Checks that the machine has memory for factors of this rank, before any is allocated.
    /// # Errors
    /// [`Error::Budget`](crate::Error::Budget), [`Error::OutOfMemory`](crate::Error::OutOfMemory), with the required
    /// bytes.
    fn cp_room(&self, x: &Tensor<T, I>, rank: usize) -> Result<()>;
    /// Transfers the tensor and the factors to the machine and prepares their products.
    /// # Errors
    /// As [`Cpu::mttkrp_plan`](crate::Cpu::mttkrp_plan), and errors of the machine.
    fn cp_state<'x>(
        &'x self,
        x: &'x Tensor<T, I>,
        factors: Vec<Dense<T>>,
        variant: Option<Variant>,
    ) -> Result<Box<dyn CpState<T> + 'x>>;
}

impl<T: Real, I: Index> CpMachine<T, I> for &dyn CpMachine<T, I> {
    fn cp_room(&self, x: &Tensor<T, I>, rank: usize) -> Result<()> {
        (**self).cp_room(x, rank)
    }
    fn cp_state<'x>(
        &'x self,
        x: &'x Tensor<T, I>,
        factors: Vec<Dense<T>>,
        variant: Option<Variant>,
    ) -> Result<Box<dyn CpState<T> + 'x>> {
        (**self).cp_state(x, factors, variant)
    }
}

/// The steps of a sweep. Modes are processed in order, and a factor changes only in the steps of its own mode.
///
/// # Errors
/// Each step returns the machine's errors, and an error when the caller's progress callback requests a stop.
pub trait CpState<T: Real> {
    /// Gₙ = AₙᵀAₙ.
    fn gram(&mut self, mode: usize) -> Result<()>;
    /// V = X₍ₙ₎ (⊙ Aₘ), valid until the next call.
    fn mttkrp(&mut self, mode: usize) -> Result<()>;
    /// Aₙ = V Υ⁺, with Υ = ⊛_{m ≠ n} Gₘ + ρ I: the least-squares solution of minimum norm. Where Υ is singular, the fit
    /// is never worse than before.
    fn solve(&mut self, mode: usize, how: Solve) -> Result<()>;
    /// λ = the column norms of Aₙ; divides the columns of Aₙ by them.
    fn normalize(&mut self, mode: usize, norm: Norm) -> Result<()>;
    /// ⟨X, M⟩ and ‖M‖². Requires [`mttkrp`](Self::mttkrp), [`solve`](Self::solve) and [`normalize`](Self::normalize) of
    /// `mode`, and [`gram`](Self::gram) of all modes.
    fn agreement(&mut self, mode: usize) -> Result<Agreement>;
    /// The current model.
    fn model(&self) -> Result<Kruskal<T>>;
    /// Restarts from these factors with the same tensor; λ = 1.
    fn restart(&mut self, factors: Vec<Dense<T>>) -> Result<()>;
    /// The method chosen for the products, and the reason.
    fn explain(&self) -> String;
    /// Whether the run stops, given that this caller wants it to; processes that run together stop together.
    fn stops(&self, wanted: bool) -> Result<bool> {
        Ok(wanted)
    }
    /// Waits until all previous steps are complete, for timing.
    fn finish(&self) -> Result<()> {
        Ok(())
    }
    /// Total time of the products so far, if the machine measures it; otherwise a product is complete when its step
    /// returns.
    fn products_time(&mut self) -> Result<Option<Duration>> {
        Ok(None)
    }
}

/// Distributed factors: the operations by which CP-ALS on the local rows obtains data from the other processes.
///
/// Sums over the rows of a factor cover the local rows only, until [`sum`](Self::sum) adds those of the other
/// processes.
///
/// # Errors
/// Each returns the errors of the communication.
pub trait CpRows<T: Real> {
    /// The local rows of V = X₍ₙ₎ (⊙ Aₘ), into `rows`.
    fn mttkrp(&mut self, mode: usize, rows: &mut Dense<T>) -> Result<()>;
    /// Publishes the new local rows of a factor, used by all later products.
    fn changed(&mut self, mode: usize, rows: &Dense<T>) -> Result<()>;
    /// Adds the sums of all other processes, bitwise the same on every process.
    fn sum(&self, sums: &mut [f64]) -> Result<()>;
    /// Global column norms, from the norms of the local rows.
    fn norms(&self, norm: Norm, norms: &mut [T]) -> Result<()>;
    /// The method chosen for the products, and the reason.
    fn explain(&self) -> String;
}
