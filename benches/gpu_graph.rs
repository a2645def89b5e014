//! Graph algorithms on a GPU, with the graph resident on the device: one JSON line each, with the time per level or
//! round.
//!
//! `us` is the wall time per level (`bfs`, `parents`) or round (`sssp`), median and minimum of `--rounds` runs
//! (5), each from the upload of the source to the last wait. Results are compared bitwise with textbook algorithms:
//! weights are small multiples of 1/8, whose sums are exact.
//!
//! Options: `--file PATH`, a graph as a Matrix Market file, as often as wanted (else lap2d_1000, a grid of 10⁶
//! vertices, and a path of 20,000); `--only bfs|parents|sssp`; `--rounds N`; `--source N` (0).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Instant;

use sparring::algebra::{AbsDiff, Any, Identity, Max, Min, MinPlus, Pair, Ring, SecondI, Value};
use sparring::backend::{Backend, Container, Kernels};
use sparring::gpu::{DeviceCsr, DeviceVector};
use sparring::{Csr, Cuda, Error, Result, Vector, io};
use sparring_generate as generate;

/// BFS levels, and their number.
fn levels(m: &Cuda, a: &DeviceCsr<f64>, source: u32) -> Result<(DeviceVector<u32>, usize)> {
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

/// BFS parents, the smallest candidate for each vertex, and the number of levels.
fn parents(m: &Cuda, a: &DeviceCsr<f64>, source: u32) -> Result<(DeviceVector<i64>, usize)> {
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

/// Shortest path lengths by rounds that relax all edges, until 32 rounds change nothing.
fn paths(m: &Cuda, a: &DeviceCsr<f64>, source: u32) -> Result<(DeviceVector<f64>, usize)> {
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

mod textbook {
    use super::*;

    pub(super) fn levels(a: &Csr<f64>, source: u32) -> Vec<Option<u32>> {
        let mut level = vec![None; a.nrows()];
        level[source as usize] = Some(0);
        let mut queue = VecDeque::from([source]);
        while let Some(i) = queue.pop_front() {
            for &j in a.row(i as usize).0 {
                if level[j as usize].is_none() {
                    level[j as usize] = level[i as usize].map(|l| l + 1);
                    queue.push_back(j);
                }
            }
        }
        level
    }
    pub(super) fn parents(a: &Csr<f64>, source: u32) -> Vec<Option<i64>> {
        let level = levels(a, source);
        let mut parent = vec![None; a.nrows()];
        for i in 0..a.nrows() {
            for &j in a.row(i).0 {
                // The first i is the smallest.
                if level[i].is_some() && level[j as usize] == level[i].map(|l| l + 1) {
                    parent[j as usize].get_or_insert(i as i64);
                }
            }
        }
        parent[source as usize] = Some(source.into());
        parent
    }
    pub(super) fn paths(a: &Csr<f64>, source: u32) -> Vec<Option<f64>> {
        let mut d = vec![None; a.nrows()];
        // Eighths, so that they can be compared.
        let mut heap = BinaryHeap::from([Reverse((0u64, source))]);
        while let Some(Reverse((eighths, i))) = heap.pop() {
            if d[i as usize].is_some() {
                continue;
            }
            d[i as usize] = Some(eighths as f64 / 8.0);
            let (columns, weights) = a.row(i as usize);
            heap.extend(columns.iter().zip(weights).map(|(&j, w)| Reverse((eighths + (w * 8.0) as u64, j))));
        }
        d
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
        // Positive, distinct weights, so that shortest paths differ from BFS levels.
        let weights = (0..graph.nnz()).map(|p| 1.0 + (p * 7 % 13) as f64 / 8.0).collect();
        let graph: Csr<f64> = Csr::with_pattern(graph.pattern().clone(), weights)?;
        let there = cuda.upload(&graph)?;
        let bench = Bench { cuda: &cuda, graph: &graph, there, name, rounds, source };
        if wanted("bfs") {
            bench.run("bfs", levels, textbook::levels)?;
        }
        if wanted("parents") {
            bench.run("parents", parents, textbook::parents)?;
        }
        if wanted("sssp") {
            bench.run("sssp", paths, textbook::paths)?;
        }
    }
    Ok(())
}

struct Bench<'a> {
    cuda: &'a Cuda,
    graph: &'a Csr<f64>,
    there: DeviceCsr<f64>,
    name: &'a str,
    rounds: usize,
    source: u32,
}

/// From a source, a value for each vertex, and how many steps it took.
type Algorithm<T> = fn(&Cuda, &DeviceCsr<f64>, u32) -> Result<(DeviceVector<T>, usize)>;

impl Bench<'_> {
    fn run<T: Value>(
        &self,
        op: &str,
        algorithm: Algorithm<T>,
        textbook: fn(&Csr<f64>, u32) -> Vec<Option<T>>,
    ) -> Result<()> {
        let mut times = vec![];
        // Warm-up: compiles the kernels.
        let (found, steps) = algorithm(self.cuda, &self.there, self.source)?;
        for _ in 0..self.rounds {
            self.cuda.synchronize()?;
            let start = Instant::now();
            algorithm(self.cuda, &self.there, self.source)?;
            self.cuda.synchronize()?;
            times.push(start.elapsed().as_secs_f64() * 1e6);
        }
        times.sort_by(f64::total_cmp);
        let (found, want) = (self.cuda.download_vector(&found)?, textbook(self.graph, self.source));
        let differs = want.iter().enumerate().position(|(i, x)| found.get(i) != x.as_ref());
        if let Some(i) = differs {
            eprintln!("{op} of {}: place {i} is {:?}, expected {:?}", self.name, found.get(i), want[i]);
        }
        let each = |us: f64| us / steps.max(1) as f64;
        let (median, least) = (times.get(times.len() / 2).copied(), times.first().copied());
        println!(
            "{}",
            serde_json::json!({
                "bench": "gpu_graph", "device": self.cuda.limits().name, "graph": self.name, "n": self.graph.nrows(),
                "nnz": self.graph.nnz(), "op": op, "steps": steps, "us": median.map(each), "us_min": least.map(each),
                "ms": median.map(|us| us / 1e3), "right": differs.is_none(),
            })
        );
        Ok(())
    }
}
