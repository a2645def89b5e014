//! Connected components by hooking and shortcutting.

use sparring::Result;
use sparring::algebra::{Array, Type};
use sparring::runtime::{BinaryOp, IndexList, Machine, Matrix, Op, Scalar, Semiring, UnaryOp, Vector};

use super::{check, constant, on_one_rank};

/// For each vertex the least vertex of its component, directions of edges left out of account: u64.
///
/// Cost: O(n + m) on all ranks together for each of O(log n) steps or so; every rank gathers the n parents in each.
/// # Errors
/// [`Error::NotSquare`](sparring::Error::NotSquare); those of the machine.
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
/// Source: Zhang, Azad, Hu 2020, "FastSV: a distributed-memory connected component algorithm with fast convergence".
pub fn connected_components(machine: &Machine, a: &Matrix) -> Result<Vector> {
    let n = check("connected_components", a, None)?;
    if let Some((cpu, graph)) = on_one_rank(machine, a, false)? {
        let labels = sparring::graph::connected_components(cpu, &graph)?;
        let labels = Array::of(labels.into_iter().map(u64::from).collect::<Vec<_>>());
        return machine.upload_vector(&Vector::full(labels)?);
    }
    let a = constant(machine, &machine.upload(a)?, true)?;
    let at = machine.transpose(&a)?;
    let least = Semiring::between("min, b", Type::Bool, Type::U64)?;
    let min = BinaryOp::new("min", Type::U64)?;
    let ones = Vector::constant_at(&Scalar::from(0u64), &IndexList::all(), n)?;
    let mut parents = machine.apply(&UnaryOp::new("i", Type::U64)?, &machine.upload_vector(&ones)?)?;
    let mut grandparents = parents.clone();
    loop {
        // The least grandparent of the neighbors of each vertex, over edges in both directions.
        let mut near: Vector = machine.mxv(&least, &a, &grandparents)?;
        let other: Vector = machine.mxv(&least, &at, &grandparents)?;
        near = machine.ewise_add(&min, &near, &other)?;
        // Stochastic hooking: f[f[i]] min= near[i]; near has no entry where a vertex has no neighbor.
        let list = parents.to_index_list()?;
        let fallen = machine.ewise_add(&min, &near, &parents)?;
        machine.call(Op::Scatter(&list, n, &min), &fallen).accum(&min).into(&mut parents)?;
        // Aggressive hooking, and a shortcut.
        parents = machine.ewise_add(&min, &parents, &fallen)?;
        parents = machine.ewise_add(&min, &parents, &grandparents)?;
        let list = parents.to_index_list()?;
        let next: Vector = machine.call(Op::Extract(&list, &IndexList::all()), &parents).eval()?;
        let moved = machine.ewise_mult(&BinaryOp::new("u64(a != b)", Type::U64)?, &next, &grandparents)?;
        let moved = machine.reduce(&sparring::runtime::Monoid::new("plus", Type::U64)?, &moved)?;
        grandparents = next;
        if moved == Scalar::from(0u64) {
            return Ok(grandparents);
        }
    }
}
