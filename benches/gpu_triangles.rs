//! Triangle counting on a GPU, with the matrix resident on the device: one JSON line per graph.
//!
//! `ms` is the median of event times around the whole call; `wall_ms` is the host's wall-clock time, including the copy
//! of the count. `stages` are medians of the parts, measured in calls of their own. Arguments choose graphs by name.

use std::time::Instant;

use sparring::gpu::testing;
use sparring::{Csr, Cuda, Error, Result, io};
use sparring_generate as generate;

const ROUNDS: usize = 21;
const GRAPHS: [&str; 6] = ["tc_rmat16", "tc_rmat17", "tc_rmat18", "cnr-2000", "email-Enron", "er18d8"];

fn graph(name: &str) -> Result<Csr<f64>> {
    let file = |bytes: &[u8]| io::parse_matrix_market(bytes, name)?.csr();
    match name {
        "cnr-2000" => file(include_bytes!("../data/cnr-2000.mtx.gz")),
        "email-Enron" => file(include_bytes!("../data/email-Enron.mtx.gz")),
        _ => generate::matrix(name),
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn measure(cuda: &Cuda, name: &str) -> Result<()> {
    let a = cuda.upload_pattern(graph(name)?.pattern())?;
    let first = Instant::now();
    let found = cuda.count_triangles(&a)?;
    let first_ms = first.elapsed().as_secs_f64() * 1e3;
    let (mut ms, mut wall, mut stages) = (vec![], vec![], Vec::<(&str, Vec<f64>)>::new());
    for _ in 0..ROUNDS {
        let (again, took) = cuda.timed(|| cuda.count_triangles(&a))?;
        ms.push(took);
        assert_eq!(again.count, found.count, "{name}: another count");
    }
    for _ in 0..ROUNDS {
        cuda.synchronize()?;
        let start = Instant::now();
        cuda.count_triangles(&a)?;
        wall.push(start.elapsed().as_secs_f64() * 1e3);
    }
    cuda.reset_peak_memory()?;
    let before = cuda.used_memory()?;
    for _ in 0..ROUNDS {
        for stage in testing::count_triangles_timed(cuda, &a)?.1 {
            match stages.iter_mut().find(|s| s.0 == stage.name) {
                Some(s) => s.1.push(stage.ms),
                None => stages.push((stage.name, vec![stage.ms])),
            }
        }
    }
    let scratch = cuda.peak_memory()?.saturating_sub(before);
    let stages: serde_json::Map<_, _> = stages.iter_mut().map(|(n, t)| (n.to_string(), median(t).into())).collect();
    let line = serde_json::json!({
        "bench": "gpu_triangles", "device": cuda.limits().name, "name": name, "n": a.shape().0, "nnz": a.nnz(),
        "count": found.count, "ms": median(&mut ms), "ms_min": ms[0], "wall_ms": median(&mut wall),
        "first_ms": first_ms, "scratch_bytes": scratch, "stages": stages, "method": found.method,
    });
    println!("{line}");
    Ok(())
}

fn main() -> Result<()> {
    let cuda = match Cuda::new(0) {
        Err(e @ Error::NoDevice { .. }) => {
            println!("skipped: {e}");
            return Ok(());
        }
        cuda => cuda?,
    };
    let chosen: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    for name in GRAPHS {
        if chosen.is_empty() || chosen.iter().any(|c| c == name) {
            measure(&cuda, name)?;
        }
    }
    Ok(())
}
