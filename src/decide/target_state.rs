//! Everything that is known of one target, and what follows from it for the next call.
//!
//! In: questions, and the ends of calls and probes, each with the time. Out: how the target stands, and permits. Composes
//! the breakers on its path, its recovery, vitals, hold and retry bucket; the breakers are its group's, since other
//! targets share them. Each rule is in the module of its own; here is only what one has to do with another.

mod call;
mod counted;
mod outlook;

pub use call::{Ask, Ended, Permit};
pub use outlook::LATELY;

use super::average::Averages;
use super::bucket::Bucket;
use super::circuit::{Circuit, Ending};
use super::group::spec::TargetSpec;
use super::hold::Hold;
use super::pace::Pace;
use super::path::{self, CircuitId, Path};
use super::ramp;
use super::recovery::{Lane, Phase, Place, Recovery};
use super::select::{self, Pass};
use super::standing::{Admission, Breaker, Health, Ramp, Reason, Standing};
use super::vitals::{Judged, Latency, Probed, Views, Vitals};
use crate::policy::breaker::{BreakerScope, Capability};
use crate::policy::class::Blame;
use crate::policy::{Millis, Percent};
use smallvec::SmallVec;

/// The ledgers of one target. The breakers that it is given must be its group's.
#[derive(Clone, Debug)]
pub struct TargetState {
    spec: TargetSpec,
    /// Its breakers but for capabilities, from coarse to fine.
    levels: SmallVec<[(BreakerScope, CircuitId); 4]>,
    /// By capability; empty where they are not kept apart.
    capabilities: SmallVec<[CircuitId; 5]>,
    recovery: Recovery,
    /// The ramp of the target, and those of its capabilities.
    lane: Lane,
    lanes: [Lane; Capability::ALL.len()],
    vitals: Option<Vitals>,
    /// When a call or a probe there last went well.
    well_at: Option<Millis>,
    views: Views,
    averages: Averages,
    /// How long its latest calls took; none where nobody asks.
    pace: Option<Pace>,
    bucket: Bucket,
    hold: Hold,
    inflight: u32,
    last_resort: u32,
}

impl TargetState {
    pub(super) fn new(
        spec: TargetSpec,
        levels: SmallVec<[(BreakerScope, CircuitId); 4]>,
        capabilities: SmallVec<[CircuitId; 5]>,
    ) -> TargetState {
        TargetState {
            levels,
            capabilities,
            recovery: Recovery::new(Health::Healthy),
            lane: Lane::default(),
            lanes: Default::default(),
            vitals: spec.probe.as_ref().map(|probe| Vitals::new(probe, spec.seed)),
            well_at: None,
            views: Views::new(&spec.slow_above, spec.probe.as_ref(), spec.seed),
            averages: Averages::default(),
            pace: spec.paced.then(Pace::new),
            bucket: Bucket::new(spec.retry),
            hold: Hold::default(),
            inflight: 0,
            last_resort: 0,
            spec,
        }
    }

    /// What it was made from.
    pub fn spec(&self) -> &TargetSpec {
        &self.spec
    }

    /// Its vitals; none where it has no probe.
    pub fn vitals(&self) -> Option<&Vitals> {
        self.vitals.as_ref()
    }

    /// How long its calls took lately.
    pub fn averages(&self) -> &Averages {
        &self.averages
    }

    /// The p95 of its latest calls, or, of streams, the one it states while too few are known.
    pub(super) fn p95(&self, stream: bool) -> Option<Millis> {
        let stated = self.spec.seed.filter(|_| stream).map(|seed| seed.p95);
        self.pace.as_ref().and_then(|pace| pace.p95(stream)).or(stated)
    }

    /// Its retry bucket.
    pub fn bucket(&mut self) -> &mut Bucket {
        &mut self.bucket
    }

    /// Its hold.
    pub fn hold(&mut self) -> &mut Hold {
        &mut self.hold
    }

    /// What is known of its health, whoever said it.
    pub fn health(&self) -> Health {
        self.recovery.health()
    }

