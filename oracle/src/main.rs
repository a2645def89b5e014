//! Prints cases with their expected results, one line of JSON each, to test a library in any language.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use serde::Serialize;
use sparring_oracle::{Case, Random, Table, exhaustive, expected};

const USAGE: &str = "\
sparring-oracle cases [--seed N] [--count N]    random cases (seed 1, 1000 of them)
sparring-oracle small [--every N]               every N-th case of small shapes (1000)

A line is a case: `op` with its name and parameters, `objects` (kind, type, shape, entries as [i, j, value]), which of
them are `c`, the `operands` and the `mask`, `transpose`, `accum`, `replace`; and `expected`, C after the call.
Complex values are [re, im]; \"inf\", \"-inf\" and \"nan\" are floats that JSON has not. `form` and `scale` are hints.";

/// A line.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    case: &'a Case,
    expected: Table,
}

fn print(out: &mut impl Write, case: &Case) -> Result<(), String> {
    serde_json::to_writer(&mut *out, &Line { case, expected: expected(case) }).map_err(|e| e.to_string())?;
    writeln!(out).map_err(|e| e.to_string())
}

fn run(arguments: &[String]) -> Result<(), String> {
    let (command, options) = arguments.split_first().ok_or(USAGE)?;
    let (mut seed, mut count, mut every) = (1, 1000, 1000);
    for option in options.chunks(2) {
        let [name, value] = option else { return Err(format!("{} wants a number\n{USAGE}", option[0])) };
        let number: u64 = value.parse().map_err(|_| format!("{name}: {value} is no number\n{USAGE}"))?;
        match name.as_str() {
            "--seed" => seed = number,
            "--count" => count = number as usize,
            "--every" => every = (number as usize).max(1),
            _ => return Err(format!("no option {name}\n{USAGE}")),
        }
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    match command.as_str() {
        "cases" => {
            for case in Random::new(seed).take(count) {
                print(&mut out, &case)?;
            }
        }
        "small" => {
            let mut printed = Ok(());
            exhaustive(every, &mut |case| {
                if printed.is_ok() {
                    printed = print(&mut out, &case);
                }
            });
            printed?;
        }
        _ => return Err(format!("no command {command}\n{USAGE}")),
    }
    out.flush().map_err(|e| e.to_string())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe.
        Err(e) if e.contains("Broken pipe") => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::from(2)
        }
    }
}
