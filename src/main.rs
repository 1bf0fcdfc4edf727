//! The `switchback` command. Everything is in the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    switchback::cli::main()
}
