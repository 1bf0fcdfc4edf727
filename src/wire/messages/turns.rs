//! The conversation: instructions first, then turns of user and assistant, and each tool call with its result.
//!
//! In: `messages` as chat has them. Out: the same as this dialect has them. Turns of one role are joined, so that they
//! alternate; all results of a turn's calls stand first in the user's turn after it. A conversation that cannot be written
//! so is named by its terms, and is not made to fit: no call, result or turn is invented.

use super::content;
use super::form::{Block, Role, Turn};
use crate::policy::{Term, Terms};
use crate::wire::json::{self, Members};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;

/// Members of a message that are written, are terms of their own, or say nothing to a model that answers.
const MEMBERS: &[&str] = &[
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "refusal",
    "audio",
    "function_call",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "annotations",
    "cache_control",
];

/// Values that say nothing, whatever the member.
const NOTHING: &[&str] = &["null", "false", "\"\"", "{}", "[]"];

/// A conversation.
#[derive(Debug, Default)]
pub(super) struct Turns<'a> {
    pub(super) system: Vec<Block<'a>>,
    pub(super) turns: Vec<Turn<'a>>,
    /// Whether there are calls in it.
    pub(super) calls: bool,
    /// Calls of the turn before that have no result yet.
    open: HashSet<Cow<'a, str>>,
    /// Every id of a call.
    ids: HashSet<Cow<'a, str>>,
}

impl<'a> Turns<'a> {
    /// Reads a conversation.
    pub(super) fn of(messages: &'a RawValue, terms: &mut Terms) -> Turns<'a> {
        let list: Vec<&RawValue> = serde_json::from_str(messages.get()).unwrap_or_default();
        let mut all = Turns::default();
        for message in list {
            match Members::read(message.get()) {
                Ok(message) => all.message(&message, terms),
                Err(_) => terms.add(Term::Parts),
            }
        }
        all.close(terms);
        let ends = [all.turns.first(), all.turns.last()];
        if !ends.iter().all(|turn| turn.is_some_and(|turn| turn.role == Role::User)) {
            terms.add(Term::TurnOrder);
        }
        all
    }

    fn message(&mut self, message: &Members<'a>, terms: &mut Terms) {
        let role = message.get("role").and_then(json::string);
        let role = role.as_deref();
        if message.0.iter().any(|(name, value)| !MEMBERS.contains(&name.as_ref()) && !NOTHING.contains(&value.get())) {
            terms.add(Term::Other);
        }
        if message.get("name").is_some() && role != Some("tool") {
            terms.add(Term::Names);
        }
        let content = message.get("content");
        let blocks = |terms: &mut Terms| content.map_or(Vec::new(), |c| content::blocks(c, terms));
        match role {
            Some("system" | "developer") if self.turns.is_empty() => self.system.extend(blocks(terms)),
            Some("system" | "developer") => terms.add(Term::LateSystem),
            Some("user") => {
                self.close(terms);
                let blocks = blocks(terms);
                self.push(Role::User, blocks);
            }
            Some("assistant") => {
                self.close(terms);
                let mut blocks = blocks(terms);
                let refusal = message.get("refusal").and_then(json::string);
                blocks.extend(refusal.and_then(content::text));
                if message.get("audio").is_some() {
                    terms.add(Term::Audio);
                }
                if message.get("function_call").is_some() {
                    terms.add(Term::Functions);
                }
                let calls = message.get("tool_calls");
                let calls: Vec<&RawValue> = calls.and_then(|c| serde_json::from_str(c.get()).ok()).unwrap_or_default();
                for call in calls {
                    match self.call(call) {
                        Ok(block) => blocks.push(block),
                        Err(term) => terms.add(term),
                    }
                }
                self.push(Role::Assistant, blocks);
            }
            Some("tool") => {
                let id = message.get("tool_call_id").and_then(json::string).map(id);
                let Some(tool_use_id) = id.filter(|id| self.open.remove(id)) else {
                    return terms.add(Term::ToolPairing);
                };
                let content = blocks(terms);
                self.push(Role::User, vec![Block::ToolResult { tool_use_id, content }]);
            }
            Some("function") => terms.add(Term::Functions),
            Some(_) | None => terms.add(Term::Parts),
        }
    }

    fn call(&mut self, call: &'a RawValue) -> Result<Block<'a>, Term> {
        let call = Members::read(call.get()).map_err(|_| Term::OtherTools)?;
        let function = call.get("function").and_then(|f| Members::read(f.get()).ok()).ok_or(Term::OtherTools)?;
        let name = function.get("name").and_then(json::string).ok_or(Term::OtherTools)?;
        let id = call.get("id").and_then(json::string).map(id).ok_or(Term::ToolPairing)?;
        if self.ids.contains(&id) {
            return Err(Term::ToolPairing);
        }
        let input = function.get("arguments").map_or_else(|| object(""), arguments).ok_or(Term::ToolArguments)?;
        self.calls = true;
        self.open.insert(id.clone());
        self.ids.insert(id.clone());
        Ok(Block::ToolUse { id, name, input })
    }

    /// What is said next. Who says nothing has no turn.
    fn push(&mut self, role: Role, content: Vec<Block<'a>>) {
        match self.turns.last_mut() {
            _ if content.is_empty() => {}
            Some(turn) if turn.role == role => turn.content.extend(content),
            Some(_) | None => self.turns.push(Turn { role, content }),
        }
    }

    /// Somebody else speaks: calls without a result will have none.
    fn close(&mut self, terms: &mut Terms) {
        if !self.open.is_empty() {
            terms.add(Term::ToolPairing);
            self.open.clear();
        }
    }
}

/// Arguments as an object: of a text, or as some servers give them, as they are.
fn arguments(arguments: &RawValue) -> Option<Box<RawValue>> {
    match json::string(arguments) {
        Some(text) => object(&text),
        None => object(arguments.get()),
    }
}

/// No text at all is no arguments.
fn object(text: &str) -> Option<Box<RawValue>> {
    let text = if text.trim().is_empty() { "{}" } else { text.trim() };
    RawValue::from_string(text.to_owned()).ok().filter(|value| value.get().starts_with('{'))
}

/// An id of a call as this dialect allows it: always the same for the same, and never the same for another.
fn id(id: Cow<'_, str>) -> Cow<'_, str> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if !id.is_empty() && id.bytes().all(allowed) && !id.starts_with(ENCODED) {
        return id;
    }
    let hex: String = id.bytes().map(|byte| format!("{byte:02x}")).collect();
    Cow::Owned(format!("{ENCODED}{hex}"))
}

/// What an id begins with that was not allowed as it was.
const ENCODED: &str = "sb-id-";
