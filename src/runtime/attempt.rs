//! One upstream call, from its request to its first output or the whole of its answer.
//!
//! In: a call with its limits. Out: what came of it, stage by stage: headers, then output, an answer or a failure. Holds
//! back everything before the first output, so that until then another call can still answer instead. Waits for the
//! upstream and its timers at once; says nothing to the client and nothing to the run.

use super::engine::Engine;
use super::execute::Order;
use super::upstream::{Body, Endpoint, Incoming, Left, Outgoing, build};
use crate::classify::{self, Called, Classified, Fault, Headers};
use crate::decide::{Call, Phase, Timer};
use crate::policy::{Class, Dialect, Millis, Stage, Target};
use crate::wire::chat::answer::Asked;
use crate::wire::chat::{self, Answered, PieceKind, StreamEnded};
use crate::wire::messages::{Answering, Unwritten};
use crate::wire::translate::{self, StreamReader};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use std::future::Future;

/// Largest whole answer, in bytes.
const MAX_ANSWER: usize = 32 * 1024 * 1024;
/// Largest error body that is looked at, in bytes.
const MAX_ERROR: usize = 64 * 1024;
/// Longest time for the body of an error, whose status alone says much.
const ERROR_BODY: Millis = Millis(2_000);
/// Most that is held back before the first output, or after the last, in bytes.
const MAX_HELD: usize = 64 * 1024;

/// What came of a call, up to its first output.
pub(super) enum Came {
    /// A success status and its headers.
    Headers(Incoming),
    /// The first output of a stream, or the end of one that had none.
    Output(Box<Flow>),
    /// The whole answer.
    Whole(Bytes, Box<Answered>),
    /// No answer.
    Ended(Ended),
}

/// How a call ended without an answer.
#[derive(Debug)]
pub(super) enum Ended {
    Failed(Box<Classified>),
    TimedOut(Timer),
}

impl From<Classified> for Ended {
    fn from(failure: Classified) -> Ended {
        Ended::Failed(Box::new(failure))
    }
}

/// A call, and what is needed to make it.
#[derive(Clone, Copy)]
pub(super) struct Attempt<'a> {
    pub(super) engine: &'a Engine,
    pub(super) order: &'a Order,
    pub(super) call: Call,
}

