//! The listing of a set: every block, its settings, what they came to and why, for people and for machines.
//!
//! In: what lowering noted. Out: plain data with files and lines instead of spans. Never says whether the set is right.

use super::context::Names;
use super::resolution::{Origin, Resolved};
use crate::source::Span;
use crate::syntax::settings::{BLOCKS, Block};
use std::fmt::Write as _;

/// A whole set.
#[derive(Clone, Debug, Default, serde::Serialize, schemars::JsonSchema)]
pub struct Listing {
    /// The version of this form.
    pub version: u32,
    /// Every block, by kind in the order of the language, then by name.
    pub blocks: Vec<ListedBlock>,
}

/// One block.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ListedBlock {
    /// Its word: `budget`.
    pub kind: String,
    /// Its name or title; absent for `defaults`.
    pub name: Option<String>,
    /// The file it stands in.
    pub file: String,
    /// The line of its name, from 1.
    pub line: u32,
    /// Its documentation.
    pub docs: Option<String>,
    /// Its settings, in the order of the language; rows of a matrix as written, inherited ones last.
    pub settings: Vec<ListedSetting>,
}

/// One setting, or one row of a matrix.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ListedSetting {
    /// Its word; a row's classes.
    pub word: String,
    /// Its effective value, in the language's notation.
    pub value: String,
    /// Why it has this value.
    pub origin: ListedOrigin,
}

/// Why a setting has its value.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ListedOrigin {
    /// The block says so.
    Written {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
    },
    /// A block that it extends says so.
    Inherited {
        /// That block's name.
        from: String,
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
    },
    /// The set's `defaults` block says so.
    Defaults {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u32,
    },
    /// The language says so.
    Default,
}

impl Listing {
    /// The version of the form.
    pub const VERSION: u32 = 1;

    /// The listing of what lowering noted.
    pub(super) fn new(names: &Names<'_>, resolved: &[Resolved]) -> Listing {
        let mut blocks = Vec::new();
        for decl in BLOCKS.iter().flat_map(|row| names.list(row.block)).filter(|decl| !decl.block.is_later()) {
            let (file, line) = place(names, decl.name_span);
            let mine = resolved.iter().filter(|note| note.block == decl.block && note.name == decl.name);
            blocks.push(ListedBlock {
                kind: decl.block.word().to_owned(),
                name: (decl.block != Block::Defaults).then(|| decl.name.clone()),
                file,
                line,
                docs: decl.statement.docs.clone(),
                settings: mine.map(|note| setting(names, note)).collect(),
            });
        }
        Listing { version: Self::VERSION, blocks }
    }

    /// The listing without what the author did not write in the block itself.
    #[must_use]
    pub fn written(mut self) -> Listing {
        for block in &mut self.blocks {
            block.settings.retain(|setting| matches!(setting.origin, ListedOrigin::Written { .. }));
        }
        self
    }

    /// For people: a block a paragraph, a setting a line; `origins` adds where each value comes from.
    pub fn text(&self, origins: bool) -> String {
        let mut text = String::new();
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            let name = match (&block.name, block.kind.as_str()) {
                (None, _) => String::new(),
                (Some(name), "test") => format!(" {name:?}"),
                (Some(name), _) => format!(" {name}"),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}{name}  ({}:{})", block.kind, block.file, block.line);
            for line in block.docs.iter().flat_map(|docs| docs.lines()) {
                let _ = writeln!(text, "  ## {line}");
            }
            let widest = |of: fn(&ListedSetting) -> &str, most: usize| {
                block.settings.iter().map(|s| of(s).chars().count()).filter(|n| *n <= most).max().unwrap_or(0)
            };
            let (words, values) = (widest(|s| &s.word, 40), widest(|s| &s.value, 40));
            for setting in &block.settings {
                let (word, value) = (&setting.word, &setting.value);
                let line = match origins {
                    true => format!("  {word:words$}  {value:values$}  # {}", setting.origin.text(block)),
                    false => format!("  {word:words$}  {value}"),
                };
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
        text
    }
}

impl ListedOrigin {
    fn text(&self, block: &ListedBlock) -> String {
        // The block's own file is named above it.
        let at = |file: &str, line: &u32| match file == block.file {
            true => format!("line {line}"),
            false => format!("{file}:{line}"),
        };
        match self {
            ListedOrigin::Written { file, line } => at(file, line),
            ListedOrigin::Inherited { from, file, line } => format!("inherited from {from}, {}", at(file, line)),
            ListedOrigin::Defaults { file, line } => format!("defaults, {}", at(file, line)),
            ListedOrigin::Default => "default".to_owned(),
        }
    }
}

fn setting(names: &Names<'_>, note: &Resolved) -> ListedSetting {
    let origin = match &note.origin {
        Origin::Written(span) => {
            let (file, line) = place(names, *span);
            ListedOrigin::Written { file, line }
        }
        Origin::Inherited { from, span } => {
            let (file, line) = place(names, *span);
            ListedOrigin::Inherited { from: from.clone(), file, line }
        }
        Origin::Defaults(span) => {
            let (file, line) = place(names, *span);
            ListedOrigin::Defaults { file, line }
        }
        Origin::Default => ListedOrigin::Default,
    };
    ListedSetting { word: note.word.clone(), value: note.value.clone(), origin }
}

fn place(names: &Names<'_>, span: Span) -> (String, u32) {
    let source = names.trees.iter().map(|tree| &tree.source).find(|source| source.id == span.file);
    source.map_or_else(|| (String::new(), 1), |source| (source.name.clone(), source.place(span.start).line))
}
