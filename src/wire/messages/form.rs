//! The form of a request of this dialect.
//!
//! In: what `request` gathered. Out: JSON. Numbers, schemas and arguments of tools are the text that the caller wrote:
//! nothing is read into a number and written anew.

use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Whether a switch is off.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn off(switch: &bool) -> bool {
    !*switch
}

/// A request.
#[derive(Debug, Serialize)]
pub struct Request<'a> {
    pub model: &'a str,
    pub max_tokens: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<Block<'a>>,
    pub messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata<'a>>,
    #[serde(skip_serializing_if = "off")]
    pub stream: bool,
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    User,
    Assistant,
}

/// What one of them says at a time.
#[derive(Debug, Serialize)]
pub struct Turn<'a> {
    pub role: Role,
    pub content: Vec<Block<'a>>,
}

/// A part of it.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<Cow<'a, str>>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Box<RawValue>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Block<'a>>,
    },
}

/// Where a picture or a document is.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Source<'a> {
    Base64 { media_type: &'static str, data: Cow<'a, str> },
    Url { url: Cow<'a, str> },
}

/// A tool.
#[derive(Debug, Serialize)]
pub struct Tool<'a> {
    pub name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a RawValue>,
    pub input_schema: Cow<'a, RawValue>,
    #[serde(skip_serializing_if = "off")]
    pub strict: bool,
}

/// Which tool is to be called.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Choice<'a> {
    None,
    Auto {
        #[serde(skip_serializing_if = "off")]
        disable_parallel_tool_use: bool,
    },
    Any {
        #[serde(skip_serializing_if = "off")]
        disable_parallel_tool_use: bool,
    },
    Tool {
        name: Cow<'a, str>,
        #[serde(skip_serializing_if = "off")]
        disable_parallel_tool_use: bool,
    },
}

/// What the output is to be like.
#[derive(Debug, Default, Serialize)]
pub struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format<'a>>,
}

/// The form of the output.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Format<'a> {
    JsonSchema { schema: &'a RawValue },
}

/// Whether it reasons.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Thinking {
    Disabled,
}

/// Whom the caller asks for.
#[derive(Debug, Serialize)]
pub struct Metadata<'a> {
    pub user_id: Cow<'a, str>,
}
