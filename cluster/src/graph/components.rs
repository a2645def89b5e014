//! Connected components.

use sparring::Result;
use sparring::algebra::Array;
use sparring::runtime::{Machine, Matrix, Vector};

use super::{check, contract, distributed, graph_of, on_one_rank, on_ranks};
use crate::wire::{broken, collected};

/// The smallest vertex of the (weakly) connected component of each vertex: u64.
///
/// Cost on r × c ranks: O(m / p) time per rank and O(log n) rounds of communication, of at most n / r + n / c vertices
/// in the first round and at most half as many in each following one; O(n / r + n / c) memory.
/// # Errors
/// [`Error::NotSquare`](sparring::Error::NotSquare); those of the backend.
/// # Example
/// ```
/// use sparring::{Cpu, Csr, runtime::{Machine, Matrix}};
/// use sparring_cluster::{Cluster, graph::connected_components};
/// // 3 → 1, 2 alone, 0 alone
/// let a = Matrix::from(Csr::<f32>::new(4, 4, vec![0, 0, 0, 0, 1], vec![1], vec![1.0])?);
/// let found = connected_components(&Machine::from(Cluster::new(Cpu::new())?), &a)?.download()?;
/// assert_eq!(found.typed::<u64>().unwrap().as_full(), Some(&[0, 1, 2, 1][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Chung, Condon 1996, "Parallel implementation of Borůvka's minimum spanning tree algorithm".
pub fn connected_components(machine: &Machine, a: &Matrix) -> Result<Vector> {
    let n = check("connected_components", a, None)?;
    if let Some(one) = on_one_rank(machine) {
        let labels = sparring::graph::connected_components(one, &graph_of(one, a, false)?)?;
        return machine.upload_vector(&of_vertices(&labels)?);
    }
    let (shared, block) = on_ranks(machine, "components", a)?;
    let pattern = shared.ready(block.pattern().ok_or_else(broken))?;
    let labels = contract::labels(shared, n, pattern)?;
    distributed(shared, n, of_vertices(&labels))
}

/// The vector of the component labels.
fn of_vertices(labels: &[u32]) -> Result<Vector> {
    Vector::full(Array::of(collected(labels.len(), labels.iter().map(|&label| u64::from(label)), "labels")?))
}
