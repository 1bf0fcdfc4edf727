//! `Run`: one request's walk over the graph.
//!
//! In: events and the answers of `Verdicts`. Out: the next thing to do, and the trail. Once committed (output was
//! forwarded) no path leads to another call: `failed` goes straight to the row's stop. Never reads a clock.

mod after;
mod arrange;
mod begin;
mod call;
mod checks;
mod end;
mod failed;
mod hedge;
mod lapse;
mod money;
mod race;
mod rest;
mod scene;
mod told;

use super::action::Tally;
use super::backoff::Pauses;
use super::deadline::TimeBudget;
use super::event::{Event, Next, Refused};
use super::facts::Facts;
use super::replay::Replay;
use super::select::{self, Pass};
use super::standing::{Admission, Standing, Verdicts};
use super::trail::{Outcome, Passed, Step};
use crate::graph::{Graph, NodeIndex};
use crate::policy::class::Verb;
use crate::policy::{Budget, Effects, Millis, Money, Prefer, ProviderId, RouteId, TargetId, TierId, Usage};
use lapse::Lapse;
use money::Short;
use race::Racers;
use rest::Rest;
use scene::{Candidate, Candidates, Moved, Scene, Standings};
use smallvec::SmallVec;
use told::Told;

/// Calls at one target in this request.
#[derive(Clone, Copy, Debug)]
struct Visit {
    target: TargetId,
    calls: u32,
    /// How often it was chosen anew: the round of `rounds` it is in.
    rounds: u32,
    waited: bool,
}

/// A call that waits for its time.
#[derive(Clone, Debug)]
struct Planned {
    candidate: Candidate,
    verb: Verb,
    node: NodeIndex,
    admission: Admission,
    pass: Pass,
    wait: Millis,
    standing: Standing,
    /// What led to it, should the target be out of reach when its time comes.
    lapse: Lapse,
}

/// One request's run.
#[derive(Clone, Debug)]
pub struct Run {
    route: RouteId,
    received: Millis,
    time: TimeBudget,
    effects: Effects,
    /// Whose chain the candidates are of: the route's, or that of a tier fallen back to.
    tier: TierId,
    candidates: Candidates,
    dropped: SmallVec<[Passed; 4]>,
    visits: SmallVec<[Visit; 8]>,
    tally: Tally,
    /// Keys of pools that this request has used.
    keys: SmallVec<[(ProviderId, u16); 2]>,
    replay: Replay,
    pauses: Pauses,
    spent: Money,
    short: Short,
    /// It went over to the chain that is used beyond the day's cap.
    went_beyond: bool,
    /// Whom it would have asked first, had nothing spoken against anybody.
    first: Option<TargetId>,
    /// The tokens of the answer that was served.
    counted: Option<Usage>,
    racers: Racers,
    /// The step whose answer goes out.
    answering: Option<usize>,
    planned: Option<Planned>,
    rest: Rest,
    /// How long it rested, until the next step says so.
    rested: Option<Millis>,
    told: Option<Told>,
    committed: bool,
    /// It has had its one hedge.
    hedged: bool,
    refused: Option<Refused>,
    outcome: Option<Outcome>,
    trail: SmallVec<[Step; 4]>,
}

impl Run {
    /// A run of a request on a route, with its deadline; nothing is asked or decided yet.
    pub fn new(graph: &Graph, route: RouteId, facts: &Facts) -> Run {
        let received = facts.received_at;
        let mut run = Run {
            route,
            received,
            time: TimeBudget { deadline: received, reserve: Millis::ZERO, min_attempt: Millis::ZERO },
            effects: facts.effects,
            tier: graph.route(route).map_or(TierId(0), |r| r.tier),
            candidates: Candidates::new(),
            dropped: SmallVec::new(),
            visits: SmallVec::new(),
            tally: Tally::default(),
            keys: SmallVec::new(),
            replay: Replay { effects: facts.effects, limit: 0, used: 0 },
            pauses: Pauses::new(Budget::BACKOFF.into()),
            spent: Money::default(),
            short: Short::default(),
            went_beyond: false,
            first: None,
            counted: None,
            racers: Racers::new(),
            answering: None,
            planned: None,
            rest: Rest::Untaken,
            rested: None,
            told: None,
            committed: false,
            hedged: false,
            refused: None,
            outcome: None,
            trail: SmallVec::new(),
        };
        let Some(at) = graph.route(route) else { return run };
        let Some(budget) = graph.budget_of(at) else { return run };
        let allowed = facts.deadline.map_or(budget.deadline, |own| own.min(budget.deadline));
        run.time = TimeBudget {
            deadline: received.plus(allowed),
            reserve: fair_reserve(budget, allowed),
            min_attempt: budget.min_attempt,
        };
        // A request only ever tightens what the route says.
        run.effects = facts.effects.max(at.side_effects);
        run.replay = Replay { effects: run.effects, limit: budget.replays, used: 0 };
        run.pauses = Pauses::new(budget.backoff.into());
        run
    }

