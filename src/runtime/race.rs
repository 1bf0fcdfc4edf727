//! The upstream calls of one request that run now.
//!
//! In: calls to start and to call off, and the client's line. Out: what the run wants next. Usually there is one call;
//! where the run hedges there are two, of which the first to have output goes on alone. Nothing is sent to the client
//! before a call has won. A call that is taken out of the race is closed at once. Decides nothing.

use super::attempt::{Attempt, Came, Ended, Flow, Took};
use super::execute::{Execution, Said};
use super::reply::{Gone, Piece};
use crate::decide::{Call, Event, Next, Phase, Progress};
use crate::policy::{Millis, TargetId};
use bytes::Bytes;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use tracing::{Instrument, Span};

/// A call up to its first output.
struct Racer<'a> {
    call: Call,
    span: Span,
    coming: Pin<Box<dyn Future<Output = Came> + Send + 'a>>,
}

/// All calls that run and have no output yet.
#[derive(Default)]
pub(super) struct Race<'a>(Vec<Racer<'a>>);

impl<'a> Race<'a> {
    fn enter(&mut self, call: Call, span: Span, coming: impl Future<Output = Came> + Send + 'a) {
        let coming = Box::pin(coming.instrument(span.clone()));
        self.0.push(Racer { call, span, coming });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Closes a call.
    pub(super) fn call_off(&mut self, attempt: u32) {
        self.0.retain(|racer| racer.call.attempt != attempt);
    }

    /// Closes all calls.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// When a call is late next.
    fn late_at(&self) -> Millis {
        self.0.iter().filter_map(|racer| racer.call.hedge_at).min().unwrap_or(Millis::MAX)
    }

    /// The call that is late now. It is so once.
    fn late(&mut self, now: Millis) -> Option<u32> {
        let late = self.0.iter_mut().find(|racer| racer.call.hedge_at.is_some_and(|at| at <= now))?;
        late.call.hedge_at = None;
        Some(late.call.attempt)
    }

    /// Waits for the first call of which something comes. It is no longer in the race then.
    async fn next(&mut self) -> (Call, Span, Came) {
        poll_fn(|cx| {
            for at in 0..self.0.len() {
                if let Some(racer) = self.0.get_mut(at)
                    && let Poll::Ready(came) = racer.coming.as_mut().poll(cx)
                {
                    let racer = self.0.remove(at);
                    return Poll::Ready((racer.call, racer.span, came));
                }
            }
            Poll::Pending
        })
        .await
    }
}

impl<'a> Execution<'a> {
    fn attempt(&self, call: Call) -> Attempt<'a> {
        Attempt { engine: self.engine, order: self.order, call }
    }

    /// Starts a call, beside one that runs if there is one.
    pub(super) fn start(&mut self, call: Call) {
        let target = self.graph().target_name(call.target);
        let span = tracing::debug_span!("attempt", attempt = call.attempt, target);
        self.race.enter(call, span, self.attempt(call).headers());
    }

    /// Whether a call runs.
    pub(super) fn is_calling(&self) -> bool {
        self.flow.is_some() || !self.race.is_empty()
    }

    /// Waits until something happens to a call that runs, or the client goes.
    pub(super) async fn go_on(&mut self) -> Next {
        if let Some((call, flow)) = self.flow.take() {
            // Boxed, since most requests do without its room.
            return Box::pin(self.flowing(call, flow)).await;
        }
        let late = self.engine.clock.sleep_until(self.race.late_at());
        tokio::select! {
            biased;
            () = self.line.gone() => self.step(Event::ClientGone),
            () = late => match self.race.late(self.engine.clock.now()) {
                Some(attempt) => self.step(Event::Attempt(attempt, Progress::HedgeDue)),
                None => Next::GoOn,
            },
            (call, span, came) = self.race.next() => self.came(call, span, came),
        }
    }

    /// Something came of a call.
    fn came(&mut self, call: Call, span: Span, came: Came) -> Next {
        match came {
            Came::Headers(incoming) => {
                let next = self.step(Event::Attempt(call.attempt, Progress::Headers));
                self.sign_of_life(call.target);
                self.race.enter(call, span, self.attempt(call).body(incoming));
                next
            }
            Came::Output(flow) => {
                let next = self.step(Event::Attempt(call.attempt, Progress::Output));
                self.flow = Some((call, flow));
                next
            }
            Came::Whole(body, answered) => {
                (self.whole, self.answered) = (Some(body), Some(*answered));
                self.served(call)
            }
            Came::Ended(ended) => span.in_scope(|| self.ended(call, &ended)),
        }
    }

