//! `switchback list`: what a policy set holds, and what each of its settings comes to.
//!
//! In: a path. Out: every block on stdout, as text or JSON. A set with errors is not listed: the errors go to stderr.

use super::set::{self, Format, Loaded};
use super::{Exit, HERE, Io};
use crate::check::list;
use crate::syntax;
use std::path::PathBuf;

/// Arguments of `list`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  switchback list policies/quickstart.sbk\n  switchback list policies/quickstart.sbk --resolved --format json"
)]
pub struct Args {
    /// A policy file, or a directory of them; the present folder if none is named
    #[arg(value_name = "PATH", default_value = HERE, hide_default_value = true)]
    path: PathBuf,
    /// Show every default and inherited setting too, each with its origin
    #[arg(long)]
    resolved: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// Runs the command.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let ready = match set::load_clean(&args.path, args.format, io) {
        Loaded::Ready(ready) => ready,
        Loaded::Ended(exit) => return exit,
    };
    let trees: Vec<_> = ready.sources.iter().map(|source| syntax::parse(source).0).collect();
    let (_, listing, _) = list(&trees);
    let listing = if args.resolved { listing } else { listing.written() };
    match args.format {
        Format::Human => {
            io.print(&listing.text(args.resolved));
            Exit::Clean
        }
        Format::Json => set::print_json(&listing, io),
    }
}
