//! `switchback emulate`: the built-in provider emulator over HTTP.

use super::set::{self, Format, Loaded};
use super::{Exit, Io, listen};
use crate::emulate::{Emulator, server, shorthand};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpListener;

const PATHS: &str = "\
Answers POST /v1/chat/completions (or /chat/completions), plain and streamed, and GET /v1/models.
GET /emulator/calls says what was received: {\"version\":1,\"total\":N,\"calls\":{\"NAME\":N},\"last\":[...]};
DELETE /emulator/calls forgets that and starts every script anew. A script's time starts with the first call.

With PATH the emulated targets of that policy answer, each by its own script. A request's model is a
target's name, or its upstream name.";

const EXAMPLES: &str = "\
Examples:
  switchback emulate --listen 127.0.0.1:4010
  switchback emulate policies/quickstart.sbk --listen 127.0.0.1:0
  curl http://127.0.0.1:4010/v1/chat/completions -d '{\"model\":\"503*2 then ok\",\"messages\":[]}'";

/// Arguments of `emulate`.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES, after_long_help = format!("{PATHS}\n\n{}\n\n{EXAMPLES}", shorthand::GRAMMAR))]
pub struct Args {
    /// Policy file or directory whose emulated targets answer
    path: Option<PathBuf>,
    /// Address to listen on; loopback only, port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4010")]
    listen: String,
}

/// Runs the command.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let address = match listen::loopback(&args.listen) {
        Ok(address) => address,
        Err(message) => return fail(io, &message),
    };
    let emulator = match &args.path {
        None => Emulator::by_name(),
        Some(path) => match from_policy(path, io) {
            Ok(emulator) => emulator,
            Err(exit) => return exit,
        },
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(io, &format!("cannot start: {error}")),
    };
    runtime.block_on(async {
        // Waited for before anybody is told that the server is there, so that a signal sent right away is not lost.
        let stop = match listen::stop_signal() {
            Ok(stop) => stop,
            Err(error) => return fail(io, &format!("cannot wait for signals: {error}")),
        };
        let bound = TcpListener::bind(address).await.and_then(|l| l.local_addr().map(|at| (l, at)));
        let (listener, at) = match bound {
            Ok(bound) => bound,
            Err(error) => return fail(io, &format!("cannot listen on {address}: {error}")),
        };
        io.say(&format!("listening on http://{at}"));
        tokio::select! {
            () = server::serve(listener, Arc::new(emulator)) => {}
            () = stop => {}
        }
        Exit::Clean
    })
}

/// An emulator of a policy's emulated targets.
fn from_policy(path: &Path, io: &mut Io) -> Result<Emulator, Exit> {
    let ready = match set::load_clean(path, Format::Human, io) {
        Loaded::Ready(ready) => ready,
        Loaded::Ended(exit) => return Err(exit),
    };
    let emulator = Emulator::of_policy(ready.graph.policy());
    if emulator.names().is_empty() {
        return Err(fail(io, &format!("{} has no target of a provider with `api emulated`", path.display())));
    }
    Ok(emulator)
}

fn fail(io: &mut Io, message: &str) -> Exit {
    io.say(&format!("error: {message}"));
    Exit::Failed
}
