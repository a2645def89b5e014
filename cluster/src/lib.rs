//! Sparse linear algebra over any semiring on the processes of an MPI job: a third machine beside the processor and the
//! GPU.
//!
//! A [`Cluster`] is made by every rank of a job around the machine that it computes on, and becomes a
//! [`Machine`]; every operation by name then runs on all ranks together.
//!
//! ```
//! use sparring::algebra::Type;
//! use sparring::runtime::{Machine, Matrix, Semiring};
//! use sparring::{Cpu, Csr};
//! use sparring_cluster::Cluster;
//! let cluster = Cluster::new(Cpu::new())?;
//! let machine = Machine::from(cluster.clone());
//! // Every rank has the same matrix here, and keeps its block of it.
//! let a = machine.upload(&Matrix::from(Csr::<i64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![1, 2, 3])?))?;
//! let c = machine.mxm(&Semiring::new("plus_times", Type::I64)?, &a, &a)?;
//! assert_eq!(c.download()?.csr::<i64>().unwrap().values(), [7, 2, 3, 6]);
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! # Who holds what
//!
//! p ranks form a [`Grid`] of r × c, as near to a square as p allows. Rank (i, j) holds one block of every matrix, and n / p
//! places of a vector, so that the ranks of row i of the grid have what its blocks of a product give.
//!
//! | operation | what is sent | received by a rank, in entries |
//! | --- | --- | --- |
//! | mxm | the blocks of A along rows of the grid, of B along columns | nnz(A) / r + nnz(B) / c |
//! | mxv, vxm | x to the ranks of columns and along them, partial results along rows (vxm: the other way) | n / c + m / r |
//! | entry by entry, apply, select, masks, accumulators | nothing | 0 |
//! | reduce | one value a rank | p |
//! | rows reduced or counted | partial results along rows | m / r |
//! | transpose, extract, assign, scatter, diag | entries to the ranks that hold their new places | nnz / p |
//! | Kronecker product | both operands | nnz |
//!
//! # Results
//!
//! Products of matrices fold each entry as one rank does, so they have its bits; so has whatever is no fold. Products
//! with vectors and reductions fold on each rank, and then the partial results in the order of the grid: the same bits
//! in every run on one grid, those of one rank wherever ⊕ is exact (integers, min, max, truth values), and for sums of
//! floats where [`Cluster::set_reproducible`] asks for them.
//!
//! # Ranks together
//!
//! All ranks make the same calls in the same order, with the same operators and index lists. Each operation begins with a
//! word from every rank, which finds ranks that call different ones, and ends with one, so that an error of one rank is
//! the error of all. A panic ends the job.

mod blocks;
mod cluster;
mod dense;
mod engine;
mod fold;
pub mod graph;
mod grid;
mod link;
#[cfg(feature = "mpi")]
mod mpi_link;
mod product;
mod read;
mod route;
mod wire;

pub use cluster::Cluster;
pub use grid::Grid;
#[cfg(feature = "mpi")]
pub use mpi;