impl<'a> Attempt<'a> {
    fn target(self) -> Option<&'a Target> {
        self.order.serving.graph().target(self.call.target)
    }

    /// Sends the request, and waits for the headers of a success.
    pub(super) async fn headers(self) -> Came {
        match self.sent().await {
            Ok(incoming) => Came::Headers(incoming),
            Err(ended) => Came::Ended(self.discreet(ended)),
        }
    }

    /// Reads an answer up to its first output, or to its end where it does not stream.
    pub(super) async fn body(self, incoming: Incoming) -> Came {
        // Some servers answer a streaming request with a whole error under a success.
        let is_json = incoming.headers.get("content-type").is_some_and(|kind| kind.contains("application/json"));
        let came = if self.order.chat.stream() && !is_json {
            self.first_output(incoming.body).await.map(|flow| Came::Output(Box::new(flow)))
        } else {
            self.whole(incoming).await.map(|(body, answered)| Came::Whole(body, Box::new(answered)))
        };
        came.unwrap_or_else(|ended| Came::Ended(self.discreet(self.marked(ended))))
    }

    /// Whom it calls, as a failure is read.
    fn called(self, endpoint: &Endpoint, target: &'a Target) -> Called<'a> {
        let translated = endpoint.api.dialect() != self.order.facts.dialect;
        Called { vendor: endpoint.vendor, corrections: &target.corrections, translated }
    }

    /// A failure that was found under a success, marked where it is our own doing.
    fn marked(self, ended: Ended) -> Ended {
        let reached = self.target().and_then(|t| Some((t, self.order.serving.fleet.get(t.provider)?)));
        match (ended, reached) {
            (Ended::Failed(failure), Some((target, (endpoint, _)))) => {
                self.called(endpoint, target).mark(*failure).into()
            }
            (ended, _) => ended,
        }
    }

    /// What an upstream says goes to clients, and upstreams quote what they were sent.
    pub(super) fn discreet(self, ended: Ended) -> Ended {
        let Ended::Failed(mut failure) = ended else { return ended };
        let provider = self.target().map(|t| t.provider);
        if let Some((endpoint, _)) = provider.and_then(|p| self.order.serving.fleet.get(p)) {
            failure.message = failure.message.map(|text| endpoint.scrub(text));
            failure.code = failure.code.map(|text| endpoint.scrub(text));
        }
        Ended::Failed(failure)
    }

    async fn sent(self) -> Result<Incoming, Ended> {
        let order = self.order;
        let reached = self.target().and_then(|t| Some((t, order.serving.fleet.get(t.provider)?)));
        let Some((target, (endpoint, upstream))) = reached else {
            // A graph and its fleet are made together; a target without a provider is no target.
            return Err(classify::fault(Fault::Other { sent: false }).into());
        };
        let outgoing = self.outgoing(endpoint, target).map_err(|e| classify::called::unwritten(&e.to_string()))?;
        let left = outgoing.left.clone();
        let incoming = self.until_headers(&left, upstream.call(outgoing)).await?.map_err(classify::fault)?;
        if (200..300).contains(&incoming.status) {
            return Ok(incoming);
        }
        Err(self.failure(endpoint, &self.called(endpoint, target), incoming).await.into())
    }

    fn outgoing(self, endpoint: &Endpoint, target: &Target) -> Result<Outgoing, Unwritten> {
        let order = self.order;
        let most = order.serving.graph().model(target.model).and_then(|model| model.capabilities.max_output);
        build::outgoing(endpoint, (target, most), self.call.key, &order.chat, &order.client_headers, &order.facts.id)
    }

    /// Waits for an answer's headers. Until the request has left it waits for a connection, which is another timer and, at
    /// its end, another stage.
    async fn until_headers<T>(self, left: &Left, mut call: impl Future<Output = T> + Unpin) -> Result<T, Ended> {
        loop {
            let phase = if left.is_set() { Phase::Waiting } else { Phase::Connecting };
            match self.within(phase, &mut call).await {
                // It left while its connection was waited for: from here on it is the headers that are due.
                Err(Ended::TimedOut(_)) if phase == Phase::Connecting && left.is_set() => {}
                came => return came,
            }
        }
    }

    /// Waits for something of this call. Its timers come first: an upstream that never pauses is not exempt from them.
    async fn within<T>(self, phase: Phase, what: impl Future<Output = T>) -> Result<T, Ended> {
        let (until, timer) = self.call.limits.next(phase);
        self.engine.clock.before(until, what).await.ok_or(Ended::TimedOut(timer))
    }

    /// What an answer without success is. A body that does not come is done without.
    async fn failure(self, endpoint: &Endpoint, called: &Called<'_>, mut incoming: Incoming) -> Classified {
        let mut body = BytesMut::new();
        let now = self.engine.clock.now();
        let (due, _) = self.call.limits.next(Phase::Opened { since: now });
        let late = now.plus(ERROR_BODY).min(due);
        while body.len() < MAX_ERROR {
            match self.engine.clock.before(late, incoming.body.next()).await {
                Some(Some(Ok(piece))) => body.extend_from_slice(&piece),
                Some(Some(Err(_)) | None) | None => break,
            }
        }
        body.truncate(MAX_ERROR);
        // Before anything shortens it: a key that is cut is no longer known as one.
        let scrubbed = endpoint.scrub_bytes(&body);
        let body = scrubbed.as_deref().unwrap_or(&body);
        let wall = self.engine.clock.wall_ms();
        called.answer(incoming.status, &incoming.headers, body, wall)
    }

    /// How its answer is to be read.
    fn speaks(self) -> (Dialect, Asked) {
        let asked = self.order.chat.asked();
        let provider = self.target().map(|t| t.provider);
        match provider.and_then(|p| self.order.serving.fleet.get(p)) {
            Some((endpoint, _)) => (endpoint.api.dialect(), Asked { vendor: endpoint.vendor, ..asked }),
            None => (self.order.facts.dialect, asked),
        }
    }

    /// What an answer of its target says where its dialect has no word for it.
    fn answering(self) -> Answering {
        Answering {
            created: self.engine.clock.wall_ms() / 1_000,
            model: self.upstream_name().to_owned(),
            include_usage: self.order.chat.include_usage(),
        }
    }

    /// The name by which the provider knows the model.
    fn upstream_name(self) -> &'a str {
        self.target().map_or("", |t| &t.upstream)
    }

    async fn whole(self, mut incoming: Incoming) -> Result<(Bytes, Answered), Ended> {
        let mut body = Gathered::default();
        loop {
            let phase = Phase::Opened { since: self.engine.clock.now() };
            match self.within(phase, incoming.body.next()).await? {
                None => break,
                Some(Err(fault)) => return Err(classify::fault(fault).into()),
                Some(Ok(piece)) if body.len() + piece.len() > MAX_ANSWER => {
                    drop(piece);
                    return Err(classify::fault(Fault::BodyTooLarge).into());
                }
                Some(Ok(piece)) => body.push(piece),
            }
        }
        let (dialect, asked) = self.speaks();
        let wall = self.engine.clock.wall_ms();
        let to = || self.answering();
        let (body, answered) = translate::judge(dialect, &incoming.headers, body.whole(), &asked, to, wall)?;
        let says_who = answered.model.as_deref().is_some_and(|model| !model.is_empty());
        Ok((if says_who { body } else { chat::with_model(body, self.upstream_name()) }, answered))
    }

    async fn first_output(self, body: Body) -> Result<Flow, Ended> {
        let (dialect, asked) = self.speaks();
        let mut flow = Flow {
            body,
            reader: StreamReader::new(dialect, asked, || self.answering()),
            held: Vec::new(),
            held_bytes: 0,
            phase: Phase::Opened { since: self.engine.clock.now() },
            answered: None,
        };
        while flow.answered.is_none() {
            if self.piece(&mut flow).await? == Some(Took::Output) {
                break;
            }
        }
        Ok(flow)
    }

    /// Takes the next piece of a stream, or takes note of its end: then there is an answer, and no piece.
    pub(super) async fn piece(self, flow: &mut Flow) -> Result<Option<Took>, Ended> {
        let took = flow.take(Bytes::new(), self.upstream_name())?;
        if took.is_some() || flow.answered.is_some() {
            return Ok(took);
        }
        let how = match self.within(flow.phase, flow.body.next()).await {
            // Nothing more was needed: a server that leaves out the end marker, or is slow with it, has answered.
            Err(Ended::TimedOut(_)) if flow.reader.chat().is_complete() => StreamEnded::Reset,
            Err(ended) => return Err(ended),
            Ok(None) => StreamEnded::Clean,
            Ok(Some(Err(_))) => StreamEnded::Reset,
            Ok(Some(Ok(bytes))) => return Ok(flow.take(bytes, self.upstream_name())?),
        };
        flow.answered = Some(flow.reader.end(how)?);
        Ok(None)
    }
}

