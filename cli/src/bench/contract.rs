//! `sparring bench contract`: small batched contractions, on the same arrays as the script that measures other
//! libraries.
//!
//! | case | computes |
//! | --- | --- |
//! | `gemm` | C = A·B + C, matrices of n rows |
//! | `act2d`, `act3d` | U = M V, the mass operator of elements of order p: D = p + 1 functions, Q = p + 2 points in each direction |
//! | `asm2d`, `asm3d` | its matrices M |
//!
//! Flops are 2n³ per matrix; for finite elements, those of sum factorization, whatever the implementation does. Bytes
//! follow a model: 4n² values per matrix; for finite elements, the compulsory reads and writes.

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sparring::algebra::{Num, PlusTimes};
use sparring::backend::EinsumBuilder;
use sparring::contract::{Einsum, Layout, Mass, View, ViewMut, Viewed};
use sparring::par::filled;
use sparring::{Cpu, Cuda, Error, Result};
use sparring_generate::bench_contract::{elements, elements_f32, gemm, gemm_f32};

use crate::context::Context;
use crate::failure;
use crate::output::{ms, thousands};
use crate::stream::stream;
use crate::timing::{Times, timed};

/// Default cases.
pub(super) const CASES: &[&str] = &["gemm", "act2d", "act3d", "asm2d", "asm3d"];
/// Bytes of each array of the stream kernel, for finite elements.
const STREAM: usize = 100_000_000;
/// Largest order of three-dimensional assembly.
const LARGEST: usize = 4;
/// Values of the second checksum, and block size of the first.
const PART: usize = 1 << 22;

#[derive(Args)]
#[group(id = "contract")]
pub(super) struct Settings {
    /// Matrix sizes of gemm [default: 2,4,6,8,12,16,24,32]
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "Bench contract")]
    n: Vec<usize>,
    /// Orders of the elements [default: 2 to 8]
    #[arg(long, value_name = "P", value_delimiter = ',', help_heading = "Bench contract")]
    order: Vec<usize>,
    /// Batch size of gemm, or auto for arrays of 1 GB in total [default: 100000]
    #[arg(long, value_name = "N", help_heading = "Bench contract")]
    batch: Option<String>,
    /// Value types
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Bench contract")]
    floats: Vec<Floats>,
    /// Maximum size of the arrays of gemm, in megabytes [default: 700]
    #[arg(long, value_name = "MB", help_heading = "Bench contract")]
    max_mb: Option<u32>,
    /// Size of the arrays of elements, in megabytes [default: 200]
    #[arg(long, value_name = "MB", help_heading = "Bench contract")]
    fem_mb: Option<u32>,
}

/// Value types.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Floats {
    F64,
    F32,
}

impl Floats {
    fn bytes(self) -> usize {
        match self {
            Self::F64 => size_of::<f64>(),
            Self::F32 => size_of::<f32>(),
        }
    }
}

/// Rejects its options in other benchmarks.
pub(super) fn refuse(settings: &Settings) -> Result<()> {
    let given = [
        (!settings.n.is_empty(), "--n"),
        (!settings.order.is_empty(), "--order"),
        (settings.batch.is_some(), "--batch"),
        (!settings.floats.is_empty(), "--floats"),
        (settings.max_mb.is_some(), "--max-mb"),
        (settings.fem_mb.is_some(), "--fem-mb"),
    ];
    match given.iter().find(|(given, _)| *given) {
        Some((_, name)) => Err(Error::Argument { name, message: "it is an option of bench contract".into() }),
        None => Ok(()),
    }
}

fn heading() -> String {
    format!(
        "{:6} {:4} {:>3} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}  chosen",
        "case", "type", "n,p", "batch", "median ms", "minimum", "GFLOP/s", "stream", "% of it"
    )
}

/// Values of the script's arrays.
trait Float: Num + Into<f64> {
    fn gemm(n: usize, batch: usize) -> Result<[Vec<Self>; 3]>;
    fn elements(dims: u32, d: usize, q: usize, batch: usize) -> Result<[Vec<Self>; 3]>;
}
macro_rules! floats {
    ($($t:ty: $gemm:ident $elements:ident;)*) => {$(
        impl Float for $t {
            fn gemm(n: usize, batch: usize) -> Result<[Vec<Self>; 3]> {
                $gemm(n, batch)
            }
            fn elements(dims: u32, d: usize, q: usize, batch: usize) -> Result<[Vec<Self>; 3]> {
                $elements(dims, d, q, batch)
            }
        }
    )*};
}
floats! { f64: gemm elements; f32: gemm_f32 elements_f32; }

