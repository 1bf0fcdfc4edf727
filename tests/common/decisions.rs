//! Requests that are decided with nothing around them: no socket, no clock, no shared state.

use switchback::decide::orders::Ranked;
use switchback::decide::{
    Admission, Event, Facts, Failure, Health, Next, Progress, Reason, Run, Settle, Standing, Verdicts,
};
use switchback::graph::Graph;
use switchback::policy::tier::ChainRef;
use switchback::policy::{Class, DicePurpose, Millis, Money, RouteId, Stage, TargetId, TierId};
use switchback::ready::prepare;
use switchback::source::Sources;

/// A chain of three models at two providers, a contract that compares, a guard, and a matrix with rows enough to search.
pub const POLICY: &str = r#"switchback 1
provider p { api openai-chat; base-url "http://127.0.0.1:9/v1" }
provider q { api openai-chat; base-url "http://127.0.0.1:9/v1" }
model m { modalities [text]; streaming yes; tools yes; structured-output none; context 32k; max-output 4k; price $1/M in, $2/M out }
model n { modalities [text]; streaming yes; tools yes; structured-output none; context 64k; max-output 4k; price $1/M in, $2/M out }
target a { model m; provider p }
target b { model m; provider q }
target c { model n; provider q }
tier t { chain { a when request.tokens <= 20k; b; c } }
contract k { streaming yes; tools yes; context >= 16k }
matrix x {
  overloaded, server-error -> retry once, failover, fallback
  connect, timeout-*       -> failover, fallback
  rate-limit               -> wait up to 2s, failover
  auth                     -> failover, stop
  context-overflow         -> fallback to larger-context
  invalid-request          -> stop
  otherwise                -> stop
}
budget short { deadline 10s; attempts 4; attempt-timeout 4s; reserve 3s; backoff 200ms to 1s, jitter none }
route r { tier t; contract k; matrix x; budget short }
"#;

/// A compiled policy.
pub fn graph(text: &str) -> Graph {
    let prepared = prepare(Sources::from_texts([("p.sbk", text.to_owned())]));
    prepared.ready.unwrap_or_else(|| panic!("{:#?}", prepared.diagnostics)).graph
}

/// A streamed request of some size.
pub fn facts(graph: &Graph) -> Facts {
    let mut facts = Facts::plain("sb-0123456789abcdef0123456789abcdef", graph.policy().routes[0].name.clone());
    facts.stream = true;
    facts.tokens = 900;
    facts.max_output = Some(500);
    facts
}

/// Everybody is well.
pub struct Well;

impl Verdicts for Well {
    fn standing(&mut self, _: TargetId, _: Millis) -> Standing {
        Standing::GOOD
    }

    fn retry_token(&mut self, _: TargetId, _: Millis) -> bool {
        true
    }

    fn take_retry_token(&mut self, _: TargetId, _: Millis) -> bool {
        true
    }

    fn p95(&mut self, _: TargetId, _: bool, _: Millis) -> Option<Millis> {
        None
    }

    fn admit(&mut self, _: TargetId, _: (Admission, u16), _: bool, _: Millis) -> Result<(), Reason> {
        Ok(())
    }

    fn key(&mut self, _: TargetId, _: &[u16], _: Millis) -> Option<u16> {
        Some(0)
    }

    fn share(&mut self, _: DicePurpose, _: &str) -> u32 {
        0
    }

    fn at_home(&mut self, _: TierId, _: TargetId, _: Millis) {}
    fn home(&mut self, _: TierId, _: Millis, _: Millis) -> Option<TargetId> {
        None
    }

    fn ranked(&mut self, _: ChainRef, _: TargetId, _: bool, _: Millis) -> Ranked {
        Ranked::default()
    }

    fn health_above(&mut self, _: TargetId, _: Millis, shared: Health) -> Health {
        shared
    }

    fn affords(&mut self, _: Money, _: Option<Money>) -> Result<(), Millis> {
        Ok(())
    }

    fn reserve(&mut self, _: u32, _: Money, _: Option<Money>) -> Result<(), Millis> {
        Ok(())
    }

    fn bill(&mut self, _: u32, _: Money) {}

    fn settle(&mut self, _: &Settle) {}

    fn draw(&mut self, _: DicePurpose, _: u32) -> u32 {
        0
    }
}

fn serve(run: &mut Run, graph: &Graph, facts: &Facts, from: u64) -> bool {
    let attempt = run.attempts();
    for (at, progress) in [Progress::Headers, Progress::Output].into_iter().enumerate() {
        run.step(graph, facts, Millis(from + at as u64), Event::Attempt(attempt, progress), &mut Well);
    }
    matches!(
        run.step(graph, facts, Millis(from + 9), Event::Attempt(attempt, Progress::Served), &mut Well),
        Next::Finish
    )
}

/// A request whose first call is served. Says whether all went as it should.
pub fn healthy(graph: &Graph, facts: &Facts) -> bool {
    let route = RouteId(0);
    let mut run = Run::new(graph, route, facts);
    let called = matches!(run.step(graph, facts, Millis(1), Event::Begin, &mut Well), Next::Call(_));
    called && serve(&mut run, graph, facts, 2)
}

/// A request whose first call cannot be connected, and whose second is served.
pub fn failover(graph: &Graph, facts: &Facts) -> bool {
    let route = RouteId(0);
    let mut run = Run::new(graph, route, facts);
    let called = matches!(run.step(graph, facts, Millis(1), Event::Begin, &mut Well), Next::Call(_));
    let failed = Event::Attempt(1, Progress::Failed(Failure::of(Class::Connect, Stage::NotSent)));
    let again = matches!(run.step(graph, facts, Millis(2), failed, &mut Well), Next::Call(_));
    called && again && serve(&mut run, graph, facts, 3)
}
