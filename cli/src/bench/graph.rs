//! `sparring bench graph`: graph algorithms. The graph is built once and timed separately.

use clap::Args;
use serde_json::{Map, Value, json};
use sparring::graph::{
    Graph, GraphBackend, GraphKind, Iteration, PageRankOptions, Place, TriangleMethod, UNREACHED,
    all_pairs_shortest_paths, asynchronous_label_propagation, bellman_ford, betweenness, betweenness_centrality, bfs,
    bfs_levels, bipartite_matching, closeness_centrality, connected_components, core_numbers, dependencies,
    eigenvector_centrality, greedy_coloring, harmonic_centrality, hits, k_truss, katz_centrality, label_propagation,
    leiden, local_clustering, louvain, maximal_independent_set, minimum_spanning_forest, modularity, multi_source_bfs,
    pagerank, sampled_betweenness, sssp, sssp_distances, strongly_connected_components, topological_order, triangles,
};
use sparring::prelude::Backend;
use sparring::{Cpu, Csr, Error};
use sparring_generate::graphs::weight;
use sparring_generate::splitmix64;

use super::case::load;
use crate::context::Context;
use crate::device::refused;
use crate::failure::{Failure, Result};
use crate::output::ms;
use crate::suggest;
use crate::timing::{self, Times, timed};

#[derive(Args)]
#[group(id = "graph")]
pub(super) struct Settings {
    /// Algorithms, or list for their names [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',', help_heading = "Bench graph")]
    algorithm: Vec<String>,
}

/// Rejects its options in other benchmarks.
pub(super) fn refuse(settings: &Settings) -> sparring::Result<()> {
    if settings.algorithm.is_empty() {
        return Ok(());
    }
    Err(Error::Argument { name: "--algorithm", message: "it is an option of bench graph".into() })
}

pub(super) const CASES: &[&str] = &["kron16", "urand16", "grid1000"];

/// Number of sources of multi-source algorithms: the vertices of largest out-degree.
const SOURCES: usize = 4;
/// Number of sources of many-source algorithms, the same vertices first, and of a sample.
const MANY: usize = 64;
/// Seed of the sample.
const SEED: u64 = 7;

/// The graph that an algorithm reads: that of the case without self-loops, or one derived from it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// Unchanged, with its transpose.
    Given,
    Weighted,
    Undirected,
    UndirectedWeighted,
    /// With some negative weights, but without negative cycles.
    Negative,
    /// Only edges from smaller to larger vertices.
    Acyclic,
}

/// A case: its adjacency matrix without the diagonal, each edge with its weight.
struct Case {
    a: Csr<f64>,
    /// Its transpose.
    at: Csr<f64>,
    kind: GraphKind,
    sources: Vec<usize>,
    /// A partition: blocks of 64 vertices get one of 64 labels.
    labels: Vec<u32>,
}

/// Named figures of a result, for comparison with other libraries.
type Figures = Vec<(&'static str, f64)>;

/// Computes the figures of a result, untimed.
type Count<'a> = Box<dyn FnOnce() -> Figures + 'a>;

struct Algorithm {
    name: &'static str,
    form: Form,
    run: for<'a> fn(On<'a>, &'a Graph, &Case) -> sparring::Result<Count<'a>>,
}

/// The device of an algorithm, and the processor for algorithms without a GPU version.
#[derive(Clone, Copy)]
struct On<'a> {
    place: &'a dyn GraphBackend,
    cpu: &'a Cpu,
}

/// Algorithms with a GPU version.
const ON_A_GPU: [&str; 8] =
    ["bfs", "pagerank", "betweenness", "betweenness_all", "betweenness_sampled", "cdlp", "sssp", "components"];

/// A timed computation, with the untimed computation of its figures.
fn later<'a, T: 'a>(
    computed: sparring::Result<T>,
    found: impl FnOnce(T) -> Figures + 'a,
) -> sparring::Result<Count<'a>> {
    computed.map(|x| Box::new(|| found(x)) as Count<'a>)
}

/// Vertices with a level or a finite length, and the sum of these.
fn reached(lengths: impl Iterator<Item = f64>) -> Figures {
    let (mut count, mut sum) = (0.0, 0.0);
    for x in lengths {
        (count, sum) = (count + 1.0, sum + x);
    }
    vec![("reached", count), ("sum", sum)]
}

