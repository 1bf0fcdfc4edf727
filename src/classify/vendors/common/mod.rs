//! What holds for everybody: pages, codes, phrases, types and statuses.
//!
//! In: nothing. Out: rows. Codes here mean the same wherever they are seen; a code that means something else at one
//! vendor stands in that vendor's table, which is asked first. Phrases run from what waiting cannot help to what it can.

mod codes;
mod phrases;

pub use codes::CODES;
pub use phrases::PHRASES;

use crate::classify::rules::{Rule, both, code, phrase, under};
use crate::policy::{Class, Scope};

const OPENAI: &str = "https://platform.openai.com/docs/guides/error-codes";
const ANTHROPIC: &str = "https://docs.anthropic.com/en/api/errors";
const AIP: &str = "https://google.aip.dev/193";
const RFC: &str = "https://www.rfc-editor.org/rfc/rfc9110#section-15";
const COMPATIBLE: &str = "error bodies of servers that are compatible with OpenAI";
const RELAYS: &str = "error bodies of relays: LiteLLM, One API, New API, Portkey, OpenRouter";
const CLOUDFLARE: &str = "https://developers.cloudflare.com/support/troubleshooting/http-status-codes/";

const REQUEST: Option<Scope> = Some(Scope::Request);
const PROVIDER: Option<Scope> = Some(Scope::Provider);

/// Pages, of which only marks of whoever sent them count: what else stands on one may be anything.
pub const PAGES: &[Rule] = &[
    phrase(
        "page-rate",
        &["error 1015", "you are being rate limited", "error code: 1015"],
        Class::RateLimit,
        PROVIDER,
        CLOUDFLARE,
    ),
    under(
        &[403, 503],
        phrase(
            "page-challenge",
            &["just a moment", "checking your browser", "security check", "enable javascript and cookies"],
            Class::Permission,
            PROVIDER,
            CLOUDFLARE,
        ),
    ),
    under(
        &[403, 406, 451, 503],
        phrase(
            "page-blocked",
            &["you have been blocked", "attention required", "access denied", "request blocked", "banned your"],
            Class::Permission,
            PROVIDER,
            CLOUDFLARE,
        ),
    ),
    phrase(
        "page-tunnel",
        &["tunnel error", "tunnel * not found", "ngrok"],
        Class::ServerError,
        Some(Scope::Deployment),
        CLOUDFLARE,
    ),
    under(
        &[500, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530],
        phrase(
            "page-cdn",
            &[
                "cloudflare",
                "error code 5",
                "| 5",
                "cloudfront",
                "google",
                "(server error)",
                "fastly",
                "akamai",
                "azure front door",
                "incapsula",
            ],
            Class::ServerError,
            PROVIDER,
            CLOUDFLARE,
        ),
    ),
];

