//! Lengths of shortest paths.

use std::sync::Arc;

use sparring::Result;
use sparring::algebra::{Array, Type};
use sparring::runtime::{Machine, Matrix, Vector};

use super::{check, graph_of, on_one_rank, on_ranks, paths};
use crate::blocks::Piece;
use crate::wire::{broken, reserved};

/// The least sum of weights on a path from `source` to each vertex that it reaches: f64. Weights are the values of
/// `a`, as doubles.
///
/// A sum is rounded edge by edge from the source on, and the least of these sums is the result: it has the same bits on
/// any number of ranks. An edge of infinite weight leads nowhere. Cost on r × c ranks: O(m / p) for each in the mean
/// over random weights, at most 12 bytes for each row and column of a block in a round, and a round for each Δ that the
/// lengths span or a few, where Δ is the mean weight or more; with a negative weight, O(m / p) for each of at most n
/// rounds.
/// # Errors
/// [`Error::NotSquare`](sparring::Error::NotSquare); [`Error::Argument`](sparring::Error::Argument) for a vertex that
/// is not there, a weight that is NaN, and a cycle of negative length that `source` reaches;
/// [`Error::Unsupported`](sparring::Error::Unsupported) for complex weights; those of [`Matrix::cast`] and of the
/// machine.
/// # Example
/// ```
/// use sparring::{Cpu, Csr, runtime::{Machine, Matrix}};
/// use sparring_cluster::{Cluster, graph::sssp};
/// // 0 → 1 costs 5, by way of 2 it costs 3.
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
            // A negative weight.
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
    let made = reached(&lengths).and_then(|lengths| {
        let count = lengths.nvals()?;
        Ok((shared.inner.upload_vector(&lengths)?, count))
    });
    let (piece, nnz) = shared.finish(made)?;
    Ok(Piece { shared: Arc::clone(shared), len: n, nnz, piece }.into())
}

/// The entries of those that are finite.
fn reached(lengths: &[f64]) -> Result<Vector> {
    let found = || lengths.iter().enumerate().filter(|(_, length)| **length < f64::INFINITY);
    let count = found().count();
    let (mut places, mut values) = (reserved(count, "vertices")?, reserved(count, "lengths")?);
    for (place, &length) in found() {
        places.push(place as u32);
        values.push(length);
    }
    Vector::new(lengths.len(), places, Array::of(values))
}
