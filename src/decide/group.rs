//! Targets that share fate, with all their ledgers: what one lock goes around.
//!
//! In: questions, and the ends of calls and probes, each with the time. Out: how targets stand, permits, and what
//! dashboards show. A group holds every breaker that its targets' paths go through and every hold that one of them may
//! lay on another, so no decision needs two groups. No clock and no lock of its own.

pub mod spec;

use super::bucket::Extra;
use super::circuit::{Cause, Circuit, CircuitRules};
use super::path::CircuitId;
use super::pool::{KeyPermit, Pool};
use super::recovery::Phase;
use super::standing::{Admission, Breaker, Health, Reason, Standing};
use super::target_state::{Ask, Ended, Permit, TargetState};
use super::vitals::{Judged, Probed};
use super::width::Width;
use super::window::Totals;
use crate::policy::Millis;
use crate::policy::breaker::{BreakerRules, BreakerScope, Capability};
use crate::policy::class::Blame;
use smallvec::SmallVec;
use spec::{GroupSpec, TargetSpec};

/// What a breaker guards.
#[derive(Clone, Debug)]
struct Guarded {
    key: String,
    scope: BreakerScope,
    rules: BreakerRules,
    /// The longest ramp behind it.
    ramp: Millis,
}

/// How one breaker stands, for those who look from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CircuitView<'a> {
    /// Its key: `account=…`, `provider=…;region=…`, `target=…;capability=…`.
    pub key: &'a str,
    /// What it guards.
    pub scope: BreakerScope,
    /// Its state.
    pub state: Breaker,
    /// What its window holds; worth nothing but while closed.
    pub totals: Totals,
    /// How often it opened.
    pub trips: u64,
    /// Why it opened last.
    pub cause: Option<Cause>,
}

/// Targets that share fate.
#[derive(Clone, Debug)]
pub struct Group {
    spec: GroupSpec,
    guarded: Vec<Guarded>,
    circuits: Vec<Circuit>,
    targets: Vec<TargetState>,
    /// The key pools of its providers, by their names.
    pools: Vec<(String, Pool)>,
}

/// What a call was let in by: its target's breakers, and its key's.
#[derive(Debug)]
#[must_use = "a permit that is not handed back keeps its place and fails its trials"]
pub struct Admitted {
    target: Permit,
    key: Option<(usize, KeyPermit)>,
}

impl Admitted {
    /// How the call was let in.
    pub fn admission(&self) -> Admission {
        self.target.admission()
    }
}

impl Group {
    /// A group that nothing has happened to.
    pub fn new(spec: GroupSpec) -> Group {
        let mut guarded: Vec<Guarded> = Vec::new();
        let mut targets = Vec::with_capacity(spec.targets.len());
        for target in &spec.targets {
            let mut guard = |scope, key: String| {
                let at = guarded.iter().position(|g| g.key == key).unwrap_or(guarded.len());
                if at == guarded.len() {
                    guarded.push(Guarded { key, scope, rules: target.breaker, ramp: Millis::ZERO });
                }
                if let Some(guarded) = guarded.get_mut(at) {
                    guarded.ramp = guarded.ramp.max(target.ramp.whole());
                }
                CircuitId(u32::try_from(at).unwrap_or(u32::MAX))
            };
            let scopes = target.breaker.scopes;
            // In a pool each key has an account breaker of its own.
            let pooled = |scope: &BreakerScope| target.keys > 1 && *scope == BreakerScope::Account;
            let levels: SmallVec<[(BreakerScope, CircuitId); 4]> = scopes
                .iter()
                .filter(|scope| *scope != BreakerScope::Capability && !pooled(scope))
                .map(|scope| (scope, guard(scope, target.key(scope))))
                .collect();
            let kept = if scopes.contains(BreakerScope::Capability) { Capability::ALL } else { &[] };
            let capabilities =
                kept.iter().map(|c| guard(BreakerScope::Capability, target.capability_key(*c))).collect();
            targets.push(TargetState::new(target.clone(), levels, capabilities));
        }
        let circuits = guarded.iter().map(|guarded| Circuit::new(rules(&spec, guarded))).collect();
        let mut pools: Vec<(String, Pool)> = Vec::new();
        for target in spec.targets.iter().filter(|t| t.keys > 1) {
            if pools.iter().all(|(name, _)| *name != target.provider) {
                let rules = |key| key_rules(&spec, target, key);
                pools.push((target.provider.clone(), Pool::new(target.keys, rules)));
            }
        }
        Group { spec, guarded, circuits, targets, pools }
    }

