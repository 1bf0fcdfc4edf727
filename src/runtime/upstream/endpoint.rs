//! Where a provider is and what it is sent, with everything from outside the policy filled in.
//!
//! In: a checked `Provider`, the environment and files. Out: an `Endpoint`, or why there is none, naming the variable or
//! file and never its value. Read once per load of a policy set: a key that changes takes effect with the next load.

use crate::classify::vendor::Vendor;
use crate::policy::{Api, Dialect, Millis, Provider, Text, address};
use std::fmt;

/// A value that is not for logs: credentials, and headers that may hold them.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Secret {
        Secret(value.into())
    }

    /// The value itself, for the wire alone.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Secret {
    /// The text with the value taken out, wherever it stands: whole, and without the scheme before it (`Bearer …`). Short
    /// values are no credentials, and taking them out would only garble the text.
    fn scrub(&self, text: String) -> String {
        let parts = [self.0.as_str(), self.0.split_once(' ').map_or("", |(_, token)| token)];
        let parts = parts.into_iter().filter(|part| part.len() >= SHORTEST);
        parts.fold(text, |text, part| {
            let text = if text.contains(part) { text.replace(part, "[key]") } else { text };
            without_begun(text, part)
        })
    }
}

/// A text without the beginning of a value at its end: messages are cut, and may be cut in the middle of one.
fn without_begun(text: String, value: &str) -> String {
    let shown = text.trim_end_matches('…');
    let begun = (SHORTEST..value.len()).rev().find(|end| value.get(..*end).is_some_and(|begun| shown.ends_with(begun)));
    match begun.and_then(|length| shown.get(..shown.len() - length)) {
        Some(before) => format!("{before}[key]…"),
        None => text,
    }
}

/// Values shorter than this, in bytes, are taken for no credential.
const SHORTEST: usize = 6;

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// How a provider is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The provider's name.
    pub provider: String,
    /// The dialect.
    pub api: Api,
    /// Whose table its failures are read by.
    pub vendor: &'static Vendor,
    /// The whole address that calls go to.
    pub url: String,
    /// The header that a key goes in, in lower case.
    pub key_header: &'static str,
    /// Values of that header, one for each key; none for a server that asks for none.
    pub keys: Vec<Secret>,
    /// Other headers sent with each call, names in lower case.
    pub headers: Vec<(String, Secret)>,
    /// Client headers handed on, in lower case.
    pub pass: Vec<String>,
    /// Longest time for a connection.
    pub timeout_connect: Millis,
}

/// Why a provider cannot be reached as the policy says.
#[derive(Debug, thiserror::Error)]
pub enum Unresolved {
    /// A variable without a default is not set.
    #[error("provider `{provider}`: `{setting}` needs the environment variable {name}, which is not set or empty")]
    Env {
        /// The provider.
        provider: String,
        /// The setting.
        setting: String,
        /// The variable.
        name: String,
    },
    /// A file without a default cannot be read.
    #[error("provider `{provider}`: `{setting}` needs the file {path}: {error}")]
    File {
        /// The provider.
        provider: String,
        /// The setting.
        setting: String,
        /// The file.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// A value that cannot be used; it is not shown.
    #[error("provider `{provider}`: the value of `{setting}` {what}")]
    Unusable {
        /// The provider.
        provider: String,
        /// The setting.
        setting: String,
        /// What is wrong with it.
        what: String,
    },
}

/// The outside world as endpoints see it.
pub trait Outside {
    /// An environment variable.
    fn env(&self, name: &str) -> Option<String>;

    /// A file's text.
    ///
    /// # Errors
    /// What the system says of a file that cannot be read as text.
    fn file(&self, path: &str) -> std::io::Result<String>;
}

/// The process's own environment and files.
#[derive(Clone, Copy, Debug)]
pub struct Process;

impl Outside for Process {
    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &str) -> std::io::Result<String> {
        std::fs::read_to_string(path)
    }
}

