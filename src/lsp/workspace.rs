//! Which files make one set, and what an editor was told of each.
//!
//! In: paths and texts as an editor opens, changes and closes them, and the disk below. Out: sets, and for each file
//! whose diagnostics are not what was last told, the new ones. The disk is read when a set is first opened and when
//! the editor says that files changed; never on a change of an open text.

use super::position::{self, Change, Encoding};
use super::set::Set;
use crate::diag::Diagnostic;
use crate::source::{FileId, LoadError, Loaded, load_all};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where sets begin.
#[derive(Clone, Debug, Default)]
pub struct Roots {
    /// Folders that the editor has open: no set reaches above them.
    pub folders: Vec<PathBuf>,
    /// Sets that were named: files, folders, or folders whose files are sets of their own each.
    pub sets: Vec<Named>,
}

/// A set, or several, that were named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// This file, or all files below this folder.
    One(PathBuf),
    /// Each file in this folder: written `FOLDER/*`.
    EachIn(PathBuf),
}

impl Named {
    /// Reads `PATH` or `FOLDER/*`; a relative path counts from `base`.
    pub fn new(text: &str, base: &Path) -> Named {
        match text.strip_suffix("/*") {
            Some(folder) => Named::EachIn(base.join(folder)),
            None => Named::One(base.join(text.trim_end_matches('/'))),
        }
    }
}

impl Roots {
    /// The root of the set that a file belongs to: a set that was named, or the highest folder above it that holds
    /// policy files, as do all folders between.
    pub fn of(&self, path: &Path) -> PathBuf {
        for named in &self.sets {
            match named {
                Named::One(root) if path.starts_with(root) => return root.clone(),
                Named::EachIn(folder) if path.parent() == Some(folder) => return path.to_path_buf(),
                Named::One(_) | Named::EachIn(_) => {}
            }
        }
        let Some(mut root) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
            return path.to_path_buf();
        };
        let inside = |folder: &Path| self.folders.iter().any(|open| folder.starts_with(open));
        while let Some(above) = root.parent().filter(|above| inside(above) && holds_policies(above)) {
            root = above;
        }
        root.to_path_buf()
    }
}

fn holds_policies(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| entry.path().extension().is_some_and(|e| e == "sbk") && entry.path().is_file())
}

/// What an editor is to be told of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The file.
    pub path: PathBuf,
    /// The root of its set.
    pub root: PathBuf,
    /// Its identity in the set; nothing for a file that is gone, of which there is nothing left to say.
    pub file: Option<FileId>,
    /// The state of the text that this is about, where the editor has it open.
    pub version: Option<i32>,
    /// All that is wrong in it.
    pub diagnostics: Vec<Diagnostic>,
}

/// All sets that an editor has files of.
#[derive(Debug, Default)]
pub struct Workspace {
    /// Where sets begin.
    pub roots: Roots,
    /// What positions count.
    pub encoding: Encoding,
    sets: BTreeMap<PathBuf, Set>,
    /// The set of each open file.
    open: BTreeMap<PathBuf, PathBuf>,
    told: BTreeMap<PathBuf, (Option<i32>, Vec<Diagnostic>)>,
}

impl Workspace {
    /// Opens a text. What of its set cannot be read from disk is returned; the open texts are looked at all the same.
    pub fn open(&mut self, path: &Path, version: i32, text: String) -> Option<LoadError> {
        let root = self.roots.of(path);
        self.open.insert(path.to_path_buf(), root.clone());
        let mut failed = None;
        let set = self.sets.entry(root.clone()).or_insert_with(|| {
            let mut set = Set::new(folder_of(&root));
            failed = read(&mut set, &root).err();
            set
        });
        set.open(path, version, text);
        failed
    }

    /// Changes an open text. One that is not open is left alone.
    pub fn change(&mut self, path: &Path, version: i32, changes: &[Change]) {
        let encoding = self.encoding;
        let Some(set) = self.open.get(path).and_then(|root| self.sets.get_mut(root)) else { return };
        let Some(before) = set.opened(path) else { return };
        let lines = set.id(path).and_then(|id| set.file(id)).map(|(file, _)| &file.lines);
        let text = position::apply(&before.text, lines, changes, encoding);
        set.open(path, version, text);
    }

    /// Closes a text: what is on disk counts again. A set without any open text is forgotten.
    pub fn close(&mut self, path: &Path) {
        let Some(root) = self.open.remove(path) else { return };
        let Some(set) = self.sets.get_mut(&root) else { return };
        set.close(path);
        if !set.is_open() {
            self.sets.remove(&root);
        }
    }

    /// Reads every set from disk again. What cannot be read is returned, one of each set.
    pub fn reread(&mut self) -> Vec<LoadError> {
        self.sets.iter_mut().filter_map(|(root, set)| read(set, root).err()).collect()
    }

    /// The set of an open file, and the file in it.
    pub fn find(&mut self, path: &Path) -> Option<(&mut Set, FileId)> {
        let root = self.open.get(path)?;
        let set = self.sets.get_mut(root)?;
        let id = set.id(path)?;
        Some((set, id))
    }

    /// The set of a root.
    pub fn set(&self, root: &Path) -> Option<&Set> {
        self.sets.get(root)
    }

    /// All sets.
    pub fn sets(&self) -> impl Iterator<Item = &Set> {
        self.sets.values()
    }

    /// What changed since the last report, files that are gone last.
    pub fn report(&mut self) -> Vec<Report> {
        let mut reports = Vec::new();
        let mut told = BTreeMap::new();
        for (root, set) in &mut self.sets {
            set.diagnostics();
            let found = set.found();
            for (file, id) in set.files().iter().zip(0u32..).map(|(file, id)| (file, FileId(id))) {
                let start = found.partition_point(|d| d.span.file < id);
                let own = found.get(start..).unwrap_or_default();
                let own = own.get(..own.partition_point(|d| d.span.file == id)).unwrap_or_default();
                let version = set.opened(&file.path).map(|open| open.version);
                let now = match self.told.remove(&file.path) {
                    Some(before) if before.0 == version && before.1 == own => before,
                    before => {
                        // Of a file that was never wrong and is not open there is nothing to tell.
                        let quiet = before.is_none() && version.is_none() && own.is_empty();
                        let (path, root, file) = (file.path.clone(), root.clone(), Some(id));
                        let report = Report { path, root, file, version, diagnostics: own.to_vec() };
                        reports.extend((!quiet).then_some(report));
                        (version, own.to_vec())
                    }
                };
                told.insert(file.path.clone(), now);
            }
        }
        let gone = std::mem::replace(&mut self.told, told);
        for (path, (_, diagnostics)) in gone {
            if !diagnostics.is_empty() {
                reports.push(Report { path, root: PathBuf::new(), file: None, version: None, diagnostics: Vec::new() });
            }
        }
        reports
    }
}

/// The folder that names of files are shown relative to.
fn folder_of(root: &Path) -> PathBuf {
    if root.is_dir() { root.to_path_buf() } else { root.parent().unwrap_or(root).to_path_buf() }
}

fn read(set: &mut Set, root: &Path) -> Result<(), LoadError> {
    if !root.exists() {
        set.read([], false);
        return Ok(());
    }
    let Loaded { sources, failures } = load_all(root);
    // A folder whose only policy is not saved yet is no failure.
    let failure = failures.into_iter().find(|failure| !matches!(failure, LoadError::Empty { .. }));
    let texts = sources.iter().map(|source| (PathBuf::from(&source.name), source.text.to_string()));
    set.read(texts, failure.is_some());
    failure.map_or(Ok(()), Err)
}
