//! Graph algorithms on an adjacency matrix: `sparring bfs FILE --source 0`, `sparring pagerank FILE --top 20`, …

mod all_pairs;
mod answer;
mod centrality;
mod common;
mod partition;
mod paths;
mod structure;

use std::sync::Arc;

use clap::Subcommand;
use serde_json::{Map, Value, json};
use sparring::graph::{Graph, GraphKind};
use sparring::par::filled;
use sparring::{Csr, Pattern};

use crate::context::Context;
use crate::device::Device;
use crate::failure::Result;
use crate::formats::SPARSE;
use crate::memory;
use crate::output::{ms, seconds, shape, thousands};
use crate::plot::{Network, Picture};
use crate::timing::timed;
use crate::write::Output;
use common::{Example, Run};

/// Two examples of each of these commands.
pub(crate) fn examples() -> impl Iterator<Item = &'static (&'static str, [Example; 2])> {
    let [pairs, partition] = [all_pairs::EXAMPLES, partition::EXAMPLES];
    paths::EXAMPLES.iter().chain(pairs).chain(centrality::EXAMPLES).chain(structure::EXAMPLES).chain(partition)
}

#[derive(Subcommand)]
pub(crate) enum Algorithm {
    #[command(flatten)]
    Paths(paths::Paths),
    /// Compute shortest path lengths between all pairs of vertices, with the values of the matrix as weights
    Apsp(all_pairs::AllPairs),
    #[command(flatten)]
    Centrality(centrality::Centrality),
    #[command(flatten)]
    Structure(structure::Structure),
    /// Compute the modularity of given communities
    Modularity(partition::Modularity),
}

impl Algorithm {
    fn run(&self) -> &dyn Run {
        match self {
            Self::Paths(algorithm) => algorithm,
            Self::Apsp(algorithm) => algorithm,
            Self::Centrality(algorithm) => algorithm,
            Self::Structure(algorithm) => algorithm,
            Self::Modularity(algorithm) => algorithm,
        }
    }
    /// The device to run on.
    pub(crate) fn device(&self) -> Device {
        self.run().device()
    }
    /// The graph's file.
    pub(crate) fn file(&self) -> &str {
        &self.run().common().file
    }
    /// All input files.
    pub(crate) fn files(&self) -> Vec<&str> {
        [self.file()].into_iter().chain(self.run().other_file()).collect()
    }
    /// Whether the memory budget is enforced.
    pub(crate) fn keeps_to_budget(&self) -> bool {
        self.run().keeps_to_budget()
    }
}

