//! A stream of this dialect, as a stream of chat.
//!
//! In: bytes of the body as they come. Out: events of chat, or a failure where there is no such event. Which of them is
//! output, whether the stream is whole and what an error in it is, is for the reader of chat streams to say: errors, pings
//! and what is no JSON are handed on to it. An end is told only where the upstream told one.

use super::Answering;
use super::answer::{CALLS, finish};
use super::usage::Counts;
use crate::classify::Classified;
use crate::policy::{Class, Stage, Usage};
use crate::wire::broken::error_in;
use crate::wire::json::{self, Members};
use crate::wire::output::Object;
use crate::wire::sse::{Block, SseReader};
use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What a stream says next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Events of chat, whole.
    Events(Bytes),
    /// It failed, in a way that no event tells.
    Failed(Classified),
}

/// Reads one stream.
#[derive(Debug, Default)]
pub struct Translator {
    events: SseReader,
    to: Answering,
    id: String,
    model: Option<String>,
    counts: Counts,
    begun: bool,
    finished: bool,
    /// Calls that were begun.
    calls: u64,
    /// Blocks that are calls and have not ended, by their number.
    open: BTreeMap<u64, Call>,
}

/// A call whose arguments are coming.
#[derive(Debug)]
struct Call {
    /// Which of the answer's calls it is.
    number: u64,
    /// Arguments that came with its beginning, for one that nothing follows.
    input: String,
    some: bool,
}

impl Translator {
    /// A reader at the beginning of an answer.
    pub fn new(to: Answering) -> Translator {
        Translator { to, ..Translator::default() }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: Bytes) {
        self.events.push(bytes);
    }

    /// What the bytes so far say next. Events that say nothing to a chat client are passed over.
    pub fn next_said(&mut self) -> Option<Said> {
        loop {
            let said = match self.events.next_block()? {
                Block::Quiet { raw } => Said::Events(raw),
                Block::Event { raw, name, data } => self.event(raw, &name, &data),
                Block::Overflow => Said::Failed(malformed("stream-overflow", "an event is too long")),
            };
            if !matches!(&said, Said::Events(events) if events.is_empty()) {
                return Some(said);
            }
        }
    }

    /// Whether the stream ends here in the middle of an event.
    pub fn is_unfinished(&self) -> bool {
        self.events.is_unfinished()
    }

    /// What it cost, as far as it was told.
    pub fn usage(&self) -> Option<Usage> {
        self.counts.usage()
    }

    fn event(&mut self, raw: Bytes, name: &[u8], data: &[u8]) -> Said {
        let text = std::str::from_utf8(data).ok();
        let members = text.and_then(|text| Members::read(text).ok());
        let Some(members) = members.filter(|_| name != b"error") else { return Said::Events(raw) };
        let kind = members.get("type").and_then(json::string);
        let mut out = Vec::new();
        match kind.as_deref() {
            Some("error") => return Said::Events(raw),
            // A comment: clients of chat know no event of this name.
            Some("ping") => return Said::Events(Bytes::from_static(b": ping\n\n")),
            Some("message_start") => self.start(&members, &mut out),
            Some("content_block_start") => self.block(&members, &mut out),
            Some("content_block_delta") => self.delta(&members, &mut out),
            Some("content_block_stop") => self.block_end(&members, &mut out),
            Some("message_delta") => {
                if let Err(failure) = self.message_delta(&members, &mut out) {
                    return Said::Failed(failure);
                }
            }
            Some("message_stop") => out.extend_from_slice(b"data: [DONE]\n\n"),
            // The dialect grows: what is new is passed over, unless it says that something went wrong.
            Some(_) | None if text.is_some_and(fails) => return Said::Events(raw),
            Some(_) => {}
            None => return Said::Failed(malformed("stream-other", "the stream is none of the target's dialect")),
        }
        Said::Events(out.into())
    }

    fn start(&mut self, members: &Members<'_>, out: &mut Vec<u8>) {
        let message = members.get("message").and_then(|m| Members::read(m.get()).ok()).unwrap_or_default();
        let word = |name: &str| message.get(name).and_then(json::string).filter(|w| !w.is_empty());
        self.id = word("id").unwrap_or_default().into_owned();
        self.model = word("model").map(std::borrow::Cow::into_owned);
        if let Some(usage) = message.get("usage") {
            self.counts.take(usage);
        }
        self.begin(out);
    }

