//! What is said of a word that begins a statement and is no setting of its block.
//!
//! In: the word, its block, and the statement. Out: one diagnostic: what was meant, where the word belongs, or the words
//! that there are. Reads no value.

use super::context::Decl;
use super::elsewhere::{self, Meant};
use crate::diag::{Code, Diagnostic, closest};
use crate::syntax::settings::{Block, Status, blocks_with, settings_of};
use crate::syntax::tree::{Item, Statement};

/// What is said of another word for a setting that stands in the block already.
pub(super) fn said_already(decl: &Decl<'_>, word: &str, first: &Item) -> Option<Diagnostic> {
    let Some(Meant::Word(meant)) = elsewhere::setting(decl.block, word) else { return None };
    let said = |word: &str| decl.statements().iter().find(|statement| statement.keyword() == Some(word));
    let there = said(meant)?.items.first()?.span;
    let kind = decl.block.word();
    let found = Diagnostic::new(Code::UnknownSetting, first.span, format!("a {kind} has no setting `{word}`"))
        .label(there, format!("`{meant}` stands here"));
    let other = elsewhere::beside(decl.block, meant).filter(|other| said(other).is_none());
    Some(match other {
        Some(other) => found.fix(format!("write `{other}`"), first.span, other, false),
        None => found.help(format!("leave it out: `{meant}` says it already")),
    })
}

/// What is said of a word that a block does not have.
pub(super) fn unknown_setting(block: Block, word: &str, first: &Item, statement: &Statement) -> Diagnostic {
    let kind = block.word();
    if Block::from_word(word).is_some() && statement.block.is_some() {
        return nested(block, word, first);
    }
    let near = closest(word, settings_of(block).map(|row| row.word));
    match elsewhere::setting(block, word) {
        Some(Meant::Word(meant)) => {
            let message = format!("a {kind} has no setting `{word}`; here that is `{meant}`");
            return Diagnostic::new(Code::UnknownSetting, first.span, message).fix(
                format!("write `{meant}`"),
                first.span,
                meant,
                false,
            );
        }
        Some(Meant::Advice(advice)) => {
            return Diagnostic::new(Code::UnknownSetting, first.span, format!("a {kind} has no setting `{word}`"))
                .help(advice);
        }
        None => {}
    }
    let homes: Vec<Block> = blocks_with(word).into_iter().filter(|home| !home.is_later()).collect();
    if !homes.is_empty() {
        let list: Vec<_> = homes.iter().map(|home| format!("`{}`", home.word())).collect();
        let list = list.join(" or ");
        return Diagnostic::new(Code::WrongBlock, first.span, format!("`{word}` is no setting of a {kind}"))
            .here(format!("belongs in {list}"))
            .help(format!("move it into a block of kind {list}"));
    }
    let diagnostic = Diagnostic::new(Code::UnknownSetting, first.span, format!("a {kind} has no setting `{word}`"));
    match near {
        Some(near) => {
            diagnostic.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), first.span, near, false)
        }
        None => diagnostic.help(format!("the words of a {kind} are {}", words_of(block))),
    }
}

pub(super) fn nested(block: Block, word: &str, first: &Item) -> Diagnostic {
    Diagnostic::new(Code::NestedBlock, first.span, format!("a {word} stands inside a {}", block.word()))
        .help("move it out: blocks stand at the top level and are referred to by name")
}

pub(super) fn words_of(block: Block) -> String {
    settings_of(block)
        .filter(|row| row.status == Status::InEffect)
        .map(|row| format!("`{}`", row.word))
        .collect::<Vec<_>>()
        .join(", ")
}
