//! References to blocks that are not there.
//!
//! In: all of them, kept by the context while the set was lowered. Out: one finding for each name that is missing,
//! however often it is referred to, and none for what a head that could not be read may have declared. Where one name is
//! missing and one block of the kind is never referred to, the two are shown together. Never resolves anything.

use super::context::Context;
use super::value;
use crate::diag::{Code, Diagnostic, closest};
use crate::policy::class::{Class, Verb};
use crate::source::Span;
use crate::syntax::settings::{self, Block, ValueType};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How many names a message lists.
const MOST_NAMED: usize = 8;
/// How many further places a finding shows.
const MOST_PLACES: usize = 3;

/// Words that the language has beside those of its settings, values, classes and actions.
const GRAMMAR: [&str; 50] = [
    "switchback",
    "otherwise",
    "when",
    "and",
    "or",
    "not",
    "in",
    "up",
    "to",
    "for",
    "of",
    "over",
    "above",
    "min",
    "at",
    "from",
    "every",
    "is",
    "answers",
    "send",
    "expect",
    "given",
    "served",
    "by",
    "refused",
    "skipped",
    "never",
    "elapsed",
    "once",
    "times",
    "then",
    "after",
    "with",
    "else",
    "env",
    "jitter",
    "out",
    "cached",
    "cost",
    "path",
    "output",
    "ended",
    "dice",
    "streams",
    "cuts",
    "stalls",
    "ends",
    "hangs",
    "resets",
    "lease",
];

/// The missing names of a kind, each with where it is referred to.
type Missing = BTreeMap<String, Vec<Span>>;