    /// The role comes before all else, and once.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            self.chunk(out, json!({"role": "assistant", "content": ""}), Value::Null);
        }
    }

    fn block(&mut self, members: &Members<'_>, out: &mut Vec<u8>) {
        let Some(block) = members.get("content_block").and_then(|b| Members::read(b.get()).ok()) else { return };
        let word = |name: &str| block.get(name).and_then(json::string).unwrap_or_default();
        match word("type").as_ref() {
            "text" => self.say(out, "content", &word("text")),
            "thinking" => self.say(out, "reasoning_content", &word("thinking")),
            "tool_use" => {
                // A block of the same number is over.
                self.block_end(members, out);
                let input = block.get("input").map_or("", RawValue::get).to_owned();
                let call = Call { number: self.calls, input, some: false };
                let function = json!({"name": word("name"), "arguments": ""});
                let told = json!({"index": call.number, "id": word("id"), "type": "function", "function": function});
                self.calls += 1;
                self.open.insert(index(members), call);
                self.begin(out);
                self.chunk(out, json!({"tool_calls": [told]}), Value::Null);
            }
            _ => {}
        }
    }

    fn delta(&mut self, members: &Members<'_>, out: &mut Vec<u8>) {
        let Some(delta) = members.get("delta").and_then(|d| Members::read(d.get()).ok()) else { return };
        let word = |name: &str| delta.get(name).and_then(json::string).unwrap_or_default();
        match word("type").as_ref() {
            "text_delta" => self.say(out, "content", &word("text")),
            "thinking_delta" => self.say(out, "reasoning_content", &word("thinking")),
            "input_json_delta" => {
                let (at, piece) = (index(members), word("partial_json"));
                let call = self.open.get_mut(&at).filter(|_| !piece.is_empty());
                let number = call.map(|call| {
                    call.some = true;
                    call.number
                });
                if let Some(number) = number {
                    self.arguments(out, number, &piece);
                }
            }
            _ => {}
        }
    }

    fn block_end(&mut self, members: &Members<'_>, out: &mut Vec<u8>) {
        let Some(call) = self.open.remove(&index(members)) else { return };
        self.close(&call, out);
    }

    /// The arguments that came with a call's beginning, where no others followed.
    fn close(&self, call: &Call, out: &mut Vec<u8>) {
        if !call.some {
            let arguments = if call.input.is_empty() { "{}" } else { call.input.as_str() };
            self.arguments(out, call.number, arguments);
        }
    }

    fn message_delta(&mut self, members: &Members<'_>, out: &mut Vec<u8>) -> Result<(), Classified> {
        if let Some(usage) = members.get("usage") {
            self.counts.take(usage);
        }
        let reason = members.get("delta").and_then(|d| json::member(d.get(), "stop_reason")).and_then(json::string);
        let Some(reason) = reason.filter(|reason| !reason.is_empty() && !self.finished) else { return Ok(()) };
        let finish = finish(&reason, self.calls > 0)?;
        self.finished = true;
        self.begin(out);
        // Who leaves out the end of a block has ended it here all the same; what was cut stays cut.
        for call in std::mem::take(&mut self.open).into_values() {
            if finish == CALLS {
                self.close(&call, out);
            }
        }
        self.chunk(out, json!({}), finish.into());
        if let Some(usage) = self.counts.chat().filter(|_| self.to.include_usage) {
            self.write(out, json!([]), Some(usage));
        }
        Ok(())
    }

    fn say(&mut self, out: &mut Vec<u8>, member: &str, text: &str) {
        if !text.is_empty() {
            self.begin(out);
            self.chunk(out, json!({member: text}), Value::Null);
        }
    }

    fn arguments(&self, out: &mut Vec<u8>, number: u64, piece: &str) {
        let told = json!({"index": number, "function": {"arguments": piece}});
        self.chunk(out, json!({"tool_calls": [told]}), Value::Null);
    }

    fn chunk(&self, out: &mut Vec<u8>, delta: Value, finish: Value) {
        self.write(out, json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]), None);
    }

    fn write(&self, out: &mut Vec<u8>, choices: Value, usage: Option<Value>) {
        let model = self.model.as_deref().unwrap_or(&self.to.model);
        let mut chunk = json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.to.created, "model": model,
            "choices": choices,
        });
        if let (Some(members), Some(usage)) = (chunk.as_object_mut(), usage) {
            members.insert("usage".into(), usage);
        }
        out.extend_from_slice(format!("data: {chunk}\n\n").as_bytes());
    }
}

/// Whether an event of no known type says that something went wrong, as in any dialect.
fn fails(event: &str) -> bool {
    Object::read(event).is_some_and(|object| error_in(&object).is_some())
}

fn index(members: &Members<'_>) -> u64 {
    members.get("index").and_then(|i| i.get().parse().ok()).unwrap_or(0)
}

fn malformed(rule: &'static str, words: &str) -> Classified {
    Classified::of(Class::MalformedResponse, Stage::Headers, rule).saying(words)
}

#[cfg(test)]
mod tests;
