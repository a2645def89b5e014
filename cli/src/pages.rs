//! What shells and `man` want to know: completions and pages, made of the same descriptions as the help.

use std::io::{self, Write};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::failure::{Failure, Result};

#[derive(Args)]
pub(crate) struct Completions {
    /// Whose completions to print
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct Man {
    /// Print the page of this command [default: that of the program]
    command: Option<String>,
}

pub(crate) fn completions(mut program: Command, arguments: &Completions) -> Result {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "sparring", &mut text);
    print(&text)
}

pub(crate) fn man(mut program: Command, arguments: &Man) -> Result {
    program.build();
    let page = match &arguments.command {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(found) => found.clone(),
            None => {
                let names = program.get_subcommands().map(Command::get_name);
                let message = format!("there is no '{name}'; there are {}", Vec::from_iter(names).join(", "));
                return Err(sparring::Error::Argument { name: "command", message }.into());
            }
        },
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).map_err(Failure::Output)?;
    print(&text)
}

fn print(text: &[u8]) -> Result {
    let mut out = io::stdout().lock();
    out.write_all(text).and_then(|()| out.flush()).map_err(Failure::Output)
}
