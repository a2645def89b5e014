//! What networkx and igraph say of 200 small graphs (`scripts/graph_goldens.py`, whose head tells the keys), and figures
//! that graphs are known by.

use std::io::Read;
use std::path::Path;

use serde_json::Value as Json;
use sparring::graph::{self, Graph, GraphKind, UNREACHED};
use sparring::{Coo, Cpu, Csr};

/// Graphs, in the order of the file.
struct Golden {
    number: usize,
    n: usize,
    directed: bool,
    /// From, to, weight.
    edges: Vec<(u32, u32, f64)>,
    weighted: bool,
    facts: Json,
}

fn goldens() -> Vec<Golden> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/graphs.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let file: Json = serde_json::from_str(&text).unwrap();
    let graphs = file["graphs"].as_array().unwrap();
    assert_eq!(graphs.len(), 200);
    let vertex = |x: &Json| x.as_u64().unwrap() as u32;
    let edge = |e: &Json| (vertex(&e[0]), vertex(&e[1]), e[2].as_f64().unwrap_or(1.0));
    graphs
        .iter()
        .enumerate()
        .map(|(number, g)| Golden {
            number,
            n: vertex(&g["n"]) as usize,
            directed: g["directed"].as_bool().unwrap(),
            edges: g["edges"].as_array().unwrap().iter().map(edge).collect(),
            // Those without edges as well: the file has lengths of their paths.
            weighted: !g["distances"].is_null(),
            facts: g.clone(),
        })
        .collect()
}

impl Golden {
    fn kind(&self) -> GraphKind {
        if self.directed { GraphKind::Directed } else { GraphKind::Undirected }
    }
    fn matrix(&self) -> Csr<f64> {
        let (rows, cols) = self.edges.iter().map(|e| (e.0, e.1)).unzip();
        let values = self.edges.iter().map(|e| e.2).collect();
        Coo::new(self.n, self.n, rows, cols, values).unwrap().to_csr(sparring::prelude::Plus::new()).unwrap()
    }
    /// The graph with its weights, if it has some.
    fn graph(&self, cpu: &Cpu) -> Graph {
        if self.weighted { Graph::weighted(cpu, &self.matrix(), self.kind()).unwrap() } else { self.bare(cpu) }
    }
    /// The graph without weights.
    fn bare(&self, cpu: &Cpu) -> Graph {
        Graph::new(cpu, &self.matrix(), self.kind()).unwrap()
    }
    fn number(&self, key: &str) -> Option<f64> {
        self.facts[key].as_f64()
    }
    fn numbers(&self, key: &str) -> Option<Vec<f64>> {
        Some(self.facts[key].as_array()?.iter().map(|x| x.as_f64().unwrap()).collect())
    }
    fn source(&self) -> usize {
        self.number("source").unwrap() as usize
    }
    #[track_caller]
    fn close(&self, key: &str, found: &[f64]) {
        self.within(key, found, 1e-8);
    }
    /// Compares with the numbers of a key, which have nine digits.
    #[track_caller]
    fn within(&self, key: &str, found: &[f64], tolerance: f64) {
        let known = self.numbers(key).unwrap();
        assert_eq!(found.len(), known.len(), "graph {}: {key}", self.number);
        for (v, (x, y)) in found.iter().zip(&known).enumerate() {
            let near = (x - y).abs() <= tolerance * y.abs().max(1e-2);
            assert!(near, "graph {}: {key} of {v} is {x}, not {y}\n{found:?}\n{known:?}", self.number);
        }
    }
}

/// Calls `check` with every graph that has the fact `key`, which are `count`.
#[track_caller]
fn each(key: &str, count: usize, mut check: impl FnMut(&Cpu, &Golden)) {
    let cpu = Cpu::with_threads(2).unwrap();
    let with = goldens().into_iter().filter(|g| !g.facts[key].is_null());
    assert_eq!(with.map(|g| check(&cpu, &g)).count(), count, "{key}");
}

/// Numbers of vertices, as the file has them: −1 for none.
fn listed(x: &[u32]) -> Vec<f64> {
    x.iter().map(|&x| if x == UNREACHED { -1.0 } else { x.into() }).collect()
}

fn lengths(x: &[f64]) -> Vec<f64> {
    x.iter().map(|&x| if x.is_infinite() { -1.0 } else { x }).collect()
}

#[test]
fn levels() {
    each("levels", 200, |cpu, g| g.close("levels", &listed(&graph::bfs(cpu, &g.graph(cpu), g.source()).unwrap())));
}

#[test]
fn distances() {
    each("distances", 100, |cpu, g| {
        g.close("distances", &lengths(&graph::sssp(cpu, &g.graph(cpu), g.source()).unwrap()));
    });
    // One for each edge of a graph without weights.
    each("levels", 200, |cpu, g| {
        g.close("levels", &lengths(&graph::sssp(cpu, &g.bare(cpu), g.source()).unwrap()));
    });
}

#[test]
fn components() {
    each("components", 200, |cpu, g| {
        g.close("components", &listed(&graph::connected_components(cpu, &g.graph(cpu)).unwrap()));
    });
    each("strong", 100, |cpu, g| {
        g.close("strong", &listed(&graph::strongly_connected_components(cpu, &g.graph(cpu)).unwrap()));
    });
}

#[test]
fn triangles() {
    each("triangles", 100, |cpu, g| {
        let found = graph::triangles_per_vertex(cpu, &**g.bare(cpu).pattern()).unwrap();
        g.close("triangles", &found.iter().map(|&x| x as f64).collect::<Vec<_>>());
    });
}
