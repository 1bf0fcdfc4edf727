//! What is wrong with a policy, as data.
//!
//! A `Diagnostic` names a code of the registry, a place, a sentence, further places with reasons, and a next step.
//! Renderers turn it into text or JSON. Nothing here parses policies; nothing here stops at the first problem.

pub mod registry;
pub mod render;
mod suggest;

pub use registry::{Code, Entry, Level};
pub use suggest::closest;

use crate::source::Span;

/// A second place that explains the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What this place has to do with it, in lower case, without a full stop.
    pub message: String,
}

/// A change of text that would mend a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What the change does, as an imperative: "write `30s`".
    pub title: String,
    /// What is replaced; empty spans insert.
    pub span: Span,
    /// The new text.
    pub text: String,
    /// Whether the graph's hash cannot change by it.
    pub safe: bool,
}

/// One thing that is wrong, or could be better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which kind, from the registry: it brings name and level.
    pub code: Code,
    /// One sentence in lower case, without a full stop, with names in backticks.
    pub message: String,
    /// The place that is wrong.
    pub span: Span,
    /// What is said at that place; empty where the message says it all.
    pub here: String,
    /// Further places: the cause, the first of two, the block meant.
    pub labels: Vec<Label>,
    /// The next step for the author.
    pub help: String,
    /// A text change that would do.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A diagnostic of `code` at `span`.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            span,
            here: String::new(),
            labels: Vec::new(),
            help: String::new(),
            fix: None,
        }
    }

    /// Says something at the place itself.
    #[must_use]
    pub fn here(mut self, text: impl Into<String>) -> Self {
        self.here = text.into();
        self
    }

    /// Adds a second place.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    /// Sets the next step.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = text.into();
        self
    }

    /// Offers a text change.
    #[must_use]
    pub fn fix(mut self, title: impl Into<String>, span: Span, text: impl Into<String>, safe: bool) -> Self {
        let title = title.into();
        // A change that is offered is a next step; one that was named before says more.
        if self.help.is_empty() {
            self.help.clone_from(&title);
        }
        self.fix = Some(Fix { title, span, text: text.into(), safe });
        self
    }

    /// The registry's entry for the code.
    pub fn entry(&self) -> &'static Entry {
        self.code.entry()
    }

    /// Error, warning or advice.
    pub fn level(&self) -> Level {
        self.entry().level
    }
}

impl Code {
    /// Whether the code tells of a bracket that was mended, so that the rest of its line is a guess.
    pub fn mends_brackets(self) -> bool {
        [Code::UnclosedBracket, Code::StrayCloser, Code::MismatchedBracket, Code::HeadlessBlock, Code::MissingOpener]
            .contains(&self)
    }
}

/// The longest word that is told whole, in characters: longer than any address or path that a person writes.
const LONGEST_WORD: usize = 160;
/// How much of a longer one is told.
const TOLD: usize = 60;

/// A sentence whose words are cut where nobody would read on.
fn readable(text: &mut String) {
    if text.len() <= LONGEST_WORD || text.split(' ').all(|word| word.len() <= LONGEST_WORD) {
        return;
    }
    let cut = |word: &str| match word.char_indices().nth(LONGEST_WORD) {
        None => word.to_owned(),
        Some(_) => {
            let end = word.char_indices().nth(TOLD).map_or(word.len(), |(at, _)| at);
            let quote = if word.trim_end_matches([';', ',', ':', '?', ')']).ends_with('`') { "`" } else { "" };
            format!("{}…{quote}", word.get(..end).unwrap_or(word))
        }
    };
    *text = text.split(' ').map(cut).collect::<Vec<_>>().join(" ");
}

/// Sorts by place, then code, drops exact repetitions, and cuts words that are too long to read.
pub fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for diagnostic in &mut diagnostics {
        readable(&mut diagnostic.message);
        readable(&mut diagnostic.here);
        readable(&mut diagnostic.help);
        diagnostic.labels.iter_mut().for_each(|label| readable(&mut label.message));
        diagnostic.fix.iter_mut().for_each(|fix| readable(&mut fix.title));
    }
    diagnostics.sort_by(|a, b| (a.span, a.code, &a.message).cmp(&(b.span, b.code, &b.message)));
    diagnostics.dedup();
    diagnostics
}

/// Whether any of them is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.level() == Level::Error)
}
