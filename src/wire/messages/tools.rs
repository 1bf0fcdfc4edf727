//! Tools, and which of them is to be called.
//!
//! In: `tools`, `tool_choice` and `parallel_tool_calls` as chat has them. Out: the same in this dialect, and the terms that
//! it has no words for. Schemas are handed on as written.

use super::form::{Choice, Tool};
use crate::policy::{Term, Terms};
use crate::wire::json::{self, Members};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The schema of a tool that states none: anything.
const ANY: &str = r#"{"type":"object"}"#;

/// The tools that are functions; any other is a term.
pub(super) fn tools<'a>(list: &'a RawValue, terms: &mut Terms) -> Vec<Tool<'a>> {
    let list: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
    list.into_iter().filter_map(|tool| one(tool).map_err(|term| terms.add(term)).ok()).collect()
}

fn one(tool: &RawValue) -> Result<Tool<'_>, Term> {
    let members = Members::read(tool.get()).unwrap_or_default();
    let kind = members.get("type").and_then(json::string);
    let function = members.get("function").filter(|_| kind.is_none_or(|k| k == "function")).ok_or(Term::OtherTools)?;
    let function = Members::read(function.get()).map_err(|_| Term::OtherTools)?;
    Ok(Tool {
        name: function.get("name").and_then(json::string).ok_or(Term::OtherTools)?,
        description: function.get("description"),
        input_schema: schema(function.get("parameters")),
        strict: function.get("strict").is_some_and(|strict| strict.get() == "true"),
    })
}

/// Parameters are an object here, and have to say so.
fn schema(parameters: Option<&RawValue>) -> Cow<'_, RawValue> {
    let typed = |text: &str| RawValue::from_string(text.to_owned()).ok();
    let owned = match parameters.map(|p| (p, Members::read(p.get()))) {
        Some((parameters, Ok(members))) if !members.0.is_empty() => {
            if members.has("type") {
                return Cow::Borrowed(parameters);
            }
            let rest = parameters.get().trim_start().trim_start_matches('{');
            typed(&format!("{{\"type\":\"object\",{rest}"))
        }
        Some((_, Ok(_) | Err(_))) | None => typed(ANY),
    };
    owned.map_or(Cow::Borrowed(RawValue::NULL), Cow::Owned)
}

/// Which tool is to be called; `many` says whether there may be several calls at once.
pub(super) fn choice<'a>(choice: Option<&'a RawValue>, many: bool, terms: &mut Terms) -> Option<Choice<'a>> {
    let disable_parallel_tool_use = !many;
    let auto = Choice::Auto { disable_parallel_tool_use };
    let Some(choice) = choice else { return (!many).then_some(auto) };
    if let Some(word) = json::string(choice) {
        return match word.as_ref() {
            "none" => Some(Choice::None),
            "auto" => Some(auto),
            "required" => Some(Choice::Any { disable_parallel_tool_use }),
            _ => {
                terms.add(Term::Other);
                None
            }
        };
    }
    let kind = json::member(choice.get(), "type").and_then(json::string);
    let function = json::member(choice.get(), "function").and_then(|f| json::member(f.get(), "name"));
    match (kind.as_deref(), function.and_then(json::string)) {
        (Some("function"), Some(name)) => return Some(Choice::Tool { name, disable_parallel_tool_use }),
        (Some("allowed_tools"), _) => terms.add(Term::ToolSubset),
        (_, _) => terms.add(Term::OtherTools),
    }
    None
}
