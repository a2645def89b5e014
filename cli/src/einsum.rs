//! `sparring einsum EXPRESSION A.npy B.npy …`: contractions of dense arrays.

use std::str::FromStr;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use sparring::algebra::dynamic::SEMIRINGS;
use sparring::algebra::dynamic::canonical;
use sparring::algebra::{
    Arithmetic, Array, LorLand, MaxMin, MaxPlus, MaxTimes, MinMax, MinPlus, PlusTimes, Slice, Type,
    Value as SparringValue,
};
use sparring::backend::EinsumBuilder;
use sparring::contract::{AnyView, Einsum, Layout, View, ViewMut, as_numpy};
use sparring::gpu::DeviceBatch;
use sparring::io::{NpyArray, write_npy_array_to};
use sparring::par::filled;
use sparring::runtime::{EinsumUpdate, Matrix, Scalar as AnyScalar, Semiring, Sum};
use sparring::{Cuda, Error, Result};

use crate::context::Context;
use crate::device::{DeviceArg, timed_on};
use crate::failure;
use crate::formats::{self, Format, Stop};
use crate::output::{ms, number, seconds, thousands};
use crate::semiring::warn_outside;
use crate::stream::{copied, stream};
use crate::suggest::suggested;
use crate::timing::{Times, timed};
use crate::write::{Output, Writing};

#[derive(Args)]
#[command(after_help = "\
The percentage compares with memory bandwidth: the bytes of operands and result (twice for an accumulated result) over the time, \
relative to c += a·b over arrays of the same total size (1 to 64 MB each) with the same threads, or on a GPU to a copy of the same \
size (2 MB to 1 GB). Data that fits in a cache, or is read more than once, is not bound by memory.")]
pub(crate) struct Arguments {
    /// Contraction, in the notation of numpy.einsum: a letter for each index, "bij,bjk->bik"; "..." for unnamed
    /// indices; without "->" the result has the letters that appear once. An index of extent 1 is broadcast
    expression: String,
    /// One array per operand, all of the same type: .npy, .npy.gz, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub(crate) operands: Vec<String>,
    /// Semiring: a name that `sparring semirings` lists, or ⊕ and ⊗ as formulas: "min, a + 2*b". On a GPU plus_times,
    /// min_plus or max_plus of f64, f32 and i64, max_times, min_max or max_min of f64 and f32, lor_land of bool
    #[arg(long, default_value = "plus_times", value_name = "NAME")]
    semiring: String,
    /// Multiply the contraction by X
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    alpha: Option<String>,
    /// Accumulate (by ⊕) into this array, of the shape of the result
    #[arg(long, value_name = "FILE")]
    accumulate: Option<String>,
    /// Multiply that array by X first
    #[arg(long, value_name = "X", allow_hyphen_values = true, requires = "accumulate")]
    beta: Option<String>,
    /// Compute N times and report the median
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Write the result: .npy; with two indices or fewer also .mtx, .npz (SciPy), .csv, .svm; also with .gz or .zst, or -
    /// for standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<String>,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    pub(crate) place: DeviceArg,
}

/// An element type, and the semirings over it.
trait Scalar: SparringValue + FromStr {
    /// Its name in NumPy.
    const KIND: &'static str;
    const SEMIRINGS: &'static [&'static str];
    /// The contraction over the semiring of this name; `None` if there is none.
    fn over(name: &str, job: &Job<'_, Self>, c: &mut Vec<Self>) -> Option<Result<Measured>>;
    fn sum(values: &[Self]) -> Sum;
}

