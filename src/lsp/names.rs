//! Names across a set: where one is declared, who refers to it, and calling it something else.
//!
//! In: a set and a place in it. Out: spans, and text changes for a new name, or why there cannot be one. A name is one
//! of its kind: a target and a provider that are called alike are two.

use super::fixes::Edit;
use super::set::Set;
use crate::check::names::RESERVED;
use crate::check::value::is_name;
use crate::source::{FileId, Span};
use crate::syntax::settings::Block;

/// A named block: its kind, and its name as it stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'s> {
    /// The kind.
    pub block: Block,
    /// The name.
    pub name: &'s str,
    /// The place that was asked about.
    pub span: Span,
}

/// The block whose name stands at an offset.
pub fn symbol(set: &Set, file: FileId, offset: usize) -> Option<Symbol<'_>> {
    let word = set.word_at(file, offset)?;
    let name = set.slice(word.span);
    let kinds = word.role.names();
    let known = kinds.iter().find(|kind| set.declared().any(|d| d.block == **kind && d.name == name));
    Some(Symbol { block: *known.or(kinds.first())?, name, span: word.span })
}

/// Where the block is declared whose name stands at an offset; more than once where the policy is wrong.
pub fn definition(set: &Set, file: FileId, offset: usize) -> Vec<Span> {
    let Some(symbol) = symbol(set, file, offset) else { return Vec::new() };
    set.declared().filter(|d| d.block == symbol.block && d.name == symbol.name).map(|d| d.span).collect()
}

/// Every place that names the block whose name stands at an offset, its declaration among them where that is wanted.
pub fn references(set: &Set, file: FileId, offset: usize, declaration: bool) -> Vec<Span> {
    symbol(set, file, offset).map(|symbol| mentions(set, symbol, declaration)).unwrap_or_default()
}

fn mentions(set: &Set, symbol: Symbol<'_>, declaration: bool) -> Vec<Span> {
    let is_declared = |block: Block| set.declared().any(|d| d.block == block && d.name == symbol.name);
    set.words()
        .filter(|word| set.slice(word.span) == symbol.name)
        .filter(|word| match word.role.declares() {
            Some(block) => declaration && block == symbol.block,
            // Of the kinds that may be meant, the first that has the name is.
            None => {
                let kinds = word.role.names();
                kinds.contains(&symbol.block)
                    && kinds.iter().find(|kind| is_declared(**kind)).is_none_or(|kind| *kind == symbol.block)
            }
        })
        .map(|word| word.span)
        .collect()
}

/// The name at an offset, if it can be changed.
pub fn prepare_rename(set: &Set, file: FileId, offset: usize) -> Option<Span> {
    let symbol = symbol(set, file, offset)?;
    let declared = set.declared().any(|d| d.block == symbol.block && d.name == symbol.name);
    declared.then_some(symbol.span)
}

/// The changes that give a block another name everywhere.
///
/// # Errors
/// A sentence for the author, when there is no block to rename or the new name cannot be its name.
pub fn rename(set: &Set, file: FileId, offset: usize, name: &str) -> Result<Vec<Edit>, String> {
    if prepare_rename(set, file, offset).is_none() {
        return Err("there is no name of a block here".to_owned());
    }
    let Some(symbol) = symbol(set, file, offset) else { return Err("there is no name of a block here".to_owned()) };
    let kind = symbol.block.word();
    if !is_name(name) {
        return Err(format!(
            "`{name}` is no name: a name is lower-case letters, digits and `_`, in parts joined by `-` or `.`, and begins with a letter"
        ));
    }
    let begins_lines = matches!(symbol.block, Block::Target | Block::Route | Block::Model);
    let means_more = symbol.block == Block::Tier && name == "larger-context";
    if (begins_lines && RESERVED.contains(&name)) || means_more {
        return Err(format!("`{name}` is a word of the language and cannot name a {kind}"));
    }
    let either = [Block::Target, Block::Provider];
    // Some places take either, and a name that is both would be refused there.
    let rivals: &[Block] = if either.contains(&symbol.block) { &either } else { &[] };
    let taken = |d: &super::set::Declared<'_>| {
        d.name == name && name != symbol.name && (d.block == symbol.block || rivals.contains(&d.block))
    };
    if let Some(other) = set.declared().find(taken) {
        return Err(format!("there is a {} `{name}` already", other.block.word()));
    }
    let spans = mentions(set, symbol, true);
    Ok(spans.into_iter().map(|span| Edit { span, text: name.to_owned() }).collect())
}
