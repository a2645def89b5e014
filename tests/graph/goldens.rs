//! Results of networkx and igraph for 200 small graphs (`scripts/graph_goldens.py` documents the keys), and well-known
//! figures of graphs.

use std::io::Read;
use std::path::Path;

use serde_json::Value as Json;
use sparring::graph::{self, Graph, GraphKind, Iteration, PageRankOptions, UNREACHED};
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
            // Graphs without edges as well: the file has their path lengths.
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
    /// The weighted graph, if it has weights.
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

/// Calls `check` with every graph that has the key `key`; there are `count` of them.
#[track_caller]
fn each(key: &str, count: usize, mut check: impl FnMut(&Cpu, &Golden)) {
    let cpu = Cpu::with_threads(2).unwrap();
    let with = goldens().into_iter().filter(|g| !g.facts[key].is_null());
    assert_eq!(with.map(|g| check(&cpu, &g)).count(), count, "{key}");
}

/// Vertices as numbered in the file, −1 for none.
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
    // Each edge of an unweighted graph has length 1.
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

#[test]
fn pagerank() {
    let ranks = |cpu: &Cpu, g: &Golden, personalization: Option<Vec<f64>>| {
        let options = PageRankOptions {
            damping: 0.85,
            tolerance: 1e-13,
            max_iterations: 1000,
            personalization,
            ..PageRankOptions::default()
        };
        graph::pagerank(cpu, &g.graph(cpu), &options).unwrap().ranks
    };
    each("pagerank", 200, |cpu, g| {
        g.close("pagerank", &ranks(cpu, g, None));
        let mut personal = vec![0.0; g.n];
        g.numbers("personal").unwrap().into_iter().for_each(|v| personal[v as usize] = 1.0);
        g.close("personalized", &ranks(cpu, g, Some(personal)));
    });
}

#[test]
fn scores_by_iteration() {
    let precise = Iteration { tolerance: 1e-13, max_iterations: 100_000 };
    each("hubs", 116, |cpu, g| {
        let found = graph::hits(cpu, &g.graph(cpu), precise).unwrap();
        g.within("hubs", &found.hubs, 1e-6);
        g.within("authorities", &found.authorities, 1e-6);
    });
    each("eigenvector", 84, |cpu, g| {
        g.within("eigenvector", &graph::eigenvector_centrality(cpu, &g.graph(cpu), precise).unwrap(), 1e-6);
    });
    each("katz", 200, |cpu, g| {
        let alpha = g.number("alpha").unwrap();
        g.close("katz", &graph::katz_centrality(cpu, &g.graph(cpu), alpha, 1.0, precise).unwrap());
    });
}

#[test]
fn closeness() {
    each("closeness", 200, |cpu, g| g.close("closeness", &graph::closeness_centrality(cpu, &g.bare(cpu)).unwrap()));
    each("closeness_weighted", 100, |cpu, g| {
        g.close("closeness_weighted", &graph::closeness_centrality(cpu, &g.graph(cpu)).unwrap());
    });
    each("harmonic", 200, |cpu, g| g.close("harmonic", &graph::harmonic_centrality(cpu, &g.graph(cpu)).unwrap()));
}

#[test]
fn betweenness() {
    each("betweenness", 200, |cpu, g| {
        g.close("betweenness", &graph::betweenness_centrality(cpu, &g.bare(cpu), false).unwrap());
    });
    each("betweenness_weighted", 100, |cpu, g| {
        g.close("betweenness_weighted", &graph::betweenness_centrality(cpu, &g.graph(cpu), false).unwrap());
    });
}

#[test]
fn modularity() {
    each("modularity", 178, |cpu, g| {
        let labels: Vec<_> = g.numbers("labels").unwrap().into_iter().map(|x| x as u32).collect();
        let (found, known) =
            (graph::modularity(cpu, &g.graph(cpu), &labels, 1.0).unwrap(), g.number("modularity").unwrap());
        assert!((found - known).abs() < 1e-8, "graph {}: {found}, not {known}", g.number);
    });
}

