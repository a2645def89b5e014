//! Decompositions of sparse tensors, written once for all machines.
//!
//! CP: [`CpAls`] fits a [`Kruskal`](crate::tensor::Kruskal) tensor to a sparse tensor by alternating least squares.

mod als;
mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
mod machine;
mod rows;
mod solve;

pub use als::{CpAls, CpFit, CpTensor, Sweep};
pub use cpu::cp_rows;
#[cfg(feature = "cuda")]
pub use cuda::InForm;
pub use machine::{Agreement, CpMachine, CpRows, CpState, Solve};