/// Default of `base-url` for `openai-chat`.
const OPENAI: &str = "https://api.openai.com/v1";
/// Default of `base-url` for `anthropic-messages`.
const ANTHROPIC: &str = "https://api.anthropic.com/v1";
/// The emulator lives in the process; the address is shown to nobody and reached by nobody.
const EMULATED: &str = "http://emulated.invalid/v1";

impl Endpoint {
    /// An upstream's words without anything that it was sent in confidence.
    pub fn scrub(&self, text: String) -> String {
        let secrets = self.headers.iter().map(|(_, value)| value).chain(&self.keys);
        secrets.fold(text, |text, value| value.scrub(text))
    }

    /// The same of bytes, before anything reads or shortens them.
    pub fn scrub_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let text = String::from_utf8_lossy(bytes);
        let scrubbed = self.scrub(text.clone().into_owned());
        (scrubbed != text).then(|| scrubbed.into_bytes())
    }

    /// The endpoint of a provider.
    ///
    /// # Errors
    /// When a variable or file is missing, or a value cannot be an address or a header.
    pub fn resolve(provider: &Provider, outside: &dyn Outside) -> Result<Endpoint, Unresolved> {
        let lookup = |setting: &str, text: &Text| value_of(provider, setting, text, outside);
        let default = match provider.api {
            Api::OpenaiChat => OPENAI,
            Api::AnthropicMessages => ANTHROPIC,
            Api::Emulated => EMULATED,
        };
        let base = match &provider.base_url {
            Some(text) => lookup("base-url", text)?,
            None => default.to_owned(),
        };
        let base = address::checked_base(&base).map_err(|what| unusable(provider, "base-url", what))?;
        let mut headers = Vec::new();
        let mut keys = Vec::new();
        let (path, key_header, scheme) = match provider.api.dialect() {
            Dialect::Chat => ("chat/completions", "authorization", "Bearer "),
            Dialect::Messages => ("messages", "x-api-key", ""),
        };
        let setting = if provider.keys.len() > 1 { "keys" } else { "key" };
        for key in &provider.keys {
            let key = lookup(setting, key)?;
            keys.push(header_value(provider, setting, format!("{scheme}{key}"))?);
        }
        for (name, text) in &provider.headers {
            let value = lookup(&format!("header {name}"), text)?;
            headers.push((name.to_ascii_lowercase(), header_value(provider, &format!("header {name}"), value)?));
        }
        Ok(Endpoint {
            provider: provider.name.clone(),
            api: provider.api,
            vendor: Vendor::of(&provider.name, provider.api.word()),
            url: format!("{base}/{path}"),
            key_header,
            keys,
            headers,
            pass: provider.pass_headers.clone(),
            timeout_connect: provider.timeout_connect,
        })
    }
}

fn value_of(provider: &Provider, setting: &str, text: &Text, outside: &dyn Outside) -> Result<String, Unresolved> {
    match text {
        Text::Literal(value) => Ok(value.clone()),
        Text::Env { name, default } => {
            outside.env(name).filter(|v| !v.trim().is_empty()).or_else(|| default.clone()).ok_or_else(|| {
                Unresolved::Env { provider: provider.name.clone(), setting: setting.to_owned(), name: name.clone() }
            })
        }
        Text::File { path, default } => match (outside.file(path), default) {
            // Editors and `echo` end files with a line break that is no part of the value.
            (Ok(value), _) => Ok(value.trim_end().to_owned()),
            (Err(_), Some(default)) => Ok(default.clone()),
            (Err(error), None) => Err(Unresolved::File {
                provider: provider.name.clone(),
                setting: setting.to_owned(),
                path: path.clone(),
                error,
            }),
        },
    }
}

fn unusable(provider: &Provider, setting: &str, what: &str) -> Unresolved {
    Unresolved::Unusable { provider: provider.name.clone(), setting: setting.to_owned(), what: what.to_owned() }
}

fn header_value(provider: &Provider, setting: &str, value: String) -> Result<Secret, Unresolved> {
    if value.bytes().all(|b| b == b'\t' || (b' '..=b'~').contains(&b)) {
        Ok(Secret::new(value))
    } else {
        Err(unusable(provider, setting, "holds characters that no header may hold"))
    }
}

#[cfg(test)]
mod tests;
