//! Vendors that host others' models, and labs with an API of their own.

use crate::classify::rules::{Rule, both, code, phrase, under};
use crate::policy::{Class, Scope};

const REQUEST: Option<Scope> = Some(Scope::Request);
const ACCOUNT: Option<Scope> = Some(Scope::Account);
const GROQ_DOCS: &str = "https://console.groq.com/docs/errors";
const CEREBRAS_DOCS: &str = "https://inference-docs.cerebras.ai/support/error";
const MISTRAL_DOCS: &str = "https://docs.mistral.ai/api/";
const XAI_DOCS: &str = "https://docs.x.ai/docs/key-information/debugging";
const COHERE_DOCS: &str = "https://docs.cohere.com/reference/errors";
const TOGETHER_DOCS: &str = "https://docs.together.ai/docs/error-codes";
const FIREWORKS_DOCS: &str = "https://docs.fireworks.ai/guides/inference-error-codes";
const REPLICATE_DOCS: &str = "https://replicate.com/docs/reference/http";
const DATABRICKS_DOCS: &str = "https://docs.databricks.com/api/workspace/servingendpoints/query";
const SNOWFLAKE_DOCS: &str = "https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api";
const WATSONX_DOCS: &str = "https://cloud.ibm.com/apidocs/watsonx-ai";

/// Rows for Groq.
pub const GROQ: &[Rule] = &[
    phrase("groq-request-too-large", &["request too large for"], Class::ContextOverflow, REQUEST, GROQ_DOCS),
    code("groq-tool", &["toolusefailed", "jsonvalidatefailed"], Class::SchemaInvalid, REQUEST, GROQ_DOCS),
    under(&[498], phrase("groq-flex", &["capacity"], Class::Overloaded, None, GROQ_DOCS)),
    code("groq-flex-code", &["capacityexceeded"], Class::Overloaded, None, GROQ_DOCS),
    both("groq-restricted", &["organizationrestricted"], &[], Class::Permission, None, GROQ_DOCS),
    code(
        "groq-terms",
        &["modeltermsrequired", "modelpermissionblockedorg", "modelpermissionblockedproject"],
        Class::Permission,
        Some(Scope::Model),
        GROQ_DOCS,
    ),
];

/// Rows for Cerebras.
pub const CEREBRAS: &[Rule] = &[
    code("cerebras-queue", &["queueexceeded"], Class::Overloaded, None, CEREBRAS_DOCS),
    phrase("cerebras-daily", &["per day", "daily"], Class::QuotaExhausted, None, CEREBRAS_DOCS),
    code("cerebras-quota", &["requestquotaexceeded", "tokenquotaexceeded"], Class::RateLimit, None, CEREBRAS_DOCS),
];

/// Rows for Mistral.
pub const MISTRAL: &[Rule] = &[
    code("mistral-context", &["3051"], Class::ContextOverflow, REQUEST, MISTRAL_DOCS),
    code("mistral-capacity-code", &["3505"], Class::Overloaded, None, MISTRAL_DOCS),
    phrase("mistral-capacity", &["capacity exceeded"], Class::Overloaded, None, MISTRAL_DOCS),
    code("mistral-model", &["1500"], Class::NotFound, None, MISTRAL_DOCS),
    code("mistral-rate", &["1300"], Class::RateLimit, ACCOUNT, MISTRAL_DOCS),
    phrase(
        "mistral-rate-words",
        &["requests rate limit exceeded", "rate limit exceeded"],
        Class::RateLimit,
        ACCOUNT,
        MISTRAL_DOCS,
    ),
    code("mistral-order", &["invalidrequestmessageorder", "3230"], Class::InvalidRequest, REQUEST, MISTRAL_DOCS),
];

/// Rows for xAI.
pub const XAI: &[Rule] = &[
    phrase(
        "xai-credits",
        &["available credits", "spending limit", "any credits", "purchase * credits"],
        Class::QuotaExhausted,
        None,
        XAI_DOCS,
    ),
    phrase("xai-tokens", &["too many tokens", "too many requests", "rate limit"], Class::RateLimit, None, XAI_DOCS),
    phrase("xai-safety", &["safety check", "usage guidelines"], Class::Policy, REQUEST, XAI_DOCS),
    phrase(
        "xai-key",
        &["incorrect api key", "no authentication", "key is * disabled", "key is currently blocked"],
        Class::Auth,
        None,
        XAI_DOCS,
    ),
    phrase("xai-route", &["no handler found"], Class::NotFound, Some(Scope::Provider), XAI_DOCS),
];

/// Rows for Cohere.
pub const COHERE: &[Rule] = &[
    phrase("cohere-max-output", &["max tokens must be"], Class::InvalidRequest, REQUEST, COHERE_DOCS),
    phrase("cohere-context", &["too many tokens", "size limit exceeded"], Class::ContextOverflow, REQUEST, COHERE_DOCS),
    phrase("cohere-monthly", &["/ month", "/month", "per month"], Class::QuotaExhausted, None, COHERE_DOCS),
    phrase(
        "cohere-rate",
        &["/ minute", "/minute", "rate limit", "too many requests"],
        Class::RateLimit,
        ACCOUNT,
        COHERE_DOCS,
    ),
    phrase("cohere-blocked", &["blocked output", "blocked input", "terms of use"], Class::Policy, REQUEST, COHERE_DOCS),
    under(&[498], phrase("cohere-token", &["token"], Class::Auth, None, COHERE_DOCS)),
];

