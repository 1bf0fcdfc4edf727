//! Lines of tests, loads and scripts.
//!
//! In: a statement of one. Out: its words with their roles, added to the walk.

use super::{Role, Walk};
use crate::syntax::settings::{Block, setting};
use crate::syntax::tree::{Item, ItemKind, Statement};

impl Walk {
    /// A line of a test or a load.
    pub(super) fn line(&mut self, statement: &Statement) {
        let Some(block) = self.block else { return };
        let items = self.timed_head(block, &statement.items);
        let Some((first, rest)) = items.split_first() else { return };
        match (first.word(), &first.kind) {
            (Some("send"), _) => {
                self.begin(block, first);
                self.push(rest.first(), Role::Refers(&[Block::Route]));
            }
            (Some("expect"), _) => {
                self.begin(block, first);
                self.expectation(rest);
            }
            (Some("given"), _) => {
                self.begin(block, first);
                match rest.first().is_some_and(|word| word.is("spent")) {
                    true => self.after(rest, "for", &[Block::Route]),
                    false => self.keywords(rest),
                }
            }
            (None, ItemKind::Number(_)) => self.after(items, "of", &[Block::Route]),
            _ => {
                self.push(Some(first), Role::Refers(&[Block::Target]));
                self.outcome(rest);
            }
        }
        for fact in statement.block.iter().flat_map(|block| &block.statements) {
            self.push(fact.items.first(), Role::Keyword);
            self.grammar(fact.items.get(1..).unwrap_or_default(), &["yes", "no", "none", "unknown", "json-object"]);
        }
    }

    /// A line of a script.
    pub(super) fn timed(&mut self, items: &[Item]) {
        let items = self.timed_head(Block::Load, items);
        self.outcome(items);
    }

    /// Passes over `at D`, `from D to D` and `every N% of calls`: what is left.
    fn timed_head<'i>(&mut self, block: Block, mut items: &'i [Item]) -> &'i [Item] {
        loop {
            let length = match items.first().and_then(Item::word) {
                Some("at") => 2,
                Some("from" | "every") => 4,
                _ => return items,
            };
            let (head, rest) = items.split_at(length.min(items.len()));
            if let Some((first, words)) = head.split_first() {
                self.begin(block, first);
                self.keywords(words);
            }
            items = rest;
        }
    }

    fn begin(&mut self, block: Block, first: &Item) {
        let row = first.word().and_then(|word| setting(block, word));
        self.push(Some(first), row.map_or(Role::Keyword, Role::Setting));
    }

    fn expectation(&mut self, items: &[Item]) {
        let target: &'static [Block] = &[Block::Target];
        let Some((first, rest)) = items.split_first() else { return };
        self.push(Some(first), Role::Keyword);
        let (by, kinds): (usize, &'static [Block]) = match first.word() {
            Some("served") => (1, target),
            Some("skipped" | "share" | "calls" | "opened") => (0, target),
            Some("never") => (0, &[Block::Target, Block::Provider]),
            _ => {
                self.outcome(rest);
                return;
            }
        };
        for (at, item) in rest.iter().enumerate() {
            self.push(Some(item), if at == by { Role::Refers(kinds) } else { Role::Keyword });
        }
    }
}
