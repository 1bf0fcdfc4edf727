//! What counts as output in each dialect: the one table that every reader of answers uses.
//!
//! In: the text of a JSON object. Out: whether it brings output, which is what a caller could show or use: text, reasoning
//! text, a piece of a tool call, sound, an image. Roles, empty pieces, signatures, pings and usage are none. It never
//! judges an answer; and it builds no tree, so that a long answer costs no memory.

use super::json::{self, Members};
use serde_json::value::RawValue;

/// How deep lists of parts are looked into: no dialect nests deeper, and nobody chooses our stack for us.
const PART_DEPTH: u8 = 6;

/// Members of a part in which text may stand.
const HOLDERS: &[&str] =
    &["text", "thinking", "reasoningText", "summary", "data", "transcript", "content", "redactedContent"];

/// Where output stands inside an object.
#[derive(Debug)]
pub struct Part {
    /// Where the object stands.
    pub path: &'static str,
    /// Members that are output where they hold text.
    pub texts: &'static [&'static str],
    /// Members that are output by being there.
    pub marks: &'static [&'static str],
}

/// A delta or message of Chat Completions, whatever stands around it.
pub const CHAT_PART: Part = Part {
    path: "",
    texts: &["content", "reasoning_content", "reasoning", "reasoning_details", "audio", "text"],
    marks: &["tool_calls", "function_call"],
};

/// A dialect.
#[derive(Debug)]
pub struct Dialect {
    /// Beginnings of the names of its APIs.
    pub apis: &'static [&'static str],
    /// Members of an object, one of which makes it one of this dialect.
    pub known: &'static [&'static str],
    /// Where output stands.
    pub output: &'static [Part],
    /// Where the reason for the end stands.
    pub reasons: &'static [&'static str],
    /// Types of events that end a stream in order.
    pub ends: &'static [&'static str],
}