/// Kinds of contractions.
#[derive(Clone, Copy)]
enum Kind {
    Gemm,
    Action,
    Assembly,
}

/// A case, and its cost.
struct Case {
    name: String,
    kind: Kind,
    /// Dimensions of an element.
    dims: u32,
    /// Rows of the matrices, or the order of the elements.
    size: usize,
    batch: usize,
    flops: f64,
    bytes: f64,
}

impl Case {
    fn new(settings: &Settings, name: &str, size: usize, bytes: usize) -> Result<Self> {
        let wrong = |name, message| Err(Error::Argument { name, message });
        // No product overflows 64 bits.
        if !(1..=64).contains(&size) {
            return wrong(if name == "gemm" { "--n" } else { "--order" }, format!("{size} is not in 1 to 64"));
        }
        let at_most = |mb: u32, each: usize| mb as usize * 1_000_000 / each;
        if name == "gemm" {
            let each = 3 * size * size * bytes;
            let batch = match settings.batch.as_deref().unwrap_or("100000") {
                "auto" => 1_000_000_000usize.div_ceil(each),
                text => match text.parse() {
                    Ok(batch) => batch,
                    Err(_) => return wrong("--batch", format!("'{text}' is neither a number nor auto")),
                },
            };
            let batch = batch.min(at_most(settings.max_mb.unwrap_or(700), each)).max(16);
            let [flops, moved] = [2 * size.pow(3), 4 * size * size * bytes].map(|x| x as f64 * batch as f64);
            return Ok(Self { name: name.into(), kind: Kind::Gemm, dims: 0, size, batch, flops, bytes: moved });
        }
        let (kind, dims) = match name {
            "act2d" => (Kind::Action, 2),
            "act3d" => (Kind::Action, 3),
            "asm2d" => (Kind::Assembly, 2),
            "asm3d" => (Kind::Assembly, 3),
            _ => return wrong("case", format!("no contraction is called '{name}'; there are {}", CASES.join(", "))),
        };
        let (d, q) = (size + 1, size + 2);
        let (moved, flops) = match kind {
            Kind::Assembly => {
                let sums: usize = (0..dims).map(|i| 2 * q.pow(dims - i) * d.pow(2 * (i + 1))).sum();
                (q.pow(dims) + d.pow(2 * dims), sums)
            }
            _ => {
                let sums: usize = (0..dims).map(|i| 2 * q.pow(i + 1) * d.pow(dims - i)).sum();
                (2 * d.pow(dims) + q.pow(dims), 2 * sums + q.pow(dims))
            }
        };
        let each = moved * bytes;
        let batch = (at_most(settings.fem_mb.unwrap_or(200), each) / 8 * 8).max(8);
        let [flops, bytes] = [flops, each].map(|x| x as f64 * batch as f64);
        Ok(Self { name: name.into(), kind, dims, size, batch, flops, bytes })
    }
    /// Basis functions and quadrature points per dimension.
    fn basis(&self) -> (usize, usize) {
        (self.size + 1, self.size + 2)
    }
}

/// The operands of a case, and the initial result.
struct Arrays<T> {
    operands: Vec<(Vec<T>, Layout)>,
    result: Vec<T>,
    layout: Layout,
}

impl<T: Float> Arrays<T> {
    fn new(case: &Case) -> Result<Self> {
        let (n, batch, (d, q)) = (case.size, case.batch, case.basis());
        if let Kind::Gemm = case.kind {
            let [a, b, result] = T::gemm(n, batch)?;
            let layout = Layout::row_major(&[n, n])?.batched(batch)?;
            let operands = vec![(a, layout.clone()), (b, layout.clone())];
            return Ok(Self { operands, result, layout });
        }
        let [b, weights, v] = T::elements(case.dims, d, q, batch)?;
        let dims = case.dims as usize;
        let of = |n: usize| Layout::row_major(&vec![n; dims])?.batched(batch);
        let layout = match case.kind {
            // The script groups indices by dimension, the operator rows before columns.
            Kind::Assembly => {
                let order: Vec<_> = (0..dims).map(|k| 2 * k).chain((0..dims).map(|k| 2 * k + 1)).collect();
                Layout::row_major(&vec![d; 2 * dims])?.permute(&order)?.batched(batch)?
            }
            _ => of(d)?,
        };
        let operands = vec![(b, Layout::row_major(&[q, d])?), (weights, of(q)?), (v, of(d)?)];
        let result = filled(layout.elements(), T::ZERO, "einsum")?;
        Ok(Self { operands, result, layout })
    }
    /// The contraction.
    fn einsum<'a, V: Viewed<Value = T> + Clone>(case: &Case, views: &[V]) -> Result<Einsum<'a, T, V>> {
        let mass = || Mass::new(case.dims as usize, views[0].clone());
        match case.kind {
            Kind::Gemm => Einsum::new("ij,jk->ik", views),
            Kind::Action => mass()?.action(&views[1], &views[2]),
            Kind::Assembly => mass()?.matrix(&views[1]),
        }
    }
}

