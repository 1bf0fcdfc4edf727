//! A world in which every answer is set by hand.

use crate::decide::baselines::Kind;
use crate::decide::orders::{Instant, Measured, Orders, Ranked};
use crate::decide::*;
use crate::graph::Graph;
use crate::policy::tier::ChainRef;
use crate::policy::{Class, DicePurpose, Millis, Money, Stage, TargetId, TierId};
use crate::ready::prepare;
use crate::source::Sources;

pub(super) const HEAD: &str = r#"switchback 1
provider p { api openai-chat; base-url "http://127.0.0.1:9/v1" }
provider q { api openai-chat; base-url "http://127.0.0.1:9/v1" }
model m { modalities [text]; streaming yes; tools yes; structured-output none; context 32k; max-output 4k; price $1/M in, $2/M out }
model n { modalities [text]; streaming yes; tools no; structured-output none; context 64k; max-output 4k; price $1/M in, $2/M out }
target a { model m; provider p }
target b { model m; provider q }
target c { model n; provider q; upstream "c-big" }
tier t { chain { a; b; c } }
budget short { deadline 10s; attempts 4; attempt-timeout 4s; reserve 3s; backoff 200ms to 1s, jitter none }
"#;

pub(super) const MATRIX: &str = r"
matrix x {
  overloaded, server-error -> retry once, failover, fallback
  connect, timeout-*       -> failover, fallback
  rate-limit               -> wait up to 2s, failover
  auth                     -> failover, stop
  context-overflow         -> fallback to larger-context
  invalid-request          -> stop
  otherwise                -> stop
}
route r { tier t; matrix x; budget short }
";

/// The graph of a policy that must be clean of errors.
pub(super) fn graph(text: &str) -> Graph {
    let prepared = prepare(Sources::from_texts([("t.sbk", text)]));
    let errors: Vec<_> = prepared.diagnostics.iter().map(|d| (d.entry().id, &d.message)).collect();
    prepared.ready.unwrap_or_else(|| panic!("{errors:?}")).graph
}

pub(super) struct Fake {
    pub(super) standings: Vec<Standing>,
    pub(super) tokens: bool,
    pub(super) draw: u32,
    /// Of streams, at every target.
    pub(super) p95: Option<Millis>,
    pub(super) home: Option<TargetId>,
    /// Targets that are taken from under the next call, and the reason.
    pub(super) keys: u16,
    pub(super) taken: Vec<(TargetId, Reason)>,
    pub(super) settled: Vec<Settle>,
    pub(super) orders: Orders,
    /// What calls take, by target, whoever asks.
    pub(super) took: Took,
    /// What is left of the day.
    pub(super) left: Money,
    pub(super) reserved: Vec<(u32, Money)>,
    pub(super) billed: Vec<(u32, Money)>,
    /// Of each call that was let in, whether it was an arrival.
    pub(super) arrivals: Vec<bool>,
    /// Tokens that are left; as many as are asked for, where it does not matter.
    pub(super) purse: Option<u32>,
    /// Where a token was paid.
    pub(super) paid: Vec<TargetId>,
}

impl Fake {
    pub(super) fn good(graph: &Graph) -> Fake {
        let standings = vec![Standing::GOOD; graph.policy().targets.len()];
        Fake {
            standings,
            tokens: true,
            draw: 500_000,
            p95: None,
            home: None,
            keys: 1,
            taken: Vec::new(),
            settled: Vec::new(),
            left: Money(u64::MAX),
            reserved: Vec::new(),
            billed: Vec::new(),
            orders: Orders::of_graph(graph),
            took: Took(vec![None; graph.policy().targets.len()]),
            arrivals: Vec::new(),
            purse: None,
            paid: Vec::new(),
        }
    }

    /// Calls that were let in and are not settled.
    pub(super) fn inside(&self) -> usize {
        self.arrivals.len() - self.settled.len()
    }

    /// The attempts for which money is kept and that have no bill yet.
    pub(super) fn kept(&self) -> Vec<u32> {
        let mut kept: Vec<u32> = self.reserved.iter().map(|(attempt, _)| *attempt).collect();
        for (billed, _) in &self.billed {
            let at = kept.iter().position(|attempt| attempt == billed).expect("a bill of what was kept");
            kept.remove(at);
        }
        kept
    }
}

pub(super) struct Took(pub(super) Vec<Option<u64>>);

impl Measured for Took {
    fn average(&mut self, target: TargetId, _: Kind) -> Option<Millis> {
        self.0[target.index()].map(Millis)
    }

    fn typical(&mut self, target: TargetId, _: Kind, _: u64) -> Option<Millis> {
        self.0[target.index()].map(Millis)
    }
}

