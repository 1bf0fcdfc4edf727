//! The world of one test: scripts, stated conditions, dice, and the ledgers that live traffic has, in virtual time.

use crate::decide::baselines::{Baselines, Kind};
use crate::decide::bucket::Extra;
use crate::decide::group::Admitted;
use crate::decide::ledgers::{Ledgers, Plan};
use crate::decide::orders::{Instant, Measured, Orders, Ranked};
use crate::decide::spend::{Purse, Reservation, Today};
use crate::decide::target_state::{Ask, Ended};
use crate::decide::{Admission, Breaker, Facts, Health, Ramp, Reason, Settle, Standing, Verdicts};
use crate::graph::Graph;
use crate::policy::breaker::Capability;
use crate::policy::class::Blame;
use crate::policy::tier::ChainRef;
use crate::policy::{
    Answer, DicePurpose, Millis, Money, Percent, RouteId, TargetId, TargetState, Test, TestStep, TierId,
};
use crate::wire::scripted::{CallLine, CallScript};
use std::collections::BTreeMap;

/// How long a breaker that a test calls `open` stays so: the language's default of `open`.
const OPEN_FOR: Millis = Millis(30_000);

/// What undrawn dice show, in parts per million.
const UNDRAWN: u32 = 500_000;

/// The region of the gateway that a test stands for: none in particular.
const HERE: &str = "";

/// A state that holds from some time on.
#[derive(Clone, Debug)]
struct Stated {
    target: TargetId,
    since: Millis,
    state: TargetState,
}

/// What of a request bears on how targets stand.
#[derive(Clone, Debug)]
struct Asks {
    route: RouteId,
    key: String,
    session: Option<String>,
    capability: Capability,
}

impl Asks {
    fn ask(&self) -> Ask<'_> {
        Ask { session: &self.key, capability: self.capability }
    }
}

/// Everything that a test's lines say about the world.
pub(super) struct World {
    now: Millis,
    scripts: Vec<(TargetId, CallScript)>,
    states: Vec<Stated>,
    dice: Vec<(Option<DicePurpose>, Percent)>,
    ledgers: Ledgers,
    /// The request that runs now.
    asks: Option<Asks>,
    /// What its calls were let in by. No two of them are at one target.
    permits: Vec<(TargetId, Admitted)>,
    /// Where sessions were last served by each tier, and when.
    homes: Vec<((TierId, String), TargetId, Millis)>,
    /// What routes have spent today.
    purses: BTreeMap<RouteId, Purse>,
    /// What is kept for the calls that run, by attempt.
    reserved: Vec<(u32, Reservation)>,
    orders: Orders,
    /// What calls took. A test begins with the first of January 1970.
    baselines: Baselines,
    /// The targets' names.
    names: Vec<String>,
}

/// What is measured in a test.
struct Measures<'a> {
    ledgers: &'a mut Ledgers,
    baselines: &'a Baselines,
    names: &'a [String],
}

impl Measured for Measures<'_> {
    fn average(&mut self, target: TargetId, kind: Kind) -> Option<Millis> {
        let (group, place) = self.ledgers.of(target)?;
        group.target(place)?.averages().of(kind)
    }

    fn typical(&mut self, target: TargetId, kind: Kind, wall_ms: u64) -> Option<Millis> {
        self.baselines.typical(HERE, self.names.get(target.index())?, kind, wall_ms)
    }
}

impl World {
    /// Lines without `at` hold from the start, wherever they stand.
    pub(super) fn new(graph: &Graph, test: &Test) -> World {
        let (mut states, mut dice) = (Vec::new(), Vec::new());
        let mut purses = BTreeMap::new();
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
                TestStep::Spent { amount, route } => {
                    purses.insert(*route, Purse::of(Today::at(0).day, *amount));
                }
                TestStep::Send { .. } | TestStep::Expect(_) => {}
            }
        }
        let scripts = lines.into_iter().map(|(target, lines)| (target, CallScript::new(lines))).collect();
        World {
            now: Millis::ZERO,
            scripts,
            states,
            dice,
            ledgers: Ledgers::new(Plan::of_graph(graph, "test")),
            asks: None,
            permits: Vec::new(),
            homes: Vec::new(),
            orders: Orders::of_graph(graph),
            baselines: Baselines::default(),
            names: graph.policy().targets.iter().map(|target| target.name.clone()).collect(),
            purses,
            reserved: Vec::new(),
        }
    }

    pub(super) fn now(&self) -> Millis {
        self.now
    }

    /// The request that comes next.
    pub(super) fn request(&mut self, route: RouteId, facts: &Facts) {
        self.asks = Some(Asks {
            route,
            key: facts.session_key().to_owned(),
            session: facts.session.clone(),
            capability: Ask::of(facts).capability,
        });
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

    /// Tests begin at midnight.
    fn today(&self) -> Today {
        Today::at(self.now.0)
    }

    /// What the route of the running request has spent.
    fn purse(&mut self) -> Option<&mut Purse> {
        let route = self.asks.as_ref()?.route;
        Some(self.purses.entry(route).or_default())
    }

    fn dice(&self, purpose: DicePurpose) -> u32 {
        let shown = self.dice.iter().rev().find(|(p, _)| p.is_none_or(|p| p == purpose));
        shown.map_or(UNDRAWN, |(_, share)| (share.0.saturating_mul(100)).min(999_999))
    }
}

