//! State shared by all commands: options, CPU and GPU, output format, progress bar.

use std::cell::Cell;
use std::io::{self, Write};

use clap::Args;
use serde_json::{Map, Value};
use sparring::algebra::{Slice, Type};
use sparring::factor::{CpAls, CpFit, InForm};
use sparring::gpu::{TensorForm, Tuning};
use sparring::graph::{GraphBackend, Place};
use sparring::io::NpyArray;
use sparring::runtime::{Machine, Matrix, UnaryOp};
use sparring::tensor::{AnyTensor, Variant};
use sparring::{Cpu, Cuda, Error, Index, Isa, Tensor};

use crate::device::{self, Device, refused};
use crate::failure::{Failure, Result};
use crate::formats::STANDARD;
use crate::progress::Progress;
use crate::read::{self, Reading, Source};
use crate::size;
use crate::tensor;
use crate::timing::timed;

/// Options of every command.
#[derive(Args)]
pub(crate) struct Common {
    /// Number of threads [default: one per processor]
    #[arg(long, global = true, value_name = "N", help_heading = "Every command takes")]
    threads: Option<usize>,
    /// Lower the instruction set of the loops, with the same results [default: the best of the processor]
    #[arg(long, global = true, value_name = "SET", value_parser = instructions, help_heading = "Every command takes")]
    pub(crate) isa: Option<Isa>,
    /// Limit the memory for results and workspace, of the GPU if it computes: 2G, 500M, or bytes
    #[arg(long, global = true, value_name = "SIZE", value_parser = size::parse, help_heading = "Every command takes")]
    pub(crate) memory_budget: Option<u64>,
    /// Print only JSON to standard output
    #[arg(long, global = true, help_heading = "Every command takes")]
    json: bool,
    /// Run on all processes of an MPI job: mpirun -n 16 sparring --cluster pagerank web.mtx
    #[arg(long, global = true, help_heading = "Every command takes")]
    pub(crate) cluster: bool,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

pub(crate) struct Context {
    /// Reports progress.
    pub(crate) cpu: Cpu,
    /// Without progress reports, for measurements.
    pub(crate) quiet: Cpu,
    /// The GPU, if the command runs on it.
    pub(crate) cuda: Option<Cuda>,
    pub(crate) device: Device,
    pub(crate) progress: Progress,
    /// Memory limit of a computation, in bytes.
    pub(crate) memory_budget: Option<u64>,
    threads: Option<usize>,
    json: bool,
    reading: Reading,
    /// Name of the command in the JSON output.
    command: String,
    /// Whether a matrix goes to standard output, so that the summary goes to standard error.
    aside: Cell<bool>,
    /// Whether standard input has been read.
    input_taken: Cell<bool>,
    /// The MPI job, if it computes. Its first process prints.
    #[cfg(feature = "cluster")]
    cluster: Option<sparring_cluster::Cluster>,
}

/// The variant of MTTKRP, on the processor or a GPU.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    Variant(Variant),
    Device(TensorForm),
}

/// The processor with this number of threads [default: all].
fn processor(threads: Option<usize>, memory_budget: Option<u64>) -> sparring::Result<Cpu> {
    let cpu = threads.map_or_else(|| Ok(Cpu::new()), Cpu::with_threads)?;
    Ok(match memory_budget {
        Some(bytes) => cpu.memory_budget(bytes),
        None => cpu,
    })
}

/// Parses `--isa`.
fn instructions(word: &str) -> Result<Isa, String> {
    Isa::named(word).ok_or_else(|| format!("it is {}", Isa::ALL.map(Isa::name).join(", ")))
}

impl GraphBackend for Context {
    /// The GPU, if the command runs on it.
    fn place(&self) -> sparring::Result<Place<'_>> {
        Ok(self.cuda.as_ref().map_or(Place::Cpu(&self.cpu), Place::Cuda))
    }
}

