//! The world of one test: scripts, states, dice and holds, in virtual time.

use crate::decide::holds::Holds;
use crate::decide::{Breaker, Health, Ramp, Settle, Standing, Verdicts};
use crate::graph::Graph;
use crate::policy::{Answer, DicePurpose, Millis, Percent, TargetId, TargetState, Test, TestStep};

/// How long a breaker that a test calls `open` stays so: the language's default of `open`.
const OPEN_FOR: Millis = Millis(30_000);

/// What undrawn dice show, in parts per million.
const UNDRAWN: u32 = 500_000;

/// One scripted answer of a target, by call.
#[derive(Clone, Debug)]
struct Scripted {
    target: TargetId,
    since: Millis,
    answer: Answer,
    after: Millis,
    left: Option<u32>,
}

/// A state that holds from some time on.
#[derive(Clone, Debug)]
struct Stated {
    target: TargetId,
    since: Millis,
    state: TargetState,
}

/// Everything that a test's lines say about the world.
pub(super) struct World<'a> {
    graph: &'a Graph,
    now: Millis,
    scripts: Vec<Scripted>,
    states: Vec<Stated>,
    dice: Vec<(Option<DicePurpose>, Percent)>,
    holds: Holds,
}

impl<'a> World<'a> {
    /// Lines without `at` hold from the start, wherever they stand.
    pub(super) fn new(graph: &'a Graph, test: &Test) -> World<'a> {
        let (mut scripts, mut states, mut dice) = (Vec::new(), Vec::new(), Vec::new());
        for line in &test.lines {
            let since = line.at.unwrap_or(Millis::ZERO);
            match &line.step {
                TestStep::Answers { target, answer, after, times } => scripts.push(Scripted {
                    target: *target,
                    since,
                    answer: answer.clone(),
                    after: *after,
                    left: *times,
                }),
                TestStep::Is { target, state } => states.push(Stated { target: *target, since, state: *state }),
                TestStep::Dice { share, purpose } => dice.push((*purpose, *share)),
                TestStep::Send { .. } | TestStep::Expect(_) => {}
            }
        }
        World { graph, now: Millis::ZERO, scripts, states, dice, holds: Holds::new(graph) }
    }

    pub(super) fn now(&self) -> Millis {
        self.now
    }

    pub(super) fn advance(&mut self, to: Millis) {
        self.now = self.now.max(to);
    }

    /// The answer to the next call of a target: the first line that is not used up, and of a target's last line every
    /// further call. A line `at` some time comes before earlier ones once its time has come.
    pub(super) fn answer(&mut self, target: TargetId) -> Option<(Answer, Millis)> {
        let now = self.now;
        let of_target = |s: &Scripted| s.target == target && s.since <= now;
        let newest = self.scripts.iter().filter(|s| of_target(s)).map(|s| s.since).max()?;
        let lines: Vec<usize> = (0..self.scripts.len())
            .filter(|i| self.scripts.get(*i).is_some_and(|s| of_target(s) && s.since == newest))
            .collect();
        let last = *lines.last()?;
        for at in lines {
            let Some(line) = self.scripts.get_mut(at) else { continue };
            // A line that names no count answers one call, unless it is the last: that one repeats.
            let left = line.left.unwrap_or(u32::from(at != last));
            if at == last {
                return Some((line.answer.clone(), line.after));
            }
            if left > 0 {
                line.left = Some(left - 1);
                return Some((line.answer.clone(), line.after));
            }
        }
        None
    }

    fn dice(&self, purpose: DicePurpose) -> u32 {
        let shown = self.dice.iter().rev().find(|(p, _)| p.is_none_or(|p| p == purpose));
        shown.map_or(UNDRAWN, |(_, share)| (share.0.saturating_mul(100)).min(999_999))
    }
}

impl Verdicts for World<'_> {
    fn standing(&mut self, target: TargetId, now: Millis) -> Standing {
        let mut standing = Standing { hold_until: self.holds.until(target), ..Standing::GOOD };
        for stated in self.states.iter().filter(|s| s.target == target && s.since <= now) {
            match stated.state {
                TargetState::Down => standing.health = Health::Down,
                TargetState::Degraded => standing.health = Health::Degraded,
                TargetState::Open => {
                    standing.breaker = Breaker::Open { until: stated.since.plus(OPEN_FOR), hard: false };
                }
                TargetState::HalfOpen => standing.breaker = Breaker::HalfOpen { slot: true },
                TargetState::Held(wait) => {
                    standing.hold_until = standing.hold_until.max(stated.since.plus(wait));
                }
                TargetState::Disabled => standing.disabled = true,
                TargetState::Ramping(share) => {
                    let admitted = u64::from(self.dice(DicePurpose::Ramp)) < u64::from(share.0) * 100;
                    standing.ramp = if admitted { Ramp::Admitted } else { Ramp::Barred };
                }
            }
        }
        // An open time that is over is over, whether or not anyone looked.
        if let Breaker::Open { until, .. } = standing.breaker
            && now >= until
        {
            standing.breaker = Breaker::HalfOpen { slot: true };
        }
        standing
    }

    fn retry_token(&mut self, _target: TargetId, _now: Millis) -> bool {
        true
    }

    fn take_retry_token(&mut self, _target: TargetId, _now: Millis) {}

    fn draw(&mut self, purpose: DicePurpose, _attempt: u32) -> u32 {
        self.dice(purpose)
    }

    fn settle(&mut self, settle: &Settle) {
        self.holds.settle(self.graph, settle);
    }
}
