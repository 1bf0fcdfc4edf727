//! What an answer cost, counted as chat counts.
//!
//! In: `usage` of this dialect, once or in pieces of which the last word counts. Out: our own counts, and chat's. Here
//! what was cached is not part of the input; in chat it is.

use crate::policy::Usage;
use crate::wire::json::Members;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Counts as this dialect gives them; each is the last that was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    input: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
    output: Option<u64>,
    thinking: Option<u64>,
}

impl Counts {
    /// Takes the counts that are told now.
    pub(super) fn take(&mut self, usage: &RawValue) {
        let Ok(members) = Members::read(usage.get()) else { return };
        let number = |name: &str| members.get(name).and_then(|n| n.get().parse().ok());
        let mut details = None;
        members.at("output_tokens_details.thinking_tokens", &mut |n| details = n.get().parse().ok());
        self.input = number("input_tokens").or(self.input);
        self.read = number("cache_read_input_tokens").or(self.read);
        self.written = number("cache_creation_input_tokens").or(self.written);
        self.output = number("output_tokens").or(self.output);
        self.thinking = details.or(self.thinking);
    }

    /// The same as we count; nothing where nothing was told.
    pub(super) fn usage(&self) -> Option<Usage> {
        let cached = self.read.unwrap_or(0);
        let input = self.input?.saturating_add(cached).saturating_add(self.written.unwrap_or(0));
        Some(Usage { input, output: self.output.unwrap_or(0), cached })
    }

    /// The same as chat says it.
    pub(super) fn chat(&self) -> Option<Value> {
        let Usage { input, output, cached } = self.usage()?;
        let mut told = json!({
            "prompt_tokens": input,
            "completion_tokens": output,
            "total_tokens": input.saturating_add(output),
            "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": self.written.unwrap_or(0)},
        });
        if let (Some(members), Some(thinking)) = (told.as_object_mut(), self.thinking) {
            members.insert("completion_tokens_details".into(), json!({"reasoning_tokens": thinking}));
        }
        Some(told)
    }
}
