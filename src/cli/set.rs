//! Loading a policy set for a command: what cannot be read ends it with 2, errors in the policy with 1.

use super::{Exit, Io};
use crate::diag::render::{self, Run, Set};
use crate::diag::{Level, has_errors};
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

/// Reads and checks a set, and says its errors on stderr where it has any. A program that waits for JSON is told in JSON
/// too: what `check` would tell it.
pub(super) fn load_clean(path: &Path, format: Format, io: &mut Io) -> Loaded {
    let source::Loaded { sources, failures } = load_all(path);
    let failures: Vec<String> = failures.iter().map(ToString::to_string).collect();
    failures.iter().for_each(|failure| io.say(&format!("error: {failure}")));
    let Prepared { sources, diagnostics, ready } = prepare(sources);
    if has_errors(&diagnostics) {
        io.say(render::human(&diagnostics, &sources, io.color_err).trim_end());
    }
    if let Some(ready) = ready.filter(|_| failures.is_empty()) {
        return Loaded::Ready(ready);
    }
    let exit = if failures.is_empty() { Exit::Findings } else { Exit::Failed };
    if format == Format::Json {
        let name = path.display().to_string();
        let set = Set { path: name, sources: &sources, diagnostics: &diagnostics, policy: None };
        let sets = if sources.is_empty() { Vec::new() } else { vec![set] };
        print_run(&Run { sets, failures, fail_on: Level::Error }, io);
    }
    Loaded::Ended(exit)
}

/// Says why the command cannot do its job: on stderr, and to a program that waits for JSON in JSON too.
pub(super) fn fail(failure: String, format: Format, io: &mut Io) {
    io.say(&format!("error: {failure}"));
    if format == Format::Json {
        print_run(&Run { sets: Vec::new(), failures: vec![failure], fail_on: Level::Error }, io);
    }
}

fn print_run(run: &Run<'_>, io: &mut Io) {
    match render::json(run) {
        Ok(text) => io.print(&text),
        Err(error) => io.say(&format!("error: the findings cannot be written as JSON: {error}")),
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