/// Types that say as much as a status does, and stand before it.
pub const TYPES: &[Rule] = &[
    status("type-402", &[402], Class::QuotaExhausted, None),
    under(&[429], code("type-quota-429", &["quotaexceeded*"], Class::RateLimit, None, COMPATIBLE)),
    code("type-quota", &["quotaexceeded*"], Class::QuotaExhausted, None, COMPATIBLE),
    under(
        &[500, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530],
        code("type-edge", &["cloudflareerror"], Class::ServerError, PROVIDER, CLOUDFLARE),
    ),
    code(
        "type-rate",
        &[
            "ratelimitexceeded*",
            "ratelimiterror",
            "ratelimitreached*",
            "ratelimit",
            "*ratelimit",
            "toomanyrequests*",
            "resourceexhausted",
            "throttling*",
            "throttled*",
            "requestlimitexceeded",
            "*throttlingexception",
            "concurrencylimit*",
            "requestquotaexceeded",
            "tokenquotaexceeded",
            "limitrequests",
            "limitburstrate",
            "toomanyrequestsexception",
            "ratelimited",
            "rpmexceeded",
            "tpmexceeded",
        ],
        Class::RateLimit,
        None,
        OPENAI,
    ),
    both(
        "type-timeout-relay",
        &["apitimeouterror", "timeout", "*timeouterror"],
        &["timed out", "timeout"],
        Class::TimeoutHeaders,
        None,
        RELAYS,
    ),
    code(
        "type-overloaded",
        &[
            "unavailable",
            "unavailableerror",
            "serviceunavailable",
            "serviceunavailableerror",
            "serviceunavailableexception",
            "overloadedexception",
        ],
        Class::Overloaded,
        None,
        AIP,
    ),
    code(
        "type-auth",
        &[
            "invalidauthenticationerror",
            "autherror",
            "authorizationerror",
            "unauthorized",
            "unauthorizederror",
            "unauthorizedexception",
        ],
        Class::Auth,
        None,
        COMPATIBLE,
    ),
    code(
        "type-permission",
        &["permissionerror", "permissiondenied*", "forbidden", "forbiddenerror", "accessdeniedexception"],
        Class::Permission,
        None,
        ANTHROPIC,
    ),
    code(
        "type-not-found",
        &["notfounderror", "resourcenotfound*", "notfoundexception", "notfound"],
        Class::NotFound,
        None,
        ANTHROPIC,
    ),
    code(
        "type-too-large",
        &["requestentitytoolargeerror", "payloadtoolargeerror"],
        Class::PayloadTooLarge,
        REQUEST,
        COMPATIBLE,
    ),
    code(
        "type-deadline",
        &["deadlineexceeded", "modeltimeoutexception", "timeouterror", "gatewaytimeout*"],
        Class::ServerError,
        None,
        AIP,
    ),
    code(
        "type-internal",
        &[
            "internalservererror",
            "internalserverexception",
            "internalfailure",
            "modelerrorexception",
            "modelstreamerrorexception",
        ],
        Class::ServerError,
        None,
        AIP,
    ),
    code("type-cancelled", &["cancelled", "canceled", "requestcancelled"], Class::Unknown, REQUEST, AIP),
];

/// What a type says where no status stands beside it.
pub const BARE: &[Rule] = &[
    phrase("bare-unauthorized", &["unauthorized", "unauthenticated"], Class::Auth, None, COMPATIBLE),
    code(
        "bare-invalid",
        &[
            "invalidrequest*",
            "badrequest*",
            "invalidargument",
            "invalidparameter*",
            "validationexception",
            "validationerror",
            "validation",
            "unprocessableentity*",
            "extraforbidden",
            "unsupportedvalue",
            "unsupportedparameter",
        ],
        Class::InvalidRequest,
        REQUEST,
        OPENAI,
    ),
    phrase(
        "bare-invalid-words",
        &["invalid request", "invalid parameter", "is not permitted", "field required", "参数错误"],
        Class::InvalidRequest,
        REQUEST,
        COMPATIBLE,
    ),
];

/// A status where nothing else speaks.
pub const STATUS: &[Rule] = &[
    status("status-400", &[400, 406, 411, 415, 422, 428, 501], Class::InvalidRequest, REQUEST),
    status("status-401", &[401, 407, 561], Class::Auth, None),
    status("status-402", &[402], Class::QuotaExhausted, None),
    status("status-403", &[403, 451, 511], Class::Permission, None),
    status("status-404", &[404, 405, 410], Class::NotFound, None),
    status("status-408", &[408], Class::TimeoutHeaders, None),
    // Two requests got in each other's way: the later one may be repeated a moment later.
    status("status-409", &[409, 423, 425], Class::RateLimit, REQUEST),
    status("status-413", &[413, 414, 431], Class::PayloadTooLarge, REQUEST),
    status("status-429", &[429, 509], Class::RateLimit, None),
    status("status-overloaded", &[498, 503, 507, 529], Class::Overloaded, None),
    status("status-424", &[424], Class::ServerError, None),
];

/// Any other status of a server's fault.
pub const STATUS_5XX: Rule = status("status-5xx", &[], Class::ServerError, None);

/// Any other status.
pub const STATUS_UNKNOWN: Rule = status("status-unknown", &[], Class::Unknown, REQUEST);

const fn status(name: &'static str, status: &'static [u16], class: Class, scope: Option<Scope>) -> Rule {
    Rule { name, codes: &[], phrases: &[], status, class, scope, source: RFC }
}
