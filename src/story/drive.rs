//! Sends one request of a test through the state machine, with scripted answers and timers in virtual time.
//!
//! The timers are read off `Limits` exactly as the gateway reads them: what is due at the same instant as an answer comes
//! first.

use super::world::World;
use crate::classify::vendor::{ANYBODY, Vendor};
use crate::classify::{self, Called, Classified, Fault, NoHeaders};
use crate::decide::spend;
use crate::decide::{Call, Event, Facts, Limits, Next, Phase, Progress, Run};
use crate::graph::Graph;
use crate::policy::{Effects, Millis, Money, RouteId, SendFacts, TargetId, Usage};
use crate::wire;
use crate::wire::chat::answer::{Answered, Asked, judge};
use crate::wire::chat::stream::{PieceKind, StreamEnded, StreamReader};
use crate::wire::scripted::{self, Scripted, ScriptedAsk, ScriptedBody, Then};
use bytes::Bytes;

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
        Drive { graph, world, facts, run, output: String::new(), usage: None, unscripted: None, vendor: &ANYBODY };
    let mut next = drive.step(Event::Begin);
    loop {
        next = match next {
            Next::Call(call) => drive.attempt(&call),
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
    output: String,
    usage: Option<Usage>,
    unscripted: Option<TargetId>,
    /// Who is being called.
    vendor: &'static Vendor,
}

impl Drive<'_> {
    fn step(&mut self, event: Event<'_>) -> Next {
        let now = self.world.now();
        self.run.step(self.graph, &self.facts, now, event, self.world)
    }

    fn fail(&mut self, failed: &Classified) -> Next {
        self.step(Event::Attempt(self.run.attempts(), Progress::Failed(wire::failure(failed))))
    }

    /// Lets time go on to `at`, or to the timer that comes first; what the timer leads to, if one did.
    fn until(&mut self, at: Millis, limits: &Limits, phase: Phase) -> Option<Next> {
        let (due, timer) = limits.next(phase);
        if due > at {
            self.world.advance(at);
            return None;
        }
        self.world.advance(due);
        Some(self.step(Event::Attempt(self.run.attempts(), Progress::TimedOut(timer))))
    }

    /// One call, from its start to whatever it leads to.
    fn attempt(&mut self, call: &Call) -> Next {
        let Some((answer, after)) = self.world.answer(call.target) else {
            self.unscripted = Some(call.target);
            return self.step(Event::ClientGone);
        };
        let target = self.graph.target(call.target);
        let provider = target.and_then(|t| self.graph.provider(t.provider));
        self.vendor = provider.map_or(&ANYBODY, |p| Vendor::of(&p.name, p.api.word()));
        let scripted = scripted::answer(
            &answer,
            &ScriptedAsk {
                stream: self.facts.stream,
                include_usage: true,
                target: target.map_or("", |t| t.name.as_str()),
                model: target.map_or("", |t| t.upstream.as_str()),
                max_output: self.facts.max_output,
                prompt_tokens: self.facts.tokens,
                id: &self.facts.id.clone(),
                created: 0,
            },
        );
        let start = self.world.now();
        let Scripted { status, headers, body } = scripted;
        match body {
            ScriptedBody::Hang => self.silence(&call.limits, Phase::Waiting),
            ScriptedBody::Reset => {
                let timed_out = self.until(start.plus(after), &call.limits, Phase::Waiting);
                timed_out.unwrap_or_else(|| self.fail(&classify::fault(Fault::ResetBeforeHeaders { sent: true })))
            }
            ScriptedBody::Whole(bytes) => {
                if let Some(next) = self.until(start.plus(after), &call.limits, Phase::Waiting) {
                    return next;
                }
                if (200..300).contains(&status) {
                    self.step(Event::Attempt(self.run.attempts(), Progress::Headers));
                    self.whole(&bytes)
                } else {
                    let corrections = target.map_or(&[][..], |t| &t.corrections);
                    let translated = provider.is_some_and(|p| p.api.dialect() != self.facts.dialect);
                    let called = Called { vendor: self.vendor, corrections, translated };
                    self.fail(&called.answer(status, &headers, &bytes, 0))
                }
            }
            ScriptedBody::Stream { events, lead, then } => {
                let pieces = Pieces { events, lead, then };
                if self.facts.stream { self.stream(call, after, pieces) } else { self.broken_body(call, after, pieces) }
            }
        }
    }

    /// Nothing more comes: the next timer decides.
    fn silence(&mut self, limits: &Limits, phase: Phase) -> Next {
        self.until(Millis::MAX, limits, phase).unwrap_or(Next::Abandon)
    }

    fn asked(&self) -> Asked {
        Asked { vendor: self.vendor, stream: self.facts.stream, max_output: self.facts.max_output, choices: 1 }
    }

    fn whole(&mut self, body: &[u8]) -> Next {
        match judge(&NoHeaders, body, &self.asked(), 0) {
            Ok(answered) => {
                self.output = text_of(body, "message");
                self.served(&answered)
            }
            Err(failed) => self.fail(&failed),
        }
    }

    fn served(&mut self, answered: &Answered) -> Next {
        self.usage = answered.usage;
        if let Some(usage) = answered.usage {
            self.step(Event::Attempt(self.run.attempts(), Progress::Counted(usage)));
        }
        self.step(Event::Attempt(self.run.attempts(), Progress::Served))
    }

    fn stream(&mut self, call: &Call, after: Millis, pieces: Pieces) -> Next {
        let start = self.world.now();
        let mut reader = StreamReader::new(self.asked());
        let mut phase = Phase::Waiting;
        for (at, bytes) in pieces.timed(start, after) {
            if let Some(next) = self.until(at, &call.limits, phase) {
                return next;
            }
            if phase == Phase::Waiting {
                self.step(Event::Attempt(self.run.attempts(), Progress::Headers));
                phase = Phase::Opened { since: at };
            }
            for piece in reader.push(bytes) {
                match piece.kind {
                    PieceKind::Output => {
                        if !self.run.committed() {
                            self.step(Event::Attempt(self.run.attempts(), Progress::Output));
                        }
                        phase = Phase::Flowing { since: at };
                        self.output.push_str(&text_of(&piece.raw, "delta"));
                    }
                    PieceKind::Quiet | PieceKind::Finish | PieceKind::Done => {}
                    PieceKind::Error(failed) | PieceKind::Malformed(failed) => return self.fail(&failed),
                }
            }
        }
        let how = match pieces.then {
            Then::Stalls if !reader.has_done() => return self.silence(&call.limits, phase),
            Then::Closes | Then::Stalls => StreamEnded::Clean,
            Then::Cuts => StreamEnded::Reset,
        };
        match reader.end(how) {
            Ok(answered) => self.served(&answered),
            Err(failed) => self.fail(&failed),
        }
    }

    /// The pieces of a whole answer that may not come to its end.
    fn broken_body(&mut self, call: &Call, after: Millis, pieces: Pieces) -> Next {
        let start = self.world.now();
        let mut phase = Phase::Waiting;
        let mut body = Vec::new();
        for (at, bytes) in pieces.timed(start, after) {
            if let Some(next) = self.until(at, &call.limits, phase) {
                return next;
            }
            if phase == Phase::Waiting {
                self.step(Event::Attempt(self.run.attempts(), Progress::Headers));
            }
            phase = Phase::Opened { since: at };
            body.extend_from_slice(&bytes);
        }
        match pieces.then {
            Then::Closes => self.whole(&body),
            Then::Cuts => self.fail(&classify::fault(Fault::BodyReset { output: false })),
            Then::Stalls => self.silence(&call.limits, phase),
        }
    }
}

/// Pieces of a body, some of which come with the headers.
struct Pieces {
    events: Vec<Bytes>,
    lead: usize,
    then: Then,
}

impl Pieces {
    /// Each piece with its instant.
    fn timed(&self, start: Millis, after: Millis) -> Vec<(Millis, Bytes)> {
        let at = |i: usize| if i < self.lead { start } else { start.plus(after) };
        self.events.iter().enumerate().map(|(i, bytes)| (at(i), bytes.clone())).collect()
    }
}

/// The text of an answer or of one event, for `expect output`.
fn text_of(bytes: &[u8], part: &str) -> String {
    let json = bytes.strip_prefix(b"data:").unwrap_or(bytes);
    let value: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
    let choices = value.get("choices").and_then(|c| c.as_array());
    let texts = choices.into_iter().flatten().filter_map(|c| c.get(part)?.get("content")?.as_str());
    texts.collect()
}
