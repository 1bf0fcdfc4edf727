//! What git knows: the texts of its index and of a revision, and which files have changed.
//!
//! In: a place in a repository. Out: paths from its top, with `/`, and texts. Asks the `git` program and never writes.
//! Submodules are repositories of their own and links are not followed: neither is a text of this one. The environment
//! is handed on, since a hook's git may name another index there.

use crate::source::Sources;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why git could not tell.
#[derive(Debug, thiserror::Error)]
pub(super) enum GitError {
    /// The program does not start.
    #[error("git cannot be run: {0}")]
    Absent(#[from] std::io::Error),
    /// It ended with an error.
    #[error("git {what}: {said}")]
    Refused {
        /// Its first word.
        what: String,
        /// The first line of what it said.
        said: String,
    },
    /// A merge is not done.
    #[error("{path} has conflicts; resolve them and `git add` it")]
    Unmerged {
        /// The file, from the top.
        path: String,
    },
    /// A text that is not UTF-8.
    #[error("{path} is not UTF-8 text; save it as UTF-8")]
    NotText {
        /// The file, from the top.
        path: String,
    },
    /// A file of the work tree that cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// The file, from the top.
        path: String,
        /// What the system said.
        #[source]
        error: std::io::Error,
    },
    /// A path that is nowhere.
    #[error("there is no {path}, neither on disk nor in git")]
    Nowhere {
        /// The path as given.
        path: String,
    },
    /// A path outside the repository.
    #[error("{path} is not in the repository {top}")]
    Outside {
        /// The path as given.
        path: String,
        /// The repository's top.
        top: String,
    },
}

/// A policy file that git holds.
#[derive(Debug)]
pub(super) struct Held {
    /// From the top.
    pub(super) path: String,
    text: Text,
}

/// Where the text of a file is.
#[derive(Debug)]
enum Text {
    /// In the work tree.
    WorkTree,
    /// In git, under this name.
    Object(String),
    /// Nowhere: a merge left several.
    Unmerged,
}

/// A repository.
pub(super) struct Repository {
    top: PathBuf,
}

/// Whether a file lies in a set: below it, or the set itself. The top is the empty path.
pub(super) fn lies_in(file: &str, set: &str) -> bool {
    set.is_empty() || set == "." || file == set || file.strip_prefix(set).is_some_and(|rest| rest.starts_with('/'))
}

