//! Benchmarks of A·A, Aᵀ, PageRank, triangles, components, BFS and SSSP on R-MAT graphs, and of CP-ALS, on the ranks of
//! an MPI job, as lines of JSON.
//!
//! ```sh
//! mpirun -n 4 target/release/examples/scaling --scale 16 --weak
//! ```
//! `--scale S`: 2^S vertices and 8·2^S edges drawn. `--weak`: weak scaling, S + log₂ p for p ranks.
//! `--only mxm|transpose|pagerank|triangles|bfs|components|sssp|cp` runs a single benchmark. `--device cuda` uses one
//! GPU per rank of a node. BFS and SSSP start at the vertex of highest degree; edge lengths are between 0 and 1.
//! CP-ALS: 5 sweeps with 16 factor columns, on a tensor of 2^(S − 2) × 2^(S − 3) × 2^(S − 4) with 8·2^S entries drawn,
//! denser at small indices of each mode.
//! `--repeat N`: minimum of N runs. `--bare`: the time of one process without the cluster layer.

use std::time::Instant;

use sparring::algebra::Type;
use sparring::factor::CpAls;
use sparring::graph::PageRankOptions;
use sparring::runtime::{Machine, Monoid, Semiring, UnaryOp};
use sparring::spgemm::Options;
use sparring::{Cpu, Result, Tensor};
use sparring_cluster::{Cluster, Rmat, graph};

struct Arguments {
    scale: u32,
    weak: bool,
    gpu: bool,
    bare: bool,
    repeat: u32,
    only: Option<String>,
}

fn arguments() -> Arguments {
    let mut found = Arguments { scale: 14, weak: false, gpu: false, bare: false, repeat: 3, only: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut next = || words.next().unwrap_or_else(|| panic!("{word} wants a value"));
        match word.as_str() {
            "--scale" => found.scale = next().parse().expect("a number"),
            "--repeat" => found.repeat = next().parse().expect("a number"),
            "--only" => found.only = Some(next()),
            "--weak" => found.weak = true,
            "--bare" => found.bare = true,
            "--device" => found.gpu = next() == "cuda",
            other => panic!("no option {other}"),
        }
    }
    found
}

