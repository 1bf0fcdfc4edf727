//! A gateway in virtual time: the real handlers, executor and ledgers, with upstreams that follow a script and a clock
//! that goes on when nobody has anything left to do. Hours pass at once, and the same script has the same end.
//!
//! Its four views: what the client was answered, which calls the upstreams received, how targets stand, and the record.

use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use switchback::classify::Fault;
use switchback::decide::Standing;
use switchback::decide::target_state;
use switchback::diag::Diagnostic;
use switchback::gateway::{self, App};
use switchback::policy::Millis;
use switchback::policy::breaker::Capability;
use switchback::ready::prepare;
use switchback::runtime::clock::{Clock, Stepped};
use switchback::runtime::engine::Engine;
use switchback::runtime::live::lock;
use switchback::runtime::prober;
use switchback::runtime::reload::ReloadStatus;
use switchback::runtime::serving::Serving;
use switchback::runtime::sink::{Sink, Writer};
use switchback::runtime::snapshot::Current;
use switchback::runtime::upstream::endpoint::Outside;
use switchback::runtime::upstream::{Calling, HeaderList, Incoming, Outgoing, Upstream};
use switchback::source::Sources;
use tokio::runtime::Runtime;
use tower_service::Service;

/// How often everything else may go on before the clock does.
const TURNS: usize = 300;

/// A piece of a body, or of the time between two.
#[derive(Clone, Debug)]
pub enum Act {
    Pause(u64),
    Say(String),
    /// The connection ends before the body does.
    Cut,
    /// Nothing more comes.
    Stall,
}

/// What an upstream does with a call.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Headers after this time, then the body.
    Answer { after: u64, status: u16, headers: Vec<(String, String)>, acts: Vec<Act> },
    /// The connection is there, and nothing comes.
    Hang,
    /// The connection is reset.
    Reset { after: u64 },
}

/// A completion of so many tokens.
pub fn ok(after: u64) -> Reply {
    said(after, "fine", "stop", 12)
}

pub fn said(after: u64, text: &str, finish: &str, tokens: u64) -> Reply {
    let body = json!({
        "id": "c-1", "object": "chat.completion", "created": 1, "model": "served",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens},
    });
    Reply::Answer { after, status: 200, headers: kind("application/json"), acts: vec![Act::Say(body.to_string())] }
}

/// An error, with the type and the message that a body names.
pub fn error(after: u64, status: u16, kind_of: &str, message: &str) -> Reply {
    let body = json!({"error": {"type": kind_of, "code": kind_of, "message": message}});
    Reply::Answer { after, status, headers: kind("application/json"), acts: vec![Act::Say(body.to_string())] }
}

/// The same reply with one header more.
pub fn with(mut reply: Reply, name: &str, value: &str) -> Reply {
    if let Reply::Answer { headers, .. } = &mut reply {
        headers.push((name.to_owned(), value.to_owned()));
    }
    reply
}

fn kind(kind: &str) -> Vec<(String, String)> {
    vec![("content-type".to_owned(), kind.to_owned())]
}

/// A stream whose headers come after this time.
pub fn stream(after: u64, acts: Vec<Act>) -> Reply {
    Reply::Answer { after, status: 200, headers: kind("text/event-stream"), acts }
}

