//! Whether two trees say the same, wherever it is written.
//!
//! In: two trees. Out: yes if statements, blocks, documentation and comments agree, and only places and white space
//! differ. The formatter is held to it before anything is written.

use super::tree::{Item, ItemKind, Statement, TokenKind, Tree};

/// Whether two trees differ in places and white space alone.
pub fn says_the_same(a: &Tree, b: &Tree) -> bool {
    all(&a.statements, &b.statements, statement) && comments(a).eq(comments(b))
}

fn comments(tree: &Tree) -> impl Iterator<Item = &str> {
    let comments = tree.tokens.iter().filter(|token| token.kind == TokenKind::Comment);
    comments.map(|token| tree.source.slice(token.span))
}

fn all<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

fn statement(a: &Statement, b: &Statement) -> bool {
    let blocks = match (&a.block, &b.block) {
        (None, None) => true,
        (Some(a), Some(b)) => all(&a.statements, &b.statements, statement),
        (None, Some(_)) | (Some(_), None) => false,
    };
    blocks && a.docs == b.docs && all(&a.items, &b.items, item)
}

fn item(a: &Item, b: &Item) -> bool {
    match (&a.kind, &b.kind) {
        (ItemKind::List(a), ItemKind::List(b)) => all(a, b, |a, b| all(a, b, item)),
        (ItemKind::Group(a), ItemKind::Group(b)) => all(a, b, item),
        (a, b) => a == b,
    }
}
