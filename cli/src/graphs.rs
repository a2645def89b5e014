//! Graph algorithms on the graph under a matrix: `sparring bfs FILE --source 0`, `sparring pagerank FILE --top 20`, …

mod answer;
mod centrality;
mod paths;
mod structure;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};
use sparring::graph::{Graph, GraphKind};
use sparring::runtime::Matrix;
use sparring::{Csr, Error};

use crate::context::Context;
use crate::examples::Example;
use crate::failure::Result;
use crate::formats::SPARSE;
use crate::output::{ms, seconds, thousands};
use crate::plot::Picture;
use crate::timing::timed;
use crate::write::{Output, Writing};
use answer::{Answer, highest};

/// Two examples of each of these commands.
pub(crate) fn examples() -> impl Iterator<Item = &'static (&'static str, [Example; 2])> {
    paths::EXAMPLES.iter().chain(centrality::EXAMPLES).chain(structure::EXAMPLES)
}

#[derive(Subcommand)]
pub(crate) enum Algorithm {
    #[command(flatten)]
    Paths(paths::Paths),
    #[command(flatten)]
    Centrality(centrality::Centrality),
    #[command(flatten)]
    Structure(structure::Structure),
}

/// What every one of these commands takes.
#[derive(Args)]
pub(crate) struct Common {
    /// Adjacency matrix or edge list, or gen:NAME; vertices count from 0
    pub(crate) file: String,
    /// How edges lead [default: both ways if the matrix is symmetric, as they stand if it is not]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// File for the result of each vertex, a column: what its name says: .mtx, .npz (SciPy), .npy, .csv, .svm, .gz
    /// behind them, or - for standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    #[command(flatten)]
    writing: Writing,
    /// Draw how the results are distributed: a file .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<String>,
}

/// Whether values count, where an algorithm can do without.
#[derive(Args)]
pub(crate) struct Weights {
    /// The values of the matrix are weights of edges; else each edge counts 1
    #[arg(long)]
    pub(crate) weighted: bool,
}

/// How many results are listed.
#[derive(Args)]
pub(crate) struct Top {
    /// List so many vertices, those of the largest results
    #[arg(long, value_name = "N", default_value_t = 0)]
    top: usize,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Kind {
    /// Entry (i, j) is an edge from i to j
    Directed,
    /// Entry (i, j) is an edge between i and j
    Undirected,
}

impl From<Kind> for GraphKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Directed => Self::Directed,
            Kind::Undirected => Self::Undirected,
        }
    }
}

/// An algorithm, as its command describes it.
pub(crate) trait Run {
    fn common(&self) -> &Common;
    /// Vertices to be listed.
    fn top(&self) -> usize {
        0
    }
    /// Whether values are weights.
    fn is_weighted(&self) -> bool {
        false
    }
    /// Whether edges are read against their direction, which is prepared for then.
    fn reads_incoming(&self) -> bool {
        false
    }
    fn compute(&self, context: &Context, g: &Graph) -> sparring::Result<Answer>;
}

impl Algorithm {
    fn run(&self) -> &dyn Run {
        match self {
            Self::Paths(algorithm) => algorithm,
            Self::Centrality(algorithm) => algorithm,
            Self::Structure(algorithm) => algorithm,
        }
    }
    /// The file that it reads.
    pub(crate) fn file(&self) -> &str {
        &self.run().common().file
    }
}

pub(crate) fn run(context: &Context, algorithm: &Algorithm) -> Result {
    let algorithm = algorithm.run();
    let common = algorithm.common();
    let output = Output::new(context, common.output.as_ref(), common.writing, SPARSE)?;
    let picture = common.plot.as_ref().map(|name| Picture::new("plot", name)).transpose()?;
    let (source, read_ms) = context.load(&common.file)?;
    let a = source.matrix;
    context.progress.stage_of("computing", a.nrows(), "vertices");
    let (made, prepare_ms) = timed(|| graph(context, algorithm, &a));
    let (g, found) = made?;
    let ((answer, how), compute_ms) = timed(|| sparring::par::explained(|| algorithm.compute(context, &g)));
    let answer = answer?;
    if let (Some(output), Some(result)) = (&output, &answer.result) {
        output.save(context, result)?;
    }
    if let Some(picture) = picture {
        picture.draw(&answer.figure.on(&common.file))?;
    }
    let top = answer.scores.as_ref().map_or(vec![], |scores| highest(scores, algorithm.top()));
    let mut line = Map::new();
    for (key, value) in [
        ("file", json!(common.file)),
        ("kind", json!(g.kind().to_string())),
        ("nrows", json!(g.vertices())),
        ("edges", json!(g.edges())),
        ("self_loops", json!(g.self_loops())),
        ("weighted", json!(g.is_weighted())),
        ("read_ms", ms(read_ms)),
        ("prepare_ms", ms(prepare_ms)),
        ("compute_ms", ms(compute_ms)),
        ("threads", json!(context.threads())),
        ("device", json!(context.device.to_string())),
        ("chosen", json!(how)),
    ] {
        line.insert(key.into(), value);
    }
    line.extend(answer.figures.into_iter().map(|(key, value)| (key.into(), value)));
    if !top.is_empty() {
        line.insert("top".into(), top.iter().map(|(v, x)| json!([v, x])).collect());
    }
    context.result(Value::Object(line), || {
        let (n, m) = (thousands(g.vertices()), thousands(g.edges()));
        let (read, prepared, computed) = (seconds(read_ms), seconds(prepare_ms), seconds(compute_ms));
        let weights = if g.is_weighted() { "weighted, " } else { "" };
        let mut text = format!(
            "{}   {weights}{found}: {n} vertices, {m} edges   read {read}, prepared {prepared}, computed {computed}",
            answer.text
        );
        top.iter().for_each(|(v, x)| text += &format!("\n{v:>12}  {x}"));
        text
    })
}

/// The graph, and how it was found to be what it is.
fn graph(context: &Context, algorithm: &dyn Run, a: &Csr<f64>) -> sparring::Result<(Graph, String)> {
    let cpu = &context.cpu;
    let (kind, found) = match algorithm.common().kind {
        Some(kind) => (kind.into(), GraphKind::from(kind).to_string()),
        None => match GraphKind::of(cpu, a)? {
            GraphKind::Undirected => (GraphKind::Undirected, "undirected, since symmetric".into()),
            GraphKind::Directed => (GraphKind::Directed, "directed, since not symmetric".into()),
        },
    };
    let g = if algorithm.is_weighted() { Graph::weighted(cpu, a, kind)? } else { Graph::new(cpu, a, kind)? };
    if algorithm.reads_incoming() {
        g.prepare(cpu)?;
    }
    Ok((g, found))
}

/// Numbers of vertices as a column, those that are `None` left out.
fn column<T: sparring::algebra::Value>(values: impl ExactSizeIterator<Item = Option<T>>) -> sparring::Result<Matrix>
where
    Matrix: From<Csr<T>>,
{
    let n = values.len();
    let (mut row_ptr, mut kept) = (Vec::new(), Vec::new());
    for room in [row_ptr.try_reserve_exact(n + 1), kept.try_reserve_exact(n)] {
        room.map_err(|_| Error::OutOfMemory { what: "a column", bytes: n as u128 * 8 })?;
    }
    row_ptr.push(0);
    for value in values {
        kept.extend(value);
        row_ptr.push(kept.len());
    }
    Ok(Csr::new(n, 1, row_ptr, sparring::par::filled(kept.len(), 0, "column indices")?, kept)?.into())
}
