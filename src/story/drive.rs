//! Sends one request of a test through the state machine, with scripted answers and timers in virtual time.
//!
//! In: what was asked, and the world. Out: the run at its end. Calls that run at the same time go on in the order of
//! their instants; of two at the same instant the older call's comes first, and the instant at which a call is late comes
//! before either.

use super::calling::{Act, Calling};
use super::world::World;
use crate::decide::spend;
use crate::decide::{Call, Event, Facts, Next, Progress, Run};
use crate::graph::Graph;
use crate::policy::{Effects, Millis, Money, RouteId, SendFacts, TargetId, Usage};
use crate::wire;

/// What became of a `send`.
pub(super) struct Told {
    pub(super) run: Run,
    pub(super) elapsed: Millis,
    pub(super) output: String,
    pub(super) cost: Option<Money>,
    /// A target that was called and has no script.
    pub(super) unscripted: Option<TargetId>,
}

/// Sends a request at `at`.
pub(super) fn send(
    graph: &Graph,
    world: &mut World,
    route: RouteId,
    asked: &SendFacts,
    at: Millis,
    number: u32,
) -> Told {
    world.advance(at);
    let facts = facts(graph, route, asked, at, number);
    world.request(route, &facts);
    let run = Run::new(graph, route, &facts);
    let mut drive =
        Drive { graph, world, facts, run, calls: Vec::new(), output: String::new(), usage: None, unscripted: None };
    let mut next = drive.step(Event::Begin);
    loop {
        next = match next {
            Next::Call(call) => drive.start(call),
            Next::CallOff { attempt } => {
                drive.calls.retain(|running| running.call.attempt != attempt);
                drive.go_on()
            }
            Next::GoOn if !drive.calls.is_empty() => drive.go_on(),
            Next::Wait { until } => {
                drive.world.advance(until);
                drive.step(Event::Woke)
            }
            Next::GoOn | Next::Finish | Next::Refuse(_) | Next::Break(_) | Next::Abandon => break,
        };
    }
    let Drive { world, run, output, usage, unscripted, .. } = drive;
    let cost = run.target().zip(usage).and_then(|(target, usage)| spend::cost(graph, target, usage));
    Told { elapsed: world.now().less(at), run, output, cost, unscripted }
}

fn facts(graph: &Graph, route: RouteId, asked: &SendFacts, at: Millis, number: u32) -> Facts {
    let model = graph.route(route).and_then(|r| r.serves.first()).cloned().unwrap_or_default();
    Facts {
        stream: asked.stream,
        tools: asked.tools,
        structured_output: asked.schema,
        tokens: asked.tokens,
        max_output: Some(asked.max_output),
        modalities: asked.modalities,
        client: asked.client.clone(),
        region: asked.region.clone(),
        session: asked.session.clone(),
        headers: asked.headers.clone(),
        metadata: asked.metadata.clone(),
        effects: asked.side_effects.unwrap_or(Effects::None),
        received_at: at,
        ..Facts::plain(format!("test-{number}"), model)
    }
}

struct Drive<'a> {
    graph: &'a Graph,
    world: &'a mut World,
    facts: Facts,
    run: Run,
    /// The calls that run, in the order in which they began.
    calls: Vec<Calling>,
    output: String,
    usage: Option<Usage>,
    unscripted: Option<TargetId>,
}

impl Drive<'_> {
    fn step(&mut self, event: Event<'_>) -> Next {
        let now = self.world.now();
        self.run.step(self.graph, &self.facts, now, event, self.world)
    }

    fn start(&mut self, call: Call) -> Next {
        let Some((answer, after)) = self.world.answer(call.target) else {
            self.unscripted = Some(call.target);
            return self.step(Event::ClientGone);
        };
        self.calls.push(Calling::new(self.graph, &self.facts, call, &answer, (self.world.now(), after)));
        self.go_on()
    }

    /// Lets time go on until something happens to one of the calls.
    fn go_on(&mut self) -> Next {
        // The first of those that are least is the oldest.
        let Some(next) = self.calls.iter_mut().min_by_key(|calling| calling.due()) else { return Next::Abandon };
        let (attempt, at) = (next.call.attempt, next.due());
        let act = next.happens();
        let ends = act.as_ref().is_none_or(Act::ends);
        self.world.advance(at);
        if ends {
            self.calls.retain(|calling| calling.call.attempt != attempt);
        }
        match act {
            Some(act) => self.happened(attempt, act),
            // A script always comes to an end.
            None => self.step(Event::ClientGone),
        }
    }

    fn happened(&mut self, attempt: u32, act: Act) -> Next {
        let progress = match &act {
            Act::Late => Progress::HedgeDue,
            Act::Headers => Progress::Headers,
            Act::Output => Progress::Output,
            Act::Text(text) => {
                self.output.push_str(text);
                return Next::GoOn;
            }
            Act::Served(usage) => {
                self.usage = *usage;
                if let Some(usage) = *usage {
                    self.step(Event::Attempt(attempt, Progress::Counted(usage)));
                }
                Progress::Served
            }
            Act::Failed(failed) => Progress::Failed(wire::failure(failed)),
            Act::TimedOut(timer) => Progress::TimedOut(*timer),
        };
        self.step(Event::Attempt(attempt, progress))
    }
}
