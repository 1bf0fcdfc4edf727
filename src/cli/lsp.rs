//! `switchback lsp`: the language server for editors, over stdio.

use super::{Exit, Io};

/// Arguments of `lsp`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  switchback lsp\n  switchback lsp --set policies/production --set 'examples/*'")]
pub struct Args {
    /// A file or folder that is a policy set, or FOLDER/* where each file is one; without it, a file's set is its folder
    #[arg(long = "set", value_name = "PATH")]
    sets: Vec<String>,
    /// What editors say to a server that speaks over stdio, as this one always does
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Serves until the editor ends it.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            io.say(&format!("error: cannot start: {error}"));
            return Exit::Failed;
        }
    };
    let asked = runtime.block_on(crate::lsp::serve(args.sets.clone()));
    // The thread that reads stdin cannot be told to stop.
    runtime.shutdown_background();
    // The protocol wants 1 from a server that was ended without being asked to shut down.
    if asked { Exit::Clean } else { Exit::Findings }
}
