//! Products A·A on the GPU, phase by phase, with matrices resident on the device.
//!
//! ```sh
//! cargo bench --features cuda --bench gpu_spgemm -- [--only NAME] [--reps N] [--rings] [--check]
//!     [--files A.mtx.gz,B.mtx]
//! ```
//! One JSON line per case. Times are milliseconds of the whole product (plan and values, including allocation from the
//! pool and release, by the wall clock, device idle before and after), of the plan, of the values alone, and of values
//! into an existing matrix (by the clock, and `event_ms` by events), with GFLOP/s (2 per multiplication). The line also
//! has the peak of device memory besides A and C, and the floor: A read twice and C written once at 4.0 TB/s. `--rings`
//! adds values over other semirings; `--check` compares sums with matrix-vector products; `--files` replaces the
//! generated matrices by these square ones.
//!
//! `--dump FILE --only NAME` (or `--files FILE`) measures nothing: it writes the matrix, so that another program can
//! use the same bits. The format is in native byte order without gaps: number of rows, columns and entries (64-bit
//! integers), row pointers (32-bit integers, one more than rows), columns (32-bit integers), values (64-bit floats).

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use serde_json::json;
use sparring::algebra::{LorLand, MinPlus, Num, PlusPair, PlusTimes, Semiring};
use sparring::backend::Backend;
use sparring::gpu::DeviceCsr;
use sparring::{Csr, Cuda, Error, Result, io};
use sparring_generate::{self as generate, gen_py};

/// Constructor of a matrix.
type Make = fn() -> Result<Csr<f64>>;
/// The matrices of the comparison, with their constructors.
const CASES: [(&str, Make); 9] = [
    ("rmat14", || gen_py::rmat(14, 8, 1)),
    ("rmat16", || gen_py::rmat(16, 8, 1)),
    ("rmat18", || gen_py::rmat(18, 8, 1)),
    ("er18", || gen_py::er(1 << 18, 8, 2)),
    ("er19", || gen_py::er(1 << 19, 8, 2)),
    ("er20", || gen_py::er(1 << 20, 8, 2)),
    ("st27_80", || gen_py::stencil27(80, 3)),
    ("st27_100", || gen_py::stencil27(100, 3)),
    ("lap2d_2000", || gen_py::lap2d(2000, 4)),
];

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Median milliseconds of `work` by the wall clock, waiting for the device.
fn wall(cuda: &Cuda, reps: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    work()?;
    let mut times = vec![];
    for _ in 0..reps {
        times.push(wall_once(cuda, &mut work)?);
    }
    Ok(median(times))
}

