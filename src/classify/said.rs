//! What an error body says: message, code and type, out of the shapes that servers and relays use.
//!
//! In: body bytes of any kind. Out: `Said`, with everything that a rule may look at. It never fails: a body that is no
//! JSON is text, a page is its title. `words` bounds and scrubs what may be shown to a client.

use serde_json::Value;

/// Longest message that is handed on, in characters.
pub const MESSAGE_CHARS: usize = 512;

/// Beginning of a body that is looked at, in bytes: an error says what it is at once.
const READ_BYTES: usize = 64 * 1024;

/// What a body says about an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Its words, in full.
    pub message: String,
    /// Its code, numbers as digits.
    pub code: Option<String>,
    /// Its type.
    pub kind: Option<String>,
    /// A third word that some servers carry beside code and type.
    pub other: Option<String>,
    /// The HTTP status that it says it stands for.
    pub status: Option<u16>,
}

impl Said {
    /// Reads a body.
    pub fn read(body: &[u8]) -> Said {
        let body = body.get(..READ_BYTES).unwrap_or(body);
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Said::of(&value),
            Err(_) => Said { message: plain(&String::from_utf8_lossy(body)), ..Said::default() },
        }
    }

    /// Reads a JSON value.
    pub fn of(value: &Value) -> Said {
        // Some servers send a list of one.
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").filter(|e| !e.is_null());
        let inner = error.filter(|e| e.is_object()).unwrap_or(value);
        let raw = inner.get("metadata").and_then(|m| m.get("raw"));
        if let Some(nested) = [raw, inner.get("message")].into_iter().flatten().find_map(nested) {
            return nested;
        }
        let message = [inner.get("message"), error, inner.get("detail"), raw]
            .into_iter()
            .flatten()
            .find_map(|v| v.as_str().map(str::to_owned))
            .or_else(|| inner.get("message").or(inner.get("detail")).map(Value::to_string))
            .or_else(|| value.as_str().map(str::to_owned))
            .unwrap_or_default();
        let code = word(inner.get("code"));
        let numbers = [inner.get("code"), inner.get("status_code"), inner.get("status"), value.get("code")];
        let status = numbers
            .into_iter()
            .flatten()
            .find_map(|v| v.as_u64().or_else(|| v.as_str()?.parse().ok()))
            .and_then(|n| u16::try_from(n).ok())
            .filter(|n| (400..600).contains(n));
        let other = [inner.get("innererror").and_then(|i| i.get("code")), inner.get("status"), inner.get("reason")];
        Said {
            message,
            code,
            kind: word(inner.get("type")).or_else(|| word(value.get("error_type"))),
            other: other.into_iter().flatten().find_map(|v| word(Some(v))),
            status,
        }
    }

    /// Whether code, type or the third word is this one, whatever its case.
    pub fn has_word(&self, word: &str) -> bool {
        [&self.code, &self.kind, &self.other].into_iter().flatten().any(|w| w.eq_ignore_ascii_case(word))
    }

    /// What is shown of code and type: the code, unless it only repeats a status.
    pub fn code_or_kind(&self) -> Option<String> {
        let code = self.code.clone().filter(|c| c.parse::<u16>().is_err());
        code.or_else(|| self.kind.clone()).or_else(|| self.code.clone())
    }
}

/// An error that stands as JSON text inside another.
fn nested(value: &Value) -> Option<Said> {
    let text = value.as_str()?.trim_start();
    let inner: Value = text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
    inner.is_object().then(|| Said::of(&inner)).filter(|s| !s.message.is_empty())
}

fn word(value: Option<&Value>) -> Option<String> {
    let value = value?;
    let text = value.as_str().map(str::to_owned).or_else(|| value.as_i64().map(|n| n.to_string()))?;
    (!text.is_empty()).then_some(text)
}

/// The title of a page, or the text itself.
fn plain(text: &str) -> String {
    let text = text.trim();
    if !text.starts_with('<') {
        return text.to_owned();
    }
    let lower = text.to_ascii_lowercase();
    let title = lower.find("<title>").map(|at| at + "<title>".len()).and_then(|from| {
        let to = lower.get(from..)?.find("</title>")? + from;
        text.get(from..to)
    });
    title.unwrap_or_default().trim().to_owned()
}

/// Beginnings of secrets, as vendors issue them.
const KEY_PREFIXES: &[&str] =
    &["sk-", "sk_", "pk-", "rk-", "gsk_", "xai-", "hf_", "nvapi-", "fw_", "csk-", "pplx-", "AIza", "AKIA", "eyJ"];

/// Words fit to be shown: at most [`MESSAGE_CHARS`] characters on one line, and nothing in them that looks like a key.
pub fn words(message: &str) -> String {
    let mut out = String::new();
    let mut after_bearer = false;
    for piece in message.split_inclusive(|c: char| !is_key_char(c)) {
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
