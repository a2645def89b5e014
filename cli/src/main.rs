//! `sparring`: sparse products, triangles, distances and figures of Matrix Market files from the command line.
//!
//! Results go to standard output, as text or (`--json`) as one JSON object a command or benchmark case;
//! progress goes to standard error. Exit codes: 0, 1 (the machine failed: memory, threads, disk, GPU),
//! 2 (wrong input or usage).

mod bench;
mod context;
mod device;
mod devices;
mod distances;
mod failure;
mod info;
mod knn;
mod memory;
mod metrics;
mod mxm;
mod output;
mod progress;
mod read;
mod semiring;
mod spy;
mod timing;
mod triangles;
mod vectors;
mod write;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use context::{Common, Context};
use device::Device;

/// Sparse linear algebra over any semiring.
///
/// FILE is a Matrix Market file, or gen:NAME for a generated matrix (gen:rmat14, gen:web18, ...).
#[derive(Parser)]
#[command(name = "sparring", version, propagate_version = true)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Shape, kind, degrees, and the figures of A·A (A·Aᵀ where A is not square)
    Info(info::Arguments),
    /// Count the triangles of the undirected graph under a matrix
    Triangles(triangles::Arguments),
    /// Multiply two matrices, or one by itself
    Mxm(mxm::Arguments),
    /// Find the nearest rows of each row, exactly
    Knn(knn::Arguments),
    /// Compute the distances between all rows
    Distances(distances::Arguments),
    /// List the semirings that mxm knows
    Semirings,
    /// List the metrics that knn and distances know
    Metrics,
    /// List the GPUs, or what is missing to use one
    Devices,
    /// Measure generated cases, or files
    Bench(bench::Arguments),
}

impl Command {
    /// Refuses a budget for what does not keep to one.
    fn keeps_to(&self, memory_budget: Option<u64>) -> sparring::Result<()> {
        let why = match self {
            _ if memory_budget.is_none() => return Ok(()),
            Self::Triangles(_) => "triangles are counted in memory in proportion to the file",
            Self::Semirings | Self::Metrics | Self::Devices => "a list is printed without computing",
            _ => return Ok(()),
        };
        Err(sparring::Error::Argument { name: "--memory-budget", message: why.into() })
    }
    /// Refuses a GPU for what is not done there, and options that it does not have, before anything is read.
    fn takes(&self, device: Device) -> sparring::Result<()> {
        if device == Device::Cpu {
            return Ok(());
        }
        match self {
            Self::Info(_) => Err(device::refused("info", "its figures are counted by the processor")),
            Self::Semirings | Self::Metrics | Self::Devices => {
                Err(device::refused("a list", "it is printed without computing"))
            }
            Self::Knn(_) | Self::Distances(_) => Ok(()),
            Self::Triangles(arguments) => arguments.take_gpu(),
            Self::Mxm(arguments) => arguments.take_gpu(),
            Self::Bench(arguments) => arguments.take_gpu(),
        }
    }
}

fn main() -> ExitCode {
    let Cli { common, command } = Cli::parse();
    let run = |common: &Common| {
        command.takes(common.device)?;
        command.keeps_to(common.memory_budget)?;
        let context = Context::new(common)?;
        match command {
            Command::Info(arguments) => info::run(&context, &arguments),
            Command::Triangles(arguments) => triangles::run(&context, &arguments),
            Command::Mxm(arguments) => mxm::run(&context, &arguments),
            Command::Knn(arguments) => knn::run(&context, &arguments),
            Command::Distances(arguments) => distances::run(&context, &arguments),
            Command::Metrics => metrics::list(&context),
            Command::Semirings => semiring::list(&context),
            Command::Devices => devices::list(&context),
            Command::Bench(arguments) => bench::run(&context, &arguments),
        }
    };
    match run(&common) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
