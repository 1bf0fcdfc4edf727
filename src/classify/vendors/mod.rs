//! The tables of rules: one for each vendor or family, and those that hold for everybody.
//!
//! In: nothing. Out: rows, as data. A row knows a code, a short piece of a message or a status, and says what it means
//! there; it holds no more of a sentence than tells it apart. Rows are asked from the top, special ones first.

pub mod aws;
pub mod azure;
pub mod china;
pub mod common;
pub mod edge;
pub mod google;
pub mod hosted;
pub mod local;
pub mod openai;
pub mod relay;

use super::rules::Rule;

/// The vendors' own tables, by name.
pub const TABLES: &[(&str, &[Rule])] = &[
    ("openai", openai::OPENAI),
    ("azure", azure::RULES),
    ("anthropic", openai::ANTHROPIC),
    ("google", google::RULES),
    ("aws", aws::RULES),
    ("groq", hosted::GROQ),
    ("cerebras", hosted::CEREBRAS),
    ("mistral", hosted::MISTRAL),
    ("xai", hosted::XAI),
    ("cohere", hosted::COHERE),
    ("together", hosted::TOGETHER),
    ("fireworks", hosted::FIREWORKS),
    ("replicate", hosted::REPLICATE),
    ("databricks", hosted::DATABRICKS),
    ("snowflake", hosted::SNOWFLAKE),
    ("watsonx", hosted::WATSONX),
    ("novita", china::NOVITA),
    ("deepseek", china::DEEPSEEK),
    ("dashscope", china::DASHSCOPE),
    ("zhipu", china::ZHIPU),
    ("moonshot", china::MOONSHOT),
    ("minimax", china::MINIMAX),
    ("volcengine", china::VOLCENGINE),
    ("baidu", china::BAIDU),
    ("tencent", china::TENCENT),
    ("spark", china::SPARK),
    ("siliconflow", china::SILICONFLOW),
    ("openrouter", relay::OPENROUTER),
    ("litellm", relay::LITELLM),
    ("portkey", relay::PORTKEY),
    ("relay", relay::RELAY),
    ("vllm", local::VLLM),
    ("llamacpp", local::LLAMACPP),
    ("ollama", local::OLLAMA),
    ("lmstudio", local::LMSTUDIO),
    ("tgi", local::TGI),
    ("edge", edge::RULES),
];