    /// Takes an event and says what to do next.
    pub fn step(
        &mut self,
        graph: &Graph,
        facts: &Facts,
        now: Millis,
        event: Event<'_>,
        verdicts: &mut dyn Verdicts,
    ) -> Next {
        if self.outcome.is_some() {
            return Next::GoOn;
        }
        let Some(route) = graph.route(self.route) else { return Next::GoOn };
        let Some(budget) = graph.budget_of(route) else { return Next::GoOn };
        let scene = Scene { graph, id: self.route, facts, route, budget, now };
        match event {
            Event::Begin => self.begin(&scene, verdicts),
            Event::Attempt(attempt, progress) => self.progress(&scene, attempt, progress, verdicts),
            Event::Woke => self.woke(&scene, verdicts),
            Event::ClientGone => self.client_gone(&scene, verdicts),
        }
    }

    /// How these candidates of a tier stand now. What git switched off is off, whatever the state says.
    fn survey(
        &self,
        scene: &Scene<'_>,
        verdicts: &mut dyn Verdicts,
        tier: TierId,
        candidates: &Candidates,
    ) -> Standings {
        let tier = scene.graph.tier(tier);
        let tolerated = tier.is_some_and(|t| t.prefer == Prefer::SameModel);
        let slow_above = tier.and_then(|t| t.slow_above);
        candidates
            .iter()
            .map(|c| {
                let mut standing = verdicts.standing(c.target, scene.now);
                standing.disabled |= scene.graph.target(c.target).is_none_or(|t| !t.enabled);
                standing.tolerated = tolerated;
                if let Some(limit) = slow_above {
                    standing.health = verdicts.health_above(c.target, limit, standing.health);
                }
                standing
            })
            .collect()
    }

    fn visit(&self, target: TargetId) -> Visit {
        self.visits.iter().copied().find(|v| v.target == target).unwrap_or(Visit {
            target,
            calls: 0,
            rounds: 0,
            waited: false,
        })
    }

    fn unused(&self, target: TargetId) -> bool {
        self.visit(target).calls == 0
    }

    /// Whether time has to be kept for another candidate: an untried one is left that admits, and a further call could
    /// still be made.
    ///
    /// Nothing is kept for those in `moved`: it was just found too late for them.
    fn others_left(
        &self,
        scene: &Scene<'_>,
        (candidates, standings): (&Candidates, &Standings),
        but: TargetId,
        moved: &Moved,
    ) -> bool {
        let more_calls = self.tally.attempts.saturating_add(1) < scene.budget.attempts;
        more_calls
            && candidates.iter().zip(standings).any(|(c, s)| {
                c.target != but
                    && !moved.contains(&c.target)
                    && self.unused(c.target)
                    && select::admits(s, scene.now, Pass::Relaxed).is_some()
            })
    }

    /// How the run ended; nothing while it goes on.
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// What the client was told; nothing where it was served or left.
    pub fn refused(&self) -> Option<Refused> {
        self.refused
    }

    /// The place in the trail of the call whose answer goes out; nothing before there is one.
    pub fn answering(&self) -> Option<usize> {
        self.answering
    }

    /// The route.
    pub fn route(&self) -> RouteId {
        self.route
    }

    /// Whose chain it asks: the tier of its route, or one that it fell back to.
    pub fn tier(&self) -> TierId {
        self.tier
    }

    /// Whom it may ask, in order, each with the latency by which it was ranked and what a call costs at worst.
    pub fn order(&self) -> impl Iterator<Item = (TargetId, Option<Millis>, Option<Money>)> {
        self.candidates.iter().map(|c| (c.target, c.latency(), c.worst))
    }

    /// All calls so far.
    pub fn attempts(&self) -> u32 {
        self.tally.attempts
    }

    /// Whether output was forwarded.
    pub fn committed(&self) -> bool {
        self.committed
    }

    /// Worst cost of all calls so far, as far as prices are known.
    pub fn spent(&self) -> Money {
        self.spent
    }

    /// The decisions so far.
    pub fn trail(&self) -> &[Step] {
        &self.trail
    }

    /// Whose answer goes out; before there is one, who was called last.
    pub fn target(&self) -> Option<TargetId> {
        let answering = self.answering.and_then(|at| self.trail.get(at)).and_then(|s| s.target);
        answering.or_else(|| self.trail.iter().rev().find_map(|s| s.target))
    }
}

/// What is kept for the next candidate of a request that has this much time: the budget's reserve, or of a caller with
/// less time the same share of it. Less than a minimal attempt would be time that nobody can use: then it is one minimal
/// attempt, or, where there is no time for two, nothing.
fn fair_reserve(budget: &Budget, allowed: Millis) -> Millis {
    let share = u128::from(budget.reserve.0) * u128::from(allowed.0) / u128::from(budget.deadline.0.max(1));
    let share = Millis(u64::try_from(share).unwrap_or(u64::MAX));
    let least = budget.min_attempt;
    match share {
        Millis::ZERO => share,
        share if share >= least => share,
        _ if allowed >= least.plus(least) => least,
        _ => Millis::ZERO,
    }
}