/// Figures of parts labelled by their smallest vertices.
fn parts(labels: &[u32]) -> Figures {
    vec![("components", labels.iter().enumerate().filter(|(v, label)| *v == **label as usize).count() as f64)]
}

/// Sum of squares of the normalized scores.
fn squares(scores: &[f64]) -> Figures {
    let sum: f64 = scores.iter().sum();
    vec![("squares", scores.iter().map(|x| (x / sum) * (x / sum)).sum())]
}

fn sum(scores: &[f64]) -> Figures {
    vec![("sum", scores.iter().sum())]
}

/// Modularity of a labelling of the vertices, and the number of labels.
fn communities(cpu: &Cpu, g: &Graph, labels: &[u32]) -> Figures {
    let quality = modularity(cpu, g, labels, 1.0).unwrap_or(f64::NAN);
    let mut of = labels.to_vec();
    of.sort_unstable();
    of.dedup();
    vec![("modularity", quality), ("communities", of.len() as f64)]
}

/// k of the k-truss: every edge is in at least two triangles.
const TRUSS: u32 = 4;
/// Sweeps of label propagation, as in LDBC Graphalytics.
const SWEEPS: usize = 10;
/// Rounds of the Leiden method, igraph's default.
const ROUNDS: usize = 2;
/// Convergence criterion of iterations.
const PRECISE: Iteration = Iteration { tolerance: 1e-6, max_iterations: 1000 };

