//! One upstream call, from its request to its end.
//!
//! In: a call with its limits. Out: what the run wants next. Holds back everything before the first output, sends pieces
//! on as they come after it, and holds back the end of a stream until it is sure that it is one. Waits for the upstream,
//! its timers and the client at once; time that the client takes is never counted against the target.

use super::execute::{Execution, Said};
use super::reply::Piece;
use super::upstream::{Body, Endpoint, Incoming, Left, Outgoing, build};
use crate::classify::{self, Called, Classified, Fault, Headers};
use crate::decide::{Call, Event, Limits, Next, Phase, Progress, Timer};
use crate::policy::{Class, Dialect, Millis, Stage, Target};
use crate::wire::chat::answer::Asked;
use crate::wire::chat::{self, PieceKind, StreamEnded};
use crate::wire::messages::{Answering, Unwritten};
use crate::wire::translate::{self, StreamReader};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use std::future::Future;
use tracing::Instrument;

/// Largest whole answer, in bytes.
const MAX_ANSWER: usize = 32 * 1024 * 1024;
/// Largest error body that is looked at, in bytes.
const MAX_ERROR: usize = 64 * 1024;
/// Longest time for the body of an error, whose status alone says much.
const ERROR_BODY: Millis = Millis(2_000);
/// Most that is held back before the first output, or after the last, in bytes.
const MAX_HELD: usize = 64 * 1024;

/// How an attempt ended without an answer.
enum Ended {
    Failed(Box<Classified>),
    TimedOut(Timer),
    ClientGone,
    /// The run wants something else, in the middle of the attempt.
    Told(Next),
}

impl From<Classified> for Ended {
    fn from(failure: Classified) -> Ended {
        Ended::Failed(Box::new(failure))
    }
}

impl From<super::reply::Gone> for Ended {
    fn from(_: super::reply::Gone) -> Ended {
        Ended::ClientGone
    }
}

/// Ends the attempt where the run wants anything but that it goes on.
fn go_on(next: Next) -> Result<(), Ended> {
    if matches!(next, Next::GoOn) { Ok(()) } else { Err(Ended::Told(next)) }
}

