//! Vitals: whether a target is healthy, degraded or down, by its probes.
//!
//! In: the ends of probes and, where the policy says so, live latencies. Out: the state, and the baseline that slowness
//! is measured against. The baseline is what the target is like when well: it stands still while it is not, so that
//! slowness is never learned. No moving average, no clock, no lock, and no room that grows.

mod live;
mod ranked;
mod views;

pub use views::Views;

use super::standing::Health;
use crate::policy::Millis;
use crate::policy::class::words;
use crate::policy::probe::{BaselineRules, HealthRules, ProbeKind, ProbeRules, Seed};
use live::Live;
pub(in crate::decide) use ranked::Ranked;

/// How a probe ended, its answer judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probed {
    /// A right answer, after this time.
    Passed(Millis),
    /// A right answer as far as it goes, and a bad one as `bad-answer slow` has it.
    Poor,
    /// No answer, or one that is a failure.
    Failed,
    /// Nothing was learned: throttled, our own network, money spent.
    Inconclusive,
}

words! {
    /// What a probe was taken for.
    Judged {
        Ok "ok" "it answered, fast enough";
        Slow "slow" "it answered, too slowly";
        Fail "fail" "it did not answer";
        Skip "skip" "nothing was learned";
    }
}

/// How long a call took to what its caller waits for. The two are never compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latency {
    /// To the first output of a stream.
    FirstOutput(Millis),
    /// To the end of a whole answer.
    Whole(Millis),
}