#[rustfmt::skip]
const ALGORITHMS: &[Algorithm] = &[
    Algorithm { name: "bfs", form: Form::Given, run: |on, g, case| {
        later(bfs(on.place, g, case.sources[0]), |x| reached(x.into_iter().filter(|x| *x != UNREACHED).map(f64::from)))
    } },
    Algorithm { name: "scc", form: Form::Given, run: |on, g, _| {
        later(strongly_connected_components(on.cpu, g), |x| parts(&x))
    } },
    Algorithm { name: "pagerank", form: Form::Given, run: |on, g, _| {
        let options = PageRankOptions { tolerance: 1e-6, max_iterations: 1000, ..PageRankOptions::default() };
        later(pagerank(on.place, g, &options), |x| squares(&x.ranks))
    } },
    Algorithm { name: "hits", form: Form::Given, run: |on, g, _| later(hits(on.cpu, g, PRECISE), |x| squares(&x.hubs)) },
    Algorithm { name: "betweenness", form: Form::Given, run: |on, g, case| {
        later(dependencies(on.place, g, &case.sources[..SOURCES.min(case.sources.len())]), |x| sum(&x))
    } },
    Algorithm { name: "betweenness_weighted", form: Form::Weighted, run: |on, g, case| {
        later(dependencies(on.place, g, &case.sources[..SOURCES.min(case.sources.len())]), |x| sum(&x))
    } },
    Algorithm { name: "betweenness_sampled", form: Form::Given, run: |on, g, _| {
        later(sampled_betweenness(on.place, g, MANY.min(g.vertices()), SEED, false), |x| sum(&x))
    } },
    Algorithm { name: "msbfs", form: Form::Given, run: |on, g, case| {
        let found = multi_source_bfs(on.cpu, g, &case.sources);
        later(found, |x| reached(x.into_iter().filter(|x| *x != UNREACHED).map(f64::from)))
    } },
    Algorithm { name: "apsp", form: Form::Weighted, run: |on, g, _| {
        later(all_pairs_shortest_paths(on.cpu, g), |x| reached(x.into_iter().filter(|x| x.is_finite())))
    } },
    Algorithm { name: "apsp_hops", form: Form::Given, run: |on, g, _| {
        later(all_pairs_shortest_paths(on.cpu, g), |x| reached(x.into_iter().filter(|x| x.is_finite())))
    } },
    Algorithm { name: "bellman_ford", form: Form::Negative, run: |on, g, case| {
        let found = bellman_ford(on.cpu, g, case.sources[0]);
        later(found, |x| reached(x.distances.into_iter().filter(|x| x.is_finite())))
    } },
    Algorithm { name: "closeness_weighted", form: Form::UndirectedWeighted, run: |on, g, _| {
        later(closeness_centrality(on.cpu, g), |x| sum(&x))
    } },
    // Counts both directions of each pair of an undirected graph.
    Algorithm { name: "betweenness_all", form: Form::Given, run: |on, g, _| {
        let ways = if g.kind() == GraphKind::Directed { 1.0 } else { 2.0 };
        later(betweenness_centrality(on.place, g, false), move |x| vec![("sum", ways * x.iter().sum::<f64>())])
    } },
    Algorithm { name: "harmonic", form: Form::Given, run: |on, g, _| later(harmonic_centrality(on.cpu, g), |x| sum(&x)) },
    Algorithm { name: "closeness", form: Form::Undirected, run: |on, g, _| {
        later(closeness_centrality(on.cpu, g), |x| sum(&x))
    } },
    Algorithm { name: "ktruss", form: Form::Undirected, run: |on, g, _| {
        later(k_truss(on.cpu, g, TRUSS), |x| vec![("edges", x.len() as f64)])
    } },
    Algorithm { name: "kcore", form: Form::Undirected, run: |on, g, _| {
        later(core_numbers(on.cpu, g), |x| vec![("sum", x.into_iter().map(f64::from).sum())])
    } },
    Algorithm { name: "clustering", form: Form::Undirected, run: |on, g, _| later(local_clustering(on.cpu, g), |x| sum(&x)) },
    Algorithm { name: "cdlp", form: Form::Undirected, run: |on, g, _| {
        later(label_propagation(on.place, g, SWEEPS), move |x| communities(on.cpu, g, &x.labels))
    } },
    Algorithm { name: "lpa", form: Form::Undirected, run: |on, g, _| {
        let found = asynchronous_label_propagation(on.cpu, g, usize::MAX);
        later(found, move |x| communities(on.cpu, g, &x.labels))
    } },
    Algorithm { name: "louvain", form: Form::Undirected, run: |on, g, _| {
        later(louvain(on.cpu, g, 1.0, 0), |x| vec![("modularity", x.modularity), ("communities", x.count as f64)])
    } },
    Algorithm { name: "leiden", form: Form::Undirected, run: |on, g, _| {
        later(leiden(on.cpu, g, 1.0, ROUNDS, 0), |x| vec![("modularity", x.modularity), ("communities", x.count as f64)])
    } },
    Algorithm { name: "modularity", form: Form::Undirected, run: |on, g, case| {
        later(modularity(on.cpu, g, &case.labels, 1.0), |x| vec![("modularity", x)])
    } },
    Algorithm { name: "mis", form: Form::Undirected, run: |on, g, _| {
        later(maximal_independent_set(on.cpu, g), |x| vec![("size", x.len() as f64)])
    } },
    Algorithm { name: "color", form: Form::Undirected, run: |on, g, _| {
        later(greedy_coloring(on.cpu, g), |x| vec![("colors", x.count.into())])
    } },
    Algorithm { name: "toposort", form: Form::Acyclic, run: |on, g, _| {
        later(topological_order(on.cpu, g), |x| vec![("size", x.len() as f64)])
    } },
    Algorithm { name: "msf", form: Form::UndirectedWeighted, run: |on, g, _| {
        later(minimum_spanning_forest(on.cpu, g), |x| vec![("sum", x.weight)])
    } },
    // Matches rows with columns of the adjacency matrix.
    Algorithm { name: "matching", form: Form::Given, run: |on, g, _| {
        later(bipartite_matching(on.cpu, g.pattern()), |x| vec![("size", x.size as f64)])
    } },
    Algorithm { name: "katz", form: Form::Undirected, run: |on, g, _| {
        let most = (0..g.vertices()).map(|v| g.degree(v)).max().unwrap_or(0);
        later(katz_centrality(on.cpu, g, 1.0 / (most + 1) as f64, 1.0, PRECISE), |x| squares(&x))
    } },
    Algorithm { name: "eigenvector", form: Form::Undirected, run: |on, g, _| {
        later(eigenvector_centrality(on.cpu, g, PRECISE), |x| squares(&x))
    } },
    Algorithm { name: "sssp", form: Form::Weighted, run: |on, g, case| {
        later(sssp(on.place, g, case.sources[0]), |x| reached(x.into_iter().filter(|x| x.is_finite())))
    } },
    Algorithm { name: "components", form: Form::Undirected, run: |on, g, _| {
        later(connected_components(on.place, g), |x| parts(&x))
    } },
    // Written in GraphBLAS operations.
    Algorithm { name: "bfs_by_operations", form: Form::Given, run: |on, _, case| {
        later(bfs_levels(on.cpu, &case.a, Some(&case.at), case.sources[0]), |x| reached(x.into_iter().flatten().map(f64::from)))
    } },
    Algorithm { name: "sssp_by_operations", form: Form::Weighted, run: |on, _, case| {
        let found = sssp_distances(on.cpu, &case.a, case.sources[0], None);
        later(found, |x| reached(x.into_iter().filter(|d| d.is_finite())))
    } },
    Algorithm { name: "betweenness_by_operations", form: Form::Given, run: |on, _, case| {
        let sources = &case.sources[..SOURCES.min(case.sources.len())];
        later(betweenness(on.cpu, &case.a, &case.at, sources), |x| sum(&x))
    } },
    Algorithm { name: "triangles", form: Form::Undirected, run: |on, g, _| {
        later(triangles(on.cpu, &**g.pattern(), TriangleMethod::Auto), |x| vec![("triangles", x.count as f64)])
    } },
];

