//! Test graphs, and textbook queries on them.
#![allow(dead_code, unreachable_pub, reason = "each module of the tests uses some")]

use std::fmt::Debug;

use sparring::graph::{Graph, GraphKind};
use sparring::{Coo, Cpu, Csr};

/// Random numbers, identical on every platform (SplitMix64; Steele, Lea, Flood 2014).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// A graph by its edges, each listed once: an undirected edge in one direction.
#[derive(Clone, Debug)]
pub struct Sample {
    pub name: String,
    pub n: usize,
    pub kind: GraphKind,
    pub edges: Vec<(usize, usize)>,
    /// One weight per edge, or none. Weights are halves of small integers, so their sums are exact in any order.
    pub weights: Option<Vec<f64>>,
}

impl Sample {
    pub fn new(name: &str, n: usize, kind: GraphKind, edges: &[(usize, usize)]) -> Self {
        let mut edges = edges.to_vec();
        if kind == GraphKind::Undirected {
            edges.iter_mut().for_each(|e| *e = (e.0.min(e.1), e.0.max(e.1)));
        }
        edges.sort_unstable();
        edges.dedup();
        Self { name: name.into(), n, kind, edges, weights: None }
    }
    /// With random weights, some zero and some equal.
    pub fn weighted(mut self, seed: u64) -> Self {
        let mut rng = Rng(seed);
        self.weights = Some(self.edges.iter().map(|_| rng.below(9) as f64 / 2.0).collect());
        self.name += ", weighted";
        self
    }
    pub fn is_directed(&self) -> bool {
        self.kind == GraphKind::Directed
    }
    pub fn weight(&self, e: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[e])
    }
    /// Stored edges.
    pub fn matrix(&self) -> Csr<f64> {
        let (rows, cols) = self.edges.iter().map(|&(i, j)| (i as u32, j as u32)).unzip();
        let values = (0..self.edges.len()).map(|e| self.weight(e)).collect();
        Coo::new(self.n, self.n, rows, cols, values)
            .and_then(|coo| coo.to_csr(sparring::prelude::Plus::new()))
            .unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
    pub fn graph(&self, cpu: &Cpu) -> Graph {
        let a = self.matrix();
        match self.weights {
            Some(_) => Graph::weighted(cpu, &a, self.kind),
            None => Graph::new(cpu, &a, self.kind),
        }
        .unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
    /// The weight of the edge from i to j, if it exists; in an undirected graph, of either direction.
    pub fn dense(&self) -> Vec<Vec<Option<f64>>> {
        let mut a = vec![vec![None; self.n]; self.n];
        for (e, &(i, j)) in self.edges.iter().enumerate() {
            a[i][j] = Some(self.weight(e));
            if self.kind == GraphKind::Undirected {
                a[j][i] = Some(self.weight(e));
            }
        }
        a
    }
    /// Whether an edge joins i and j in either direction, in the simple undirected graph without self-loops.
    pub fn simple(&self) -> Vec<Vec<bool>> {
        let mut a = vec![vec![false; self.n]; self.n];
        for &(i, j) in self.edges.iter().filter(|e| e.0 != e.1) {
            a[i][j] = true;
            a[j][i] = true;
        }
        a
    }
}

/// Edges of a random graph of n vertices, with self-loops and duplicates.
fn random(n: usize, edges: usize, rng: &mut Rng) -> Vec<(usize, usize)> {
    (0..edges).map(|_| (rng.below(n), rng.below(n))).collect()
}

/// A name, the number of vertices, and edges.
type Shape = (&'static str, usize, Vec<(usize, usize)>);

/// Named shapes.
fn shapes() -> Vec<Shape> {
    let clique = |from: usize, n: usize| (from..from + n).flat_map(move |i| (i + 1..from + n).map(move |j| (i, j)));
    let path = |n: usize| (1..n).map(|i| (i - 1, i));
    vec![
        ("empty", 0, vec![]),
        ("one vertex", 1, vec![]),
        ("one vertex and its loop", 1, vec![(0, 0)]),
        ("no edges", 5, vec![]),
        ("loops alone", 3, vec![(0, 0), (2, 2)]),
        ("one edge", 2, vec![(0, 1)]),
        ("a path", 7, path(7).collect()),
        ("a path backwards", 7, path(7).map(|(i, j)| (j, i)).collect()),
        ("a cycle", 6, path(6).chain([(5, 0)]).collect()),
        ("a star", 9, (1..9).map(|i| (0, i)).collect()),
        ("a star inwards", 9, (0..8).map(|i| (i, 8)).collect()),
        ("a clique", 7, clique(0, 7).collect()),
        ("two cliques and a bridge", 10, clique(0, 5).chain(clique(5, 5)).chain([(4, 5)]).collect()),
        ("cliques apart", 12, clique(0, 3).chain(clique(4, 4)).chain(clique(9, 3)).collect()),
        (
            "a grid",
            20,
            (0..20)
                .flat_map(|i| [(i, i + 1), (i, i + 5)])
                .filter(|e| e.1 < 20 && (e.0 + 1 != e.1 || e.1 % 5 > 0))
                .collect(),
        ),
    ]
}

/// Graphs of both kinds, with and without weights: shapes of every sort, and random graphs from sparse to dense, with
/// self-loops and isolated vertices.
pub fn samples() -> Vec<Sample> {
    let mut rng = Rng(33);
    let mut shapes: Vec<_> = shapes().into_iter().map(|(name, n, edges)| (name.to_string(), n, edges)).collect();
    for case in 0..24 {
        let n = 2 + rng.below(30);
        let edges = rng.below(1 + n * (1 + case % 6));
        shapes.push((format!("random {case}: {n} vertices, {edges} draws"), n, random(n, edges, &mut rng)));
    }
    let mut samples = vec![];
    for (seed, (name, n, edges)) in shapes.iter().enumerate() {
        for kind in [GraphKind::Undirected, GraphKind::Directed] {
            let sample = Sample::new(&format!("{name}, {kind}"), *n, kind, edges);
            samples.extend([sample.clone(), sample.weighted(seed as u64)]);
        }
    }
    samples
}

/// The undirected graphs of [`samples`].
pub fn undirected() -> Vec<Sample> {
    samples().into_iter().filter(|s| !s.is_directed()).collect()
}

/// A graph large enough to be split among threads: R-MAT (Chakrabarti, Zhan, Faloutsos 2004) with a few hubs, of
/// 2^scale vertices.
pub fn large(scale: u32, degree: usize, kind: GraphKind, seed: u64) -> Sample {
    let (n, mut rng) = (1usize << scale, Rng(seed));
    let edges: Vec<_> = (0..n * degree)
        .map(|_| {
            let (mut i, mut j) = (0, 0);
            for _ in 0..scale {
                let quarter = match rng.below(100) {
                    0..57 => (0, 0),
                    57..76 => (0, 1),
                    76..95 => (1, 0),
                    _ => (1, 1),
                };
                (i, j) = (2 * i + quarter.0, 2 * j + quarter.1);
            }
            (i, j)
        })
        .collect();
    Sample::new(&format!("R-MAT {scale}, {kind}"), n, kind, &edges)
}

/// A grid of m rows and k columns.
pub fn grid(m: usize, k: usize) -> Sample {
    let right = (0..m * k).filter(|v| v % k + 1 < k).map(|v| (v, v + 1));
    let edges: Vec<_> = right.chain((0..(m - 1) * k).map(|v| (v, v + k))).collect();
    Sample::new("a grid", m * k, GraphKind::Undirected, &edges)
}

/// The result of `f`, which is the same on 1, 2, 3 and 8 threads.
pub fn by_threads<T: PartialEq + Debug>(name: &str, f: impl Fn(&Cpu) -> T) -> T {
    let on = |threads| f(&Cpu::with_threads(threads).unwrap_or_else(|e| panic!("{e}")));
    let one = on(1);
    for threads in [2, 3, 8] {
        let other = on(threads);
        assert!(one == other, "{name}: {threads} threads: {other:?}, one: {one:?}");
    }
    one
}
