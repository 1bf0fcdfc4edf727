//! Bodies of scripted answers, whole and in events.

use super::{Scripted, ScriptedAsk, ScriptedBody, Then};
use crate::policy::{Millis, StreamEnd};
use crate::wire::chat::error;
use bytes::Bytes;
use serde_json::{Value, json};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Writes answers to one request.
#[derive(Clone, Copy)]
pub(super) struct Writer<'a> {
    pub ask: ScriptedAsk<'a>,
}

impl Writer<'_> {
    /// A complete answer of this text.
    pub fn complete(&self, text: &str) -> Scripted {
        let pieces: Vec<&str> = text.split_inclusive(' ').collect();
        let count = pieces.len() as u64;
        if !self.ask.stream {
            return self.whole(text, Some("stop"), count);
        }
        let mut events = vec![self.role()];
        events.extend(pieces.iter().map(|p| self.content(p)));
        events.extend(self.finish("stop", count));
        self.stream(events, Then::Closes)
    }

    /// So many pieces of output, and then the end that is wanted.
    pub fn tokens(&self, tokens: u32, then: StreamEnd) -> Scripted {
        let pieces: Vec<String> = (1..=tokens).map(|n| format!("token-{n} ")).collect();
        let end = match then {
            StreamEnd::Cuts => Then::Cuts,
            StreamEnd::Stalls => Then::Stalls,
            StreamEnd::Errors | StreamEnd::Ends => Then::Closes,
        };
        let failing = then == StreamEnd::Errors;
        if self.ask.stream {
            let mut events = vec![self.role()];
            events.extend(pieces.iter().map(|p| self.content(p)));
            events.extend(failing.then(|| frame(&broken())));
            return self.stream(events, end);
        }
        if failing {
            return scripted(200, JSON, ScriptedBody::Whole(broken().to_string().into()));
        }
        // A whole answer that is not all there: its first half, or nothing but headers where no output was asked for.
        let whole = self.object("chat.completion", json!([self.choice(&pieces.concat(), None)]), None).to_string();
        let half = if tokens == 0 { 0 } else { whole.len() / 2 };
        let events = whole.get(..half).filter(|h| !h.is_empty()).map(|h| Bytes::from(h.to_owned()));
        let body = ScriptedBody::Stream { events: events.into_iter().collect(), lead: 0, then: end };
        scripted(200, JSON, body)
    }

    /// Ended by length below the request's own limit. It holds nothing, so that a stream shows it before output and a
    /// request without a limit shows it too.
    pub fn truncated(&self) -> Scripted {
        let spent = self.ask.max_output.map_or(1, |limit| limit / 2);
        if !self.ask.stream {
            return self.whole("", Some("length"), spent);
        }
        let mut events = vec![self.role()];
        events.extend(self.finish("length", spent));
        if !self.ask.include_usage {
            // Without usage nothing tells a length stop at the limit from one below it.
            events.insert(2.min(events.len()), self.usage(spent));
        }
        self.stream(events, Then::Closes)
    }

    /// A success with nothing in it.
    pub fn empty(&self) -> Scripted {
        if !self.ask.stream {
            return self.whole("", Some("stop"), 0);
        }
        let mut events = vec![self.role()];
        events.extend(self.finish("stop", 0));
        self.stream(events, Then::Closes)
    }

    /// A success that is no JSON; in a stream a malformed frame.
    pub fn invalid_json(&self) -> Scripted {
        let broken = format!("{{\"id\":{},\"choices\":[{{\"index\":0,", Value::from(self.ask.id));
        if !self.ask.stream {
            return scripted(200, JSON, ScriptedBody::Whole(broken.into()));
        }
        self.stream(vec![self.role(), format!("data: {broken}\n\n").into()], Then::Closes)
    }

    /// An answer without success.
    pub fn error(&self, status: u16, retry_after: Option<Millis>, code: Option<&str>) -> Scripted {
        let message = format!("scripted answer {status}");
        let inner = json!({"message": message, "type": error::kind(status), "param": null, "code": code});
        let mut scripted = scripted(status, JSON, ScriptedBody::Whole(json!({"error": inner}).to_string().into()));
        if let Some(Millis(ms)) = retry_after {
            if !ms.is_multiple_of(1_000) {
                scripted.headers.push(("retry-after-ms".into(), ms.to_string()));
            }
            scripted.headers.push(("retry-after".into(), ms.div_ceil(1_000).to_string()));
        }
        scripted
    }

    fn whole(&self, text: &str, finish: Option<&str>, output: u64) -> Scripted {
        let usage = Some(self.count(output));
        let body = self.object("chat.completion", json!([self.choice(text, finish)]), usage).to_string();
        scripted(200, JSON, ScriptedBody::Whole(body.into()))
    }

    fn stream(&self, events: Vec<Bytes>, then: Then) -> Scripted {
        scripted(200, EVENTS, ScriptedBody::Stream { events, lead: 1, then })
    }

    fn role(&self) -> Bytes {
        self.delta(json!({"role": "assistant", "content": ""}), None)
    }

    fn content(&self, text: &str) -> Bytes {
        self.delta(json!({"content": text}), None)
    }

    /// The last events: the reason, the usage if it was asked for, and the end marker.
    fn finish(&self, reason: &str, output: u64) -> Vec<Bytes> {
        let usage = self.ask.include_usage.then(|| self.usage(output));
        let reason = self.delta(json!({}), Some(reason));
        [Some(reason), usage, Some(Bytes::from_static(b"data: [DONE]\n\n"))].into_iter().flatten().collect()
    }

    fn usage(&self, output: u64) -> Bytes {
        frame(&self.object("chat.completion.chunk", json!([]), Some(self.count(output))))
    }

    fn delta(&self, delta: Value, finish: Option<&str>) -> Bytes {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        frame(&self.object("chat.completion.chunk", json!([choice]), None))
    }

    fn choice(&self, text: &str, finish: Option<&str>) -> Value {
        json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish})
    }

    fn count(&self, output: u64) -> Value {
        let input = self.ask.prompt_tokens;
        json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input.saturating_add(output)})
    }

    fn object(&self, object: &str, choices: Value, usage: Option<Value>) -> Value {
        let ScriptedAsk { id, created, model, .. } = self.ask;
        let mut answer = json!({"id": id, "object": object, "created": created, "model": model, "choices": choices});
        if let (Some(members), Some(usage)) = (answer.as_object_mut(), usage) {
            members.insert("usage".into(), usage);
        }
        answer
    }
}

/// An error object that names no class.
fn broken() -> Value {
    json!({"error": {"message": "scripted error", "type": "server_error", "param": null, "code": null}})
}

fn frame(value: &Value) -> Bytes {
    format!("data: {value}\n\n").into()
}

fn scripted(status: u16, content_type: &str, body: ScriptedBody) -> Scripted {
    Scripted { status, headers: vec![("content-type".into(), content_type.into())], body }
}
