//! `switchback list`: what a policy set holds, and what each of its settings comes to.
//!
//! In: a path. Out: every block on stdout, as text or JSON. A set with errors is not listed: the errors go to stderr.

use super::{Exit, Io};
use crate::check::list_sources;
use crate::diag::{Diagnostic, has_errors};
use crate::source::{Sources, load};
use std::path::PathBuf;

/// Arguments of `list`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A policy file, or a directory of them
    path: PathBuf,
    /// Show every default and inherited setting too, each with its origin
    #[arg(long)]
    resolved: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// How a listing is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Human,
    /// For machines
    Json,
}

/// Runs the command.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let sources = match load(&args.path) {
        Ok(sources) => sources,
        Err(error) => {
            io.say(&error.to_string());
            return Exit::Failed;
        }
    };
    let (_, listing, diagnostics) = list_sources(&sources);
    if has_errors(&diagnostics) {
        for diagnostic in diagnostics {
            io.say(&line(&sources, &diagnostic));
        }
        return Exit::Findings;
    }
    let listing = if args.resolved { listing } else { listing.written() };
    match args.format {
        Format::Human => io.print(&listing.text(args.resolved)),
        Format::Json => match serde_json::to_string_pretty(&listing) {
            Ok(text) => io.print(&format!("{text}\n")),
            Err(error) => {
                io.say(&format!("cannot write the listing as JSON: {error}"));
                return Exit::Failed;
            }
        },
    }
    Exit::Clean
}

/// One finding on one line: `check` is the command that explains them.
fn line(sources: &Sources, diagnostic: &Diagnostic) -> String {
    let (file, place) = sources.locate(diagnostic.span);
    let (level, id) = (diagnostic.level().word(), diagnostic.entry().id);
    format!("{file}:{}:{}: {level}[{id}]: {}", place.line, place.column, diagnostic.message)
}