    /// The answer is complete, and its tokens are those that it counts.
    fn served(&mut self, call: Call) -> Next {
        if let Some(usage) = self.answered.as_ref().and_then(|answered| answered.usage) {
            self.step(Event::Attempt(call.attempt, Progress::Counted(usage)));
        }
        self.step(Event::Attempt(call.attempt, Progress::Served))
    }

    /// A call ended without an answer, or in the middle of one.
    fn ended(&mut self, call: Call, ended: &Ended) -> Next {
        let (id, target_name) = (&self.order.facts.id, self.graph().target_name(call.target));
        match ended {
            Ended::Failed(failure) => {
                let (class, status, rule) = (failure.class.word(), failure.status, failure.rule);
                tracing::info!(id, target_name, class, status, rule, "failed");
                self.note(call.attempt, Said { message: failure.message.clone(), rule });
                self.step(Event::Attempt(call.attempt, Progress::Failed(crate::wire::failure(failure))))
            }
            Ended::TimedOut(timer) => {
                tracing::info!(id, target_name, ?timer, "timed out");
                self.step(Event::Attempt(call.attempt, Progress::TimedOut(*timer)))
            }
        }
    }

    fn note(&mut self, attempt: u32, said: Said) {
        let at = usize::try_from(attempt).unwrap_or(usize::MAX).saturating_sub(1);
        if self.said.len() <= at {
            self.said.resize(at.saturating_add(1), None);
        }
        if let Some(place) = self.said.get_mut(at) {
            *place = Some(said);
        }
    }

    /// Sends a stream on to its end. It has had output, or is complete: no other target can answer any more.
    async fn flowing(&mut self, call: Call, flow: Box<Flow>) -> Next {
        let span = tracing::debug_span!("attempt", attempt = call.attempt);
        match self.forward(call, flow).instrument(span).await {
            Ok(()) => self.served(call),
            Err(Stopped::Gone) => self.step(Event::ClientGone),
            Err(Stopped::Ended(ended)) => {
                let ended = self.attempt(call).discreet(ended);
                self.ended(call, &ended)
            }
        }
    }

    async fn forward(&mut self, call: Call, mut flow: Box<Flow>) -> Result<(), Stopped> {
        let head = self.head(Some(self.graph().target_name(call.target)));
        self.line.open(head);
        self.pieces += u64::from(flow.answered.is_none());
        self.alive(call.target, &mut flow);
        while flow.answered.is_none() {
            if flow.goes_on() {
                self.release(&mut flow).await?;
            }
            let piece = self.attempt(call);
            let took = tokio::select! {
                biased;
                () = self.line.gone() => return Err(Stopped::Gone),
                took = piece.piece(&mut flow) => took?,
            };
            if took == Some(Took::Output) {
                self.pieces += 1;
                self.alive(call.target, &mut flow);
            }
        }
        self.release(&mut flow).await?;
        self.answered = flow.answered;
        self.send(Piece::Events(Bytes::from_static(b"data: [DONE]\n\n"))).await?;
        self.send(Piece::End).await?;
        Ok(())
    }

    /// Output came.
    fn alive(&self, target: TargetId, flow: &mut Flow) {
        flow.phase = Phase::Flowing { since: self.engine.clock.now() };
        self.sign_of_life(target);
    }

    /// A trial that shows one is not a lost call, however long its answer is.
    fn sign_of_life(&self, target: TargetId) {
        if let Some((_, held)) = self.permits.iter().find(|(t, held)| *t == target && held.is_trial()) {
            held.renew();
        }
    }

    async fn release(&mut self, flow: &mut Flow) -> Result<(), Gone> {
        let began = self.engine.clock.now();
        for events in flow.release() {
            self.send(Piece::Events(events)).await?;
        }
        // The client's slowness is not the target's.
        if let Phase::Flowing { since } = &mut flow.phase {
            *since = since.plus(self.engine.clock.now().less(began));
        }
        Ok(())
    }
}

/// Why a stream that was sent on stopped.
enum Stopped {
    Gone,
    Ended(Ended),
}

impl From<Gone> for Stopped {
    fn from(_: Gone) -> Stopped {
        Stopped::Gone
    }
}

impl From<Ended> for Stopped {
    fn from(ended: Ended) -> Stopped {
        Stopped::Ended(ended)
    }
}
