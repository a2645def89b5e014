//! `sparring`: the command line program for products, graph algorithms, distances, contractions and decompositions.
//!
//! Results go to standard output, as text or (`--json`) as one JSON object per command or benchmark case;
//! progress goes to standard error. The help lists the exit codes.

mod bench;
#[cfg(feature = "cluster")]
mod cluster;
mod completions;
mod context;
mod convert;
mod device;
mod devices;
mod distances;
mod einsum;
mod examples;
mod failure;
mod formats;
mod graphs;
mod info;
mod keys;
mod knn;
mod memory;
mod metrics;
mod mxm;
mod operands;
mod output;
mod plot;
mod progress;
mod radius;
mod read;
mod room;
mod semiring;
mod size;
mod spy;
mod steps;
mod stream;
mod suggest;
mod tensor;
mod timing;
mod triangles;
mod tune;
mod vectors;
mod write;

use std::process::ExitCode;

use clap::parser::ValueSource;
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand};

use context::{Common, Context};
use device::Device;
use formats::Format;

/// Sparse linear algebra over any semiring.
///
/// FILE is a Matrix Market file (.mtx), a SciPy sparse matrix (.npz), a NumPy array (.npy), a MAT-file (.mat), a
/// table (.csv), svmlight (.svm), an edge list (.txt, .tsv, .el, .wel, .edges), a graph in DIMACS (.gr) or METIS
/// (.graph) format, each optionally with .gz or .zst; - for standard input; or gen:NAME for a generated matrix
/// (gen:rmat14, gen:web18, ...). KIND:FILE or --format gives the format if the name does not: svm:rows.txt, csv:-.
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
    /// Print shape, kind and degrees of a matrix, and on request the statistics of A·A
    Info(info::Arguments),
    /// Count the triangles of the undirected graph of a matrix
    Triangles(triangles::Arguments),
    /// Multiply two matrices, or one with itself
    Mxm(mxm::Arguments),
    #[command(flatten)]
    Graph(graphs::Algorithm),
    #[command(flatten)]
    Step(steps::Step),
    /// Find the exact nearest neighbours of each row
    Knn(knn::Arguments),
    /// Find all neighbours within a radius of each row
    Radius(radius::Arguments),
    /// Compute all pairwise distances between rows
    Distances(distances::Arguments),
    /// Contract dense arrays by named indices, over any semiring: einsum "bij,bjk->bik" a.npy b.npy
    Einsum(einsum::Arguments),
    /// Find the fastest kernels for contractions on a GPU, and save them for later runs
    Tune(tune::Arguments),
    /// Decompose a sparse tensor: CP by alternating least squares
    Cp(tensor::cp::Arguments),
    /// Multiply a matricized sparse tensor with a Khatri-Rao product (MTTKRP), over any semiring
    Mttkrp(tensor::mttkrp::Arguments),
    /// Print shape, entries and fibres of a sparse tensor, and its MTTKRP algorithm
    TensorInfo(tensor::info::Arguments),
    /// Convert a matrix to another file format
    Convert(convert::Arguments),
    /// Write the transpose of a matrix
    Transpose(convert::Arguments),
    /// List the semirings by name
    Semirings,
    /// List the metrics by name
    Metrics,
    /// List the processor and the GPUs, or what is missing to use one
    Devices,
    /// List the keys of the JSON output, and their meaning
    Keys,
    /// Run benchmarks on generated matrices, or on files
    Bench(bench::Arguments),
    /// Print shell completions
    Completions(completions::Completions),
    /// Print a man page: sparring man | man -l -
    Man(completions::Man),
}