macro_rules! scalars {
    ($($t:ty: $kind:literal, $sum:ident($into:path), $($name:ident $ring:ident)*;)*) => {
        $(impl Scalar for $t {
            const KIND: &'static str = $kind;
            const SEMIRINGS: &'static [&'static str] = &[$(stringify!($name)),*];
            fn over(name: &str, job: &Job<'_, Self>, c: &mut Vec<Self>) -> Option<Result<Measured>> {
                match name {
                    $(stringify!($name) => Some(job.contract($ring::<$t>::default(), c)),)*
                    _ => None,
                }
            }
            fn sum(values: &[Self]) -> Sum {
                Sum::$sum(values.iter().copied().map($into).fold(Default::default(), |sum, x| sum + x))
            }
        })*
        /// Computes with loops compiled for the type and the semiring, if they exist.
        fn typed(context: &Context, arguments: &Arguments, read: Read, output: Option<&Output>) -> Compiled {
            let name = canonical(&arguments.semiring);
            match read.kind {
                $(<$t as Scalar>::KIND if <$t as Scalar>::SEMIRINGS.contains(&&*name) => {
                    Ok(run_of::<$t>(context, arguments, read, output))
                })*
                _ => Err(read),
            }
        }
    };
}
scalars! {
    f64: "f8", Real(f64::from),
        plus_times PlusTimes min_plus MinPlus max_plus MaxPlus max_times MaxTimes min_max MinMax max_min MaxMin;
    f32: "f4", Real(f64::from),
        plus_times PlusTimes min_plus MinPlus max_plus MaxPlus max_times MaxTimes min_max MinMax max_min MaxMin;
    i64: "i8", Integer(i128::from), plus_times PlusTimes min_plus MinPlus max_plus MaxPlus;
    bool: "b1", Integer(i128::from), lor_land LorLand;
}

/// The result of the compiled loops, or the input if there are none.
type Compiled = std::result::Result<failure::Result, Read>;

/// The input files.
struct Read {
    /// The expression with explicit output indices, and the layouts of the operands.
    text: String,
    layouts: Vec<Layout>,
    kind: &'static str,
    /// The operands, followed by the accumulator if there is one.
    arrays: Vec<(String, NpyArray)>,
    ms: f64,
}

/// A contraction to compute.
struct Job<'a, T> {
    context: &'a Context,
    arguments: &'a Arguments,
    text: &'a str,
    einsum: Einsum<'a, T>,
    alpha: Option<T>,
    beta: Option<T>,
    /// Layout of the result.
    layout: Layout,
    /// Initial values of the accumulator.
    start: Option<Vec<T>>,
}

/// Measurements of a contraction.
struct Measured {
    path: Vec<(usize, usize)>,
    workspace: u128,
    times: Times,
    /// Milliseconds on a GPU besides the computation: upload, first run (which compiles or loads programs), download.
    sent: Option<[f64; 3]>,
}

