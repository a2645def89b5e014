//! Commands on all processes of an MPI job: `--cluster`.

use serde_json::json;
use sparring::runtime::{Machine, Matrix};
use sparring_cluster::Cluster;

use crate::context::Context;
use crate::device::Device;
use crate::failure::Failure;
use crate::output::{ms, seconds, thousands};
use crate::timing::timed;
use crate::{Command, failure, graphs, mxm, read, steps, triangles};

/// Runs a command on all ranks, of which the first says the result, and its error.
pub(crate) fn run(mut context: Context, command: &Command) -> failure::Result {
    let inner: Machine = match context.device {
        Device::Cpu => context.machine()?,
        // `cuda:0` is the first of a node: each rank has one of its own.
        Device::Cuda(first) => Machine::cuda(first + Cluster::local_rank()?, context.memory_budget)?,
    };
    let cluster = Cluster::new(inner)?;
    if cluster.rank() > 0 {
        failure::silence();
    }
    context.spread(cluster.clone());
    let context = &context;
    match command {
        Command::Graph(algorithm) => graphs::on_cluster(context, &cluster, algorithm),
        Command::Mxm(arguments) => mxm::run(context, arguments),
        Command::Step(step) => steps::run(context, step),
        Command::Triangles(arguments) => count(context, &cluster, arguments),
        _ => Err(sparring::Error::Unsupported {
            what: format!("sparring {} with --cluster", context.command()),
            why: "it runs on one machine".into(),
        }
        .into()),
    }
}

/// The blocks of a matrix, and the milliseconds that reading took: a plain Matrix Market file by parts, any other file whole
/// by each rank.
pub(crate) fn load(context: &Context, cluster: &Cluster, name: &str) -> failure::Result<(Matrix, f64)> {
    let (kind, path) = read::told(name);
    if kind.is_none() && path.ends_with(".mtx") && !name.starts_with("gen:") && !name.starts_with("sym:") {
        let (made, ms) = timed(|| cluster.read_matrix_market(path));
        return Ok((made?, ms));
    }
    let loaded = match context.load_any(name, None) {
        Err(Failure::Library(error)) => Err(error),
        Err(other) => return Err(other),
        Ok(loaded) => Ok(loaded),
    };
    let (a, ms) = cluster.agree("file", loaded)?;
    Ok((cluster.machine().upload(&a)?, ms))
}

fn count(context: &Context, cluster: &Cluster, arguments: &triangles::Arguments) -> failure::Result {
    arguments.take_gpu()?;
    let (a, read_ms) = load(context, cluster, &arguments.file)?;
    let (found, count_ms) = timed(|| cluster.machine().triangles(&a, Default::default()));
    let found = found?;
    let json = json!({
        "triangles": found.count, "read_ms": ms(read_ms), "compute_ms": ms(count_ms), "method": found.method,
        "file": arguments.file, "nrows": a.shape().0, "nnz": a.nnz(), "threads": context.threads(), "device": context.device.to_string(),
    });
    context.result(json, || {
        let (read, counted) = (seconds(read_ms), seconds(count_ms));
        format!("{} triangles   read {read}, counted {counted}   method: {}", thousands(found.count), found.method)
    })
}