    /// The pool of a target's provider.
    fn pool(&self, place: usize) -> Option<usize> {
        let target = self.spec.targets.get(place).filter(|t| t.keys > 1)?;
        self.pools.iter().position(|(name, _)| *name == target.provider)
    }

    /// The key for the next call at a target: the first that does not rest and that the request has not used. Where there
    /// is no pool it is always the first, once.
    pub fn key(&mut self, place: usize, now: Millis, used: &[u16]) -> Option<u16> {
        match self.pool(place).and_then(|at| self.pools.get_mut(at)) {
            Some((_, pool)) => pool.next(now, used),
            None => used.is_empty().then_some(0),
        }
    }

    /// What it was made from. A group whose description is still the same need not be replaced.
    pub fn spec(&self) -> &GroupSpec {
        &self.spec
    }

    /// Takes over what another group knows: breakers by key and targets by name, as far as the rules for them are the
    /// same. Calls under way stay with the other: what they say is not heard here.
    pub fn take_over(&mut self, other: &Group) {
        for (guarded, circuit) in self.guarded.iter().zip(&mut self.circuits) {
            let theirs = other
                .guarded
                .iter()
                .zip(&other.circuits)
                .find(|(g, _)| g.key == guarded.key && g.rules == guarded.rules);
            if let Some((_, theirs)) = theirs {
                *circuit = theirs.carried(*circuit.rules());
            }
        }
        for (name, pool) in &mut self.pools {
            let same = |(theirs, p): &&(String, Pool)| theirs == name && p.len() == pool.len();
            if let Some((_, theirs)) = other.pools.iter().find(same) {
                *pool = theirs.carried();
            }
        }
        for target in &mut self.targets {
            if let Some(theirs) = other.targets.iter().find(|t| t.spec().name == target.spec().name) {
                target.take_over(theirs);
            }
        }
    }

