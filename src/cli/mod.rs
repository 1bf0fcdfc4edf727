//! The command line: one file per command.
//!
//! Results go to stdout, progress and logs to stderr. Exit codes of every command: 0 clean, 1 findings, 2 could not do
//! the job. Nothing here decides or parses policies; it reads arguments, calls the library and prints.

mod baselines;
mod check;
mod classify;
mod completions;
mod emulate;
mod explain;
mod files;
mod fmt;
mod git;
mod graph;
mod init;
mod io;
mod list;
mod listen;
mod lsp;
mod man;
mod quantity;
mod serve;
mod set;
mod test;

pub use io::{Color, Exit, HERE, Io};

use crate::diag::closest;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// A declarative failover policy engine for LLM APIs.
#[derive(Parser, Debug)]
#[command(name = "switchback", version, about, long_about = None, propagate_version = true)]
pub struct Cli {
    /// When to colour what people read
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Check a policy set and say everything that is wrong with it
    Check(check::Args),
    /// Format policy files
    Fmt(fmt::Args),
    /// Run the tests of a policy set, in virtual time and without a network
    Test(test::Args),
    /// Draw the decision graph
    Graph(graph::Args),
    /// Explain a diagnostic code or a word of the language
    Explain(explain::Args),
    /// List what a policy set holds, with every default resolved
    List(list::Args),
    /// Show what targets have been like, and the order that suggests
    Baselines(baselines::Args),
    /// Say what errors of upstreams are, and by which rule
    Classify(classify::Args),
    /// Serve a policy set as a gateway
    Serve(serve::Args),
    /// Serve the built-in provider emulator over HTTP
    Emulate(emulate::Args),
    /// Write a first policy, its test, the hooks and a CI file
    Init(init::Args),
    /// Serve editors: the language server, over stdio
    Lsp(lsp::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the manual page
    Man(man::Args),
}

/// Takes a tip away that names a word which is hardly what was mistyped.
fn plausible(error: &mut clap::Error) {
    use clap::error::{ContextKind, ContextValue};
    let text = |value: Option<&ContextValue>| match value {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(_) | None => Vec::new(),
    };
    let pairs = [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
    ];
    for (written, tip) in pairs {
        let words = text(error.get(written));
        let tips = text(error.get(tip));
        let near = |word: &String| closest(word, tips.iter().map(String::as_str)).is_some();
        if !tips.is_empty() && !words.iter().any(near) {
            error.remove(tip);
        }
    }
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mut error) => {
            plausible(&mut error);
            // Help and version are answers, not mistakes.
            let code = if error.use_stderr() { Exit::Failed } else { Exit::Clean };
            let _ = error.print();
            if code == Exit::Failed {
                // Whoever reads the findings by machine gets a document whatever happens.
                let words: Vec<String> = std::env::args_os().map(|w| w.to_string_lossy().into_owned()).collect();
                let why = error.to_string();
                let why = why.trim_start_matches("error: ").lines().take_while(|line| !line.is_empty());
                let why = why.map(str::trim).collect::<Vec<_>>().join(" ");
                if let Some(document) = check::wanted(&words, &why) {
                    Io::standard(Color::Never).print(&document);
                }
            }
            return code.into();
        }
    };
    let mut io = Io::standard(cli.color);
    let exit = match cli.command {
        Command::Check(args) => check::run(&args, &mut io),
        Command::Fmt(args) => fmt::run(&args, &mut io),
        Command::Test(args) => test::run(&args, &mut io),
        Command::Graph(args) => graph::run(&args, &mut io),
        Command::Explain(args) => explain::run(&args, &mut io),
        Command::List(args) => list::run(&args, &mut io),
        Command::Baselines(args) => baselines::run(&args, &mut io),
        Command::Classify(args) => classify::run(&args, &mut io),
        Command::Serve(args) => serve::run(&args, &mut io),
        Command::Emulate(args) => emulate::run(&args, &mut io),
        Command::Init(args) => init::run(&args, &mut io),
        Command::Lsp(args) => lsp::run(&args, &mut io),
        Command::Completions(args) => completions::run(&args, &mut io),
        Command::Man(args) => man::run(&args, &mut io),
    };
    if io.broken { Exit::Failed } else { exit }.into()
}
