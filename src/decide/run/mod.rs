//! `Run`: one request's walk over the graph.
//!
//! In: events and the answers of `Verdicts`. Out: the next thing to do, and the trail. Once committed (output was
//! forwarded) no path leads to another call: `failed` goes straight to the row's stop. Never reads a clock.

mod after;
mod call;
mod checks;

use super::backoff::Pauses;
use super::contract::{Need, Offer, unmet};
use super::deadline::TimeBudget;
use super::event::{Event, Next, Refused, Settle, Timer, Why};
use super::facts::Facts;
use super::guard::{View, holds};
use super::replay::Replay;
use super::select::{self, Pass};
use super::standing::{Admission, Standing, Verdicts};
use super::trail::{Outcome, Passed, PassedWhy, Step, StepResult};
use crate::decide::action::Tally;
use crate::graph::{Edge, Graph, Node, NodeIndex};
use crate::policy::class::{Blame, Verb};
use crate::policy::guard::FailureFacts;
use crate::policy::{Budget, Class, Effects, Millis, ModelId, Money, Refusal, Route, RouteId, Stage, TargetId, TierId};
use smallvec::SmallVec;

/// A target that a request may be sent to: its guard holds and the contract is met.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    node: NodeIndex,
    target: TargetId,
    model: ModelId,
    context: u64,
}

/// Candidates of one chain; eight of them need no allocation.
type Candidates = SmallVec<[Candidate; 8]>;
/// How the candidates stand, in the same order.
type Standings = SmallVec<[Standing; 8]>;

/// Calls at one target in this request.
#[derive(Clone, Copy, Debug)]
struct Visit {
    target: TargetId,
    calls: u32,
    waited: bool,
}

/// The attempt that is running.
#[derive(Clone, Copy, Debug)]
struct Current {
    candidate: Candidate,
    /// What the attempt was granted, and what its own limit would have been: the granted-time rule compares them.
    granted: Millis,
    limit: Millis,
    headers: bool,
    key_honoured: bool,
}

/// A call that waits for its time.
#[derive(Clone, Copy, Debug)]
struct Planned {
    candidate: Candidate,
    verb: Verb,
    node: NodeIndex,
    admission: Admission,
    pass: Pass,
    wait: Millis,
    standing: Standing,
}

/// The failure that the client would be told of.
#[derive(Clone, Copy, Debug)]
struct Told {
    class: Class,
    attempt: u32,
}

/// One request's run.
#[derive(Clone, Debug)]
pub struct Run {
    route: RouteId,
    received: Millis,
    time: TimeBudget,
    effects: Effects,
    candidates: Candidates,
    dropped: SmallVec<[Passed; 4]>,
    visits: SmallVec<[Visit; 8]>,
    tally: Tally,
    replay: Replay,
    pauses: Pauses,
    spent: Money,
    current: Option<Current>,
    planned: Option<Planned>,
    told: Option<Told>,
    committed: bool,
    refused: Option<Refused>,
    outcome: Option<Outcome>,
    trail: SmallVec<[Step; 4]>,
}

/// What a step works with: everything that does not change while a request runs.
struct Scene<'a> {
    graph: &'a Graph,
    id: RouteId,
    facts: &'a Facts,
    route: &'a Route,
    budget: &'a Budget,
    now: Millis,
}