impl Case {
    /// Loads a case: directed unless its pattern is symmetric.
    fn load(context: &Context, name: &str) -> Result<Self> {
        let threads = context.quiet.threads();
        let a = load(context, name)?.select(threads, |i, j, _| i != j)?;
        if a.nrows() != a.ncols() {
            return Err(Error::NotSquare { op: "bench graph", nrows: a.nrows(), ncols: a.ncols() }.into());
        }
        if a.nnz() == 0 {
            return Err(Error::Argument { name: "case", message: format!("{name} has no edge") }.into());
        }
        let n = a.nrows() as u64;
        let weights = a.iter().map(|(i, j, _)| weight(n, i as u64, j as u64)).collect();
        let a = Csr::with_pattern(a.pattern().clone(), weights)?;
        let kind = GraphKind::of(&context.quiet, &a)?;
        let at = if kind == GraphKind::Directed { context.quiet.transpose(&a).eval()? } else { a.clone() };
        let mut sources: Vec<_> = (0..a.nrows()).collect();
        sources.sort_by_key(|&v| std::cmp::Reverse(a.row(v).0.len()));
        sources.truncate(MANY);
        let labels = (0..a.nrows() as u64).map(|v| (splitmix64(v / 64) % 64) as u32).collect();
        Ok(Self { a, at, kind, sources, labels })
    }
    /// Positive odd weights plus differences of a vertex potential, which leave the length of every cycle unchanged.
    fn negative(&self) -> sparring::Result<Csr<f64>> {
        let of = |v: u64| (splitmix64(v) % 256) as f64;
        let weights = self.a.iter().map(|(u, v, w)| 2.0 * (*w + of(u as u64) - of(v as u64)) + 1.0).collect();
        Csr::with_pattern(self.a.pattern().clone(), weights)
    }
    fn graph(&self, on: On<'_>, form: Form) -> sparring::Result<Graph> {
        let cpu = on.cpu;
        let g = match form {
            Form::Given => Graph::new(cpu, &self.a, self.kind)?,
            Form::Weighted => Graph::weighted(cpu, &self.a, self.kind)?,
            Form::Undirected => Graph::new(cpu, &self.a, GraphKind::Undirected)?,
            Form::UndirectedWeighted => Graph::weighted(cpu, &self.a, GraphKind::Undirected)?,
            Form::Negative => Graph::weighted(cpu, &self.negative()?, GraphKind::Directed)?,
            Form::Acyclic => Graph::new(cpu, &self.a.strict_upper(cpu.threads())?, GraphKind::Directed)?,
        };
        if form == Form::Given || matches!(on.place.place()?, Place::Cuda(_)) {
            g.prepare(on.place)?;
        }
        Ok(g)
    }
}

