//! Scripted answers as bytes: what the emulator sends, and what tests in virtual time are answered with.
//!
//! In: an answer of the language and what was asked. Out: status, headers and body, or silence, or a reset. Each failure
//! is one that the classifier takes for that class and no other. It waits for nothing: delays belong to whoever sends.

mod body;
pub mod schedule;

pub use schedule::{CallLine, CallScript, Schedule};

use crate::policy::{Answer, Class, Millis, StreamEnd};
use body::Writer;
use bytes::Bytes;

/// What was asked of a scripted target.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScriptedAsk<'a> {
    /// Whether the answer is to stream.
    pub stream: bool,
    /// Whether a stream is to end with its usage.
    pub include_usage: bool,
    /// The target's name, for the default text.
    pub target: &'a str,
    /// The model that the answer names.
    pub model: &'a str,
    /// The request's own limit of output tokens.
    pub max_output: Option<u64>,
    /// Input tokens, for the usage.
    pub prompt_tokens: u64,
    /// The answer's id.
    pub id: &'a str,
    /// Seconds since 1970.
    pub created: u64,
}

/// A scripted answer, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scripted {
    /// The HTTP status; 0 where none is ever sent.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// What follows them.
    pub body: ScriptedBody,
}

/// What follows the headers, if they come at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptedBody {
    /// All of it at once.
    Whole(Bytes),
    /// Pieces in order. For a request that does not stream they are the beginning of a whole body.
    Stream {
        /// The pieces.
        events: Vec<Bytes>,
        /// How many of them come at once with the headers, before the answer's delay: they hold no output.
        lead: usize,
        /// What happens after the last one.
        then: Then,
    },
    /// Nothing is ever sent, not even headers.
    Hang,
    /// The connection is reset before headers.
    Reset,
}

/// What happens after the last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The body ends in order. Whether the answer is complete lies in the pieces.
    Closes,
    /// The connection ends in the middle of the body.
    Cuts,
    /// Nothing more comes.
    Stalls,
}

/// An answer of the language, as it goes over the wire.
pub fn answer(answer: &Answer, ask: &ScriptedAsk<'_>) -> Scripted {
    let write = Writer { ask: *ask };
    match answer {
        Answer::Ok { text } => {
            let default = format!("Hello from {}.", if ask.target.is_empty() { ask.model } else { ask.target });
            write.complete(text.as_deref().unwrap_or(&default))
        }
        Answer::Status { status: 200..=299, .. } => write.complete("Hello."),
        Answer::Status { status, retry_after, code } => write.error(*status, *retry_after, code.as_deref()),
        Answer::Failure { class, retry_after } => failure(&write, *class, *retry_after),
        Answer::Hangs => silent(ScriptedBody::Hang),
        Answer::Resets => silent(ScriptedBody::Reset),
        Answer::Streams { tokens, then } => write.tokens(*tokens, *then),
        Answer::Truncated => write.truncated(),
        Answer::Empty => write.empty(),
        Answer::InvalidJson => write.invalid_json(),
    }
}

/// An answer that is of this class beyond doubt.
fn failure(write: &Writer<'_>, class: Class, retry_after: Option<Millis>) -> Scripted {
    let error = |status, code| write.error(status, retry_after, code);
    match class {
        Class::Connect => silent(ScriptedBody::Reset),
        Class::TimeoutHeaders => silent(ScriptedBody::Hang),
        Class::TimeoutFirstToken => write.tokens(0, StreamEnd::Stalls),
        Class::TimeoutIdle => write.tokens(3, StreamEnd::Stalls),
        Class::RateLimit => error(429, Some("rate_limit_exceeded")),
        Class::QuotaExhausted => error(429, Some("insufficient_quota")),
        Class::Overloaded => error(503, Some("overloaded")),
        Class::ServerError => error(500, None),
        Class::Auth => error(401, Some("invalid_api_key")),
        Class::Permission => error(403, None),
        Class::NotFound => error(404, Some("model_not_found")),
        Class::InvalidRequest => error(400, Some("invalid_value")),
        Class::ContextOverflow => error(400, Some("context_length_exceeded")),
        Class::PayloadTooLarge => error(413, None),
        Class::Policy => error(400, Some("content_filter")),
        Class::SchemaInvalid => error(400, Some("tool_use_failed")),
        Class::EmptyResponse => write.empty(),
        Class::MalformedResponse => write.invalid_json(),
        Class::Truncated => write.truncated(),
        Class::StreamEarly => write.tokens(0, StreamEnd::Errors),
        Class::PartialStream => write.tokens(3, StreamEnd::Cuts),
        Class::Unknown => error(418, None),
    }
}

fn silent(body: ScriptedBody) -> Scripted {
    Scripted { status: 0, headers: Vec::new(), body }
}

#[cfg(test)]
mod tests;
