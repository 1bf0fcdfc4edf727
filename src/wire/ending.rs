//! Reasons for the end of an answer, in the words of every dialect.
//!
//! In: a reason as it was sent. Out: what it makes of the answer. Reasons that are not here end an answer in order.

use crate::policy::Class;

/// What a reason makes of an answer that ended with it; nothing where it ended in order.
const REASONS: &[(Class, &str, &[&str])] = &[
    (
        Class::Policy,
        "finish-filter",
        &[
            "contentfilter",
            "contentfiltered",
            "guardrailintervened",
            "refusal",
            "sensitive",
            "safety",
            "recitation",
            "blocklist",
            "prohibitedcontent",
            "spii",
            "imagesafety",
            "imageprohibitedcontent",
            "imagerecitation",
            "modelarmor",
            "blockedreasonunspecified",
            "jailbreak",
            "errortoxic",
            "filtered",
            "blocked",
            "moderation",
        ],
    ),
    (
        Class::Truncated,
        "finish-length",
        &[
            "length",
            "maxtokens",
            "maxoutputtokens",
            "modellength",
            "modelcontextwindowexceeded",
            "contextfull",
            "continuation",
            "errorlimit",
            "maxlength",
            "incomplete",
            "maxmessages",
            "tokenlimit",
        ],
    ),
    (
        Class::SchemaInvalid,
        "finish-malformed",
        &[
            "malformedfunctioncall",
            "malformedmodeloutput",
            "malformedtooluse",
            "malformedresponse",
            "unexpectedtoolcall",
            "toomanytoolcalls",
            "invalidtoolcall",
        ],
    ),
    (Class::Overloaded, "finish-no-resource", &["insufficientsystemresource", "overloaded", "nocapacity"]),
    (Class::ServerError, "finish-error", &["error", "networkerror", "failed", "cancelled", "canceled", "abort"]),
];

/// What a reason makes of an answer, and the rule that says so.
pub fn ending(reason: &str) -> Option<(Class, &'static str)> {
    let reason: String = reason.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let of = REASONS.iter().find(|(_, _, words)| words.contains(&reason.as_str()));
    of.map(|(class, rule, _)| (*class, *rule))
}
