//! Gateways that hand on what others say.

use crate::classify::rules::{Rule, both, code, phrase, under};
use crate::policy::{Class, Scope};

const REQUEST: Option<Scope> = Some(Scope::Request);
const OPENROUTER_DOCS: &str = "https://openrouter.ai/docs/api-reference/errors";
const LITELLM_DOCS: &str = "https://docs.litellm.ai/docs/exception_mapping";
const PORTKEY_DOCS: &str = "https://portkey.ai/docs/api-reference/inference-api/error-codes";
const NEW_API: &str = "https://github.com/QuantumNous/new-api";

/// Rows for OpenRouter.
pub const OPENROUTER: &[Rule] = &[
    phrase("openrouter-flagged", &["requires moderation", "was flagged"], Class::Policy, REQUEST, OPENROUTER_DOCS),
    phrase("openrouter-minute", &["free-models-per-min"], Class::RateLimit, None, OPENROUTER_DOCS),
    phrase("openrouter-daily", &["per-day"], Class::QuotaExhausted, None, OPENROUTER_DOCS),
    code(
        "openrouter-limit",
        &["openrouterkeylimit", "openroutercredits", "openrouterfreetierdaily"],
        Class::QuotaExhausted,
        None,
        OPENROUTER_DOCS,
    ),
    phrase(
        "openrouter-afford",
        &["can only afford", "insufficient credits"],
        Class::QuotaExhausted,
        None,
        OPENROUTER_DOCS,
    ),
    phrase("openrouter-features", &["no endpoints found that support"], Class::NotFound, REQUEST, OPENROUTER_DOCS),
    phrase("openrouter-privacy", &["data policy", "guardrail restrictions"], Class::NotFound, None, OPENROUTER_DOCS),
    // One of several hosts cannot be reached from where it stands: another model may.
    phrase(
        "openrouter-location",
        &["location is not supported"],
        Class::Permission,
        Some(Scope::Model),
        OPENROUTER_DOCS,
    ),
    code("openrouter-provider", &["providerunavailable"], Class::ServerError, None, OPENROUTER_DOCS),
];

/// Rows for LiteLLM.
pub const LITELLM: &[Rule] = &[
    code("litellm-context", &["contextwindowexceedederror"], Class::ContextOverflow, REQUEST, LITELLM_DOCS),
    code("litellm-policy", &["contentpolicyviolationerror"], Class::Policy, REQUEST, LITELLM_DOCS),
    phrase(
        "litellm-budget",
        &["budget has been exceeded", "exceededbudget", "over budget"],
        Class::QuotaExhausted,
        None,
        LITELLM_DOCS,
    ),
    phrase("litellm-cooldown", &["no deployments available"], Class::RateLimit, None, LITELLM_DOCS),
    phrase(
        "litellm-team",
        &["team not allowed to access model", "key not allowed to access model"],
        Class::Permission,
        Some(Scope::Model),
        LITELLM_DOCS,
    ),
    phrase("litellm-key", &["key not found in db", "litellm virtual key"], Class::Auth, None, LITELLM_DOCS),
];

/// Rows for Portkey.
pub const PORTKEY: &[Rule] = &[
    under(&[446], phrase("portkey-guardrail", &["guardrail"], Class::Policy, REQUEST, PORTKEY_DOCS)),
    code("portkey-hooks", &["hooksfailed"], Class::Policy, REQUEST, PORTKEY_DOCS),
    under(&[412], phrase("portkey-budget", &["budget", "usage limit"], Class::QuotaExhausted, None, PORTKEY_DOCS)),
];

/// Rows for other relays.
pub const RELAY: &[Rule] = &[
    code("relay-quota", &["insufficientuserquota", "preconsumetokenquotafailed"], Class::QuotaExhausted, None, NEW_API),
    code("relay-sensitive", &["sensitivewordsdetected", "promptblocked"], Class::Policy, REQUEST, NEW_API),
    phrase("relay-channel", &["no available channel", "无可用渠道"], Class::NotFound, None, NEW_API),
    both("relay-token", &["newapierror", "oneapierror"], &["令牌", "invalid token"], Class::Auth, None, NEW_API),
    phrase("relay-load", &["当前分组上游负载", "上游负载已饱和"], Class::Overloaded, None, NEW_API),
];
