//! Amazon Bedrock and SageMaker: the type is in a header or in `__type`.

use crate::classify::rules::{Rule, both, code, phrase, under};
use crate::policy::{Class, Scope};

const DOCS: &str = "https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html";
const COMMON: &str = "https://docs.aws.amazon.com/bedrock/latest/APIReference/CommonErrors.html";
const REQUEST: Option<Scope> = Some(Scope::Request);

/// Rows.
pub const RULES: &[Rule] = &[
    phrase("aws-daily", &["tokens per day", "requests per day", "daily"], Class::QuotaExhausted, None, DOCS),
    code("aws-quota", &["servicequotaexceeded*"], Class::QuotaExhausted, None, DOCS),
    both(
        "aws-throttling-account",
        &["throttling*", "*throttlingexception", "toomanyrequests*"],
        &["rate exceeded"],
        Class::RateLimit,
        Some(Scope::Account),
        COMMON,
    ),
    code(
        "aws-throttling",
        &[
            "throttling*",
            "*throttlingexception",
            "toomanyrequestsexception",
            "requestlimitexceeded",
            "provisionedthroughputexceeded*",
        ],
        Class::RateLimit,
        None,
        COMMON,
    ),
    code("aws-not-ready", &["modelnotready*"], Class::Overloaded, None, DOCS),
    code("aws-unavailable", &["serviceunavailable*"], Class::Overloaded, None, DOCS),
    phrase(
        "aws-country",
        &["unsupported countries", "unsupported country"],
        Class::Permission,
        Some(Scope::Provider),
        DOCS,
    ),
    code(
        "aws-credential",
        &[
            "unrecognizedclient*",
            "expiredtoken*",
            "invalidsignature*",
            "incompletesignature*",
            "missingauthenticationtoken*",
            "invalidclienttokenid*",
            "signaturedoesnotmatch*",
            "notauthorized*",
        ],
        Class::Auth,
        None,
        COMMON,
    ),
    both(
        "aws-credential-words",
        &["accessdenied*"],
        &["bearer token", "authentication failed", "api key"],
        Class::Auth,
        None,
        COMMON,
    ),
    both("aws-model-access", &["accessdenied*"], &["model"], Class::Permission, Some(Scope::Model), DOCS),
    code("aws-access", &["accessdenied*", "optinrequired"], Class::Permission, None, COMMON),
    phrase("aws-operation-denied", &["operation not allowed"], Class::Permission, None, DOCS),
    phrase(
        "aws-identifier",
        &[
            "model identifier is invalid",
            "invocation of model id * isn't supported",
            "on-demand throughput isn't supported",
            "on-demand throughput isn’t supported",
        ],
        Class::NotFound,
        Some(Scope::Model),
        DOCS,
    ),
    code("aws-missing", &["resourcenotfound*"], Class::NotFound, None, DOCS),
    phrase(
        "aws-tokens",
        &[
            "input tokens exceeded",
            "input is too long",
            "too many input tokens",
            "number of input tokens",
            "prompt is too long",
            "exceeds * context",
        ],
        Class::ContextOverflow,
        REQUEST,
        DOCS,
    ),
    phrase("aws-filter", &["content filtering policy", "blocked by our content filters"], Class::Policy, REQUEST, DOCS),
    both(
        "aws-validation",
        &["validationexception"],
        &["malformed input request", "is not permitted", "failed to satisfy constraint"],
        Class::InvalidRequest,
        REQUEST,
        DOCS,
    ),
    code("aws-model-timeout", &["modeltimeout*"], Class::ServerError, None, DOCS),
    code(
        "aws-model-error",
        &["modelerror*", "modelstreamerror*", "internalserver*", "internalfailure"],
        Class::ServerError,
        None,
        DOCS,
    ),
    under(&[404], code("aws-operation", &["unknownoperation*"], Class::NotFound, Some(Scope::Region), COMMON)),
    code("aws-unknown-operation", &["unknownoperation*"], Class::NotFound, Some(Scope::Region), COMMON),
];
