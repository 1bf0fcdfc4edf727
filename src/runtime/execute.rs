//! Executes one request: commands become calls and waits, their ends become events.
//!
//! In: an order, and the line to its client. Out: an answer on the line, and when all is over counts and a record. Runs
//! in a task of its own, so that a client that leaves ends it in order and not in the middle. Decides nothing: what to do
//! next is always what `Run::step` said.

use super::attempt::Flow;
use super::engine::Engine;
use super::ledger::{Asking, Keeps, Permits};
use super::meters::Meters;
use super::race::Race;
use super::reply::{Gone, Head, Line, Piece, Reply};
use super::serving::Serving;
use crate::decide::{Call, Event, Facts, Next, Outcome, Refused, Run, Step, StepAction, Why};
use crate::graph::Graph;
use crate::policy::{Millis, Refusal, RouteId};
use crate::record;
use crate::wire::chat::{Answered, ChatRequest};
use bytes::Bytes;
use std::sync::Arc;
use tracing::Instrument;

/// A client that has taken nothing for so long has gone, whatever its connection says.
const CLIENT_STALL: Millis = Millis(120_000);

/// A request that found its route.
pub struct Order {
    /// The policy it runs on, to its end.
    pub serving: Arc<Serving>,
    /// Its route.
    pub route: RouteId,
    /// Its facts.
    pub facts: Facts,
    /// Its bytes.
    pub chat: ChatRequest,
    /// Client headers that some provider may be handed.
    pub client_headers: Vec<(String, String)>,
}

/// Starts a request. It goes on until it is answered or its client goes.
pub fn spawn(engine: Arc<Engine>, order: Box<Order>, line: Line) {
    let graph = order.serving.graph();
    let route = graph.route(order.route).map_or("", |r| r.name.as_str());
    // Each line of the log names its request by itself: a span costs every request, and few have anything to say.
    let span = tracing::debug_span!("request", id = order.facts.id, route, policy = graph.hash());
    let running = Meters::running(&engine.meters);
    let task = async move {
        // Boxed, since it is large, and the task that holds it would be copied with it on each of its ways.
        let mut execution = Box::new(Execution::new(&engine, &order, line));
        execution.run().await;
        drop(execution);
        drop(running);
    };
    tokio::spawn(task.instrument(span));
}

/// What a failed attempt left behind.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) message: Option<String>,
    pub(super) rule: &'static str,
}

/// One request that is running.
pub(super) struct Execution<'a> {
    pub(super) engine: &'a Engine,
    pub(super) order: &'a Order,
    pub(super) line: Line,
    /// Pieces of output that came.
    pub(super) pieces: u64,
    /// What the attempt that was served said of itself.
    pub(super) answered: Option<Answered>,
    /// The whole answer, once there is one.
    pub(super) whole: Option<Bytes>,
    /// What failed attempts said in words for the client, and the rule that gave them their class, by their numbers.
    pub(super) said: Vec<Option<Said>>,
    /// What the calls that run were let in by.
    pub(super) permits: Permits,
    /// What is kept of its route's day for them.
    kept: Keeps,
    /// The calls that run and have no output yet.
    pub(super) race: Race<'a>,
    /// The stream that has won, and is not sent on yet.
    pub(super) flow: Option<(Call, Box<Flow>)>,
    run: Run,
    at_ms: u64,
}

impl<'a> Execution<'a> {
    fn new(engine: &'a Engine, order: &'a Order, line: Line) -> Self {
        let run = Run::new(order.serving.graph(), order.route, &order.facts);
        let at_ms = engine.clock.wall_ms();
        Execution {
            engine,
            order,
            line,
            pieces: 0,
            answered: None,
            whole: None,
            said: Vec::new(),
            permits: Permits::new(),
            kept: Keeps::new(),
            race: Race::default(),
            flow: None,
            run,
            at_ms,
        }
    }

