//! Distances and nearest neighbours on the GPU, of generated sets of vectors in single precision.
//!
//! ```sh
//! cargo bench --features cuda --bench gpu_distance -- [--only CASE] [--metric NAME] [--reps N] [--single] [--self]
//! ```
//! X is the first rows of Y, as another matrix. One JSON line a case and metric: milliseconds, by the wall clock, device
//! idle before and after, medians, of preparing rows already on the device (check, norms, entries, transpose, index), of all
//! distances of prepared rows into a matrix that is there, of both together with the result taken and given back, of the
//! 10 nearest neighbours of prepared rows, brought to the host, and of these with the preparation; billions of pairs per
//! second of each; what ran; and three floors: products at the rate at which shared memory takes them if no two of 32 meet
//! in a bank, entries of Y read from the L2 cache at 5.5 TB/s (assumed, not measured), the result written at 4.0 TB/s.
//! `--single` sums in f32, `--self` compares Y with itself, half of the pairs where the metric is symmetric.

use std::time::Instant;

use serde_json::json;
use sparring::distance::{Metric, Options, Precision};
use sparring::sparse::Dense;
use sparring::{Csr, Cuda, Result, generate};

/// Every metric of the paper, and two relatives.
const METRICS: [Metric; 17] = [
    Metric::Dot,
    Metric::Cosine,
    Metric::Correlation,
    Metric::Euclidean,
    Metric::Hellinger,
    Metric::Jaccard,
    Metric::Dice,
    Metric::RussellRao,
    Metric::Manhattan,
    Metric::Canberra,
    Metric::Hamming,
    Metric::Minkowski(3.0),
    Metric::JensenShannon,
    Metric::Kl,
    Metric::KlIntersection,
    Metric::Chebyshev,
    Metric::BrayCurtis,
];

/// Median milliseconds of `work` by the wall clock, waiting for the device; the first run does not count.
fn wall<T>(cuda: &Cuda, reps: usize, mut work: impl FnMut() -> Result<T>) -> Result<f64> {
    work()?;
    let mut times = vec![];
    for _ in 0..reps {
        cuda.synchronize()?;
        let start = Instant::now();
        let result = work()?;
        cuda.synchronize()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        drop(result);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// The first rows of `a`.
fn first_rows(a: &Csr<f32>, count: usize) -> Result<Csr<f32>> {
    let end = a.row_ptr()[count];
    Csr::new(count, a.ncols(), a.row_ptr()[..=count].to_vec(), a.col_idx()[..end].to_vec(), a.values()[..end].to_vec())
}

/// Columns that rows of X and Y share, over all pairs.
fn products(x: &Csr<f32>, y: &Csr<f32>) -> u64 {
    let mut rows_with = vec![0u64; y.ncols()];
    y.col_idx().iter().for_each(|&j| rows_with[j as usize] += 1);
    x.col_idx().iter().map(|&j| rows_with[j as usize]).sum()
}

fn measure(cuda: &Cuda, case: &str, metric: Metric, pair: (&Csr<f32>, &Csr<f32>), how: &How) -> Result<()> {
    let (host_x, host_y) = pair;
    let precision = if how.single { Precision::Entries } else { Precision::Double };
    let options = Options { precision, ..Options::default() };
    let x = cuda.upload(host_x)?;
    let y = if how.own { None } else { Some(cuda.upload(host_y)?) };
    let y = y.as_ref();
    let start = Instant::now();
    let rows = cuda.vectors(metric, &x, y, &options)?;
    let mut out = rows.pairwise()?;
    cuda.synchronize()?;
    let first = start.elapsed().as_secs_f64() * 1e3;
    let prepare = wall(cuda, how.reps, || cuda.vectors(metric, &x, y, &options))?;
    let pairwise = wall(cuda, how.reps, || rows.pairwise_into(&mut out))?;
    let total = wall(cuda, how.reps, || cuda.pairwise(metric, &x, y, &options))?;
    let knn = wall(cuda, how.reps, || rows.knn(10))?;
    let knn_total = wall(cuda, how.reps, || cuda.knn(metric, 10, &x, y, &options))?;
    let d: Dense<f32> = cuda.download_dense(&out)?;
    let checksum: f64 = d.values().iter().map(|&v| f64::from(v)).filter(|v| v.is_finite()).sum();

    let (n, m) = rows.shape();
    let pairs = n as f64 * m as f64;
    let products = products(host_x, host_y) as f64;
    let accumulator = if how.single { 4.0 } else { 8.0 };
    let limits = cuda.limits();
    // 128 bytes a cycle and multiprocessor; each product reads and writes its sum.
    let shared_rate = f64::from(limits.multiprocessors) * 1.755e9 * 128.0 / (2.0 * accumulator);
    let rate = |ms: f64| pairs / ms / 1e6;
    let line = json!({
        "op": "distance", "case": case, "metric": metric.name(), "lib": "sparring", "n": n, "m": m, "ncols": host_y.ncols(),
        "nnz_x": host_x.nnz(), "nnz_y": host_y.nnz(), "single": how.single, "self": how.own,
        "products": products, "products_per_pair": products / pairs,
        "first_ms": first, "prepare_ms": prepare, "pairwise_ms": pairwise, "total_ms": total,
        "knn_ms": knn, "knn_total_ms": knn_total,
        "gpairs": rate(pairwise), "gpairs_total": rate(total), "gpairs_knn": rate(knn), "gpairs_knn_total": rate(knn_total),
        "knn_over_pairwise": knn / pairwise, "gproducts": products / pairwise / 1e6,
        "floor_shared_ms": products / shared_rate * 1e3,
        "floor_l2_ms": products * (4.0 + accumulator) / 5.5e12 * 1e3,
        "floor_result_ms": pairs * 4.0 / 4.0e12 * 1e3,
        "checksum": checksum, "chosen": rows.explain(), "device": limits.name,
    });
    println!("{line}");
    Ok(())
}

/// How it is measured.
struct How {
    reps: usize,
    single: bool,
    own: bool,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let after = |flag: &str| args.iter().position(|a| a == flag).and_then(|i| args.get(i + 1));
    let has = |flag: &str| args.iter().any(|a| a == flag);
    let only = after("--only").map_or("", |s| s);
    let how = How {
        reps: after("--reps").and_then(|n| n.parse().ok()).unwrap_or(7),
        single: has("--single"),
        own: has("--self"),
    };
    let cuda = Cuda::new(0)?;
    for &case in generate::DISTANCE.iter().filter(|c| c.contains(only)) {
        let y = generate::matrix(case)?.map(|&x| x as f32)?;
        let x = if how.own { y.clone() } else { first_rows(&y, generate::queries(case).unwrap_or(y.nrows()))? };
        for metric in METRICS {
            if after("--metric").is_none_or(|name| name == metric.name()) {
                measure(&cuda, case, metric, (&x, &y), &how)?;
            }
        }
        cuda.trim()?;
    }
    Ok(())
}
