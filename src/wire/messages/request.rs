//! A chat request, written in this dialect.
//!
//! In: a chat request that could be read. Out: a body, or the terms for which there are no words here. Each member of the
//! request is looked at: it is written, or it is one of those that may be left out without loss, or it is a term.

use super::form::{Format, Metadata, OutputConfig, Request, Thinking};
use super::tools;
use super::turns::Turns;
use crate::policy::{Term, Terms};
use crate::wire::chat::ChatRequest;
use crate::wire::json::{self, Members};
use bytes::Bytes;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Members that are written elsewhere, or that change nothing of an answer: what something costs or how soon it comes, or
/// what is kept by whoever asked.
const LEFT_OUT: &[&str] = &[
    "model",
    "messages",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "top_p",
    "metadata",
    "user",
    "safety_identifier",
    "prediction",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
    "service_tier",
];

/// Why a request cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unwritten {
    /// There are no words for something.
    #[error("the request says what the target's dialect has no words for")]
    Terms(Terms),
    /// A request here has a limit of output, and neither its sender nor the model states one.
    #[error("the request has no limit of output, which the target's dialect asks for, and its model states none")]
    NoLimit,
}

/// What a request says for which there are no words here.
pub fn beyond(chat: &ChatRequest) -> Terms {
    let mut terms = Terms::default();
    let text = std::str::from_utf8(chat.body()).unwrap_or_default();
    if let Ok(members) = Members::read(text) {
        read(chat, &members, &mut terms);
    }
    terms
}

/// The body for a model. `most` is what the model gives at most, in tokens, for a request that names no limit.
///
/// # Errors
/// Where there are no words for something, or no limit.
pub fn write(chat: &ChatRequest, model: &str, most: Option<u64>) -> Result<Bytes, Unwritten> {
    let mut terms = Terms::default();
    let text = std::str::from_utf8(chat.body()).unwrap_or_default();
    let members = Members::read(text).unwrap_or_default();
    let request = read(chat, &members, &mut terms);
    if !terms.is_empty() {
        return Err(Unwritten::Terms(terms));
    }
    let max_tokens = chat.max_output().or(most).ok_or(Unwritten::NoLimit)?;
    // Strings, numbers and texts that are JSON already cannot fail to be written.
    Ok(serde_json::to_vec(&Request { model, max_tokens, ..request }).unwrap_or_default().into())
}

fn read<'a>(chat: &ChatRequest, members: &Members<'a>, terms: &mut Terms) -> Request<'a> {
    let get = |name: &str| members.get(name);
    let turns = get("messages").map_or_else(Turns::default, |m| Turns::of(m, terms));
    let tools = get("tools").map_or(Vec::new(), |list| tools::tools(list, terms));
    if turns.calls && tools.is_empty() {
        terms.add(Term::UndefinedTools);
    }
    // Without tools there is nothing to choose from, and nothing to call at once.
    let tool_choice = if tools.is_empty() {
        None
    } else {
        let many = get("parallel_tool_calls").is_none_or(|many| many.get() != "false");
        tools::choice(get("tool_choice"), many, terms)
    };
    let mut config = OutputConfig::default();
    let mut thinking = None;
    let mut stop_sequences = Vec::new();
    let mut temperature = None;
    for (name, value) in members.0.iter().filter(|(_, value)| value.get() != "null") {
        match name.as_ref() {
            "stop" => stop_sequences = stops(value, terms),
            "temperature" => {
                temperature = Some(*value);
                add(terms, Term::Temperature, !number(value).is_some_and(|t| (0.0..=1.0).contains(&t)));
            }
            "response_format" => config.format = format(value, terms),
            "reasoning_effort" => match effort(value) {
                Some("none") => thinking = Some(Thinking::Disabled),
                Some(effort) => config.effort = Some(effort),
                None => terms.add(Term::Other),
            },
            "n" => add(terms, Term::Choices, value.get() != "1"),
            "logprobs" => add(terms, Term::LogProbs, value.get() != "false"),
            "top_logprobs" => add(terms, Term::LogProbs, number(value) != Some(0.0)),
            "logit_bias" => add(terms, Term::LogitBias, !is_empty(value)),
            "seed" => terms.add(Term::Seed),
            "presence_penalty" | "frequency_penalty" => add(terms, Term::Penalties, number(value) != Some(0.0)),
            "verbosity" => add(terms, Term::Verbosity, value.get() != "\"medium\""),
            "modalities" => add(terms, Term::Audio, !is_text_alone(value)),
            "audio" => terms.add(Term::Audio),
            "functions" => add(terms, Term::Functions, !is_empty(value)),
            "function_call" => terms.add(Term::Functions),
            "store" => add(terms, Term::Hosted, value.get() != "false"),
            "web_search_options" | "moderation" => terms.add(Term::Hosted),
            name if LEFT_OUT.contains(&name) => {}
            _ => terms.add(Term::Other),
        }
    }
    let asked = config.effort.is_some() || config.format.is_some();
    Request {
        model: "",
        max_tokens: 0,
        system: turns.system,
        messages: turns.turns,
        tools,
        tool_choice,
        stop_sequences,
        temperature,
        top_p: get("top_p"),
        output_config: asked.then_some(config),
        thinking,
        metadata: user(members),
        stream: chat.stream(),
    }
}