/// A body as it comes in. One that comes in one piece, as most do, is not copied.
#[derive(Default)]
struct Gathered {
    first: Bytes,
    /// All of it, once there is more than the first.
    all: BytesMut,
}

impl Gathered {
    fn len(&self) -> usize {
        self.first.len().max(self.all.len())
    }

    fn push(&mut self, piece: Bytes) {
        if self.len() == 0 {
            self.first = piece;
            return;
        }
        if self.all.is_empty() {
            self.all.extend_from_slice(&std::mem::take(&mut self.first));
        }
        self.all.extend_from_slice(&piece);
    }

    fn whole(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.freeze() }
    }
}

/// What a piece of a stream was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Took {
    Output,
    Quiet,
}

/// A stream that is coming in.
pub(super) struct Flow {
    body: Body,
    reader: StreamReader,
    /// Read and not sent on: all before the first output, and all from where the answer is complete.
    pub(super) held: Vec<Bytes>,
    held_bytes: usize,
    pub(super) phase: Phase,
    /// What it said of itself, once it has come to its end.
    pub(super) answered: Option<Answered>,
}

impl Flow {
    /// Takes bytes as they came, and the next piece that is whole. The end marker is an end as good as any.
    fn take(&mut self, bytes: Bytes, upstream: &str) -> Result<Option<Took>, Classified> {
        self.reader.push(bytes);
        let Some(piece) = self.reader.next_piece() else { return Ok(None) };
        let took = match piece.kind {
            PieceKind::Done => {
                self.answered = Some(self.reader.end(StreamEnded::Clean)?);
                return Ok(None);
            }
            PieceKind::Error(failure) | PieceKind::Malformed(failure) => return Err(failure),
            PieceKind::Output => Took::Output,
            PieceKind::Quiet | PieceKind::Finish => Took::Quiet,
        };
        self.hold(named(piece.raw, self.reader.chat(), upstream), took)?;
        Ok(Some(took))
    }

    /// Whether what is held may be sent on: all but what comes after the end of all choices, which waits for the end.
    pub(super) fn goes_on(&self) -> bool {
        self.answered.is_some() || !self.reader.chat().is_complete()
    }

    /// What was held back, to be sent on.
    pub(super) fn release(&mut self) -> Vec<Bytes> {
        self.held_bytes = 0;
        std::mem::take(&mut self.held)
    }

    fn hold(&mut self, raw: Bytes, took: Took) -> Result<(), Classified> {
        // Output is sent on at once, but for what comes after the end of all choices.
        if took == Took::Quiet || self.reader.chat().is_complete() {
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
fn named(raw: Bytes, reader: &chat::StreamReader, upstream: &str) -> Bytes {
    if reader.model().is_some() {
        return raw;
    }
    let Some(data) = raw.strip_prefix(b"data:").map(<[u8]>::trim_ascii).filter(|d| !d.contains(&b'\n')) else {
        return raw;
    };
    let filled = chat::with_model(raw.slice_ref(data), upstream);
    [b"data: ".as_slice(), &filled, b"\n\n"].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_the_same_in_however_many_pieces_it_comes() {
        let gathered = |pieces: &[&'static str]| {
            let mut body = Gathered::default();
            for piece in pieces {
                let before = body.len();
                body.push(Bytes::from_static(piece.as_bytes()));
                assert_eq!(body.len(), before + piece.len());
            }
            body.whole()
        };
        for pieces in [&[][..], &["", ""], &["ab"], &["", "ab"], &["ab", ""], &["ab", "c"], &["ab", "c", "", "de"]] {
            assert_eq!(gathered(pieces), pieces.concat(), "{pieces:?}");
        }
        let one = "not copied";
        assert_eq!(gathered(&[one]).as_ptr(), one.as_ptr());
    }
}
