//! OpenAI and Anthropic.

use crate::classify::rules::{Rule, both, code, phrase, under};
use crate::policy::{Class, Scope};

const OPENAI_DOCS: &str = "https://platform.openai.com/docs/guides/error-codes";
const ANTHROPIC_DOCS: &str = "https://docs.anthropic.com/en/api/errors";
const REQUEST: Option<Scope> = Some(Scope::Request);

/// Rows for OpenAI.
pub const OPENAI: &[Rule] = &[
    both(
        "openai-model-access",
        &["modelnotfound"],
        &["does not have access to model"],
        Class::Permission,
        Some(Scope::Model),
        OPENAI_DOCS,
    ),
    phrase("openai-request-too-large", &["request too large for"], Class::ContextOverflow, REQUEST, OPENAI_DOCS),
    both(
        "openai-daily",
        &["ratelimitexceeded"],
        &["per day", "(tpd)", "(rpd)"],
        Class::QuotaExhausted,
        None,
        OPENAI_DOCS,
    ),
    phrase("openai-scopes", &["insufficient permissions", "missing scopes"], Class::Permission, None, OPENAI_DOCS),
    phrase("openai-verification", &["must be verified to"], Class::Permission, Some(Scope::Model), OPENAI_DOCS),
    code(
        "openai-previous-response",
        &["previousresponsenotfound", "conversationnotfound"],
        Class::InvalidRequest,
        REQUEST,
        OPENAI_DOCS,
    ),
    under(
        &[404],
        phrase(
            "openai-not-this-endpoint",
            &["not a chat model", "only supported in v1/responses"],
            Class::NotFound,
            Some(Scope::Model),
            OPENAI_DOCS,
        ),
    ),
];

/// Rows for Anthropic.
pub const ANTHROPIC: &[Rule] = &[
    phrase("anthropic-daily", &["daily rate limit", "per day"], Class::QuotaExhausted, None, ANTHROPIC_DOCS),
    phrase(
        "anthropic-context",
        &["prompt is too long", "exceed context limit"],
        Class::ContextOverflow,
        REQUEST,
        ANTHROPIC_DOCS,
    ),
    phrase(
        "anthropic-credit",
        &["credit balance is too low", "api usage limits", "usage limit reached", "spend limit"],
        Class::QuotaExhausted,
        None,
        ANTHROPIC_DOCS,
    ),
    phrase("anthropic-filter", &["content filtering policy"], Class::Policy, REQUEST, ANTHROPIC_DOCS),
    phrase("anthropic-credential-use", &["only authorized for use with"], Class::Permission, None, ANTHROPIC_DOCS),
    phrase(
        "anthropic-organization",
        &["organization has been disabled", "not allowed for this organization"],
        Class::Permission,
        None,
        ANTHROPIC_DOCS,
    ),
    phrase(
        "anthropic-account-rate",
        &["your account's rate limit"],
        Class::RateLimit,
        Some(Scope::Account),
        ANTHROPIC_DOCS,
    ),
    code("anthropic-rate", &["ratelimiterror"], Class::RateLimit, None, ANTHROPIC_DOCS),
    code("anthropic-timeout", &["timeouterror"], Class::ServerError, None, ANTHROPIC_DOCS),
    both("anthropic-model", &["notfounderror"], &["model:"], Class::NotFound, Some(Scope::Model), ANTHROPIC_DOCS),
    both(
        "anthropic-invalid",
        &["invalidrequesterror"],
        &["extra inputs are not", "does not support", "input should be", "field required"],
        Class::InvalidRequest,
        REQUEST,
        ANTHROPIC_DOCS,
    ),
];
