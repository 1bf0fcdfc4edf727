//! Answers in words: a status with a body, or an error object inside a success.
//!
//! In: status, headers, body. Out: `Classified`. Codes and types decide first, then phrases, then the status; the tables
//! are in `rules`. It never looks at a success that holds no error: that is the dialect's business.

use super::rules::{self, Rule};
use super::said::{self, Said};
use super::{Classified, Headers, NoHeaders, hint};
use crate::policy::{Class, Millis, Scope, Stage};

/// What an answer without success is. `wall_ms` is milliseconds since 1970.
pub fn answer(status: u16, headers: &dyn Headers, body: &[u8], wall_ms: u64) -> Classified {
    let said = Said::read(body);
    let (class, scope, rule) = find(rules::RULES, &said).unwrap_or_else(|| {
        let (class, rule) = rules::by_status(status);
        (class, scope_of(class), rule)
    });
    Classified {
        class,
        cause: None,
        stage: stage(status),
        scope,
        hint: wait(class, headers, wall_ms),
        status: Some(status),
        code: said.code_or_kind(),
        message: Some(said::words(&said.message)).filter(|m| !m.is_empty()),
        no_retry: no_retry(headers),
        rule,
    }
}

/// What an error object is that stands inside a success, in a stream before output or as a whole body: of the class of
/// its cause, or `stream-early` where it names none. `wall_ms` is milliseconds since 1970.
pub fn error_event(payload: &[u8], wall_ms: u64) -> Classified {
    error_in(payload, &NoHeaders, wall_ms)
}

/// The same for an object whose answer has headers.
pub fn error_in(payload: &[u8], headers: &dyn Headers, wall_ms: u64) -> Classified {
    let said = Said::read(payload);
    let (class, scope, rule) = find(rules::RULES, &said)
        .or_else(|| {
            // A bare 500 says no more than that something broke.
            let (class, rule) = rules::by_status(said.status.filter(|s| *s != 500)?);
            (class != Class::Unknown).then_some((class, scope_of(class), rule))
        })
        .or_else(|| find(rules::BARE, &said))
        .unwrap_or((Class::StreamEarly, None, "error-event"));
    Classified {
        scope,
        hint: wait(class, headers, wall_ms),
        status: said.status,
        code: said.code_or_kind(),
        message: Some(said::words(&said.message)).filter(|m| !m.is_empty()),
        no_retry: no_retry(headers),
        ..Classified::of(class, Stage::Headers, rule)
    }
}

fn find(rules: &[Rule], said: &Said) -> Option<(Class, Option<Scope>, &'static str)> {
    let message = said.message.to_lowercase();
    let fits = |rule: &&Rule| {
        (rule.words.is_empty() || rule.words.iter().any(|w| said.has_word(w)))
            && (rule.phrases.is_empty() || rule.phrases.iter().any(|p| message.contains(p)))
    };
    rules.iter().find(fits).map(|rule| (rule.class, rule.scope, rule.name))
}

/// A class that can only be about the call shows so by itself.
fn scope_of(class: Class) -> Option<Scope> {
    matches!(class, Class::InvalidRequest | Class::PayloadTooLarge | Class::Unknown).then_some(Scope::Request)
}

/// Whether a status says by itself that the request was not processed.
fn stage(status: u16) -> Stage {
    match status {
        400..=404 | 413 | 422 | 429 | 503 | 529 => Stage::Rejected,
        _ => Stage::Headers,
    }
}

/// A hint counts only where waiting helps: limits are often told on answers that have nothing to do with them.
fn wait(class: Class, headers: &dyn Headers, wall_ms: u64) -> Option<Millis> {
    let helps = matches!(
        class,
        Class::RateLimit | Class::QuotaExhausted | Class::Overloaded | Class::ServerError | Class::TimeoutHeaders
    );
    helps.then(|| hint::wait(headers, wall_ms)).flatten()
}

fn no_retry(headers: &dyn Headers) -> bool {
    headers.get("x-should-retry").is_some_and(|v| v.trim().eq_ignore_ascii_case("false"))
}
