//! The emulator itself: who is asked, which line of whose script answers, and what that is as an answer over time.
//!
//! In: calls. Out: answers or faults. It holds for each target its script, how much of it is used up and when its time
//! began. Shares are spread evenly over a target's calls, so that the same calls meet the same faults each time.

use super::answer::{BodyEnd, EmulatedAnswer, EmulatedBody, EmulatedFault};
use super::ask::Ask;
use super::ledger::{Calls, Received};
use super::shorthand;
use crate::policy::{Answer, Api, Millis, Policy, Script};
use crate::source::Span;
use crate::wire::scripted::{self, Schedule, ScriptedAsk, ScriptedBody, Then};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio::time::Instant;

/// A target and its script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scripted {
    /// The target's name.
    pub target: String,
    /// The model's name that requests to it carry.
    pub upstream: String,
    /// What it does.
    pub script: Script,
}

/// The emulator.
#[derive(Debug)]
pub struct Emulator {
    /// Whether a name that is not known is taken for a script.
    by_name: bool,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    began: Option<Instant>,
    players: BTreeMap<String, Player>,
    calls: Calls,
}

/// How many scripts by name are kept; a name beyond that is refused.
const SCRIPTS: usize = 10_000;

impl Emulator {
    /// An emulator of these targets. Their time begins with its first call.
    pub fn new(targets: impl IntoIterator<Item = Scripted>) -> Emulator {
        let players = targets.into_iter().map(|t| (t.target.clone(), Player::new(t))).collect();
        Emulator { by_name: false, inner: Mutex::new(Inner { players, ..Inner::default() }) }
    }

    /// An emulator that takes a model's name for its script; each script's time begins with its own first call.
    pub fn by_name() -> Emulator {
        Emulator { by_name: true, inner: Mutex::default() }
    }

    /// An emulator of a policy's emulated targets.
    pub fn of_policy(policy: &Policy) -> Emulator {
        Emulator::new(targets(policy))
    }

    /// Follows a policy that replaces the one before. A target whose script is unchanged goes on where it is; any other
    /// begins anew, its time with the next call. Targets that are gone still answer, since requests that began before
    /// may still come to them. Counts stay.
    pub fn follow(&self, policy: &Policy) {
        let mut inner = self.lock();
        for new in targets(policy) {
            match inner.players.get_mut(&new.target) {
                Some(player) if player.scripted.script == new.script => player.scripted = new,
                Some(_) | None => {
                    inner.players.insert(new.target.clone(), Player::new(new));
                }
            }
        }
    }

    /// A call to a target, with the names of its headers and its body. Returns when headers are due, which for a target
    /// that hangs is never; dropping the future ends the call.
    ///
    /// # Errors
    /// When the target resets the connection before headers.
    pub async fn call(&self, target: &str, headers: Vec<String>, body: &[u8]) -> Result<EmulatedAnswer, EmulatedFault> {
        let ask = Ask::read(body);
        self.answer(Some(target), headers, ask).await
    }

    /// A request as it comes over HTTP: its model says who is called.
    ///
    /// # Errors
    /// When the target resets the connection before headers.
    pub async fn receive(&self, headers: Vec<String>, body: &[u8]) -> Result<EmulatedAnswer, EmulatedFault> {
        self.answer(None, headers, Ask::read(body)).await
    }

    /// What was received.
    pub fn calls(&self) -> Calls {
        self.lock().calls.clone()
    }

    /// Forgets what was received and begins every script anew.
    pub fn reset(&self) {
        let mut inner = self.lock();
        inner.calls = Calls::default();
        inner.began = None;
        if self.by_name {
            inner.players.clear();
        }
        for player in inner.players.values_mut() {
            *player = Player::new(player.scripted.clone());
        }
    }

    /// The targets, or the scripts by name that were asked for.
    pub fn names(&self) -> Vec<String> {
        self.lock().players.keys().cloned().collect()
    }