    async fn run(&mut self) {
        let mut next = self.step(Event::Begin);
        let end = loop {
            next = match next {
                Next::Call(call) => {
                    self.start(call);
                    self.go_on().await
                }
                Next::CallOff { attempt } => {
                    self.race.call_off(attempt);
                    self.go_on().await
                }
                Next::GoOn if self.is_calling() => self.go_on().await,
                Next::Wait { until } => self.wait(until).await,
                end @ (Next::GoOn | Next::Finish | Next::Refuse(_) | Next::Break(_) | Next::Abandon) => break end,
            };
        };
        // Whatever still runs is closed before anybody is told anything.
        self.race.clear();
        match end {
            Next::Finish => self.finish(),
            Next::Refuse(refused) => self.refuse(refused),
            Next::Break(refused) => self.break_off(refused).await,
            // Nobody is there to be told, or nothing ran that could go on.
            Next::Abandon | Next::GoOn | Next::Call(_) | Next::CallOff { .. } | Next::Wait { .. } => {}
        }
        // Whatever the line still holds, the client is not kept waiting for counts and records.
        self.line = Line::Done;
        self.close();
    }

    pub(super) fn graph(&self) -> &'a Graph {
        self.order.serving.graph()
    }

    /// Tells the run what happened, now.
    pub(super) fn step(&mut self, event: Event<'_>) -> Next {
        let (serving, facts) = (&self.order.serving, &self.order.facts);
        let graph = serving.graph();
        let now = self.engine.clock.now();
        let mut asking = Asking {
            graph,
            live: &serving.live,
            homes: &self.engine.homes,
            seen: &self.engine.seen,
            facts,
            route: self.order.route,
            money: &self.engine.route_money,
            kept: &mut self.kept,
            permits: &mut self.permits,
            clock: &self.engine.clock,
        };
        let known = self.run.trail().len();
        let next = self.run.step(graph, facts, now, event, &mut asking);
        for step in self.run.trail().iter().skip(known) {
            self.tell(step);
        }
        next
    }

    /// Says which line of the policy decided. The first call of a request is the ordinary case and only for the curious.
    fn tell(&self, step: &Step) {
        let Some(spot) = self.graph().spot(step.node) else { return };
        let target = step.target.map_or("", |t| self.graph().target_name(t));
        let line = format_args!("{}:{}", spot.file, spot.line);
        match step.action {
            StepAction::Call => tracing::debug!(target_name = target, %line, "calls"),
            action @ (StepAction::Row(_) | StepAction::Hedge) => {
                tracing::info!(id = self.order.facts.id, action = action.word(), target_name = target, %line, "decided")
            }
        }
    }

    /// What is known of the request now.
    pub(super) fn head(&self, target: Option<&str>) -> Head {
        let graph = self.graph();
        Head {
            id: self.order.facts.id.clone(),
            route: graph.route(self.order.route).map(|r| r.name.clone()).unwrap_or_default(),
            policy: graph.hash().to_owned(),
            attempts: self.run.attempts(),
            target: target.map(str::to_owned),
        }
    }

    async fn wait(&mut self, until: Millis) -> Next {
        let event = tokio::select! {
            biased;
            () = self.line.gone() => Event::ClientGone,
            () = self.engine.clock.sleep_until(until) => Event::Woke,
        };
        self.step(event)
    }

    /// Sends a piece of a stream, however slow the client is.
    pub(super) async fn send(&mut self, piece: Piece) -> Result<(), Gone> {
        let late = self.engine.clock.now().plus(CLIENT_STALL);
        self.engine.clock.before(late, self.line.send(piece)).await.unwrap_or(Err(Gone))
    }

    fn finish(&mut self) {
        // A stream has ended already: its end is part of the attempt that was served.
        if let Some(body) = self.whole.take() {
            let target = self.run.target().map(|t| self.graph().target_name(t));
            self.line.say(Reply::Whole(self.head(target), body));
        }
    }

    fn refuse(&mut self, refused: Refused) {
        let said = match refused.why {
            Why::Refusal(Refusal::Contract) => Some(self.unmet()),
            Why::Refusal(_) | Why::Class(_) => self.said_by(refused.attempt),
        };
        self.line.say(Reply::Refused(self.head(None), refused, said));
    }

    /// Which clause each target of the chain does not meet.
    fn unmet(&self) -> String {
        let passed = self.run.trail().iter().flat_map(|step| &step.passed);
        let clauses: Vec<String> =
            passed.map(|p| format!("{} ({})", self.graph().target_name(p.target), p.why)).collect();
        format!("{}: {}", Refusal::Contract.meaning(), clauses.join(", "))
    }

    async fn break_off(&mut self, refused: Refused) {
        let said = self.said_by(refused.attempt);
        let _ = self.send(Piece::Broken(refused, said)).await;
    }

    fn said_by(&self, attempt: Option<u32>) -> Option<String> {
        let at = usize::try_from(attempt?.checked_sub(1)?).ok()?;
        self.said.get(at)?.as_ref()?.message.clone()
    }

    fn close(&self) {
        let (graph, run) = (self.graph(), &self.run);
        let route = graph.route(self.order.route).map_or("", |r| r.name.as_str());
        // A run that was never told its end cannot be: each way out of the loop has one.
        let outcome = run.outcome().unwrap_or(Outcome::Cancelled);
        self.engine.meters.requests.count([route, outcome.word()]);
        if let Some(Why::Refusal(refusal)) = run.refused().map(|refused| refused.why) {
            self.engine.meters.refusals.count([route, refusal.word()]);
        }
        if let Some(more) = run.cost_delta(graph).and_then(|delta| u64::try_from(delta).ok()) {
            self.engine.meters.failover_cost.add(more, [route]);
        }
        for (at, step) in run.trail().iter().enumerate() {
            let (Some(target), Some(result)) = (step.target, step.result) else { continue };
            let class = match (result.class, outcome) {
                (Some(class), _) => class.word(),
                (None, _) if result.lost => "lost",
                (None, Outcome::Served) => "ok",
                (None, Outcome::Cancelled) => "cancelled",
                (None, Outcome::Refused | Outcome::Cut) => "deadline",
            };
            let action = step.action.word();
            self.engine.meters.attempts.count([route, graph.target_name(target), class, action]);
            if result.ours {
                self.engine.meters.ours.count([route, graph.target_name(target)]);
            }
            if result.regional {
                let region = graph.target(target).and_then(|t| t.region.as_deref()).unwrap_or_default();
                let provider = graph.target(target).and_then(|t| graph.provider(t.provider));
                self.engine.meters.regional.count([provider.map_or("", |p| &p.name), region]);
            }
            if step.action == StepAction::Hedge {
                let result = match result.class {
                    _ if run.answering() == Some(at) => "won",
                    Some(_) => "failed",
                    None if run.answering().is_some() => "lost",
                    None => "cancelled",
                };
                self.engine.meters.hedges.count([graph.target_name(target), result]);
            }
        }
        let elapsed = self.engine.clock.now().less(self.order.facts.received_at);
        let target = run.target().map_or("", |t| graph.target_name(t));
        let (id, outcome, attempts, elapsed_ms) = (&self.order.facts.id, outcome.word(), run.attempts(), elapsed.0);
        // What went as it should is only for the curious.
        if run.outcome() == Some(Outcome::Served) && attempts == 1 {
            tracing::debug!(id, outcome, attempts, target, elapsed_ms, "done");
        } else {
            tracing::info!(id, outcome, attempts, target, elapsed_ms, "done");
        }
        self.engine.record(|| {
            let answered = self.answered.as_ref();
            let said = (1u32..).zip(&self.said);
            let ending = record::Ending {
                received_wall_ms: self.at_ms,
                elapsed,
                usage: answered.and_then(|a| a.usage),
                pieces: self.pieces,
                model: answered.and_then(|a| a.model.clone()),
                rules: said.filter_map(|(n, said)| Some((n, said.as_ref()?.rule))).collect(),
            };
            record::record(run, graph, &self.order.facts, &ending)
        });
    }
}
