//! A chat completion request: what it asks for, and its bytes with another model's name in them.
//!
//! In: a body. Out: `ChatRequest`, or what is wrong with it in words for its sender. The bytes are kept as they came and
//! no tree of them is built; only what routing and contracts need is looked at. Everything else is between the sender
//! and the target.

use super::answer::Asked;
use super::content::Content;
use crate::decide::facts::Facts;
use crate::policy::{Effects, Modalities, StructuredOutput};
use crate::wire::json::{self, Members};
use bytes::Bytes;
use serde_json::value::RawValue;
use std::ops::Range;

/// Members that decide something here, and so must not be written twice.
const READ: &[&str] = &[
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_completion_tokens",
    "max_tokens",
    "n",
    "tools",
    "functions",
    "parallel_tool_calls",
    "response_format",
    "metadata",
    "web_search_options",
    "store",
];

/// A request that could be read.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    body: Bytes,
    model_at: Range<usize>,
    model: String,
    stream: bool,
    include_usage: bool,
    /// Per choice.
    max_output: Option<u64>,
    choices: u64,
    tools: bool,
    parallel_tools: bool,
    structured_output: StructuredOutput,
    tokens: u64,
    modalities: Modalities,
    metadata: Vec<(String, String)>,
    effects: Effects,
}

/// Why a request cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadRequest {
    /// The HTTP status.
    pub status: u16,
    /// `invalid_json` or `invalid-request`.
    pub code: &'static str,
    /// What is wrong, for its sender.
    pub message: String,
    /// The member it is about.
    pub param: Option<String>,
}

impl BadRequest {
    fn json(message: String) -> BadRequest {
        BadRequest { status: 400, code: "invalid_json", message, param: None }
    }

    fn member(param: &str, message: impl Into<String>) -> BadRequest {
        BadRequest { status: 400, code: "invalid-request", message: message.into(), param: Some(param.to_owned()) }
    }
}

/// Reads a request.
///
/// # Errors
/// Where it is no JSON object, lacks what every request has, or contradicts itself.
pub fn read(body: Bytes) -> Result<ChatRequest, BadRequest> {
    let text = std::str::from_utf8(&body)
        .map_err(|e| BadRequest::json(format!("the body is not UTF-8 from byte {} on", e.valid_up_to() + 1)))?;
    let members = Members::read(text).map_err(|e| not_an_object(&e))?;
    if let Some(name) = members.repeated(READ) {
        return Err(BadRequest::member(name, format!("`{name}` is given more than once")));
    }
    let raw_model = members.get("model").ok_or_else(|| BadRequest::member("model", "`model` is missing"))?;
    let model = json::string(raw_model)
        .filter(|m| !m.is_empty())
        .ok_or_else(|| BadRequest::member("model", "`model` must be a string that is not empty"))?
        .into_owned();
    let model_at = json::range(text, raw_model).ok_or_else(|| BadRequest::member("model", "`model` is missing"))?;
    let messages = members.get("messages").ok_or_else(|| BadRequest::member("messages", "`messages` is missing"))?;
    if !is_filled_list(messages) {
        return Err(BadRequest::member("messages", "`messages` must be a list that is not empty"));
    }
    let stream = flag(&members, "stream")?;
    let options = members.get("stream_options");
    if options.is_some() && !stream {
        return Err(BadRequest::member("stream_options", "`stream_options` needs `stream` to be true"));
    }
    let max_completion = positive(&members, "max_completion_tokens")?;
    let max_output = max_completion.or(positive(&members, "max_tokens")?);
    // What cannot be counted here could be counted by a target, and cost more than was thought.
    let choices = positive(&members, "n")?.unwrap_or(1);
    let tools = members.get("tools");
    let functions = members.get("functions");
    let has_tools = [tools, functions].into_iter().flatten().any(is_filled_list);
    let content = Content::of(messages);
    let is_true = |name| members.get(name).is_some_and(|v| v.get() == "true");
    let outside = tools.is_some_and(runs_elsewhere) || members.get("web_search_options").is_some() || is_true("store");
    let tokens = content.tokens(messages, [tools, functions]);
    Ok(ChatRequest {
        model_at,
        model,
        stream,
        include_usage: options.is_some_and(|o| member(o, "include_usage").is_some_and(|v| v.get() == "true")),
        max_output,
        choices,
        tools: has_tools,
        parallel_tools: has_tools && is_true("parallel_tool_calls"),
        structured_output: members.get("response_format").map_or(StructuredOutput::None, form),
        tokens,
        modalities: content.modalities,
        metadata: members.get("metadata").map(strings).unwrap_or_default(),
        effects: if outside { Effects::Unknown } else { Effects::None },
        body,
    })
}

