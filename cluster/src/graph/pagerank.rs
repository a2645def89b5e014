//! PageRank by iteration.

use sparring::algebra::Type;
use sparring::graph::PageRankOptions;
use sparring::runtime::{BinaryOp, Machine, Matrix, Monoid, Op, Scalar, Semiring, UnaryOp, Vector};
use sparring::{Error, Result};

use super::{check, constant};

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
    let edges = constant(machine, &machine.upload(a)?, 1.0f64)?;
    let incoming = machine.transpose(&edges)?;
    let (plus, times) = (Monoid::new("plus", Type::F64)?, BinaryOp::new("times", Type::F64)?);
    let degrees: Vector = machine.reduce_rows(&plus, &edges)?;
    drop(edges);
    // What a vertex passes on to each edge for its rank; no entry where no edge leaves it.
    let share = machine.apply(&UnaryOp::new("s / a", Type::F64)?.with(options.damping)?, &degrees)?;
    let has_edges = share.nvals()? == n;
    let even = 1.0 / n as f64;
    let full = |x: f64| machine.upload_vector(&Vector::constant_at(&Scalar::from(x), &(0..n).into(), n)?);
    let mut ranks = full(even)?;
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
        let mut next = full(rest)?;
        machine.call(Op::Mxv(&ring), (&incoming, &passed)).accum(&plus_op).into(&mut next)?;
        change = number(machine.reduce(&plus, &machine.ewise_mult(&minus_abs, &next, &ranks)?)?);
        ranks = next;
    }
    if n > 0 && change >= options.tolerance {
        let (step, tolerance) = (iterations, options.tolerance);
        return refuse(
            "max_iterations",
            format!("ranks change by {change} in step {step}, not by less than {tolerance}"),
        );
    }
    Ok(PageRank { ranks, iterations, change: if n == 0 { 0.0 } else { change } })
}
