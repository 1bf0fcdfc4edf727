//! What the emulator received, so that a count at the upstream can be held against a gateway's record.
//!
//! In: each call as it arrives. Out: how many there were, for each name, and the last of them. Holds names of headers and
//! models, never a header's value and never a body.

use std::collections::{BTreeMap, VecDeque};

/// How many calls are remembered one by one.
const LAST: usize = 100;

/// How many names are counted apart; further ones count in the total alone.
const NAMES: usize = 10_000;

/// What was received since the start or the last reset, as `GET /emulator/calls` gives it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Calls {
    /// The version of this form.
    pub version: u32,
    /// All calls, answered or not.
    pub total: u64,
    /// Calls by target or model name.
    pub calls: BTreeMap<String, u64>,
    /// The last hundred, oldest first.
    pub last: VecDeque<Received>,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Received {
    /// When, in milliseconds since the emulator's first call.
    pub at_ms: u64,
    /// The name it was counted under; absent where the request had none.
    pub model: Option<String>,
    /// Whether it asked for a stream.
    pub stream: bool,
    /// The names of its headers, in lower case, in order of arrival; never their values.
    pub headers: Vec<String>,
}

impl Default for Calls {
    fn default() -> Self {
        Calls { version: 1, total: 0, calls: BTreeMap::new(), last: VecDeque::new() }
    }
}

impl Calls {
    /// Counts a call.
    pub fn add(&mut self, call: Received) {
        self.total += 1;
        if let Some(name) = &call.model
            && (self.calls.len() < NAMES || self.calls.contains_key(name))
        {
            *self.calls.entry(name.clone()).or_default() += 1;
        }
        if self.last.len() == LAST {
            self.last.pop_front();
        }
        self.last.push_back(call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_all_and_remembers_the_last() {
        let mut calls = Calls::default();
        for at_ms in 0..250 {
            let model = Some(if at_ms % 5 == 0 { "a" } else { "b" }.to_string());
            calls.add(Received { at_ms, model, stream: false, headers: vec![] });
        }
        calls.add(Received { at_ms: 250, model: None, stream: true, headers: vec![] });
        assert_eq!((calls.total, calls.calls["a"], calls.calls["b"]), (251, 50, 200));
        assert_eq!((calls.last.len(), calls.last[0].at_ms), (LAST, 151));
    }
}