/// Rows for Together.
pub const TOGETHER: &[Rule] = &[
    code("together-model-rate", &["modelratelimit"], Class::RateLimit, Some(Scope::Model), TOGETHER_DOCS),
    code("together-credit", &["creditlimit"], Class::QuotaExhausted, None, TOGETHER_DOCS),
    code(
        "together-dynamic",
        &["dynamicrequestlimited", "dynamictokenlimited"],
        Class::RateLimit,
        Some(Scope::Model),
        TOGETHER_DOCS,
    ),
    phrase("together-serverless", &["non-serverless model"], Class::NotFound, Some(Scope::Model), TOGETHER_DOCS),
    phrase(
        "together-context",
        &["inputs` tokens", "context window", "context length"],
        Class::ContextOverflow,
        REQUEST,
        TOGETHER_DOCS,
    ),
];

/// Rows for Fireworks.
pub const FIREWORKS: &[Rule] = &[
    phrase("fireworks-suspended", &["is suspended"], Class::QuotaExhausted, None, FIREWORKS_DOCS),
    phrase("fireworks-limits", &["usage limits"], Class::RateLimit, ACCOUNT, FIREWORKS_DOCS),
    phrase(
        "fireworks-model",
        &["model not found", "not deployed"],
        Class::NotFound,
        Some(Scope::Model),
        FIREWORKS_DOCS,
    ),
    under(&[412], code("fireworks-precondition", &["preconditionfailed"], Class::QuotaExhausted, None, FIREWORKS_DOCS)),
];

/// Rows for Replicate.
pub const REPLICATE: &[Rule] = &[
    phrase("replicate-throttled", &["was throttled", "rate limit"], Class::RateLimit, ACCOUNT, REPLICATE_DOCS),
    phrase("replicate-nsfw", &["nsfw"], Class::Policy, REQUEST, REPLICATE_DOCS),
    phrase("replicate-version", &["version does not exist"], Class::NotFound, Some(Scope::Model), REPLICATE_DOCS),
];

/// Rows for Databricks.
pub const DATABRICKS: &[Rule] = &[
    code(
        "databricks-rate",
        &["requestlimitexceeded", "resourceexhausted", "quotaexceeded"],
        Class::RateLimit,
        None,
        DATABRICKS_DOCS,
    ),
    code(
        "databricks-missing",
        &["resourcedoesnotexist", "endpointnotfound", "featuredisabled"],
        Class::NotFound,
        Some(Scope::Deployment),
        DATABRICKS_DOCS,
    ),
    code(
        "databricks-loading",
        &["temporarilyunavailable", "resourceconflict"],
        Class::Overloaded,
        None,
        DATABRICKS_DOCS,
    ),
    code("databricks-token", &["invalidaccesstoken", "unauthenticated"], Class::Auth, None, DATABRICKS_DOCS),
];

/// Rows for Snowflake Cortex.
pub const SNOWFLAKE: &[Rule] = &[
    code("snowflake-token", &["390303", "390318", "390144", "390195"], Class::Auth, None, SNOWFLAKE_DOCS),
    phrase(
        "snowflake-region",
        &["not available in * region", "unavailable in your region"],
        Class::NotFound,
        Some(Scope::Region),
        SNOWFLAKE_DOCS,
    ),
    phrase("snowflake-tokens", &["max tokens", "exceeded max tokens"], Class::ContextOverflow, REQUEST, SNOWFLAKE_DOCS),
];

/// Rows for watsonx.
pub const WATSONX: &[Rule] = &[
    phrase(
        "watsonx-tokens",
        &["number of input tokens", "total tokens limit"],
        Class::ContextOverflow,
        REQUEST,
        WATSONX_DOCS,
    ),
    code(
        "watsonx-token",
        &["authenticationtokenexpired", "authenticationtokennotvalid", "authorizationrejected"],
        Class::Auth,
        None,
        WATSONX_DOCS,
    ),
    code("watsonx-quota", &["tokenquotareached"], Class::QuotaExhausted, None, WATSONX_DOCS),
    code(
        "watsonx-rate",
        &["rateexceeded", "consumptionlimitreached", "ratelimitreachedrequests"],
        Class::RateLimit,
        None,
        WATSONX_DOCS,
    ),
    code(
        "watsonx-model",
        &["modelnotsupported", "modelnosupportforfunction"],
        Class::NotFound,
        Some(Scope::Model),
        WATSONX_DOCS,
    ),
    code(
        "watsonx-input",
        &["invalidinputargument", "invalidrequestentity"],
        Class::InvalidRequest,
        REQUEST,
        WATSONX_DOCS,
    ),
];
