//! Latency of the first product over a user-defined semiring on the GPU: one JSON line per cache state.
//!
//! | `from` | programs |
//! | --- | --- |
//! | `empty folder` | compiled by NVRTC, loaded, cached on disk |
//! | `same process` | a new `Cuda`, loaded from the disk |
//! | `new process` | the same in a new process, which also opens the driver and NVRTC for the first time |
//!
//! Milliseconds by the wall clock, including the wait for the device: `new_ms` is `Cuda::new` (the context), `plan_ms`
//! and `numeric_ms` are the phases of the first product, and `again_…` those of a second one. `programs_ms` is the
//! difference, the cost of compiling and loading; `ring_ms` is its share in the numeric phase. `total_ms` extends from
//! before `Cuda::new` to the result on the host. `bar_ms` is the target for `programs_ms`.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::json;
use sparring::algebra::Ring;
use sparring::backend::Backend;
use sparring::{Cpu, Csr, Cuda, Error, Result};
use sparring_generate::gen_py;

sparring::value! {
    /// The cost of a path, and the vertex it passes through.
    pub struct Route {
        /// What it costs.
        pub cost: f64,
        /// Where it goes through.
        pub via: u32,
    }
}
sparring::op! {
    /// The cheaper of two paths; ties go to the smaller vertex.
    pub Cheaper (a: Route, b: Route) -> Route {{
        let (x, y) = (Route::cost(a), Route::cost(b));
        (y.lt(x) | (y.eq(x) & Route::via(b).lt(Route::via(a)))).select(b, a)
    }} identity Route { cost: f64::INFINITY, via: u32::MAX }
}
sparring::op! {
    /// Concatenation of two path segments.
    pub Through (a: f64, b: f64) at (i, k, j) -> Route { Route::of(a + b, k.index_as()) }
}

/// Upper limit for `programs_ms`.
const COLD_MS: f64 = 300.0;
const CACHED_MS: f64 = 5.0;

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// The two phases of a product, and its result on the host.
fn product(cuda: &Cuda, a: &Csr<f64>) -> Result<([f64; 3], Csr<Route>)> {
    let start = Instant::now();
    let a = cuda.upload(a)?;
    cuda.synchronize()?;
    let upload = milliseconds(start);
    let start = Instant::now();
    let plan = cuda.plan(&a, &a).eval()?;
    cuda.synchronize()?;
    let planned = milliseconds(start);
    let start = Instant::now();
    let c = cuda.mxm(Ring(Cheaper::new(), Through::new()), &a, &a).plan(&plan).eval()?;
    cuda.synchronize()?;
    Ok(([upload, planned, milliseconds(start)], cuda.download(&c)?))
}

fn measure(from: &str, folder: &Path, bar: f64) -> Result<()> {
    let a = gen_py::lap2d(64, 4)?;
    let start = Instant::now();
    let cuda = Cuda::new(0)?.cache_folder(Some(folder.to_path_buf()));
    let new = milliseconds(start);
    let ([upload, plan, numeric], found) = product(&cuda, &a)?;
    let total = milliseconds(start);
    let ([_, again_plan, again_numeric], _) = product(&cuda, &a)?;
    let want = Cpu::new().mxm(Ring(Cheaper::new(), Through::new()), &a, &a).eval()?;
    let programs = plan + numeric - again_plan - again_numeric;
    let folder = match cuda.cached_in() {
        Ok(folder) => folder,
        Err(why) => return Err(Error::Argument { name: "folder", message: why.to_string() }),
    };
    let line = json!({
        "op": "first_use", "from": from, "device": cuda.limits().name, "new_ms": new, "upload_ms": upload,
        "plan_ms": plan, "numeric_ms": numeric, "again_plan_ms": again_plan, "again_numeric_ms": again_numeric,
        "programs_ms": programs, "ring_ms": numeric - again_numeric, "total_ms": total, "bar_ms": bar,
        "images": std::fs::read_dir(folder).map_or(0, Iterator::count), "right": found == want,
    });
    println!("{line}");
    Ok(())
}

/// A failure to start or to end normally, as text.
fn failed(path: &str) -> impl Fn(std::io::Error) -> Error + '_ {
    move |source| Error::Io { path: path.into(), source }
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    if let Some(folder) = args.iter().skip_while(|a| *a != "--folder").nth(1) {
        return measure("new process", Path::new(folder), CACHED_MS);
    }
    let top = tempfile::tempdir().map_err(failed("a temporary folder"))?;
    let folder = top.path().join("cache");
    match measure("empty folder", &folder, COLD_MS) {
        Err(e @ Error::NoDevice { .. }) => {
            eprintln!("skipped: {e}");
            return Ok(());
        }
        done => done?,
    }
    measure("same process", &folder, CACHED_MS)?;
    let program = std::env::current_exe().map_err(failed("this program"))?;
    let name = program.display().to_string();
    let status = Command::new(&program).arg("--folder").arg(&folder).status().map_err(failed(&name))?;
    if status.success() { Ok(()) } else { Err(failed(&name)(std::io::Error::other(status.to_string()))) }
}
