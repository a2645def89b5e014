//! Sparse linear algebra over any semiring on the processes of an MPI job: a third machine beside the processor and the
//! GPU.
//!
//! A [`Cluster`] is made by every rank of a job around the machine that it computes on, and becomes a
//! [`Machine`](sparring::runtime::Machine); every operation by name then runs on all ranks together.
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
//! p ranks form a [`Grid`] of r × c, as near to a square as p allows. Rank (i, j) holds one block of every matrix,
//! and n / p places of a vector, so that the ranks of row i of the grid have what its blocks of a product give.
//!
//! | operation | what is sent | received by a rank, in entries |
//! | --- | --- | --- |
//! | mxm | the blocks of A along rows of the grid, of B along columns | nnz(A) / r + nnz(B) / c |
//! | mxv, vxm | x to the ranks of columns and along them, partial results along rows (vxm: the other way) | n / c + m / r |
//! | entry by entry, apply, select, masks, accumulators | nothing | 0 |
//! | reduce | one value a rank | p |
//! | rows reduced or counted | partial results along rows | m / r |
//! | transpose, extract, assign, scatter, diag | entries to the ranks that hold their new places | nnz / p |
//! | distances, neighbours, rows within a radius | the rows of Y, tile after tile in a ring; results to all ranks, or to blocks | nnz(Y) + 2·n·k (all distances: n·m) |
//! | an index asked for neighbours | the rows of X; the nearest of each to the rank that has its row, and from there to all | nnz(X) + 4·n·k |
//! | PageRank, a step | x at rows of blocks that have entries; sums of columns that have entries | n / r + n / c at most |
//! | triangles, m edges | edges to their places in the lower triangle L, panels of L along rows and columns | m / p + m / r + m / c |
//! | a mode of CP-ALS, R columns | rows of V to those who hold them, rows of the factor to the layer, Gram matrices to all | 2·R·n / pₙ + p·R² |
//! | Kronecker product | the operand of fewer entries, to all; entries of the result to those who hold them | min(nnz(A), nnz(B)) + nnz(C) / p |
//!
//! Neighbours: rank r of p has the rows from ⌊n·r / p⌋ on of X, and the tiles of Y come round. CP-ALS: the ranks form
//! a grid with pₙ parts of mode n, p₁ · … · p_d = p; a [`Tensor`] has a block on each rank, and of a tensor that every
//! rank has whole each computes with the entries of its block.
//!
//! ```
//! use std::sync::Arc;
//! use sparring::distance::{Metric, Options};
//! use sparring::factor::CpAls;
//! use sparring::runtime::{Comparison, Machine, Matrix};
//! use sparring::{Cpu, Csr, Tensor};
//! use sparring_cluster::Cluster;
//! let cluster = Cluster::new(Cpu::new())?;
//! let x = Matrix::from(Csr::<f64>::new(3, 2, vec![0, 1, 2, 4], vec![0, 1, 0, 1], vec![1.0, 1.0, 2.0, 1.0])?);
//! let options = Options { exclude_self: true, ..Options::default() };
//! let asked = Comparison { measure: Arc::new(Metric::Cosine), x, y: None, options };
//! assert_eq!(Machine::from(cluster.clone()).neighbours(&asked, 1)?.indices(), [2, 2, 0]);
//! // The outer product of (1, 2), (1, 3) and (1, 4).
//! let dense = [1.0, 4.0, 3.0, 12.0, 2.0, 8.0, 6.0, 24.0];
//! let found = CpAls::new(1).run(&cluster, &Tensor::<f64>::from_dense(vec![2, 2, 2], &dense, 0.0)?)?;
//! assert!((found.fit - 1.0).abs() < 1e-7);
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! # Files and entries
//!
//! [`read_matrix_market`](Cluster::read_matrix_market), [`read_edges`](Cluster::read_edges),
//! [`read_dimacs`](Cluster::read_dimacs) and [`read_frostt`](Cluster::read_frostt) parse a part of a file on each rank,
//! [`write_matrix_market`](Cluster::write_matrix_market) writes a block. [`build`](Cluster::build) and
//! [`build_tensor`](Cluster::build_tensor) take entries from all ranks, [`rmat`](Cluster::rmat) and
//! [`uniform`](Cluster::uniform) draw them, and [`permuted`](Cluster::permuted) gives rows and columns a random order,
//! so that blocks have about as many entries each.
//!
//! # Results
//!
//! Products of matrices fold each entry as one rank does, so they have its bits; so has whatever is no fold. Products
//! with vectors and reductions fold on each rank, and then the partial results in the order of the grid: the same bits
//! in every run on one grid, those of one rank wherever ⊕ is exact (integers, min, max, truth values), and for sums of
//! floats where [`Cluster::set_reproducible`] asks for them.
//!
//! Neighbours have the bits and the order of one rank. Where entries are so large or so small that a measure scales
//! rows by what others hold, every rank compares all of them, in the time of one. CP-ALS has those of one rank up to
//! rounding: rows of V and sums over rows are added up in the order of ranks.
//!
//! # GPUs
//!
//! `Cluster::new(Machine::cuda(Cluster::local_rank()?, None)?)` gives each rank of a node a GPU. With the features
//! `mpi` and `cuda`, blocks and parts of vectors go from one to the other by NCCL, if each rank has one of its own and
//! `libnccl.so` is found; entries that move one by one go by way of the host. The description of the machine says
//! which.
//!
//! # Ranks together
//!
//! All ranks make the same calls in the same order, with the same operators and index lists. Each operation begins
//! with a word from every rank, which finds ranks that call different ones, and ends with one, so that an error of
//! one rank is the error of all. A rank that fails in between sends word of it in the place of its messages: the others
//! do not wait for them. A panic ends the job.

mod blocks;
mod cluster;
mod deal;
mod distances;
mod engine;
mod factor;
mod fold;
mod frostt;
#[cfg(all(feature = "cuda", feature = "mpi"))]
mod gpu_fold;
#[cfg(all(feature = "cuda", feature = "mpi"))]
mod gpu_move;
pub mod graph;
mod grid;
mod link;
#[cfg(feature = "mpi")]
mod mpi_link;
#[cfg(all(feature = "cuda", feature = "mpi"))]
mod nccl;
mod panel;
mod permute;
mod product;
mod random;
mod read;
mod route;
mod tensor;
mod text;
mod unpack;
mod wire;
mod write;

pub use cluster::Cluster;
pub use grid::Grid;
#[cfg(feature = "mpi")]
pub use mpi;
pub use permute::Permutation;
pub use random::Rmat;
pub use tensor::Tensor;
