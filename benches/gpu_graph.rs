//! Graph algorithms on a GPU, the graph there already: one JSON line for each, with the time of a level or a round.
//!
//! `us` is the wall time of one level (`bfs`, `parents`) or round (`sssp`), the median and the least of `--rounds` runs (5), each from the
//! upload of the source to the last wait. Results are compared with those of the processor, bit for bit.
//!
//! Options: `--file PATH`, a graph as a Matrix Market file, as often as wanted (else lap2d_1000, a grid of 10⁶ vertices, and a path of
//! 20,000); `--only bfs|parents|sssp`; `--rounds N`; `--source N` (0).

use std::time::Instant;

use sparring::algebra::{AbsDiff, Any, Identity, Max, Min, MinPlus, Pair, Ring, SecondI};
use sparring::backend::{Backend, Container};
use sparring::{Cpu, Csr, Cuda, Error, Result, Vector, generate, io};

/// Levels of a breadth-first search, and how many there were.
fn levels<B: Backend>(m: &B, a: &B::Matrix<f64>, source: u32) -> Result<(B::Vector<u32>, usize)> {
    let n = m.shape(a).0;
    let next = Ring(Any::<bool>::new(), Pair::<bool, bool, f64>::default());
    let mut q = m.upload_vector(&Vector::new(n, vec![source], vec![true])?)?;
    let mut levels = m.upload_vector(&Vector::<u32>::empty(n)?)?;
    let mut level = 0;
    while m.nnz(&q)? > 0 {
        m.assign_scalar(level).mask(q.structure()).into(&mut levels)?;
        m.vxm(next, &q, a).mask(!levels.structure()).replace().into(&mut q)?;
        level += 1;
    }
    Ok((levels, level as usize))
}

/// Parents in a breadth-first tree, the least of those that lead there, and how many levels there were.
fn parents<B: Backend>(m: &B, a: &B::Matrix<f64>, source: u32) -> Result<(B::Vector<i64>, usize)> {
    let n = m.shape(a).0;
    let least = Ring(Min::<i64>::new(), SecondI::new());
    let mut q = m.upload_vector(&Vector::new(n, vec![source], vec![i64::from(source)])?)?;
    let mut parent = m.upload_vector(&Vector::<i64>::empty(n)?)?;
    let mut level = 0;
    while m.nnz(&q)? > 0 {
        m.apply(Identity::new(), &q).mask(q.structure()).into(&mut parent)?;
        m.vxm(least, &q, a).mask(!parent.structure()).replace().into(&mut q)?;
        level += 1;
    }
    Ok((parent, level))
}

