//! PageRank by iteration.

use sparring::algebra::{Array, Type};
use sparring::graph::PageRankOptions;
use sparring::runtime::{BinaryOp, IndexList, Machine, Matrix, Monoid, Op, Scalar, Semiring, UnaryOp, Vector};
use sparring::{Cpu, Error, Result};

use super::{block_of, check, constant, on_one_rank, piece_of};
use crate::Cluster;
use crate::blocks::Piece;
use crate::dense::Repeated;
use crate::wire::broken;

/// Ranks of vertices, on the machine.
#[derive(Clone, Debug)]
pub struct PageRank {
    /// The rank of each vertex: f64.
    pub ranks: Vector,
    /// Steps that were taken.
    pub iterations: u32,
    /// By how much the last of them changed the ranks in all.
    pub change: f64,
}

/// `r(v) = (1 − d) / n + d (Σ_{u → v} r(u) / deg(u) + Σ_{u without edges} r(u) / n)` for the edges of `a`, each of
/// weight 1: what [`sparring::graph::pagerank`] computes of a graph without weights, with its options but for
/// personalization.
///
/// Cost: O(n + m) on all ranks together for each step, of which a rank of r × c receives n / c + n / r values. Ranks
/// are folded in the order of the grid.
/// # Errors
/// [`Error::NotSquare`]; [`Error::Argument`] for a damping outside [0, 1), a tolerance that is not positive, and ranks
/// that have not converged; [`Error::Unsupported`] for a personalization; those of the machine.
/// # Example
/// ```
/// use sparring::{Cpu, Csr, graph::PageRankOptions, runtime::{Machine, Matrix}};
/// use sparring_cluster::{Cluster, graph::pagerank};
/// let a = Matrix::from(Csr::<f64>::new(3, 3, vec![0, 1, 2, 3], vec![2, 2, 0], vec![1.0; 3])?);
/// let found = pagerank(&Machine::from(Cluster::new(Cpu::new())?), &a, &PageRankOptions::default())?;
/// let ranks = found.ranks.download()?.typed::<f64>().unwrap().to_dense(0.0)?;
/// assert!(ranks[2] > ranks[0] && ranks[0] > ranks[1]);
/// # Ok::<(), sparring::Error>(())
/// ```
/// Source: Brin, Page 1998.
pub fn pagerank(machine: &Machine, a: &Matrix, options: &PageRankOptions) -> Result<PageRank> {
    let n = check("pagerank", a, None)?;
    let refuse = |name, message| Err(Error::Argument { name, message });
    if !(0.0..1.0).contains(&options.damping) {
        return refuse("damping", format!("{} is not in [0, 1)", options.damping));
    }
    if options.tolerance.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
        return refuse("tolerance", format!("{} is not positive", options.tolerance));
    }
    if options.personalization.is_some() {
        let what = "personalization of a graph on many ranks".into();
        return Err(Error::Unsupported { what, why: "it is one distribution on one machine".into() });
    }
    if let Some(cluster) = machine.typed::<Cluster>()
        && cluster.inner().typed::<Cpu>().is_some()
        && n > 0
    {
        return on_processors(cluster, a, options);
    }
    let edges = constant(machine, &machine.upload(a)?, 1.0f64)?;
    let incoming = machine.transpose(&edges)?;
    let (plus, times) = (Monoid::new("plus", Type::F64)?, BinaryOp::new("times", Type::F64)?);
    let degrees: Vector = machine.reduce_rows(&plus, &edges)?;
    drop(edges);
    // What a vertex passes on to each edge for its rank; no entry where no edge leaves it.
    let share = machine.apply(&UnaryOp::new("s / a", Type::F64)?.with(options.damping)?, &degrees)?;
    let has_edges = share.nvals()? == n;
    let even = 1.0 / n as f64;
    let mut ranks = machine.upload_vector(&Vector::constant_at(&Scalar::from(even), &IndexList::all(), n)?)?;
    let constant_of = UnaryOp::new("s", Type::F64)?;
    let ring = Semiring::new("plus_second", Type::F64)?;
    let (plus_op, minus_abs) = (BinaryOp::new("plus", Type::F64)?, BinaryOp::new("abs(a - b)", Type::F64)?);
    let number = |x: Scalar| x.get::<f64>().unwrap_or(f64::NAN);
    let (mut change, mut iterations) = (f64::INFINITY, 0);
    while n > 0 && change >= options.tolerance && iterations < options.max_iterations {
        iterations += 1;
        let passed = machine.ewise_mult(&times, &ranks, &share)?;
        let lost = if options.drop_dangling || has_edges {
            0.0
        } else {
            let dangling: Vector = machine.call(Op::Identity, &ranks).mask(&share).structure().complement().eval()?;
            number(machine.reduce(&plus, &dangling)?)
        };
        let rest = ((1.0 - options.damping) + options.damping * lost) * even;
        let mut next = machine.apply(&constant_of.with(rest)?, &ranks)?;
        machine.call(Op::Mxv(&ring), (&incoming, &passed)).accum(&plus_op).into(&mut next)?;
        change = number(machine.reduce(&plus, &machine.ewise_mult(&minus_abs, &next, &ranks)?)?);
        ranks = next;
    }
    let change = if n == 0 { 0.0 } else { change };
    converged(options, PageRank { ranks, iterations, change })
}

