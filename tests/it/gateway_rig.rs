//! A gateway on a socket, and upstreams of raw TCP that say exactly what a test wants them to say.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use switchback::emulate::Emulator;
use switchback::gateway::server::Patience;
use switchback::gateway::{self, App};
use switchback::graph::compile;
use switchback::policy::{Policy, Text};
use switchback::ready::prepare;
use switchback::runtime::clock::Clock;
use switchback::runtime::engine::Engine;
use switchback::runtime::reload::ReloadStatus;
use switchback::runtime::serving::Serving;
use switchback::runtime::sink::{Destination, Sink};
use switchback::runtime::snapshot::Current;
use switchback::runtime::upstream::Upstream;
use switchback::runtime::upstream::emulated::Emulated;
use switchback::runtime::upstream::endpoint::Process;
use switchback::source::Sources;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// What an upstream does with one call, step by step. After the last step the connection is closed.
#[derive(Clone, Debug)]
pub enum Act {
    Say(String),
    Pause(u64),
    /// Ends the connection by a reset.
    Reset,
    /// Says nothing until the other side closes.
    Hang,
}

/// The head and body of a whole answer.
pub fn whole(status: u16, headers: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    vec![Act::Say(text)]
}

/// A whole answer with some text.
pub fn ok(text: &str) -> Vec<Act> {
    whole(200, "", &completion(Some("served-by-upstream"), text))
}

/// A completion as an upstream writes it.
pub fn completion(model: Option<&str>, text: &str) -> String {
    let mut body = json!({
        "id": "c-1", "object": "chat.completion", "created": 1,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    });
    if let Some(model) = model {
        body["model"] = json!(model);
    }
    body.to_string()
}

/// The head of a stream.
pub fn stream_head() -> Act {
    Act::Say(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            .into(),
    )
}

/// A piece of a chunked body.
pub fn chunk(text: &str) -> Act {
    Act::Say(format!("{:x}\r\n{text}\r\n", text.len()))
}

/// The end of a chunked body.
pub fn last_chunk() -> Act {
    Act::Say("0\r\n\r\n".into())
}

/// An event of a stream.
pub fn event(delta: Value, finish: Option<&str>) -> Act {
    chunk(&event_text(delta, finish))
}