impl Verdicts for World {
    fn standing(&mut self, target: TargetId, now: Millis) -> Standing {
        let known = match (self.ledgers.of(target), &self.asks) {
            (Some((group, place)), Some(asks)) => Some(group.standing(place, now, asks.ask())),
            (Some(_) | None, _) => None,
        };
        let mut standing = known.unwrap_or(Standing::GOOD);
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

    fn retry_token(&mut self, target: TargetId, now: Millis) -> bool {
        self.ledgers.of(target).is_some_and(|(group, place)| group.covers(place, now, Extra::Repeat))
    }

    fn take_retry_token(&mut self, target: TargetId, now: Millis) -> bool {
        self.ledgers.of(target).is_some_and(|(group, place)| group.take(place, now, Extra::Repeat))
    }

    fn p95(&mut self, target: TargetId, stream: bool, _now: Millis) -> Option<Millis> {
        self.ledgers.of(target).and_then(|(group, place)| group.p95(place, stream))
    }

    fn admit(&mut self, target: TargetId, how: (Admission, u16), first: bool, now: Millis) -> Result<(), Reason> {
        let stated = self.states.iter().any(|s| s.target == target && s.since <= now);
        let (Some((group, place)), Some(asks)) = (self.ledgers.of(target), &self.asks) else { return Ok(()) };
        match group.admit(place, now, asks.ask(), how, first) {
            Ok(permit) => self.permits.push((target, permit)),
            // The ledgers know nothing of what the test's lines state.
            Err(_) if stated => {}
            Err(reason) => return Err(reason),
        }
        Ok(())
    }

    fn key(&mut self, target: TargetId, used: &[u16], now: Millis) -> Option<u16> {
        self.ledgers.of(target).and_then(|(group, place)| group.key(place, now, used))
    }

    fn draw(&mut self, purpose: DicePurpose, _attempt: u32) -> u32 {
        self.dice(purpose)
    }

    fn share(&mut self, purpose: DicePurpose, _of: &str) -> u32 {
        self.dice(purpose)
    }

    fn home(&mut self, tier: TierId, idle: Millis, now: Millis) -> Option<TargetId> {
        let whose = (tier, self.asks.as_ref()?.session.clone()?);
        self.homes.iter().find(|(w, ..)| *w == whose).filter(|(_, _, at)| now < at.plus(idle)).map(|(_, t, _)| *t)
    }

    fn at_home(&mut self, tier: TierId, target: TargetId, now: Millis) {
        let Some(session) = self.asks.as_ref().and_then(|asks| asks.session.clone()) else { return };
        let whose = (tier, session);
        self.homes.retain(|(w, ..)| *w != whose);
        self.homes.push((whose, target, now));
    }

    fn ranked(&mut self, chain: ChainRef, target: TargetId, stream: bool, now: Millis) -> Ranked {
        let World { orders, ledgers, baselines, names, .. } = self;
        let at = Instant { now, wall_ms: now.0 };
        orders.ranked(chain, target, stream, at, &mut Measures { ledgers, baselines, names }).0
    }

    fn health_above(&mut self, target: TargetId, limit: Millis, shared: Health) -> Health {
        let Some((group, place)) = self.ledgers.of(target) else { return shared };
        group.target(place).map_or(shared, |target| target.health_above(limit, shared))
    }

    fn affords(&mut self, worst: Money, cap: Option<Money>) -> Result<(), Millis> {
        let today = self.today();
        let Some(purse) = self.purse() else { return Ok(()) };
        if purse.affords(today, worst, cap) { Ok(()) } else { Err(today.left) }
    }

    fn reserve(&mut self, attempt: u32, worst: Money, cap: Option<Money>) -> Result<(), Millis> {
        let today = self.today();
        let Some(purse) = self.purse() else { return Ok(()) };
        let reservation = purse.reserve(today, worst, cap).ok_or(today.left)?;
        self.reserved.push((attempt, reservation));
        Ok(())
    }

    fn bill(&mut self, attempt: u32, billed: Money) {
        let Some(at) = self.reserved.iter().position(|(number, _)| *number == attempt) else { return };
        let (_, reservation) = self.reserved.swap_remove(at);
        if let Some(purse) = self.purse() {
            purse.settle(reservation, billed);
        }
    }

    fn settle(&mut self, settle: &Settle) {
        if settle.blame == Blame::Success
            && let (Some(latency), Some(name)) = (settle.latency, self.names.get(settle.target.index()))
        {
            self.baselines.note(HERE, name, latency.into(), latency.time(), self.now.0);
        }
        if let Some(at) = self.permits.iter().position(|(target, _)| *target == settle.target)
            && let Some((group, place)) = self.ledgers.of(settle.target)
        {
            let (_, permit) = self.permits.swap_remove(at);
            group.settle(place, self.now, permit, &Ended::of(settle));
        }
    }
}
