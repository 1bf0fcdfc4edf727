//! Servers of one's own.

use crate::classify::rules::{Rule, both, code, phrase, under};
use crate::policy::{Class, Scope};

const DEPLOYMENT: Option<Scope> = Some(Scope::Deployment);
const REQUEST: Option<Scope> = Some(Scope::Request);
const VLLM_SOURCE: &str = "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html";
const LLAMACPP_SOURCE: &str = "https://github.com/ggml-org/llama.cpp/tree/master/tools/server";
const OLLAMA_SOURCE: &str = "https://github.com/ollama/ollama/blob/main/docs/api.md";
const LMSTUDIO_SOURCE: &str = "https://lmstudio.ai/docs/app/api";
const TGI_SOURCE: &str = "https://huggingface.co/docs/text-generation-inference";

/// Rows for vLLM and SGLang.
pub const VLLM: &[Rule] = &[
    phrase(
        "vllm-context",
        &["maximum context length", "longer than the maximum model length", "maximum model length"],
        Class::ContextOverflow,
        REQUEST,
        VLLM_SOURCE,
    ),
    phrase(
        "vllm-dead",
        &["engine process failed", "enginedeaderror", "engine is dead", "background loop"],
        Class::ServerError,
        DEPLOYMENT,
        VLLM_SOURCE,
    ),
    phrase("vllm-memory", &["out of memory"], Class::ServerError, DEPLOYMENT, VLLM_SOURCE),
];

/// Rows for llama.cpp's server.
pub const LLAMACPP: &[Rule] = &[
    code("llamacpp-context", &["exceedcontextsizeerror"], Class::ContextOverflow, REQUEST, LLAMACPP_SOURCE),
    phrase("llamacpp-loading", &["loading model"], Class::Overloaded, DEPLOYMENT, LLAMACPP_SOURCE),
    phrase(
        "llamacpp-slots",
        &["no slot available", "no available slot"],
        Class::Overloaded,
        DEPLOYMENT,
        LLAMACPP_SOURCE,
    ),
    phrase(
        "llamacpp-batch",
        &["input is too large to process", "physical batch size"],
        Class::ContextOverflow,
        REQUEST,
        LLAMACPP_SOURCE,
    ),
    both("llamacpp-support", &["notsupportederror"], &[], Class::InvalidRequest, REQUEST, LLAMACPP_SOURCE),
];

/// Rows for Ollama, its cloud included.
pub const OLLAMA: &[Rule] = &[
    phrase(
        "ollama-subscription",
        &["requires a subscription"],
        Class::Permission,
        Some(Scope::Model),
        "https://ollama.com/pricing",
    ),
    phrase("ollama-weekly", &["usage limit"], Class::QuotaExhausted, None, "https://ollama.com/pricing"),
    phrase("ollama-busy", &["maximum pending requests", "server busy"], Class::Overloaded, DEPLOYMENT, OLLAMA_SOURCE),
    phrase(
        "ollama-memory",
        &["requires more system memory", "resource limitations", "process has terminated", "runner"],
        Class::ServerError,
        DEPLOYMENT,
        OLLAMA_SOURCE,
    ),
    phrase("ollama-support", &["does not support"], Class::InvalidRequest, REQUEST, OLLAMA_SOURCE),
    phrase("ollama-missing", &["not found", "try pulling it"], Class::NotFound, DEPLOYMENT, OLLAMA_SOURCE),
    // Only the cloud marks its errors so.
    under(
        &[500],
        phrase("ollama-cloud", &["(ref: "], Class::ServerError, Some(Scope::Model), "https://ollama.com/cloud"),
    ),
];

/// Rows for LM Studio.
pub const LMSTUDIO: &[Rule] = &[
    phrase(
        "lmstudio-unloaded",
        &["no models loaded", "model unloaded", "has not started loading"],
        Class::NotFound,
        DEPLOYMENT,
        LMSTUDIO_SOURCE,
    ),
    phrase(
        "lmstudio-crash",
        &["model has crashed", "failed to load model"],
        Class::ServerError,
        DEPLOYMENT,
        LMSTUDIO_SOURCE,
    ),
];

/// Rows for TGI, and for Hugging Face's inference API in front of it.
pub const TGI: &[Rule] = &[
    code("tgi-overloaded", &["overloaded"], Class::Overloaded, None, TGI_SOURCE),
    phrase("tgi-loading", &["currently loading"], Class::Overloaded, None, TGI_SOURCE),
    phrase(
        "tgi-tokens",
        &["inputs` tokens", "inputs` must have less than", "max_new_tokens` must be"],
        Class::ContextOverflow,
        REQUEST,
        TGI_SOURCE,
    ),
    phrase(
        "tgi-credits",
        &["monthly included credits", "exceeded your monthly"],
        Class::QuotaExhausted,
        None,
        "https://huggingface.co/docs/inference-providers/pricing",
    ),
    both(
        "tgi-generation",
        &["generation"],
        &["request failed during generation", "cuda"],
        Class::ServerError,
        None,
        TGI_SOURCE,
    ),
    under(
        &[424],
        code("tgi-generation-code", &["generation", "incompletegeneration"], Class::ServerError, None, TGI_SOURCE),
    ),
];
