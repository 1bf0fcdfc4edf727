//! The outline of a file: its blocks, and what stands in them.
//!
//! In: a file of a set. Out: symbols, nested two deep. A block without a name goes by its word.

use super::set::Set;
use crate::source::{FileId, Span};
use crate::syntax::settings::{Block, Naming};
use crate::syntax::tree::Statement;

/// A block, or a statement in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// What it is called.
    pub name: String,
    /// The block's word, or the first words of a statement's value.
    pub detail: String,
    /// The kind of block; nothing for a statement in one.
    pub block: Option<Block>,
    /// All of it.
    pub span: Span,
    /// Its name, or its first word.
    pub name_span: Span,
    /// What stands in it.
    pub children: Vec<Symbol>,
}

/// The outline of a file.
pub fn outline(set: &Set, file: FileId) -> Vec<Symbol> {
    let Some((_, tree)) = set.file(file) else { return Vec::new() };
    tree.statements.iter().filter_map(|statement| block(set, statement)).collect()
}

/// The blocks of the whole set whose name has `query` in it, with their places.
pub fn search(set: &Set, query: &str) -> Vec<(Block, String, Span)> {
    let found = set.declared().filter(|d| d.name.contains(query));
    found.map(|d| (d.block, d.name.to_owned(), d.span)).collect()
}

fn block(set: &Set, statement: &Statement) -> Option<Symbol> {
    let first = statement.items.first()?;
    let block = Block::from_word(first.word()?)?;
    let named = match block.row().naming {
        Naming::Named | Naming::Titled | Naming::Paired => statement.items.get(1),
        Naming::Bare => None,
    };
    let name_span = named.map_or(first.span, |item| item.span);
    let inner = statement.block.iter().flat_map(|block| &block.statements);
    Some(Symbol {
        name: shown(set.slice(name_span).trim_matches('"'), block.word()),
        detail: block.word().to_owned(),
        block: Some(block),
        span: statement.span,
        name_span,
        children: inner.filter_map(|statement| setting(set, statement)).collect(),
    })
}

fn setting(set: &Set, statement: &Statement) -> Option<Symbol> {
    let first = statement.items.first()?;
    let value = statement.items.get(1).zip(statement.items.last()).map(|(a, b)| set.slice(a.span.to(b.span)));
    let value = value.unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    let detail = match value.char_indices().nth(60) {
        Some((cut, _)) => format!("{}…", value.get(..cut).unwrap_or("")),
        None => value,
    };
    let name = shown(set.slice(first.span), "?");
    Some(Symbol { name, detail, block: None, span: statement.span, name_span: first.span, children: Vec::new() })
}

/// The protocol wants no empty names.
fn shown(name: &str, otherwise: &str) -> String {
    if name.trim().is_empty() { otherwise.to_owned() } else { name.to_owned() }
}
