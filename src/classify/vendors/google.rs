//! Google: the Gemini API, and Gemini on Vertex AI.

use crate::classify::rules::{Rule, both, code, phrase, under};
use crate::policy::{Class, Scope};

const DOCS: &str = "https://ai.google.dev/gemini-api/docs/troubleshooting";
const LIMITS: &str = "https://ai.google.dev/gemini-api/docs/rate-limits";
const ERROR_INFO: &str = "https://github.com/googleapis/googleapis/blob/master/google/api/error_reason.proto";
const VERTEX: &str = "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/api-errors";

/// Rows.
pub const RULES: &[Rule] = &[
    phrase("google-publisher", &["not allowed to use publisher model"], Class::Permission, Some(Scope::Model), VERTEX),
    phrase(
        "google-region",
        &["not servable in region", "not supported in region"],
        Class::NotFound,
        Some(Scope::Region),
        VERTEX,
    ),
    code(
        "google-key",
        &[
            "apikeyinvalid",
            "apikeyexpired",
            "accesstokenexpired",
            "accesstokentypeunsupported",
            "credentialsmissing",
            "apikeynotfound",
        ],
        Class::Auth,
        None,
        ERROR_INFO,
    ),
    phrase("google-key-leaked", &["reported as leaked"], Class::Auth, None, DOCS),
    code(
        "google-consumer",
        &[
            "consumersuspended",
            "consumerinvalid",
            "servicedisabled",
            "apikeyserviceblocked",
            "apikeyhttpreferrerblocked",
            "apikeyipaddressblocked",
            "accesstokenscopeinsufficient",
            "usprojectdenied",
            "iampermissiondenied",
        ],
        Class::Permission,
        None,
        ERROR_INFO,
    ),
    code("google-billing", &["billingdisabled", "billingnotenabled"], Class::QuotaExhausted, None, ERROR_INFO),
    phrase(
        "google-billing-words",
        &["requires billing to be enabled", "prepayment credits", "billing account"],
        Class::QuotaExhausted,
        None,
        DOCS,
    ),
    phrase(
        "google-location",
        &["location is not supported", "not available in your country"],
        Class::Permission,
        Some(Scope::Provider),
        DOCS,
    ),
    code("google-capacity", &["modelcapacityexhausted"], Class::Overloaded, Some(Scope::Model), DOCS),
    phrase(
        "google-capacity-words",
        &["no capacity available", "model is overloaded", "high demand"],
        Class::Overloaded,
        Some(Scope::Model),
        DOCS,
    ),
    // The same quota names a window; one of a day outweighs what else is empty.
    code("google-daily", &["*perday*"], Class::QuotaExhausted, None, LIMITS),
    phrase(
        "google-daily-words",
        &["per day", "daily limit", "limit: 0", "daily quota"],
        Class::QuotaExhausted,
        None,
        LIMITS,
    ),
    code("google-minute", &["*perminute*", "*persecond*", "ratelimitexceeded"], Class::RateLimit, None, LIMITS),
    code("google-exhausted", &["resourceexhausted", "quotaexceeded"], Class::RateLimit, None, LIMITS),
    phrase(
        "google-tokens",
        &["input token count", "number of tokens allowed", "tokens allowed"],
        Class::ContextOverflow,
        Some(Scope::Request),
        VERTEX,
    ),
    phrase("google-payload", &["request payload size exceeds"], Class::PayloadTooLarge, Some(Scope::Request), DOCS),
    phrase(
        "google-model",
        &["publisher model * not found", "publisher model * was not found", "models/* is not found"],
        Class::NotFound,
        None,
        VERTEX,
    ),
    under(
        &[403],
        phrase(
            "google-model-access",
            &["permission * on resource", "denied on resource"],
            Class::Permission,
            None,
            VERTEX,
        ),
    ),
    both(
        "google-invalid",
        &["invalidargument"],
        &["robots.txt", "unsupported mime", "unable to process input"],
        Class::InvalidRequest,
        Some(Scope::Request),
        DOCS,
    ),
];