impl Execution<'_> {
    /// Makes a call and tells the run how it ended.
    pub(super) async fn call(&mut self, call: Call) -> Next {
        let target = self.graph().target_name(call.target);
        let span = tracing::debug_span!("attempt", attempt = call.attempt, target);
        async {
            let ended = self.attempt(&call).await.map_err(|ended| self.discreet(&call, ended));
            let said = match &ended {
                Err(Ended::Failed(failure)) => Some(Said { message: failure.message.clone(), rule: failure.rule }),
                Ok(()) | Err(Ended::TimedOut(_) | Ended::ClientGone | Ended::Told(_)) => None,
            };
            self.said.resize(usize::try_from(call.attempt).unwrap_or(usize::MAX).saturating_sub(1), None);
            self.said.push(said);
            match ended {
                Ok(()) => {
                    if let Some(usage) = self.answered.as_ref().and_then(|answered| answered.usage) {
                        self.step(Event::Attempt(call.attempt, Progress::Counted(usage)));
                    }
                    self.step(Event::Attempt(call.attempt, Progress::Served))
                }
                Err(Ended::Failed(failure)) => {
                    tracing::info!(
                        id = self.order.facts.id,
                        target_name = target,
                        class = failure.class.word(),
                        status = failure.status,
                        rule = failure.rule,
                        "failed"
                    );
                    self.step(Event::Attempt(call.attempt, Progress::Failed(crate::wire::failure(&failure))))
                }
                Err(Ended::TimedOut(timer)) => {
                    tracing::info!(id = self.order.facts.id, target_name = target, ?timer, "timed out");
                    self.step(Event::Attempt(call.attempt, Progress::TimedOut(timer)))
                }
                Err(Ended::ClientGone) => self.step(Event::ClientGone),
                Err(Ended::Told(next)) => next,
            }
        }
        .instrument(span)
        .await
    }

    /// What an upstream says goes to clients, and upstreams quote what they were sent.
    fn discreet(&self, call: &Call, ended: Ended) -> Ended {
        let Ended::Failed(mut failure) = ended else { return ended };
        let provider = self.graph().target(call.target).map(|t| t.provider);
        if let Some((endpoint, _)) = provider.and_then(|p| self.order.serving.fleet.get(p)) {
            failure.message = failure.message.map(|text| endpoint.scrub(text));
            failure.code = failure.code.map(|text| endpoint.scrub(text));
        }
        Ended::Failed(failure)
    }

    async fn attempt(&mut self, call: &Call) -> Result<(), Ended> {
        let order = self.order;
        let target = order.serving.graph().target(call.target);
        let reached = target.and_then(|t| Some((t, order.serving.fleet.get(t.provider)?)));
        let Some((target, (endpoint, upstream))) = reached else {
            // A graph and its fleet are made together; a target without a provider is no target.
            return Err(classify::fault(Fault::Other { sent: false }).into());
        };
        let outgoing =
            self.outgoing(endpoint, target, call.key).map_err(|e| classify::called::unwritten(&e.to_string()))?;
        let left = outgoing.left.clone();
        let speaks = Speaks {
            dialect: endpoint.api.dialect(),
            asked: Asked { vendor: endpoint.vendor, ..order.chat.asked() },
            to: target,
        };
        let incoming = self.headers(&call.limits, &left, upstream.call(outgoing)).await?;
        let incoming = incoming.map_err(classify::fault)?;
        if !(200..300).contains(&incoming.status) {
            let translated = speaks.dialect != order.facts.dialect;
            let called = Called { vendor: endpoint.vendor, corrections: &target.corrections, translated };
            return Err(self.failure(&call.limits, endpoint, &called, incoming).await?.into());
        }
        go_on(self.step(Event::Attempt(call.attempt, Progress::Headers)))?;
        self.sign_of_life();
        // Some servers answer a streaming request with a whole error under a success.
        let is_json = incoming.headers.get("content-type").is_some_and(|kind| kind.contains("application/json"));
        if order.chat.stream() && !is_json {
            self.stream(call, &speaks, incoming.body).await
        } else {
            self.whole(call, &speaks, incoming).await
        }
    }

    fn outgoing(&self, endpoint: &Endpoint, target: &Target, key: u16) -> Result<Outgoing, Unwritten> {
        let order = self.order;
        let most = self.graph().model(target.model).and_then(|model| model.capabilities.max_output);
        build::outgoing(endpoint, (target, most), key, &order.chat, &order.client_headers, &order.facts.id)
    }

    /// What an answer of a target says where its dialect has no word for it.
    fn answering(&self, target: &Target) -> Answering {
        Answering {
            created: self.engine.clock.wall_ms() / 1_000,
            model: target.upstream.clone(),
            include_usage: self.order.chat.include_usage(),
        }
    }

    /// Waits for an answer's headers. Until the request has left it waits for a connection, which is another timer and, at
    /// its end, another stage.
    async fn headers<T>(
        &mut self,
        limits: &Limits,
        left: &Left,
        mut call: impl Future<Output = T> + Unpin,
    ) -> Result<T, Ended> {
        loop {
            let phase = if left.is_set() { Phase::Waiting } else { Phase::Connecting };
            match self.within(limits, phase, &mut call).await {
                // It left while its connection was waited for: from here on it is the headers that are due.
                Err(Ended::TimedOut(_)) if phase == Phase::Connecting && left.is_set() => {}
                came => return came,
            }
        }
    }

    /// Waits for something of this attempt. Its timers come first: an upstream that never pauses is not exempt from them.
    async fn within<T>(&mut self, limits: &Limits, phase: Phase, what: impl Future<Output = T>) -> Result<T, Ended> {
        let (until, timer) = limits.next(phase);
        tokio::select! {
            biased;
            () = self.line.gone() => Err(Ended::ClientGone),
            () = self.engine.clock.sleep_until(until) => Err(Ended::TimedOut(timer)),
            came = what => Ok(came),
        }
    }

    /// What an answer without success is. A body that does not come is done without.
    async fn failure(
        &mut self,
        limits: &Limits,
        endpoint: &Endpoint,
        called: &Called<'_>,
        mut incoming: Incoming,
    ) -> Result<Classified, Ended> {
        let mut body = BytesMut::new();
        let now = self.engine.clock.now();
        let (due, _) = limits.next(Phase::Opened { since: now });
        let late = now.plus(ERROR_BODY).min(due);
        while body.len() < MAX_ERROR {
            tokio::select! {
                biased;
                () = self.line.gone() => return Err(Ended::ClientGone),
                () = self.engine.clock.sleep_until(late) => break,
                piece = incoming.body.next() => match piece {
                    Some(Ok(piece)) => body.extend_from_slice(&piece),
                    Some(Err(_)) | None => break,
                },
            }
        }
        body.truncate(MAX_ERROR);
        // Before anything shortens it: a key that is cut is no longer known as one.
        let scrubbed = endpoint.scrub_bytes(&body);
        let body = scrubbed.as_deref().unwrap_or(&body);
        let wall = self.engine.clock.wall_ms();
        Ok(called.answer(incoming.status, &incoming.headers, body, wall))
    }

    async fn whole(&mut self, call: &Call, speaks: &Speaks<'_>, mut incoming: Incoming) -> Result<(), Ended> {
        let mut body = BytesMut::new();
        loop {
            let phase = Phase::Opened { since: self.engine.clock.now() };
            match self.within(&call.limits, phase, incoming.body.next()).await? {
                None => break,
                Some(Err(fault)) => return Err(classify::fault(fault).into()),
                Some(Ok(piece)) if body.len() + piece.len() > MAX_ANSWER => {
                    drop(piece);
                    return Err(classify::fault(Fault::BodyTooLarge).into());
                }
                Some(Ok(piece)) => body.extend_from_slice(&piece),
            }
        }
        let body = body.freeze();
        let Speaks { dialect, asked, to } = speaks;
        let (answering, wall) = (self.answering(to), self.engine.clock.wall_ms());
        let (body, answered) = translate::judge(*dialect, &incoming.headers, body, asked, &answering, wall)?;
        let says_who = answered.model.as_deref().is_some_and(|model| !model.is_empty());
        self.whole = Some(if says_who { body } else { chat::with_model(body, &to.upstream) });
        self.answered = Some(answered);
        Ok(())
    }

    async fn stream(&mut self, call: &Call, speaks: &Speaks<'_>, mut body: Body) -> Result<(), Ended> {
        let target = speaks.to;
        let mut flow = Flow {
            attempt: call.attempt,
            reader: StreamReader::new(speaks.dialect, speaks.asked, || self.answering(target)),
            held: Vec::new(),
            held_bytes: 0,
            phase: Phase::Opened { since: self.engine.clock.now() },
        };
        let how = loop {
            let came = match self.within(&call.limits, flow.phase, body.next()).await {
                // Nothing more was needed: a server that leaves out the end marker, or is slow with it, has answered.
                Err(Ended::TimedOut(_)) if flow.reader.chat().is_complete() => break StreamEnded::Reset,
                came => came?,
            };
            match came {
                None => break StreamEnded::Clean,
                Some(Err(_)) => break StreamEnded::Reset,
                Some(Ok(bytes)) => {
                    if self.pieces(&mut flow, target, bytes).await? {
                        break StreamEnded::Clean;
                    }
                }
            }
        };
        let answered = flow.reader.end(how)?;
        self.answered = Some(answered);
        if matches!(flow.phase, Phase::Opened { .. }) {
            self.commit(&mut flow, target)?;
        }
        self.release(&mut flow).await?;
        self.send(Piece::Events(Bytes::from_static(b"data: [DONE]\n\n"))).await?;
        self.send(Piece::End).await?;
        Ok(())
    }

    /// Takes bytes of a stream; says whether its end marker came.
    async fn pieces(&mut self, flow: &mut Flow, target: &Target, bytes: Bytes) -> Result<bool, Ended> {
        flow.reader.push(bytes);
        while let Some(piece) = flow.reader.next_piece() {
            let opened = matches!(flow.phase, Phase::Opened { .. });
            let output = match piece.kind {
                PieceKind::Done => return Ok(true),
                PieceKind::Error(failure) | PieceKind::Malformed(failure) => return Err(failure.into()),
                PieceKind::Output => true,
                PieceKind::Quiet | PieceKind::Finish => false,
            };
            flow.hold(named(piece.raw, flow.reader.chat(), target), output)?;
            if output && opened {
                self.commit(flow, target)?;
            }
            let goes_on = (output || !opened) && !flow.reader.chat().is_complete();
            if goes_on {
                self.release(flow).await?;
            }
            if output {
                self.pieces += 1;
                flow.phase = Phase::Flowing { since: self.engine.clock.now() };
                self.sign_of_life();
            }
        }
        Ok(false)
    }

    /// From here on no other target can answer.
    fn commit(&mut self, flow: &mut Flow, target: &Target) -> Result<(), Ended> {
        go_on(self.step(Event::Attempt(flow.attempt, Progress::Output)))?;
        let head = self.head(Some(&target.name));
        self.line.open(head);
        flow.phase = Phase::Flowing { since: self.engine.clock.now() };
        Ok(())
    }

    /// A trial that shows one is not a lost call, however long its answer is.
    fn sign_of_life(&self) {
        if let Some(held) = self.permit.as_ref().filter(|held| held.is_trial()) {
            held.renew();
        }
    }

    async fn release(&mut self, flow: &mut Flow) -> Result<(), Ended> {
        let began = self.engine.clock.now();
        let held = std::mem::take(&mut flow.held);
        flow.held_bytes = 0;
        for events in held {
            self.send(Piece::Events(events)).await?;
        }
        // The client's slowness is not the target's.
        if let Phase::Flowing { since } = &mut flow.phase {
            *since = since.plus(self.engine.clock.now().less(began));
        }
        Ok(())
    }
}

