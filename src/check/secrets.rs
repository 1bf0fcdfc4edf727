//! API keys written into a policy, wherever they stand.
//!
//! In: all trees. Out: one diagnostic for each text that looks like a key. Looks at every statement, known or not.

use super::value;
use crate::diag::Diagnostic;
use crate::source::Source;
use crate::syntax::parse;
use crate::syntax::tree::{Item, ItemKind, Statement, Tree};

/// Reports each literal that looks like a key.
pub fn scan(trees: &[Tree], out: &mut Vec<Diagnostic>) {
    for statement in trees.iter().flat_map(|tree| &tree.statements) {
        look(statement, out);
    }
}

/// What [`scan`] says of one file: for those who show texts that were not checked.
pub fn literals(source: &Source) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    scan(&[parse(source).0], &mut found);
    found
}

fn look(statement: &Statement, out: &mut Vec<Diagnostic>) {
    items(&statement.items, out);
    for inner in statement.block.iter().flat_map(|block| &block.statements) {
        look(inner, out);
    }
}

fn items(list: &[Item], out: &mut Vec<Diagnostic>) {
    let mut before: Option<&Item> = None;
    for item in list {
        match &item.kind {
            ItemKind::Word(text) | ItemKind::Str(text) => {
                // A digest is no secret, and a variable's name is what should stand there.
                let harmless = before.is_some_and(|word| word.is("sha256") || word.is("env"));
                if !harmless && value::looks_like_key(text) {
                    out.push(value::key_literal(item.span));
                }
            }
            ItemKind::List(parts) => parts.iter().for_each(|part| items(part, out)),
            ItemKind::Group(inner) => items(inner, out),
            ItemKind::Number(_) | ItemKind::Arrow | ItemKind::Comma | ItemKind::Operator(_) => {}
        }
        before = Some(item);
    }
}