const fn part(path: &'static str, texts: &'static [&'static str], marks: &'static [&'static str]) -> Part {
    Part { path, texts, marks }
}

/// The dialects.
pub const DIALECTS: &[Dialect] = &[
    Dialect {
        apis: &["openai-chat", "azure-openai", "openai-completions"],
        known: &["choices"],
        output: &[
            part("choices[].delta", CHAT_PART.texts, CHAT_PART.marks),
            part("choices[].message", CHAT_PART.texts, CHAT_PART.marks),
            part("choices[]", &["text"], &[]),
        ],
        reasons: &["choices[].finish_reason"],
        ends: &[],
    },
    Dialect {
        apis: &["openai-responses"],
        known: &["output", "response", "sequence_number", "delta", "item"],
        output: &[
            part("", &["delta"], &[]),
            part("output[]", &["content", "summary", "result"], &["call_id", "arguments"]),
            part("response.output[]", &["content", "summary", "result"], &["call_id", "arguments"]),
        ],
        reasons: &["incomplete_details.reason", "response.incomplete_details.reason"],
        ends: &["response.completed", "response.incomplete"],
    },
    Dialect {
        apis: &["anthropic-messages"],
        known: &["content", "content_block", "delta", "message", "stop_reason"],
        output: &[
            part("content_block", &["text", "thinking", "data"], &["name"]),
            part("delta", &["text", "thinking", "partial_json"], &[]),
            part("content[]", &["text", "thinking", "data"], &["name"]),
        ],
        reasons: &["stop_reason", "delta.stop_reason"],
        ends: &["message_stop"],
    },
    Dialect {
        apis: &["gemini", "vertex"],
        known: &["candidates", "promptFeedback"],
        output: &[part(
            "candidates[].content.parts[]",
            &["text", "inlineData", "executableCode", "codeExecutionResult"],
            &["functionCall"],
        )],
        reasons: &["candidates[].finishReason", "promptFeedback.blockReason"],
        ends: &[],
    },
    Dialect {
        apis: &["bedrock", "converse"],
        known: &["output", "stopReason", "contentBlockIndex", "role", "metrics", "completion", "generation", "outputs"],
        output: &[
            part("delta", &["text", "reasoningContent"], &["toolUse"]),
            part("start", &[], &["toolUse"]),
            part("output.message.content[]", &["text", "reasoningContent"], &["toolUse"]),
            // Models that are called with their own grammar.
            part("", &["completion", "generation", "outputText"], &[]),
            part("outputs[]", &["text"], &[]),
        ],
        reasons: &["stopReason", "stop_reason"],
        ends: &["messageStop"],
    },
    Dialect {
        apis: &["ollama"],
        known: &["message", "response", "done"],
        output: &[part("message", &["content", "thinking"], &["tool_calls"]), part("", &["response", "thinking"], &[])],
        reasons: &["done_reason"],
        ends: &[],
    },
    Dialect {
        apis: &["cohere"],
        known: &["message", "text", "generations", "event_type", "delta", "finish_reason"],
        output: &[
            part("delta.message", &["content", "tool_plan"], &["tool_calls"]),
            part("message", &["content", "tool_plan"], &["tool_calls"]),
            part("", &["text"], &["tool_calls"]),
        ],
        reasons: &["finish_reason", "delta.finish_reason"],
        ends: &["message-end", "stream-end"],
    },
    Dialect {
        apis: &["tgi", "hf", "huggingface"],
        known: &["token", "generated_text", "details"],
        output: &[part("token", &["text"], &[]), part("", &["generated_text"], &[])],
        reasons: &["details.finish_reason"],
        ends: &[],
    },
    Dialect {
        apis: &["dashscope"],
        known: &["output"],
        output: &[
            part("output", &["text"], &[]),
            part("output.choices[].message", &["content", "reasoning_content"], &["tool_calls"]),
        ],
        reasons: &["output.finish_reason", "output.choices[].finish_reason"],
        ends: &[],
    },
];

impl Part {
    /// Whether an object, which stands where this part stands, brings output.
    pub fn brings(&self, object: &str) -> bool {
        let mut found = false;
        json::members(object, &mut |name, value| {
            found |= self.counts(name, value);
        });
        found
    }

    /// Whether a member of such an object is output.
    pub fn counts(&self, name: &str, value: &RawValue) -> bool {
        (self.texts.contains(&name) && has_text(value, PART_DEPTH))
            || (self.marks.contains(&name) && !matches!(value.get(), "null" | "[]" | "\"\"" | "{}"))
    }

    /// Whether an object declines in words.
    pub fn refuses(&self, object: &str) -> bool {
        json::member(object, "refusal").is_some_and(declines)
    }
}

/// Whether what a member `refusal` holds declines in words.
pub fn declines(refusal: &RawValue) -> bool {
    refusal.get() != "\"\""
}

/// The dialect of an API; nothing where nobody here knows it.
pub fn dialect(api: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|d| d.apis.iter().any(|begin| api.starts_with(begin)))
}

impl Dialect {
    /// Whether an object brings output.
    pub fn brings_output(&self, object: &Object<'_>) -> bool {
        self.output.iter().any(|part| {
            if part.path.is_empty() {
                return part.brings(object.text);
            }
            let mut found = false;
            object.members.at(part.path, &mut |inner| found = found || part.brings(inner.get()));
            found
        })
    }

    /// Whether an object is one of this dialect at all.
    pub fn knows(&self, object: &Object<'_>) -> bool {
        self.known.iter().any(|name| object.members.has(name))
    }

    /// The first reason for an end that an object gives.
    pub fn reason(&self, object: &Object<'_>) -> Option<String> {
        self.reasons.iter().find_map(|path| {
            let mut found: Option<String> = None;
            object.members.at(path, &mut |value| {
                let word = json::string(value).filter(|w| !matches!(w.as_ref(), "" | "null"));
                if found.is_none() {
                    found = word.map(std::borrow::Cow::into_owned);
                }
            });
            found
        })
    }
}

/// Most members that an object of a dialect has.
const MEMBERS: usize = 256;

/// An object of an answer, read once.
#[derive(Debug)]
pub struct Object<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its members.
    pub members: Members<'a>,
}

impl<'a> Object<'a> {
    /// Reads an object; nothing where the text is broken, none, or has more members than any answer.
    pub fn read(text: &'a str) -> Option<Object<'a>> {
        Members::at_most(text, MEMBERS).map(|members| Object { text, members })
    }
}

/// Whether a text, a list of parts, or a part has text in it that is not empty.
fn has_text(value: &RawValue, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let mut found = false;
    match value.get().as_bytes().first() {
        Some(b'"') => found = value.get() != "\"\"",
        Some(b'[') => json::items(value.get(), &mut |item| found = found || has_text(item, depth)),
        Some(b'{') => json::members(value.get(), &mut |name, inner| {
            found = found || ((HOLDERS.contains(&name) || name == "refusal") && has_text(inner, depth));
        }),
        Some(_) | None => {}
    }
    found
}