fn converged(options: &PageRankOptions, found: PageRank) -> Result<PageRank> {
    let PageRank { iterations: step, change, .. } = found;
    if change < options.tolerance {
        return Ok(found);
    }
    let message = format!("ranks change by {change} in step {step}, not by less than {}", options.tolerance);
    Err(Error::Argument { name: "max_iterations", message })
}

/// The same on processors: one rank by the library's own kernel, several by loops over their pieces.
fn on_processors(cluster: &Cluster, a: &Matrix, options: &PageRankOptions) -> Result<PageRank> {
    let (machine, shared, n) = (cluster.machine(), &cluster.0, a.shape().0);
    if let Some((cpu, graph)) = on_one_rank(&machine, a, false)? {
        let found = sparring::graph::pagerank(cpu, &graph, options)?;
        let ranks = machine.upload_vector(&Vector::full(Array::of(found.ranks))?)?;
        return Ok(PageRank { ranks, iterations: found.iterations, change: found.change });
    }
    let edges = constant(&machine, &machine.upload(a)?, 1.0f64)?;
    let incoming = machine.transpose(&edges)?;
    let degrees: Vector = machine.reduce_rows(&Monoid::new("plus", Type::F64)?, &edges)?;
    drop(edges);
    let (damping, even) = (options.damping, 1.0 / n as f64);
    let made = || {
        let degrees = piece_of(&degrees)?.download()?;
        let degrees = degrees.typed::<f64>().ok_or_else(broken)?.to_dense(0.0)?;
        let share: Vec<f64> = degrees.iter().map(|d| if *d > 0.0 { damping / d } else { 0.0 }).collect();
        Ok(((Repeated::new(shared, block_of(&incoming)?.clone())?, share), 0))
    };
    let ((mut product, share), _) = shared.together("pagerank", made)?;
    let mut ranks = vec![even; share.len()];
    let (mut passed, mut sums) = (vec![0.0; share.len()], vec![0.0; share.len()]);
    // Sums over the vertices of every rank, in the order of ranks.
    let all = |mine: [f64; 2]| {
        let words = shared.world.all_words(mine.map(f64::to_bits));
        words.iter().fold([0.0, 0.0], |sum, w| [sum[0] + f64::from_bits(w[0]), sum[1] + f64::from_bits(w[1])])
    };
    let dangling = |ranks: &[f64]| -> f64 {
        let lost = ranks.iter().zip(&share).filter(|(_, share)| **share == 0.0);
        if options.drop_dangling { 0.0 } else { lost.map(|(r, _)| r).sum() }
    };
    let mut lost = all([0.0, dangling(&ranks)])[1];
    let (mut change, mut iterations) = (f64::INFINITY, 0);
    while change >= options.tolerance && iterations < options.max_iterations {
        iterations += 1;
        passed.iter_mut().zip(ranks.iter().zip(&share)).for_each(|(p, (r, s))| *p = r * s);
        // The others would wait for a rank that goes another way.
        cluster.unwrap(product.multiply(&passed, &mut sums));
        let rest = ((1.0 - damping) + damping * lost) * even;
        let mut moved = 0.0;
        for (rank, sum) in ranks.iter_mut().zip(&sums) {
            let new = rest + sum;
            moved += (new - std::mem::replace(rank, new)).abs();
        }
        [change, lost] = all([moved, dangling(&ranks)]);
    }
    let made = || {
        let count = ranks.len();
        Ok((shared.inner.upload_vector(&Vector::full(Array::of(ranks))?)?, count))
    };
    let (piece, nnz) = shared.together("pagerank", made)?;
    let ranks = Piece { shared: std::sync::Arc::clone(shared), len: n, nnz, piece }.into();
    converged(options, PageRank { ranks, iterations, change })
}
