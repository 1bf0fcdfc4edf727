//! What the emulator reads of a request.
//!
//! In: a body. Out: the few members an answer depends on, or a sentence about what is wrong. More lenient than a
//! provider: messages and everything else are not looked at.

use serde::Deserialize;

/// The members an answer depends on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ask {
    pub model: String,
    pub stream: bool,
    pub include_usage: bool,
    pub max_output: Option<u64>,
    pub prompt_tokens: u64,
}

#[derive(Deserialize)]
struct Body {
    model: String,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    max_completion_tokens: Option<u64>,
    max_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

/// What four bytes of a request count for, about: usage only has to look like usage.
const BYTES_PER_TOKEN: usize = 4;

impl Ask {
    pub(super) fn read(body: &[u8]) -> Result<Ask, String> {
        let parsed: Body = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        Ok(Ask {
            model: parsed.model,
            stream: parsed.stream.unwrap_or(false),
            include_usage: parsed.stream_options.and_then(|o| o.include_usage).unwrap_or(false),
            max_output: parsed.max_completion_tokens.or(parsed.max_tokens),
            prompt_tokens: u64::try_from(body.len() / BYTES_PER_TOKEN).unwrap_or(u64::MAX),
        })
    }
}
