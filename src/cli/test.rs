//! `switchback test`: runs the tests of a policy set in virtual time.

use super::set::{self, Format, Loaded};
use super::{Exit, HERE, Io};
use crate::story::{Report, Summary, run_all};
use std::fmt::Write;
use std::path::PathBuf;

/// Arguments of `test`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  switchback test policies/quickstart.sbk\n  switchback test policies/quickstart.sbk --filter outage --format json"
)]
pub struct Args {
    /// A policy file, or a directory of them; the present folder if none is named
    #[arg(value_name = "PATH", default_value = HERE, hide_default_value = true)]
    path: PathBuf,
    /// Only tests whose title holds this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// The form of the result
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// Runs the tests.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let ready = match set::load_clean(&args.path, args.format, io) {
        Loaded::Ready(ready) => ready,
        Loaded::Ended(exit) => return exit,
    };
    let mut tests = run_all(&ready.graph, &ready.sources);
    if let Some(text) = &args.filter {
        tests.retain(|t| t.name.contains(text.as_str()));
    }
    if tests.is_empty() {
        let which = args.filter.as_ref().map_or(String::new(), |f| format!(" whose title holds {f:?}"));
        let failure = format!("there is no test{which} in {}; a run without a test shows nothing", args.path.display());
        set::fail(failure, args.format, io);
        return Exit::Findings;
    }
    let report = Report::new(ready.hash(), tests);
    match args.format {
        Format::Human => io.print(&human(&report, io.color_out)),
        Format::Json => {
            if set::print_json(&report, io) == Exit::Failed {
                return Exit::Failed;
            }
        }
    }
    if report.summary.failed > 0 { Exit::Findings } else { Exit::Clean }
}

fn human(report: &Report, color: bool) -> String {
    let paint = |text: &str, code: &str| if color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() };
    let mut out = String::new();
    for test in &report.tests {
        let mark = if test.passed() { paint("pass", "32") } else { paint("FAIL", "31") };
        let _ = writeln!(out, "{mark}  {}  ({}:{})", test.name, test.file, test.line);
        for miss in &test.misses {
            let _ = writeln!(out, "      {}:{}: {}", miss.file, miss.line, miss.expected);
            let _ = writeln!(out, "        got {}", miss.got);
        }
    }
    let Summary { passed, failed } = report.summary;
    let _ = writeln!(out, "{passed} passed, {failed} failed");
    out
}
