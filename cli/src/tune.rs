//! `sparring tune`: finds the fastest GPU kernels for contractions, and saves them next to the compiled programs.

use std::fmt;

use clap::Args;
use serde_json::json;
use sparring::algebra::dynamic::canonical;
use sparring::algebra::{Arithmetic, MaxPlus, MinPlus, PlusTimes, Real};
use sparring::contract::{Einsum, Layout, Mass, View, bound};
use sparring::gpu::{DeviceBatch, TunedKernel};
use sparring::par::filled;
use sparring::{Cuda, Error, Result};

use crate::bench::Floats;
use crate::context::Context;
use crate::device::{self, Device};
use crate::failure;
use crate::output::{ms, thousands};
use crate::suggest::suggested;

/// Matrix sizes that are tuned by default.
const SIZES: [usize; 8] = [2, 4, 6, 8, 12, 16, 24, 32];
pub(crate) const SEMIRINGS: [&str; 3] = ["plus_times", "min_plus", "max_plus"];

#[derive(Args)]
#[command(after_help = "\
Up to sixty tilings of a kernel are compiled and timed alternately; their results are bitwise identical. The best one is saved in the \
folder of compiled programs (SPARRING_CACHE, else $XDG_CACHE_HOME/sparring, else ~/.cache/sparring) for this device, driver and \
compiler, and for batches in the same power-of-two range; einsum and bench contract use it. By default, square matrices are tuned.")]
pub(crate) struct Arguments {
    /// Contraction to tune, a letter for each index: "bij,bjk->bik"
    #[arg(requires = "extents")]
    expression: Option<String>,
    /// Extents of the indices of the contraction: b=100000,i=8,j=8,k=8
    #[arg(long, value_name = "LETTER=N", value_delimiter = ',', value_parser = extent, requires = "expression")]
    extents: Vec<(char, usize)>,
    /// Accumulate the contraction into the result
    #[arg(long, requires = "expression")]
    accumulate: bool,
    /// Rows of square matrices, C = A·B + C [default: 2,4,6,8,12,16,24,32]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = sizes(32))]
    n: Vec<u32>,
    /// Degrees of mass operators on hexahedra, U = M V
    #[arg(long, value_name = "P", value_delimiter = ',', value_parser = sizes(14))]
    order: Vec<u32>,
    /// Types of numbers
    #[arg(long, value_enum, value_delimiter = ',', default_value = "f64,f32")]
    floats: Vec<Floats>,
    /// Semiring: plus_times, min_plus or max_plus
    #[arg(long, default_value = "plus_times", value_name = "NAME")]
    semiring: String,
    /// Total size of the arrays of squares and operators to tune for, in megabytes
    #[arg(long, value_name = "MB", default_value_t = 1200, value_parser = clap::value_parser!(u32).range(1..))]
    mb: u32,
    /// Import the tilings of a file written by --export
    #[arg(long, value_name = "FILE")]
    import: Option<String>,
    /// Export all saved tilings, of all devices, to this JSON file
    #[arg(long, value_name = "FILE")]
    export: Option<String>,
    /// The GPU to tune for: cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "cuda:0", value_parser = device::parse)]
    pub(crate) device: Device,
}

fn sizes(most: i64) -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=most)
}