    /// The same for a tier that has a limit of its own, given what all share.
    pub fn health_above(&self, limit: Millis, shared: Health) -> Health {
        self.views.health(limit, shared)
    }

    /// Calls under way.
    pub fn inflight(&self) -> u32 {
        self.inflight
    }

    /// Takes over what another of its name knows, as far as the rules for it are the same. Calls under way stay with the
    /// other.
    pub(super) fn take_over(&mut self, other: &TargetState) {
        self.hold = other.hold;
        self.averages = other.averages;
        self.recovery = other.recovery;
        self.well_at = other.well_at;
        if self.spec.ramp == other.spec.ramp {
            (self.lane, self.lanes) = (other.lane, other.lanes);
        }
        if self.spec.probe == other.spec.probe && self.spec.seed == other.spec.seed {
            self.vitals.clone_from(&other.vitals);
            self.views.take_over(&other.views);
        } else {
            self.recovery = other.recovery.unseen();
        }
        if self.spec.paced && other.spec.paced {
            self.pace.clone_from(&other.pace);
        }
        if self.spec.retry == other.spec.retry {
            self.bucket = other.bucket;
        }
    }

    fn capability(&self, capability: Capability) -> Option<CircuitId> {
        self.capabilities.get(capability as usize).copied()
    }

    /// The breakers that a call about this capability goes through.
    pub(super) fn path(&self, capability: Capability) -> Path {
        self.steps(capability).collect()
    }

    fn steps(&self, capability: Capability) -> impl Iterator<Item = CircuitId> {
        self.levels.iter().map(|(_, id)| *id).chain(self.capability(capability))
    }

    fn target_circuit(&self) -> Option<CircuitId> {
        self.levels.last().map(|(_, id)| *id)
    }

    /// What fell due since the last look: a `down` that nobody confirmed for long bars no more.
    fn advance(&mut self, circuits: &[Circuit], now: Millis) {
        let stale_at = self.vitals.as_ref().and_then(Vitals::stale_at);
        if let Some(stale_at) = stale_at.filter(|at| *at <= now)
            && self.recovery.health() == Health::Down
        {
            self.note_health(circuits, stale_at, Health::Healthy);
        }
    }

    /// Takes note of its health, whoever says it.
    pub(super) fn note_health(&mut self, circuits: &[Circuit], now: Millis, health: Health) {
        let since = self.since(circuits);
        let capabilities = &self.capabilities;
        let lanes = self.lanes.iter_mut().zip(Capability::ALL).map(|(lane, capability)| {
            let id = capabilities.get(*capability as usize);
            (lane, id.and_then(|id| circuits.get(id.index())).and_then(Circuit::closed_at))
        });
        let lanes = std::iter::once((&mut self.lane, since)).chain(lanes);
        self.recovery.note(now, health, &self.spec.ramp, lanes);
    }

    /// What began the target's own ramp: the last of its breakers to close, or its leaving `down`.
    fn since(&self, circuits: &[Circuit]) -> Option<Millis> {
        let closed = self.levels.iter().filter_map(|(_, id)| circuits.get(id.index()).and_then(Circuit::closed_at));
        closed.max().max(self.recovery.left_down())
    }

    fn place(&self, circuits: &[Circuit], now: Millis) -> Option<Place> {
        self.recovery.place(now, &self.spec.ramp, &self.lane, self.since(circuits))
    }

    fn capability_place(&self, circuits: &[Circuit], now: Millis, capability: Capability) -> Option<Place> {
        let closed = circuits.get(self.capability(capability)?.index()).and_then(Circuit::closed_at);
        self.recovery.place(now, &self.spec.ramp, self.lanes.get(capability as usize)?, closed)
    }

    fn breaker(&self, circuits: &mut [Circuit], now: Millis, capability: Capability) -> Breaker {
        let mut all = Breaker::Closed;
        for id in self.steps(capability) {
            let Some(one) = circuits.get_mut(id.index()).map(|circuit| circuit.state(now)) else { continue };
            all = match (all, one) {
                (Breaker::Open { until, hard }, Breaker::Open { until: u, hard: h }) => {
                    Breaker::Open { until: until.max(u), hard: hard || h }
                }
                (open @ Breaker::Open { .. }, Breaker::Closed | Breaker::HalfOpen { .. }) => open,
                (Breaker::Closed | Breaker::HalfOpen { .. }, open @ Breaker::Open { .. }) => open,
                (Breaker::HalfOpen { slot }, Breaker::HalfOpen { slot: s }) => Breaker::HalfOpen { slot: slot && s },
                (Breaker::Closed, other) | (other, Breaker::Closed) => other,
            };
        }
        all
    }

