//! Loading a policy set for a command: what cannot be read ends it with 2, errors in the policy with 1.

use super::{Exit, Io};
use crate::diag::{has_errors, render};
use crate::ready::{Prepared, Ready, prepare};
use crate::source::{self, load_all};
use std::path::Path;

/// A set, or how the command ends without one.
pub(super) enum Loaded {
    /// The set can be used.
    Ready(Ready),
    /// It cannot; everything was said.
    Ended(Exit),
}

/// Reads and checks a set; nothing is said of one that can be read.
pub(super) fn read(path: &Path, io: &mut Io) -> Result<Prepared, Exit> {
    let source::Loaded { sources, failures } = load_all(path);
    failures.iter().for_each(|failure| io.say(&format!("error: {failure}")));
    if failures.is_empty() { Ok(prepare(sources)) } else { Err(Exit::Failed) }
}

/// Reads and checks a set, and says its errors on stderr where it has any.
pub(super) fn load_clean(path: &Path, io: &mut Io) -> Loaded {
    let prepared = match read(path, io) {
        Ok(prepared) => prepared,
        Err(exit) => return Loaded::Ended(exit),
    };
    if has_errors(&prepared.diagnostics) {
        let text = render::human(&prepared.diagnostics, &prepared.sources, io.color_err);
        io.say(text.trim_end());
    }
    match prepared.ready {
        Some(ready) => Loaded::Ready(ready),
        None => Loaded::Ended(Exit::Findings),
    }
}

/// How a command that says one thing about a set prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// For people
    Human,
    /// For programs
    Json,
}

/// Prints a value as JSON, with a line feed at its end.
pub(super) fn print_json(value: &impl serde::Serialize, io: &mut Io) -> Exit {
    match serde_json::to_string_pretty(value) {
        Ok(text) => {
            io.print(&format!("{text}\n"));
            Exit::Clean
        }
        Err(error) => {
            io.say(&format!("error: the result cannot be written as JSON: {error}"));
            Exit::Failed
        }
    }
}