/// How a call is to be read.
struct Speaks<'a> {
    dialect: Dialect,
    asked: Asked,
    to: &'a Target,
}

/// A stream that is coming in.
struct Flow {
    attempt: u32,
    reader: StreamReader,
    /// Read and not sent on: all before the first output, and all from where the answer is complete.
    held: Vec<Bytes>,
    held_bytes: usize,
    phase: Phase,
}

impl Flow {
    fn hold(&mut self, raw: Bytes, output: bool) -> Result<(), Classified> {
        // Output is sent on at once, but for what comes after the end of all choices.
        if !output || self.reader.chat().is_complete() {
            self.held_bytes += raw.len();
        }
        self.held.push(raw);
        if self.held_bytes > MAX_HELD {
            let failure = Classified::of(Class::MalformedResponse, Stage::Headers, "stream-held-too-long")
                .saying("the stream says too much that is no output");
            return Err(if self.reader.chat().has_output() { failure.after_output() } else { failure });
        }
        Ok(())
    }
}

/// The piece, saying who serves where the upstream does not say it.
fn named(raw: Bytes, reader: &chat::StreamReader, target: &Target) -> Bytes {
    if reader.model().is_some() {
        return raw;
    }
    let Some(data) = raw.strip_prefix(b"data:").map(<[u8]>::trim_ascii).filter(|d| !d.contains(&b'\n')) else {
        return raw;
    };
    let filled = chat::with_model(raw.slice_ref(data), &target.upstream);
    [b"data: ".as_slice(), &filled, b"\n\n"].concat().into()
}