impl ChatRequest {
    /// The request's `model`, as its sender wrote it.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether the answer is to stream.
    pub fn stream(&self) -> bool {
        self.stream
    }

    /// Whether a stream is to end with its usage.
    pub fn include_usage(&self) -> bool {
        self.include_usage
    }

    /// Output tokens that it asks for at most, of each choice.
    pub fn max_output(&self) -> Option<u64> {
        self.max_output
    }

    /// The bytes as they came.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// What an answer is judged by.
    pub fn asked(&self) -> Asked {
        Asked {
            stream: self.stream,
            max_output: self.max_output.map(|m| m.saturating_mul(self.choices)),
            choices: self.choices,
            ..Asked::default()
        }
    }

    /// The facts of the request, as far as its body tells them.
    pub fn facts(&self, id: impl Into<String>) -> Facts {
        Facts {
            stream: self.stream,
            tools: self.tools,
            parallel_tools: self.parallel_tools,
            structured_output: self.structured_output,
            tokens: self.tokens,
            max_output: self.max_output,
            choices: self.choices,
            modalities: self.modalities,
            metadata: self.metadata.clone(),
            effects: self.effects,
            ..Facts::plain(id, self.model.as_str())
        }
    }

    /// The bytes as they came, with another value for `model` and nothing else touched.
    pub fn upstream_body(&self, model: &str) -> Bytes {
        let before = self.body.get(..self.model_at.start).unwrap_or_default();
        let after = self.body.get(self.model_at.end..).unwrap_or_default();
        [before, json::quoted(model).as_bytes(), after].concat().into()
    }
}

fn not_an_object(error: &serde_json::Error) -> BadRequest {
    if error.is_data() {
        return BadRequest { param: None, ..BadRequest::member("", "the body must be a JSON object") };
    }
    // The crate ends its message with the place, in its own words.
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    BadRequest::json(format!("the body is not JSON: {what} at line {}, column {}", error.line(), error.column()))
}

/// Whether a value, which is JSON already, is a list with something in it. Messages may be long, and are passed over
/// often enough.
fn is_filled_list(value: &RawValue) -> bool {
    let inside = value.get().strip_prefix('[').map(str::trim_ascii_start);
    inside.is_some_and(|inside| !inside.starts_with(']'))
}

fn list(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

fn member<'a>(object: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    Members::read(object.get()).ok()?.get(name)
}

fn flag(members: &Members<'_>, name: &str) -> Result<bool, BadRequest> {
    match members.get(name).map(RawValue::get) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(BadRequest::member(name, format!("`{name}` must be true or false"))),
    }
}

fn positive(members: &Members<'_>, name: &str) -> Result<Option<u64>, BadRequest> {
    let Some(value) = members.get(name) else { return Ok(None) };
    match value.get().parse::<u64>() {
        Ok(n) if n > 0 => Ok(Some(n)),
        Ok(_) | Err(_) => Err(BadRequest::member(name, format!("`{name}` must be a whole number above zero"))),
    }
}

fn form(format: &RawValue) -> StructuredOutput {
    match member(format, "type").and_then(json::string).as_deref() {
        Some("json_object") => StructuredOutput::JsonObject,
        Some("json_schema") => StructuredOutput::JsonSchema,
        Some(_) | None => StructuredOutput::None,
    }
}

/// Whether some tool is run by the provider: any type but the two that only describe a call to the sender.
fn runs_elsewhere(tools: &RawValue) -> bool {
    list(tools).unwrap_or_default().into_iter().any(|tool| {
        let kind = member(tool, "type").and_then(json::string);
        kind.is_some_and(|k| !matches!(k.as_ref(), "function" | "custom"))
    })
}

fn strings(metadata: &RawValue) -> Vec<(String, String)> {
    let members = Members::read(metadata.get()).unwrap_or_default();
    let pair = |(name, value): (std::borrow::Cow<'_, str>, &RawValue)| {
        json::string(value).map(|v| (name.into_owned(), v.into_owned()))
    };
    members.0.into_iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests;