/// Milliseconds of `work` by the wall clock, waiting for the device.
fn wall_once(cuda: &Cuda, work: impl FnOnce() -> Result<()>) -> Result<f64> {
    cuda.synchronize()?;
    let start = Instant::now();
    work()?;
    cuda.synchronize()?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

/// Median milliseconds of the numeric phase into an existing matrix, by the wall clock and by events on the device's
/// stream.
fn again<R: Semiring>(cuda: &Cuda, reps: usize, ring: R, a: &DeviceCsr<f64>) -> Result<(f64, f64)>
where
    R::Mul: sparring::algebra::MulOp<A = f64, B = f64>,
{
    let plan = cuda.plan(a, a).eval()?;
    let mut c = cuda.mxm(ring, a, a).plan(&plan).eval()?;
    let by_clock = wall(cuda, reps, || cuda.mxm(ring, a, a).plan(&plan).into(&mut c))?;
    let mut by_device = vec![];
    for _ in 0..reps {
        cuda.synchronize()?;
        by_device.push(cuda.timed(|| cuda.mxm(ring, a, a).plan(&plan).into(&mut c))?.1);
    }
    Ok((by_clock, median(by_device)))
}

fn measure(cuda: &Cuda, name: &str, host: &Csr<f64>, reps: usize, rings: bool, check: bool) -> Result<()> {
    let a = cuda.upload(host)?;
    let ring = PlusTimes::<f64>::default();
    let start = Instant::now();
    let c = cuda.mxm(ring, &a, &a).eval()?;
    cuda.synchronize()?;
    let first = start.elapsed().as_secs_f64() * 1e3;
    let (bytes, nnz) = (c.bytes(), c.nnz());
    let right = if check {
        let c: Csr<f64> = cuda.download(&c)?;
        Some(generate::checks(&c).agrees(&generate::expected(&[host, host])?))
    } else {
        None
    };
    drop(c);
    cuda.reset_peak_memory()?;
    let before = cuda.used_memory()?;
    let full = wall(cuda, reps, || cuda.mxm(ring, &a, &a).eval().map(drop))?;
    let extra = cuda.peak_memory()?.saturating_sub(before + bytes);
    let planned = wall(cuda, reps, || cuda.plan(&a, &a).eval().map(drop))?;
    // Numeric phase of a new plan: its first use includes the work of a one-off product.
    let mut first_uses = vec![];
    for _ in 0..reps {
        let plan = cuda.plan(&a, &a).eval()?;
        first_uses.push(wall_once(cuda, || cuda.mxm(ring, &a, &a).plan(&plan).eval().map(drop))?);
    }
    let plan = cuda.plan(&a, &a).eval()?;
    let numeric = wall(cuda, reps, || cuda.mxm(ring, &a, &a).plan(&plan).eval().map(drop))?;
    let (into, by_events) = again(cuda, reps, ring, &a)?;
    let flops = 2.0 * plan.flops() as f64;
    let floor = (2 * a.bytes() + bytes) as f64 / 4.0e9;
    let mut line = json!({
        "op": "spgemm", "case": name, "lib": "sparring", "n": host.nrows(), "nnz": host.nnz(), "flops": flops, "nnzC": nnz,
        "full_ms": full, "first_ms": first, "plan_ms": planned, "first_use_ms": median(first_uses), "numeric_ms": numeric, "numeric_into_ms": into, "event_ms": by_events,
        "gflops": flops / full / 1e6, "numeric_gflops": flops / into / 1e6, "floor_ms": floor,
        "extra_mb": extra as f64 / 1e6, "c_mb": bytes as f64 / 1e6, "right": right, "chosen": plan.explain(),
        "device": cuda.limits().name,
    });
    drop(plan);
    if rings {
        line["min_plus_ms"] = again(cuda, reps, MinPlus::<f64>::default(), &a)?.0.into();
        line["plus_pair_ms"] = again(cuda, reps, PlusPair::<f64>::default(), &a)?.0.into();
        line["lor_land_ms"] = again(cuda, reps, LorLand::<f64>::default(), &a)?.0.into();
        let single = cuda.upload(&host.map(|x| x.cast::<f32>())?)?;
        let ring = PlusTimes::<f32>::default();
        let plan = cuda.plan(&single, &single).eval()?;
        let mut c = cuda.mxm(ring, &single, &single).plan(&plan).eval()?;
        line["f32_ms"] = wall(cuda, reps, || cuda.mxm(ring, &single, &single).plan(&plan).into(&mut c))?.into();
    }
    println!("{line}");
    Ok(())
}

/// The matrix of a file.
fn read(path: &str) -> Result<Csr<f64>> {
    io::read_matrix_market(path)?.csr()
}

/// The generated matrix of this name.
fn made(name: &str) -> Result<Csr<f64>> {
    let Some((_, make)) = CASES.iter().find(|case| case.0 == name) else {
        let known = CASES.map(|case| case.0).join(", ");
        return Err(Error::Argument { name: "only", message: format!("--dump wants one of {known}; not '{name}'") });
    };
    make()
}

/// Writes a matrix as raw arrays; the format is documented at the top.
fn dump(a: &Csr<f64>, file: &str) -> Result<()> {
    let too_long = |_| Error::IndexOverflow { what: "row pointers", needed: a.nnz() as u128, max: i32::MAX as u128 };
    let row_ptr = a.row_ptr().iter().map(|&p| i32::try_from(p)).collect::<std::result::Result<Vec<_>, _>>();
    let row_ptr = row_ptr.map_err(too_long)?;
    let write = || -> std::io::Result<()> {
        let mut out = BufWriter::new(File::create(file)?);
        [a.nrows(), a.ncols(), a.nnz()].iter().try_for_each(|&n| out.write_all(&(n as i64).to_ne_bytes()))?;
        row_ptr.iter().try_for_each(|p| out.write_all(&p.to_ne_bytes()))?;
        a.col_idx().iter().try_for_each(|j| out.write_all(&j.to_ne_bytes()))?;
        a.values().iter().try_for_each(|x| out.write_all(&x.to_ne_bytes()))?;
        out.flush()
    };
    write().map_err(|source| Error::Io { path: file.into(), source })
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let after = |flag: &str| args.iter().position(|a| a == flag).and_then(|i| args.get(i + 1));
    let has = |flag: &str| args.iter().any(|a| a == flag);
    let only = after("--only").map_or("", |s| s);
    let reps = after("--reps").and_then(|n| n.parse().ok()).unwrap_or(7);
    let files = after("--files");
    if let Some(file) = after("--dump") {
        return dump(&files.map_or_else(|| made(only), |f| read(f))?, file);
    }
    let cuda = Cuda::new(0)?;
    for path in files.into_iter().flat_map(|f| f.split(',')) {
        let name = path.rsplit('/').next().and_then(|n| n.split('.').next()).unwrap_or(path);
        measure(&cuda, name, &read(path)?, reps, has("--rings"), has("--check"))?;
        cuda.trim()?;
    }
    if files.is_some() {
        return Ok(());
    }
    for (name, make) in CASES {
        if name.contains(only) {
            measure(&cuda, name, &make()?, reps, has("--rings"), has("--check"))?;
            cuda.trim()?;
        }
    }
    Ok(())
}
