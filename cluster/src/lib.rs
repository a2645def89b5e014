//! Sparse linear algebra over any semiring on the processes of an MPI job: a third backend beside CPU and GPU.
//!
//! Every rank of a job constructs a [`Cluster`] around its local device and converts it into a
//! [`Machine`](sparring::runtime::Machine). Every operation of the run-time API is then collective over all ranks.
//!
//! ```
//! use sparring::algebra::Type;
//! use sparring::runtime::{Machine, Matrix, Semiring};
//! use sparring::{Cpu, Csr};
//! use sparring_cluster::Cluster;
//! let cluster = Cluster::new(Cpu::new())?;
//! let machine = Machine::from(cluster.clone());
//! // Every rank passes the same matrix and stores its own block.
//! let a = machine.upload(&Matrix::from(Csr::<i64>::new(2, 2, vec![0, 2, 3], vec![0, 1, 0], vec![1, 2, 3])?))?;
//! let c = machine.mxm(&Semiring::new("plus_times", Type::I64)?, &a, &a)?;
//! assert_eq!(c.download()?.csr::<i64>().unwrap().values(), [7, 2, 3, 6]);
//! # Ok::<(), sparring::Error>(())
//! ```
//!
//! # Data distribution
//!
//! p ranks form a [`Grid`] of r × c, as close to a square as p allows. Rank (i, j) owns one block of every matrix and
//! n / p elements of every vector. The vector pieces of row i of the grid together match the rows of its blocks.
//!
//! | operation | communication | received per rank, in entries |
//! | --- | --- | --- |
//! | mxm | blocks of A along grid rows, blocks of B along grid columns | nnz(A) / r + nnz(B) / c |
//! | mxv, vxm | x redistributed to and gathered along grid columns, partial results along rows (vxm: vice versa) | n / c + m / r |
//! | element-wise operations, apply, select, masks, accumulators | none | 0 |
//! | reduce | one value per rank | p |
//! | row reductions and row counts | partial results along grid rows | m / r |
//! | transpose, extract, assign, scatter, diag | entries to their new owners | nnz / p |
//! | pairwise distances, kNN, radius search | tiles of rows of Y around a ring; results to all ranks, or to blocks | nnz(Y) + 2·n·k (all distances: n·m) |
//! | kNN query of an index | all rows of X; candidates to the owner of each row, merged results to all | nnz(X) + 4·n·k |
//! | PageRank, per step | x at non-empty rows of blocks; sums of non-empty columns | n / r + n / c at most |
//! | triangles, m edges | edges to their owners in the lower triangle L; panels of L along rows and columns | m / p + m / r + m / c |
//! | one mode of CP-ALS, R columns | rows of V to their owners, factor rows to the layer, Gram matrices to all | 2·R·n / pₙ + p·R² |
//! | Kronecker product | the operand with fewer entries to all; entries of the result to their owners | min(nnz(A), nnz(B)) + nnz(C) / p |
//!
//! Nearest neighbours: rank r of p owns the rows of X from ⌊n·r / p⌋ on, and the tiles of Y circulate. CP-ALS: the
//! ranks form a grid with pₙ parts along mode n, p₁ · … · p_d = p. A [`Tensor`] is stored as one block per rank. Of a
//! tensor replicated on every rank, each rank uses the entries of its block.
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
//! let query = Comparison { measure: Arc::new(Metric::Cosine), x, y: None, options };
//! assert_eq!(Machine::from(cluster.clone()).neighbours(&query, 1)?.indices(), [2, 2, 0]);
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
//! [`read_dimacs`](Cluster::read_dimacs) and [`read_frostt`](Cluster::read_frostt) parse one part of a file per rank,
//! and [`write_matrix_market`](Cluster::write_matrix_market) writes one block per rank. [`build`](Cluster::build) and
//! [`build_tensor`](Cluster::build_tensor) assemble entries contributed by all ranks. [`rmat`](Cluster::rmat) and
//! [`uniform`](Cluster::uniform) generate random matrices. [`permuted`](Cluster::permuted) permutes rows and columns
//! randomly, which balances the number of entries per block.
//!
//! # Results
//!
//! Matrix products fold each entry in the order of one rank and are therefore bitwise identical to it, as is every
//! operation that does not fold. Matrix–vector products and reductions fold locally, then fold the partial results in
//! grid order. Every run on one grid gives the same bits. They equal those of one rank where ⊕ is exact (integers, min,
//! max, Booleans), and for sums of floats if [`Cluster::set_reproducible`] is set.
//!
//! Nearest neighbours are bitwise identical to those of one rank, ties included. Where entries are so large or so small
//! that a measure scales rows by a global range, every rank computes all comparisons, in the time of one rank. CP-ALS
//! agrees with one rank up to rounding, because rows of V and sums over rows are accumulated in rank order.
//!
//! # GPUs
//!
//! `Cluster::new(Machine::cuda(Cluster::local_rank()?, None)?)` assigns one GPU to each rank of a node. With the
//! features `mpi` and `cuda`, blocks and pieces of vectors are exchanged between GPUs by NCCL, provided that each rank
//! has a GPU of its own and `libnccl.so` is installed. Entries that are routed one by one are staged through the host.
//! The description of the device says which path is in use.
//!
//! # Collective calls
//!
//! All ranks make the same calls in the same order, with the same operators and index lists. Each operation starts with
//! a handshake that detects mismatched calls, and ends with one that propagates an error of any rank to all. A rank
//! that fails in between sends a failure notice in place of its messages, so that no other rank blocks. A panic aborts
//! the job.

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