impl<T: Scalar> Job<'_, T> {
    fn request<A: Arithmetic<T>>(&self, ring: A) -> EinsumBuilder<'_, A, T> {
        let mut request = self.context.quiet.einsum(ring, self.einsum.clone());
        if let Some(alpha) = self.alpha {
            request = request.alpha(alpha);
        }
        match (&self.start, self.beta) {
            (None, _) => request,
            (_, None) => request.accumulate(),
            (_, Some(beta)) => request.beta(beta),
        }
    }
    /// Computes the result into `c`, as often as requested.
    fn contract<A: Arithmetic<T>>(&self, ring: A, c: &mut Vec<T>) -> Result<Measured> {
        if let Some(cuda) = &self.context.cuda {
            return self.contract_on_gpu(cuda, ring, c);
        }
        let request = self.request(ring);
        let (path, workspace) = (request.path()?, request.workspace_bytes()?);
        let elements = self.layout.elements();
        let bytes = workspace + elements as u128 * size_of::<T>() as u128;
        if let Some(budget) = self.context.memory_budget.filter(|&budget| bytes > budget.into()) {
            return Err(Error::Budget { what: "einsum", bytes, budget: budget.into() });
        }
        *c = filled(elements, A::ZERO, "einsum")?;
        let mut times = Times::default();
        for _ in 0..self.arguments.repeat {
            if let Some(start) = &self.start {
                c.copy_from_slice(start);
            }
            let mut out = ViewMut::new(c, self.layout.clone())?;
            let request = self.request(ring);
            let (done, ms) = timed(|| request.into(&mut out));
            done?;
            times.push(ms);
        }
        Ok(Measured { path, workspace, times, sent: None })
    }
    /// The same on a GPU. The first run is reported separately.
    fn contract_on_gpu<A: Arithmetic<T>>(&self, cuda: &Cuda, ring: A, c: &mut Vec<T>) -> Result<Measured> {
        let (there, upload) = timed_on(cuda, || {
            let put = |x: &View<'_, T>| cuda.upload_batch(x);
            self.einsum.operands().iter().map(put).collect::<Result<Vec<_>>>()
        })?;
        let einsum = Einsum::new(self.text, &there)?;
        let ask = || {
            let request = cuda.einsum(ring, einsum.clone());
            let request = if let Some(alpha) = self.alpha { request.alpha(alpha) } else { request };
            match (&self.start, self.beta) {
                (None, _) => request,
                (_, None) => request.accumulate(),
                (_, Some(beta)) => request.beta(beta),
            }
        };
        let (path, workspace) = (ask().path()?, ask().workspace_bytes()?);
        // The accumulator is uploaded again for each run.
        let begin = || match &self.start {
            Some(start) => cuda.upload_batch(&View::new(start, self.layout.clone())?).map(Some),
            None => Ok(None),
        };
        let run = |out: Option<DeviceBatch<T>>| match out {
            Some(mut out) => ask().into(&mut out).map(|()| out),
            None => ask().eval(),
        };
        let first = begin()?;
        let (mut result, first) = timed_on(cuda, || run(first))?;
        let mut times = Times::default();
        for _ in 0..self.arguments.repeat {
            let out = begin()?;
            let (again, ms) = cuda.timed(|| run(out))?;
            times.push(ms);
            result = again;
        }
        let (fetched, download) = timed_on(cuda, || cuda.download_batch(&result))?;
        *c = filled(fetched.values().len(), A::ZERO, "einsum")?;
        c.copy_from_slice(fetched.values());
        Ok(Measured { path, workspace, times, sent: Some([upload, first, download]) })
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> failure::Result {
    let formats = [&[Format::Npy], formats::SPARSE].concat();
    let output = Output::new(context, arguments.output.as_ref(), arguments.writing, &formats)?;
    let (mut arrays, mut read_ms) = (vec![], 0.0);
    for name in arguments.operands.iter().chain(&arguments.accumulate) {
        let (array, ms) = context.load_array(name)?;
        read_ms += ms;
        arrays.push((name.clone(), array));
    }
    let kind = arrays.first().map(|(_, array)| array.kind()).unwrap_or_default();
    if let Some((name, other)) = arrays.iter().find(|(_, array)| array.kind() != kind) {
        let message = format!("{name} has elements of the type {}, {} of the type {kind}", other.kind(), arrays[0].0);
        return Err(Error::Argument { name: "operand", message }.into());
    }
    let given = arrays.iter().take(arguments.operands.len()).map(|(_, array)| layout(array));
    let (text, layouts) = as_numpy(&arguments.expression, &given.collect::<Result<Vec<_>>>()?)?;
    let read = Read { text, layouts, kind, arrays, ms: read_ms };
    match typed(context, arguments, read, output.as_ref()) {
        Ok(done) => done,
        Err(read) => run_any(context, arguments, &read, output.as_ref()),
    }
}

/// A contraction over any other type and semiring.
fn run_any(context: &Context, arguments: &Arguments, read: &Read, output: Option<&Output>) -> failure::Result {
    let arrays: Vec<&NpyArray> = read.arrays.iter().map(|(_, array)| array).collect();
    let ty = arrays.first().map_or(Type::F64, |array| array.values.ty());
    let ring = Semiring::new(&arguments.semiring, ty);
    let ring = suggested(ring, &arguments.semiring, SEMIRINGS.iter().map(|row| row.name))?;
    if context.cuda.is_some() {
        let why = "a GPU has plus_times, min_plus and max_plus of f64, f32 and i64, max_times, min_max and max_min of f64 \
                   and f32, lor_land of bool";
        return Err(Error::Unsupported { what: format!("einsum over {ring} of {ty} on a GPU"), why: why.into() }.into());
    }
    let views =
        arrays.iter().zip(&read.layouts).map(|(array, layout)| AnyView::new(array.values.slice(), layout.clone()));
    let einsum = Einsum::new(&read.text, &views.collect::<Result<Vec<_>>>()?)?;
    let scalar = |name: &'static str, text: &Option<String>| {
        let wrong = |text: &String| Error::Argument { name, message: format!("'{text}' is not a valid {ty}") };
        text.as_ref().map(|text| AnyScalar::parse(text, ty).map_err(|_| wrong(text))).transpose()
    };
    let (alpha, beta) = (scalar("--alpha", &arguments.alpha)?, scalar("--beta", &arguments.beta)?);
    let shape = einsum.result().0;
    let machine = context.machine()?;
    let start = arguments.accumulate.as_ref().and_then(|_| arrays.last()).map(|array| {
        if array.shape != shape {
            return Err(Error::Dims { op: "einsum", lhs: shape.clone(), rhs: array.shape.clone() });
        }
        // The result is row-major.
        let letters: String = ('a'..='z').chain('A'..='Z').take(shape.len()).collect();
        let view = AnyView::new(array.values.slice(), layout(array)?)?;
        machine.einsum(&ring, &Einsum::new(&format!("{letters}->{letters}"), &[view])?)
    });
    let start = start.transpose()?;
    check_shape(output, &shape)?;
    let values: Vec<_> = arrays[..arguments.operands.len()].iter().map(|array| array.values.slice()).collect();
    warn_outside(context, &arguments.semiring, &values);
    context.progress.stage("contracting".into());
    let update = EinsumUpdate { alpha, beta, c: start.as_ref().map(Array::slice) };
    let (mut made, mut times) = (None, Times::default());
    for _ in 0..arguments.repeat {
        // Freed first, or the peak would be two results.
        drop(made.take());
        let (found, ms) = timed(|| machine.einsum_with(&ring, &einsum, &update));
        made = Some(found?);
        times.push(ms);
    }
    let Some(c) = made else { unreachable!("repeat is at least 1") };
    if let Some(output) = output {
        output.write(context, |out| write(out, output.kind.format, &shape, false, c.slice()))?;
    }
    let results = if start.is_some() { 2 } else { 1 };
    let elements = values.iter().map(Slice::len).sum::<usize>() + results * c.len();
    // From left to right.
    let n = values.len();
    let path = (1..n).map(|k| (if k == 1 { 0 } else { n + k - 2 }, k)).collect();
    let found = Measured { path, workspace: 0, times, sent: None };
    let bytes = elements * ty.size();
    // As a matrix, which sums values of any type.
    let len = c.len();
    let (nrows, ncols) = if u32::try_from(len).is_ok() { (1, len) } else { (len, 1) };
    let sum = Matrix::new(Arc::new(formats::full(nrows, ncols)?), c)?.sum()?;
    report_all(context, arguments, (ty, &shape, sum), bytes, read.ms, &found)
}

