//! `switchback check`: everything that is wrong with a policy set.

use super::{Exit, Io, set};
use crate::diag::render::{self, json};
use crate::diag::{Diagnostic, Level};
use crate::ready::Prepared;
use std::path::{Path, PathBuf};

/// Arguments of `check`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  switchback check policies/quickstart.sbk\n  switchback check policies/ --format json --fail-on warning"
)]
pub struct Args {
    /// Policy files, or directories of them; each is a set of its own
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// The form of the findings; json is one line for each set
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// The mildest level that ends the command with 1
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "LEVEL")]
    fail_on: FailOn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// With the lines of the policy, for people
    Human,
    /// One line each, for editors and grep
    Concise,
    /// One JSON document (schemas/check.schema.json)
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// Errors alone
    Error,
    /// Warnings too
    Warning,
    /// Everything
    Advice,
}

impl FailOn {
    fn level(self) -> Level {
        match self {
            FailOn::Error => Level::Error,
            FailOn::Warning => Level::Warning,
            FailOn::Advice => Level::Advice,
        }
    }
}

/// Checks each set. One that cannot be read does not hide what is wrong with the others.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let mut exit = Exit::Clean;
    for path in &args.paths {
        exit = exit.max(match set::read(path, io) {
            Ok(prepared) => {
                print(path, &prepared, args.format, io);
                judge(&prepared.diagnostics, args.fail_on)
            }
            Err(failed) => failed,
        });
    }
    exit
}

fn judge(diagnostics: &[Diagnostic], fail_on: FailOn) -> Exit {
    // Levels are ordered from the worst down.
    let found = diagnostics.iter().any(|diagnostic| diagnostic.level() <= fail_on.level());
    if found { Exit::Findings } else { Exit::Clean }
}

fn print(path: &Path, prepared: &Prepared, format: Format, io: &mut Io) {
    let Prepared { sources, diagnostics, ready } = prepared;
    match format {
        Format::Human => {
            let text = render::human(diagnostics, sources, io.color_out);
            let count = render::count(diagnostics);
            let count = if count.is_empty() { "nothing to report".to_owned() } else { count };
            let policy = ready.as_ref().map(|ready| format!("; policy {}", ready.hash())).unwrap_or_default();
            io.print(&format!("{text}{}: {count}{policy}\n", path.display()));
        }
        Format::Concise => io.print(&render::concise(diagnostics, sources)),
        Format::Json => {
            let policy =
                ready.as_ref().map(|ready| json::Policy { hash: ready.hash().to_owned(), routes: ready.routes() });
            let report = json::report(diagnostics, sources, policy);
            match serde_json::to_string(&report) {
                Ok(text) => io.print(&format!("{text}\n")),
                Err(error) => io.say(&format!("error: the report cannot be written as JSON: {error}")),
            }
        }
    }
}
