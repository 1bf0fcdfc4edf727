//! The world of one test: scripts, states, dice and holds, in virtual time.

use crate::decide::holds::Holds;
use crate::decide::{Breaker, Health, Ramp, Settle, Standing, Verdicts};
use crate::graph::Graph;
use crate::policy::class::Blame;
use crate::policy::{Answer, DicePurpose, Millis, Percent, TargetId, TargetState, Test, TestStep};
use crate::wire::scripted::{CallLine, CallScript};
use std::collections::BTreeMap;

/// How long a breaker that a test calls `open` stays so: the language's default of `open`.
const OPEN_FOR: Millis = Millis(30_000);

/// What undrawn dice show, in parts per million.
const UNDRAWN: u32 = 500_000;

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
    scripts: Vec<(TargetId, CallScript)>,
    states: Vec<Stated>,
    dice: Vec<(Option<DicePurpose>, Percent)>,
    holds: Holds,
    /// The session of the request that runs now.
    session: Option<String>,
    /// Where sessions were last served, and when.
    homes: Vec<(String, TargetId, Millis)>,
}

impl<'a> World<'a> {
    /// Lines without `at` hold from the start, wherever they stand.
    pub(super) fn new(graph: &'a Graph, test: &Test) -> World<'a> {
        let (mut states, mut dice) = (Vec::new(), Vec::new());
        let mut lines: BTreeMap<TargetId, Vec<CallLine>> = BTreeMap::new();
        for line in &test.lines {
            let since = line.at.unwrap_or(Millis::ZERO);
            match &line.step {
                TestStep::Answers { target, answer, after, times } => {
                    let line = CallLine { at: since, answer: answer.clone(), after: *after, times: *times };
                    lines.entry(*target).or_default().push(line);
                }
                TestStep::Is { target, state } => states.push(Stated { target: *target, since, state: *state }),
                TestStep::Dice { share, purpose } => dice.push((*purpose, *share)),
                TestStep::Send { .. } | TestStep::Expect(_) => {}
            }
        }
        let scripts = lines.into_iter().map(|(target, lines)| (target, CallScript::new(lines))).collect();
        World {
            graph,
            now: Millis::ZERO,
            scripts,
            states,
            dice,
            holds: Holds::new(graph),
            session: None,
            homes: Vec::new(),
        }
    }

    pub(super) fn now(&self) -> Millis {
        self.now
    }

    /// The next request's session.
    pub(super) fn session(&mut self, session: Option<&str>) {
        self.session = session.map(str::to_owned);
    }

    pub(super) fn advance(&mut self, to: Millis) {
        self.now = self.now.max(to);
    }

    /// The answer to the next call of a target; nothing where it has no script, or none yet.
    pub(super) fn answer(&mut self, target: TargetId) -> Option<(Answer, Millis)> {
        let now = self.now;
        let (_, script) = self.scripts.iter_mut().find(|(t, _)| *t == target)?;
        script.next(now).map(|(answer, after)| (answer.clone(), after))
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

    fn share(&mut self, purpose: DicePurpose, _of: &str) -> u32 {
        self.dice(purpose)
    }

    fn home(&mut self, idle: Millis, now: Millis) -> Option<TargetId> {
        let session = self.session.as_ref()?;
        self.homes.iter().find(|(s, ..)| s == session).filter(|(_, _, at)| now < at.plus(idle)).map(|(_, t, _)| *t)
    }

    fn settle(&mut self, settle: &Settle) {
        self.holds.settle(self.graph, settle);
        if settle.blame == Blame::Success
            && let Some(session) = self.session.clone()
        {
            self.homes.retain(|(s, ..)| *s != session);
            self.homes.push((session, settle.target, self.now));
        }
    }
}
