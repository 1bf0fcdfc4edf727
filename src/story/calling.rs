//! One call of a test: what happens to it and when, as its target's script has it.
//!
//! In: the call, the answer, when it began. Out: its acts in order. The timers are read off `Limits` exactly as the gateway
//! reads them: what is due at the same instant as an answer comes first. Knows nothing of other calls.

use crate::classify::vendor::{ANYBODY, Vendor};
use crate::classify::{self, Called, Classified, Fault, NoHeaders};
use crate::decide::{Call, Facts, Phase, Timer};
use crate::graph::Graph;
use crate::policy::{Answer, Millis, Target, Usage};
use crate::wire::chat::answer::{Asked, judge};
use crate::wire::chat::stream::{PieceKind, StreamEnded, StreamReader};
use crate::wire::scripted::{self, Scripted, ScriptedAsk, ScriptedBody, Then};
use bytes::Bytes;
use std::collections::VecDeque;

/// Something that happens to a call.
#[derive(Debug)]
pub(super) enum Act {
    Late,
    Headers,
    Output,
    /// Text of the answer.
    Text(String),
    /// The answer is complete, with the tokens that it states.
    Served(Option<Usage>),
    Failed(Box<Classified>),
    TimedOut(Timer),
}

impl Act {
    /// Whether nothing happens to the call after it.
    pub(super) fn ends(&self) -> bool {
        match self {
            Act::Late | Act::Headers | Act::Output | Act::Text(_) => false,
            Act::Served(_) | Act::Failed(_) | Act::TimedOut(_) => true,
        }
    }
}

/// A call that runs.
pub(super) struct Calling {
    pub(super) call: Call,
    acts: VecDeque<(Millis, Act)>,
}

impl Calling {
    pub(super) fn new(
        graph: &Graph,
        facts: &Facts,
        call: Call,
        answer: &Answer,
        (start, after): (Millis, Millis),
    ) -> Calling {
        let target = graph.target(call.target);
        let provider = target.and_then(|t| graph.provider(t.provider));
        let vendor = provider.map_or(&ANYBODY, |p| Vendor::of(&p.name, p.api.word()));
        let asked = Asked { vendor, stream: facts.stream, max_output: facts.max_output, choices: 1 };
        let translated = provider.is_some_and(|p| p.api.dialect() != facts.dialect);
        let mut script = Script { call: &call, asked, target, translated, acts: VecDeque::new() };
        script.play(facts, answer, start, after);
        let acts = script.acts;
        Calling { call, acts }
    }

    /// When something happens to it next.
    pub(super) fn due(&self) -> Millis {
        let act = self.acts.front().map_or(Millis::MAX, |(at, _)| *at);
        self.call.hedge_at.map_or(act, |late| late.min(act))
    }

    /// What happens to it next. Nothing comes of being late once there is output.
    pub(super) fn happens(&mut self) -> Option<Act> {
        let due = self.due();
        if self.call.hedge_at.take_if(|late| *late == due).is_some() {
            return Some(Act::Late);
        }
        let (_, act) = self.acts.pop_front()?;
        if matches!(act, Act::Output) {
            self.call.hedge_at = None;
        }
        Some(act)
    }
}

/// A script that is being played out.
struct Script<'a> {
    call: &'a Call,
    asked: Asked,
    target: Option<&'a Target>,
    /// Its target speaks another dialect than the client.
    translated: bool,
    acts: VecDeque<(Millis, Act)>,
}