pub fn event_text(delta: Value, finish: Option<&str>) -> String {
    let body = json!({"id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "served-by-upstream",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    format!("data: {body}\n\n")
}

pub fn role() -> Act {
    event(json!({"role": "assistant", "content": ""}), None)
}

pub fn text(text: &str) -> Act {
    event(json!({"content": text}), None)
}

pub fn finish() -> Act {
    event(json!({}), Some("stop"))
}

pub fn done() -> Act {
    chunk("data: [DONE]\n\n")
}

/// One call as an upstream received it.
#[derive(Clone, Debug)]
pub struct Received {
    pub head: String,
    pub body: Value,
    /// When the other side closed the connection, where the upstream hung.
    pub closed: Option<Instant>,
}

/// A scripted upstream.
pub struct Scripted {
    pub address: SocketAddr,
    calls: Arc<Mutex<Vec<Received>>>,
}

impl Scripted {
    /// The first call gets the first script, and so on; the last one repeats.
    pub fn new(runtime: &Runtime, scripts: Vec<Vec<Act>>) -> Scripted {
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let calls: Arc<Mutex<Vec<Received>>> = Arc::default();
        let (seen, scripts) = (Arc::clone(&calls), Arc::new(Mutex::new(VecDeque::from(scripts))));
        runtime.spawn(async move {
            loop {
                let Ok((socket, _)) = listener.accept().await else { return };
                tokio::spawn(play(socket, Arc::clone(&seen), Arc::clone(&scripts)));
            }
        });
        Scripted { address, calls }
    }

    pub fn calls(&self) -> Vec<Received> {
        self.calls.lock().unwrap().clone()
    }
}

async fn play(
    mut socket: tokio::net::TcpStream,
    seen: Arc<Mutex<Vec<Received>>>,
    scripts: Arc<Mutex<VecDeque<Vec<Act>>>>,
) {
    let mut bytes = Vec::new();
    let (head, body) = loop {
        let mut buffer = [0; 4096];
        match socket.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(n) => bytes.extend_from_slice(&buffer[..n]),
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|l| l.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0) {
            break (head.to_owned(), serde_json::from_str(body).unwrap());
        }
    };
    let at = {
        let mut seen = seen.lock().unwrap();
        seen.push(Received { head, body, closed: None });
        seen.len() - 1
    };
    let script = {
        let mut scripts = scripts.lock().unwrap();
        if scripts.len() > 1 { scripts.pop_front().unwrap() } else { scripts.front().unwrap().clone() }
    };
    for act in script {
        match act {
            Act::Say(text) => {
                if socket.write_all(text.as_bytes()).await.is_err() {
                    return;
                }
            }
            Act::Pause(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
            Act::Reset => {
                socket.set_zero_linger().unwrap();
                return;
            }
            Act::Hang => {
                let mut buffer = [0; 64];
                while !matches!(socket.read(&mut buffer).await, Ok(0) | Err(_)) {}
                seen.lock().unwrap()[at].closed = Some(Instant::now());
                return;
            }
        }
    }
}

/// A gateway over scripted upstreams: targets `a`, `b`, … in that order.
pub struct Rig {
    pub upstreams: Vec<Scripted>,
    pub address: SocketAddr,
    pub engine: Arc<Engine>,
    records: std::path::PathBuf,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    served: std::sync::mpsc::Receiver<usize>,
    runtime: Runtime,
}

impl Rig {
    pub fn new(upstreams: Vec<Vec<Vec<Act>>>) -> Rig {
        Rig::with(upstreams, |_| {})
    }

    /// The same with a policy that a test has changed.
    pub fn with(upstreams: Vec<Vec<Vec<Act>>>, change: impl FnOnce(&mut Policy)) -> Rig {
        Rig::draining(upstreams, Duration::ZERO, change)
    }

    /// The same with some time for running requests once it is stopped.
    pub fn draining(upstreams: Vec<Vec<Vec<Act>>>, drain: Duration, change: impl FnOnce(&mut Policy)) -> Rig {
        Rig::patient(upstreams, Patience { drain, ..Patience::default() }, change)
    }

    /// The same with other patience for clients; a body may take as long as a head.
    pub fn patient(upstreams: Vec<Vec<Vec<Act>>>, patience: Patience, change: impl FnOnce(&mut Policy)) -> Rig {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let upstreams: Vec<Scripted> = upstreams.into_iter().map(|s| Scripted::new(&runtime, s)).collect();
        let addresses: Vec<SocketAddr> = upstreams.iter().map(|u| u.address).collect();
        let (serving, _) = serving(&addresses, None, change);
        let records = std::env::temp_dir().join(format!("switchback-records-{}", addresses_name(&addresses)));
        let _ = std::fs::remove_file(&records);
        let (sink, _writer) = Sink::open(&Destination::File(records.clone())).unwrap();
        let engine = Arc::new(Engine::new(Clock::start(), serving, sink));
        let app = App {
            engine: Arc::clone(&engine),
            reload: Arc::new(Current::new(ReloadStatus::good(0))),
            max_body: 64 * 1024,
            body_within: patience.head,
            region: None,
        };
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let router = gateway::router(Arc::new(app));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (tell, served) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            let stopped = async { drop(stopped.await) };
            let _ = tell.send(gateway::server::serve(listener, router, stopped, patience).await);
        });
        Rig { upstreams, address, engine, records, stop: Some(stop), served, runtime }
    }

    /// Makes another policy current, as a reload does; its hash comes back.
    pub fn exchange(&self, change: impl FnOnce(&mut Policy)) -> String {
        let addresses: Vec<SocketAddr> = self.upstreams.iter().map(|u| u.address).collect();
        let before = self.engine.serving.load();
        let (serving, hash) = serving(&addresses, Some(&before), change);
        self.engine.serving.store(Arc::new(serving));
        hash
    }

    /// Tasks that are alive in the gateway and its upstreams together.
    pub fn tasks(&self) -> usize {
        self.runtime.metrics().num_alive_tasks()
    }

    /// Asks the gateway to end.
    pub fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// How many connections were cut off, once the gateway has ended.
    pub fn ended(&self) -> usize {
        self.served.recv_timeout(Duration::from_secs(10)).unwrap()
    }

    pub fn connect(&self, method: &str, path: &str, headers: &str, body: &str) -> TcpStream {
        let mut socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let length = body.len();
        write!(
            socket,
            "{method} {path} HTTP/1.1\r\nhost: gateway\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
        )
        .unwrap();
        socket
    }

    pub fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        Answer::read(self.connect(method, path, headers, body))
    }

    /// A chat request with further members and headers.
    pub fn chat(&self, headers: &str, more: Value) -> Answer {
        self.send("POST", "/v1/chat/completions", headers, &chat_body(more))
    }

    /// All records, once there are so many.
    pub fn records(&self, count: usize) -> Vec<Value> {
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let text = std::fs::read_to_string(&self.records).unwrap_or_default();
            if text.lines().count() >= count && text.ends_with('\n') {
                return text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
            }
            assert!(Instant::now() < until, "fewer than {count} records: {text}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.records);
    }
}