    /// Where it stands on its way back, for calls about this capability.
    pub(super) fn phase(&mut self, circuits: &mut [Circuit], now: Millis, capability: Capability) -> Phase {
        self.advance(circuits, now);
        let breaker = self.breaker(circuits, now, capability);
        self.phase_behind(breaker, circuits, now, capability)
    }

    /// The same where its breaker is known.
    fn phase_behind(&self, breaker: Breaker, circuits: &[Circuit], now: Millis, capability: Capability) -> Phase {
        match breaker {
            _ if self.recovery.health() == Health::Down => Phase::Blocked,
            Breaker::Open { .. } => Phase::Blocked,
            Breaker::HalfOpen { .. } => Phase::Trial,
            Breaker::Closed => {
                let places = [self.place(circuits, now), self.capability_place(circuits, now, capability)];
                let share: Option<Percent> = places.into_iter().flatten().map(|place| place.share).min();
                share.map_or(Phase::Full, Phase::Ramping)
            }
        }
    }

    /// How it stands for whoever asks. Changes nothing but what was due.
    pub(super) fn standing(&mut self, circuits: &mut [Circuit], now: Millis, ask: Ask<'_>) -> Standing {
        self.advance(circuits, now);
        let breaker = self.breaker(circuits, now, ask.capability);
        let ramp = match self.phase_behind(breaker, circuits, now, ask.capability) {
            Phase::Full | Phase::Trial | Phase::Blocked => Ramp::Full,
            Phase::Ramping(share) if ramp::admits(&self.spec.name, self.spec.epoch, ask.session, share) => {
                Ramp::Admitted
            }
            Phase::Ramping(_) => Ramp::Barred,
        };
        Standing {
            disabled: false,
            health: self.recovery.health(),
            breaker,
            hold_until: self.hold.until,
            busy: self.spec.max_concurrent.is_some_and(|most| self.inflight >= most),
            ramp,
            last_resort_inflight: self.last_resort,
            tolerated: false,
            stale: self.is_stale(now),
            regional: false,
        }
    }

    /// Lets a call in as it was chosen. Ramp and degradation are for the pass that chose to have looked at.
    pub(super) fn admit(
        &mut self,
        circuits: &mut [Circuit],
        now: Millis,
        ask: Ask<'_>,
        chosen: Admission,
    ) -> Result<Permit, Reason> {
        let standing = self.standing(circuits, now, ask);
        let path = self.path(ask.capability);
        let against = select::reason(&standing, now).unwrap_or(Reason::TrialBusy);
        let pass = match chosen {
            Admission::Normal | Admission::Trial => Pass::Relaxed,
            Admission::LastResort => Pass::LastResort,
        };
        let one = std::iter::once((0, &standing));
        let (_, admission) = select::pick(pass, one, now, select::LAST_RESORT_INFLIGHT).ok_or(against)?;
        let path = match admission {
            Admission::Normal | Admission::Trial => path::admit(circuits, &path, now).map_err(|_| against)?,
            Admission::LastResort => path::admit_past(circuits, &path, now),
        };
        self.inflight = self.inflight.saturating_add(1);
        self.last_resort = self.last_resort.saturating_add(u32::from(admission == Admission::LastResort));
        Ok(Permit { path, admission, capability: ask.capability })
    }

    /// A call shows a sign of life.
    pub(super) fn renew(&self, circuits: &mut [Circuit], now: Millis, permit: &Permit) {
        path::renew(circuits, now, &permit.path);
    }

