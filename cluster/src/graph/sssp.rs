//! Single-source shortest path lengths.

use sparring::Result;
use sparring::algebra::Type;
use sparring::runtime::{Machine, Matrix, Vector};

use super::{check, distributed, entries, graph_of, on_one_rank, on_ranks, paths};
use crate::wire::broken;

/// The minimum sum of weights over paths from `source` to each reachable vertex: f64. Weights are the values of `a`,
/// cast to f64.
///
/// Sums are rounded edge by edge from the source on, and the result is the minimum of these sums: bitwise identical on
/// any number of ranks. Edges of infinite weight are ignored. Cost on r × c ranks: O(m / p) time per rank, on average
/// over random weights; at most 12 bytes per row and column of a block in a round; and one round or a few per interval
/// of length Δ that the distances span, where Δ is at least the mean weight. With negative weights, O(m / p) for each
/// of at most n rounds.
/// # Errors
/// [`Error::NotSquare`](sparring::Error::NotSquare); [`Error::Argument`](sparring::Error::Argument) for a vertex out of
/// range, a NaN weight, or a negative cycle reachable from `source`;
/// [`Error::Unsupported`](sparring::Error::Unsupported) for complex weights; those of [`Matrix::cast`] and of the
/// backend.
/// # Example
/// ```
/// use sparring::{Cpu, Csr, runtime::{Machine, Matrix}};
/// use sparring_cluster::{Cluster, graph::sssp};
/// // The edge 0 → 1 costs 5, the path by way of 2 costs 3.
/// let a = Matrix::from(Csr::<f32>::new(3, 3, vec![0, 2, 2, 3], vec![1, 2, 1], vec![5.0, 1.0, 2.0])?);
/// let lengths = sssp(&Machine::from(Cluster::new(Cpu::new())?), &a, 0)?.download()?;
/// assert_eq!(lengths.typed::<f64>().unwrap().as_full(), Some(&[0.0, 3.0, 1.0][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Meyer, Sanders 2003; Bellman 1958.
pub fn sssp(machine: &Machine, a: &Matrix, source: usize) -> Result<Vector> {
    let n = check("sssp", a, Some(source))?;
    if let Some(one) = on_one_rank(machine) {
        let graph = graph_of(one, a, true)?;
        let lengths = match sparring::graph::sssp(one, &graph, source) {
            // Some weight is negative.
            Err(sparring::Error::Argument { .. }) => {
                sparring::graph::bellman_ford(&sparring::Cpu::new(), &graph, source)?.distances
            }
            lengths => lengths?,
        };
        return machine.upload_vector(&reached(&lengths)?);
    }
    let (shared, block) = on_ranks(machine, "sssp", a)?;
    let block = shared.ready(block.cast(Type::F64))?;
    let lengths = paths::lengths(shared, n, a.nnz(), block.csr::<f64>().ok_or_else(broken), source)?;
    distributed(shared, n, reached(&lengths))
}

/// The vector of the finite lengths.
fn reached(lengths: &[f64]) -> Result<Vector> {
    entries(lengths.len(), lengths.iter().copied().enumerate().filter(|(_, length)| *length < f64::INFINITY))
}