impl Repository {
    /// The repository of the first path, or of the current folder.
    ///
    /// # Errors
    /// When there is none, or git is not there.
    pub(super) fn of(paths: &[PathBuf]) -> Result<Repository, GitError> {
        let at = paths.first().map_or(Path::new("."), PathBuf::as_path);
        // A path that was deleted still has a folder above it.
        let folder = at.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("."));
        let top = ask(folder, &["rev-parse", "--show-toplevel"])?;
        Ok(Repository { top: PathBuf::from(text(&top).trim_end_matches(['\n', '\r'])) })
    }

    /// Policy files whose text in the index is not that of the last commit, deleted ones among them.
    pub(super) fn staged(&self) -> Result<Vec<String>, GitError> {
        // Without a commit, everything in the index is new.
        self.paths(&["diff", "--cached", "--name-only", "--no-renames", "--ignore-submodules", "-z"])
    }

    /// Policy files whose text in the work tree is not that of a revision, deleted and untracked ones among them.
    pub(super) fn changed_since(&self, revision: &str) -> Result<Vec<String>, GitError> {
        let commit = self.commit(revision)?;
        let diff = ["diff", "--name-only", "--no-renames", "--ignore-submodules", "-z", &commit, "--"];
        let mut changed = self.paths(&diff)?;
        changed.extend(self.untracked()?);
        Ok(changed)
    }

    fn untracked(&self) -> Result<Vec<String>, GitError> {
        self.paths(&["ls-files", "--others", "--exclude-standard", "-z"])
    }

    fn commit(&self, revision: &str) -> Result<String, GitError> {
        let name = format!("{revision}^{{commit}}");
        let found = ask(&self.top, &["rev-parse", "--verify", "--quiet", "--end-of-options", &name]);
        let found = found.map_err(|error| match error {
            GitError::Refused { what, .. } => {
                GitError::Refused { what, said: format!("there is no revision `{revision}`") }
            }
            GitError::Absent(_)
            | GitError::Unmerged { .. }
            | GitError::NotText { .. }
            | GitError::Unreadable { .. }
            | GitError::Outside { .. }
            | GitError::Nowhere { .. } => error,
        })?;
        Ok(text(&found).trim().to_owned())
    }

    /// The policy files of the index.
    pub(super) fn in_index(&self) -> Result<Vec<Held>, GitError> {
        let listed = ask(&self.top, &["ls-files", "--stage", "-z"])?;
        let mut held = Vec::new();
        for entry in text(&listed).split('\0') {
            // MODE OBJECT STAGE<TAB>PATH
            let Some((head, path)) = entry.split_once('\t') else { continue };
            let mut head = head.split(' ');
            let (mode, object, stage) = (head.next().unwrap_or(""), head.next().unwrap_or(""), head.next());
            if !mode.starts_with("100") || !counts(path) {
                continue;
            }
            let text = if stage == Some("0") { Text::Object(object.to_owned()) } else { Text::Unmerged };
            held.push(Held { path: path.to_owned(), text });
        }
        // One that is unmerged is listed once for each side.
        held.dedup_by(|a, b| a.path == b.path);
        Ok(held)
    }

    /// The policy files of the work tree that git tracks or could.
    pub(super) fn in_work_tree(&self) -> Result<Vec<Held>, GitError> {
        let mut paths: BTreeSet<String> = self.paths(&["ls-files", "-z"])?.into_iter().collect();
        paths.extend(self.untracked()?);
        let there = paths.into_iter().filter(|path| self.top.join(path).is_file());
        Ok(there.map(|path| Held { path, text: Text::WorkTree }).collect())
    }

    /// The texts of a set's files, and why some of them cannot be read.
    pub(super) fn read(&self, files: &[&Held]) -> Result<(Sources, Vec<GitError>), GitError> {
        let (mut texts, mut failures) = (Vec::new(), Vec::new());
        for file in files {
            let path = &file.path;
            let bytes = match &file.text {
                Text::Object(object) => ask(&self.top, &["cat-file", "blob", object])?,
                Text::Unmerged => {
                    failures.push(GitError::Unmerged { path: path.clone() });
                    continue;
                }
                Text::WorkTree => match std::fs::read(self.top.join(path)) {
                    Ok(bytes) => bytes,
                    Err(error) => {
                        failures.push(GitError::Unreadable { path: path.clone(), error });
                        continue;
                    }
                },
            };
            match String::from_utf8(bytes) {
                Ok(text) => texts.push((path.clone(), text)),
                Err(_) => failures.push(GitError::NotText { path: path.clone() }),
            }
        }
        texts.sort();
        let sources = Sources::from_texts(texts);
        Ok((if failures.is_empty() { sources } else { sources.partial() }, failures))
    }

    /// The texts that a set had at a revision.
    pub(super) fn at(&self, revision: &str, set: &str) -> Result<Sources, GitError> {
        let commit = self.commit(revision)?;
        let listed = ask(&self.top, &["ls-tree", "-r", "-z", &commit])?;
        let mut files = Vec::new();
        for entry in text(&listed).split('\0') {
            // MODE TYPE OBJECT<TAB>PATH
            let Some((head, path)) = entry.split_once('\t') else { continue };
            let object = head.rsplit(' ').next().unwrap_or("");
            if head.starts_with("100") && counts(path) && lies_in(path, set) {
                files.push(Held { path: path.to_owned(), text: Text::Object(object.to_owned()) });
            }
        }
        // What could not be read then is no reason not to look at what is there now.
        Ok(self.read(&files.iter().collect::<Vec<_>>())?.0)
    }

    /// The sets to look at: of the paths given, those in which something has changed; without any, the sets that the
    /// changed files belong to.
    pub(super) fn sets(&self, paths: &[PathBuf], changed: &[String], held: &[Held]) -> Result<Vec<String>, GitError> {
        if paths.is_empty() {
            let sets: BTreeSet<String> = changed.iter().map(|file| set_of(file, held)).collect();
            return Ok(sets.into_iter().collect());
        }
        let mut sets = Vec::new();
        for path in paths {
            let set = self.within(path)?;
            let has_changed = changed.iter().any(|file| lies_in(file, &set));
            if !has_changed && !path.exists() && !held.iter().any(|held| lies_in(&held.path, &set)) {
                return Err(GitError::Nowhere { path: path.display().to_string() });
            }
            if has_changed {
                sets.push(set);
            }
        }
        Ok(sets)
    }

    /// A path as git writes it.
    fn within(&self, path: &Path) -> Result<String, GitError> {
        let top = self.top.canonicalize()?;
        let outside = || GitError::Outside { path: path.display().to_string(), top: top.display().to_string() };
        // What was deleted is named by the folder above that is left.
        let folder = path.ancestors().find(|above| above.exists() && !above.as_os_str().is_empty());
        let (there, rest) = match folder {
            Some(folder) => (folder.canonicalize()?, path.strip_prefix(folder).unwrap_or(Path::new(""))),
            None => (std::env::current_dir()?.canonicalize()?, path),
        };
        let whole = there.join(rest);
        let inside = whole.strip_prefix(&top).map_err(|_| outside())?;
        let parts = inside.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
        Ok(parts.collect::<Vec<_>>().join("/"))
    }

    fn paths(&self, args: &[&str]) -> Result<Vec<String>, GitError> {
        let listed = ask(&self.top, args)?;
        Ok(text(&listed).split('\0').filter(|path| counts(path)).map(str::to_owned).collect())
    }
}

/// The set of a file: the outermost folder from which every folder down to the file holds a policy file itself.
fn set_of(file: &str, held: &[Held]) -> String {
    let folder = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let holds = |at: &str| held.iter().any(|held| folder(&held.path) == at);
    let mut set = folder(file);
    while !set.is_empty() {
        let above = folder(&set);
        if !holds(&above) {
            break;
        }
        set = above;
    }
    if set.is_empty() { ".".to_owned() } else { set }
}

fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn ask(folder: &Path, args: &[&str]) -> Result<Vec<u8>, GitError> {
    let output = Command::new("git").arg("-C").arg(folder).args(args).output()?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said =
        text(&output.stderr).lines().next().unwrap_or("it said nothing").trim_start_matches("fatal: ").to_owned();
    Err(GitError::Refused { what: args.first().copied().unwrap_or_default().to_owned(), said })
}

/// Whether a path from the repository's top is one of a policy that a set would hold.
fn counts(path: &str) -> bool {
    path.ends_with(".sbk") && !path.split('/').any(|part| part.starts_with('.'))
}