/// Parses `--extents`.
fn extent(text: &str) -> std::result::Result<(char, usize), String> {
    let wrong = || format!("'{text}' is not a letter with a number, such as i=8");
    let (letter, number) = text.split_once('=').ok_or_else(wrong)?;
    let mut letters = letter.chars();
    match (letters.next(), letters.next(), number.parse()) {
        (Some(letter), None, Ok(number)) if letter.is_ascii_alphabetic() => Ok((letter, number)),
        _ => Err(wrong()),
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> failure::Result {
    let Some(cuda) = &context.cuda else { return Ok(()) };
    let semiring = canonical(&arguments.semiring);
    if !SEMIRINGS.contains(&&*semiring) {
        let unknown = Error::Unsupported {
            what: format!("semiring '{}'", arguments.semiring),
            why: format!("tune has {}", SEMIRINGS.join(", ")),
        };
        suggested(Err(unknown), &arguments.semiring, SEMIRINGS)?;
    }
    if let Some(file) = &arguments.import {
        let cases = cuda.import_tuning(file)?;
        let json = json!({"op": "import", "file": file, "cases": cases});
        context.result(json, || format!("{} cases imported from {file}", thousands(cases as u64)))?;
    }
    let named = arguments.expression.is_some() || !arguments.n.is_empty() || !arguments.order.is_empty();
    if named || (arguments.import.is_none() && arguments.export.is_none()) {
        let bandwidth = cuda.copy_bandwidth(arguments.mb as usize * 500_000)?;
        let tuner = Tuner { context, arguments, cuda, bandwidth, squares: !named };
        context.heading(&heading())?;
        for floats in &arguments.floats {
            match (floats, &*semiring) {
                (Floats::F64, "min_plus") => tuner.all::<f64, MinPlus<f64>>()?,
                (Floats::F64, "max_plus") => tuner.all::<f64, MaxPlus<f64>>()?,
                (Floats::F64, _) => tuner.all::<f64, PlusTimes<f64>>()?,
                (Floats::F32, "min_plus") => tuner.all::<f32, MinPlus<f32>>()?,
                (Floats::F32, "max_plus") => tuner.all::<f32, MaxPlus<f32>>()?,
                (Floats::F32, _) => tuner.all::<f32, PlusTimes<f32>>()?,
            }
        }
    }
    if let Some(file) = &arguments.export {
        let cases = cuda.export_tuning(file)?;
        let json = json!({"op": "export", "file": file, "cases": cases});
        context.result(json, || format!("{} cases written to {file}", thousands(cases as u64)))?;
    }
    Ok(())
}

fn heading() -> String {
    format!(
        "{:14} {:4} {:>10} {:>9} {:>9} {:>6} {:>6} {:>6}  tiling",
        "case", "type", "batch", "rule ms", "tuned ms", "ratio", "%", "s"
    )
}

/// A case, by its name and an optional number.
struct Case<'a>(&'a str, Option<usize>);

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(size) => write!(f, "{} {size}", self.0),
            None => f.write_str(self.0),
        }
    }
}

struct Tuner<'a> {
    context: &'a Context,
    arguments: &'a Arguments,
    cuda: &'a Cuda,
    /// Bandwidth of a copy in bytes per second.
    bandwidth: f64,
    /// Whether to tune the default squares.
    squares: bool,
}

/// Reproducible pseudorandom numbers.
fn numbers<T: Real>(len: usize) -> Result<Vec<T>> {
    let (mut seed, mut numbers) = (1u64, filled(len, T::from_f64(0.0), "tune")?);
    for x in &mut numbers {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *x = T::from_f64((seed >> 40) as f64 / f64::from(1 << 24) - 0.5);
    }
    Ok(numbers)
}

