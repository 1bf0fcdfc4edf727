//! A place in a statement's items, for grammars that read on word by word.
//!
//! In: items. Out: the next one, or a diagnostic that says what is due. Never goes back.

use super::value;
use crate::diag::{Diagnostic, closest};
use crate::source::Span;
use crate::syntax::tree::{Item, ItemKind};

/// What is left of some items.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [Item],
    after: Span,
}

impl<'a> Cursor<'a> {
    /// Before the first of `items`; `after` is what stands before them, which is pointed at if nothing follows.
    pub fn new(items: &'a [Item], after: Span) -> Self {
        Self { rest: items, after }
    }

    /// Where the last item that was read stands.
    pub fn after(&self) -> Span {
        self.after
    }

    /// What is left.
    pub fn rest(&self) -> &'a [Item] {
        self.rest
    }

    /// Whether nothing is left.
    pub fn is_done(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next item, which stays.
    pub fn peek(&self) -> Option<&'a Item> {
        self.rest.first()
    }

    /// The next item.
    pub fn take(&mut self) -> Option<&'a Item> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        self.after = first.span;
        Some(first)
    }

    /// Takes so many items.
    pub fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.take();
        }
    }

    /// Takes a word if it is next: whether it was.
    pub fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek().is_some_and(|item| item.is(word));
        if found {
            self.take();
        }
        found
    }

    /// Takes a string if it is next.
    pub fn take_string(&mut self) -> Option<&'a str> {
        match &self.peek()?.kind {
            ItemKind::Str(text) => {
                self.take();
                Some(text)
            }
            ItemKind::Word(_)
            | ItemKind::Number(_)
            | ItemKind::List(_)
            | ItemKind::Group(_)
            | ItemKind::Arrow
            | ItemKind::Comma
            | ItemKind::Operator(_) => None,
        }
    }

    /// The next item, which is due; reports that `what` is missing.
    pub fn due(&mut self, what: &str, out: &mut Vec<Diagnostic>) -> Option<&'a Item> {
        let item = self.take();
        if item.is_none() {
            out.push(value::missing(what, self.after));
        }
        item
    }

    /// The word, which is due; reports whatever stands there instead.
    pub fn due_word(&mut self, word: &str, out: &mut Vec<Diagnostic>) -> Option<()> {
        let what = format!("`{word}`");
        let item = self.due(&what, out)?;
        if !item.is(word) {
            let wrong = value::wrong(item, &what);
            // A word that joins, or a slip of this one, gives way to it; before anything else it is missing.
            let slip = || item.word().is_some_and(|text| closest(text, [word]).is_some());
            out.push(if self.peek().is_some_and(|next| next.is(word)) {
                wrong
            } else if value::joins(item) || slip() {
                wrong.fix(format!("write `{word}`"), item.span, word, false)
            } else {
                let before = Span { end: item.span.start, ..item.span };
                wrong.help(format!("write `{word}` before it")).fix(
                    format!("write `{word}`"),
                    before,
                    format!("{word} "),
                    false,
                )
            });
            return None;
        }
        Some(())
    }

    /// Reports what is left; whether nothing was.
    pub fn finish(self, out: &mut Vec<Diagnostic>) -> bool {
        value::left_over(self.rest, out)
    }
}