impl Latency {
    /// The time itself.
    pub fn time(self) -> Millis {
        match self {
            Latency::FirstOutput(time) | Latency::Whole(time) => time,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Runs {
    fail: u32,
    slow: u32,
    ok: u32,
    /// Ok or slow.
    pass: u32,
}

impl Runs {
    fn count(&mut self, judged: Judged) {
        let more = |run: u32| run.saturating_add(1);
        *self = match judged {
            Judged::Ok => Runs { fail: 0, slow: 0, ok: more(self.ok), pass: more(self.pass) },
            Judged::Slow => Runs { fail: 0, slow: more(self.slow), ok: 0, pass: more(self.pass) },
            Judged::Fail => Runs { fail: more(self.fail), slow: 0, ok: 0, pass: 0 },
            Judged::Skip => *self,
        };
    }
}

/// The health of one target.
#[derive(Clone, Debug)]
pub struct Vitals {
    rules: HealthRules,
    kind: ProbeKind,
    every: Millis,
    /// Live latencies are let in this far apart; none where they are not.
    traffic: Option<Millis>,
    seed: Option<Seed>,
    state: Health,
    runs: Runs,
    baseline: Ranked,
    /// All that passed, whatever the state: what the baseline becomes when slow is the new normal.
    recent: Ranked,
    degraded_at: Millis,
    /// When something was last learned; none before the first time.
    learned_at: Option<Millis>,
    streams: Option<Live>,
    wholes: Option<Live>,
}

impl Vitals {
    /// A target that nobody looked at: it counts as healthy.
    pub fn new(rules: &ProbeRules, seed: Option<Seed>) -> Vitals {
        let size = rules.health.baseline.size.clamp(1, BaselineRules::MOST);
        Vitals {
            rules: rules.health,
            kind: rules.kind,
            every: rules.every,
            traffic: rules.traffic.then(|| rules.hurried()),
            seed,
            state: Health::Healthy,
            runs: Runs::default(),
            baseline: Ranked::new(size),
            recent: Ranked::new(size),
            degraded_at: Millis::ZERO,
            learned_at: None,
            streams: rules.health.slow.live.map(Live::new),
            wholes: rules.health.slow.live.map(Live::new),
        }
    }

    /// What the latest probes say.
    pub fn state(&self) -> Health {
        self.state
    }

    /// From when on what it says is stale: nothing was learned for so long that it may be otherwise.
    pub fn stale_at(&self) -> Option<Millis> {
        let patience = Millis(self.every.0.saturating_mul(ProbeRules::STALE_AFTER));
        self.learned_at.map(|at| at.plus(patience))
    }

    /// Whether the next probe may change the state: look more often.
    pub fn is_changing(&self) -> bool {
        match self.state {
            Health::Healthy => self.runs.fail > 0 || self.runs.slow > 0,
            Health::Degraded => self.runs.fail > 0 || self.runs.ok > 0,
            Health::Down => self.runs.pass > 0,
        }
    }

    /// What slowness is measured against: the baseline's p95, or the one stated while too few probes are in.
    pub fn baseline_p95(&self) -> Option<Millis> {
        if self.baseline.len() >= usize::try_from(self.rules.baseline.min).unwrap_or(usize::MAX) {
            self.baseline.p95()
        } else {
            self.seed.map(|seed| seed.p95)
        }
    }

    fn is_slow(&mut self, now: Millis, latency: Millis) -> bool {
        let slow = self.rules.slow;
        let beside = slow.beside.is_some_and(|rule| {
            latency > rule.at_least && self.baseline_p95().is_some_and(|base| rule.multiple.exceeded(latency, base))
        });
        beside
            || slow.above.is_some_and(|limit| latency > limit)
            || self.streams.as_mut().is_some_and(|live| live.is_slow(now))
            || self.wholes.as_mut().is_some_and(|live| live.is_slow(now))
    }

    /// Takes note of a probe's end; says what it was taken for. The probe is judged before it becomes part of what the
    /// next is measured against.
    pub fn probe(&mut self, now: Millis, probed: Probed) -> Judged {
        let (judged, latency) = match probed {
            Probed::Passed(_) | Probed::Poor if self.kind == ProbeKind::Endpoint => (Judged::Skip, None),
            Probed::Passed(latency) if self.is_slow(now, latency) => (Judged::Slow, Some(latency)),
            Probed::Passed(latency) => (Judged::Ok, Some(latency)),
            Probed::Poor => (Judged::Slow, None),
            Probed::Failed => (Judged::Fail, None),
            Probed::Inconclusive => (Judged::Skip, None),
        };
        if judged != Judged::Skip {
            self.learn(now, judged, latency);
        }
        judged
    }

    /// A call of live traffic had its output after this time. Never a failure, at most one in a while, and it lifts
    /// nothing out of `down`: that is for probes to say.
    pub fn traffic(&mut self, now: Millis, latency: Latency) {
        let live = match latency {
            Latency::FirstOutput(_) => &mut self.streams,
            Latency::Whole(_) => &mut self.wholes,
        };
        if let Some(live) = live {
            live.push(now, latency.time());
        }
        // A whole answer takes as long as it is long: beside a probe's few tokens it would always be slow.
        let (Some(apart), Latency::FirstOutput(time)) = (self.traffic, latency) else { return };
        let due = self.learned_at.is_none_or(|at| now >= at.plus(apart));
        if due && self.state != Health::Down {
            let judged = if self.is_slow(now, time) { Judged::Slow } else { Judged::Ok };
            self.learn(now, judged, Some(time));
        }
    }

    fn learn(&mut self, now: Millis, judged: Judged, latency: Option<Millis>) {
        self.runs.count(judged);
        if let Some(latency) = latency {
            self.recent.push(latency);
        }
        let before = self.state;
        self.state = self.next(now, judged, latency);
        if self.state == Health::Degraded && before != Health::Degraded {
            self.degraded_at = now;
        }
        if let (Judged::Ok, Health::Healthy, Health::Healthy, Some(latency)) = (judged, before, self.state, latency) {
            self.baseline.push(latency);
        }
        self.learned_at = Some(now);
    }

    fn next(&mut self, now: Millis, judged: Judged, latency: Option<Millis>) -> Health {
        let (rules, runs) = (self.rules, self.runs);
        if self.learned_at.is_none() {
            return match judged {
                Judged::Ok | Judged::Skip => Health::Healthy,
                Judged::Slow => Health::Degraded,
                Judged::Fail => Health::Down,
            };
        }
        if runs.fail >= rules.down_after {
            return Health::Down;
        }
        match self.state {
            Health::Down if runs.pass >= rules.up_after => {
                if runs.ok >= rules.up_after {
                    Health::Healthy
                } else {
                    Health::Degraded
                }
            }
            Health::Healthy if runs.slow >= rules.degraded_after => Health::Degraded,
            Health::Degraded if runs.ok >= rules.recovered_after => Health::Healthy,
            // A bad answer that counts as slow has no latency, and is never normal.
            Health::Degraded if judged == Judged::Slow && latency.is_some() && self.is_normal_now(now) => {
                self.baseline.copy(&self.recent);
                self.runs = Runs::default();
                Health::Healthy
            }
            state @ (Health::Healthy | Health::Degraded | Health::Down) => state,
        }
    }

    /// Slow for so long that slow is what it is like.
    fn is_normal_now(&self, now: Millis) -> bool {
        self.rules.baseline.renew.is_some_and(|after| now.less(self.degraded_at) >= after)
    }
}

#[cfg(test)]
mod tests;
