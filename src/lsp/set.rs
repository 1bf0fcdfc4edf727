//! One policy set as an editor has it: texts on disk, open texts over them, and what is known of both.
//!
//! In: texts by path. Out: trees, roles, diagnostics and the resolved listing of the whole set. A change parses its own
//! file anew and no other; checking and listing wait until they are asked for, and are kept until the next change.
//! Never reads the disk.

use super::position::Lines;
use super::roles::{Word, words};
use crate::check::{self, Listing};
use crate::diag::Diagnostic;
use crate::source::{FileId, Source, Span};
use crate::syntax::settings::Block;
use crate::syntax::{self, Tree};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A text as an editor has it open.
#[derive(Clone, Debug)]
pub struct Open {
    /// The editor's number for this state of the text.
    pub version: i32,
    /// The text.
    pub text: Arc<str>,
}

#[derive(Clone, Debug, Default)]
struct Texts {
    disk: Option<Arc<str>>,
    open: Option<Open>,
}

impl Texts {
    fn current(&self) -> Option<&Arc<str>> {
        self.open.as_ref().map(|open| &open.text).or(self.disk.as_ref())
    }
}

/// A file of the set, parsed.
#[derive(Debug)]
pub struct File {
    /// Its path.
    pub path: PathBuf,
    /// Its lines.
    pub lines: Lines,
    /// Its words with their roles, in order, once somebody asked for them.
    words: OnceLock<Vec<Word>>,
    shape: Vec<Diagnostic>,
}

/// A policy set.
#[derive(Debug, Default)]
pub struct Set {
    root: PathBuf,
    /// Whether a file on disk could not be read.
    partial: bool,
    texts: BTreeMap<PathBuf, Texts>,
    files: Vec<File>,
    /// In the order of `files`, each with its position as its identity.
    trees: Vec<Tree>,
    found: Option<Vec<Diagnostic>>,
    listing: Option<Listing>,
}

/// A place where a block is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared<'s> {
    /// Its kind.
    pub block: Block,
    /// Its name.
    pub name: &'s str,
    /// Where the name stands.
    pub span: Span,
}

impl Set {
    /// An empty set; names of files are shown relative to `root`.
    pub fn new(root: impl Into<PathBuf>) -> Set {
        Set { root: root.into(), ..Set::default() }
    }

    /// Takes over what is on disk now: all files of the set, and no other; `partial` if some could not be read.
    pub fn read(&mut self, disk: impl IntoIterator<Item = (PathBuf, String)>, partial: bool) {
        self.partial = partial;
        for texts in self.texts.values_mut() {
            texts.disk = None;
        }
        for (path, text) in disk {
            self.texts.entry(path).or_default().disk = Some(text.into());
        }
        self.refresh();
    }

    /// Lays an open text over a file.
    pub fn open(&mut self, path: &Path, version: i32, text: impl Into<Arc<str>>) {
        self.texts.entry(path.to_path_buf()).or_default().open = Some(Open { version, text: text.into() });
        self.refresh();
    }

    /// Takes an open text away again.
    pub fn close(&mut self, path: &Path) {
        if let Some(texts) = self.texts.get_mut(path) {
            texts.open = None;
        }
        self.refresh();
    }

    /// The open text of a path.
    pub fn opened(&self, path: &Path) -> Option<&Open> {
        self.texts.get(path)?.open.as_ref()
    }

    /// Whether an editor has any of its files open.
    pub fn is_open(&self) -> bool {
        self.texts.values().any(|texts| texts.open.is_some())
    }

    /// Parses what is not what it was.
    fn refresh(&mut self) {
        self.texts.retain(|_, texts| texts.current().is_some());
        let mut old: BTreeMap<PathBuf, (File, Tree)> = BTreeMap::new();
        for (file, tree) in std::mem::take(&mut self.files).into_iter().zip(std::mem::take(&mut self.trees)) {
            old.insert(file.path.clone(), (file, tree));
        }
        let mut same = old.len() == self.texts.len();
        for ((path, texts), id) in self.texts.iter().zip(0u32..) {
            let Some(text) = texts.current() else { continue };
            let id = FileId(id);
            let before = old.remove(path).filter(|(_, tree)| tree.source.id == id);
            let kept = before.as_ref().is_some_and(|(_, tree)| tree.source.text == *text);
            let (file, tree) = match before {
                Some(before) if kept => before,
                before => {
                    same = false;
                    let name = path.strip_prefix(&self.root).unwrap_or(path).display().to_string();
                    parse(path, &Source::new(id, name, Arc::clone(text)), before)
                }
            };
            self.files.push(file);
            self.trees.push(tree);
        }
        if !same {
            self.found = None;
            self.listing = None;
        }
    }

