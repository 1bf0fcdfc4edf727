//! Whole answers: every success is judged before it counts as one.
//!
//! In: headers and body of a 2xx. Out: what was answered, or what failed. `with_model` says who served where the answer
//! does not. The rules for an ending that both whole answers and streams share are here.

use super::chunk::{Choice, Chunk};
use crate::classify::vendor::{ANYBODY, Vendor};
use crate::classify::{Classified, Headers, http};
pub use crate::policy::Usage;
use crate::policy::{Class, Scope, Stage};
use crate::wire::ending::ending;
use crate::wire::json::{self, Members};
use bytes::Bytes;

/// What the request asked for, and of whom, as far as an answer is judged by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Who is asked: errors inside of an answer are read by its table.
    pub vendor: &'static Vendor,
    /// Whether it asked for a stream.
    pub stream: bool,
    /// Output tokens it asked for at most, over all choices.
    pub max_output: Option<u64>,
    /// How many choices it asked for; 0 and 1 are one.
    pub choices: u64,
}

impl Default for Asked {
    fn default() -> Asked {
        Asked { vendor: &ANYBODY, stream: false, max_output: None, choices: 0 }
    }
}

/// A complete answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// What it cost, where it says so.
    pub usage: Option<Usage>,
    /// The model that served, as the answer names it.
    pub model: Option<String>,
    /// Why it ended.
    pub finish: Option<String>,
}

/// Judges a whole answer. `wall_ms` is milliseconds since 1970.
///
/// # Errors
/// Where it holds an error, is not of this dialect, holds nothing, or was cut.
pub fn judge(headers: &dyn Headers, body: &[u8], asked: &Asked, wall_ms: u64) -> Result<Answered, Classified> {
    if body.trim_ascii().is_empty() {
        return Err(Classified::of(Class::EmptyResponse, Stage::Headers, "body-empty").saying("the answer is empty"));
    }
    let malformed = |rule, words| Classified::of(Class::MalformedResponse, Stage::Headers, rule).saying(words);
    let chunk = std::str::from_utf8(body).ok().and_then(Chunk::read);
    let chunk = chunk.ok_or_else(|| malformed("body-not-json", "the answer is no JSON object"))?;
    if let Some(error) = chunk.error {
        return Err(http::error_of(asked.vendor, error.as_bytes(), None, headers, wall_ms));
    }
    if asked.stream {
        return Err(malformed("body-not-stream", "the answer to a streaming request is no stream"));
    }
    let choices = chunk.choices.ok_or_else(|| malformed("body-other-json", "the answer is no chat completion"))?;
    if let Some(failure) = choices.iter().filter_map(|c| c.finish.as_deref()).find_map(failed_finish) {
        return Err(failure);
    }
    let ending = Ending {
        output: choices.iter().any(|c| c.output),
        choices: choices.len(),
        finish: first_finish(&choices),
        usage: chunk.usage,
    };
    ending.judge(asked)?;
    let finish = ending.finish.map(str::to_owned);
    Ok(Answered { usage: chunk.usage, model: chunk.model.map(|m| m.into_owned()), finish })
}

/// The body with `served` as its `model`, if it names none; otherwise the body as it is.
pub fn with_model(body: Bytes, served: &str) -> Bytes {
    let Some(text) = std::str::from_utf8(&body).ok() else { return body };
    let Ok(members) = Members::read(text) else { return body };
    let named = members.0.iter().find(|(name, _)| name == "model").map(|(_, value)| *value);
    let range = match named {
        Some(value) if !matches!(value.get(), "null" | "\"\"") => return body,
        Some(value) => json::range(text, value),
        None => text.find('{').map(|at| at + 1..at + 1),
    };
    let Some(range) = range else { return body };
    let mut written = json::quoted(served);
    if named.is_none() {
        let comma = if members.0.is_empty() { "" } else { "," };
        written = format!("\"model\":{written}{comma}");
    }
    let before = body.get(..range.start).unwrap_or_default();
    let after = body.get(range.end..).unwrap_or_default();
    [before, written.as_bytes(), after].concat().into()
}

/// The reason that the first choice with one gives.
pub(super) fn first_finish<'a>(choices: &'a [Choice<'_>]) -> Option<&'a str> {
    choices.iter().find_map(|c| c.finish.as_deref())
}

/// Reasons that are no end of an answer but a failure in disguise.
pub(super) fn failed_finish(finish: &str) -> Option<Classified> {
    let (class, rule) = ending(finish)?;
    let in_order = matches!(class, Class::Policy | Class::Truncated);
    (!in_order).then(|| Classified::of(class, Stage::Headers, rule).saying("the answer ended with an error"))
}

/// How an answer ended that ended in order.
pub(super) struct Ending<'a> {
    /// Whether any choice had output.
    pub output: bool,
    /// How many choices there were.
    pub choices: usize,
    /// Why it ended.
    pub finish: Option<&'a str>,
    /// What it cost.
    pub usage: Option<Usage>,
}

impl Ending<'_> {
    /// Whether this is an answer: not where a filter left nothing, length cut it short, or nothing is there.
    pub fn judge(&self, asked: &Asked) -> Result<(), Classified> {
        let of = |class, rule, words: &str| Err(Classified::of(class, Stage::Headers, rule).saying(words));
        let reason = self.finish.and_then(ending).map(|(class, _)| class);
        match (reason, self.output) {
            (Some(Class::Truncated), _) if self.is_cut(asked) => {
                // The target did what it could: the cut says nothing about its health.
                of(Class::Truncated, "finish-length", "the answer was cut by length")
                    .map_err(|c| c.within(Scope::Request))
            }
            (Some(Class::Truncated), _) | (_, true) => Ok(()),
            (Some(Class::Policy), false) => of(Class::Policy, "finish-filter", "the answer was withheld by a filter")
                .map_err(|c| c.within(Scope::Request)),
            (_, false) => of(Class::EmptyResponse, "finish-empty", "the answer holds nothing"),
        }
    }

    /// Whether a length stop came before the request's own limit. Where that cannot be told, an answer that holds
    /// something counts as what was asked for.
    fn is_cut(&self, asked: &Asked) -> bool {
        match (asked.max_output, self.usage) {
            (Some(limit), Some(usage)) if self.choices <= 1 => usage.output < limit,
            (Some(_) | None, Some(_) | None) => !self.output,
        }
    }
}

#[cfg(test)]
mod tests;