impl Context<'_> {
    /// Reports the references that could not be resolved.
    pub fn settle_names(&mut self) {
        let mut kinds: BTreeMap<Block, Missing> = BTreeMap::new();
        for (block, name, span) in std::mem::take(&mut self.unknown) {
            kinds.entry(block).or_default().entry(name).or_default().push(span);
        }
        for (block, mut missing) in kinds {
            let idle: Vec<usize> =
                (0..self.names.list(block).len()).filter(|at| !self.used.contains(&(block, *at))).collect();
            self.forgive(block, &mut missing);
            let slip = if missing.len() == 1 { self.likely_slip(block, &idle) } else { None };
            for (name, spans) in &missing {
                let renamed = slip.and_then(|at| self.renamed(block, name, spans, at));
                let found = renamed.unwrap_or_else(|| self.unknown_name(block, name, spans));
                self.report(found);
            }
            // Any block of the kind may be the one that was meant, so none of them can be called unused.
            self.used.extend(idle.into_iter().map(|at| (block, at)));
        }
    }

    /// Takes out what a head that could not be read may have declared: by its name, or one name for a head without.
    fn forgive(&self, block: Block, missing: &mut Missing) {
        let heads = || self.names.lost.iter().filter(|lost| lost.block.is_none_or(|kind| kind == block));
        missing.retain(|name, _| !heads().any(|lost| lost.names.contains(name)));
        let nameless = heads().filter(|lost| lost.names.is_empty()).count();
        if nameless == 0 {
            return;
        }
        let near = |name: &str| closest(name, self.names.list(block).iter().map(|decl| decl.name.as_str())).is_some();
        let (slips, others): (Vec<_>, Vec<_>) = missing.keys().cloned().partition(|name| near(name));
        for name in others.into_iter().chain(slips).take(nameless) {
            missing.remove(&name);
        }
    }

    /// Of the blocks that nothing refers to, the one whose name may be a slip: the only one, or the only strange one.
    fn likely_slip(&self, block: Block, idle: &[usize]) -> Option<usize> {
        if let [only] = idle {
            return Some(*only);
        }
        let is_odd = |at: &usize| self.names.decl(block, *at).is_some_and(|decl| is_of_the_language(&decl.name));
        let mut odd = idle.iter().copied().filter(is_odd);
        odd.next().filter(|_| odd.next().is_none())
    }

    /// How strange a word is as the name of a block: a slip takes words from where they mean something else.
    fn oddness(&self, block: Block, word: &str, places: &[Span]) -> Odd {
        if !value::is_name(word) {
            return Odd::NoName;
        }
        if self.names.kinds_of(word).iter().any(|kind| *kind != block) {
            // A route and what belongs to it often share a name.
            let custom = places.iter().any(|place| self.names.agrees(word, *place));
            return if custom { Odd::Not } else { Odd::OtherBlock };
        }
        let language = is_of_the_language(word);
        let otherwise = |place: &Span| !places.contains(place) && (language || self.names.is_label(*place));
        match (self.names.places_of(word).iter().any(otherwise), language) {
            (true, true) => Odd::InUse,
            (true, false) => Odd::Label,
            (false, true) => Odd::OfTheLanguage,
            (false, false) => Odd::Not,
        }
    }

    /// Whether a block is called like a route, and is of a kind that routes name.
    fn is_of_a_route(&self, block: Block, name: &str) -> bool {
        let named = || settings::settings_of(Block::Route).any(|row| row.value == ValueType::Block(block));
        self.names.position(Block::Route, name).is_some() && named()
    }

    /// The finding at the declaration, if that is where the slip is more likely to be.
    fn renamed(&self, block: Block, name: &str, spans: &[Span], idle: usize) -> Option<Diagnostic> {
        let decl = self.names.decl(block, idle)?;
        let agrees = |name: &str| spans.iter().any(|span| self.names.agrees(name, *span));
        // Called like the route that misses it, the declaration is what was meant there.
        if agrees(&decl.name) && !agrees(name) {
            return None;
        }
        let mut declared = self.oddness(block, &decl.name, &[decl.name_span]);
        if declared == Odd::OtherBlock && self.is_of_a_route(block, &decl.name) {
            declared = Odd::Not;
        }
        let referred = self.oddness(block, name, spans);
        let at_declaration = match declared.cmp(&referred) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => spans.len() > 1 || agrees(name),
        };
        if !at_declaration {
            return None;
        }
        let kind = block.word();
        let message = format!("there is no {kind} `{name}`, and nothing refers to {kind} `{}`", decl.name);
        let found = Diagnostic::new(Code::UnknownName, decl.name_span, message)
            .here("declared under this name")
            .help(format!("did you mean `{name}` here?"))
            .fix(format!("write `{name}`"), decl.name_span, name, false);
        Some(also(found, spans, &format!("`{name}` is referred to here")))
    }

    fn unknown_name(&self, block: Block, word: &str, spans: &[Span]) -> Diagnostic {
        let (span, more) = spans.split_first().map_or((Span::default(), spans), |(first, more)| (*first, more));
        let kind = block.word();
        let mut diagnostic = Diagnostic::new(Code::UnknownName, span, format!("there is no {kind} `{word}`"));
        let known = || self.names.list(block).iter().map(|decl| decl.name.as_str());
        if let Some(other) = self.names.kinds_of(word).first() {
            if let Some(decl) = self.names.position(*other, word).and_then(|at| self.names.decl(*other, at)) {
                diagnostic = diagnostic.label(decl.name_span, format!("`{word}` is a {}", other.word()));
            }
            diagnostic.help = format!("name a {kind} here; `{word}` is a {}", other.word());
        } else if let Some(near) = closest(word, known()) {
            if let Some(decl) = self.names.position(block, near).and_then(|at| self.names.decl(block, at)) {
                diagnostic = diagnostic.label(decl.name_span, format!("`{near}` is declared here"));
            }
            diagnostic =
                diagnostic.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), span, near, false);
        } else {
            let some: Vec<_> = known().take(MOST_NAMED).map(|name| format!("`{name}`")).collect();
            let more = self.names.list(block).len().saturating_sub(MOST_NAMED);
            diagnostic.help = match (some.is_empty(), more) {
                (true, _) => format!("declare it: `{kind} {word} {{ … }}`"),
                (false, 0) => format!("declare it, or name one of {}", some.join(", ")),
                (false, more) => format!("declare it, or name one of {} or {more} more", some.join(", ")),
            };
        }
        also(diagnostic, more, "and here")
    }
}

fn also(mut diagnostic: Diagnostic, spans: &[Span], text: &str) -> Diagnostic {
    for span in spans.iter().take(MOST_PLACES) {
        diagnostic = diagnostic.label(*span, text);
    }
    diagnostic
}

/// How strange a word is as a name, the least strange first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Odd {
    Not,
    /// It names a block of another kind, as many sets do on purpose.
    OtherBlock,
    /// It means something in the language, though this set does not use it so.
    OfTheLanguage,
    /// It is a value elsewhere in the set that belongs to no block, such as a region.
    Label,
    /// It is a word of the language, and stands elsewhere in the set.
    InUse,
    NoName,
}

/// Whether a word means something itself, so that it is a strange name.
fn is_of_the_language(word: &str) -> bool {
    GRAMMAR.contains(&word)
        || word.starts_with("request.")
        || settings::explain(word).is_some()
        || settings::SETTINGS.iter().any(|row| row.value.text().split([' ', ',']).any(|part| part == word))
        || Class::from_word(word).is_some()
        || Verb::from_word(word).is_some()
        || !value::is_name(word)
}
