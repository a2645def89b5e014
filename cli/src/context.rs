//! What all commands share: their options, the processor, the GPU, the choice of output, the progress bar.

use std::io::{self, Write};

use clap::Args;
use serde_json::Value;
use sparring::runtime::{Machine, Matrix};
use sparring::{Cpu, Cuda};

use crate::device::{self, Device, refused};
use crate::failure::{Failure, Result};
use crate::progress::Progress;
use crate::read::{self, Source};
use crate::timing::timed;

/// What every command takes.
#[derive(Args)]
pub(crate) struct Common {
    /// Threads to run on [default: one for each processor]
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
    /// Where to compute: cpu, or cuda:N for GPU number N. For triangles, mxm, knn, distances and bench
    #[arg(long, global = true, value_name = "DEVICE", default_value_t, value_parser = device::parse)]
    pub(crate) device: Device,
    /// Write JSON to standard output, and nothing else there
    #[arg(long, global = true)]
    json: bool,
}

pub(crate) struct Context {
    /// Reports progress.
    pub(crate) cpu: Cpu,
    /// Does not, for measurements.
    pub(crate) quiet: Cpu,
    /// The GPU, if it is to compute.
    pub(crate) cuda: Option<Cuda>,
    pub(crate) device: Device,
    pub(crate) progress: Progress,
    json: bool,
}

impl Context {
    pub(crate) fn new(common: &Common) -> Result<Self> {
        let cpu = || common.threads.map_or_else(|| Ok(Cpu::new()), Cpu::with_threads);
        let device = common.device;
        let cuda = match device {
            Device::Cpu => None,
            Device::Cuda(_) if common.threads.is_some() => {
                return Err(refused("--threads", "it computes with all that it has").into());
            }
            Device::Cuda(ordinal) => Some(Cuda::new(ordinal)?),
        };
        let progress = Progress::new();
        Ok(Self { cpu: progress.follow(cpu()?), quiet: cpu()?, cuda, device, progress, json: common.json })
    }
    /// The matrix that `name` stands for, and the milliseconds that getting it took.
    pub(crate) fn load(&self, name: &str) -> Result<(Source, f64)> {
        self.progress.stage(format!("reading {name}"));
        let (source, ms) = timed(|| self.quiet.threads().install(|| read::load(name)));
        Ok((source?, ms))
    }
    /// The same in the file's own type.
    pub(crate) fn load_any(&self, name: &str) -> Result<(Matrix, f64)> {
        self.progress.stage(format!("reading {name}"));
        let (matrix, ms) = timed(|| self.quiet.threads().install(|| read::load_any(name)));
        Ok((matrix?, ms))
    }
    /// The machine that computes what is known at run time only.
    pub(crate) fn machine(&self) -> sparring::Result<Machine> {
        if let Some(cuda) = &self.cuda {
            return Ok(cuda.clone().into());
        }
        Ok(self.progress.follow(Cpu::with_threads(self.threads())?).into())
    }
    /// The result of `f` and the milliseconds that it took; a GPU is idle before and after.
    pub(crate) fn timed<T>(&self, f: impl FnOnce() -> sparring::Result<T>) -> sparring::Result<(T, f64)> {
        match &self.cuda {
            Some(cuda) => device::timed_on(cuda, f),
            None => {
                let (result, ms) = timed(f);
                Ok((result?, ms))
            }
        }
    }
    /// Writes a result: `json` if that was asked for, else `text`.
    pub(crate) fn result(&self, json: Value, text: impl FnOnce() -> String) -> Result {
        let text = if self.json { json.to_string() } else { text() };
        self.progress.suspend(|| {
            let mut out = io::stdout().lock();
            writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()).map_err(Failure::Output)
        })
    }
    /// Writes text that JSON has no place for.
    pub(crate) fn heading(&self, text: &str) -> Result {
        if self.json { Ok(()) } else { self.result(Value::Null, || text.into()) }
    }
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }
    pub(crate) fn threads(&self) -> usize {
        self.cpu.threads().count()
    }
}
