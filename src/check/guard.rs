//! Guards: what follows `when`, read into facts, comparisons and literals that fit each other.
//!
//! In: the items after `when`. Out: a `Guard`, or nothing after every comparison that does not fit has been named.
//! `not` binds tightest, then `and`, then `or`. Never looks at what a fact is at some moment.

mod cells;
mod facts;

pub use cells::{Verdict, verdict};
pub use facts::fact_words;

use super::context::not_yet_part;
use super::cursor::Cursor;
use super::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::contract::{Modality, Pattern};
use crate::policy::{Comparison, Fact, Guard, Literal, Modalities, Stage};
use crate::source::{Span, Spanned};
use crate::syntax::settings::Early;
use crate::syntax::tree::{Item, ItemKind, Operator};
use facts::NAMED;

/// Where a guard stands, which decides what it may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The request alone: in chains and `match`.
    Request,
    /// The failure too: in rows of a matrix.
    Failure,
}

/// The deepest nesting of parentheses: as deep as any brackets nest, whose limit is told where a text is read.
const DEEPEST: usize = 64;

/// Reads all of `items` as a guard; `when` is the word before them.
pub fn lower(items: &[Item], when: Span, reads: Reads, out: &mut Vec<Diagnostic>) -> Option<Guard> {
    let mut parser = Parser { reads, out, sound: true };
    let mut cursor = Cursor::new(items, when);
    let guard = parser.any(&mut cursor, 0)?;
    if let Some(item) = cursor.peek() {
        parser.broken(item.span, format!("{} joins nothing here", value::describe(item)), JOIN);
        return None;
    }
    parser.sound.then_some(guard)
}

const JOIN: &str = "join comparisons by `and` or `or`";
const FORM: &str = "write a comparison such as `request.tokens > 8k`";

struct Parser<'o> {
    reads: Reads,
    out: &'o mut Vec<Diagnostic>,
    /// False once something of the right shape did not fit: reading goes on, the guard is lost.
    sound: bool,
}

