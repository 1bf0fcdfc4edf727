//! Streams under a success, in any dialect: what failed, and whether output had begun.
//!
//! In: the pieces, and how they ended. Out: what failed, or nothing; and the cause, where a payload names one. A stream is
//! complete when it gave a reason for its end, or ended with an event that says so.

use super::frames::{Payload, payloads};
use super::{Case, End, found};
use crate::classify::Classified;
use crate::policy::{Class, Stage};
use crate::wire::broken::{self, Began, Ended, error_in};
use crate::wire::ending::ending;
use crate::wire::json;
use crate::wire::output::Object;

/// What was seen of a stream.
#[derive(Default)]
struct Seen {
    /// Output came.
    output: bool,
    /// Something of the dialect came.
    known: bool,
    /// Text, pages or other JSON came.
    foreign: Option<Classified>,
    /// A refusal in words came.
    refused: bool,
    /// Why it ended.
    reason: Option<String>,
    /// It ended in order, with or without a reason.
    ended: bool,
    /// An error came, before or after output.
    error: Option<Classified>,
    /// How many errors were looked at.
    errors: u8,
}

/// Most errors of one stream that are looked at: the first say what it is.
const MOST_ERRORS: u8 = 8;

impl Case<'_> {
    /// What failed in a stream, and its cause.
    pub(super) fn stream(&self, pieces: &[&str], end: End) -> (Option<Classified>, Option<Class>) {
        let kind = self.exchange.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let mut seen = Seen::default();
        for payload in payloads(kind.map_or("", |(_, kind)| kind), pieces) {
            self.look(&payload, &mut seen);
        }
        if let Some(error) = seen.error {
            return placed(error, seen.output);
        }
        if let Some((class, rule)) = seen.reason.as_deref().and_then(ending) {
            let failure = self.ended(class, rule);
            // A filter, a length stop and a spoilt tool call are what they are after output too.
            if matches!(class, Class::Policy | Class::Truncated | Class::SchemaInvalid) {
                let stage = if seen.output { Stage::Output } else { Stage::Headers };
                return (Some(Classified { stage, ..failure }), None);
            }
            return placed(failure, seen.output);
        }
        let complete = seen.ended || seen.reason.is_some();
        (self.at_the_end(&seen, complete, end), None)
    }

    /// What a stream is that no error ended and that gives no reason against itself.
    fn at_the_end(&self, seen: &Seen, complete: bool, end: End) -> Option<Classified> {
        let stage = if seen.output { Stage::Output } else { Stage::Headers };
        let failure = match (complete, seen.output) {
            (true, true) => return None,
            (true, false) if seen.refused => found(Class::Policy, "refusal", "the model declined"),
            (true, false) => found(Class::EmptyResponse, "finish-empty", "the answer holds nothing"),
            (false, output) => {
                let ended = match end {
                    End::Clean => Ended::Clean,
                    End::Reset => Ended::Reset,
                    End::Stall => Ended::Stalled,
                };
                let began = match &seen.foreign {
                    _ if seen.known => Began::Answer,
                    Some(foreign) => Began::Other(foreign),
                    None => Began::Nothing,
                };
                let failure = broken::off(ended, began);
                if output && end == End::Reset { failure.after_output() } else { failure }
            }
        };
        Some(Classified { stage, ..failure })
    }

    fn look(&self, payload: &Payload, seen: &mut Seen) {
        let data = payload.data.trim();
        if payload.exception || payload.name == "error" {
            let named = Some(payload.name.as_str()).filter(|n| *n != "error");
            return self.failed(data, named, seen);
        }
        if data == "[DONE]" || data.is_empty() || payload.name == "ping" {
            return;
        }
        let Some(object) = Object::read(data) else {
            if payload.unfinished {
                return;
            }
            let page = data.starts_with('<');
            let rule = if page { "body-page" } else { "stream-not-json" };
            seen.foreign.get_or_insert_with(|| found(Class::MalformedResponse, rule, "the stream is of another kind"));
            return;
        };
        let object = &object;
        if let Some(inner) = error_in(object) {
            return self.failed(inner, None, seen);
        }
        if payload.unfinished {
            return;
        }
        let kind = object.members.get("type").and_then(json::string);
        let kind = kind.as_deref().unwrap_or(&payload.name);
        let ends = self.dialects().any(|d| d.ends.contains(&kind));
        if !ends && kind != "ping" && payload.name.is_empty() && !self.knows(object) {
            // An error in an odd shape, unless it is one of the events that say nothing.
            let foreign = self.foreign(object);
            if foreign.class == Class::MalformedResponse {
                if !object.members.has("type") {
                    seen.foreign.get_or_insert(foreign);
                }
            } else {
                self.failed(data, None, seen);
            }
            return;
        }
        seen.known = true;
        seen.output |= self.brings_output(object);
        seen.refused |= self.refuses(object);
        if seen.reason.is_none() {
            seen.reason = self.reason(object);
        }
        let finished = |name| object.members.get(name).is_some_and(|v| !matches!(v.get(), "false" | "\"\""));
        seen.ended |= ends || finished("done") || finished("generated_text");
    }

    fn failed(&self, payload: &str, named: Option<&str>, seen: &mut Seen) {
        // Some servers tell a failure twice: what says more counts.
        let general = |e: &Classified| matches!(e.class, Class::StreamEarly | Class::ServerError);
        if seen.errors == MOST_ERRORS || seen.error.as_ref().is_some_and(|told| !general(told)) {
            return;
        }
        seen.errors += 1;
        let error = self.error(payload, named);
        if seen.error.as_ref().is_none_or(|told| general(told) && !general(&error)) {
            seen.error = Some(error);
        }
    }
}

/// A failure at the place where a stream is, and its cause.
fn placed(failure: Classified, output: bool) -> (Option<Classified>, Option<Class>) {
    let general = matches!(failure.class, Class::StreamEarly | Class::ServerError);
    let cause = if general { Class::ServerError } else { failure.class };
    let class = if general { Class::StreamEarly } else { failure.class };
    let failure = Classified { class, stage: Stage::Headers, ..failure };
    (Some(if output { failure.after_output() } else { failure }), Some(cause))
}
