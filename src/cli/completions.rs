//! `switchback completions`: a completion script from the same definitions that parse the arguments.

use super::{Cli, Exit, Io};
use clap::CommandFactory;

/// Arguments of `completions`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  switchback completions bash > /etc/bash_completion.d/switchback\n  switchback completions zsh > ~/.zfunc/_switchback"
)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Prints the script.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "switchback", &mut script);
    io.print(&String::from_utf8_lossy(&script));
    Exit::Clean
}