    /// The files, in the order of their paths.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// The trees, in the same order.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The identity of a path.
    pub fn id(&self, path: &Path) -> Option<FileId> {
        let at = self.files.binary_search_by(|file| file.path.as_path().cmp(path)).ok()?;
        u32::try_from(at).ok().map(FileId)
    }

    /// The file of an identity, and its tree.
    pub fn file(&self, id: FileId) -> Option<(&File, &Tree)> {
        let at = usize::try_from(id.0).ok()?;
        Some((self.files.get(at)?, self.trees.get(at)?))
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.file(span.file).map_or("", |(_, tree)| tree.source.slice(span))
    }

    /// Whether nothing is wrong with the shape of a file, so that its tree holds all of it.
    pub fn is_whole(&self, id: FileId) -> bool {
        self.file(id).is_some_and(|(file, _)| file.shape.is_empty())
    }

    /// Everything that is wrong, in the order of files and places.
    pub fn diagnostics(&mut self) -> &[Diagnostic] {
        if self.found.is_none() {
            let shape = self.files.iter().flat_map(|file| file.shape.iter().cloned()).collect();
            self.found = Some(check::check_parsed(&self.trees, shape, self.partial).1);
        }
        self.found()
    }

    /// The same as far as it is known: nothing since the last change, until somebody asked.
    pub fn found(&self) -> &[Diagnostic] {
        self.found.as_deref().unwrap_or_default()
    }

    /// What each setting of each block comes to.
    pub fn listing(&mut self) -> &Listing {
        if self.listing.is_none() {
            self.listing = Some(check::list(&self.trees).1);
        }
        static NONE: Listing = Listing { version: Listing::VERSION, blocks: Vec::new() };
        self.listing.as_ref().unwrap_or(&NONE)
    }

    /// The words of a file with their roles, in order.
    pub fn words_of(&self, id: FileId) -> &[Word] {
        self.file(id).map_or(&[], |(file, tree)| file.words.get_or_init(|| words(tree)))
    }

    /// All words of the set.
    pub fn words(&self) -> impl Iterator<Item = &Word> {
        self.files.iter().zip(0u32..).flat_map(|(_, id)| self.words_of(FileId(id)))
    }

    /// The word that an offset of a file is in, or directly behind.
    pub fn word_at(&self, id: FileId, offset: usize) -> Option<Word> {
        let words = self.words_of(id);
        let offset = u32::try_from(offset).ok()?;
        let after = words.partition_point(|word| word.span.start <= offset);
        let word = words.get(after.checked_sub(1)?)?;
        (offset <= word.span.end).then_some(*word)
    }

    /// All blocks that have a name, in the order of files and lines.
    pub fn declared(&self) -> impl Iterator<Item = Declared<'_>> {
        self.words().filter_map(|word| {
            let block = word.role.declares()?;
            Some(Declared { block, name: self.slice(word.span), span: word.span })
        })
    }

    /// The regions that targets state, sorted, each once.
    pub fn regions(&self) -> Vec<String> {
        let targets = self.trees.iter().flat_map(|tree| &tree.statements);
        let targets = targets.filter(|statement| statement.keyword() == Some(Block::Target.word()));
        let inside = targets.flat_map(|target| target.block.iter().flat_map(|block| &block.statements));
        let regions = inside.filter(|statement| statement.keyword() == Some("region"));
        let mut regions: Vec<_> = regions.filter_map(|s| s.items.get(1)?.word().map(str::to_owned)).collect();
        regions.sort_unstable();
        regions.dedup();
        regions
    }

    /// The names of the blocks of a kind, sorted, each once.
    pub fn names(&self, block: Block) -> Vec<&str> {
        let mut names: Vec<_> = self.declared().filter(|d| d.block == block).map(|d| d.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Parses a file; of one that parsed clean before no more than what was changed.
fn parse(path: &Path, source: &Source, before: Option<(File, Tree)>) -> (File, Tree) {
    let clean = before.filter(|(file, _)| file.shape.is_empty());
    let spliced = clean.and_then(|(_, tree)| syntax::reparse(tree, source));
    let (tree, shape) = spliced.map_or_else(|| syntax::parse(source), |tree| (tree, Vec::new()));
    let file = File { path: path.to_path_buf(), lines: Lines::new(&source.text), words: OnceLock::new(), shape };
    (file, tree)
}
