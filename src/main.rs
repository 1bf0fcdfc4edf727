//! The `switchback` command. Everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    switchback::cli::main()
}
