//! Shell completions and man pages, generated from the same descriptions as the help.

use std::io::{self, Write};

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;
use sparring::algebra::Type;
use sparring::algebra::dynamic::SEMIRINGS;
use sparring::distance::Metric;
use sparring::gpu::TensorForm;
use sparring::tensor::Variant;
use sparring_generate as generate;

use crate::examples;
use crate::failure::{Failure, Result, STATUS};

#[derive(Args)]
pub(crate) struct Completions {
    /// Shell to print completions for
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct Man {
    /// Print the page of this command [default: the program]
    command: Option<String>,
}

/// Suggested values of an option that clap does not know.
fn values(command: &str, option: &str) -> Vec<&'static str> {
    match (command, option) {
        (_, "metric") => Metric::ALL.iter().map(Metric::name).collect(),
        ("tune", "semiring") => crate::tune::SEMIRINGS.into(),
        (_, "semiring") => SEMIRINGS.iter().filter(|row| !row.values().is_empty()).map(|row| row.name).collect(),
        (_, "values") => Type::ALL.iter().map(|ty| ty.name()).collect(),
        ("bench", "case") => {
            let lists =
                [generate::SPGEMM, generate::TRIANGLES, generate::GRAPHS, generate::DISTANCE, generate::TENSORS];
            let mut names: Vec<_> = lists.into_iter().flatten().copied().collect();
            names.sort_unstable();
            names.dedup();
            names
        }
        ("cp", "variant") => {
            let mut names: Vec<_> = Variant::ALL.iter().map(|variant| variant.name()).collect();
            names.extend(TensorForm::ALL.iter().map(|form| form.name()).filter(|name| *name != "copies"));
            names
        }
        (_, "device") => vec!["cpu", "cuda:0"],
        _ => vec![],
    }
}

/// Options and operands that name files.
const FILES: [&str; 20] = [
    "file",
    "a",
    "b",
    "x",
    "to",
    "mask",
    "input",
    "output",
    "operands",
    "accumulate",
    "factors",
    "resume",
    "plot",
    "spy",
    "index",
    "save_index",
    "import",
    "export",
    "labels",
    "renumber",
];

/// The argument with the values that a shell may suggest.
fn proposed(command: &str, argument: Arg) -> Arg {
    let values = values(command, argument.get_id().as_str());
    if !values.is_empty() {
        return argument.value_parser(PossibleValuesParser::new(values));
    }
    if FILES.contains(&argument.get_id().as_str()) { argument.value_hint(ValueHint::FilePath) } else { argument }
}

pub(crate) fn completions(program: Command, arguments: &Completions) -> Result {
    let names: Vec<String> = program.get_subcommands().map(|command| command.get_name().into()).collect();
    let with_values = |program: Command, name: String| {
        program.mut_subcommand(name.clone(), |command| command.mut_args(|argument| proposed(&name, argument)))
    };
    let mut program = names.into_iter().fold(program, with_values);
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "sparring", &mut text);
    print(&text)
}

/// Environment variables, for the man pages.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("SPARRING_ISA", "Instruction set of the loops: scalar, avx2 or avx512. Default: the best of the processor."),
    (
        "SPARRING_CACHE",
        "Folder of compiled GPU programs and tilings. Default: $XDG_CACHE_HOME/sparring, else ~/.cache/sparring.",
    ),
    ("SPARRING_NVRTC_OPTIONS", "Additional options for the compiler of GPU programs, such as -lineinfo."),
    ("SPARRING_NVRTC", "Path of the compiler of GPU programs, libnvrtc.so, if it is not found automatically."),
];

pub(crate) fn man(program: &Command, arguments: &Man) -> Result {
    let (page, name) = match &arguments.command {
        None => (program, String::new()),
        Some(name) => match program.find_subcommand(name) {
            Some(found) => (found, name.clone()),
            None => {
                let names = program.get_subcommands().map(Command::get_name);
                let message = format!("there is no '{name}'; there are {}", Vec::from_iter(names).join(", "));
                return Err(sparring::Error::Argument { name: "command", message }.into());
            }
        },
    };
    let mut text = Vec::new();
    sections(page, &name, &mut text).map_err(Failure::Output)?;
    print(&text)
}

/// Text escaped for roff.
fn plain(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-").replace("\n.", "\n\\&.")
}

fn sections(page: &Command, name: &str, out: &mut Vec<u8>) -> io::Result<()> {
    // Examples and exit codes have their own sections here.
    let bare = page.clone().after_help("").after_long_help("");
    let man = clap_mangen::Man::new(bare);
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if page.has_subcommands() {
        man.render_subcommands_section(out)?;
    }
    if let Some(notes) = page.get_after_help().map(ToString::to_string) {
        let notes = notes.split("Examples:").next().unwrap_or_default().trim();
        if !notes.is_empty() && !name.is_empty() {
            writeln!(out, ".SH NOTES\n{}", plain(notes))?;
        }
    }
    let examples: Vec<_> = match name {
        "" => ["mxm", "knn", "info"].into_iter().flat_map(examples::of).collect(),
        name => examples::of(name).iter().collect(),
    };
    writeln!(out, ".SH EXAMPLES")?;
    for (line, what) in examples {
        writeln!(out, ".TP\n{}\n\\fB{}\\fR", plain(what), plain(line))?;
    }
    writeln!(out, ".SH \"EXIT STATUS\"")?;
    for (code, what) in STATUS {
        writeln!(out, ".TP\n.B {code}\n{}", plain(what))?;
    }
    writeln!(out, ".SH ENVIRONMENT")?;
    for (variable, what) in ENVIRONMENT {
        writeln!(out, ".TP\n.B {variable}\n{}", plain(what))?;
    }
    man.render_version_section(out)
}

fn print(text: &[u8]) -> Result {
    let mut out = io::stdout().lock();
    out.write_all(text).and_then(|()| out.flush()).map_err(Failure::Output)
}