impl Parser<'_> {
    fn broken(&mut self, span: Span, message: String, help: &str) {
        self.out.push(Diagnostic::new(Code::BrokenGuard, span, message).here("here").help(help));
    }

    fn any(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Option<Guard> {
        let mut parts = vec![self.all(cursor, depth)?];
        while cursor.take_word("or") {
            parts.push(self.all(cursor, depth)?);
        }
        Some(joined(parts, Guard::Any))
    }

    fn all(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Option<Guard> {
        let mut parts = vec![self.one(cursor, depth)?];
        while cursor.take_word("and") {
            parts.push(self.one(cursor, depth)?);
        }
        Some(joined(parts, Guard::All))
    }

    fn one(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Option<Guard> {
        let mut negated = false;
        while cursor.take_word("not") {
            negated = !negated;
        }
        let guard = match cursor.peek().map(|item| &item.kind) {
            Some(ItemKind::Group(inner)) if depth < DEEPEST => {
                cursor.take();
                let mut inside = Cursor::new(inner, cursor.after());
                let guard = self.any(&mut inside, depth + 1)?;
                if let Some(item) = inside.peek() {
                    self.broken(item.span, format!("{} joins nothing here", value::describe(item)), JOIN);
                    return None;
                }
                guard
            }
            Some(_) | None => self.comparison(cursor)?,
        };
        Some(if negated { Guard::Not(Box::new(guard)) } else { guard })
    }

    fn comparison(&mut self, cursor: &mut Cursor<'_>) -> Option<Guard> {
        let Some(first) = cursor.take() else {
            self.broken(cursor.after(), "a comparison is due after this".into(), FORM);
            return None;
        };
        let fact = self.fact(first, cursor)?;
        let Some(relation) = cursor.take() else {
            // What is no fact has been told of.
            fact.as_ref()?;
            let mut diagnostic =
                Diagnostic::new(Code::BrokenGuard, first.span, "a fact alone is no condition").here("compared with?");
            diagnostic = match &fact {
                Some(fact) if takes(fact) == Takes::Flag => {
                    let end = Span { start: first.span.end, ..first.span };
                    diagnostic.help("write `== yes` behind it").fix("write `== yes`", end, " == yes", false)
                }
                Some(_) | None => diagnostic.help(FORM),
            };
            self.out.push(diagnostic);
            return None;
        };
        let comparison = match &relation.kind {
            ItemKind::Operator(operator) => Some(*operator),
            ItemKind::Word(word) if word == "in" => None,
            ItemKind::Word(_)
            | ItemKind::Str(_)
            | ItemKind::Number(_)
            | ItemKind::List(_)
            | ItemKind::Group(_)
            | ItemKind::Arrow
            | ItemKind::Comma => {
                fact.as_ref()?;
                let found = value::describe(relation);
                self.broken(relation.span, format!("a comparison or `in` is due here, not {found}"), FORM);
                return None;
            }
        };
        let Some(literal) = cursor.take() else {
            self.broken(relation.span, "a value is due after this".into(), FORM);
            return None;
        };
        let guard = fact.and_then(|fact| match comparison {
            Some(operator) => self.compare(fact, operator, relation, literal),
            None => self.within(fact, relation, literal),
        });
        self.sound &= guard.is_some();
        Some(guard.unwrap_or(Guard::All(Vec::new())))
    }

    /// The fact that a word names. The outer `None`: the shape is broken; the inner one: reported, and read on.
    fn fact(&mut self, item: &Item, cursor: &mut Cursor<'_>) -> Option<Option<Fact>> {
        let ItemKind::Word(word) = &item.kind else {
            let found = value::describe(item);
            self.broken(item.span, format!("a fact is due here, not {found}"), FORM);
            return None;
        };
        let fact = if NAMED.contains(&word.as_str()) {
            let name = self.argument(word, item.span, cursor)?;
            match word.as_str() {
                "request.header" => Some(Fact::Header(name.to_ascii_lowercase())),
                _ => Some(Fact::Metadata(name)),
            }
        } else {
            facts::named(word)
        };
        match &fact {
            None => {
                self.out.push(facts::unknown(word, item.span, self.reads));
            }
            // Nobody is told apart yet: the comparison could never hold.
            Some(Fact::Client) => {
                self.out.push(not_yet_part(item.span, Early::Client));
                return Some(None);
            }
            Some(known) if self.reads == Reads::Request && known.needs_failure() => {
                self.out.push(
                    Diagnostic::new(
                        Code::FactNeedsFailure,
                        item.span,
                        format!("`{word}` is known only after a failure"),
                    )
                    .here("nothing has failed yet here")
                    .help("read facts of the request here, or move the condition to a row of the matrix"),
                );
                return Some(None);
            }
            Some(_) => {}
        }
        Some(fact)
    }

    /// `("x")` after a fact that takes a name.
    fn argument(&mut self, word: &str, span: Span, cursor: &mut Cursor<'_>) -> Option<String> {
        let name = match cursor.peek().map(|item| &item.kind) {
            Some(ItemKind::Group(items)) => match items.as_slice() {
                [Item { kind: ItemKind::Str(name), .. }] if !name.is_empty() => Some(name.clone()),
                _ => None,
            },
            Some(_) | None => None,
        };
        match name {
            Some(name) => {
                cursor.take();
                Some(name)
            }
            None => {
                self.broken(
                    span,
                    format!("`{word}` names one entry in parentheses"),
                    &format!("write `{word}(\"name\")`"),
                );
                None
            }
        }
    }

    fn compare(&mut self, fact: Fact, operator: Operator, relation: &Item, literal: &Item) -> Option<Guard> {
        let comparison = value::relation(operator);
        let ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        let kind = takes(&fact);
        let allowed = match kind {
            Takes::Text | Takes::Flag | Takes::Stage => !ordered,
            Takes::Tokens | Takes::Count | Takes::Status | Takes::Time | Takes::Money => true,
            Takes::Modalities => false,
        };
        if !allowed {
            self.misfit(relation, kind);
            return None;
        }
        let out = &mut *self.out;
        let literal = match kind {
            Takes::Text => Literal::Text(self.text(&fact, literal)?),
            Takes::Flag => Literal::Flag(value::truth(literal, out)?),
            Takes::Tokens => Literal::Count(value::count(literal, out)?),
            Takes::Count => Literal::Count(u64::from(value::integer(literal, 0, u32::MAX, out)?)),
            Takes::Status => Literal::Count(u64::from(value::integer(literal, 100, 599, out)?)),
            Takes::Time => Literal::Time(value::duration(literal, out)?),
            Takes::Money => Literal::Money(value::money(literal, out)?),
            Takes::Stage => Literal::Stage(value::choice(literal, "a stage", Stage::ALL, Stage::word, out)?),
            Takes::Modalities => return None,
        };
        Some(Guard::Compare(fact, comparison, literal))
    }

    fn within(&mut self, fact: Fact, relation: &Item, list: &Item) -> Option<Guard> {
        let before = self.out.len();
        let out = &mut *self.out;
        let literal = match takes(&fact) {
            Takes::Text if fact == Fact::Region => Literal::Texts(plain(value::patterns(list, out)?)),
            Takes::Text => return self.one_of(fact, list),
            Takes::Tokens => Literal::Counts(plain(value::list(list, "a list of counts", out, value::count)?)),
            Takes::Count | Takes::Status => {
                let number =
                    |item: &Item, out: &mut Vec<Diagnostic>| value::integer(item, 0, u32::MAX, out).map(u64::from);
                Literal::Counts(plain(value::list(list, "a list of numbers", out, number)?))
            }
            Takes::Stage => {
                let stage = |item: &Item, out: &mut Vec<Diagnostic>| {
                    value::choice(item, "a stage", Stage::ALL, Stage::word, out)
                };
                Literal::Stages(plain(value::list(list, "a list of stages", out, stage)?))
            }
            Takes::Modalities => {
                let kind = |item: &Item, out: &mut Vec<Diagnostic>| {
                    value::choice(item, "a modality", Modality::ALL, Modality::word, out)
                };
                let all = plain(value::list(list, "a list of modalities", out, kind)?);
                Literal::Modalities(all.into_iter().fold(Modalities::default(), Modalities::with))
            }
            kind @ (Takes::Flag | Takes::Time | Takes::Money) => {
                self.misfit(relation, kind);
                return None;
            }
        };
        (self.out.len() == before).then_some(Guard::In(fact, literal))
    }

    /// `in` for texts other than regions: they know no patterns, so a `*` in a string is a `*`.
    fn one_of(&mut self, fact: Fact, list: &Item) -> Option<Guard> {
        let before = self.out.len();
        let texts = plain(value::labels(list, self.out)?);
        if self.out.len() != before {
            return None;
        }
        if texts.iter().any(|text| text.contains('*')) {
            let equal = |text| Guard::Compare(fact.clone(), Comparison::Equal, Literal::Text(text));
            return Some(joined(texts.into_iter().map(equal).collect(), Guard::Any));
        }
        Some(Guard::In(fact, Literal::Texts(texts.into_iter().map(Pattern).collect())))
    }

    fn text(&mut self, fact: &Fact, item: &Item) -> Option<String> {
        if let (Fact::Region, ItemKind::Word(word) | ItemKind::Str(word)) = (fact, &item.kind)
            && word.contains('*')
        {
            let list = format!("in [{word}]");
            self.out.push(
                Diagnostic::new(
                    Code::FactDoesNotFit,
                    item.span,
                    format!("`{word}` is a pattern, and equals no region"),
                )
                .here("a pattern")
                .help(format!("write `{list}` instead of the comparison")),
            );
            return None;
        }
        value::label(item, self.out)
    }

    fn misfit(&mut self, relation: &Item, kind: Takes) {
        let (what, takes) = match kind {
            Takes::Text => ("a text", "texts take `==`, `!=` and `in`"),
            Takes::Flag => ("`yes` or `no`", "`yes` and `no` take `==` and `!=`"),
            Takes::Stage => ("a stage", "stages take `==`, `!=` and `in`"),
            Takes::Modalities => ("a set of modalities", "modalities take `in`: all of the request's are in the list"),
            Takes::Time => ("a time", "times take `==`, `!=`, `<`, `<=`, `>` and `>=`"),
            Takes::Money => ("an amount", "amounts take `==`, `!=`, `<`, `<=`, `>` and `>=`"),
            Takes::Tokens | Takes::Count | Takes::Status => ("a number", "numbers take every comparison and `in`"),
        };
        let found = value::describe(relation);
        self.out.push(
            Diagnostic::new(Code::FactDoesNotFit, relation.span, format!("{found} does not fit {what}"))
                .here("does not fit")
                .help(takes),
        );
    }
}

/// What a fact is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Text,
    Flag,
    Tokens,
    Count,
    Status,
    Time,
    Money,
    Stage,
    Modalities,
}

fn takes(fact: &Fact) -> Takes {
    match fact {
        Fact::Model
        | Fact::Client
        | Fact::Region
        | Fact::Session
        | Fact::Header(_)
        | Fact::Metadata(_)
        | Fact::Code => Takes::Text,
        Fact::Stream | Fact::Tools => Takes::Flag,
        Fact::Tokens | Fact::MaxOutput => Takes::Tokens,
        Fact::AttemptNumber | Fact::AttemptOnTarget => Takes::Count,
        Fact::Status => Takes::Status,
        Fact::RetryAfter | Fact::TimeLeft => Takes::Time,
        Fact::Spent => Takes::Money,
        Fact::Stage => Takes::Stage,
        Fact::Modalities => Takes::Modalities,
    }
}

fn plain<T>(list: Vec<Spanned<T>>) -> Vec<T> {
    list.into_iter().map(|one| one.value).collect()
}

fn joined(mut parts: Vec<Guard>, join: fn(Vec<Guard>) -> Guard) -> Guard {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            join(parts)
        }
        None => join(parts),
    }
}

#[cfg(test)]
mod tests;
