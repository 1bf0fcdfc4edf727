//! Who answers: which table of rules is asked first, and what kind of service it is.
//!
//! In: the name of a provider, and the dialect. Out: a vendor. Names nobody knows are `Hosted` without rules of their
//! own, so that a new vendor is read by what holds for everybody.

use super::rules::Rule;
use super::vendors::{aws, azure, china, edge, google, hosted, local, openai, relay};
use crate::policy::{Class, Scope};

/// What kind of service answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A vendor's API for many models.
    Hosted,
    /// One named deployment or endpoint of a vendor.
    Deployed,
    /// A server of one's own.
    Local,
    /// A gateway that hands on what others say.
    Relay,
    /// A proxy or CDN in between.
    Edge,
}

/// Somebody who answers.
#[derive(Debug)]
pub struct Vendor {
    /// Its name.
    pub name: &'static str,
    /// Other names, and beginnings of names, in the normal form.
    pub also: &'static [&'static str],
    /// What kind of service it is.
    pub kind: Kind,
    /// Its own rules.
    pub rules: &'static [Rule],
}

impl PartialEq for Vendor {
    /// By name: there is one table for each.
    fn eq(&self, other: &Vendor) -> bool {
        self.name == other.name
    }
}

impl Eq for Vendor {}

/// Nobody in particular.
pub const ANYBODY: Vendor = Vendor { name: "anybody", also: &[], kind: Kind::Hosted, rules: &[] };