fn add(terms: &mut Terms, term: Term, used: bool) {
    if used {
        terms.add(term);
    }
}

fn number(value: &RawValue) -> Option<f64> {
    value.get().parse().ok()
}

fn is_empty(value: &RawValue) -> bool {
    let inner = value.get().trim_matches(|c: char| c.is_ascii_whitespace() || "[]{}".contains(c));
    inner.is_empty()
}

fn is_text_alone(modalities: &RawValue) -> bool {
    serde_json::from_str::<Vec<String>>(modalities.get()).is_ok_and(|all| all.iter().all(|kind| kind == "text"))
}

/// One sequence or several. The dialect refuses blank ones.
fn stops<'a>(value: &'a RawValue, terms: &mut Terms) -> Vec<Cow<'a, str>> {
    let list: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_else(|_| vec![value]);
    let all: Vec<Cow<'a, str>> = list.iter().filter_map(|stop| json::string(stop)).collect();
    add(terms, Term::StopBlank, all.iter().any(|stop| stop.trim().is_empty()));
    add(terms, Term::Other, all.len() != list.len());
    all
}

fn format<'a>(value: &'a RawValue, terms: &mut Terms) -> Option<Format<'a>> {
    let kind = json::member(value.get(), "type").and_then(json::string);
    match kind.as_deref() {
        Some("text") => None,
        Some("json_object") => {
            terms.add(Term::JsonObject);
            None
        }
        Some("json_schema") => {
            let schema = json::member(value.get(), "json_schema").and_then(|s| json::member(s.get(), "schema"));
            add(terms, Term::JsonObject, schema.is_none());
            schema.map(|schema| Format::JsonSchema { schema })
        }
        Some(_) | None => {
            terms.add(Term::Other);
            None
        }
    }
}

/// How much it is to reason; `none` is none at all.
fn effort(value: &RawValue) -> Option<&'static str> {
    match json::string(value)?.as_ref() {
        "none" => Some("none"),
        "minimal" | "low" => Some("low"),
        "medium" => Some("medium"),
        "high" => Some("high"),
        "xhigh" => Some("xhigh"),
        "max" => Some("max"),
        _ => None,
    }
}

fn user<'a>(members: &Members<'a>) -> Option<Metadata<'a>> {
    let who = members.get("safety_identifier").or_else(|| members.get("user"))?;
    json::string(who).filter(|who| !who.is_empty()).map(|user_id| Metadata { user_id })
}

#[cfg(test)]
mod tests;
