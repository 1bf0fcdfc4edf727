//! Probes: how a target's health is found out, and what it takes to change it.
//!
//! One set of rules per target, provider or the set's defaults; without any there are no probes and health stays good.
//! Plain values under the language's names; each default stands here once, with its reason. Keeps no state.

use super::class::words;
use super::units::{Millis, Money, Multiple, Percent};

words! {
    /// What a probe asks for.
    ProbeKind {
        Generate "generate" "a minimal real answer";
        Tools "tools" "a minimal tool call";
        Embedding "embedding" "a minimal embedding";
        Endpoint "endpoint" "whether the server answers at all: proves it down, never up";
    }
}

words! {
    /// What an empty, garbled or wrong answer to a probe is.
    BadAnswer {
        Fail "fail" "a failure";
        Slow "slow" "as good as slow";
    }
}

/// `slow when latency > 3x baseline, at least 500ms`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlowBeside {
    /// More than so many times the baseline's p95.
    pub multiple: Multiple,
    /// Nothing up to this is slow.
    pub at_least: Millis,
}

/// `slow when p95 > 12s over 60s, min 20`: live traffic, looked at by each probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlowLive {
    /// A p95 above this is slow.
    pub above: Millis,
    /// Over the calls that ended in this time.
    pub over: Millis,
    /// Where there were at least so many.
    pub min: u32,
}

impl SlowLive {
    /// Default of `min`: fewer have no 95th.
    pub const MIN: u32 = 20;
    /// The latest calls that are kept to look at, enough for a p95 that one call does not move by a twentieth. A `min`
    /// above it would never be there.
    pub const KEPT: u16 = 512;
}

/// The `slow when` lines; any of them is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlowWhen {
    /// Against the baseline.
    pub beside: Option<SlowBeside>,
    /// `slow when latency > 12s`
    pub above: Option<Millis>,
    /// Against live traffic.
    pub live: Option<SlowLive>,
}

/// `baseline 100 probes, min 20, renew 30m`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BaselineRules {
    /// The latest so many.
    pub size: u32,
    /// Fewer say nothing.
    pub min: u32,
    /// Slow for so long without a failure is the new normal; absent: never.
    pub renew: Option<Millis>,
}

impl BaselineRules {
    /// The percentile that slowness is measured against: above it is what is slow even when all is well.
    pub const PERCENTILE: usize = 95;
    /// Most probes that a baseline may be made of: a day of probes at the default interval.
    pub const MOST: u32 = 10_000;
}

/// What it takes to change a target's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HealthRules {
    /// `down after N failures`, in a row.
    pub down_after: u32,
    /// `up after N passes`, in a row.
    pub up_after: u32,
    /// `degraded after N slow`, in a row.
    pub degraded_after: u32,
    /// `recovered after N ok`, in a row.
    pub recovered_after: u32,
    /// What is slow.
    pub slow: SlowWhen,
    /// What it is measured against.
    pub baseline: BaselineRules,
}

/// A baseline that a target states, until enough probes are in: `baseline p50 300ms, p95 900ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed {
    /// The median.
    pub p50: Millis,
    /// What slowness is measured against.
    pub p95: Millis,
}

/// All settings of a `probe` block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProbeRules {
    /// From one probe to the next while nothing changes.
    pub every: Millis,
    /// Drawn up to this share and added, so that probes of many targets and instances do not march in step.
    pub jitter: Percent,
    /// Longest time of a probe; absent: `every`, at most [`ProbeRules::TIMEOUT`].
    pub timeout: Option<Millis>,
    /// What is asked.
    pub kind: ProbeKind,
    /// The words of the question.
    pub prompt: String,
    /// Longest answer. An answer cut there is whole.
    pub max_tokens: u32,
    /// What the answer has to contain; absent: anything at all.
    pub answer_contains: Option<String>,
    /// What another answer is.
    pub bad_answer: BadAnswer,
    /// What it takes to change health.
    pub health: HealthRules,
    /// Live latencies enter as ok or slow, never as failures.
    pub traffic: bool,
    /// Most that probes of one target may cost a day; then they say nothing.
    pub spend_per_day: Option<Money>,
}

impl ProbeRules {
    /// Longest default of `timeout`: what has not answered "ping" in ten seconds is of no use to anybody waiting.
    pub const TIMEOUT: Millis = Millis(10_000);
    /// The first probe comes within this part of the interval: not all at once, and soon.
    pub const FIRST_WITHIN: u64 = 10;
    /// A changing state is looked at so many times as often.
    pub const HURRY: u64 = 4;
    /// A state so many intervals old is stale: two probes may be lost, a third is a prober that does not run.
    pub const STALE_AFTER: u64 = 3;

    /// The longest time of a probe.
    pub fn longest(&self) -> Millis {
        self.timeout.unwrap_or_else(|| self.every.min(ProbeRules::TIMEOUT))
    }

    /// From one probe to the next while a state is changing, and between live latencies that are let in.
    pub fn hurried(&self) -> Millis {
        Millis(self.every.0 / ProbeRules::HURRY)
    }
}

impl Default for HealthRules {
    /// HAProxy's rise and fall, and the same patience for slowness. Three times the p95 is beyond a bad minute, half a
    /// second is what nobody notices. A hundred probes are a quarter of an hour; fewer than twenty have no 95th.
    fn default() -> HealthRules {
        HealthRules {
            down_after: 3,
            up_after: 2,
            degraded_after: 3,
            recovered_after: 3,
            slow: SlowWhen {
                beside: Some(SlowBeside { multiple: Multiple(3_000), at_least: Millis(500) }),
                above: None,
                live: None,
            },
            baseline: BaselineRules { size: 100, min: 20, renew: Some(Millis(1_800_000)) },
        }
    }
}

impl Default for ProbeRules {
    /// The language's defaults: a real answer of a few tokens every ten seconds.
    fn default() -> ProbeRules {
        ProbeRules {
            every: Millis(10_000),
            jitter: Percent(1_000),
            timeout: None,
            kind: ProbeKind::Generate,
            prompt: "ping".to_string(),
            max_tokens: 5,
            answer_contains: None,
            bad_answer: BadAnswer::Fail,
            health: HealthRules::default(),
            traffic: false,
            spend_per_day: None,
        }
    }
}