impl Context {
    /// Context of the command of this name.
    pub(crate) fn new(common: &Common, command: String, device: Device) -> Result<Self> {
        let cpu = || processor(common.threads, common.memory_budget);
        let cuda = match device {
            Device::Cpu => None,
            Device::Cuda(_) if common.threads.is_some() => {
                return Err(refused("--threads", "it computes with all that it has").into());
            }
            Device::Cuda(ordinal) => {
                // With the results of `sparring tune`.
                let cuda = Cuda::new(ordinal)?.tuning(Tuning::Kept);
                Some(match common.memory_budget {
                    Some(bytes) => cuda.memory_budget(bytes),
                    None => cuda,
                })
            }
        };
        let progress = Progress::new();
        let (cpu, quiet) = (progress.follow(cpu()?), cpu()?);
        let Common { threads, memory_budget, json, .. } = *common;
        let reading = common.reading.clone();
        let (aside, input_taken) = (Cell::new(reading.takes_stdout()?), Cell::new(false));
        Ok(Self {
            cpu,
            quiet,
            cuda,
            device,
            progress,
            memory_budget,
            threads,
            json,
            reading,
            command,
            aside,
            input_taken,
            #[cfg(feature = "cluster")]
            cluster: None,
        })
    }
    /// The matrix called `name`, and the milliseconds of loading it.
    pub(crate) fn load(&self, name: &str) -> Result<(Source, f64)> {
        self.begin_reading(name)?;
        let reading = &self.reading;
        let (source, ms) = timed(|| self.quiet.threads().install(|| read::load(name, reading)));
        Ok((source?, ms))
    }
    /// The same with values of type `ty`, by default the type of the file.
    pub(crate) fn load_any(&self, name: &str, ty: Option<Type>) -> Result<(Matrix, f64)> {
        self.begin_reading(name)?;
        let reading = &self.reading;
        let (matrix, ms) = timed(|| self.quiet.threads().install(|| read::load_any(name, reading, ty)));
        Ok((matrix?, ms))
    }
    /// The operand converted to another type.
    pub(crate) fn cast(&self, a: &Matrix, ty: Type) -> sparring::Result<Matrix> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = self.cluster.as_ref().filter(|cluster| cluster.machine().engine().holds(a.into())) {
            return cluster.cast(a, ty);
        }
        a.cast(ty)
    }
    /// Whether `here` holds for the values of an operand; for a matrix that is not in host memory, whether some entry
    /// satisfies a formula.
    pub(crate) fn some(
        &self,
        a: &Matrix,
        here: impl FnOnce(&Slice<'_>) -> bool,
        formula: &str,
    ) -> sparring::Result<bool> {
        match a.values() {
            Some(values) => Ok(here(&values)),
            None => Ok(self.machine()?.select(&UnaryOp::new(formula, a.ty())?, a)?.nnz() > 0),
        }
    }
    /// The sparse tensor called `name`, and the milliseconds of loading it.
    pub(crate) fn load_tensor(&self, name: &str) -> Result<(AnyTensor<f64>, f64)> {
        self.begin_reading(name)?;
        let reading = &self.reading;
        let (x, ms) = timed(|| self.quiet.threads().install(|| tensor::load(name, reading)));
        Ok((self.read_by_all(x.map_err(Failure::from))?, ms))
    }
    /// The dense array in the file `name`.
    pub(crate) fn load_array(&self, name: &str) -> Result<(NpyArray, f64)> {
        self.begin_reading(name)?;
        let (array, ms) = timed(|| self.reading.array(name));
        Ok((array?, ms))
    }
    /// Decomposes a tensor, on the GPU if selected. Reports progress per sweep.
    pub(crate) fn cp<I: Index>(
        &self,
        als: &CpAls<'_, f64>,
        x: &Tensor<f64, I>,
        form: Option<TensorForm>,
    ) -> sparring::Result<CpFit<f64>> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return als.run(cluster, x);
        }
        match (&self.cuda, form) {
            (Some(cuda), Some(form)) => als.run(&InForm { cuda, form }, x),
            (Some(cuda), None) => als.run(cuda, x),
            (None, _) => als.run(&self.quiet, x),
        }
    }
    /// The variant of this name, among those of the device.
    pub(crate) fn variant(&self, name: &str) -> sparring::Result<Form> {
        let known = Variant::from_name(name);
        if self.cuda.is_none() {
            return match TensorForm::ALL.iter().any(|form| form.name() == name) && known.is_err() {
                true => Err(Error::Argument {
                    name: "--variant",
                    message: format!(
                        "{name} is only for a GPU; the processor has a, b, c, copies, tree, linear and single"
                    ),
                }),
                false => known.map(Form::Variant),
            };
        }
        // Phipps and Kolda's variant has two names.
        let form = if name == "c" { "permuted" } else { name };
        match TensorForm::ALL.into_iter().find(|found| found.name() == form) {
            Some(form) => Ok(Form::Device(form)),
            None => {
                known?;
                Err(refused(&format!("--variant {name}"), "it has copies, c, remapped and parts"))
            }
        }
    }
    fn begin_reading(&self, name: &str) -> sparring::Result<()> {
        self.progress.stage(format!("reading {name}"));
        if read::split_kind(name).1 == STANDARD && self.input_taken.replace(true) {
            let message = "standard input can be read once".into();
            return Err(Error::Argument { name: "file", message });
        }
        Ok(())
    }
    /// The name of the command.
    #[cfg(feature = "cluster")]
    pub(crate) fn command(&self) -> &str {
        &self.command
    }
    /// Makes the context compute on an MPI job.
    #[cfg(feature = "cluster")]
    pub(crate) fn spread(&mut self, cluster: sparring_cluster::Cluster) {
        self.cluster = Some(cluster);
    }
    /// The most bytes read from a file.
    pub(crate) fn most_bytes(&self) -> u64 {
        self.reading.most()
    }
    /// The options for reading files.
    #[cfg(feature = "cluster")]
    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }
    /// The MPI job, if the context computes on it.
    #[cfg(feature = "cluster")]
    pub(crate) fn cluster(&self) -> Option<&sparring_cluster::Cluster> {
        self.cluster.as_ref()
    }
    /// `read` if it succeeded on every process of the job; without a job, `read`.
    pub(crate) fn read_by_all<T>(&self, read: Result<T>) -> Result<T> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            let read = match read {
                Err(Failure::Library(error)) => Err(error),
                Err(other) => return Err(other),
                Ok(read) => Ok(read),
            };
            return Ok(cluster.agree("file", read)?);
        }
        read
    }
    /// Whether another process of the job prints and writes results.
    pub(crate) fn is_silent(&self) -> bool {
        #[cfg(feature = "cluster")]
        {
            self.cluster.as_ref().is_some_and(|cluster| cluster.rank() > 0)
        }
        #[cfg(not(feature = "cluster"))]
        {
            false
        }
    }
    /// Redirects summaries to standard error, because a file goes to standard output, which holds only one.
    pub(crate) fn give_up_stdout(&self) -> sparring::Result<()> {
        match self.aside.replace(true) {
            false => Ok(()),
            true => Err(Error::Argument { name: "-", message: read::ONE_OUTPUT.into() }),
        }
    }
    /// The machine for untyped operations.
    pub(crate) fn machine(&self) -> sparring::Result<Machine> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return Ok(cluster.machine());
        }
        if let Some(cuda) = &self.cuda {
            return Ok(cuda.clone().into());
        }
        Ok(self.progress.follow(processor(self.threads, self.memory_budget)?).into())
    }
    /// The transpose of a matrix in host memory, or of an operand.
    pub(crate) fn transposed(&self, a: &Matrix) -> sparring::Result<Matrix> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return cluster.machine().transpose(a);
        }
        Machine::from(Cpu::with_threads(self.threads())?).transpose(a)
    }
    /// The result of `f` and its time in milliseconds; a GPU is idle before and after.
    pub(crate) fn timed<T>(&self, f: impl FnOnce() -> sparring::Result<T>) -> sparring::Result<(T, f64)> {
        match &self.cuda {
            Some(cuda) => device::timed_on(cuda, f),
            None => {
                let (result, ms) = timed(f);
                Ok((result?, ms))
            }
        }
    }
    /// Prints a result: `json` with `--json`, else `text`.
    pub(crate) fn result(&self, json: Value, text: impl FnOnce() -> String) -> Result {
        if self.is_silent() {
            return Ok(());
        }
        let text = if self.json { self.headed(json).to_string() } else { text() };
        if self.aside.get() {
            // A closed standard error is ignored.
            self.progress.suspend(|| drop(writeln!(io::stderr(), "{}", text.trim_end())));
            return Ok(());
        }
        self.progress.suspend(|| {
            let mut out = io::stdout().lock();
            writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()).map_err(Failure::Output)
        })
    }
    /// The JSON object, preceded by the version of the program and the command.
    fn headed(&self, json: Value) -> Value {
        let mut line = Map::new();
        line.insert("version".into(), env!("CARGO_PKG_VERSION").into());
        line.insert("command".into(), self.command.clone().into());
        if let Value::Object(json) = json {
            line.extend(json);
        }
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            line.insert("ranks".into(), cluster.size().into());
        }
        // Computed on the processor.
        if line.contains_key("threads") {
            line.insert("isa".into(), Isa::running().name().into());
        }
        Value::Object(line)
    }
    /// Prints text that has no JSON counterpart.
    pub(crate) fn heading(&self, text: &str) -> Result {
        if self.json { Ok(()) } else { self.result(Value::Null, || text.into()) }
    }
    pub(crate) fn threads(&self) -> usize {
        self.cpu.threads().count()
    }
}