impl Command {
    /// Rejects a memory budget for commands that do not enforce it.
    fn keeps_to(&self, memory_budget: Option<u64>) -> sparring::Result<()> {
        let why = match self {
            _ if memory_budget.is_none() => return Ok(()),
            Self::Triangles(_) => "counting triangles takes memory in proportion to the file",
            Self::Semirings | Self::Metrics | Self::Devices | Self::Keys | Self::Completions(_) | Self::Man(_) => {
                "it computes nothing"
            }
            Self::Graph(algorithm) if !algorithm.keeps_to_budget() => "it takes memory in proportion to the graph",
            Self::Step(_) => "it takes memory in proportion to the result",
            Self::Convert(_) | Self::Transpose(_) => "it takes memory in proportion to the file",
            Self::Info(arguments) if !arguments.product => "without --product nothing is computed",
            _ => return Ok(()),
        };
        Err(sparring::Error::Argument { name: "--memory-budget", message: why.into() })
    }
    /// The device to run on.
    fn device(&self) -> Device {
        match self {
            Self::Triangles(arguments) => arguments.place.device,
            Self::Mxm(arguments) => arguments.place.device,
            Self::Graph(algorithm) => algorithm.device(),
            Self::Step(step) => step.device(),
            Self::Knn(arguments) => arguments.place.device,
            Self::Radius(arguments) => arguments.place.device,
            Self::Distances(arguments) => arguments.place.device,
            Self::Bench(arguments) => arguments.place.device,
            Self::Einsum(arguments) => arguments.place.device,
            Self::Tune(arguments) => arguments.device,
            Self::Cp(arguments) => arguments.place.device,
            _ => Device::Cpu,
        }
    }
    /// All input files.
    fn files(&self) -> Vec<&str> {
        match self {
            Self::Info(arguments) => vec![&arguments.file],
            Self::Triangles(arguments) => vec![&arguments.file],
            Self::Mxm(arguments) => {
                let optional = [arguments.b.as_deref(), arguments.mask.as_deref()];
                [Some(&*arguments.a)].into_iter().chain(optional).flatten().collect()
            }
            Self::Graph(algorithm) => algorithm.files(),
            Self::Step(step) => step.files(),
            Self::Knn(arguments) => arguments.files.names(),
            Self::Radius(arguments) => arguments.files.names(),
            Self::Distances(arguments) => arguments.files.names(),
            Self::Einsum(arguments) => arguments.operands.iter().map(String::as_str).collect(),
            Self::Cp(arguments) => vec![&arguments.file],
            Self::Mttkrp(arguments) => vec![&arguments.file],
            Self::TensorInfo(arguments) => vec![&arguments.file],
            Self::Convert(arguments) | Self::Transpose(arguments) => vec![&arguments.input],
            Self::Bench(arguments) => arguments.case.iter().map(String::as_str).collect(),
            Self::Tune(_)
            | Self::Semirings
            | Self::Metrics
            | Self::Devices
            | Self::Keys
            | Self::Completions(_)
            | Self::Man(_) => {
                vec![]
            }
        }
    }
    /// Rejects options that do not apply to a GPU, before reading anything.
    fn takes(&self, device: Device) -> sparring::Result<()> {
        match self {
            _ if device == Device::Cpu => Ok(()),
            Self::Triangles(arguments) => arguments.take_gpu(),
            Self::Mxm(arguments) => arguments.take_gpu(),
            Self::Bench(arguments) => arguments.take_gpu(),
            _ => Ok(()),
        }
    }
    /// Rejects commands that need a GPU.
    fn needs(&self, device: Device) -> sparring::Result<()> {
        match self {
            Self::Tune(_) if device == Device::Cpu => Err(sparring::Error::Unsupported {
                what: "tune on the processor".into(),
                why: "its kernels are compiled beforehand".into(),
            }),
            _ => Ok(()),
        }
    }
}

fn run(common: &Common, name: &str, command: &Command) -> failure::Result {
    match common.isa {
        Some(isa) => isa.limit()?,
        // Validates SPARRING_ISA; the default is the best set of the processor.
        None => drop(sparring::Isa::requested()?),
    }
    let tensors = matches!(command, Command::Cp(_) | Command::Mttkrp(_) | Command::TensorInfo(_));
    common.reading.check(&command.files(), if tensors { Some(Format::Frostt) } else { None })?;
    match command {
        Command::Triangles(arguments) => common.reading.check_graph(&arguments.file)?,
        Command::Graph(algorithm) => common.reading.check_graph(algorithm.file())?,
        _ => {}
    }
    // These commands need no threads.
    match command {
        Command::Completions(arguments) => return completions::completions(program(), arguments),
        Command::Man(arguments) => return completions::man(&program(), arguments),
        _ => {}
    }
    let device = command.device();
    command.takes(device)?;
    command.needs(device)?;
    #[cfg_attr(not(feature = "cluster"), allow(unused_mut, reason = "it stays on one machine"))]
    let mut context = Context::new(common, name.into(), device)?;
    if common.cluster {
        #[cfg(feature = "cluster")]
        {
            let cluster = cluster::start(&mut context)?;
            match command {
                Command::Graph(algorithm) => return graphs::on_cluster(&context, &cluster, algorithm),
                Command::Triangles(arguments) => return triangles::on_cluster(&context, &cluster, arguments),
                // Other commands use the machine of the context.
                _ => {}
            }
        }
        #[cfg(not(feature = "cluster"))]
        return Err(sparring::Error::Unsupported {
            what: "--cluster".into(),
            why: "this program was built without the feature cluster".into(),
        }
        .into());
    }
    match command {
        Command::Info(arguments) => info::run(&context, arguments),
        Command::Triangles(arguments) => triangles::run(&context, arguments),
        Command::Mxm(arguments) => mxm::run(&context, arguments),
        Command::Graph(algorithm) => graphs::run(&context, algorithm),
        Command::Step(step) => steps::run(&context, step),
        Command::Knn(arguments) => knn::run(&context, arguments),
        Command::Radius(arguments) => radius::run(&context, arguments),
        Command::Distances(arguments) => distances::run(&context, arguments),
        Command::Einsum(arguments) => einsum::run(&context, arguments),
        Command::Tune(arguments) => tune::run(&context, arguments),
        Command::Cp(arguments) => tensor::cp::run(&context, arguments),
        Command::Mttkrp(arguments) => tensor::mttkrp::run(&context, arguments),
        Command::TensorInfo(arguments) => tensor::info::run(&context, arguments),
        Command::Convert(arguments) => convert::run(&context, arguments, false),
        Command::Transpose(arguments) => convert::run(&context, arguments, true),
        Command::Metrics => metrics::list(&context),
        Command::Semirings => semiring::list(&context),
        Command::Devices => devices::list(&context),
        Command::Keys => keys::list(&context),
        Command::Bench(arguments) => bench::run(&context, arguments),
        Command::Completions(_) | Command::Man(_) => Ok(()),
    }
}

