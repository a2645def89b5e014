//! PageRank by power iteration.

use sparring::algebra::{Array, Type};
use sparring::graph::PageRankOptions;
use sparring::runtime::{BinaryOp, IndexList, Machine, Matrix, Monoid, Op, Scalar, Semiring, UnaryOp, Vector};
use sparring::{Cpu, Error, Result};

use super::pull::Pull;
use super::{check, constant, distributed, graph_of, on_one_rank, on_ranks};
use crate::Cluster;
use crate::wire::{broken, collected, zeros};

/// The PageRank vector, on the backend.
#[derive(Clone, Debug)]
pub struct PageRank {
    /// The rank of each vertex: f64.
    pub ranks: Vector,
    /// Number of iterations.
    pub iterations: u32,
    /// 1-norm of the last change.
    pub change: f64,
}

/// `r(v) = (1 − d) p(v) + d (Σ_{u → v} r(u) / deg(u) + p(v) Σ_{u without edges} r(u))` for the edges of `a`, each of
/// weight 1, where p is the personalization (1 / n by default): equal to [`sparring::graph::pagerank`] of an unweighted
/// graph. The personalization is replicated on every rank.
///
/// Cost per iteration: O(n + m) over all ranks. On r × c CPU ranks, a rank receives one value per non-empty row of its
/// block, at most n / r, and one partial sum per non-empty column segment of the vertices that it owns, at most n / c.
/// The graph is not transposed globally. Sums are folded locally and then in rank order: every run on one grid gives
/// the same bits, for any number of threads.
///
/// A GPU transposes the graph once. Likewise, each of several GPUs connected by NCCL transposes its own block, with
/// empty columns removed. An iteration transfers x at the rows of the block, the partial sums as above, and two words
/// per rank.
/// # Errors
/// [`Error::NotSquare`]; [`Error::Argument`] if the damping is outside [0, 1), the tolerance is not positive, the
/// personalization has a negative element or sums to 0, or the iteration has not converged; [`Error::Length`] if the
/// personalization has the wrong length; [`Error::OutOfMemory`]; those of the backend.
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
    if let Some(one) = on_one_rank(machine)
        && let Some(cpu) = one.typed::<Cpu>()
    {
        let found = sparring::graph::pagerank(cpu, &graph_of(one, a, false)?, options)?;
        let ranks = machine.upload_vector(&Vector::full(Array::of(found.ranks))?)?;
        return Ok(PageRank { ranks, iterations: found.iterations, change: found.change });
    }
    let jumps = options.personalization.as_deref().map(|p| normalized(p, n)).transpose()?;
    if let Some(cluster) = machine.typed::<Cluster>()
        && cluster.inner().typed::<Cpu>().is_some()
        && n > 0
    {
        return on_processors(machine, a, options, jumps.as_deref());
    }
    #[cfg(feature = "cuda")]
    if n > 0
        && let Some(found) = super::ranked::on_gpus(machine, a, options, jumps.as_deref())?
    {
        return converged(options, found);
    }
    let edges = constant(machine, &machine.upload(a)?, 1.0f64)?;
    let incoming = machine.transpose(&edges)?;
    let (plus, times) = (Monoid::new("plus", Type::F64)?, BinaryOp::new("times", Type::F64)?);
    let degrees: Vector = machine.reduce_rows(&plus, &edges)?;
    drop(edges);
    // Damping divided by out-degree; no entry for dangling vertices.
    let share = machine.apply(&UnaryOp::new("s / a", Type::F64)?.with(options.damping)?, &degrees)?;
    let has_edges = share.nvals()? == n;
    let even = 1.0 / n as f64;
    let jumps = match jumps {
        Some(jumps) => Vector::full(Array::of(jumps))?,
        None => Vector::constant_at(&Scalar::from(even), &IndexList::all(), n)?,
    };
    let jumps = machine.upload_vector(&jumps)?;
    let mut ranks = jumps.clone();
    let scaled = UnaryOp::new("s * a", Type::F64)?;
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
        let rest = (1.0 - options.damping) + options.damping * lost;
        let mut next = machine.apply(&scaled.with(rest)?, &jumps)?;
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

/// PageRank on multiple CPU ranks, by loops over local blocks and pieces.
fn on_processors(machine: &Machine, a: &Matrix, options: &PageRankOptions, jumps: Option<&[f64]>) -> Result<PageRank> {
    let n = a.shape().0;
    let (shared, block) = on_ranks(machine, "pagerank", a)?;
    let pattern = shared.ready(block.pattern().ok_or_else(broken))?;
    let (mut product, degrees) = Pull::new(shared, n, pattern)?;
    let (damping, even, piece) = (options.damping, 1.0 / n as f64, shared.grid.piece(n));
    let jump = |v: u32| jumps.map_or(even, |p| p[piece.start + v as usize]);
    let made = || {
        let (mut share, mut ranks, mut passed) = (zeros(piece.len())?, zeros(piece.len())?, zeros(piece.len())?);
        let jumps = collected(piece.len(), product.order().iter().map(|&v| jump(v)), "jumps")?;
        for v in 0..piece.len() {
            share[v] = if degrees[v] > 0 { damping / f64::from(degrees[v]) } else { 0.0 };
            ranks[v] = jumps[v];
            passed[v] = ranks[v] * share[v];
        }
        // The last buffer is for the ranks in index order.
        Ok((share, jumps, ranks, passed, zeros(piece.len())?))
    };
    let (share, jumps, mut ranks, mut passed, mut made) = shared.ready(made())?;
    // All-reduce in rank order.
    let all = |mine: [f64; 2]| {
        let words = shared.world.all_words(mine.map(f64::to_bits));
        words.iter().fold([0.0, 0.0], |sum, w| [sum[0] + f64::from_bits(w[0]), sum[1] + f64::from_bits(w[1])])
    };
    let is_lost = |share: f64| share == 0.0 && !options.drop_dangling;
    let mine = ranks.iter().zip(&share).filter(|(_, share)| is_lost(**share)).map(|(rank, _)| rank).sum();
    let mut lost = all([0.0, mine])[1];
    let (mut change, mut iterations) = (f64::INFINITY, 0);
    while change >= options.tolerance && iterations < options.max_iterations {
        iterations += 1;
        let rest = (1.0 - damping) + damping * lost;
        let mine = product.step(&mut passed, &mut ranks, |v, sum, rank, passed| {
            let (new, share) = (rest * jumps[v] + sum, share[v]);
            *passed = new * share;
            [(new - std::mem::replace(rank, new)).abs(), if is_lost(share) { new } else { 0.0 }]
        });
        [change, lost] = all(mine);
    }
    product.order().iter().zip(ranks).for_each(|(&v, rank)| made[v as usize] = rank);
    let ranks = distributed(shared, n, Vector::full(Array::of(made)))?;
    converged(options, PageRank { ranks, iterations, change })
}

/// `p` scaled to sum to 1.
fn normalized(p: &[f64], n: usize) -> Result<Vec<f64>> {
    let refuse = |message| Err(Error::Argument { name: "personalization", message });
    if p.len() != n {
        return Err(Error::Length { what: "personalization", found: p.len(), expected: n });
    }
    if let Some(v) = p.iter().position(|x| !(0.0..f64::INFINITY).contains(x)) {
        return refuse(format!("that of vertex {v} is {}", p[v]));
    }
    let sum: f64 = p.iter().sum();
    if sum == 0.0 || sum.is_infinite() {
        return refuse(format!("it adds up to {sum}"));
    }
    collected(n, p.iter().map(|x| x / sum), "personalization")
}
