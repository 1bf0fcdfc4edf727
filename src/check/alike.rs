//! A block under the word of another kind.
//!
//! In: a block as it stands. Out: the kind that all of its statements are of, if several of them are none of its own.
//! Knows the lines of matrices, tests and ramps only by how they begin. Reports nothing.

use crate::syntax::settings::{BLOCKS, Block, SETTINGS, Setting, ValueType, setting};
use crate::syntax::tree::{ItemKind, Statement};

/// The other kind of block whose settings all stand in a block that has none of its own.
pub(super) fn reads_like(block: Block, statement: &Statement) -> Option<Block> {
    let inside = &statement.block.as_ref()?.statements;
    let fits = |kind: Block| {
        let second = |s: &Statement, test: fn(&ItemKind) -> bool| s.items.get(1).is_some_and(|item| test(&item.kind));
        let of_kind = |s: &&Statement| match kind {
            Block::Matrix => s.items.iter().any(|item| item.kind == ItemKind::Arrow) || is_setting(kind, s),
            Block::Test | Block::Load => {
                let verb = s.items.get(1).is_some_and(|item| item.is("answers") || item.is("is"));
                let first = matches!(s.keyword(), Some("send" | "expect" | "given" | "at" | "from" | "every"));
                verb || first || s.items.get(1).is_some_and(|item| item.is("of"))
            }
            // Both have the same words, and only the one compares.
            Block::Contract => is_setting(kind, s) && !second(s, |kind| matches!(kind, ItemKind::Number(_))),
            Block::Model => is_setting(kind, s) && !second(s, |kind| matches!(kind, ItemKind::Operator(_))),
            Block::Ramp => is_setting(kind, s) || s.begins_with_number(),
            Block::Provider
            | Block::Target
            | Block::Evaluation
            | Block::Tier
            | Block::Budget
            | Block::Breaker
            | Block::Probe
            | Block::Route
            | Block::Defaults
            | Block::Objective
            | Block::Alert
            | Block::Client => is_setting(kind, s),
        };
        inside.iter().filter(of_kind).count()
    };
    // Who leaves out one comparison of a contract may well leave out several.
    let least = match inside.as_slice() {
        // A block inside of it has but one home.
        [only] if only.keyword().is_some_and(takes_block) && only.block.is_some() => 1,
        _ if block == Block::Contract => 4,
        _ => 2,
    };
    if inside.len() < fits(block) + least {
        return None;
    }
    BLOCKS.iter().map(|row| row.block).find(|kind| fits(*kind) == inside.len())
}

fn is_setting(block: Block, statement: &Statement) -> bool {
    statement.keyword().is_some_and(|word| setting(block, word).is_some())
}

/// Whether a word is that of a setting which has a block of its own.
fn takes_block(word: &str) -> bool {
    let form = |row: &Setting| matches!(row.value, ValueType::Form(form) if form.starts_with('{'));
    SETTINGS.iter().any(|row| row.word == word && form(row))
}
