//! What spoils an answer under a success, whatever its dialect: an error inside of it, or an end that is none.
//!
//! In: an object of an answer; how a stream ended and what had come of it. Out: the object that holds the error; the
//! failure. Readers of live streams and of recorded ones ask here, so that both say the same.

use super::json;
use super::output::Object;
use crate::classify::Classified;
use crate::policy::{Class, Stage};

/// How the body of a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// In order.
    Clean,
    /// It broke off.
    Reset,
    /// Nothing more came.
    Stalled,
}

/// What had come of a stream that gave no reason for its end.
#[derive(Clone, Copy, Debug)]
pub enum Began<'a> {
    /// Nothing.
    Nothing,
    /// Something, and none of it of the dialect: what it is.
    Other(&'a Classified),
    /// An answer.
    Answer,
}

/// What a stream is that gave no reason for its end, as it is before output.
pub fn off(ended: Ended, began: Began<'_>) -> Classified {
    let of = |class, rule, words| Classified::of(class, Stage::Headers, rule).saying(words);
    match (ended, began) {
        (Ended::Stalled, _) => of(Class::TimeoutIdle, "stream-stalled", "nothing more came"),
        (Ended::Reset, Began::Answer) => of(Class::Truncated, "stream-cut", "the stream broke off"),
        (Ended::Reset, Began::Nothing | Began::Other(_)) => {
            of(Class::Truncated, "stream-cut", "the stream broke off before it began")
        }
        (Ended::Clean, Began::Nothing) => of(Class::EmptyResponse, "stream-empty", "the stream holds nothing"),
        (Ended::Clean, Began::Other(what)) => what.clone(),
        (Ended::Clean, Began::Answer) => of(Class::Truncated, "stream-unfinished", "the stream ended without a reason"),
    }
}

/// Names of an object without which nothing of it is an error, whatever the dialect, but for what its choices hold.
pub const MARKS: &[&str] = &[
    "error",
    "object",
    "type",
    "errors",
    "fault",
    "success",
    "response",
    "header",
    "Response",
    "base_resp",
    "error_code",
    "status",
];

/// The object that holds an error, if there is one, whatever the dialect.
pub fn error_in<'a>(object: &Object<'a>) -> Option<&'a str> {
    let Object { text, members } = object;
    let mut in_choice = None;
    members.at("choices[].error", &mut |error| in_choice = in_choice.or(Some(error.get())));
    // Readers that do without all this rely on it: what is not in the list means nothing.
    if !members.0.iter().any(|(name, _)| MARKS.contains(&name.as_ref())) {
        return in_choice;
    }
    let holds = |name, empty: &[&str]| members.get(name).is_some_and(|v| !empty.contains(&v.get()));
    let is = |name, word: &str| members.get(name).and_then(json::string).is_some_and(|w| w == word);
    let marked = holds("error", &["\"\"", "{}", "false", "[]", "0"])
        || is("object", "error")
        || is("type", "error")
        || holds("errors", &["[]", "{}"])
        || holds("fault", &[])
        || members.get("success").is_some_and(|s| s.get() == "false");
    if marked {
        return Some(text);
    }
    let mut inner = in_choice;
    for path in ["response.error", "header.error", "Response.Error"] {
        members.at(path, &mut |error| inner = inner.or(Some(error.get())));
    }
    let code = |path| {
        let mut found = None;
        members.at(path, &mut |n| found = found.or(Some(n.get())));
        found.filter(|n| !matches!(*n, "0" | "\"0\"" | "200" | "\"200\"" | "\"\""))
    };
    let coded = code("base_resp.status_code").or(code("error_code")).or(code("header.code"));
    let failed = || is("status", "failed") || is("type", "response.failed");
    inner.or(coded.map(|_| *text)).or_else(|| failed().then_some(*text))
}
