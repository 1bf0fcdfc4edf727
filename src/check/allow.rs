//! `# allow SB0612: reason`, or several codes with commas: a warning that the author has looked at.
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
    /// What goes when the comment goes: its line, if it stands alone there. Absent where it allows other codes too.
    whole: Option<Span>,
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
        let found = Diagnostic::new(Code::AllowWithoutEffect, allow.span, message).here("without effect").help(help);
        Some(match allow.whole {
            Some(whole) => found.fix("remove the comment", whole, "", true),
            None => found,
        })
    };
    if EVERYTHING.contains(&allow.word.as_str()) {
        return idle(
            "a comment allows what it names, and nothing else".to_owned(),
            "write the codes: `# allow SB0612: reason`",
        );
    }
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
    comments.flat_map(|token| read(tree, token.span)).collect()
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

/// `# allow CODE[, CODE…][: reason]`; other comments that begin with the word are prose, unless they name a code.
fn read(tree: &Tree, span: Span) -> Vec<Allow> {
    let text = tree.source.slice(span).trim_start_matches('#').trim_start();
    let Some((first, rest)) = text.split_once([' ', '\t']) else { return Vec::new() };
    if !first.eq_ignore_ascii_case("allow") {
        return Vec::new();
    }
    let (list, reason) = rest.split_once(':').unwrap_or((rest, ""));
    let mut words: Vec<&str> = list.split(',').map(str::trim).collect();
    let mut reason = !reason.trim().is_empty();
    // `# allow SB1103 because …`: a code, and prose where a colon is due.
    if let [word] = words.as_slice()
        && let Some((code, more)) = word.split_once(char::is_whitespace)
        && is_numbered(code)
    {
        reason = !more.trim_start_matches(['-', '\u{2013}', '\u{2014}', ' ']).is_empty();
        words = vec![code];
    }
    if !words.iter().all(|word| is_numbered(word) || Code::find(word).is_some() || EVERYTHING.contains(word)) {
        return Vec::new();
    }
    let statement = next(&tree.statements, span.end);
    let line = tree.source.lines(span);
    let alone = tree.source.slice(Span { end: span.start, ..line }).trim().is_empty();
    let whole = if alone { Span { end: line.end.saturating_add(1).min(end_of(tree)), ..line } } else { span };
    // Where one of several is not drawn, the others still are.
    let only = words.len() == 1;
    let allow = |word: &str| Allow {
        span,
        whole: only.then_some(whole),
        word: word.to_owned(),
        code: Code::find(word),
        reason,
        statement,
        used: false,
    };
    words.into_iter().map(allow).collect()
}

/// What is written where every warning is meant, which nobody can have looked at.
const EVERYTHING: [&str; 3] = ["all", "everything", "*"];

fn is_numbered(word: &str) -> bool {
    word.strip_prefix("SB").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests;
