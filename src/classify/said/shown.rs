//! What may be shown of an answer's words.
//!
//! In: a message as it came. Out: the same on one line, bounded, with nothing in it that looks like a key. Nothing here
//! decides what an error is.

/// Longest message that is handed on, in characters.
pub const MESSAGE_CHARS: usize = 512;

/// Beginnings of secrets, as vendors issue them.
const KEY_PREFIXES: &[&str] =
    &["sk-", "sk_", "pk-", "rk-", "gsk_", "xai-", "hf_", "nvapi-", "fw_", "csk-", "pplx-", "AIza", "AKIA", "eyJ"];

/// Words fit to be shown: at most [`MESSAGE_CHARS`] characters on one line, and nothing in them that looks like a key.
pub fn words(message: &str) -> String {
    let mut out = String::new();
    let mut after_bearer = false;
    // What is cut off at the end is not looked at either.
    let end = message.char_indices().nth(4 * MESSAGE_CHARS).map_or(message.len(), |(at, _)| at);
    for piece in message.get(..end).unwrap_or(message).split_inclusive(|c: char| !is_key_char(c)) {
        let run = piece.trim_end_matches(|c: char| !is_key_char(c));
        let secret = after_bearer || (run.len() >= 8 && KEY_PREFIXES.iter().any(|p| run.starts_with(p)));
        if !run.is_empty() {
            out.push_str(if secret { "[key]" } else { run });
            after_bearer = run.eq_ignore_ascii_case("bearer");
        }
        out.extend(piece.chars().skip(run.chars().count()).map(|c| if c.is_control() { ' ' } else { c }));
    }
    if out.chars().count() > MESSAGE_CHARS {
        out = out.chars().take(MESSAGE_CHARS - 1).chain(['…']).collect();
    }
    out
}

fn is_key_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '.')
}
