//! Changes of text that an editor offers: the fix of a diagnostic, and a comment that allows a warning.
//!
//! In: a set with its diagnostics, and a stretch of a file. Out: titled changes. Never applies one.

use super::set::Set;
use crate::diag::{Diagnostic, Level};
use crate::source::{FileId, Span};

/// A change of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced; an empty span inserts.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// Something that can be done about a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// What it does, as an imperative.
    pub title: String,
    /// The change.
    pub edit: Edit,
    /// What it is for.
    pub diagnostic: Diagnostic,
    /// Whether it is what the author most likely wants.
    pub preferred: bool,
}

/// What can be done about the diagnostics that touch a stretch of a file.
pub fn actions(set: &mut Set, file: FileId, from: usize, to: usize) -> Vec<Action> {
    let touches = |span: Span| span.file == file && span.start as usize <= to && from <= span.end as usize;
    let mine: Vec<_> = set.diagnostics().iter().filter(|d| touches(d.span)).cloned().collect();
    let mut actions = Vec::new();
    for diagnostic in &mine {
        if let Some(fix) = &diagnostic.fix {
            actions.push(Action {
                title: fix.title.clone(),
                edit: Edit { span: fix.span, text: fix.text.clone() },
                diagnostic: diagnostic.clone(),
                preferred: true,
            });
        }
    }
    let allowed = mine.iter().filter_map(|diagnostic| allow(set, diagnostic));
    actions.extend(allowed);
    actions
}

/// `# allow CODE: ` above the statement. The reason is the author's to write: without one the comment is itself
/// reported.
fn allow(set: &Set, diagnostic: &Diagnostic) -> Option<Action> {
    let entry = diagnostic.entry();
    if entry.level == Level::Error {
        return None;
    }
    let (file, tree) = set.file(diagnostic.span.file)?;
    let at = diagnostic.span.start;
    let statement = tree.statements.iter().find(|s| s.span.start <= at && at < s.span.end.max(s.span.start + 1))?;
    let inner = statement.block.iter().flat_map(|block| &block.statements);
    let inner = inner.map(|s| s.span).find(|s| s.start <= at && at < s.end);
    let line_of = |span: Span| file.lines.line_start(span.start as usize);
    // A statement that shares its line with the one around it has no line above it of its own.
    let outer = statement.span;
    let span = inner.filter(|inner| line_of(*inner) != line_of(outer)).unwrap_or(outer);
    let start = line_of(span);
    let indent: String = tree.source.text.get(start..)?.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    let end = if tree.source.text.contains("\r\n") { "\r\n" } else { "\n" };
    Some(Action {
        title: format!("allow {} here", entry.id),
        edit: Edit {
            span: Span::new(diagnostic.span.file, start, start),
            text: format!("{indent}# allow {}: {end}", entry.id),
        },
        diagnostic: diagnostic.clone(),
        preferred: false,
    })
}
