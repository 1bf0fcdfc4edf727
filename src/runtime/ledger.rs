//! Answers the questions of one request at one instant, from live shared state.
//!
//! In: the ledgers, the homes of sessions, the request's facts. Out: `Verdicts`. The permits of the calls that run
//! are kept with the request, so that they are given back whatever becomes of it. The rules are those of `decide`.

use super::clock::Clock;
use super::homes::Homes;
use super::live::{Held, Live, lock};
use super::route_money::{Kept, RouteMoney};
use super::seen::Seen;
use crate::decide::baselines::Kind;
use crate::decide::bucket::Extra;
use crate::decide::orders::{Instant, Measured, Ranked};
use crate::decide::spend::Today;
use crate::decide::target_state::{Ask, Ended};
use crate::decide::{Admission, Facts, Health, Reason, Settle, Standing, Verdicts, draw};
use crate::graph::Graph;
use crate::policy::class::Blame;
use crate::policy::tier::ChainRef;
use crate::policy::{DicePurpose, Millis, Money, RouteId, TargetId, TierId};
use smallvec::SmallVec;
use std::sync::Arc;

/// What is kept of a day for the calls of one request, by attempt.
pub type Keeps = SmallVec<[(u32, Kept); 1]>;

/// The permits of a request's calls that run. No two of them are at one target.
pub type Permits = SmallVec<[(TargetId, Held); 1]>;

/// One request's view of what is shared.
pub struct Asking<'a> {
    /// The policy it runs on.
    pub graph: &'a Graph,
    /// The ledgers of that policy.
    pub live: &'a Live,
    /// Where sessions were served.
    pub homes: &'a Homes,
    /// What calls took.
    pub seen: &'a Seen,
    /// The request.
    pub facts: &'a Facts,
    /// Its route.
    pub route: RouteId,
    /// What routes have spent.
    pub money: &'a RouteMoney,
    /// What is kept for its calls, by attempt.
    pub kept: &'a mut Keeps,
    /// The permits of its calls.
    pub permits: &'a mut Permits,
    /// The clock.
    pub clock: &'a Clock,
}

/// What is measured of targets.
struct Measures<'a> {
    graph: &'a Graph,
    live: &'a Live,
    seen: &'a Seen,
}

impl Measured for Measures<'_> {
    fn average(&mut self, target: TargetId, kind: Kind) -> Option<Millis> {
        let (group, place) = self.live.of(target)?;
        lock(group).target(place)?.averages().of(kind)
    }

    fn typical(&mut self, target: TargetId, kind: Kind, wall_ms: u64) -> Option<Millis> {
        self.seen.typical(self.graph.target_name(target), kind, wall_ms)
    }
}

impl Asking<'_> {
    fn route_name(&self) -> &str {
        self.graph.route(self.route).map_or("", |route| &route.name)
    }

    /// The request's session as one tier knows it; by the tier's name, so that it is the same in the next policy.
    fn resident(&self, tier: TierId) -> Option<u64> {
        Some(draw::seed(&[&self.graph.tier(tier)?.name, self.facts.session.as_deref()?]))
    }
}