/// Minimum time over several runs, in milliseconds.
fn least(repeat: u32, machine: &Machine, mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..repeat {
        machine.wait()?;
        let began = Instant::now();
        run()?;
        machine.wait()?;
        best = best.min(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(best)
}

fn main() -> Result<()> {
    let options = arguments();
    let inner = || -> Result<Machine> {
        Ok(if options.gpu { Machine::cuda(Cluster::local_rank()?, None)? } else { Cpu::with_threads(1)?.into() })
    };
    let cluster = if options.bare { None } else { Some(Cluster::new(inner()?)?) };
    let ranks = cluster.as_ref().map_or(1, Cluster::size);
    let first = cluster.as_ref().is_none_or(|cluster| cluster.rank() == 0);
    let grid = cluster.as_ref().map_or((1, 1), |cluster| cluster.grid().shape());
    let machine = cluster.as_ref().map_or_else(inner, |cluster| Ok(cluster.machine()))?;
    let scale = options.scale + if options.weak { ranks.ilog2() } else { 0 };
    let a = match &cluster {
        None => {
            let alone = Cluster::alone(Cpu::with_threads(1)?).rmat(scale, 8, 1, &Rmat::new())?;
            machine.upload(&alone.download()?)?
        }
        Some(cluster) => cluster.rmat(scale, 8, 1, &Rmat::new())?,
    };
    let hub = || -> Result<usize> {
        let (places, counts) = machine.engine().row_counts(&a)?.download()?.entries()?;
        let counts = places.iter().zip(counts.slice().get::<i64>().unwrap_or_default());
        Ok(counts.max_by_key(|row| row.1).map_or(0, |row| *row.0 as usize))
    };
    let wanted = |what: &str| options.only.as_deref().is_none_or(|only| only == what);
    let none = f64::NAN;
    let (mut mxm, mut flops, mut nnz) = (none, 0, 0);
    if wanted("mxm") {
        let ring = Semiring::new("plus_times", Type::F64)?;
        let plan = machine.plan(&a, &a, &Options::default())?;
        (flops, nnz) = (plan.flops(), plan.nnz());
        drop(plan);
        mxm = least(options.repeat, &machine, || machine.mxm(&ring, &a, &a).map(drop))?;
    }
    let mut transpose = none;
    if wanted("transpose") {
        transpose = least(options.repeat, &machine, || machine.transpose(&a).map(drop))?;
    }
    let (mut pagerank, mut steps) = (none, 0);
    if wanted("pagerank") {
        let ranked = PageRankOptions { tolerance: 1e-6, ..PageRankOptions::default() };
        pagerank = least(options.repeat, &machine, || {
            steps = graph::pagerank(&machine, &a, &ranked)?.iterations;
            Ok(())
        })?;
    }
    let (mut triangles, mut found) = (none, 0);
    if wanted("triangles") {
        triangles = least(options.repeat, &machine, || {
            found = machine.triangles(&a, Default::default())?.count;
            Ok(())
        })?;
    }
    let (mut bfs, mut reached) = (none, 0);
    if wanted("bfs") {
        let hub = hub()?;
        bfs = least(options.repeat, &machine, || {
            reached = graph::bfs_levels(&machine, &a, hub)?.nvals()?;
            Ok(())
        })?;
    }
    let mut components = none;
    if wanted("components") {
        components = least(options.repeat, &machine, || graph::connected_components(&machine, &a).map(drop))?;
    }
    let (mut sssp, mut far) = (none, 0.0);
    if wanted("sssp") {
        let hub = hub()?;
        let part = "f64(i * 7919 + j * 104729) / 997";
        let lengths = machine.apply(&UnaryOp::new(&format!("{part} - floor({part})"), Type::F64)?, &a)?;
        let max = Monoid::new("max", Type::F64)?;
        sssp = least(options.repeat, &machine, || {
            let found = graph::sssp(&machine, &lengths, hub)?;
            far = machine.reduce(&max, &found)?.get::<f64>().unwrap_or(none);
            Ok(())
        })?;
    }
    let (mut cp, mut entries) = (none, 0);
    if wanted("cp") && !options.gpu {
        let dims = [2, 3, 4].map(|less| 1u64 << scale.saturating_sub(less));
        let x: Tensor<f64> = sparring_generate::gen_py::tensor(&dims, 8 << scale, 1, 1.0)?;
        entries = x.nnz();
        let (als, alone) = (CpAls::new(16).sweeps(5).tol(0.0), Cpu::with_threads(1)?);
        let blocks = match &cluster {
            None => None,
            Some(cluster) => {
                let mine = entries * cluster.rank() / ranks..entries * (cluster.rank() + 1) / ranks;
                let lists = x.all_indices().iter().map(|list| list[mine.clone()].to_vec()).collect();
                Some((cluster, cluster.build_tensor(x.dims().to_vec(), lists, x.values()[mine.clone()].to_vec())?))
            }
        };
        cp = least(options.repeat, &machine, || match &blocks {
            None => als.run(&alone, &x).map(drop),
            Some((cluster, x)) => cluster.cp_als(&als, x).map(drop),
        })?;
    }
    if first {
        let shown = |ms: f64| if ms.is_nan() { "null".into() } else { format!("{ms:.3}") };
        let [mxm, transpose, pagerank, triangles, bfs] = [mxm, transpose, pagerank, triangles, bfs].map(shown);
        let [components, sssp, cp] = [components, sssp, cp].map(shown);
        println!(
            "{{\"ranks\": {ranks}, \"grid\": [{}, {}], \"bare\": {}, \"scale\": {scale}, \"nnz\": {}, \
             \"flops\": {flops}, \"nnz_c\": {nnz}, \"mxm_ms\": {mxm}, \"transpose_ms\": {transpose}, \"pagerank_steps\": {steps}, \
             \"pagerank_ms\": {pagerank}, \"triangles\": {found}, \"triangles_ms\": {triangles}, \
             \"reached\": {reached}, \"bfs_ms\": {bfs}, \"components_ms\": {components}, \"far\": {far}, \"sssp_ms\": {sssp}, \
             \"cp_nnz\": {entries}, \"cp_ms\": {cp}}}",
            grid.0,
            grid.1,
            options.bare,
            a.nnz(),
        );
    }
    Ok(())
}