impl Verdicts for Fake {
    fn standing(&mut self, target: TargetId, _now: Millis) -> Standing {
        self.standings[target.index()]
    }
    fn retry_token(&mut self, _target: TargetId, _now: Millis) -> bool {
        self.tokens && self.purse != Some(0)
    }
    fn take_retry_token(&mut self, target: TargetId, now: Millis) -> bool {
        let covered = self.retry_token(target, now);
        if covered {
            self.purse = self.purse.map(|left| left - 1);
            self.paid.push(target);
        }
        covered
    }
    fn p95(&mut self, _target: TargetId, stream: bool, _now: Millis) -> Option<Millis> {
        self.p95.filter(|_| stream)
    }
    fn draw(&mut self, _purpose: DicePurpose, _attempt: u32) -> u32 {
        self.draw
    }
    fn admit(&mut self, target: TargetId, _: (Admission, u16), first: bool, _now: Millis) -> Result<(), Reason> {
        match self.taken.iter().position(|(t, _)| *t == target) {
            Some(at) => Err(self.taken.remove(at).1),
            None => {
                self.arrivals.push(first);
                Ok(())
            }
        }
    }
    fn key(&mut self, _target: TargetId, used: &[u16], _now: Millis) -> Option<u16> {
        (0..self.keys).find(|key| !used.contains(key))
    }
    fn share(&mut self, _purpose: DicePurpose, _of: &str) -> u32 {
        self.draw
    }
    fn home(&mut self, _tier: TierId, _idle: Millis, _now: Millis) -> Option<TargetId> {
        self.home
    }
    fn at_home(&mut self, _tier: TierId, target: TargetId, _now: Millis) {
        self.home = Some(target);
    }
    fn ranked(&mut self, chain: ChainRef, target: TargetId, stream: bool, now: Millis) -> Ranked {
        let at = Instant { now, wall_ms: now.0 };
        self.orders.ranked(chain, target, stream, at, &mut self.took).0
    }
    fn health_above(&mut self, target: TargetId, limit: Millis, shared: Health) -> Health {
        let slow = self.took.0[target.index()].is_some_and(|ms| Millis(ms) > limit);
        if slow && shared == Health::Healthy { Health::Degraded } else { shared }
    }
    fn affords(&mut self, worst: Money, cap: Option<Money>) -> Result<(), Millis> {
        if cap.is_none() || worst <= self.left { Ok(()) } else { Err(Millis(3_600_000)) }
    }
    fn reserve(&mut self, attempt: u32, worst: Money, cap: Option<Money>) -> Result<(), Millis> {
        self.affords(worst, cap)?;
        self.left = self.left.less(worst);
        self.reserved.push((attempt, worst));
        Ok(())
    }
    fn bill(&mut self, attempt: u32, billed: Money) {
        self.billed.push((attempt, billed));
    }
    fn settle(&mut self, settle: &Settle) {
        self.settled.push(*settle);
        if let Some(until) = settle.hold_until {
            let hold = &mut self.standings[settle.target.index()].hold_until;
            *hold = until.max(*hold);
        }
    }
}

/// A run under test, with its clock.
pub(super) struct Bench {
    pub(super) graph: Graph,
    pub(super) facts: Facts,
    pub(super) world: Fake,
    pub(super) run: Run,
    pub(super) now: Millis,
}

impl Bench {
    pub(super) fn new(text: &str, change: impl FnOnce(&mut Facts, &Graph)) -> Bench {
        let graph = graph(text);
        let mut facts = Facts { tokens: 100, max_output: Some(50), ..Facts::plain("id-1", "r") };
        change(&mut facts, &graph);
        let route = route_for(&graph, &facts).unwrap();
        let run = Run::new(&graph, route, &facts);
        let world = Fake::good(&graph);
        Bench { graph, facts, world, run, now: Millis(0) }
    }

    pub(super) fn step(&mut self, event: Event<'_>) -> Next {
        self.run.step(&self.graph, &self.facts, self.now, event, &mut self.world)
    }

    /// Something happens to the call that was made last.
    pub(super) fn last(&mut self, progress: Progress<'_>) -> Next {
        self.step(Event::Attempt(self.run.attempts(), progress))
    }

    pub(super) fn at(&mut self, ms: u64) -> &mut Bench {
        self.now = Millis(ms);
        self
    }

    pub(super) fn fails(&mut self, class: Class, stage: Stage) -> Next {
        self.last(Progress::Failed(Failure::of(class, stage)))
    }

    /// Who is called, where the next thing is a call.
    pub(super) fn called(&self, next: &Next) -> String {
        match next {
            Next::Call(call) => self.graph.target_name(call.target).to_owned(),
            other => panic!("no call but {other:?}"),
        }
    }

    pub(super) fn id(&self, name: &str) -> usize {
        self.graph.target_named(name).unwrap().index()
    }
}