impl Verdicts for Asking<'_> {
    fn standing(&mut self, target: TargetId, now: Millis) -> Standing {
        match self.live.of(target) {
            None => Standing { disabled: true, ..Standing::GOOD },
            Some((group, place)) => lock(group).standing(place, now, Ask::of(self.facts)),
        }
    }

    fn retry_token(&mut self, target: TargetId, now: Millis) -> bool {
        self.live.of(target).is_some_and(|(group, place)| lock(group).covers(place, now, Extra::Repeat))
    }

    fn take_retry_token(&mut self, target: TargetId, now: Millis) -> bool {
        self.live.of(target).is_some_and(|(group, place)| lock(group).take(place, now, Extra::Repeat))
    }

    fn p95(&mut self, target: TargetId, stream: bool, _now: Millis) -> Option<Millis> {
        self.live.of(target).and_then(|(group, place)| lock(group).p95(place, stream))
    }

    fn admit(&mut self, target: TargetId, how: (Admission, u16), first: bool, now: Millis) -> Result<(), Reason> {
        let (group, place) = self.live.of(target).ok_or(Reason::Disabled)?;
        let permit = lock(group).admit(place, now, Ask::of(self.facts), how, first)?;
        self.permits.push((target, Held::new(Arc::clone(group), place, permit, *self.clock)));
        Ok(())
    }

    fn ranked(&mut self, chain: ChainRef, target: TargetId, stream: bool, now: Millis) -> Ranked {
        let at = Instant { now, wall_ms: self.clock.wall_ms() };
        let mut measures = Measures { graph: self.graph, live: self.live, seen: self.seen };
        let mut orders = self.live.orders();
        let (ranked, is_new) = orders.ranked(chain, target, stream, at, &mut measures);
        if is_new {
            self.seen.keep_rankings(orders.kept());
        }
        ranked
    }

    fn health_above(&mut self, target: TargetId, limit: Millis, shared: Health) -> Health {
        let Some((group, place)) = self.live.of(target) else { return shared };
        lock(group).target(place).map_or(shared, |target| target.health_above(limit, shared))
    }

    fn affords(&mut self, worst: Money, cap: Option<Money>) -> Result<(), Millis> {
        let today = Today::at(self.clock.wall_ms());
        if self.money.affords(self.route_name(), today, worst, cap) { Ok(()) } else { Err(today.left) }
    }

    fn reserve(&mut self, attempt: u32, worst: Money, cap: Option<Money>) -> Result<(), Millis> {
        let today = Today::at(self.clock.wall_ms());
        let kept = self.money.reserve(self.route_name(), today, worst, cap).ok_or(today.left)?;
        self.kept.push((attempt, kept));
        Ok(())
    }

    fn bill(&mut self, attempt: u32, billed: Money) {
        if let Some(at) = self.kept.iter().position(|(number, _)| *number == attempt) {
            self.kept.swap_remove(at).1.settle(billed);
        }
    }

    fn settle(&mut self, settle: &Settle) {
        if let Some(at) = self.permits.iter().position(|(target, _)| *target == settle.target) {
            let (_, held) = self.permits.swap_remove(at);
            held.settle(&Ended::of(settle));
        }
        if settle.blame == Blame::Success
            && let Some(latency) = settle.latency
        {
            let (target, wall_ms) = (self.graph.target_name(settle.target), self.clock.wall_ms());
            self.seen.note(target, latency.into(), latency.time(), wall_ms);
        }
    }

    fn key(&mut self, target: TargetId, used: &[u16], now: Millis) -> Option<u16> {
        self.live.of(target).and_then(|(group, place)| lock(group).key(place, now, used))
    }

    fn draw(&mut self, purpose: DicePurpose, attempt: u32) -> u32 {
        draw::ppm(&self.facts.id, purpose, attempt)
    }

    fn share(&mut self, purpose: DicePurpose, of: &str) -> u32 {
        draw::share(self.facts.session_key(), purpose, of)
    }

    fn home(&mut self, tier: TierId, idle: Millis, now: Millis) -> Option<TargetId> {
        let home = self.homes.of(self.resident(tier)?, idle, now)?;
        self.graph.target_named(&home)
    }

    fn at_home(&mut self, tier: TierId, target: TargetId, now: Millis) {
        if let Some(resident) = self.resident(tier) {
            self.homes.served(resident, self.graph.target_name(target), now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Class;
    use crate::ready::prepare;
    use crate::source::Sources;

    fn graph(targets: &[&str]) -> Graph {
        let blocks: String = targets
            .iter()
            .map(|t| format!("provider {t} {{ api emulated }}\ntarget {t} {{ model m; provider {t} }}\n"))
            .collect();
        let text = format!(
            "switchback 1\n{blocks}model m {{ modalities [text]; context 8k; max-output 1k }}\ntier t {{ chain {{ {} }} }}\n\
             matrix x {{ otherwise -> stop }}\nbudget b {{ deadline 5s; attempts 2 }}\nroute r {{ tier t; matrix x; budget b }}\n",
            targets.join("; ")
        );
        let prepared = prepare(Sources::from_texts([("p.sbk", text)]));
        prepared.ready.unwrap_or_else(|| panic!("{:?}", prepared.diagnostics)).graph
    }

    /// Everything that a request is answered from.
    struct Case {
        graph: Graph,
        live: Live,
        homes: Homes,
        seen: Seen,
        facts: Facts,
        money: RouteMoney,
        kept: Keeps,
        permits: Permits,
        clock: Clock,
    }

    impl Case {
        fn new(graph: Graph, before: Option<&Live>) -> Case {
            let live = Live::fit(&graph, "i", before);
            let facts = Facts { session: Some("s".into()), ..Facts::plain("sb-1", "r") };
            Case {
                graph,
                live,
                homes: Homes::default(),
                seen: Seen::default(),
                facts,
                money: RouteMoney::default(),
                kept: Keeps::new(),
                permits: Permits::new(),
                clock: Clock::start(),
            }
        }

        fn asking(&mut self) -> Asking<'_> {
            let Case { graph, live, homes, seen, facts, money, kept, permits, clock } = self;
            Asking { graph, live, homes, seen, facts, route: RouteId(0), money, kept, permits, clock }
        }

        fn standing(&mut self, name: &str) -> Standing {
            let target = self.graph.target_named(name).unwrap();
            let now = self.clock.now();
            self.asking().standing(target, now)
        }

        fn call(&mut self, name: &str) -> Result<(), Reason> {
            let target = self.graph.target_named(name).unwrap();
            let now = self.clock.now();
            self.asking().admit(target, (Admission::Normal, 0), true, now)
        }

        fn fail(&mut self, name: &str, class: Class, hold: Option<Millis>) {
            self.call(name).unwrap();
            let target = self.graph.target_named(name).unwrap();
            let hold_until = hold.map(|h| self.clock.now().plus(h));
            let settle = Settle { blame: class.blame(), class: Some(class), hold_until, ..Settle::neutral(target) };
            self.asking().settle(&settle);
        }
    }

    #[test]
    fn what_is_known_stays_with_the_target_whatever_its_place_in_the_next_policy() {
        let mut before = Case::new(graph(&["m1", "z1"]), None);
        before.fail("z1", Class::RateLimit, Some(Millis(60_000)));
        let mut after = Case::new(graph(&["b1", "m1", "z1"]), Some(&before.live));
        assert!(after.standing("z1").hold_until > Millis::ZERO);
        assert_eq!(after.standing("b1").hold_until, Millis::ZERO);
        // What has not changed is one and the same: a request on the old policy is heard by those on the new one.
        before.fail("m1", Class::Auth, None);
        assert!(matches!(after.standing("m1").breaker, crate::decide::Breaker::Open { hard: true, .. }));
    }

    #[test]
    fn a_session_is_at_home_in_each_tier_by_the_tiers_name_and_over_a_reload() {
        let mut before = Case::new(graph(&["a", "b"]), None);
        let (tier, now) = (TierId(0), before.clock.now());
        let target = before.graph.target_named("b").unwrap();
        assert_eq!(before.asking().home(tier, Millis(1_000), now), None);
        before.asking().at_home(tier, target, now);
        assert_eq!(before.asking().home(tier, Millis(1_000), now), Some(target));
        // A tier that is not there knows nobody, and neither does a request without a session.
        assert_eq!(before.asking().home(TierId(9), Millis(1_000), now), None);
        let mut after = Case::new(graph(&["a", "a0", "b"]), Some(&before.live));
        after.homes = std::mem::take(&mut before.homes);
        let there = after.graph.target_named("b");
        assert_eq!(after.asking().home(tier, Millis(1_000), now), there);
        after.facts.session = None;
        assert_eq!(after.asking().home(tier, Millis(1_000), now), None);
    }

    #[test]
    fn five_failures_in_a_row_open_the_breaker_and_nobody_is_let_in() {
        let mut case = Case::new(graph(&["a"]), None);
        for _ in 0..5 {
            case.fail("a", Class::ServerError, None);
        }
        assert!(matches!(case.standing("a").breaker, crate::decide::Breaker::Open { hard: false, .. }));
        assert_eq!(case.call("a"), Err(Reason::BreakerOpen));
    }

    #[test]
    fn a_permit_that_is_dropped_is_given_back_and_says_nothing() {
        let mut case = Case::new(graph(&["a"]), None);
        case.call("a").unwrap();
        let inflight = |case: &Case| {
            let (group, place) = case.live.of(TargetId(0)).unwrap();
            lock(group).target(place).unwrap().inflight()
        };
        assert_eq!(inflight(&case), 1);
        case.permits.clear();
        assert_eq!(inflight(&case), 0);
        assert_eq!(case.standing("a").breaker, crate::decide::Breaker::Closed);
    }

    #[test]
    fn draws_are_the_requests_own_and_shares_the_sessions() {
        let mut case = Case::new(graph(&["a"]), None);
        assert!(case.asking().standing(TargetId(99), Millis(0)).disabled);
        let (draw, share) = {
            let mut asking = case.asking();
            (asking.draw(DicePurpose::Backoff, 1), asking.share(DicePurpose::Split, "t"))
        };
        case.facts.id = "sb-2".into();
        assert_ne!(case.asking().draw(DicePurpose::Backoff, 1), draw);
        assert_eq!(case.asking().share(DicePurpose::Split, "t"), share);
    }
}
