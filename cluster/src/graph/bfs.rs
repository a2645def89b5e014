//! Breadth-first search, level by level.

use sparring::algebra::Type;
use sparring::graph::{UNREACHED, bfs};
use sparring::runtime::{BinaryOp, IndexList, Machine, Matrix, Op, Scalar, Semiring, UnaryOp, Vector};
use sparring::{Cpu, Result};

use super::{check, constant, entries, graph_of, on_one_rank, search};

/// The number of edges on a shortest path from `source` to each reachable vertex: u32.
///
/// Each step is `q⟨¬levels⟩ = qᵀ A`. Multiple CPU ranks scan the edges of the frontier: O(m) work in total, and at most
/// n / r + n / c words received per rank of r × c over the whole search. Other backends push along the rows of A in the
/// frontier or pull along the unvisited rows of Aᵀ, whichever are fewer.
/// # Errors
/// [`Error::NotSquare`](sparring::Error::NotSquare); [`Error::Argument`](sparring::Error::Argument) for a vertex out of
/// range; those of the backend.
/// # Example
/// ```
/// use sparring::{Cpu, Csr, runtime::{Machine, Matrix}};
/// use sparring_cluster::{Cluster, graph::bfs_levels};
/// // 0 → 1 → 2
/// let a = Matrix::from(Csr::<f32>::new(3, 3, vec![0, 1, 2, 2], vec![1, 2], vec![1.0; 2])?);
/// let levels = bfs_levels(&Machine::from(Cluster::new(Cpu::new())?), &a, 1)?.download()?;
/// assert_eq!(levels.typed::<u32>().unwrap().iter().collect::<Vec<_>>(), [(1, &0), (2, &1)]);
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn bfs_levels(machine: &Machine, a: &Matrix, source: usize) -> Result<Vector> {
    let n = check("bfs_levels", a, Some(source))?;
    if let Some(one) = on_one_rank(machine)
        && let Some(cpu) = one.typed::<Cpu>()
    {
        let levels = bfs(cpu, &graph_of(one, a, false)?, source)?;
        let reached = levels.iter().copied().enumerate().filter(|(_, level)| *level != UNREACHED);
        return machine.upload_vector(&entries(n, reached)?);
    }
    if let Some(levels) = search::reached("bfs_levels", machine, a, source, |level, _| level)? {
        return Ok(levels);
    }
    let (a, at) = both_ways(machine, a)?;
    let ring = Semiring::new("lor_land", Type::Bool)?;
    let mut q = machine.upload_vector(&Vector::constant_at(&Scalar::from(true), &(source..source + 1).into(), n)?)?;
    let mut levels = machine.upload_vector(&Vector::empty(Type::U32, n)?)?;
    let mut level = 0u32;
    while q.nvals()? > 0 {
        let f = UnaryOp::between("s", Type::Bool, Type::U32)?.with(level)?;
        machine.call(Op::Apply(&f), &q).accum(&BinaryOp::new("first", Type::U32)?).into(&mut levels)?;
        let step = machine.call(Op::Vxm(&ring), (&q, &a)).with_transpose(&at);
        step.mask(&levels).structure().complement().replace().into(&mut q)?;
        level += 1;
    }
    Ok(levels)
}

/// The BFS parent of each reachable vertex: the smallest neighbor one level closer to `source`; `source` is its own
/// parent; u64.
///
/// Cost: as [`bfs_levels`].
/// # Errors
/// As for [`bfs_levels`].
/// # Example
/// ```
/// use sparring::{Cpu, Csr, runtime::{Machine, Matrix}};
/// use sparring_cluster::{Cluster, graph::bfs_parents};
/// // 0 → 1, 0 → 2, 1 → 3, 2 → 3
/// let a = Matrix::from(Csr::<f32>::new(4, 4, vec![0, 2, 3, 4, 4], vec![1, 2, 3, 3], vec![1.0; 4])?);
/// let parents = bfs_parents(&Machine::from(Cluster::new(Cpu::new())?), &a, 0)?.download()?;
/// assert_eq!(parents.typed::<u64>().unwrap().as_full(), Some(&[0, 0, 0, 1][..]));
/// # Ok::<(), sparring::Error>(())
/// ```
pub fn bfs_parents(machine: &Machine, a: &Matrix, source: usize) -> Result<Vector> {
    let n = check("bfs_parents", a, Some(source))?;
    if let Some(parents) = search::reached("bfs_parents", machine, a, source, |_, parent| u64::from(parent))? {
        return Ok(parents);
    }
    let (a, at) = both_ways(machine, a)?;
    // ⊗ returns the source vertex of the edge.
    let ring = Semiring::between("min, k", Type::U64, Type::Bool)?;
    let own = Vector::constant_at(&Scalar::from(source as u64), &IndexList::from(source..source + 1), n)?;
    let mut q = machine.upload_vector(&own)?;
    let mut parents = q.clone();
    let first = BinaryOp::new("first", Type::U64)?;
    while q.nvals()? > 0 {
        let step = machine.call(Op::Vxm(&ring), (&q, &a)).with_transpose(&at);
        step.mask(&parents).structure().complement().replace().into(&mut q)?;
        machine.call(Op::Identity, &q).accum(&first).into(&mut parents)?;
    }
    Ok(parents)
}

/// The pattern and its transpose, on the backend.
fn both_ways(machine: &Machine, a: &Matrix) -> Result<(Matrix, Matrix)> {
    let a = constant(machine, &machine.upload(a)?, true)?;
    let at = machine.transpose(&a)?;
    Ok((a, at))
}
