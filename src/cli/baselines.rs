//! `switchback baselines`: what targets have been like, the order that suggests, and where the policy's disagrees.
//!
//! In: a set, and the state folder of a gateway. Out: a table or JSON on stdout. Only looks: the gateway may go on serving.

use super::set::{self, Format, Loaded};
use super::{Exit, HERE, Io};
use crate::decide::baselines::Baselines;
use crate::record::baselines::Report;
use crate::runtime::clock::Clock;
use crate::runtime::{seen, store};
use std::path::{Path, PathBuf};

/// Arguments of `baselines`.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  switchback baselines policies/quickstart.sbk --state state\n  switchback baselines policies/quickstart.sbk --state state --format json"
)]
pub struct Args {
    /// A policy file, or a directory of them; the present folder if none is named
    #[arg(value_name = "PATH", default_value = HERE, hide_default_value = true)]
    path: PathBuf,
    /// The state folder of the gateway that served it
    #[arg(long, value_name = "DIR", env = "SWITCHBACK_STATE", hide_env_values = true)]
    state: PathBuf,
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
    let baselines = match kept(&args.state) {
        Ok(baselines) => baselines,
        Err(why) => {
            set::fail(why, args.format, io);
            return Exit::Failed;
        }
    };
    let report = Report::new(&baselines, &ready.graph, Clock::start().wall_ms());
    let exit = match args.format {
        Format::Human => {
            io.print(&report.text());
            Exit::Clean
        }
        Format::Json => set::print_json(&report, io),
    };
    if exit == Exit::Clean && report.disagrees() { Exit::Findings } else { exit }
}

/// What the folder holds. One that is not there is a slip; one that holds nothing yet is a gateway that is new.
fn kept(folder: &Path) -> Result<Baselines, String> {
    std::fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    Ok(store::peek(folder, seen::NAME)?.unwrap_or_default())
}