/// Lengths of shortest paths by rounds that relax all edges, until 32 of them change nothing.
fn paths<B: Backend>(m: &B, a: &B::Matrix<f64>, source: u32) -> Result<(B::Vector<f64>, usize)> {
    let n = m.shape(a).0;
    let mut d = m.upload_vector(&Vector::new(n, vec![source], vec![0.0])?)?;
    let mut rounds = 0;
    loop {
        let before = d.clone();
        for _ in 0..32 {
            m.vxm(MinPlus::new(), &d, a).accum(Min::new()).into(&mut d)?;
        }
        rounds += 32;
        let change = m.ewise_mult(AbsDiff::new(), &before, &d).eval()?;
        if m.nnz(&before)? == m.nnz(&d)? && m.reduce(Max::new(), &change).eval()? <= 0.0 {
            return Ok((d, rounds));
        }
    }
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let all = |name: &str| words.windows(2).filter(|w| w[0] == name).map(|w| w[1].clone()).collect::<Vec<_>>();
    let number = |name: &str, default: usize| all(name).last().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (rounds, source, only) = (number("--rounds", 5), number("--source", 0) as u32, all("--only"));
    let cuda = match Cuda::new(0) {
        Err(Error::NoDevice { why, .. }) => {
            eprintln!("skipped: {why}");
            return Ok(());
        }
        cuda => cuda?,
    };
    let mut graphs = vec![];
    for path in all("--file") {
        graphs.push((path.clone(), io::read_matrix_market(&path)?.csr()?));
    }
    if graphs.is_empty() {
        graphs.push(("lap2d_1000".to_owned(), generate::matrix("lap2d_1000")?));
        let n = 20_000;
        let path = Csr::new(n, n, (0..=n).map(|i| i.min(n - 1)).collect(), (1..n as u32).collect(), vec![1.0; n - 1])?;
        graphs.push(("path".to_owned(), path));
    }
    let wanted = |name: &str| only.is_empty() || only.iter().any(|x| x == name);
    for (name, graph) in &graphs {
        // Weights that are positive and differ, so that shortest paths are not levels.
        let weights = (0..graph.nnz()).map(|p| 1.0 + (p * 7 % 13) as f64 / 8.0).collect();
        let graph = Csr::with_pattern(graph.pattern().clone(), weights)?;
        let bench = Bench { cuda: &cuda, cpu: Cpu::new(), graph: &graph, name, rounds, source };
        if wanted("bfs") {
            bench.run("bfs", |m, a, s| levels(m, a, s), |m, a, s| levels(m, a, s))?;
        }
        if wanted("parents") {
            bench.run("parents", |m, a, s| parents(m, a, s), |m, a, s| parents(m, a, s))?;
        }
        if wanted("sssp") {
            bench.run("sssp", |m, a, s| paths(m, a, s), |m, a, s| paths(m, a, s))?;
        }
    }
    Ok(())
}

struct Bench<'a> {
    cuda: &'a Cuda,
    cpu: Cpu,
    graph: &'a Csr<f64>,
    name: &'a str,
    rounds: usize,
    source: u32,
}

type On<B, T> = Result<(<B as Backend>::Vector<T>, usize)>;

impl Bench<'_> {
    fn run<T: sparring::algebra::Value>(
        &self,
        op: &str,
        there: impl Fn(&Cuda, &<Cuda as Backend>::Matrix<f64>, u32) -> On<Cuda, T>,
        here: impl Fn(&Cpu, &<Cpu as Backend>::Matrix<f64>, u32) -> On<Cpu, T>,
    ) -> Result<()> {
        let a = self.cuda.upload(self.graph)?;
        let mut times = vec![];
        let (mut found, mut steps) = (None, 0);
        // Run 0 compiles.
        for run in 0..=self.rounds {
            self.cuda.synchronize()?;
            let start = Instant::now();
            let (v, n) = there(self.cuda, &a, self.source)?;
            self.cuda.synchronize()?;
            let us = start.elapsed().as_secs_f64() * 1e6;
            if run > 0 {
                times.push(us);
            }
            (found, steps) = (Some(v), n);
        }
        times.sort_by(f64::total_cmp);
        let start = Instant::now();
        let (want, _) = here(&self.cpu, &Backend::<u32>::upload(&self.cpu, self.graph)?, self.source)?;
        let cpu_ms = start.elapsed().as_secs_f64() * 1e3;
        let same = match found {
            Some(v) => self.cuda.download_vector(&v)? == Backend::<u32>::download_vector(&self.cpu, &want)?,
            None => false,
        };
        assert!(same, "{} of {}: not the result of the processor", op, self.name);
        let each = |us: f64| us / steps.max(1) as f64;
        let (median, least) = (times.get(times.len() / 2).copied(), times.first().copied());
        println!(
            "{}",
            serde_json::json!({
                "bench": "gpu_graph", "device": self.cuda.limits().name, "graph": self.name, "n": self.graph.nrows(),
                "nnz": self.graph.nnz(), "op": op, "steps": steps, "us": median.map(each), "us_min": least.map(each),
                "ms": median.map(|us| us / 1e3), "cpu_ms": cpu_ms,
            })
        );
        Ok(())
    }
}