fn event(delta: &Value, finish: Option<&str>) -> Act {
    let body = json!({"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "served",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    Act::Say(format!("data: {body}\n\n"))
}

pub fn role() -> Act {
    event(&json!({"role": "assistant", "content": ""}), None)
}

pub fn delta(text: &str) -> Act {
    event(&json!({"content": text}), None)
}

pub fn raw(text: &str) -> Act {
    Act::Say(text.to_owned())
}

pub fn finish() -> [Act; 3] {
    let usage = json!({"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "served", "choices": [],
        "usage": {"prompt_tokens": 100, "completion_tokens": 12, "total_tokens": 112}});
    [event(&json!({}), Some("stop")), Act::Say(format!("data: {usage}\n\n")), raw("data: [DONE]\n\n")]
}

/// A whole stream of these words, the first of them so long after the headers.
pub fn words(first_after: u64, words: &[&str]) -> Reply {
    let mut acts = vec![role(), Act::Pause(first_after)];
    acts.extend(words.iter().map(|w| delta(w)));
    acts.extend(finish());
    stream(20, acts)
}

/// A line of an upstream's script: the first that holds at a call answers it.
#[derive(Clone, Debug)]
struct Line {
    from: u64,
    to: u64,
    left: u64,
    reply: Reply,
}

/// What the upstreams of a world do.
#[derive(Clone, Debug, Default)]
pub struct Scripts(BTreeMap<String, Vec<Line>>);

impl Scripts {
    pub fn new() -> Scripts {
        Scripts::default()
    }

    fn line(mut self, target: &str, line: Line) -> Scripts {
        self.0.entry(target.to_owned()).or_default().push(line);
        self
    }

    /// From here on always.
    pub fn always(self, target: &str, reply: Reply) -> Scripts {
        self.line(target, Line { from: 0, to: u64::MAX, left: u64::MAX, reply })
    }

    /// These lines, and then those.
    pub fn and(mut self, others: Scripts) -> Scripts {
        for (target, lines) in others.0 {
            self.0.entry(target).or_default().extend(lines);
        }
        self
    }

    /// What it answers to probes, from here on.
    pub fn probed(self, target: &str, reply: Reply) -> Scripts {
        self.always(&format!("probe of {target}"), reply)
    }

    /// What it answers to probes of this time.
    pub fn probed_during(self, target: &str, times: (u64, u64), reply: Reply) -> Scripts {
        self.during(&format!("probe of {target}"), times, reply)
    }

    /// The next so many calls.
    pub fn times(self, target: &str, left: u64, reply: Reply) -> Scripts {
        self.line(target, Line { from: 0, to: u64::MAX, left, reply })
    }

    /// Calls of this time.
    pub fn during(self, target: &str, (from, to): (u64, u64), reply: Reply) -> Scripts {
        self.line(target, Line { from, to, left: u64::MAX, reply })
    }
}

/// One call as an upstream received it.
#[derive(Clone, Debug)]
pub struct Call {
    pub target: String,
    /// The variable of the key that it was made with.
    pub key: Option<String>,
    pub at: u64,
    pub body: Value,
    pub probe: bool,
    /// When the gateway let go of it.
    pub closed: Option<u64>,
}

struct Upstreams {
    clock: Clock,
    scripts: Mutex<Scripts>,
    calls: Arc<Mutex<Vec<Call>>>,
}

/// Notes when a call is let go of.
struct Held {
    clock: Clock,
    calls: Arc<Mutex<Vec<Call>>>,
    at: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.calls.lock().unwrap()[self.at].closed = Some(self.clock.now().0);
    }
}

impl Upstream for Upstreams {
    fn call(&self, outgoing: Outgoing) -> Calling {
        let (clock, now) = (self.clock, self.clock.now().0);
        let body: Value = serde_json::from_slice(&outgoing.body).unwrap();
        let probe = body["messages"][0]["content"] == "ping";
        let reply = {
            let mut scripts = self.scripts.lock().unwrap();
            let name = if probe { format!("probe of {}", outgoing.target) } else { outgoing.target.clone() };
            let lines = scripts.0.get_mut(&name).unwrap_or_else(|| panic!("{name} is called"));
            let line = lines.iter_mut().find(|l| l.left > 0 && (l.from..l.to).contains(&now));
            let line = line.unwrap_or_else(|| panic!("{} has no line at {now}", outgoing.target));
            line.left -= u64::from(line.left != u64::MAX);
            line.reply.clone()
        };
        let key = outgoing.headers.iter().find(|(name, _)| name == "authorization" || name == "x-api-key");
        let key = key.map(|(_, value)| value.expose().trim_start_matches("Bearer ").trim_start_matches("value-of-"));
        let key = key.map(str::to_owned);
        let held = {
            let mut calls = self.calls.lock().unwrap();
            calls.push(Call { target: outgoing.target.clone(), key, at: now, body, probe, closed: None });
            Held { clock, calls: Arc::clone(&self.calls), at: calls.len() - 1 }
        };
        outgoing.left.set();
        Box::pin(async move {
            let sleep = async move |ms: u64| clock.sleep_until(clock.now().plus(Millis(ms))).await;
            match reply {
                Reply::Hang => std::future::pending().await,
                Reply::Reset { after } => {
                    sleep(after).await;
                    drop(held);
                    Err(Fault::ResetBeforeHeaders { sent: true })
                }
                Reply::Answer { after, status, headers, acts } => {
                    sleep(after).await;
                    let mut acts = acts.into_iter().collect::<std::collections::VecDeque<_>>();
                    acts.shrink_to_fit();
                    let body = futures_util::stream::unfold((acts, held), move |(mut acts, held)| async move {
                        loop {
                            match acts.pop_front()? {
                                Act::Pause(ms) => clock.sleep_until(clock.now().plus(Millis(ms))).await,
                                Act::Say(text) => return Some((Ok(Bytes::from(text)), (acts, held))),
                                Act::Cut => {
                                    acts.clear();
                                    return Some((Err(Fault::BodyReset { output: false }), (acts, held)));
                                }
                                Act::Stall => std::future::pending().await,
                            }
                        }
                    });
                    Ok(Incoming { status, headers: HeaderList(headers), body: Box::pin(body) })
                }
            }
        })
    }
}

/// Each variable is set.
struct Variables;

impl Outside for Variables {
    fn env(&self, name: &str) -> Option<String> {
        Some(format!("value-of-{name}"))
    }

    fn file(&self, path: &str) -> io::Result<String> {
        Err(io::Error::new(io::ErrorKind::NotFound, path.to_owned()))
    }
}

#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl io::Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A request.
#[derive(Clone, Debug)]
pub struct Ask {
    body: Value,
    headers: Vec<(String, String)>,
    leave: Option<Leave>,
}

#[derive(Clone, Copy, Debug)]
enum Leave {
    After(u64),
    AfterEvents(usize),
}

impl Ask {
    pub fn chat() -> Ask {
        let body = json!({"model": "chat", "messages": [{"role": "user", "content": "hello"}]});
        Ask { body, headers: Vec::new(), leave: None }
    }

    pub fn stream() -> Ask {
        Ask::chat().saying("stream", json!(true))
    }

    pub fn saying(mut self, member: &str, value: Value) -> Ask {
        self.body[member] = value;
        self
    }

    /// A prompt of about so many tokens.
    pub fn of_tokens(self, tokens: usize) -> Ask {
        self.saying("messages", json!([{"role": "user", "content": "word ".repeat(tokens * 3 / 5)}]))
    }

    pub fn header(mut self, name: &str, value: &str) -> Ask {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn session(self, session: &str) -> Ask {
        self.header("x-switchback-session", session)
    }

    /// The client goes after this time.
    pub fn leaving_after(mut self, ms: u64) -> Ask {
        self.leave = Some(Leave::After(ms));
        self
    }

    /// The client goes once so many pieces of output came.
    pub fn leaving_after_events(mut self, events: usize) -> Ask {
        self.leave = Some(Leave::AfterEvents(events));
        self
    }
}

/// What the client was answered.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Zero where the client left before it.
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: String,
    /// Whether the body came to its end in order.
    pub complete: bool,
    /// From the request to the end of the answer.
    pub took: u64,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(n, _)| n == name).map_or("", |(_, v)| v)
    }

    pub fn target(&self) -> &str {
        self.header("x-switchback-target")
    }

    /// The code of the error, in a body or at the end of a stream.
    pub fn code(&self) -> String {
        let last = self.body.lines().rfind(|l| l.contains("\"error\"")).unwrap_or(&self.body);
        let value: Value = serde_json::from_str(last.trim_start_matches("data: ")).unwrap_or_default();
        value["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The words of a stream, and whether anything claimed to be its end.
    pub fn heard(&self) -> (Vec<String>, bool) {
        let (mut words, mut ended) = (Vec::new(), false);
        for data in self.body.lines().filter_map(|l| l.strip_prefix("data: ")) {
            let event: Value = serde_json::from_str(data).unwrap_or_default();
            let choice = &event["choices"][0];
            ended |= data == "[DONE]" || choice["finish_reason"].is_string();
            words.extend(choice["delta"]["content"].as_str().filter(|w| !w.is_empty()).map(str::to_owned));
        }
        (words, ended)
    }
}

/// A world: a policy, its upstreams, a gateway and a clock.
pub struct World {
    runtime: Runtime,
    pub clock: Clock,
    stepped: &'static Stepped,
    pub engine: Arc<Engine>,
    router: axum::Router,
    upstreams: Arc<Upstreams>,
    paper: Paper,
    writer: Writer,
    /// What `check` had to say.
    pub diagnostics: Vec<Diagnostic>,
}

impl World {
    pub fn new(policy: &str, scripts: Scripts) -> World {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (clock, stepped) = Clock::stepped();
        let calls = Arc::default();
        let upstreams = Arc::new(Upstreams { clock, scripts: Mutex::new(scripts), calls });
        let paper = Paper::default();
        let (sink, writer) = Sink::onto(Box::new(paper.clone())).unwrap();
        let (serving, diagnostics) = serving(policy, &upstreams, None);
        let engine = Arc::new(Engine::new(clock, serving, sink));
        let app = App {
            engine: Arc::clone(&engine),
            reload: Arc::new(Current::new(ReloadStatus::good(0))),
            max_body: 4 << 20,
            body_within: Duration::from_secs(60),
            region: None,
        };
        let router = gateway::router(Arc::new(app));
        World { runtime, clock, stepped, engine, router, upstreams, paper, writer, diagnostics }
    }

    /// Another policy serves from now on.
    pub fn exchange(&self, policy: &str) {
        let before = self.engine.serving.load();
        let (serving, _) = serving(policy, &self.upstreams, Some(&before));
        self.engine.serving.store(Arc::new(serving));
    }

    /// Runs something to its end. The clock goes on where nobody else does.
    pub fn run<T>(&self, what: impl Future<Output = T>) -> T {
        let time = async {
            loop {
                self.settle().await;
                assert!(self.stepped.advance(), "everybody waits for somebody else");
            }
        };
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                out = what => out,
                () = time => unreachable!(),
            }
        })
    }

    async fn settle(&self) {
        for _ in 0..TURNS {
            tokio::task::yield_now().await;
        }
    }

    /// Probes run from now on.
    pub fn probe(&self) {
        self.runtime.spawn(prober::run(Arc::clone(&self.engine)));
    }

    /// Waits until an instant.
    pub async fn until(&self, at: u64) {
        self.clock.sleep_until(Millis(at)).await;
    }

    /// Sends a request and reads its answer.
    pub async fn send(&self, ask: Ask) -> Answer {
        let began = self.clock.now();
        let mut answer = Answer::default();
        match ask.leave {
            Some(Leave::After(ms)) => tokio::select! {
                () = self.read(&ask, &mut answer) => {}
                () = self.clock.sleep_until(began.plus(Millis(ms))) => {}
            },
            Some(Leave::AfterEvents(_)) | None => self.read(&ask, &mut answer).await,
        }
        answer.took = self.clock.now().less(began).0;
        answer
    }

    async fn read(&self, ask: &Ask, answer: &mut Answer) {
        let mut request = axum::http::Request::post("/v1/chat/completions");
        for (name, value) in &ask.headers {
            request = request.header(name, value);
        }
        let request = request.body(axum::body::Body::from(ask.body.to_string())).unwrap();
        let response = self.router.clone().call(request).await.unwrap();
        answer.status = response.status().as_u16();
        let pairs = response.headers().iter().map(|(n, v)| (n.to_string(), v.to_str().unwrap().to_owned()));
        answer.headers = pairs.collect();
        let mut body = response.into_body();
        loop {
            match body.frame().await {
                None => {
                    answer.complete = true;
                    return;
                }
                Some(Err(_)) => return,
                Some(Ok(frame)) => {
                    let bytes = frame.into_data().unwrap_or_default();
                    answer.body.push_str(std::str::from_utf8(&bytes).unwrap());
                }
            }
            if let Some(Leave::AfterEvents(events)) = ask.leave
                && answer.heard().0.len() >= events
            {
                return;
            }
        }
    }

    /// The calls of requests so far.
    pub fn calls(&self) -> Vec<Call> {
        self.upstreams.calls.lock().unwrap().iter().filter(|c| !c.probe).cloned().collect()
    }

    /// Who was called when, in order.
    pub fn called(&self) -> Vec<(String, u64)> {
        self.calls().into_iter().map(|c| (c.target, c.at)).collect()
    }

    /// Who was called, in order.
    pub fn order(&self) -> Vec<String> {
        self.calls().into_iter().map(|c| c.target).collect()
    }

    /// How a target stands for a plain request of no session.
    pub fn standing(&self, target: &str) -> Standing {
        let serving = self.engine.serving.load();
        let id = serving.graph().target_named(target).unwrap();
        let (group, place) = serving.live.of(id).unwrap();
        let ask = target_state::Ask { session: "", capability: Capability::Text };
        lock(group).standing(place, self.clock.now(), ask)
    }

    /// The page of metrics.
    pub fn metrics(&self) -> String {
        self.run(async {
            let request = axum::http::Request::get("/metrics").body(axum::body::Body::empty()).unwrap();
            let response = self.router.clone().call(request).await.unwrap();
            String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
        })
    }

    /// The value of a metric's line.
    pub fn metric(&self, line: &str) -> Option<u64> {
        let page = self.metrics();
        page.lines().find_map(|l| l.strip_prefix(line)?.trim().parse().ok())
    }

    /// All records, in the order in which requests ended. The world ends with it.
    pub fn records(self) -> Vec<Value> {
        self.runtime.block_on(self.settle());
        self.writer.finish();
        let bytes = self.paper.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    }

    /// The one record of a world that took one request.
    pub fn record(self) -> Value {
        let mut records = self.records();
        assert_eq!(records.len(), 1);
        records.remove(0)
    }
}