fn serving(addresses: &[SocketAddr], before: Option<&Serving>, change: impl FnOnce(&mut Policy)) -> (Serving, String) {
    let mut policy = policy(addresses);
    change(&mut policy);
    let graph = compile(&policy, &Sources::from_texts([("policy.sbk", "switchback 1\n")]));
    let hash = graph.hash().to_owned();
    let emulated: Arc<dyn Upstream> = Arc::new(Emulated::new(Arc::new(Emulator::of_policy(graph.policy()))));
    (Serving::build(graph, &Process, &emulated, before, 0).unwrap(), hash)
}

fn addresses_name(addresses: &[SocketAddr]) -> String {
    // Ports are unique among tests that run at the same time.
    let ports: Vec<String> = addresses.iter().map(|a| a.port().to_string()).collect();
    format!("{}-{}", std::process::id(), ports.join("-"))
}

pub fn chat_body(more: Value) -> String {
    let mut body = json!({"model": "chat", "messages": [{"role": "user", "content": "secret prompt"}]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body.to_string()
}

/// What came back, as bytes on the wire.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    /// The body with its chunks taken apart.
    pub body: String,
    /// Whether the body came to its end as its framing says.
    pub complete: bool,
}

impl Answer {
    pub fn read(mut socket: TcpStream) -> Answer {
        let mut bytes = Vec::new();
        match socket.read_to_end(&mut bytes) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
        }
        let text = String::from_utf8(bytes).unwrap();
        let (head, rest) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let head = head.to_owned();
        let answer = Answer { status, head, body: String::new(), complete: false };
        match answer.header("content-length") {
            Some(length) => {
                let complete = rest.len() == length.parse::<usize>().unwrap();
                Answer { body: rest.to_owned(), complete, ..answer }
            }
            None => {
                let (body, complete) = unchunked(rest);
                Answer { body, complete, ..answer }
            }
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|l| {
            let (n, v) = l.split_once(':')?;
            n.eq_ignore_ascii_case(name).then_some(v.trim())
        })
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }

    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }
}

fn unchunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        let Some(piece) = after.get(..size) else { break };
        body.push_str(piece);
        rest = &after[size + 2..];
    }
    (body, false)
}

/// Targets `a`, `b`, … of one model, each at a provider of its own.
fn policy(addresses: &[SocketAddr]) -> Policy {
    let names = || ('a'..).zip(addresses);
    let providers = names().map(|(name, address)| {
        format!(
            "provider {name} {{ api openai-chat; base-url \"http://{address}/v1\"; pass-headers [\"x-hint\"]; timeout-connect 1s }}\n\
             target {name} {{ model m; provider {name}; upstream \"m-at-{name}\" }}\n"
        )
    });
    let providers: String = providers.collect();
    let chain: String = names().map(|(name, _)| format!("{name}; ")).collect();
    let text = format!(
        r#"switchback 1
        {providers}
        model m {{
          modalities [text]; streaming yes; tools no; structured-output none; context 32k; max-output 4k
        }}
        tier t {{ chain {{ {chain} }} }}
        matrix x {{
          rate-limit -> wait up to 5s, failover
          connect, timeout-*, overloaded, server-error, stream-early, empty-response, malformed-response, truncated -> failover
          otherwise -> stop
        }}
        budget b {{
          deadline 10s; attempts 3; headers 1500ms; first-token 1500ms; idle 700ms; min-attempt 100ms; reserve 1s
          backoff 20ms to 20ms, jitter none
        }}
        route chat {{ tier t; matrix x; budget b }}
        "#
    );
    let prepared = prepare(Sources::from_texts([("policy.sbk", text)]));
    let Some(ready) = prepared.ready else { panic!("{:#?}", prepared.diagnostics) };
    let mut policy = ready.graph.policy().clone();
    // A policy's text refers to keys; here they stand for themselves.
    for provider in &mut policy.providers {
        provider.keys = vec![Text::Literal(format!("key-of-{}", provider.name))];
    }
    policy
}
