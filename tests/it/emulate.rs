//! The emulator's faults as they are on a socket, read without an HTTP client.

use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use switchback::emulate::{Emulator, Scripted, server};
use switchback::policy::{Answer, Millis, Script, ScriptLine, Window};
use switchback::source::Span;
use tokio::runtime::Runtime;

/// An emulator that listens for as long as this lives.
struct Served {
    address: SocketAddr,
    _runtime: Runtime,
}

impl Served {
    fn new(emulator: Emulator) -> Served {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(server::serve(listener, Arc::new(emulator)));
        Served { address, _runtime: runtime }
    }

    fn by_name() -> Served {
        Served::new(Emulator::by_name())
    }

    fn send(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let length = body.len();
        write!(
            socket,
            "{method} {path} HTTP/1.1\r\nhost: emulator\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
        .unwrap();
        socket
    }

    fn ask(&self, model: &str, stream: bool) -> TcpStream {
        let body = json!({"model": model, "stream": stream, "messages": [{"role": "user", "content": "hi"}]});
        self.send("POST", "/v1/chat/completions", &body.to_string())
    }

    /// All that comes back, and how it ended.
    fn raw(&self, model: &str, stream: bool) -> (String, Result<(), ErrorKind>) {
        read(self.ask(model, stream))
    }

    fn status(&self, model: &str) -> u16 {
        status(&self.raw(model, false).0)
    }

    fn calls(&self) -> Value {
        body(&read(self.send("GET", "/emulator/calls", "")).0)
    }
}

fn read(mut socket: TcpStream) -> (String, Result<(), ErrorKind>) {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    let end = loop {
        match socket.read(&mut chunk) {
            Ok(0) => break Ok(()),
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            // A signal to the process (a child that ended) is no word of the peer's.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => break Err(error.kind()),
        }
    };
    (String::from_utf8(bytes).unwrap(), end)
}

fn status(raw: &str) -> u16 {
    raw.split(' ').nth(1).unwrap().parse().unwrap()
}

fn header<'a>(raw: &'a str, name: &str) -> Option<&'a str> {
    let head = raw.split_once("\r\n\r\n").unwrap().0;
    head.lines().filter_map(|l| l.split_once(": ")).find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v)
}

