//! Readers for the usual values of one statement.
//!
//! In: a statement, its word included. Out: the typed value, or nothing after a diagnostic. What comes after a value, a
//! value that is missing, and a block where none belongs are reported here. Never knows which block it reads for.

use super::context::{Context, not_yet};
use super::value;
use crate::diag::{Code, Diagnostic, closest};
use crate::policy::{Millis, Price, Prices, Text};
use crate::source::Span;
use crate::syntax::settings::{Block, Setting, Status, choices, setting};
use crate::syntax::tree::{Item, ItemKind, Statement};

impl<'a> Context<'a> {
    /// The one item after a setting's word; reports a missing value, and whatever is too much.
    pub fn single<'s>(&mut self, statement: &'s Statement) -> Option<&'s Item> {
        let value = self.value_items(statement)?;
        let (first, rest) = value.split_first()?;
        if let Some(apart) = value::apart(first, rest) {
            self.report(apart);
            return None;
        }
        self.nothing_more(rest);
        Some(first)
    }

    /// The items after a setting's word, at least one; reports a missing value and a block where none belongs.
    pub fn value_items<'s>(&mut self, statement: &'s Statement) -> Option<&'s [Item]> {
        let (word, value) = statement.items.split_first()?;
        if let Some(found) = value::of_a_shell(statement) {
            self.report(found);
            return None;
        }
        if let Some(block) = &statement.block {
            let word = self.names.slice(word.span);
            self.report(
                Diagnostic::new(Code::UnexpectedBlock, block.span, format!("`{word}` takes no block"))
                    .help("take the braces and what is in them away"),
            );
        }
        if value.is_empty() {
            let text = self.names.slice(word.span);
            self.report(
                Diagnostic::new(Code::MissingValue, word.span, format!("`{text}` has no value"))
                    .help(format!("write a value after it; `switchback explain {text}` says which")),
            );
            return None;
        }
        Some(value)
    }

    /// Reports items that stand after the end of a value.
    pub fn nothing_more(&mut self, rest: &[Item]) {
        value::left_over(rest, &mut self.diagnostics);
    }

    /// One of the fixed words of a setting. Words without effect yet are refused as such, others with the closest.
    pub fn choice(&mut self, block: Block, word: &str, item: &Item) -> Option<&'static str> {
        let row = setting(block, word)?;
        self.word_of(row, item)
    }

    /// The words of a setting that takes a list of fixed words.
    pub fn choices(&mut self, block: Block, word: &str, item: &Item) -> Option<Vec<&'static str>> {
        let row = setting(block, word)?;
        let ItemKind::List(parts) = &item.kind else {
            let found = self.names.slice(item.span);
            self.report(value::wrong(item, "a list").help("lists stand in brackets: `[a, b]`").fix(
                "write a list",
                item.span,
                format!("[{found}]"),
                false,
            ));
            return None;
        };
        if parts.is_empty() {
            self.report(
                Diagnostic::new(Code::MissingValue, item.span, "this list is empty")
                    .help(format!("name at least one of {}, or leave `{word}` out", quoted(choices(row)))),
            );
            return None;
        }
        let mut words = Vec::new();
        let mut whole = true;
        for part in parts {
            let Some((first, rest)) = part.split_first() else { continue };
            value::one_each(part, rest, &mut self.diagnostics);
            match self.word_of(row, first) {
                Some(word) => words.push(word),
                None => whole = false,
            }
        }
        whole.then_some(words)
    }

    fn word_of(&mut self, row: &'static Setting, item: &Item) -> Option<&'static str> {
        let known = choices(row);
        let in_effect = || known.iter().filter(|(_, status)| *status == Status::InEffect).map(|(word, _)| *word);
        match known.iter().find(|(word, _)| item.is(word)) {
            Some((word, Status::InEffect)) => return Some(word),
            Some((word, Status::Later)) => {
                let now = in_effect().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
                self.report(not_yet(item.span, word).help(format!("write {now} for now")));
            }
            None => {
                let what = format!("a value of `{}`", row.word);
                let all = || known.iter().map(|(word, _)| *word);
                self.report(match &item.kind {
                    // A misspelt early word is called by its name; nobody else is offered one.
                    ItemKind::Word(text) | ItemKind::Str(text) | ItemKind::Number(text) => match closest(text, all()) {
                        Some(_) => value::unknown_word(text, item.span, &what, all()),
                        None => value::unknown_word(text, item.span, &what, in_effect()),
                    },
                    ItemKind::List(_)
                    | ItemKind::Group(_)
                    | ItemKind::Arrow
                    | ItemKind::Comma
                    | ItemKind::Operator(_) => value::wrong(item, &what),
                });
            }
        }
        None
    }

    /// A duration.
    pub fn duration(&mut self, statement: &'a Statement) -> Option<Millis> {
        let item = self.single(statement)?;
        value::duration(item, &mut self.diagnostics)
    }

    /// A duration longer than nothing.
    pub fn time(&mut self, statement: &'a Statement) -> Option<Millis> {
        let item = self.single(statement)?;
        value::time(item, &mut self.diagnostics)
    }

    /// A plain number in a range.
    pub fn integer(&mut self, statement: &'a Statement, least: u32, most: u32) -> Option<u32> {
        let item = self.single(statement)?;
        value::integer(item, least, most, &mut self.diagnostics)
    }

    /// A number of tokens.
    pub fn tokens(&mut self, statement: &'a Statement) -> Option<u64> {
        let item = self.single(statement)?;
        value::count(item, &mut self.diagnostics)
    }

    /// `yes` or `no`.
    pub fn flag(&mut self, statement: &'a Statement) -> Option<bool> {
        let item = self.single(statement)?;
        value::truth(item, &mut self.diagnostics)
    }

    /// A string.
    pub fn string(&mut self, statement: &'a Statement) -> Option<String> {
        let item = self.single(statement)?;
        value::string(item, &mut self.diagnostics)
    }

    /// A name, or a string where no name will do.
    pub fn label(&mut self, statement: &'a Statement) -> Option<String> {
        let item = self.single(statement)?;
        value::label(item, &mut self.diagnostics)
    }

    /// Text that may come from outside.
    pub fn text(&mut self, statement: &'a Statement) -> Option<Text> {
        let items = self.value_items(statement)?;
        value::text(items, end_of(statement), &mut self.diagnostics)
    }

    /// One of a setting's fixed words, alone. What follows a word without effect yet is not looked at.
    pub fn one_of(&mut self, block: Block, word: &str, statement: &'a Statement) -> Option<&'static str> {
        let (first, rest) = self.value_items(statement)?.split_first()?;
        let chosen = self.choice(block, word, first)?;
        self.nothing_more(rest);
        Some(chosen)
    }

    /// `$2.50/M in, $1.25/M cached, $10/M out`.
    pub fn prices(&mut self, statement: &'a Statement) -> Option<Prices> {
        let items = self.value_items(statement)?;
        self.prices_of(items)
    }

    /// The same from items.
    pub fn prices_of(&mut self, items: &'a [Item]) -> Option<Prices> {
        let mut prices = Prices::default();
        let mut whole = true;
        for part in items.split(|item| matches!(item.kind, ItemKind::Comma)) {
            whole &= self.one_price(part, &mut prices).is_some();
        }
        whole.then_some(prices)
    }

    fn one_price(&mut self, part: &'a [Item], prices: &mut Prices) -> Option<()> {
        let (amount, rest) = part.split_first()?;
        let price: Price = value::price(amount, &mut self.diagnostics)?;
        let Some((kind, rest)) = rest.split_first() else {
            self.report(value::missing("`in`, `cached` or `out`", amount.span));
            return None;
        };
        self.nothing_more(rest);
        let slot = match kind.word() {
            Some("in") => &mut prices.input,
            Some("cached") => &mut prices.cached,
            Some("out") => &mut prices.output,
            Some(_) | None => {
                self.report(value::wrong(kind, "`in`, `cached` or `out`").help("say which tokens the price is for"));
                return None;
            }
        };
        if slot.is_some() {
            self.report(
                Diagnostic::new(Code::DuplicateSetting, kind.span, "a second price for the same tokens")
                    .help("keep one of them"),
            );
            return None;
        }
        *slot = Some(price);
        Some(())
    }
}

fn quoted(words: &[(&str, Status)]) -> String {
    words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Where something would be due at a statement's end.
pub fn end_of(statement: &Statement) -> Span {
    statement.items.last().map_or(statement.span, |item| item.span)
}
