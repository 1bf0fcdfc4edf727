//! `switchback check`: everything that is wrong with a policy set.
//!
//! In: paths, or what git says has changed. Out: findings in one of eight forms, and with `--fix` or `--diff` changed
//! texts. Each form is a whole document whatever fails. Never judges: what is found comes from `prepare`.

mod choose;
mod fix;
mod form;

pub(super) use form::wanted;

use super::git::Repository;
use super::{Exit, HERE, Io, git};
use crate::check::Touched;
use crate::diag::render::{Run, Set, json};
use crate::diag::{Diagnostic, Level};
use crate::ready::{Prepared, prepare};
use crate::source::{Loaded, Sources, load_all};
use choose::Choice;
use form::Format;
use std::path::PathBuf;

/// Arguments of `check`.
#[derive(clap::Args, Debug)]
#[command(
    group = clap::ArgGroup::new("changes").multiple(true),
    after_help = "Examples:\n  switchback check policies/quickstart.sbk\n  switchback check policies/local-first.sbk --format json --fail-on warning"
)]
pub struct Args {
    /// Policy files, or directories of them; each is a set of its own. With --staged or --since, those of them that
    /// changed. Without a path the present folder, or the sets that the changed files belong to
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The form of the findings
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// The mildest level that ends the command with 1
    #[arg(long, value_enum, default_value_t = FailOn::Error, value_name = "LEVEL")]
    fail_on: FailOn,
    /// Of warnings and advice, show these alone: codes (SB0612), names, or beginnings of codes (SB06)
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    select: Vec<String>,
    /// Of warnings and advice, leave these out
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Make the changes that are known to keep the policy what it is
    #[arg(long, group = "changes", conflicts_with_all = ["staged", "since"])]
    fix: bool,
    /// With --fix or --diff, the other proposed changes too; read what they did
    #[arg(long, requires = "changes", conflicts_with_all = ["staged", "since"])]
    unsafe_fixes: bool,
    /// Write nothing; show what --fix would change, and end with 1 if anything would
    #[arg(long, group = "changes", conflicts_with_all = ["staged", "since"])]
    diff: bool,
    /// Check what is about to be committed: the texts of git's index, not those of the work tree
    #[arg(long, conflicts_with = "since")]
    staged: bool,
    /// Check what has changed since a revision, and what depends on it; errors are shown wherever they are
    #[arg(long, value_name = "REV")]
    since: Option<String>,
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

/// What there is to look at, and why some of it cannot be.
#[derive(Default)]
struct Job {
    sets: Vec<(String, Sources)>,
    failures: Vec<String>,
    /// For `--since`: the texts of the revision, set for set.
    before: Vec<Sources>,
}

/// Checks each set. One that cannot be read does not hide what is wrong with the others.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let mut job = match job(args) {
        Ok(job) => job,
        Err(failure) => Job { failures: vec![failure], ..Job::default() },
    };
    let choice = Choice::new(&args.select, &args.ignore).unwrap_or_else(|failure| {
        job.failures.push(failure);
        job.sets.clear();
        Choice::default()
    });
    if args.fix || args.diff {
        let changed = fix::fix(&mut job.sets, args.unsafe_fixes, args.diff, io);
        match changed {
            Ok(changed) if args.diff => return if changed { Exit::Findings } else { ends(&job.failures, io) },
            Ok(_) => {}
            Err(failure) => job.failures.push(failure),
        }
    }
    let mut checked: Vec<(String, Prepared, Vec<Diagnostic>)> = Vec::new();
    let mut before = job.before.into_iter();
    for (path, sources) in job.sets {
        let prepared = prepare(sources);
        let touched = before.next().map(|before| Touched::new(&before, &prepared.sources));
        let shown = prepared.diagnostics.iter().filter(|d| choice.shows(d));
        let shown = shown.filter(|d| touched.as_ref().is_none_or(|touched| touched.concerns(d)));
        let mut shown: Vec<Diagnostic> = shown.cloned().collect();
        if let Some(touched) = &touched {
            shown.extend(touched.advice().iter().filter(|d| choice.shows(d)).cloned());
        }
        checked.push((path, prepared, shown));
    }
    let sets = checked.iter().map(|(path, prepared, shown)| Set {
        path: path.clone(),
        sources: &prepared.sources,
        diagnostics: shown,
        policy: prepared.ready.as_ref().map(|r| json::Policy { hash: r.hash().to_owned(), routes: r.routes() }),
    });
    let run = Run { sets: sets.collect(), failures: job.failures, fail_on: args.fail_on.level() };
    let exit = judge(&run);
    form::print(&run, args.format, io).max(exit)
}

fn ends(failures: &[String], io: &mut Io) -> Exit {
    failures.iter().for_each(|failure| io.say(&format!("error: {failure}")));
    if failures.is_empty() { Exit::Clean } else { Exit::Failed }
}

fn judge(run: &Run<'_>) -> Exit {
    if !run.failures.is_empty() {
        return Exit::Failed;
    }
    // Levels are ordered from the worst down.
    let fails = |d: &Diagnostic| d.level() <= run.fail_on;
    if run.sets.iter().any(|set| set.diagnostics.iter().any(fails)) { Exit::Findings } else { Exit::Clean }
}

/// What is to be looked at.
fn job(args: &Args) -> Result<Job, String> {
    if args.staged || args.since.is_some() {
        let repository = Repository::of(&args.paths).map_err(|error| error.to_string())?;
        return from_git(args, &repository).map_err(|error| error.to_string());
    }
    let mut job = Job::default();
    let here = [PathBuf::from(HERE)];
    for path in if args.paths.is_empty() { &here } else { args.paths.as_slice() } {
        let Loaded { sources, failures } = load_all(path);
        job.failures.extend(failures.iter().map(ToString::to_string));
        if !sources.is_empty() {
            job.sets.push((path.display().to_string(), sources));
        }
    }
    Ok(job)
}

fn from_git(args: &Args, repository: &Repository) -> Result<Job, git::GitError> {
    let mut job = Job::default();
    let (changed, held) = match &args.since {
        Some(revision) => (repository.changed_since(revision)?, repository.in_work_tree()?),
        None => (repository.staged()?, repository.in_index()?),
    };
    for set in repository.sets(&args.paths, &changed, &held)? {
        let inside: Vec<&git::Held> = held.iter().filter(|held| git::lies_in(&held.path, &set)).collect();
        // A set whose last file was deleted is none.
        if inside.is_empty() {
            continue;
        }
        let (sources, failures) = repository.read(&inside)?;
        job.failures.extend(failures.iter().map(ToString::to_string));
        if sources.is_empty() {
            continue;
        }
        job.sets.push((set.clone(), sources));
        if let Some(revision) = &args.since {
            job.before.push(repository.at(revision, &set)?);
        }
    }
    Ok(job)
}
