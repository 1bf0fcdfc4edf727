//! `# allow SB0612: reason`: a warning that the author has looked at.
//!
//! In: the comments of all trees, and the diagnostics of the set. Out: the diagnostics less those that a comment above
//! their statement allows, and one for each such comment that gives no reason or allows nothing. Errors cannot be
//! allowed.

use crate::diag::{Code, Diagnostic, Level, has_errors};
use crate::source::Span;
use crate::syntax::tree::{Statement, TokenKind, Tree};

/// A comment that allows a code on the next statement.
struct Allow {
    /// The comment.
    span: Span,
    /// What goes when the comment goes: its line, if it stands alone there.
    whole: Span,
    /// As written.
    word: String,
    code: Option<Code>,
    reason: bool,
    /// The next statement; absent at the end of a file.
    statement: Option<Span>,
    used: bool,
}

/// Takes allowed warnings out, and reports comments that allow without reason or effect.
pub fn apply(trees: &[Tree], diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut allows: Vec<Allow> = trees.iter().flat_map(allows_of).collect();
    // With errors in the set some lints were silent, so an allow without effect may well have one.
    let complete = !has_errors(&diagnostics);
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(diagnostics.len());
    for diagnostic in diagnostics {
        let covers = |allow: &&mut Allow| {
            allow.code == Some(diagnostic.code)
                && allow.statement.is_some_and(|s| {
                    s.file == diagnostic.span.file && (s.start..s.end).contains(&diagnostic.span.start)
                })
        };
        let found = allows.iter_mut().find(covers).filter(|_| diagnostic.level() != Level::Error);
        match found {
            Some(allow) => allow.used = true,
            None => kept.push(diagnostic),
        }
    }
    kept.extend(allows.iter().filter_map(|allow| complaint(allow, complete)));
    kept
}

fn complaint(allow: &Allow, complete: bool) -> Option<Diagnostic> {
    let idle = |message: String, help: &str| {
        let found = Diagnostic::new(Code::AllowWithoutEffect, allow.span, message);
        Some(found.here("without effect").help(help).fix("remove the comment", allow.whole, "", true))
    };
    let Some(code) = allow.code else {
        return idle(format!("there is no code `{}`", allow.word), "write the code of the warning, such as `SB0612`");
    };
    let entry = code.entry();
    if allow.word != entry.id {
        return idle(format!("codes are written by number: `{}` is `{}`", allow.word, entry.id), "write the number");
    }
    if entry.level == Level::Error {
        return idle(
            format!("`{}` is an error, and errors cannot be allowed", entry.id),
            "mend what the error is about, and remove this comment",
        );
    }
    if !allow.used {
        return complete
            .then(|| {
                idle(
                    format!("nothing here draws `{}`", entry.id),
                    "remove this comment, or move it directly above the statement",
                )
            })
            .flatten();
    }
    (!allow.reason).then(|| {
        Diagnostic::new(Code::AllowWithoutReason, allow.span, format!("`{}` is allowed without a reason", entry.id))
            .here("why?")
            .help(format!("write `# allow {}: ` and the reason", entry.id))
    })
}

fn allows_of(tree: &Tree) -> Vec<Allow> {
    let comments = tree.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    comments.filter_map(|token| read(tree, token.span)).collect()
}

fn end_of(tree: &Tree) -> u32 {
    u32::try_from(tree.source.text.len()).unwrap_or(u32::MAX)
}

/// The statement that begins first behind an offset, at any depth.
fn next(statements: &[Statement], offset: u32) -> Option<Span> {
    let at = statements.partition_point(|statement| statement.span.end <= offset);
    let statement = statements.get(at)?;
    if statement.span.start >= offset {
        return Some(statement.span);
    }
    let inside = statement.block.as_ref().and_then(|block| next(&block.statements, offset));
    inside.or_else(|| statements.get(at + 1).map(|after| after.span))
}

/// `# allow CODE[: reason]`; other comments that begin with the word are prose.
fn read(tree: &Tree, span: Span) -> Option<Allow> {
    let rest = tree.source.slice(span).trim_start_matches('#').trim_start().strip_prefix("allow")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim();
    let (word, reason) = rest.split_once(':').unwrap_or((rest, ""));
    let word = word.trim();
    let code = Code::find(word);
    let numbered = word.strip_prefix("SB").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    if code.is_none() && !numbered {
        return None;
    }
    let statement = next(&tree.statements, span.end);
    let reason = !reason.trim().is_empty();
    let line = tree.source.lines(span);
    let alone = tree.source.slice(Span { end: span.start, ..line }).trim().is_empty();
    let whole = if alone { Span { end: line.end.saturating_add(1).min(end_of(tree)), ..line } } else { span };
    Some(Allow { span, whole, word: word.to_owned(), code, reason, statement, used: false })
}

#[cfg(test)]
mod tests;
