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

/// How nearly all answers end: in order, without a look through the words above.
const IN_ORDER: &[&str] = &["stop", "tool_calls", "end_turn", "tool_use", "STOP"];

/// What a reason makes of an answer, and the rule that says so.
pub fn ending(reason: &str) -> Option<(Class, &'static str)> {
    if IN_ORDER.contains(&reason) {
        return None;
    }
    let reason: String = reason.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let of = REASONS.iter().find(|(_, _, words)| words.contains(&reason.as_str()));
    of.map(|(class, rule, _)| (*class, *rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_to_end_in_order_is_no_word_of_the_table() {
        for reason in IN_ORDER {
            let plain: String = reason.chars().filter(char::is_ascii_alphanumeric).collect();
            let listed = REASONS.iter().any(|(_, _, words)| words.contains(&plain.to_ascii_lowercase().as_str()));
            assert!(!listed && ending(reason).is_none(), "{reason}");
        }
        assert_eq!(ending("Content-Filter").map(|(class, _)| class), Some(Class::Policy));
    }
}