impl Run {
    /// A run of a request on a route: reads the chain for its region, the guards and the contract.
    pub fn new(graph: &Graph, route: RouteId, facts: &Facts) -> Run {
        let received = facts.received_at;
        let mut run = Run {
            route,
            received,
            time: TimeBudget { deadline: received, reserve: Millis::ZERO, min_attempt: Millis::ZERO },
            effects: facts.effects,
            candidates: Candidates::new(),
            dropped: SmallVec::new(),
            visits: SmallVec::new(),
            tally: Tally::default(),
            replay: Replay { effects: facts.effects, limit: 0, used: 0 },
            pauses: Pauses::new(Budget::BACKOFF.into()),
            spent: Money::default(),
            current: None,
            planned: None,
            told: None,
            committed: false,
            refused: None,
            outcome: None,
            trail: SmallVec::new(),
        };
        let Some(at) = graph.route(route) else { return run };
        let Some(budget) = graph.budget_of(at) else { return run };
        let allowed = facts.deadline.map_or(budget.deadline, |own| own.min(budget.deadline));
        run.time =
            TimeBudget { deadline: received.plus(allowed), reserve: budget.reserve, min_attempt: budget.min_attempt };
        // A request only ever tightens what the route says.
        run.effects = facts.effects.max(at.side_effects);
        run.replay = Replay { effects: run.effects, limit: budget.replays, used: 0 };
        run.pauses = Pauses::new(budget.backoff.into());
        let scene = Scene { graph, id: route, facts, route: at, budget, now: received };
        run.candidates = scene.candidates(at.tier, &mut run.dropped);
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
            Event::Headers => {
                if let Some(current) = &mut self.current {
                    current.headers = true;
                }
                Next::GoOn
            }
            Event::Output => {
                self.committed = true;
                Next::GoOn
            }
            Event::Served => self.served(&scene, verdicts),
            Event::Failed(failure) => {
                let told = FailureFacts {
                    class: failure.class,
                    stage: failure.stage,
                    status: failure.status,
                    code: failure.code,
                    retry_after: failure.hint,
                };
                let blame = failure.class.blame();
                self.failed(&scene, told, failure.scope, blame, failure.no_retry, verdicts)
            }
            Event::TimedOut(timer) => self.timed_out(&scene, timer, verdicts),
            Event::Woke => self.woke(&scene, verdicts),
            Event::ClientGone => self.client_gone(&scene, verdicts),
        }
    }

    fn begin(&mut self, scene: &Scene<'_>, verdicts: &mut dyn Verdicts) -> Next {
        if self.candidates.is_empty() {
            let why = if self.dropped.is_empty() { Refusal::NoTarget } else { Refusal::Contract };
            return self.refuse(scene, why, None);
        }
        if self.time.remaining(scene.now) < self.time.min_attempt {
            return self.refuse(scene, Refusal::Deadline, None);
        }
        let standings = self.survey(scene, verdicts, &self.candidates);
        let mut tried = 0u64;
        for pass in Pass::all(scene.last_resort(scene.route.tier)) {
            loop {
                let open = standings.iter().enumerate().filter(|(i, _)| !is_in(tried, *i));
                let Some((at, admission)) = select::pick(*pass, open, scene.now, select::LAST_RESORT_INFLIGHT) else {
                    break;
                };
                let (Some(candidate), Some(standing)) = (self.candidates.get(at).copied(), standings.get(at)) else {
                    break;
                };
                let others = self.others_left(scene, &standings, candidate.target);
                match self.time.attempt(scene.now, self.limit(scene), others) {
                    super::deadline::Fit::Yes(granted) => {
                        let mut passed = self.dropped.clone();
                        passed_over(&self.candidates, &standings, scene.now, (*pass, at), |_| true, &mut passed);
                        let how = call::How {
                            verb: None,
                            node: candidate.node,
                            admission,
                            pass: *pass,
                            wait: None,
                            standing: *standing,
                            passed,
                        };
                        return Next::Call(self.call(scene, candidate, granted, how));
                    }
                    super::deadline::Fit::MoveOn => tried = with(tried, at),
                    super::deadline::Fit::Stop => return self.refuse(scene, Refusal::Deadline, None),
                }
            }
        }
        let retry_after = select::return_in(standings.iter(), scene.now);
        let why = if tried == 0 { Refusal::NoTarget } else { Refusal::Deadline };
        let mut passed = self.dropped.clone();
        passed_over(&self.candidates, &standings, scene.now, (Pass::Relaxed, 0), |_| true, &mut passed);
        self.dropped = passed;
        self.refuse(scene, why, retry_after)
    }

    fn served(&mut self, scene: &Scene<'_>, verdicts: &mut dyn Verdicts) -> Next {
        if let Some(current) = self.current.take() {
            verdicts.settle(&Settle {
                target: current.candidate.target,
                blame: Blame::Success,
                class: None,
                scope: None,
                hold_until: None,
            });
        }
        self.close_step(scene, None, None, None, None);
        self.outcome = Some(Outcome::Served);
        Next::Finish
    }

    fn timed_out(&mut self, scene: &Scene<'_>, timer: Timer, verdicts: &mut dyn Verdicts) -> Next {
        let Some(current) = self.current else { return Next::GoOn };
        let (class, stage) = match timer {
            Timer::Connect => (Class::Connect, Stage::NotSent),
            Timer::Headers => (Class::TimeoutHeaders, Stage::Sent),
            Timer::FirstOutput => (Class::TimeoutFirstToken, Stage::Headers),
            Timer::Idle | Timer::Total => (Class::TimeoutIdle, Stage::Headers),
            Timer::Deadline => {
                // Our own deadline is nobody's fault and reaches no matrix.
                self.settle_neutral(verdicts);
                self.close_step(scene, None, Some(Stage::Sent), None, None);
                return if self.committed {
                    self.break_off(Why::Refusal(Refusal::Deadline), None)
                } else {
                    self.refuse(scene, Refusal::Deadline, None)
                };
            }
        };
        let blame = if class.is_timeout() {
            super::deadline::evidence(current.granted, current.limit, super::deadline::TIMEOUT_EVIDENCE)
        } else {
            class.blame()
        };
        let failure = FailureFacts { class, stage, status: None, code: None, retry_after: None };
        self.failed(scene, failure, None, blame, false, verdicts)
    }

    fn client_gone(&mut self, scene: &Scene<'_>, verdicts: &mut dyn Verdicts) -> Next {
        self.settle_neutral(verdicts);
        self.planned = None;
        let stage = if self.committed { Stage::Output } else { Stage::Sent };
        self.close_step(scene, None, Some(stage), None, None);
        self.outcome = Some(Outcome::Cancelled);
        Next::Abandon
    }

    fn settle_neutral(&mut self, verdicts: &mut dyn Verdicts) {
        if let Some(current) = self.current.take() {
            verdicts.settle(&Settle {
                target: current.candidate.target,
                blame: Blame::Neutral,
                class: None,
                scope: None,
                hold_until: None,
            });
        }
    }

    /// Writes the running call's end into its step.
    fn close_step(
        &mut self,
        scene: &Scene<'_>,
        class: Option<Class>,
        stage: Option<Stage>,
        status: Option<u16>,
        hint: Option<Millis>,
    ) {
        let ended = scene.now.less(self.received);
        if let Some(step) = self.trail.last_mut().filter(|s| s.target.is_some() && s.result.is_none()) {
            step.result = Some(StepResult { class, stage, status, hint, ended });
        }
    }

    /// The gateway's own refusal, with nothing forwarded.
    fn refuse(&mut self, scene: &Scene<'_>, why: Refusal, retry_after: Option<Millis>) -> Next {
        let status = match why {
            Refusal::Deadline => 504,
            Refusal::NoTarget => scene.route.exhausted,
            Refusal::Contract | Refusal::Disabled => 503,
            Refusal::Spend | Refusal::Limit => 429,
            Refusal::Duplicate => 409,
        };
        let called = self.tally.attempts > 0;
        // A contract that nobody meets will not be met by asking again.
        let refused = Refused {
            status,
            why: Why::Refusal(why),
            attempt: None,
            retry_after,
            answered: called || why == Refusal::Contract,
        };
        if !called && let Some(node) = scene.graph.route_node(self.route) {
            let passed = self.dropped.clone();
            self.push_stop(scene, node, passed);
        }
        self.refused = Some(refused);
        self.outcome = Some(Outcome::Refused);
        Next::Refuse(refused)
    }

    /// Output was forwarded and there will be no more.
    fn break_off(&mut self, why: Why, attempt: Option<u32>) -> Next {
        let refused = Refused { status: 502, why, attempt, retry_after: None, answered: true };
        self.refused = Some(refused);
        self.outcome = Some(Outcome::Cut);
        Next::Break(refused)
    }

    fn push_stop(&mut self, scene: &Scene<'_>, node: NodeIndex, passed: SmallVec<[Passed; 4]>) {
        self.trail.push(Step {
            at: scene.now.less(self.received),
            node,
            action: Some(Verb::Stop),
            target: None,
            admission: Admission::Normal,
            pass: 0,
            wait: None,
            left: self.time.remaining(scene.now),
            passed,
            health: None,
            breaker: None,
            result: None,
        });
    }

    /// How these candidates stand now. What git switched off is off, whatever the state says.
    fn survey(&self, scene: &Scene<'_>, verdicts: &mut dyn Verdicts, candidates: &Candidates) -> Standings {
        candidates
            .iter()
            .map(|c| {
                let mut standing = verdicts.standing(c.target, scene.now);
                standing.disabled |= scene.graph.target(c.target).is_none_or(|t| !t.enabled);
                standing
            })
            .collect()
    }

    fn visit(&self, target: TargetId) -> Visit {
        self.visits.iter().copied().find(|v| v.target == target).unwrap_or(Visit { target, calls: 0, waited: false })
    }

    fn unused(&self, target: TargetId) -> bool {
        self.visit(target).calls == 0
    }

    /// Whether time has to be kept for another candidate: an untried one is left that admits, and a further call could
    /// still be made.
    fn others_left(&self, scene: &Scene<'_>, standings: &Standings, but: TargetId) -> bool {
        let more_calls = self.tally.attempts.saturating_add(1) < scene.budget.attempts;
        more_calls
            && self.candidates.iter().zip(standings).any(|(c, s)| {
                c.target != but && self.unused(c.target) && select::admits(s, scene.now, Pass::Relaxed).is_some()
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

    /// The route.
    pub fn route(&self) -> RouteId {
        self.route
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

    /// Who is being called, or was last.
    pub fn target(&self) -> Option<TargetId> {
        self.trail.iter().rev().find_map(|s| s.target)
    }
}

impl Scene<'_> {
    /// The candidates of a tier's chain for this request, and who was dropped by the contract.
    fn candidates(&self, tier: TierId, dropped: &mut SmallVec<[Passed; 4]>) -> Candidates {
        let mut candidates = Candidates::new();
        let need =
            self.graph.contract_of(self.route).map_or_else(Need::default, Need::of_contract).sharpened(self.facts);
        let Some(tier_at) = self.tier_node(tier) else { return candidates };
        let region = self.facts.region.as_deref();
        for (edge, chain) in self.graph.ways(tier_at) {
            let Some(Node::Chain(reference)) = self.graph.node(chain) else { continue };
            let chosen = self.graph.tier(tier).and_then(|t| t.chain_for(region));
            let here = edge == Edge::Region && chosen == Some(usize::from(reference.chain));
            // A pinned target is asked alone, in whichever chain it stands.
            if !here && self.facts.pin.is_none() {
                continue;
            }
            for (_, rank) in self.graph.ways(chain) {
                if let Some(candidate) = self.candidate(rank, &need, dropped)
                    && candidates.iter().all(|c| c.target != candidate.target)
                {
                    candidates.push(candidate);
                }
            }
        }
        candidates
    }

    fn candidate(&self, node: NodeIndex, need: &Need<'_>, dropped: &mut SmallVec<[Passed; 4]>) -> Option<Candidate> {
        let Some(Node::Rank { chain, rank, target }) = self.graph.node(node) else { return None };
        let (chain, rank, target) = (*chain, *rank, *target);
        match self.facts.pin {
            Some(pin) if pin != target => return None,
            Some(_) => {}
            None => {
                let chains = &self.graph.tier(chain.tier)?.chains;
                let rank = chains.get(usize::from(chain.chain))?.ranks.get(usize::from(rank))?;
                if !holds(rank.guard.as_ref(), View { facts: self.facts, failed: None }) {
                    return None;
                }
            }
        }
        let stated = self.graph.target(target)?;
        let model = self.graph.model(stated.model)?;
        let before = dropped.len();
        unmet(need, &Offer::of(stated, &model.capabilities), &mut |clause| {
            let passed = Passed { target, why: PassedWhy::Unmet(clause) };
            if !dropped.contains(&passed) {
                dropped.push(passed);
            }
        });
        let met = dropped.len() == before;
        met.then_some(Candidate { node, target, model: stated.model, context: model.capabilities.context.unwrap_or(0) })
    }

    fn tier_node(&self, tier: TierId) -> Option<NodeIndex> {
        if tier == self.route.tier {
            return self.graph.way(self.graph.route_node(self.id)?, Edge::Serves);
        }
        self.graph.nodes().find(|(_, n)| **n == Node::Tier(tier)).map(|(i, _)| i)
    }

    fn last_resort(&self, tier: TierId) -> bool {
        self.graph.tier(tier).is_some_and(|t| t.last_resort)
    }
}

/// Notes who was passed over in pass 1 on the way to the one chosen: all that were looked at.
fn passed_over(
    candidates: &Candidates,
    standings: &Standings,
    now: Millis,
    chosen: (Pass, usize),
    eligible: impl Fn(&Candidate) -> bool,
    into: &mut SmallVec<[Passed; 4]>,
) {
    let (pass, at) = chosen;
    for (i, (candidate, standing)) in candidates.iter().zip(standings).enumerate() {
        if pass == Pass::Strict && i >= at {
            break;
        }
        if eligible(candidate)
            && let Some(reason) = select::reason(standing, now)
        {
            into.push(Passed { target: candidate.target, why: PassedWhy::Reason(reason) });
        }
    }
}

/// Whether a place is in a set of at most 64; later places are never in it, which only repeats a question.
fn is_in(set: u64, place: usize) -> bool {
    place < 64 && set & (1 << place) != 0
}

fn with(set: u64, place: usize) -> u64 {
    if place < 64 { set | (1 << place) } else { u64::MAX }
}
