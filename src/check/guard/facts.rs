//! The words of facts.
//!
//! In: a word of a guard. Out: the fact, or what is said of a word that is none. Reads no comparison.

use super::Reads;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::Fact;
use crate::source::Span;

/// The facts that are written as one word.
const FACTS: [(&str, Fact); 17] = [
    ("request.model", Fact::Model),
    ("request.stream", Fact::Stream),
    ("request.tools", Fact::Tools),
    ("request.tokens", Fact::Tokens),
    ("request.max-output", Fact::MaxOutput),
    ("request.modalities", Fact::Modalities),
    ("request.client", Fact::Client),
    ("request.region", Fact::Region),
    ("request.session", Fact::Session),
    ("failure.retry-after", Fact::RetryAfter),
    ("failure.status", Fact::Status),
    ("failure.code", Fact::Code),
    ("failure.stage", Fact::Stage),
    ("attempt.number", Fact::AttemptNumber),
    ("attempt.on-target", Fact::AttemptOnTarget),
    ("time.left", Fact::TimeLeft),
    ("spent", Fact::Spent),
];

/// The facts that take a name in parentheses.
pub(super) const NAMED: [&str; 2] = ["request.header", "request.metadata"];

/// The words of all facts, for editors.
pub fn fact_words() -> impl Iterator<Item = &'static str> {
    FACTS.iter().map(|(word, _)| *word).chain(NAMED)
}

/// The fact of one word.
pub(super) fn named(word: &str) -> Option<Fact> {
    FACTS.iter().find(|(known, _)| *known == word).map(|(_, fact)| fact.clone())
}

/// What is said of a word that is no fact. Of facts only those are proposed that can be read here.
pub(super) fn unknown(word: &str, span: Span, reads: Reads) -> Diagnostic {
    let request = reads == Reads::Request;
    let here = |fact: &Fact| *fact != Fact::Client && !(request && fact.needs_failure());
    let known = FACTS.iter().filter(|(_, fact)| here(fact)).map(|(word, _)| *word).chain(NAMED);
    // `stream` for `request.stream`, `body.max_output` for `request.max-output`.
    let meant = word.rsplit('.').next().unwrap_or(word).replace('_', "-");
    let mut short = known.clone().filter(|fact| fact.rsplit('.').next() == Some(meant.as_str()));
    let mut diagnostic = match short.next() {
        Some(fact) => Diagnostic::new(Code::UnknownFact, span, format!("`{word}` is not a fact"))
            .here("not known here")
            .help(format!("did you mean `{fact}`?"))
            .fix(format!("write `{fact}`"), span, fact, false),
        None => value::unknown_word(word, span, "a fact", known),
    };
    diagnostic.code = Code::UnknownFact;
    diagnostic
}
