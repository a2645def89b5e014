//! Commands on all processes of an MPI job: `--cluster`.

use sparring::runtime::{Machine, Matrix};
use sparring_cluster::Cluster;

use crate::context::Context;
use crate::device::Device;
use crate::failure;
use crate::read::ByParts;
use crate::timing::timed;

/// Starts the job and makes the context compute on it. The first process prints results and errors.
pub(crate) fn start(context: &mut Context) -> failure::Result<Cluster> {
    let inner: Machine = match context.device {
        Device::Cpu => context.machine()?,
        // `cuda:0` is the first GPU of a node: each rank uses one of its own.
        Device::Cuda(first) => Machine::cuda(first + Cluster::local_rank()?, context.memory_budget)?,
    };
    let cluster = Cluster::new(inner)?;
    if cluster.rank() > 0 {
        failure::silence();
    }
    failure::hold(cluster.clone());
    context.spread(cluster.clone());
    Ok(cluster)
}

/// A distributed matrix, and the milliseconds of reading it. Matrix Market files, edge lists and DIMACS graphs are read
/// in parallel; every other file is read whole by each rank.
pub(crate) fn load(context: &Context, cluster: &Cluster, name: &str) -> failure::Result<(Matrix, f64)> {
    if let Some((path, how)) = context.reading().by_parts(name) {
        let (made, ms) = timed(|| match how {
            ByParts::MatrixMarket => cluster.read_matrix_market(path),
            ByParts::Edges(options) => cluster.read_edges(path, &options),
            ByParts::Dimacs(options) => cluster.read_dimacs(path, &options),
        });
        return Ok((made?, ms));
    }
    let (a, ms) = context.read_by_all(context.load_any(name, None))?;
    Ok((cluster.machine().upload(&a)?, ms))
}
