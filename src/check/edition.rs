//! The first line of a file: its edition.
//!
//! In: a tree. Out: its statements without the edition, and what is wrong with that one. Never looks at the others, but
//! to find an edition that stands too late.

use super::value;
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::tree::{Item, ItemKind, Statement, Token, TokenKind, Tree};

/// The edition that this build reads.
pub const EDITION: &str = "1";

/// Checks the first statement; returns the others.
pub fn begin<'a>(tree: &'a Tree, out: &mut Vec<Diagnostic>) -> &'a [Statement] {
    let start = Span::new(tree.source.id, 0, 0);
    let line = format!("switchback {EDITION}\n\n");
    let Some((first, rest)) = tree.statements.split_first() else {
        // A file of other text without a statement was refused by the parser already.
        let is_quiet = |token: &Token| matches!(token.kind, TokenKind::Comment | TokenKind::LineEnd);
        if tree.tokens.iter().all(is_quiet) && (!tree.tokens.is_empty() || tree.source.text.trim().is_empty()) {
            let message = if tree.tokens.iter().any(|token| token.kind == TokenKind::Comment) {
                "the file holds comments alone, and not even its edition"
            } else {
                "the file is empty, its edition included"
            };
            out.push(
                Diagnostic::new(Code::MissingEdition, start, message)
                    .help(format!("begin it with `switchback {EDITION}`"))
                    .fix("state the edition", start, line, false),
            );
        }
        return &[];
    };
    if first.keyword() != Some("switchback") {
        // `version 1`, `Switchback 1`, `contract 1`: an edition under another word.
        let is_meant = first.keyword().is_some() && first.block.is_none();
        if let (true, [word, Item { kind: ItemKind::Number(_), .. }]) = (is_meant, first.items.as_slice()) {
            out.push(
                Diagnostic::new(Code::MissingEdition, word.span, "the edition begins with the word `switchback`").fix(
                    format!("write `switchback {EDITION}`"),
                    first.span,
                    line.trim_end(),
                    false,
                ),
            );
            return rest;
        }
        let mut diagnostic =
            Diagnostic::new(Code::MissingEdition, first.span, "the file does not begin with its edition")
                .here("this stands first");
        diagnostic = match tree.statements.iter().find(|s| s.keyword() == Some("switchback")) {
            Some(late) => diagnostic.label(late.span, "the edition stands here").help("move it to the top of the file"),
            None => diagnostic.help(format!("begin the file with `switchback {EDITION}`")).fix(
                "state the edition",
                start,
                line,
                false,
            ),
        };
        if let Some(item) = first.items.first() {
            diagnostic.span = item.span;
        }
        out.push(diagnostic);
        return &tree.statements;
    }
    match first.items.get(1) {
        Some(Item { kind: ItemKind::Number(number), .. }) if number == EDITION => {
            value::left_over(first.items.get(2..).unwrap_or_default(), out);
        }
        found => {
            let span = found.map_or(first.span, |item| item.span);
            out.push(
                Diagnostic::new(Code::UnknownEdition, span, format!("this build reads edition {EDITION} alone"))
                    .help(format!("write `switchback {EDITION}`"))
                    .fix(format!("write `switchback {EDITION}`"), first.span, format!("switchback {EDITION}"), false),
            );
        }
    }
    if let Some(again) = rest.iter().find(|s| s.keyword() == Some("switchback")) {
        out.push(
            Diagnostic::new(Code::DuplicateSetting, again.span, "the edition is stated twice")
                .label(first.span, "stated here first")
                .help("remove the second one"),
        );
    }
    rest
}
