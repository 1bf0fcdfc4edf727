//! Retry ratios: how much load repetition may add at one target.
//!
//! Plain values under the language's names; the default stands here once, with its reason. Keeps no state.

use super::units::{Millis, Percent, Rate};

/// `retry-ratio 20%, at least 1/s, burst 20`: one bucket of tokens for each target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RetryRatio {
    /// What each first arrival pays in, as a share of a token.
    pub ratio: Percent,
    /// What time pays in, so that a quiet target can be retried at all.
    pub at_least: Rate,
    /// The most it holds, and what it holds at first.
    pub burst: u32,
}

impl RetryRatio {
    /// Parts of a token that are counted: a thousandth is what a rate of one a second earns in a millisecond.
    pub const TOKEN: u64 = 1_000;
    /// Most tokens that any bucket may hold.
    pub const MOST_BURST: u32 = 1_000_000;
}

impl Default for RetryRatio {
    /// Finagle's and linkerd's budget: a fifth on top is what a struggling target can bear.
    fn default() -> RetryRatio {
        RetryRatio { ratio: Percent(2_000), at_least: Rate { count: 1, per: Millis(1_000) }, burst: 20 }
    }
}
