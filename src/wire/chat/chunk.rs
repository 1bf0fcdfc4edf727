//! What one JSON object of an answer holds: a whole answer, or one event of a stream.
//!
//! In: its text. Out: `Chunk`: whose it is, what each choice brings, usage, and an error if there is one. It is lenient
//! in all that decides nothing: an odd usage is no usage, an odd index is the first. It judges nothing.

use super::answer::Usage;
use super::plain;
use crate::wire::broken::error_in;
use crate::wire::json::{self, Members};
use crate::wire::output::{self, Object};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// One object of an answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The model that served, where it says so.
    pub model: Option<Cow<'a, str>>,
    /// What it cost.
    pub usage: Option<Usage>,
    /// The object that holds an error, if it holds one.
    pub error: Option<&'a str>,
    /// Its choices; absent where it is no object with choices at all.
    pub choices: Option<Vec<Choice<'a>>>,
}

/// One choice of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice<'a> {
    /// Its index.
    pub index: u64,
    /// Whether it brings output: text, reasoning, a refusal, a tool call, sound.
    pub output: bool,
    /// Why it ended, if it did.
    pub finish: Option<Cow<'a, str>>,
}

impl<'a> Chunk<'a> {
    /// Reads one object; absent where the text is none.
    pub fn read(text: &'a str) -> Option<Chunk<'a>> {
        plain::read(text).or_else(|| Chunk::read_slowly(text))
    }

    /// The same whatever the object is like: each level that is looked into is passed over again.
    pub(super) fn read_slowly(text: &'a str) -> Option<Chunk<'a>> {
        let object = Object { text, members: Members::read(text).ok()? };
        let error = error_in(&object);
        let members = &object.members;
        let all = members.get("choices").map(|c| list(c).into_iter().filter_map(|c| Members::read(c.get()).ok()));
        let raw: Option<Vec<Members<'a>>> = all.map(Iterator::collect);
        // `choices: null` is an answer with nothing in it, its absence is something else.
        let named = members.0.iter().any(|(name, _)| name == "choices");
        let raw = raw.or(named.then(Vec::new));
        Some(Chunk {
            model: members.get("model").and_then(word),
            usage: members.get("usage").and_then(usage),
            error,
            choices: raw.map(|choices| choices.iter().map(choice).collect()),
        })
    }
}

fn choice<'a>(choice: &Members<'a>) -> Choice<'a> {
    let part = choice.get("delta").or_else(|| choice.get("message"));
    Choice {
        index: choice.get("index").map_or(0, index),
        output: part.is_some_and(|p| output::CHAT_PART.brings(p.get()) || output::CHAT_PART.refuses(p.get())),
        finish: choice.get("finish_reason").and_then(word),
    }
}

/// A string that is not empty.
pub(super) fn word(value: &RawValue) -> Option<Cow<'_, str>> {
    json::string(value).filter(|word| !word.is_empty())
}

/// The place of a choice.
pub(super) fn index(value: &RawValue) -> u64 {
    value.get().parse().unwrap_or(0)
}

fn list(value: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(value.get()).unwrap_or_default()
}

/// What an answer cost.
pub(super) fn usage(value: &RawValue) -> Option<Usage> {
    let members = Members::read(value.get()).ok()?;
    let number = |m: &Members<'_>, name: &str| m.get(name).and_then(|n| n.get().parse::<u64>().ok());
    let input = number(&members, "prompt_tokens")?;
    let said = number(&members, "completion_tokens").unwrap_or(0);
    // Some servers leave reasoning out of the one count and put it into the other.
    let rest = number(&members, "total_tokens").unwrap_or(0).saturating_sub(input);
    let details = members.get("prompt_tokens_details").and_then(|d| Members::read(d.get()).ok());
    let cached = details.and_then(|d| number(&d, "cached_tokens")).or(number(&members, "prompt_cache_hit_tokens"));
    Some(Usage { input, output: said.max(rest), cached: cached.unwrap_or(0).min(input) })
}
