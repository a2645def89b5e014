//! What CP-ALS needs of a machine: one step each of the algorithm, on factors that stay where they are.

use std::time::Duration;

use crate::algebra::Real;
use crate::tensor::{Kruskal, Norm, Tensor, Variant};
use crate::{Dense, Index, Result};

/// How the factor of a mode is found from its product with the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solve {
    /// ρ ≥ 0, added to the diagonal of Υ.
    pub ridge: f64,
    /// The best factor without negative elements.
    pub nonnegative: bool,
}

/// What a sweep leaves: ⟨X, M⟩ and ‖M‖², as f64 whatever the values are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Agreement {
    /// ⟨X, M⟩.
    pub inner: f64,
    /// ‖M‖².
    pub model: f64,
    /// Systems so far whose Υ was singular.
    pub singular: usize,
}

/// A machine on which [`CpAls`](super::CpAls) runs.
pub trait CpMachine<T: Real, I: Index> {
    /// Refuses a rank whose factors the machine has no room for, before any is made.
    /// # Errors
    /// [`Error::Budget`](crate::Error::Budget), [`Error::OutOfMemory`](crate::Error::OutOfMemory), with the bytes.
    fn cp_room(&self, x: &Tensor<T, I>, rank: usize) -> Result<()>;
    /// Takes the tensor and the factors to the machine and prepares their products.
    /// # Errors
    /// As [`Cpu::mttkrp_plan`](crate::Cpu::mttkrp_plan), and what the machine may fail with.
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

/// The steps of a sweep. Modes come in their order, and a factor changes in the steps of its own mode only.
///
/// # Errors
/// Each step fails with what the machine may fail with, and when the caller's progress says stop.
pub trait CpState<T: Real> {
    /// Gₙ = AₙᵀAₙ.
    fn gram(&mut self, mode: usize) -> Result<()>;
    /// V = X₍ₙ₎ (⊙ Aₘ), kept until the next.
    fn mttkrp(&mut self, mode: usize) -> Result<()>;
    /// Aₙ = V Υ⁺, with Υ = ⊛_{m ≠ n} Gₘ + ρ I: of all factors that fit equally well the one of minimum norm. Never a
    /// worse fit than before where Υ is singular.
    fn solve(&mut self, mode: usize, how: Solve) -> Result<()>;
    /// λ = the norms of the columns of Aₙ, which are divided by them.
    fn normalise(&mut self, mode: usize, norm: Norm) -> Result<()>;
    /// After [`mttkrp`](Self::mttkrp), [`solve`](Self::solve) and [`normalise`](Self::normalise) of `mode` and
    /// [`gram`](Self::gram) of all.
    fn agreement(&mut self, mode: usize) -> Result<Agreement>;
    /// The model as it is.
    fn model(&self) -> Result<Kruskal<T>>;
    /// Takes another start with the same tensor; λ = 1.
    fn restart(&mut self, factors: Vec<Dense<T>>) -> Result<()>;
    /// What was chosen for the products, and why.
    fn explain(&self) -> String;
    /// Whether the run stops, where this caller wants it: several that run together stop together.
    fn stops(&self, wanted: bool) -> Result<bool> {
        Ok(wanted)
    }
    /// Waits until the steps so far are done, so that they can be timed.
    fn finish(&self) -> Result<()> {
        Ok(())
    }
    /// Time of all products so far, where the machine takes it itself; where it does not, a product is done when its
    /// step returns.
    fn products_time(&mut self) -> Result<Option<Duration>> {
        Ok(None)
    }
}

/// Rows of factors that are here, where others hold the others: what their steps on the processor ask of the rest.
///
/// All sums over the rows of a factor are those of the rows here until [`sum`](Self::sum) has added the others'.
///
/// # Errors
/// Each fails with what the exchange may fail with.
pub trait CpRows<T: Real> {
    /// Rows here of V = X₍ₙ₎ (⊙ Aₘ), into `rows`.
    fn mttkrp(&mut self, mode: usize, rows: &mut Dense<T>) -> Result<()>;
    /// The rows here of a factor are these; products after it are with them.
    fn changed(&mut self, mode: usize, rows: &Dense<T>) -> Result<()>;
    /// Adds the sums of all others, the same bits everywhere.
    fn sum(&self, sums: &mut [f64]) -> Result<()>;
    /// Norms of columns, from those of the rows here.
    fn norms(&self, norm: Norm, norms: &mut [T]) -> Result<()>;
    /// What was chosen for the products, and why.
    fn explain(&self) -> String;
}