impl Script<'_> {
    fn play(&mut self, facts: &Facts, answer: &Answer, start: Millis, after: Millis) {
        let scripted = scripted::answer(
            answer,
            &ScriptedAsk {
                stream: facts.stream,
                include_usage: true,
                target: self.target.map_or("", |t| t.name.as_str()),
                model: self.target.map_or("", |t| t.upstream.as_str()),
                max_output: facts.max_output,
                prompt_tokens: facts.tokens,
                id: &facts.id,
                created: 0,
            },
        );
        let at = start.plus(after);
        let Scripted { status, headers, body } = scripted;
        match body {
            ScriptedBody::Hang => self.silence(Phase::Waiting),
            ScriptedBody::Reset => {
                if self.in_time(at, Phase::Waiting) {
                    self.fails(at, classify::fault(Fault::ResetBeforeHeaders { sent: true }));
                }
            }
            ScriptedBody::Whole(bytes) => {
                if !self.in_time(at, Phase::Waiting) {
                    return;
                }
                if (200..300).contains(&status) {
                    self.push(at, Act::Headers);
                    self.whole(at, &bytes);
                } else {
                    let corrections = self.target.map_or(&[][..], |t| &t.corrections);
                    let called = Called { vendor: self.asked.vendor, corrections, translated: self.translated };
                    self.fails(at, called.answer(status, &headers, &bytes, 0));
                }
            }
            ScriptedBody::Stream { events, lead, then } => {
                // Some of its pieces come with the headers.
                let timed = events.into_iter().enumerate().map(|(i, bytes)| (if i < lead { start } else { at }, bytes));
                if facts.stream { self.stream(start, timed, then) } else { self.broken_body(start, timed, then) }
            }
        }
    }

    fn push(&mut self, at: Millis, act: Act) {
        self.acts.push_back((at, act));
    }

    fn fails(&mut self, at: Millis, failed: Classified) {
        self.push(at, Act::Failed(Box::new(failed)));
    }

    /// Whether something at `at` comes before the timer of its phase; if not, the timer ends the call.
    fn in_time(&mut self, at: Millis, phase: Phase) -> bool {
        let (due, timer) = self.call.limits.next(phase);
        if due <= at {
            self.push(due, Act::TimedOut(timer));
        }
        due > at
    }

    /// Nothing more comes: the next timer ends the call.
    fn silence(&mut self, phase: Phase) {
        self.in_time(Millis::MAX, phase);
    }

    fn whole(&mut self, at: Millis, body: &[u8]) {
        match judge(&NoHeaders, body, &self.asked, 0) {
            Ok(answered) => {
                self.push(at, Act::Text(text_of(body, "message")));
                self.push(at, Act::Served(answered.usage));
            }
            Err(failed) => self.fails(at, failed),
        }
    }

    fn stream(&mut self, start: Millis, timed: impl Iterator<Item = (Millis, Bytes)>, then: Then) {
        let mut reader = StreamReader::new(self.asked);
        let mut phase = Phase::Waiting;
        let mut last = start;
        for (at, bytes) in timed {
            if !self.in_time(at, phase) {
                return;
            }
            last = at;
            if phase == Phase::Waiting {
                self.push(at, Act::Headers);
                phase = Phase::Opened { since: at };
            }
            for piece in reader.push(bytes) {
                match piece.kind {
                    PieceKind::Output => {
                        if matches!(phase, Phase::Opened { .. }) {
                            self.push(at, Act::Output);
                        }
                        phase = Phase::Flowing { since: at };
                        self.push(at, Act::Text(text_of(&piece.raw, "delta")));
                    }
                    PieceKind::Quiet | PieceKind::Finish | PieceKind::Done => {}
                    PieceKind::Error(failed) | PieceKind::Malformed(failed) => {
                        return self.fails(at, failed);
                    }
                }
            }
        }
        let how = match then {
            Then::Stalls if !reader.has_done() => return self.silence(phase),
            Then::Closes | Then::Stalls => StreamEnded::Clean,
            Then::Cuts => StreamEnded::Reset,
        };
        match reader.end(how) {
            Ok(answered) => self.push(last, Act::Served(answered.usage)),
            Err(failed) => self.fails(last, failed),
        }
    }

    /// The pieces of a whole answer that may not come to its end.
    fn broken_body(&mut self, start: Millis, timed: impl Iterator<Item = (Millis, Bytes)>, then: Then) {
        let mut phase = Phase::Waiting;
        let mut body = Vec::new();
        let mut last = start;
        for (at, bytes) in timed {
            if !self.in_time(at, phase) {
                return;
            }
            last = at;
            if phase == Phase::Waiting {
                self.push(at, Act::Headers);
            }
            phase = Phase::Opened { since: at };
            body.extend_from_slice(&bytes);
        }
        match then {
            Then::Closes => self.whole(last, &body),
            Then::Cuts => self.fails(last, classify::fault(Fault::BodyReset { output: false })),
            Then::Stalls => self.silence(phase),
        }
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