fn body(raw: &str) -> Value {
    serde_json::from_str(raw.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Output pieces of a raw stream.
fn pieces(raw: &str) -> usize {
    raw.lines()
        .filter_map(|l| l.strip_prefix("data: "))
        .filter_map(|l| serde_json::from_str::<Value>(l).ok())
        .filter(|e| e["choices"][0]["delta"]["content"].as_str().is_some_and(|t| !t.is_empty()))
        .count()
}

const LAST_CHUNK: &str = "0\r\n\r\n";

#[test]
fn a_plain_answer_has_text_and_length() {
    let (raw, end) = Served::by_name().raw("ok,text=hello there", false);
    assert_eq!((status(&raw), end), (200, Ok(())));
    assert!(header(&raw, "content-length").is_some(), "{raw}");
    assert_eq!(body(&raw)["choices"][0]["message"]["content"], "hello there");
}

#[test]
fn a_stream_ends_in_order() {
    let (raw, end) = Served::by_name().raw("ok", true);
    assert_eq!((status(&raw), end), (200, Ok(())));
    assert_eq!(header(&raw, "content-type").map(|t| t.starts_with("text/event-stream")), Some(true), "{raw}");
    assert!(pieces(&raw) > 0 && raw.contains("data: [DONE]"), "{raw}");
}

#[test]
fn a_status_brings_its_hint() {
    let (raw, _) = Served::by_name().raw("429,retry-after=30s,code=slow_down", false);
    assert_eq!((status(&raw), header(&raw, "retry-after")), (429, Some("30")));
    assert_eq!(body(&raw)["error"]["code"], "slow_down");
}

#[test]
fn a_reset_is_a_tcp_reset() {
    for stream in [false, true] {
        let (raw, end) = Served::by_name().raw("resets", stream);
        assert_eq!((raw.as_str(), end), ("", Err(ErrorKind::ConnectionReset)));
    }
}

#[test]
fn a_cut_leaves_the_chunked_body_open() {
    for after in [0, 1, 40] {
        let (raw, end) = Served::by_name().raw(&format!("cuts,after-events={after}"), true);
        assert_eq!((status(&raw), header(&raw, "transfer-encoding")), (200, Some("chunked")));
        assert_eq!(pieces(&raw), after, "{raw}");
        assert!(!raw.ends_with(LAST_CHUNK) && !raw.contains("[DONE]"), "{raw}");
        assert_eq!(end, Ok(()), "an end of the connection, not a reset that would take bytes with it");
    }
}

#[test]
fn a_plain_answer_is_cut_in_the_middle() {
    let (raw, _) = Served::by_name().raw("cuts", false);
    assert_eq!((status(&raw), header(&raw, "transfer-encoding")), (200, Some("chunked")));
    assert!(!raw.ends_with(LAST_CHUNK), "{raw}");
}

#[test]
fn an_unterminated_stream_ends_the_body_but_not_the_answer() {
    let (raw, end) = Served::by_name().raw("unterminated,after-events=3", true);
    assert!(raw.ends_with(LAST_CHUNK) && !raw.contains("[DONE]"), "{raw}");
    assert!(!raw.contains("\"finish_reason\":\"stop\""), "{raw}");
    assert_eq!((pieces(&raw), end), (3, Ok(())));
}

#[test]
fn a_malformed_stream_holds_a_frame_that_is_no_json() {
    let (raw, _) = Served::by_name().raw("malformed", true);
    let frames: Vec<&str> = raw.lines().filter_map(|l| l.strip_prefix("data: ")).filter(|d| *d != "[DONE]").collect();
    assert!(frames.iter().any(|f| serde_json::from_str::<Value>(f).is_err()), "{raw}");
}

#[test]
fn a_hang_holds_the_socket_and_says_nothing() {
    let served = Served::by_name();
    let socket = served.ask("hangs", false);
    socket.set_read_timeout(Some(Duration::from_millis(150))).unwrap();
    let (raw, end) = read(socket);
    assert_eq!(raw, "");
    assert!(matches!(end, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut)), "{end:?}");
    assert_eq!(served.calls()["calls"]["hangs"], 1);
}

#[test]
fn a_stall_comes_after_output() {
    let served = Served::by_name();
    let socket = served.ask("stalls,after-events=2", true);
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let (raw, end) = read(socket);
    assert_eq!((status(&raw), pieces(&raw)), (200, 2), "{raw}");
    assert!(matches!(end, Err(ErrorKind::WouldBlock | ErrorKind::TimedOut)), "{end:?}");
}

#[test]
fn steps_answer_in_order() {
    let served = Served::by_name();
    let seen: Vec<u16> = (0..5).map(|_| served.status("503*2 then 429 then ok")).collect();
    assert_eq!(seen, [503, 503, 429, 200, 200]);
}

#[test]
fn a_share_is_a_share_and_the_same_each_time() {
    let row = || {
        let served = Served::by_name();
        (0..100).map(|_| served.status("share=20%,status=503")).collect::<Vec<_>>()
    };
    let first = row();
    let failed = first.iter().filter(|s| **s == 503).count();
    assert!((10..=30).contains(&failed), "{failed}");
    assert_eq!(first, row());
}

#[test]
fn it_flaps_from_its_first_call_on() {
    let served = Served::by_name();
    assert_eq!(served.status("flaps,down=10m,up=10m"), 503);
    assert_eq!(served.status("flaps,up=10m,down=10m"), 200);
}

#[test]
fn it_counts_what_it_received_and_forgets_on_demand() {
    let served = Served::by_name();
    for model in ["ok", "ok", "503*1", "resets"] {
        let _ = served.raw(model, model == "ok");
    }
    let calls = served.calls();
    assert_eq!((&calls["version"], &calls["total"]), (&json!(1), &json!(4)));
    assert_eq!(calls["calls"], json!({"ok": 2, "503*1": 1, "resets": 1}));
    assert_eq!(calls["last"][0]["stream"], true);
    assert_eq!(calls["last"][0]["headers"], json!(["host", "content-length", "connection"]));
    let after = body(&read(served.send("DELETE", "/emulator/calls", "")).0);
    assert_eq!((&after["total"], &after["calls"]), (&json!(0), &json!({})));
    assert_eq!(served.status("503*1"), 503, "its script starts anew");
}

#[test]
fn what_it_does_not_know_is_an_error_and_is_counted() {
    let served = Served::by_name();
    let (raw, _) = served.raw("gpt-4o", false);
    assert_eq!((status(&raw), &body(&raw)["error"]["code"]), (404, &json!("model_not_found")));
    assert!(raw.contains("`gpt-4o` is no answer"), "{raw}");
    let (raw, _) = read(served.send("POST", "/v1/chat/completions", "{"));
    assert_eq!(status(&raw), 400);
    assert_eq!(served.calls()["total"], 2);
    assert_eq!(status(&read(served.send("GET", "/v1/chat/completions", "")).0), 405);
    assert_eq!(status(&read(served.send("GET", "/nothing", "")).0), 404);
}

#[test]
fn a_policys_targets_answer_by_name_and_by_upstream() {
    let line = |answer| ScriptLine {
        window: Window::Between(Millis(0), Millis(600_000)),
        share: None,
        answer,
        after: Millis(0),
        times: None,
        span: Span::default(),
    };
    let down = Answer::Status { status: 529, retry_after: None, code: None };
    let script = Script { lines: vec![line(down)], repeats: None };
    let served = Served::new(Emulator::new([
        Scripted { target: "north-1".into(), upstream: "small-chat".into(), script },
        Scripted { target: "south-1".into(), upstream: "other-chat".into(), script: Script::default() },
    ]));
    assert_eq!([served.status("north-1"), served.status("small-chat"), served.status("south-1")], [529, 529, 200]);
    assert_eq!(served.status("503"), 404, "a policy's emulator takes no scripts by name");
    assert_eq!(served.calls()["calls"], json!({"north-1": 2, "south-1": 1, "503": 1}));
    let models = body(&read(served.send("GET", "/v1/models", "")).0);
    assert_eq!((&models["data"][0]["id"], &models["data"][1]["id"]), (&json!("north-1"), &json!("south-1")));
}

/// The command itself, with its first line on stderr.
#[cfg(unix)]
fn command(args: &[&str]) -> (std::process::Child, String) {
    use std::io::{BufRead, BufReader};
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_switchback"))
        .arg("emulate")
        .args(args)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    (child, line)
}

#[cfg(unix)]
#[test]
fn the_command_says_its_address_and_ends_in_order_when_told_to() {
    let (mut child, line) = command(&["--listen", "127.0.0.1:0"]);
    let address = line.trim().strip_prefix("listening on http://").expect(&line).to_string();
    assert!(!address.ends_with(":0"), "{line}");
    let (mut taken, why) = command(&["--listen", &address]);
    assert_eq!((taken.wait().unwrap().code(), why.contains("cannot listen")), (Some(2), true), "{why}");
    // A request that hangs does not hold up the end.
    let mut socket = TcpStream::connect(&address).unwrap();
    let body = r#"{"model":"hangs"}"#;
    write!(socket, "POST /v1/chat/completions HTTP/1.1\r\nhost: e\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .unwrap();
    let told = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn the_command_listens_on_loopback_only() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:4010", "nonsense"] {
        let (mut child, line) = command(&["--listen", address]);
        assert_eq!(child.wait().unwrap().code(), Some(2), "{address}");
        assert!(line.contains(address), "{line}");
    }
}
