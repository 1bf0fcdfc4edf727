//! The rules of the classifier, as data: rows are tried from the top, the first that fits decides.
//!
//! A row fits if each of its conditions that is not empty holds. Codes stand before phrases of the same class, special
//! rows before general ones; what no row knows is decided by the status alone, at the end. Nothing here runs.

use crate::policy::{Class, Scope};

/// One row.
#[derive(Debug)]
pub struct Rule {
    /// Its name, for the record.
    pub name: &'static str,
    /// Codes or types, one of which must be there, whatever its case.
    pub words: &'static [&'static str],
    /// Pieces of the message, in lower case, one of which must be there.
    pub phrases: &'static [&'static str],
    /// What it is then.
    pub class: Class,
    /// How wide the answer shows it to be.
    pub scope: Option<Scope>,
}

const fn code(name: &'static str, words: &'static [&'static str], class: Class, scope: Option<Scope>) -> Rule {
    Rule { name, words, phrases: &[], class, scope }
}

const fn phrase(name: &'static str, phrases: &'static [&'static str], class: Class, scope: Option<Scope>) -> Rule {
    Rule { name, words: &[], phrases, class, scope }
}

/// Rows for answers of OpenAI-compatible servers.
pub const RULES: &[Rule] = &[
    code(
        "code-context",
        &["context_length_exceeded", "exceed_context_size_error", "too_many_prompt_tokens", "context_window_exceeded"],
        Class::ContextOverflow,
        Some(Scope::Request),
    ),
    code("code-tool-generation", &["tool_use_failed"], Class::SchemaInvalid, Some(Scope::Request)),
    code(
        "code-policy",
        &["content_filter", "content_policy_violation", "moderation_blocked", "responsibleaipolicyviolation"],
        Class::Policy,
        Some(Scope::Request),
    ),
    code(
        "code-quota",
        &[
            "insufficient_quota",
            "billing_hard_limit_reached",
            "billing_not_active",
            "credit_balance_exhausted",
            "exceeded_current_quota_error",
            "payment_required",
            "not_enough_balance",
            "credit_limit",
            "insufficient_user_quota",
        ],
        Class::QuotaExhausted,
        None,
    ),
    code("code-region", &["unsupported_country_region_territory"], Class::Permission, Some(Scope::Provider)),
    code("code-deployment", &["deploymentnotfound"], Class::NotFound, Some(Scope::Deployment)),
    code("code-model", &["model_not_found", "invalid_model", "model_not_available"], Class::NotFound, None),
    code("code-auth", &["invalid_api_key", "authentication_error", "expired_api_key"], Class::Auth, None),
    code(
        "code-overloaded",
        &["overloaded", "overloaded_error", "engine_overloaded_error", "server_is_overloaded", "queue_exceeded"],
        Class::Overloaded,
        None,
    ),
    phrase(
        "phrase-context",
        &[
            "maximum context length",
            "context window",
            "available context size",
            "context size has been exceeded",
            "than the context length",
            "'s context length",
            "prompt is too long",
            "prompt too long",
            "reduce the length of the messages",
            "model token limit",
            "prompt exceeds max length",
            "maximum context",
            "request too large for",
        ],
        Class::ContextOverflow,
        Some(Scope::Request),
    ),
    phrase(
        "phrase-policy",
        &["content management policy", "content policy", "your input was flagged", "usage policies"],
        Class::Policy,
        Some(Scope::Request),
    ),
    phrase(
        "phrase-quota",
        &[
            "insufficient balance",
            "insufficient credits",
            "balance is insufficient",
            "credit balance",
            "spending limit",
        ],
        Class::QuotaExhausted,
        None,
    ),
    phrase("phrase-auth", &["incorrect api key", "invalid api key", "api key not valid"], Class::Auth, None),
    phrase("phrase-region", &["location is not supported"], Class::Permission, Some(Scope::Provider)),
    phrase("phrase-model", &["model does not exist", "model not exist"], Class::NotFound, None),
    phrase(
        "phrase-overloaded",
        &["is overloaded", "currently overloaded", "model busy", "capacity exceeded", "loading model", "high traffic"],
        Class::Overloaded,
        None,
    ),
    code(
        "code-rate",
        &[
            "rate_limit_exceeded",
            "rate_limit_error",
            "too_many_requests",
            "too_many_requests_error",
            "ratelimitreached",
        ],
        Class::RateLimit,
        None,
    ),
    code("code-too-large", &["request_too_large", "payload_too_large"], Class::PayloadTooLarge, Some(Scope::Request)),
];

/// What a type alone says where no status stands beside it: inside a stream, or under a success.
pub const BARE: &[Rule] = &[
    code("type-permission", &["permission_error", "permission_denied"], Class::Permission, None),
    code("type-not-found", &["not_found_error", "notfounderror"], Class::NotFound, None),
    code("type-invalid", &["invalid_request_error", "badrequesterror"], Class::InvalidRequest, Some(Scope::Request)),
    code("type-unavailable", &["unavailable", "unavailable_error", "service_unavailable"], Class::Overloaded, None),
];

/// What a status says where nothing else does.
pub fn by_status(status: u16) -> (Class, &'static str) {
    match status {
        400 => (Class::InvalidRequest, "status-400"),
        401 => (Class::Auth, "status-401"),
        402 => (Class::QuotaExhausted, "status-402"),
        403 => (Class::Permission, "status-403"),
        404 => (Class::NotFound, "status-404"),
        408 => (Class::TimeoutHeaders, "status-408"),
        409 => (Class::RateLimit, "status-409"),
        413 => (Class::PayloadTooLarge, "status-413"),
        422 => (Class::InvalidRequest, "status-422"),
        425 => (Class::RateLimit, "status-425"),
        429 => (Class::RateLimit, "status-429"),
        503 | 529 => (Class::Overloaded, "status-overloaded"),
        500..=599 => (Class::ServerError, "status-5xx"),
        _ => (Class::Unknown, "status-unknown"),
    }
}
