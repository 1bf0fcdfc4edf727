//! A whole answer of this dialect, as a chat answer.
//!
//! In: a body under a success. Out: the chat completion that says the same; or nothing, where it is no message, so that
//! whoever judges answers says what it is instead. An end that chat has no word for is a failure, and never a `stop`.

use super::Answering;
use super::usage::Counts;
use crate::classify::Classified;
use crate::policy::{Class, Scope, Stage};
use crate::wire::json::{self, Members};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;

/// The chat answer that a message is.
///
/// # Errors
/// Where the message is a refusal, or stops in the midst of its turn.
pub fn chat_of(body: &str, to: &Answering) -> Option<Result<Vec<u8>, Classified>> {
    let members = Members::read(body).ok()?;
    let is_message = members.get("type").and_then(json::string).is_some_and(|kind| kind == "message");
    let content = members.get("content").filter(|c| is_message && c.get().starts_with('['))?;
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    // All of them: what is shown of a list elsewhere is bounded, and an answer must not be.
    for block in serde_json::from_str::<Vec<&RawValue>>(content.get()).unwrap_or_default() {
        let block = Members::read(block.get()).unwrap_or_default();
        let word = |name: &str| block.get(name).and_then(json::string).unwrap_or_default();
        match word("type").as_ref() {
            "text" => text.push_str(&word("text")),
            "thinking" => thinking.push_str(&word("thinking")),
            "tool_use" => {
                let arguments = block.get("input").map_or("{}", |input| input.get());
                let function = json!({"name": word("name"), "arguments": arguments});
                calls.push(json!({"id": word("id"), "type": "function", "function": function}));
            }
            _ => {}
        }
    }
    let reason = members.get("stop_reason").and_then(json::string);
    let finish = match finish(reason.as_deref().unwrap_or(""), !calls.is_empty()) {
        Ok(finish) => finish,
        Err(failure) => return Some(Err(failure)),
    };
    if finish == FILTERED {
        // A refusal is one whatever was said before it: the vendor takes that back too.
        let refused = Classified::of(Class::Policy, Stage::Headers, "finish-filter").saying("the model declined");
        return Some(Err(refused.within(Scope::Request)));
    }
    let mut counts = Counts::default();
    if let Some(usage) = members.get("usage") {
        counts.take(usage);
    }
    let content = if text.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({"role": "assistant", "content": content});
    if let Some(message) = message.as_object_mut() {
        if !thinking.is_empty() {
            message.insert("reasoning_content".into(), thinking.into());
        }
        if !calls.is_empty() {
            message.insert("tool_calls".into(), calls.into());
        }
    }
    let word = |name: &str| members.get(name).and_then(json::string).filter(|w| !w.is_empty());
    let finish = if finish.is_empty() { Value::Null } else { finish.into() };
    let mut answer = json!({
        "id": word("id").unwrap_or_default(),
        "object": "chat.completion",
        "created": to.created,
        "model": word("model").unwrap_or(Cow::Borrowed(&to.model)),
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": finish}],
    });
    if let (Some(answer), Some(usage)) = (answer.as_object_mut(), counts.chat()) {
        answer.insert("usage".into(), usage);
    }
    Some(Ok(answer.to_string().into_bytes()))
}

/// Chat's word for an answer that was withheld.
pub(super) const FILTERED: &str = "content_filter";

/// Chat's word for an answer that ends with calls.
pub(super) const CALLS: &str = "tool_calls";

/// Chat's word for the reason of an end. A reason that nobody here knows is handed on as it is.
pub(super) fn finish(reason: &str, calls: bool) -> Result<&str, Classified> {
    match reason {
        "end_turn" | "stop_sequence" | "tool_use" => Ok(if calls { CALLS } else { "stop" }),
        "max_tokens" | "model_context_window_exceeded" => Ok("length"),
        "refusal" => Ok(FILTERED),
        // Only a tool that the vendor runs leads here, and none was asked for.
        "pause_turn" => Err(Classified::of(Class::Truncated, Stage::Headers, "finish-pause")
            .saying("the answer stopped in the midst of its turn")),
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests;
