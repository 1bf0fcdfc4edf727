//! `switchback man`: the manual page from the same definitions that parse the arguments.
//!
//! One page holds the program and, as sections, each of its commands with all options.

use super::{Cli, Exit, Io};
use clap::CommandFactory;

/// Arguments of `man`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  switchback man > switchback.1\n  switchback man check | man -l -")]
pub struct Args {
    /// The page of one command alone
    command: Option<String>,
}

/// Prints the page.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let mut program = Cli::command();
    program.build();
    let page = match &args.command {
        None => program,
        Some(word) => {
            let Some(found) = program.find_subcommand(word) else {
                io.say(&format!("error: there is no command `{word}`; `switchback help` lists them"));
                return Exit::Failed;
            };
            found.clone()
        }
    };
    let mut text = Vec::new();
    if let Err(error) = clap_mangen::Man::new(page).render(&mut text) {
        io.say(&format!("error: the page cannot be written: {error}"));
        return Exit::Failed;
    }
    io.print(&String::from_utf8_lossy(&text));
    Exit::Clean
}