/// Heading of the options of [`read::Reading`].
const READING: &str = "Reading files";
/// The reading options that apply to tensors, and those that apply to arrays.
const OF_TENSORS: [&str; 5] = ["format", "max_bytes", "lenient", "zero_based", "one_based"];
const OF_ARRAYS: [&str; 2] = ["format", "max_bytes"];

/// Commands that run on all processes of a job, in addition to the single operations.
const ON_CLUSTER: [&str; 8] = ["bfs", "components", "cp", "knn", "mxm", "pagerank", "sssp", "triangles"];

/// Whether a global option applies to this command.
fn applies_to(command: &str, option: &Arg) -> bool {
    let id = option.get_id().as_str();
    if option.get_help_heading() == Some(READING) {
        return match command {
            "einsum" => OF_ARRAYS.contains(&id),
            "cp" | "tensor-info" => OF_TENSORS.contains(&id),
            "semirings" | "metrics" | "devices" | "keys" | "tune" | "completions" | "man" | "help" => false,
            _ => true,
        };
    }
    match (id, command) {
        ("cluster", command) => ON_CLUSTER.contains(&command) || steps::examples().any(|(name, _)| *name == command),
        ("json", "completions" | "man") => false,
        ("threads" | "isa", "semirings" | "metrics" | "keys" | "tune" | "completions" | "man") => false,
        (
            "memory_budget",
            "triangles" | "convert" | "transpose" | "semirings" | "metrics" | "devices" | "keys" | "completions"
            | "man",
        ) => false,
        ("memory_budget", "apsp") => true,
        ("memory_budget", command) => steps::examples().chain(graphs::examples()).all(|(name, _)| *name != command),
        _ => true,
    }
}

/// The command line as users see it: with examples in the help of each command, and without inapplicable options.
fn program() -> clap::Command {
    let mut program = Cli::command();
    program.build();
    let names: Vec<String> = program.get_subcommands().map(|command| command.get_name().into()).collect();
    let with_examples = |program: clap::Command, name: String| {
        program.mut_subcommand(name.clone(), |command| {
            let notes = command.get_after_help().map_or(String::new(), |notes| format!("{notes}\n\n"));
            let examples = examples::text(&name);
            let command = command.mut_args(|option| {
                let hidden = option.is_global_set() && !applies_to(&name, &option);
                if hidden { option.hide(true) } else { option }
            });
            if examples.is_empty() { command } else { command.after_help(notes + &examples) }
        })
    };
    let status: String = failure::STATUS.iter().map(|(code, what)| format!("  {code}  {what}\n")).collect();
    let status =
        format!("Exit codes:\n{status}\nOutput files are replaced atomically: they appear only when complete.");
    names.into_iter().fold(program, with_examples).after_help(status)
}

/// Rejects a given option that does not apply to the command.
fn check_options(program: &clap::Command, name: &str, matches: &clap::ArgMatches) -> sparring::Result<()> {
    let (Some(command), Some(given)) = (program.find_subcommand(name), matches.subcommand_matches(name)) else {
        return Ok(());
    };
    let given = |id: &str| given.value_source(id) == Some(ValueSource::CommandLine);
    let wrong = command
        .get_arguments()
        .find(|option| option.is_global_set() && !applies_to(name, option) && given(option.get_id().as_str()));
    match wrong {
        Some(option) => Err(sparring::Error::Argument {
            name: "option",
            message: format!("--{} does not apply to sparring {name}", option.get_long().unwrap_or_default()),
        }),
        None => Ok(()),
    }
}

fn main() -> ExitCode {
    failure::hook();
    let mut program = program();
    let matches = program.get_matches_mut();
    let name = matches.subcommand_name().unwrap_or_default();
    let Cli { common, command } = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    let done = command.keeps_to(common.memory_budget).and_then(|()| check_options(&program, name, &matches));
    let code = match done.map_err(Into::into).and_then(|()| run(&common, name, &command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    };
    failure::release();
    code
}