/// Rejects a matrix format for a result of more than two indices.
fn check_shape(output: Option<&Output>, shape: &[usize]) -> Result<()> {
    match output {
        Some(output) if output.kind.format != Format::Npy && shape.len() > 2 => {
            let message = format!("a result of {} indices is written as .npy, not as a matrix", shape.len());
            Err(Error::Argument { name: "output", message })
        }
        _ => Ok(()),
    }
}

/// Writes a result: an array in its layout, or a matrix (a single row for one index).
fn write(
    out: &mut dyn std::io::Write,
    format: Format,
    shape: &[usize],
    by_columns: bool,
    c: Slice<'_>,
) -> std::result::Result<(), Stop> {
    if format == Format::Npy {
        return Ok(write_npy_array_to(out, shape, by_columns, c)?);
    }
    let (nrows, ncols) = match *shape {
        [nrows, ncols] => (nrows, ncols),
        [ncols] => (1, ncols),
        _ => (1, 1),
    };
    formats::write_dense(out, format, (nrows, ncols), c)
}

/// The layout of an array.
fn layout(array: &NpyArray) -> Result<Layout> {
    if array.fortran_order { Layout::column_major(&array.shape) } else { Layout::row_major(&array.shape) }
}

/// Parses a number of the element type.
fn parsed<T: Scalar>(name: &'static str, text: Option<&String>) -> Result<Option<T>> {
    let wrong = |text: &String| Error::Argument { name, message: format!("'{text}' is not a valid {}", T::TYPE) };
    text.map(|text| text.parse().map_err(|_| wrong(text))).transpose()
}

