//! API keys written into a policy, wherever they stand.
//!
//! In: all trees. Out: one diagnostic for each text that looks like a key. Looks at every word and string, known or not.

use super::value;
use crate::diag::Diagnostic;
use crate::policy::address::has_credential;
use crate::source::Source;
use crate::syntax::parse;
use crate::syntax::tree::{TokenKind, Tree};

/// Reports each literal that looks like a key.
pub fn scan(trees: &[Tree], out: &mut Vec<Diagnostic>) {
    for tree in trees {
        let mut before = None;
        for token in &tree.tokens {
            let long = (token.span.end - token.span.start) as usize >= value::SHORTEST_KEY;
            match token.kind {
                TokenKind::Word | TokenKind::Str if long => {
                    // A digest is no secret, and a variable's name is what should stand there.
                    let word = before.map_or("", |span| tree.source.slice(span));
                    let text = tree.source.slice(token.span).trim_matches('"');
                    if !matches!(word, "sha256" | "env") && value::looks_like_key(text) {
                        out.push(value::key_literal(token.span));
                    } else if has_credential(text) {
                        out.push(value::key_in_address(token.span));
                    }
                }
                TokenKind::Word
                | TokenKind::Str
                | TokenKind::Number
                | TokenKind::Open
                | TokenKind::Close
                | TokenKind::OpenList
                | TokenKind::CloseList
                | TokenKind::Comma
                | TokenKind::Arrow
                | TokenKind::Operator
                | TokenKind::Semicolon
                | TokenKind::Comment
                | TokenKind::LineEnd => {}
            }
            before = Some(token.span);
        }
    }
}

/// What [`scan`] says of one file: for those who show texts that were not checked.
pub fn literals(source: &Source) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    scan(&[parse(source).0], &mut found);
    found
}