pub(super) fn heading() -> String {
    format!("{:18} {:16} {:>12} {:>12} {:>12}  found", "case", "algorithm", "its graph", "median ms", "minimum")
}

/// The selected algorithms; `None` to list their names.
fn chosen(settings: &Settings) -> sparring::Result<Option<Vec<&'static Algorithm>>> {
    match &settings.algorithm[..] {
        [] => Ok(Some(ALGORITHMS.iter().collect())),
        [list] if list == "list" => Ok(None),
        names => names.iter().map(|name| algorithm(name)).collect::<sparring::Result<_>>().map(Some),
    }
}

fn algorithm(name: &str) -> sparring::Result<&'static Algorithm> {
    let known = || ALGORITHMS.iter().map(|of| of.name);
    let found = ALGORITHMS.iter().find(|of| of.name == name).ok_or_else(|| {
        let message = format!("none is called '{name}'; there are {}", known().collect::<Vec<_>>().join(", "));
        Error::Argument { name: "algorithm", message }
    });
    suggest::suggested(found, name, known())
}

/// Measures the algorithms on the graphs.
pub(super) fn run(context: &Context, settings: &Settings, names: &[String], repeat: u32) -> Result {
    let Some(algorithms) = chosen(settings)? else {
        let names: Vec<_> = ALGORITHMS.iter().map(|of| of.name).collect();
        return context.result(json!({ "op": "graph", "algorithms": names }), || names.join("\n"));
    };
    if context.cuda.is_some()
        && let Some(other) = algorithms.iter().find(|of| !ON_A_GPU.contains(&of.name))
    {
        return Err(refused(other.name, &format!("there are {}", ON_A_GPU.join(", "))).into());
    }
    context.heading(&heading())?;
    for name in names {
        let case = Case::load(context, name)?;
        for algorithm in &algorithms {
            context.progress.stage(format!("measuring {} of {name}", algorithm.name));
            measure(context, algorithm, name, &case, repeat)?;
        }
    }
    Ok(())
}

fn measure(context: &Context, algorithm: &Algorithm, name: &str, case: &Case, repeat: u32) -> Result {
    let place: &dyn GraphBackend = context.cuda.as_ref().map_or(&context.quiet as &dyn GraphBackend, |cuda| cuda);
    let on = On { place, cpu: &context.quiet };
    let [mut prepare, mut times] = <[Times; 2]>::default();
    // The first of two builds is the warm-up.
    let mut graph = None;
    for _ in 0..2 {
        drop(graph.take());
        let (made, ms) = timed(|| case.graph(on, algorithm.form));
        prepare.push(ms);
        graph = Some(made?);
    }
    let Some(graph) = graph else { unreachable!("it was made twice") };
    let found = (algorithm.run)(on, &graph, case)?();
    for _ in 0..repeat {
        let (again, ms) = timed(|| (algorithm.run)(on, &graph, case));
        times.push(ms);
        let again = again?();
        if again != found {
            return Err(Failure::Wrong(format!("{name}: {again:?}, then {found:?}")));
        }
    }
    let mut line = Map::new();
    for (key, value) in [
        ("op", json!("graph")),
        ("case", json!(name)),
        ("algorithm", json!(algorithm.name)),
        ("kind", json!(graph.kind().to_string())),
        ("device", json!(context.device.to_string())),
        ("nrows", json!(graph.vertices())),
        ("a_nnz", json!(graph.pattern().nnz())),
        ("source", json!(case.sources[0])),
        ("threads", json!(context.threads())),
        ("repeat", json!(repeat)),
    ] {
        line.insert(key.into(), value);
    }
    line.insert("prepare_ms".into(), ms(prepare.minimum()));
    timing::insert(&mut line, "", &times);
    line.extend(found.iter().map(|(key, x)| (key.to_string(), json!(x))));
    context.result(Value::Object(line), || {
        let found: Vec<_> = found.iter().map(|(key, x)| format!("{key} {x}")).collect();
        let [median, least, prepare] = [times.median(), times.minimum(), prepare.minimum()];
        format!("{name:18} {:16} {prepare:>12.3} {median:>12.3} {least:>12.3}  {}", algorithm.name, found.join(", "))
    })
}