/// The sum of all values, block by block; and Σ v(i)·(i mod 97) / 97 over the first block.
fn checksums<T: Float>(values: &[T]) -> (f64, f64) {
    let sum = |part: &[T]| part.iter().fold(0.0, |sum, &x| sum + x.into());
    let first = values.iter().take(PART).zip((0..97).cycle());
    (
        values.chunks(PART).map(sum).fold(0.0, |sum, x| sum + x),
        first.fold(0.0, |sum, (&x, weight)| sum + x.into() * (f64::from(weight) / 97.0)),
    )
}

pub(super) fn run(context: &Context, settings: &Settings, names: &[String], repeat: u32) -> failure::Result {
    let mut cases = vec![];
    let floats = if settings.floats.is_empty() { &[Floats::F64, Floats::F32][..] } else { &settings.floats };
    for name in names {
        let sizes = match name.as_str() {
            "gemm" if settings.n.is_empty() => &[2, 4, 6, 8, 12, 16, 24, 32][..],
            "gemm" => &settings.n,
            _ if settings.order.is_empty() => &[2, 3, 4, 5, 6, 7, 8],
            _ => &settings.order,
        };
        for &floats in floats {
            for &size in sizes.iter().filter(|&&size| name != "asm3d" || size <= LARGEST) {
                cases.push((floats, Case::new(settings, name, size, floats.bytes())?));
            }
        }
    }
    // All cases are validated before the first is measured.
    context.heading(&heading())?;
    for (floats, case) in &cases {
        match floats {
            Floats::F64 => measure::<f64>(context, case, repeat)?,
            Floats::F32 => measure::<f32>(context, case, repeat)?,
        }
    }
    Ok(())
}

fn request<'a, T: Float>(cpu: &'a Cpu, kind: Kind, einsum: Einsum<'a, T>) -> EinsumBuilder<'a, PlusTimes<T>, T> {
    let request = cpu.einsum(PlusTimes::default(), einsum);
    if let Kind::Gemm = kind { request.accumulate() } else { request }
}

/// Measurements of a case.
struct Measured {
    path: Vec<(usize, usize)>,
    workspace: u128,
    times: Times,
    /// Checksums of the first result; later results of gemm grow.
    sums: (f64, f64),
    /// GB/s of c += a·b on the processor, of a copy on a GPU.
    bandwidth: f64,
    /// What a GPU runs.
    kernels: Option<String>,
}

fn on_processor<T: Float>(cpu: &Cpu, case: &Case, arrays: Arrays<T>, repeat: u32) -> Result<Measured> {
    let Arrays { operands, result: mut c, layout } = arrays;
    let views: Vec<_> = operands.iter().map(|(x, l)| View::new(x, l.clone())).collect::<Result<_>>()?;
    let einsum = Arrays::einsum(case, &views)?;
    let each = if let Kind::Gemm = case.kind { (case.bytes / 4.0) as usize } else { STREAM };
    let bandwidth = stream(cpu, each, repeat)?;
    let plain = request(cpu, case.kind, einsum.clone());
    let (path, workspace) = (plain.path()?, plain.workspace_bytes()?);
    let (mut times, mut sums) = (Times::default(), (0.0, 0.0));
    // Round 0 is the warm-up; its result is checked.
    for round in 0..=repeat {
        let mut out = ViewMut::new(&mut c, layout.clone())?;
        let request = request(cpu, case.kind, einsum.clone());
        let (done, ms) = timed(|| request.into(&mut out));
        done?;
        if round == 0 {
            sums = checksums(&c);
        } else {
            times.push(ms);
        }
    }
    Ok(Measured { path, workspace, times, sums, bandwidth, kernels: None })
}

/// Back-to-back calls of a round on a GPU, which hide launch latency.
const CALLS: usize = 5;