fn run_of<T: Scalar>(context: &Context, arguments: &Arguments, read: Read, output: Option<&Output>) -> failure::Result {
    let (alpha, beta) = (parsed("--alpha", arguments.alpha.as_ref())?, parsed("--beta", arguments.beta.as_ref())?);
    let mut lists = vec![];
    let mut layouts = read.layouts.into_iter();
    for (name, array) in read.arrays {
        let by_columns = array.fortran_order;
        let layout = layouts.next().map_or_else(|| layout(&array), Ok)?;
        let kind = array.kind();
        let list = array.values.into_vec::<T>().map_err(|_| {
            let message = format!("{name} has elements of the type {kind}");
            Error::Argument { name: "operand", message }
        })?;
        lists.push((layout, list, by_columns));
    }
    let start = arguments.accumulate.is_some().then(|| lists.pop()).flatten();
    let views = lists.iter().map(|(layout, list, _)| View::new(list, layout.clone())).collect::<Result<Vec<_>>>()?;
    let einsum = Einsum::new(&read.text, &views)?;
    let shape = einsum.result().0;
    check_shape(output, &shape)?;
    let (layout, start, by_columns) = match start {
        // The contraction reports a mismatched shape.
        Some((layout, list, by_columns)) => (layout, Some(list), by_columns),
        None => (Layout::row_major(&shape)?, None, false),
    };
    let values: Vec<_> = lists.iter().map(|(_, list, _)| Slice::of(list)).collect();
    warn_outside(context, &arguments.semiring, &values);
    context.progress.stage("contracting".into());
    let job = Job { context, arguments, text: &read.text, einsum, alpha, beta, layout, start };
    let mut c = vec![];
    let known = T::SEMIRINGS.join(", ");
    let unknown = || Error::Unsupported {
        what: format!("semiring '{}' over {}", arguments.semiring, T::TYPE),
        why: format!("einsum of {} has {known}", T::TYPE),
    };
    let found = T::over(&canonical(&arguments.semiring), &job, &mut c).unwrap_or_else(|| Err(unknown()));
    let found = suggested(found, &arguments.semiring, T::SEMIRINGS.iter().copied())?;
    if let Some(output) = output {
        match (output.kind.format, &shape[..]) {
            // Matrices are written by rows.
            (format, &[nrows, ncols]) if by_columns && format != Format::Npy && !c.is_empty() => {
                let mut rows = filled(c.len(), c[0], "einsum")?;
                let places = (0..nrows).flat_map(|i| (0..ncols).map(move |j| j * nrows + i));
                rows.iter_mut().zip(places).for_each(|(to, at)| *to = c[at]);
                output.write(context, |out| write(out, format, &shape, false, Slice::of(&rows)))?;
            }
            (format, _) => output.write(context, |out| write(out, format, &shape, by_columns, Slice::of(&c)))?,
        }
    }
    let results = if job.start.is_some() { 2 } else { 1 };
    let elements = lists.iter().map(|(_, list, _)| list.len()).sum::<usize>() + results * c.len();
    report_all(context, arguments, (T::TYPE, &shape, T::sum(&c)), elements * size_of::<T>(), read.ms, &found)
}