    async fn answer(
        &self,
        target: Option<&str>,
        headers: Vec<String>,
        ask: Result<Ask, String>,
    ) -> Result<EmulatedAnswer, EmulatedFault> {
        let (name, ask) = match (target, ask) {
            (target, Ok(ask)) => (target.unwrap_or(&ask.model).to_string(), ask),
            (target, Err(message)) => {
                let model = target.map(str::to_string);
                self.lock().receive(Received { at_ms: 0, model, stream: false, headers });
                return Ok(refusal(400, "invalid_json", &message));
            }
        };
        // The lock is not held over a delay.
        let chosen = self.lock().choose(self.by_name, name, headers, &ask);
        match chosen {
            Err(message) => Ok(refusal(404, "model_not_found", &message)),
            Ok(chosen) => chosen.play(&ask).await,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The emulated targets of a policy.
fn targets(policy: &Policy) -> impl Iterator<Item = Scripted> {
    let emulated =
        |provider: usize| policy.providers.get(provider).is_some_and(|provider| provider.api == Api::Emulated);
    policy.targets.iter().filter(move |t| emulated(t.provider.index())).map(|t| {
        let mut script = t.script.clone().unwrap_or_default();
        // A script that only moved in its file is the same script.
        script.lines.iter_mut().for_each(|line| line.span = Span::default());
        Scripted { target: t.name.clone(), upstream: t.upstream.clone(), script }
    })
}

impl Inner {
    /// Counts a call at the time it comes.
    fn receive(&mut self, call: Received) -> Instant {
        let now = Instant::now();
        let began = *self.began.get_or_insert(now);
        self.calls.add(Received { at_ms: millis(now - began).0, ..call });
        now
    }

    /// Counts the call and finds the line that answers it.
    fn choose(&mut self, by_name: bool, name: String, headers: Vec<String>, ask: &Ask) -> Result<Chosen, String> {
        let target = self.find(&name).unwrap_or(name);
        let now = self.receive(Received { at_ms: 0, model: Some(target.clone()), stream: ask.stream, headers });
        if by_name && !self.players.contains_key(&target) {
            if self.players.len() == SCRIPTS {
                return Err("too many different scripts; DELETE /emulator/calls begins anew".into());
            }
            let script = shorthand::parse(&target).map_err(|message| {
                format!("the model `{target}` is no script: {message}. `switchback emulate --help` has the grammar")
            })?;
            let player = Player::new(Scripted { target: target.clone(), upstream: target.clone(), script });
            self.players.insert(target.clone(), player);
        }
        // The time of all that have not begun begins here, so that scripts of one policy share it.
        for player in self.players.values_mut() {
            player.began.get_or_insert(now);
        }
        let number = self.calls.total;
        let player =
            self.players.get_mut(&target).ok_or_else(|| format!("no emulated target answers to `{target}`"))?;
        let (answer, after) = player.next(now);
        Ok(Chosen { target, answer, after, number })
    }

    /// The target of a name: its own, or the upstream name of one.
    fn find(&self, name: &str) -> Option<String> {
        if self.players.contains_key(name) {
            return Some(name.to_string());
        }
        self.players.values().find(|p| p.scripted.upstream == name).map(|p| p.scripted.target.clone())
    }
}

/// A target on its way through its script.
#[derive(Debug)]
struct Player {
    scripted: Scripted,
    schedule: Schedule,
    began: Option<Instant>,
    calls: u64,
}

impl Player {
    fn new(scripted: Scripted) -> Player {
        let schedule = Schedule::new(&scripted.script);
        Player { scripted, schedule, began: None, calls: 0 }
    }

    fn next(&mut self, now: Instant) -> (Answer, Millis) {
        let elapsed = self.began.map_or(Millis::ZERO, |began| millis(now - began));
        let draw = draw(&self.scripted.target, self.calls);
        self.calls += 1;
        let (answer, after) = self.schedule.next(elapsed, draw);
        (answer.clone(), after)
    }
}

/// In millionths, for a target's call. Steps of the golden section visit the whole range evenly however many there are,
/// and the name moves the start, so that two targets with one share do not fail together.
fn draw(target: &str, call: u64) -> u32 {
    const RANGE: u64 = 1_000_000;
    const GOLDEN: u64 = 618_034;
    let start = target.bytes().fold(0, |sum: u64, byte| (sum * 31 + u64::from(byte)) % RANGE);
    u32::try_from((start + call % RANGE * GOLDEN) % RANGE).unwrap_or(0)
}

/// A line of a script that answers a call.
struct Chosen {
    target: String,
    answer: Answer,
    after: Millis,
    /// The call's number among all, from 1.
    number: u64,
}

impl Chosen {
    async fn play(self, ask: &Ask) -> Result<EmulatedAnswer, EmulatedFault> {
        let seconds = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let id = format!("chatcmpl-emulated-{}", self.number);
        let answer = scripted::answer(
            &self.answer,
            &ScriptedAsk {
                stream: ask.stream,
                include_usage: ask.include_usage,
                target: &self.target,
                model: &ask.model,
                max_output: ask.max_output,
                prompt_tokens: ask.prompt_tokens,
                id: &id,
                created: seconds,
            },
        );
        // A stream's headers come at once and its first output after the delay; all else is delayed as a whole.
        let streams = matches!(answer.body, ScriptedBody::Stream { lead: 1.., .. });
        if !streams && self.after > Millis::ZERO {
            tokio::time::sleep(self.after.duration()).await;
        }
        let body = match answer.body {
            ScriptedBody::Hang => std::future::pending().await,
            ScriptedBody::Reset => return Err(EmulatedFault::Reset),
            ScriptedBody::Whole(bytes) => EmulatedBody::whole(bytes),
            ScriptedBody::Stream { events, lead, then } => {
                let delayed = |i: usize| if streams && i == lead { self.after } else { Millis::ZERO };
                let end = match then {
                    Then::Closes => BodyEnd::Whole,
                    Then::Cuts => BodyEnd::Cut,
                    Then::Stalls => BodyEnd::Silence,
                };
                // An end without output is due when output would have been.
                let late = (streams && events.len() <= lead).then_some((self.after, Bytes::new()));
                let pieces = events.into_iter().enumerate().map(|(i, bytes)| (delayed(i), bytes));
                EmulatedBody::pieces(pieces.chain(late), end)
            }
        };
        Ok(EmulatedAnswer { status: answer.status, headers: answer.headers, body })
    }
}

fn refusal(status: u16, code: &str, message: &str) -> EmulatedAnswer {
    let error = serde_json::json!({"error": {
        "message": message, "type": "invalid_request_error", "param": null, "code": code,
    }});
    EmulatedAnswer {
        status,
        headers: vec![("content-type".into(), "application/json".into())],
        body: EmulatedBody::whole(error.to_string().into()),
    }
}

fn millis(duration: std::time::Duration) -> Millis {
    Millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