pub(crate) fn run(context: &Context, algorithm: &Algorithm) -> Result {
    let algorithm = algorithm.run();
    let common = algorithm.common();
    let output = Output::new(context, common.output.as_ref(), common.writing, SPARSE)?;
    let picture = Picture::new(context, "plot", common.plot.as_deref())?;
    let (source, read_ms) = context.load(&common.file)?;
    let (a, read_ms) = (source.matrix, read_ms + algorithm.read_other(context)?);
    if let bytes @ 1.. = algorithm.result_bytes(a.nrows()) {
        let format = output.as_ref().map(|output| output.kind.format);
        memory::allow("the result", answer::bytes_to_write(bytes, format), context.memory_budget)?;
    }
    context.progress.stage_of("computing", a.nrows(), "vertices");
    let (made, prepare_ms) = timed(|| graph(context, algorithm, &a));
    let (g, found) = made?;
    let ((answer, how), compute_ms) = timed(|| sparring::par::explained(|| algorithm.compute(context, &g)));
    let mut answer = answer?;
    let is_square = a.nrows() == a.ncols();
    if !is_square {
        answer.values.truncate(a.nrows());
    }
    if let Some(output) = &output {
        answer.save(context, output, &g)?;
    }
    if let Some(picture) = picture {
        match answer.drawn(algorithm.plot_kind()) {
            Some(labels) => picture.draw(&Network::of(&common.file, &g, labels)?)?,
            None => picture.draw(&answer.curve(&g)?.on(&common.file))?,
        }
    }
    let top = answer.highest(algorithm.top())?;
    let mut line = Map::new();
    for (key, value) in [
        ("file", json!(common.file)),
        ("kind", if is_square { json!(g.kind().to_string()) } else { json!("bipartite") }),
        ("nrows", json!(a.nrows())),
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
    if !is_square {
        line.insert("ncols".into(), json!(a.ncols()));
    }
    line.extend(answer.figures.into_iter().map(|(key, value)| (key.into(), value)));
    if !top.is_empty() {
        line.insert("top".into(), top.iter().map(|(v, x)| json!([v, x])).collect());
    }
    context.result(Value::Object(line), || {
        let n = if is_square { thousands(g.vertices()) } else { shape(a.nrows(), a.ncols()) };
        let m = thousands(g.edges());
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

/// The same on all processes of a job, each with a block of the matrix. The first one prints and writes the result.
#[cfg(feature = "cluster")]
pub(crate) fn on_cluster(context: &Context, cluster: &sparring_cluster::Cluster, algorithm: &Algorithm) -> Result {
    use sparring::runtime::BinaryOp;
    let algorithm = algorithm.run();
    let common = algorithm.common();
    let none = |what: &str| sparring::Error::Unsupported {
        what: format!("{what} of sparring {} with --cluster", context.command()),
        why: "it runs on a single process".into(),
    };
    if common.plot.is_some() {
        return Err(none("--plot").into());
    }
    let output = Output::new(context, common.output.as_ref(), common.writing, SPARSE)?;
    let machine = cluster.machine();
    let (a, read_ms) = crate::cluster::load(context, cluster, &common.file, None)?;
    let (made, prepare_ms) = timed(|| match common.kind.map(GraphKind::from) {
        // Both directions of each edge; if both are stored, the value of A wins.
        Some(GraphKind::Undirected) => machine.ewise_add(&BinaryOp::new("first", a.ty())?, &a, &machine.transpose(&a)?),
        _ => Ok(a.clone()),
    });
    let a = made?;
    let (answer, compute_ms) = timed(|| algorithm.on_cluster(&machine, &a));
    let answer = answer.ok_or_else(|| none("this option"))??;
    let n = a.shape().0;
    if cluster.rank() > 0 {
        return Ok(());
    }
    if let Some(output) = &output {
        // Results per vertex need no edges.
        let g = Graph::of_pattern(&context.cpu, &Arc::new(Pattern::empty(n, n)?), GraphKind::Directed)?;
        answer.save(context, output, &g)?;
    }
    let top = answer.highest(algorithm.top())?;
    let (rows, cols) = cluster.grid().shape();
    let mut line = Map::new();
    for (key, value) in [
        ("file", json!(common.file)),
        ("nrows", json!(n)),
        ("nnz", json!(a.nnz())),
        ("grid", json!([rows, cols])),
        ("read_ms", ms(read_ms)),
        ("prepare_ms", ms(prepare_ms)),
        ("compute_ms", ms(compute_ms)),
        ("threads", json!(context.threads())),
        ("device", json!(context.device.to_string())),
    ] {
        line.insert(key.into(), value);
    }
    line.extend(answer.figures.into_iter().map(|(key, value)| (key.into(), value)));
    if !top.is_empty() {
        line.insert("top".into(), top.iter().map(|(v, x)| json!([v, x])).collect());
    }
    context.result(Value::Object(line), || {
        let (read, prepared, computed) = (seconds(read_ms), seconds(prepare_ms), seconds(compute_ms));
        let mut text = format!(
            "{}   {} vertices, {} entries on {rows}×{cols} ranks   read {read}, prepared {prepared}, computed {computed}",
            answer.text,
            thousands(n),
            thousands(a.nnz())
        );
        top.iter().for_each(|(v, x)| text += &format!("\n{v:>12}  {x}"));
        text
    })
}

/// The graph, and how its kind was determined.
fn graph(context: &Context, algorithm: &dyn Run, a: &Csr<f64>) -> sparring::Result<(Graph, String)> {
    let cpu = &context.cpu;
    if a.nrows() != a.ncols() && algorithm.common().kind.is_none() && algorithm.takes_rectangles() {
        let pattern = Arc::new(squared(a.pattern())?);
        return Ok((Graph::of_pattern(cpu, &pattern, GraphKind::Directed)?, "bipartite".into()));
    }
    let (kind, found) = match algorithm.common().kind {
        Some(kind) => (kind.into(), GraphKind::from(kind).to_string()),
        None => match GraphKind::of(cpu, a)? {
            GraphKind::Undirected => (GraphKind::Undirected, "undirected, because symmetric".into()),
            GraphKind::Directed => (GraphKind::Directed, "directed, because not symmetric".into()),
        },
    };
    let g = if algorithm.is_weighted() { Graph::weighted(cpu, a, kind)? } else { Graph::new(cpu, a, kind)? };
    // On a GPU, everything is uploaded before the algorithm begins.
    if algorithm.reads_incoming() || context.cuda.is_some() {
        g.prepare(context)?;
    }
    Ok((g, found))
}

/// The pattern, padded with empty rows or columns to a square.
fn squared(a: &Pattern) -> sparring::Result<Pattern> {
    let n = a.nrows().max(a.ncols());
    let mut row_ptr = filled(n + 1, a.nnz(), "row pointers")?;
    row_ptr[..a.row_ptr().len()].copy_from_slice(a.row_ptr());
    let mut cols = filled(a.nnz(), 0, "column indices")?;
    cols.copy_from_slice(a.col_idx());
    Pattern::new(n, n, row_ptr, cols)
}