/// Reports the measurements, relative to memory bandwidth.
fn report_all(
    context: &Context,
    arguments: &Arguments,
    (ty, shape, sum): (Type, &[usize], Sum),
    bytes: usize,
    read_ms: f64,
    found: &Measured,
) -> failure::Result {
    context.progress.stage("measuring memory".into());
    let bound = bound(context, bytes)?;
    tell(context, arguments, &Report { ty, shape, sum, bytes, bound, read_ms }, found)
}

/// GB/s of the stream kernel over arrays of the same total size, or of a copy on a GPU, if the memory budget allows.
fn bound(context: &Context, bytes: usize) -> Result<Option<f64>> {
    if let Some(cuda) = &context.cuda {
        return copied(cuda, (bytes / 2).clamp(1 << 20, 1 << 29));
    }
    let each = (bytes / 4).clamp(1 << 20, 64 << 20);
    match context.memory_budget {
        Some(budget) if 3 * each as u64 > budget => Ok(None),
        _ => stream(&context.quiet, each, 3).map(Some),
    }
}

/// The report of a result.
struct Report<'a> {
    ty: Type,
    shape: &'a [usize],
    sum: Sum,
    bytes: usize,
    bound: Option<f64>,
    read_ms: f64,
}

fn tell(context: &Context, arguments: &Arguments, report: &Report<'_>, found: &Measured) -> failure::Result {
    let Report { ty, shape, sum, bytes, bound, read_ms } = *report;
    let rate = bytes as f64 / found.times.median() / 1e6;
    let percent = bound.map(|bound| 100.0 * rate / bound);
    let mut json = json!({
        "expression": arguments.expression, "semiring": arguments.semiring, "type": ty.name(), "dims": shape,
        "sum": number(sum), "path": found.path, "workspace_bytes": found.workspace as u64, "repeat": arguments.repeat,
        "compute_ms": ms(found.times.median()),
        "compute_min_ms": ms(found.times.minimum()), "bytes": bytes, "gb_s": rate, "read_ms": ms(read_ms), "device": context.device.to_string(),
    });
    let more = match found.sent {
        Some([upload, first, download]) => json!({
            "copy_gb_s": bound, "pct_copy": percent, "upload_ms": ms(upload), "first_ms": ms(first), "download_ms": ms(download),
        }),
        None => json!({"stream_gb_s": bound, "pct_stream": percent, "threads": context.threads()}),
    };
    if let (Value::Object(json), Value::Object(more)) = (&mut json, more) {
        json.extend(more);
    }
    context.result(json, || {
        let extents = if shape.is_empty() { "one element".into() } else { crate::tensor::dims(shape) };
        let pairs: Vec<_> = found.path.iter().map(|(a, b)| format!(" {a}·{b}")).collect();
        let path = if pairs.is_empty() { " one operand".into() } else { pairs.concat() };
        let what = if found.sent.is_some() { "a copy" } else { "c += a·b" };
        let share = match percent.zip(bound) {
            Some((percent, bound)) => format!("{percent:.0} % of {what}, which moves {bound:.1} GB/s"),
            None => format!("the memory budget has no room to measure {what}"),
        };
        let sent = found.sent.map(|ms| {
            let [upload, first, download] = ms.map(seconds);
            format!("   sent {upload}, first time {first}, fetched {download}")
        });
        format!(
            "{extents} of {ty} over {}   sum {sum}\npath{path}   workspace {} bytes   read {}{}\n{}, {rate:.1} GB/s: {share}",
            arguments.semiring,
            thousands(found.workspace as u64),
            seconds(read_ms),
            sent.unwrap_or_default(),
            seconds(found.times.median()),
        )
    })
}
