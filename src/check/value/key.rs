//! API keys written where a reference is due: recognised by their vendors' prefixes, or by being long and random.
//!
//! In: texts and trees. Out: a diagnostic that never repeats the text it is about.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// Beginnings of vendors' keys, with the least number of characters that follow.
const PREFIXES: [(&str, usize); 14] = [
    ("sk-", 16),
    ("sk_", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("gsk_", 16),
    ("xai-", 16),
    ("hf_", 16),
    ("r8_", 16),
    ("pplx-", 16),
    ("ghp_", 16),
    ("csk-", 16),
    ("nvapi-", 16),
    ("Bearer ", 12),
];

/// No text shorter than this is a key of any vendor. Every word of a policy is looked at, and most end here.
pub const SHORTEST: usize = 19;

/// The least length of a text that is a key by looks alone.
const LONG: usize = 32;

/// Whether a text looks like an API key.
pub fn looks_like_key(text: &str) -> bool {
    let text = text.trim();
    if text.len() < SHORTEST {
        return false;
    }
    let token = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '=' | '+' | '/');
    let known = PREFIXES.iter().any(|(prefix, least)| {
        text.strip_prefix(prefix).is_some_and(|rest| rest.len() >= *least && rest.trim().chars().all(token))
    });
    known || random(text)
}

/// Long, of one alphabet, and of many different characters: hexadecimal or base64.
fn random(text: &str) -> bool {
    if text.len() < LONG {
        return false;
    }
    let mut seen = [false; 256];
    text.bytes().for_each(|b| {
        if let Some(slot) = seen.get_mut(usize::from(b)) {
            *slot = true;
        }
    });
    let distinct = seen.iter().filter(|s| **s).count();
    let has = |test: fn(&u8) -> bool| text.bytes().any(|b| test(&b));
    let hex = text.bytes().all(|b| b.is_ascii_hexdigit());
    let base64 = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'_' | b'-'));
    let digits = has(u8::is_ascii_digit);
    digits
        && ((hex && has(u8::is_ascii_alphabetic) && distinct >= 8)
            || (base64 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && distinct >= 16))
}

/// What is said of a literal that is, or looks like, a key.
pub fn literal(span: Span) -> Diagnostic {
    Diagnostic::new(Code::KeyLiteral, span, "an API key is written into the policy")
        .here("looks like a key")
        .help("write `env NAME` or `file \"PATH\"` here, and have the key replaced: it has been in a file under review")
}

/// What is said of an address that carries a credential.
pub fn in_address(span: Span) -> Diagnostic {
    Diagnostic::new(Code::KeyLiteral, span, "a credential is written into an address")
        .here("before the host, or as a parameter")
        .help("take it out, name it by `key env NAME`, and have it replaced: it has been in a file under review")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_vendors_key_is_too_short_to_be_looked_at() {
        let shortest = PREFIXES.iter().map(|(prefix, least)| prefix.len() + least).min();
        assert_eq!(shortest, Some(SHORTEST));
    }
}