const fn vendor(name: &'static str, also: &'static [&'static str], kind: Kind, rules: &'static [Rule]) -> Vendor {
    Vendor { name, also, kind, rules }
}

/// Whom we know. The first whose name begins the given one is meant.
pub const VENDORS: &[Vendor] = &[
    vendor("azure", &["azureopenai", "azureai", "microsoft", "foundry"], Kind::Deployed, azure::RULES),
    vendor("openai", &["chatgpt"], Kind::Hosted, openai::OPENAI),
    vendor("anthropic", &["claude"], Kind::Hosted, openai::ANTHROPIC),
    vendor("gemini", &["google", "vertex", "aistudio", "gcp"], Kind::Hosted, google::RULES),
    vendor("bedrock", &["aws", "amazon"], Kind::Hosted, aws::RULES),
    vendor("sagemaker", &[], Kind::Deployed, aws::RULES),
    vendor("groq", &[], Kind::Hosted, hosted::GROQ),
    vendor("cerebras", &[], Kind::Hosted, hosted::CEREBRAS),
    vendor("mistral", &["codestral"], Kind::Hosted, hosted::MISTRAL),
    vendor("xai", &["grok"], Kind::Hosted, hosted::XAI),
    vendor("cohere", &[], Kind::Hosted, hosted::COHERE),
    vendor("together", &[], Kind::Hosted, hosted::TOGETHER),
    vendor("fireworks", &[], Kind::Hosted, hosted::FIREWORKS),
    vendor("deepinfra", &[], Kind::Hosted, &[]),
    vendor("perplexity", &[], Kind::Hosted, &[]),
    vendor("replicate", &[], Kind::Hosted, hosted::REPLICATE),
    vendor("databricks", &[], Kind::Deployed, hosted::DATABRICKS),
    vendor("snowflake", &["cortex"], Kind::Hosted, hosted::SNOWFLAKE),
    vendor("watsonx", &["ibm"], Kind::Hosted, hosted::WATSONX),
    vendor("nvidia", &["nim"], Kind::Hosted, &[]),
    vendor("sambanova", &[], Kind::Hosted, &[]),
    vendor("huggingface", &["hf"], Kind::Hosted, local::TGI),
    vendor("novita", &[], Kind::Hosted, china::NOVITA),
    vendor("deepseek", &[], Kind::Hosted, china::DEEPSEEK),
    vendor("dashscope", &["alibaba", "aliyun", "bailian", "qwen", "modelstudio"], Kind::Hosted, china::DASHSCOPE),
    vendor("zhipu", &["zai", "glm", "bigmodel"], Kind::Hosted, china::ZHIPU),
    vendor("moonshot", &["kimi"], Kind::Hosted, china::MOONSHOT),
    vendor("minimax", &[], Kind::Hosted, china::MINIMAX),
    vendor("volcengine", &["ark", "doubao", "byteplus", "bytedance"], Kind::Hosted, china::VOLCENGINE),
    vendor("baidu", &["qianfan", "wenxin", "ernie"], Kind::Hosted, china::BAIDU),
    vendor("tencent", &["hunyuan"], Kind::Hosted, china::TENCENT),
    vendor("spark", &["xunfei", "iflytek"], Kind::Hosted, china::SPARK),
    vendor("siliconflow", &["siliconcloud"], Kind::Hosted, china::SILICONFLOW),
    vendor("openrouter", &[], Kind::Relay, relay::OPENROUTER),
    vendor("litellm", &[], Kind::Relay, relay::LITELLM),
    vendor("portkey", &[], Kind::Relay, relay::PORTKEY),
    vendor(
        "relay",
        &["newapi", "oneapi", "vercel", "helicone", "requesty", "aigateway", "copilot", "poe", "kong"],
        Kind::Relay,
        relay::RELAY,
    ),
    vendor("vllm", &["sglang", "aphrodite", "lmdeploy", "xinference"], Kind::Local, local::VLLM),
    vendor("llamacpp", &["llamaserver", "koboldcpp", "llamafile", "localai", "ramalama"], Kind::Local, local::LLAMACPP),
    vendor("ollama", &[], Kind::Local, local::OLLAMA),
    vendor("lmstudio", &[], Kind::Local, local::LMSTUDIO),
    vendor("tgi", &["textgenerationinference", "tei"], Kind::Local, local::TGI),
    vendor("local", &["mlx", "jan", "triton", "gpt4all", "tabby", "exllama", "oobabooga", "textgen"], Kind::Local, &[]),
    vendor(
        "edge",
        &[
            "cloudflare",
            "nginx",
            "envoy",
            "haproxy",
            "traefik",
            "caddy",
            "apache",
            "istio",
            "alb",
            "cdn",
            "proxy",
            "akamai",
            "fastly",
            "cloudfront",
            "tengine",
            "openresty",
        ],
        Kind::Edge,
        edge::RULES,
    ),
];

impl Vendor {
    /// The vendor of this name.
    pub fn named(name: &str) -> &'static Vendor {
        let whole = super::said::normal(name);
        let words = || name.split(|c: char| !c.is_alphanumeric());
        let is = |vendor: &str| match vendor.len() {
            // So short a beginning is that of any word: `january` is not `jan`.
            0..=3 => whole == vendor || words().any(|word| word.eq_ignore_ascii_case(vendor)),
            _ => whole.starts_with(vendor),
        };
        VENDORS.iter().find(|v| is(v.name) || v.also.iter().any(|also| is(also))).unwrap_or(&ANYBODY)
    }

    /// The vendor of a call: by its provider's name, or else by its dialect.
    pub fn of(provider: &str, api: &str) -> &'static Vendor {
        let named = Vendor::named(provider);
        if named.name != ANYBODY.name {
            return named;
        }
        match api {
            // Everybody speaks this dialect.
            "openai-chat" | "openai-responses" | "anthropic-messages" => named,
            _ => Vendor::named(api),
        }
    }

    /// How wide a failure of this class is where the answer does not show it.
    pub fn width(&self, class: Class) -> Scope {
        let one_server = matches!(self.kind, Kind::Deployed | Kind::Local | Kind::Edge);
        let model = if one_server { Scope::Deployment } else { Scope::Model };
        match class {
            Class::Auth | Class::QuotaExhausted | Class::Permission => Scope::Account,
            Class::Connect if self.kind == Kind::Local => Scope::Deployment,
            Class::Connect => Scope::Provider,
            Class::MalformedResponse => Scope::Deployment,
            Class::NotFound
            | Class::RateLimit
            | Class::Overloaded
            | Class::ServerError
            | Class::StreamEarly
            | Class::TimeoutHeaders
            | Class::TimeoutFirstToken
            | Class::TimeoutIdle => model,
            Class::InvalidRequest
            | Class::ContextOverflow
            | Class::PayloadTooLarge
            | Class::Policy
            | Class::SchemaInvalid
            | Class::EmptyResponse
            | Class::Truncated
            | Class::PartialStream
            | Class::Unknown => Scope::Request,
        }
    }
}