/// Zachary's karate club, with the figures published in books and computed by other libraries.
#[test]
fn the_karate_club_is_as_published() {
    let cpu = Cpu::with_threads(2).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/karate.mtx.gz");
    let a: Csr<f64> = sparring::io::read_matrix_market(path).unwrap().csr().unwrap();
    let g = Graph::new(&cpu, &a, GraphKind::Undirected).unwrap();
    let near = |x: f64, y: f64| assert!((x - y).abs() < 5e-7, "{x}, not {y}");
    // The instructor, the president and other members of the club.
    let between = graph::betweenness_centrality(&cpu, &g, true).unwrap();
    near(between[0], 0.437_635_3);
    near(between[33], 0.304_075_0);
    near(between[32], 0.145_247_1);
    let options = PageRankOptions { tolerance: 1e-13, max_iterations: 1000, ..PageRankOptions::default() };
    let ranks = graph::pagerank(&cpu, &g, &options).unwrap().ranks;
    near(ranks[33], 0.100_919_2);
    near(ranks[0], 0.096_997_3);
    near(ranks[32], 0.071_693_2);
    let precise = Iteration { tolerance: 1e-13, max_iterations: 100_000 };
    let x = graph::eigenvector_centrality(&cpu, &g, precise).unwrap();
    near(x[33], 0.373_363_5);
    near(x[0], 0.355_491_4);
    let near_others = graph::closeness_centrality(&cpu, &g).unwrap();
    near(near_others[0], 0.568_965_5);
    near(near_others[33], 0.55);
    near(graph::harmonic_centrality(&cpu, &g).unwrap()[0], 23.0 + 1.0 / 6.0);
    near(graph::transitivity(&cpu, &g).unwrap(), 0.255_681_8);
    near(graph::average_clustering(&cpu, &g).unwrap(), 0.570_638_5);
    assert_eq!(graph::core_numbers(&cpu, &g).unwrap().into_iter().max(), Some(4));
    // The maximum modularity (Brandes et al. 2008).
    let communities = graph::leiden(&cpu, &g, 1.0, 10, 0).unwrap();
    assert!((0.415..=0.419_79).contains(&communities.modularity), "{communities:?}");
}

#[test]
fn cores_and_clustering() {
    each("core", 100, |cpu, g| {
        let bare = g.bare(cpu);
        g.close("core", &listed(&graph::core_numbers(cpu, &bare).unwrap()));
        g.close("clustering", &graph::local_clustering(cpu, &bare).unwrap());
        let known = g.number("transitivity").unwrap();
        assert!((graph::transitivity(cpu, &bare).unwrap() - known).abs() < 1e-8, "graph {}", g.number);
    });
}

#[test]
fn trusses() {
    each("truss", 100, |cpu, g| {
        let found = graph::truss_numbers(cpu, &g.bare(cpu)).unwrap();
        // The file also has self-loops, with 0.
        let known = g.edges.iter().zip(g.numbers("truss").unwrap()).filter(|(e, _)| e.0 != e.1);
        let known: Vec<_> = known.map(|(e, k)| ((e.0, e.1), k as u32)).collect();
        assert_eq!(found.edges.into_iter().zip(found.numbers).collect::<Vec<_>>(), known, "graph {}", g.number);
    });
}

#[test]
fn forests_and_matchings() {
    each("forest", 100, |cpu, g| {
        let found = graph::minimum_spanning_forest(cpu, &g.graph(cpu)).unwrap();
        assert_eq!(Some(found.weight), g.number("forest"), "graph {}", g.number);
    });
    each("matching", 200, |cpu, g| {
        let found = graph::bipartite_matching(cpu, g.bare(cpu).pattern()).unwrap();
        assert_eq!(Some(found.size as f64), g.number("matching"), "graph {}", g.number);
    });
}

#[test]
fn an_order_where_there_is_one() {
    each("acyclic", 100, |cpu, g| {
        let order = graph::topological_order(cpu, &g.bare(cpu));
        assert_eq!(Some(order.is_ok()), g.facts["acyclic"].as_bool(), "graph {}: {order:?}", g.number);
        let Ok(order) = order else { return };
        let mut place = vec![0; g.n];
        order.iter().enumerate().for_each(|(k, &v)| place[v as usize] = k);
        assert!(g.edges.iter().all(|e| place[e.0 as usize] < place[e.1 as usize]), "graph {}", g.number);
    });
}
