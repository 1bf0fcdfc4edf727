//! `switchback init`: a first policy with its test, the hooks and a file for CI.
//!
//! In: a folder. Out: files that pass the very checks they set up. What is there already stays as it is, whatever is in it.

use super::{Exit, Io};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Arguments of `init`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  switchback init\n  switchback init gateway/")]
pub struct Args {
    /// The folder, which is made if it is not there
    #[arg(value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// What is written where.
const FILES: [(&str, &str); 4] = [
    ("policies/chat.sbk", include_str!("chat.sbk")),
    ("policies/chat.test.sbk", include_str!("chat.test.sbk")),
    (".pre-commit-config.yaml", include_str!("hooks.yaml")),
    (".github/workflows/switchback.yml", include_str!("ci.yaml")),
];

/// Writes what is not there yet.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let mut exit = Exit::Clean;
    for (name, text) in FILES {
        let path = args.folder.join(name);
        let told = path.display();
        match write_new(&path, text) {
            Ok(()) => io.print(&format!("wrote {told}\n")),
            Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_file() => {
                io.print(&format!("kept {told}, as it was\n"))
            }
            Err(error) => {
                io.say(&format!("error: cannot write {told}: {error}"));
                exit = Exit::Failed;
            }
        }
    }
    if exit == Exit::Clean {
        let policies = args.folder.join("policies");
        io.say(&format!("next: switchback test {}", policies.display()));
    }
    exit
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}
