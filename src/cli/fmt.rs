//! `switchback fmt`: lays policy files out anew.

use super::{Exit, HERE, Io};
use crate::check::secrets::literals;
use crate::diag::render;
use crate::source::{Loaded, Source, Sources, load_all};
use crate::syntax;
use similar::TextDiff;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `fmt`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  switchback fmt policies/\n  switchback fmt --diff policies/quickstart.sbk")]
pub struct Args {
    /// Policy files, or directories of them; the present folder if none is named
    #[arg(value_name = "PATH", default_value = HERE, hide_default_value = true)]
    paths: Vec<PathBuf>,
    /// Write nothing; list the files that are not formatted and end with 1 if there are any
    #[arg(long, conflicts_with = "diff")]
    check: bool,
    /// Write nothing; print what would change and end with 1 if anything would
    #[arg(long)]
    diff: bool,
}

/// Formats each file. One that cannot be read or parsed is left alone and does not keep the others from it.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let mut exit = Exit::Clean;
    for path in &args.paths {
        let Loaded { sources, failures } = load_all(path);
        for failure in failures {
            io.say(&format!("error: {failure}"));
            exit = Exit::Failed;
        }
        for source in sources.iter() {
            exit = exit.max(file(args, source, &sources, io));
        }
    }
    exit
}

fn file(args: &Args, source: &Source, sources: &Sources, io: &mut Io) -> Exit {
    let (tree, diagnostics) = syntax::parse(source);
    if !diagnostics.is_empty() {
        let text = render::human(&diagnostics, sources, io.color_err);
        io.say(&format!("{text}{}: {}; left as it is", source.name, render::count(&diagnostics)));
        return Exit::Findings;
    }
    let formatted = syntax::format(&tree);
    if formatted == *source.text {
        return Exit::Clean;
    }
    let again = syntax::parse(&Source::new(source.id, source.name.clone(), formatted.as_str()));
    if !again.1.is_empty() || !syntax::says_the_same(&tree, &again.0) {
        io.say(&format!("error: {}: formatting would change what it says; left as it is", source.name));
        return Exit::Failed;
    }
    if args.check {
        io.print(&format!("{}\n", source.name));
        return Exit::Findings;
    }
    if args.diff {
        io.print(&diff(&source.name, &source.text, &formatted));
        return Exit::Findings;
    }
    match replace(Path::new(&source.name), &formatted) {
        Ok(()) => {
            io.say(&format!("formatted {}", source.name));
            Exit::Clean
        }
        Err(error) => {
            io.say(&format!("error: cannot write {}: {error}", source.name));
            Exit::Failed
        }
    }
}

/// What would change in a file, as a unified diff.
pub(super) fn diff(name: &str, before: &str, after: &str) -> String {
    // A diff goes to logs that more people read than the policy.
    let shown = |text: &str| {
        let sources = Sources::from_texts([(name, text)]);
        let keys: Vec<_> = sources.iter().flat_map(literals).collect();
        let masked = render::masked(&keys, &sources);
        masked.iter().flat_map(Sources::iter).map(|source| source.text.to_string()).next().unwrap_or(text.to_owned())
    };
    let (before, after) = (shown(before), shown(after));
    TextDiff::from_lines(&before, &after).unified_diff().context_radius(3).header(name, name).to_string()
}

/// Puts a text in the place of a file in one step: a gateway that watches it, or a crash, never meets half a policy.
pub(super) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // Through a link, the file that it points to is replaced, and not the link.
    let path = path.canonicalize()?;
    let folder = path.parent().ok_or(std::io::ErrorKind::InvalidInput)?;
    let name = path.file_name().ok_or(std::io::ErrorKind::InvalidInput)?.to_string_lossy();
    let beside = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(std::fs::metadata(&path)?.permissions())?;
        file.sync_all()?;
        std::fs::rename(&beside, &path)
    })();
    if written.is_err() {
        // Another one's file of that name cannot be meant: the name holds this process's number.
        let _ = std::fs::remove_file(&beside);
    }
    written
}
