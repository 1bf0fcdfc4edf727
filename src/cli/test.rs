//! `switchback test`.

use super::{Exit, Io};

/// Arguments of `test`.
#[derive(clap::Args, Debug)]
pub struct Args {}

/// Runs the command.
pub fn run(_args: &Args, io: &mut Io) -> Exit {
    io.say("not built yet");
    Exit::Failed
}
