//! `sparring bench bfs|parents|sssp`: algorithms of graphs, written with operations on vectors.

use serde_json::json;
use sparring::algebra::{Identity, Less, Ring, SecondI};
use sparring::generate::splitmix64;
use sparring::graph::bfs_levels;
use sparring::prelude::*;

use super::case::load;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::output::ms;
use crate::timing::{Times, timed};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Algorithm {
    /// Levels of a breadth-first search.
    Bfs,
    /// Parents in a breadth-first tree.
    Parents,
    /// Lengths of shortest paths (Bellman–Ford), edges relaxed from those vertices that came nearer in the round before.
    Sssp,
}

pub(super) const CASES: &[&str] = &["lap2d_1000", "tc_rmat16"];

impl Algorithm {
    fn name(self) -> &'static str {
        match self {
            Self::Bfs => "bfs",
            Self::Parents => "parents",
            Self::Sssp => "sssp",
        }
    }
    /// Vertices reached, and the sum of what they got.
    fn run<B: Backend>(self, m: &B, a: &B::Matrix<f64>, source: u32) -> sparring::Result<(usize, f64)> {
        fn of<T: Num>(v: &Vector<T>) -> (usize, f64) {
            (v.nnz(), v.iter().map(|(_, x)| x.as_f64()).sum())
        }
        Ok(match self {
            Self::Bfs => {
                let levels = bfs_levels(m, a, source as usize)?;
                (levels.iter().flatten().count(), levels.iter().flatten().map(|&level| f64::from(level)).sum())
            }
            Self::Parents => of(&parents(m, a, source)?),
            Self::Sssp => of(&shortest_paths(m, a, source)?),
        })
    }
}

/// The least of those that lead there.
fn parents<B: Backend>(m: &B, a: &B::Matrix<f64>, source: u32) -> sparring::Result<Vector<i64>> {
    let n = m.shape(a).0;
    let min_secondi = Ring(Min::new(), SecondI::new());
    let mut q = m.upload_vector(&Vector::new(n, vec![source], vec![i64::from(source)])?)?;
    let mut parent = m.upload_vector(&Vector::empty(n)?)?;
    while m.nnz(&q)? > 0 {
        m.apply(Identity::new(), &q).mask(q.structure()).into(&mut parent)?;
        m.vxm(min_secondi, &q, a).mask(!parent.structure()).replace().into(&mut q)?;
    }
    m.download_vector(&parent)
}

fn shortest_paths<B: Backend>(m: &B, a: &B::Matrix<f64>, source: u32) -> sparring::Result<Vector<f64>> {
    let n = m.shape(a).0;
    let mut d = m.upload_vector(&Vector::new(n, vec![source], vec![0.0])?)?;
    let mut q = d.clone();
    while m.nnz(&q)? > 0 {
        let t = m.vxm(MinPlus::new(), &q, a).eval()?;
        // Where there was a length, whether the new one is less; elsewhere nothing, and that is nearer too.
        let less = m.ewise_mult(Less::new(), &t, &d).eval()?;
        let not = m.select(sparring::algebra::ValueEq::new(), &less, false).eval()?;
        q = m.apply(Identity::new(), &t).mask(!not.structure()).eval()?;
        m.ewise_add(Min::new(), &d, &q).into(&mut d)?;
    }
    m.download_vector(&d)
}

pub(super) fn heading() -> String {
    format!("{:18} {:>12} {:>16} {:>12} {:>12}", "case", "reached", "sum", "median ms", "minimum")
}

/// Measures the algorithm on one graph.
pub(super) fn run(context: &Context, algorithm: Algorithm, name: &str, repeat: u32) -> Result {
    let a = load(context, name)?;
    let n = a.nrows() as u64;
    let weight = |(i, j, _): (usize, usize, &f64)| {
        let (least, most) = (i.min(j) as u64, i.max(j) as u64);
        1.0 + (splitmix64(least * n + most) % 255) as f64
    };
    let a = Csr::with_pattern(a.pattern().clone(), a.iter().map(weight).collect())?;
    let Some(source) = (0..a.nrows()).find(|&i| a.row(i).0.iter().any(|&j| j as usize != i)) else {
        return Err(Error::Argument { name: "case", message: format!("{name} has no edge") }.into());
    };
    context.progress.stage(format!("measuring {name}"));
    match &context.cuda {
        Some(cuda) => measured(context, cuda, (algorithm, name, repeat), &a, source as u32),
        None => measured(context, &context.quiet, (algorithm, name, repeat), &a, source as u32),
    }
}

fn measured<B: Backend>(
    context: &Context,
    m: &B,
    (algorithm, name, repeat): (Algorithm, &str, u32),
    a: &Csr<f64>,
    source: u32,
) -> Result {
    let there = m.upload(a)?;
    let found = algorithm.run(m, &there, source)?;
    let mut times = Times::default();
    for _ in 0..repeat {
        let (again, ms) = timed(|| algorithm.run(m, &there, source));
        times.push(ms);
        let again = again?;
        if again != found {
            return Err(Failure::Wrong(format!("{name}: {again:?}, then {found:?}")));
        }
    }
    let (nnz, sum) = found;
    let json = json!({
        "op": algorithm.name(), "case": name, "device": context.device.to_string(), "n": a.nrows(), "entries": a.nnz(),
        "source": source, "nnz": nnz, "sum": sum, "threads": context.threads(), "ms": ms(times.median()), "ms_min": ms(times.minimum()),
    });
    context.result(json, || format!("{name:18} {nnz:>12} {sum:>16} {:>12.3} {:>12.3}", times.median(), times.minimum()))
}