impl Tuner<'_> {
    /// A device array of these extents, filled from `numbers`.
    fn put<T: Real>(&self, numbers: &[T], extents: &[usize], batch: usize) -> Result<DeviceBatch<T>> {
        let layout = Layout::row_major(extents)?.batched(batch)?;
        let part = numbers.get(..layout.elements()).unwrap_or(numbers);
        self.cuda.upload_batch(&View::new(part, layout)?)
    }

    fn all<T: Real, A: Arithmetic<T> + Default>(&self) -> failure::Result {
        let squares: Vec<usize> = if self.squares { SIZES.into() } else { usizes(&self.arguments.n) };
        let len = self.arguments.mb as usize * 1_000_000 / 3 / size_of::<T>();
        if !squares.is_empty() {
            let numbers = numbers::<T>(len.max(32 * 32))?;
            let [a, b, mut c] = [(); 3].map(|()| self.put(&numbers, &[numbers.len()], 1));
            let (a, b) = (a?, b?);
            for n in squares {
                let layout = || Layout::row_major(&[n, n])?.batched((numbers.len() / (n * n)).max(1));
                let operands = [a.clone().with_layout(layout()?)?, b.clone().with_layout(layout()?)?];
                let mut out = c?.with_layout(layout()?)?;
                self.tune::<T, A>(&Case("gemm", Some(n)), &Einsum::new("ij,jk->ik", &operands)?, true, &mut out)?;
                c = Ok(out);
            }
        }
        for p in usizes(&self.arguments.order) {
            self.action::<T, A>(p)?;
        }
        match &self.arguments.expression {
            Some(expression) => self.expression::<T, A>(expression),
            None => Ok(()),
        }
    }
    fn action<T: Real, A: Arithmetic<T> + Default>(&self, p: usize) -> failure::Result {
        let (d, q) = (p + 1, p + 2);
        let each = (2 * d.pow(3) + q.pow(3)) * size_of::<T>();
        let elements = (self.arguments.mb as usize * 1_000_000 / each).max(1);
        let numbers = numbers::<T>(elements * q.pow(3))?;
        let put = |extents: &[usize], batch| self.put(&numbers, extents, batch);
        let (basis, w, v) = (put(&[q, d], 1)?, put(&[q; 3], elements)?, put(&[d; 3], elements)?);
        let mut out = put(&[d; 3], elements)?;
        let einsum = Mass::new(3, basis)?.action(&w, &v)?;
        self.tune::<T, A>(&Case("action", Some(p)), &einsum, false, &mut out)
    }
    fn expression<T: Real, A: Arithmetic<T> + Default>(&self, expression: &str) -> failure::Result {
        let known = &self.arguments.extents;
        let extents = |term: &str| {
            let of = |letter: char| {
                let missing =
                    || Error::Argument { name: "--extents", message: format!("the extent of {letter} is missing") };
                known.iter().find(|(l, _)| *l == letter).map(|(_, n)| *n).ok_or_else(missing)
            };
            term.trim().chars().map(of).collect::<Result<Vec<_>>>()
        };
        let (left, _) = expression.split_once("->").unwrap_or((expression, ""));
        let terms = left.split(',').map(extents).collect::<Result<Vec<_>>>()?;
        let layouts = terms.iter().map(|extents| Layout::row_major(extents)).collect::<Result<Vec<_>>>()?;
        let numbers = numbers::<T>(layouts.iter().map(Layout::elements).max().unwrap_or(0))?;
        let operands = terms.iter().map(|extents| self.put(&numbers, extents, 1)).collect::<Result<Vec<_>>>()?;
        let einsum = Einsum::new(expression, &operands)?;
        let (shape, batch) = einsum.result();
        let layout = Layout::row_major(&shape)?.batched(batch)?;
        let zeros = filled(layout.elements(), T::from_f64(0.0), "tune")?;
        let mut out = self.cuda.upload_batch(&View::new(&zeros, layout)?)?;
        self.tune::<T, A>(&Case(expression, None), &einsum, self.arguments.accumulate, &mut out)
    }

    fn tune<T: Real, A: Arithmetic<T> + Default>(
        &self,
        case: &Case<'_>,
        einsum: &Einsum<'_, T, DeviceBatch<T>>,
        accumulate: bool,
        out: &mut DeviceBatch<T>,
    ) -> failure::Result {
        self.context.progress.stage(format!("tuning {case}"));
        let least = 1e3 * bound(einsum, accumulate)?.seconds(self.bandwidth);
        let request = self.cuda.einsum(A::default(), einsum.clone());
        let request = if accumulate { request.accumulate() } else { request };
        let (path, kernels) = (request.path()?, request.tune(out)?);
        // With several kernels, the bound applies to none of them alone.
        let percent =
            |kernel: &TunedKernel| (path.len() < 2 || kernels.len() == 1).then(|| 100.0 * least / kernel.best_ms);
        for kernel in &kernels {
            self.tell(case, T::TYPE.name(), einsum.result().1, kernel, percent(kernel))?;
        }
        if kernels.is_empty() {
            let json = json!({"op": "tune", "case": case.0, "type": T::TYPE.name(), "kernels": 0});
            self.context.result(json, || {
                format!("{case:14} {:4} a thread for each element: nothing to tune", T::TYPE.name())
            })?;
        }
        Ok(())
    }
    fn tell(
        &self,
        case: &Case<'_>,
        ty: &str,
        batch: usize,
        kernel: &TunedKernel,
        percent: Option<f64>,
    ) -> failure::Result {
        let ratio = kernel.rule_ms / kernel.best_ms;
        let json = json!({
            "op": "tune", "case": case.0, "size": case.1, "type": ty, "batch": batch, "semiring": self.arguments.semiring,
            "device": self.context.device.to_string(), "kernel": kernel.what, "rule_ms": ms(kernel.rule_ms),
            "tuned_ms": ms(kernel.best_ms), "ratio": ratio, "pct_bound": percent, "copy_gb_s": self.bandwidth / 1e9,
            "rule": kernel.rule.to_string(), "tiling": kernel.best.to_string(), "possible": kernel.possible, "tried": kernel.tried,
            "compile_ms": ms(1e3 * kernel.compile_s), "tune_ms": ms(1e3 * kernel.total_s),
        });
        self.context.result(json, || {
            let percent = percent.map_or_else(|| "-".into(), |x| format!("{x:.1}"));
            format!(
                "{:14} {ty:4} {:>10} {:>9.4} {:>9.4} {ratio:>6.3} {percent:>6} {:>6.1}  {}",
                case.to_string(),
                thousands(batch as u64),
                kernel.rule_ms,
                kernel.best_ms,
                kernel.total_s,
                kernel.best
            )
        })
    }
}

fn usizes(list: &[u32]) -> Vec<usize> {
    list.iter().map(|&n| n as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_letters_with_numbers() {
        assert_eq!((extent("b=100"), extent("K=0")), (Ok(('b', 100)), Ok(('K', 0))));
        for wrong in ["", "b", "b=", "=3", "bc=3", "1=3", "b=-1", "b=x", "b=1=2"] {
            assert!(extent(wrong).is_err(), "{wrong}");
        }
    }
}