fn on_gpu<T: Float>(cuda: &Cuda, case: &Case, arrays: Arrays<T>, repeat: u32) -> Result<Measured> {
    let Arrays { operands, result, layout } = arrays;
    let put = |(x, l): &(Vec<T>, Layout)| cuda.upload_batch(&View::new(x, l.clone())?);
    let there = operands.iter().map(put).collect::<Result<Vec<_>>>()?;
    let mut c = cuda.upload_batch(&View::new(&result, layout)?)?;
    let einsum = Arrays::einsum(case, &there)?;
    let ask = || {
        let request = cuda.einsum(PlusTimes::default(), einsum.clone());
        if let Kind::Gemm = case.kind { request.accumulate() } else { request }
    };
    let (path, workspace, kernels) = (ask().path()?, ask().workspace_bytes()?, ask().explain()?);
    ask().into(&mut c)?;
    let sums = checksums(cuda.download_batch(&c)?.values());
    let mut times = Times::default();
    for _ in 0..repeat {
        let ((), ms) = cuda.timed(|| (0..CALLS).try_for_each(|_| ask().into(&mut c)))?;
        times.push(ms / CALLS as f64);
    }
    let bandwidth = cuda.copy_bandwidth((case.bytes / 2.0).min(f64::from(1 << 30)) as usize)? / 1e9;
    Ok(Measured { path, workspace, times, sums, bandwidth, kernels: Some(kernels) })
}

fn measure<T: Float>(context: &Context, case: &Case, repeat: u32) -> failure::Result {
    let (name, size) = (&case.name, case.size);
    context.progress.stage(format!("making {name}, {size}"));
    let arrays = Arrays::<T>::new(case)?;
    context.progress.stage(format!("measuring {name}, {size}"));
    let found = match &context.cuda {
        Some(cuda) => on_gpu(cuda, case, arrays, repeat)?,
        None => on_processor(&context.quiet, case, arrays, repeat)?,
    };
    let Measured { path, workspace, times, sums, bandwidth, kernels } = found;
    let percent = 100.0 * case.bytes / times.minimum() / 1e6 / bandwidth;
    let gflops = case.flops / times.median() / 1e6;
    let chosen: Vec<_> = path.iter().map(|(a, b)| format!("{a}·{b}")).collect();
    let chosen = format!("{}, {} bytes of workspace", chosen.join(" "), thousands(workspace as u64));
    let ty = T::TYPE.name();
    let mut json = json!({
        "op": "contract", "case": name, "type": ty, "size": size, "batch": case.batch, "device": context.device.to_string(),
        "compute_ms": ms(times.median()), "compute_min_ms": ms(times.minimum()), "gflops": gflops, "bytes": case.bytes,
        "gb_s": case.bytes / times.median() / 1e6, "sum": sums.0, "wsum": sums.1, "workspace_bytes": workspace as u64,
        "chosen": chosen,
    });
    let more = match kernels {
        Some(kernels) => json!({"copy_gb_s": bandwidth, "pct_copy": percent, "kernels": kernels}),
        None => json!({"stream_gb_s": bandwidth, "pct_stream": percent, "threads": context.threads()}),
    };
    if let (Value::Object(json), Value::Object(more)) = (&mut json, more) {
        json.extend(more);
    }
    context.result(json, || {
        format!(
            "{name:6} {ty:4} {size:>3} {:>10} {:>10.3} {:>10.3} {gflops:>8.1} {bandwidth:>8.1} {percent:>8.1}  {chosen}",
            thousands(case.batch as u64),
            times.median(),
            times.minimum()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values from `dims` of the script: matrices or elements, flops, bytes.
    #[test]
    fn cases_have_the_sizes_of_the_script() {
        let settings = |batch: Option<&str>| Settings {
            n: vec![],
            order: vec![],
            batch: batch.map(Into::into),
            floats: vec![],
            max_mb: None,
            fem_mb: None,
        };
        for (name, size, bytes, batch, expected) in [
            ("gemm", 2, 8, None, (100_000, 1_600_000.0, 12_800_000.0)),
            ("gemm", 2, 4, Some("auto"), (14_583_333, 233_333_328.0, 933_333_312.0)),
            ("gemm", 32, 8, None, (28_483, 1_866_661_888.0, 933_330_944.0)),
            ("act2d", 2, 8, None, (735_288, 258_821_376.0, 199_998_336.0)),
            ("act3d", 4, 4, None, (107_296, 1_194_848_256.0, 199_999_744.0)),
            ("asm2d", 3, 8, None, (88_960, 298_905_600.0, 199_982_080.0)),
            ("asm3d", 4, 8, None, (1_576, 383_440_800.0, 199_723_328.0)),
        ] {
            let case = Case::new(&settings(batch), name, size, bytes).unwrap();
            assert_eq!((case.batch, case.flops, case.bytes), expected, "{name} {size}");
        }
        for (name, size) in [("gemm", 0), ("gemm", 65), ("gem", 2)] {
            assert!(Case::new(&settings(None), name, size, 8).is_err(), "{name} {size}");
        }
    }
}
