//! `switchback list`: what a policy set holds, and what each of its settings comes to.
//!
//! In: a path. Out: every block on stdout, as text or JSON. A set with errors is not listed: the errors go to stderr.

use super::{Exit, Io};
use crate::check::list;
use crate::diag::{has_errors, in_order};
use crate::source::load;
use crate::syntax;
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
    let mut diagnostics = Vec::new();
    let mut trees = Vec::new();
    for source in sources.iter() {
        let (tree, found) = syntax::parse(source);
        trees.push(tree);
        diagnostics.extend(found);
    }
    let (_, listing, found) = list(&trees);
    diagnostics.extend(found);
    if has_errors(&diagnostics) {
        let text = crate::diag::render::human(&sources, &in_order(diagnostics), io.color_err);
        io.say(text.trim_end());
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