fn serving(policy: &str, upstreams: &Arc<Upstreams>, before: Option<&Serving>) -> (Serving, Vec<Diagnostic>) {
    let prepared = prepare(Sources::from_texts([("field.sbk", policy)]));
    let Some(ready) = prepared.ready else { panic!("{:#?}", prepared.diagnostics) };
    let upstream: Arc<dyn Upstream> = Arc::clone(upstreams) as _;
    let mut serving = Serving::build(ready.graph, &Variables, &upstream, before, 0).unwrap();
    serving.fleet = serving.fleet.through(&upstream);
    (serving, prepared.diagnostics)
}

/// The policy that most cases share, as text that a case changes.
#[derive(Clone, Debug)]
pub struct P0(String);

impl P0 {
    /// Targets of one model at providers of their own, in this order.
    pub fn of(names: &[&str]) -> P0 {
        let target =
            |name: &&str| format!("provider {name} {{ api emulated }}\ntarget {name} {{ model m; provider {name} }}\n");
        P0::with(&names.iter().map(target).collect::<String>(), &names.join("; "))
    }

    /// These blocks of providers and targets, and this chain.
    pub fn with(targets: &str, chain: &str) -> P0 {
        P0(format!(
            r#"switchback 1
{targets}
model m {{
  modalities [text]; streaming yes; tools parallel; structured-output json-schema; context 128k; max-output 16k
  price $1/M in, $2/M out
}}
tier t {{ chain {{ {chain} }} }}
matrix x {{
  rate-limit -> wait up to 5s, failover, fallback
  quota-exhausted -> failover, fallback
  auth, permission -> failover, fallback
  connect, overloaded, server-error, stream-early, empty-response, malformed-response -> retry once, failover, fallback
  timeout-*, truncated, not-found, unknown -> failover, fallback
  context-overflow -> fallback to larger-context
  otherwise -> stop
}}
budget u {{
  deadline 30s; attempts 4; headers 10s; first-token 8s; idle 5s
  backoff 250ms to 250ms, jitter none
}}
breaker k {{
  trip when errors >= 100% over 30s, min 5
  open 10s, jitter 0%
  half-open 1 at once, 1 success
}}
defaults {{ breaker k }}
route chat {{ tier t; matrix x; budget u }}
"#
        ))
    }

    /// The same with something said otherwise.
    pub fn but(self, what: &str, instead: &str) -> P0 {
        assert!(self.0.contains(what), "`{what}` does not stand in {}", self.0);
        P0(self.0.replace(what, instead))
    }

    pub fn text(&self) -> &str {
        &self.0
    }

    pub fn world(&self, scripts: Scripts) -> World {
        World::new(&self.0, scripts)
    }
}

/// The class of each call, or `ok`.
pub fn classes(record: &Value) -> Vec<&str> {
    let steps = record["steps"].as_array().unwrap().iter().filter(|s| s["target"].is_string());
    steps.map(|s| s["class"].as_str().unwrap_or("ok")).collect()
}

/// Who was passed over, and why, each once.
pub fn skipped(record: &Value) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for skipped in record["steps"].as_array().unwrap().iter().flat_map(|s| s["skipped"].as_array().unwrap()) {
        let pair = (skipped["target"].as_str().unwrap().to_owned(), skipped["reason"].as_str().unwrap().to_owned());
        if !all.contains(&pair) {
            all.push(pair);
        }
    }
    all
}

/// The names of what `check` had to say.
pub fn codes(world: &World) -> Vec<&'static str> {
    world.diagnostics.iter().map(|d| d.entry().name).collect()
}