    /// Takes a permit back; says whether the end of the call counted with some breaker.
    pub(super) fn settle(&mut self, circuits: &mut [Circuit], now: Millis, permit: Permit, ended: &Ended) -> bool {
        self.advance(circuits, now);
        let Permit { path, admission, capability } = permit;
        self.inflight = self.inflight.saturating_sub(1);
        self.last_resort = self.last_resort.saturating_sub(u32::from(admission == Admission::LastResort));

        let blamed = self.blamed(ended, capability);
        let blame = if ended.blame != Blame::Success && blamed.is_none() { Blame::Neutral } else { ended.blame };
        let at = if blame == Blame::Success { self.target_circuit() } else { blamed.map(|(_, id)| id) };
        let levels = self.levels.clone();
        let ours = |id: CircuitId| levels.iter().any(|(_, level)| *level == id);
        let traffic = path.is_traffic(circuits, now, ours);
        let capability_traffic = path.is_traffic(circuits, now, |_| true);

        let ending = Ending { blame, slow: self.is_slow(ended), hint: ended.hint };
        let counted = path::settle(circuits, now, path, ending, at);
        let by_capability = blamed.is_some_and(|(scope, _)| scope == BreakerScope::Capability);
        if traffic && !by_capability {
            self.count(circuits, now, capability, blame, ended.hint);
        }
        if capability_traffic && (by_capability || blame == Blame::Success) {
            self.count_capability(circuits, now, capability, blame, ended.hint);
        }
        if blame == Blame::Success {
            self.well_at = Some(now);
            if let (Some(pace), Some(latency)) = (&mut self.pace, ended.latency) {
                pace.push(latency);
            }
            self.pass_on(circuits, now, ended.latency);
        }
        counted
    }

    /// The one place of its path that a failure is blamed on. Absent: it says nothing about the target.
    fn blamed(&self, ended: &Ended, capability: Capability) -> Option<(BreakerScope, CircuitId)> {
        let meant = match (ended.scope, ended.class) {
            (Some(scope), _) => BreakerScope::of_answer(scope)?,
            (None, Some(class)) => BreakerScope::of_class(class)?,
            (None, None) => BreakerScope::Target,
        };
        let scope = self.spec.breaker.scopes.blamed(meant);
        let level = self.levels.iter().find(|(level, _)| *level == scope).copied();
        level.or_else(|| self.capability(capability).map(|id| (scope, id)))
    }

    fn is_slow(&self, ended: &Ended) -> bool {
        let Some((rule, latency)) = self.spec.breaker.slow.zip(ended.latency) else { return false };
        // The baseline is one of first outputs: whole answers are not measured against it.
        let baseline = match latency {
            Latency::FirstOutput(_) => {
                self.vitals.as_ref().and_then(Vitals::baseline_p95).or(self.spec.seed.map(|s| s.p95))
            }
            Latency::Whole(_) => None,
        };
        rule.above.is_slow(latency.time(), baseline)
    }

    fn pass_on(&mut self, circuits: &[Circuit], now: Millis, latency: Option<Latency>) {
        let Some(latency) = latency else { return };
        self.averages.note(latency);
        self.views.traffic(now, latency);
        if let Some(vitals) = &mut self.vitals {
            let before = vitals.state();
            vitals.traffic(now, latency);
            let after = vitals.state();
            if after != before {
                self.note_health(circuits, now, after);
            }
        }
    }

    /// Takes note of a probe's end; says what it was taken for.
    pub(super) fn probe(&mut self, circuits: &[Circuit], now: Millis, probed: Probed) -> Judged {
        self.advance(circuits, now);
        let Some(vitals) = &mut self.vitals else { return Judged::Skip };
        self.views.probe(now, probed);
        let judged = vitals.probe(now, probed);
        let health = vitals.state();
        // What was down for so long that it bars no more is not barred again by the first probe that passes.
        let passed = matches!(judged, Judged::Ok | Judged::Slow);
        let bars_anew = health == Health::Down && self.recovery.health() != Health::Down;
        if judged != Judged::Skip && !(passed && bars_anew) {
            self.note_health(circuits, now, health);
        }
        if matches!(judged, Judged::Ok | Judged::Slow) {
            self.well_at = Some(now);
        }
        judged
    }
}
