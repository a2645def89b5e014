//! Commands on all processes of an MPI job: `--cluster`.

use sparring::algebra::Type;
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

/// A distributed matrix with values of type `ty`, by default the type of the file, and the milliseconds of reading it.
/// Matrix Market files, edge lists and DIMACS graphs are read in parallel; every other file is read whole by each rank.
pub(crate) fn load(
    context: &Context,
    cluster: &Cluster,
    name: &str,
    ty: Option<Type>,
) -> failure::Result<(Matrix, f64)> {
    let Some((path, how)) = context.reading().by_parts(name) else {
        let (a, ms) = context.read_by_all(context.load_any(name, ty))?;
        return Ok((cluster.machine().upload(&a)?, ms));
    };
    let (made, ms) = timed(|| {
        let a = match (how, ty) {
            (ByParts::MatrixMarket, Some(ty)) => return cluster.read_matrix_market_as(path, ty),
            (ByParts::MatrixMarket, None) => cluster.read_matrix_market(path)?,
            (ByParts::Edges(options), _) => cluster.read_edges(path, &options)?,
            (ByParts::Dimacs(options), _) => cluster.read_dimacs(path, &options)?,
        };
        ty.map_or(Ok(a.clone()), |ty| cluster.cast(&a, ty))
    });
    Ok((made?, ms))
}