    /// The place of a target's name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.spec.targets.iter().position(|t| t.name == name)
    }

    /// The ledgers of a target, to look at.
    pub fn target(&self, place: usize) -> Option<&TargetState> {
        self.targets.get(place)
    }

    /// How a target stands for whoever asks. A place without a target is switched off.
    pub fn standing(&mut self, place: usize, now: Millis, ask: Ask<'_>) -> Standing {
        let Some(target) = self.targets.get_mut(place) else { return Standing { disabled: true, ..Standing::GOOD } };
        let mut standing = target.standing(&mut self.circuits, now, ask);
        // It is barred by its keys only when all of them rest.
        if let Some((_, pool)) = self.pool(place).and_then(|at| self.pools.get_mut(at))
            && let Some(until) = pool.rests_until(now)
        {
            standing.hold_until = standing.hold_until.max(until);
        }
        let against = standing.health == Health::Down || standing.breaker != Breaker::Closed;
        standing.regional = against && self.is_regional(place, now);
        standing
    }

    /// Whether a target fails, all that does well at its provider is in other regions, and something there does.
    pub fn is_regional(&mut self, place: usize, now: Millis) -> bool {
        let Group { spec, circuits, targets, .. } = self;
        let Some(own) = spec.targets.get(place) else { return false };
        if own.region.is_none() || !targets.get_mut(place).is_some_and(|t| t.fails(circuits, now)) {
            return false;
        }
        let kin = spec.targets.iter().zip(targets).filter(|(other, _)| other.provider == own.provider);
        let mut elsewhere = false;
        for (other, target) in kin {
            let well = target.does_well(circuits, now);
            if well && other.region == own.region {
                return false;
            }
            elsewhere |= well && other.region.is_some();
        }
        elsewhere
    }

    /// Where a target stands on its way back, for calls about a capability.
    pub fn phase(&mut self, place: usize, now: Millis, capability: Capability) -> Phase {
        let circuits = &mut self.circuits;
        self.targets.get_mut(place).map_or(Phase::Blocked, |target| target.phase(circuits, now, capability))
    }

    /// Lets a call in as it was chosen, with a key of the pool. `first`: the request has not been at this target before.
    ///
    /// # Errors
    /// The [`Reason`] against it, where things changed since it was chosen.
    pub fn admit(
        &mut self,
        place: usize,
        now: Millis,
        ask: Ask<'_>,
        (chosen, key): (Admission, u16),
        first: bool,
    ) -> Result<Admitted, Reason> {
        let pool = self.pool(place);
        let target = self.targets.get_mut(place).ok_or(Reason::Disabled)?;
        let permit = target.admit(&mut self.circuits, now, ask, chosen)?;
        let key = match pool.and_then(|at| self.pools.get_mut(at).map(|(_, pool)| (at, pool))) {
            None => None,
            Some((at, pool)) => match pool.admit(key, now) {
                Some(permit) => Some((at, permit)),
                None => {
                    target.settle(&mut self.circuits, now, permit, &Ended::NEUTRAL);
                    return Err(Reason::Hold);
                }
            },
        };
        if first {
            target.bucket().arrive(now);
        }
        Ok(Admitted { target: permit, key })
    }

    /// A call shows a sign of life: headers, output. The leases of its trials begin again, so that a long stream is not
    /// taken for a lost call.
    pub fn renew(&mut self, place: usize, now: Millis, pass: &Admitted) {
        if let Some(target) = self.targets.get(place) {
            target.renew(&mut self.circuits, now, &pass.target);
        }
        if let Some((at, permit)) = &pass.key
            && let Some((_, pool)) = self.pools.get_mut(*at)
        {
            pool.renew(now, permit);
        }
    }

    /// Takes a permit back, and the hold with it, which covers every target that the answer spoke for, or the key alone.
    /// Says whether the end of the call counted with some breaker.
    pub fn settle(&mut self, place: usize, now: Millis, pass: Admitted, ended: &Ended) -> bool {
        let mut ended = *ended;
        if let Some((at, permit)) = pass.key
            && let Some((_, pool)) = self.pools.get_mut(at)
        {
            let (what, waits) = ((ended.class, ended.scope), (ended.hint, ended.hold_until));
            if pool.settle(now, permit, ended.blame, what, waits) {
                // What is said of a key is said of nothing else.
                ended = Ended { blame: Blame::Neutral, hold_until: None, ..ended };
            }
        }
        if let Some(until) = ended.hold_until {
            self.hold(place, Width::of(ended.scope, ended.class), until);
        }
        let circuits = &mut self.circuits;
        self.targets.get_mut(place).is_some_and(|target| target.settle(circuits, now, pass.target, &ended))
    }

    fn hold(&mut self, place: usize, width: Width, until: Millis) {
        let Some(origin) = self.spec.targets.get(place).map(TargetSpec::site) else { return };
        for (spec, target) in self.spec.targets.iter().zip(&mut self.targets) {
            if width.covers(&origin, &spec.site()) {
                let hold = target.hold();
                hold.until = hold.until.max(until);
            }
        }
    }

    /// Takes note of a probe's end; says what it was taken for.
    pub fn probe(&mut self, place: usize, now: Millis, probed: Probed) -> Judged {
        let circuits = &self.circuits;
        self.targets.get_mut(place).map_or(Judged::Skip, |target| target.probe(circuits, now, probed))
    }

    /// Takes note of a target's health without a probe: another instance's word, or a test's.
    pub fn note_health(&mut self, place: usize, now: Millis, health: Health) {
        if let Some(target) = self.targets.get_mut(place) {
            target.note_health(&self.circuits, now, health);
        }
    }

    /// Whether a call at a target could be paid for. Takes nothing.
    pub fn covers(&mut self, place: usize, now: Millis, call: Extra) -> bool {
        self.targets.get_mut(place).is_some_and(|target| target.bucket().covers(now, call))
    }

    /// Pays for a call at a target; says whether it could.
    pub fn take(&mut self, place: usize, now: Millis, call: Extra) -> bool {
        self.targets.get_mut(place).is_some_and(|target| target.bucket().take(now, call))
    }

    /// The p95 of a target's latest calls, to first output where `stream`, else to the end of whole answers.
    pub fn p95(&self, place: usize, stream: bool) -> Option<Millis> {
        self.targets.get(place)?.p95(stream)
    }

    /// Thousandths of a token in a target's retry bucket.
    pub fn balance(&mut self, place: usize, now: Millis) -> u64 {
        self.targets.get_mut(place).map_or(0, |target| target.bucket().balance(now))
    }

    /// How all breakers stand, in the order in which targets name them.
    pub fn circuits(&mut self, now: Millis) -> impl Iterator<Item = CircuitView<'_>> {
        self.guarded.iter().zip(&mut self.circuits).map(move |(guarded, circuit)| CircuitView {
            key: &guarded.key,
            scope: guarded.scope,
            state: circuit.state(now),
            totals: circuit.totals(now),
            trips: circuit.trips(),
            cause: circuit.cause(),
        })
    }
}

fn key_rules(spec: &GroupSpec, target: &TargetSpec, key: u16) -> CircuitRules {
    let name = format!("provider={};key={key}", target.provider);
    CircuitRules::of(&target.breaker, Millis::ZERO, spec.attempt, &spec.instance, &name)
}

fn rules(spec: &GroupSpec, guarded: &Guarded) -> CircuitRules {
    CircuitRules::of(&guarded.rules, guarded.ramp, spec.attempt, &spec.instance, &guarded.key)
}

#[cfg(test)]
mod tests;
