//! Clients that a gateway does not control: slow, endless, pipelining, ambiguous, old. After each of them everything is
//! as it was before, and what was refused has called nobody.

use super::gateway_rig::{Act, Answer, Rig, chat_body, completion, done, event_text, finish, last_chunk, ok, role};
use super::gateway_rig::{stream_head, text, whole};
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use switchback::gateway::server::Patience;
use switchback::policy::Text;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const SOON: Duration = Duration::from_secs(20);

/// Waits until something is so.
#[track_caller]
fn until(what: &str, so: impl Fn() -> bool) {
    let end = Instant::now() + SOON;
    while !so() {
        assert!(Instant::now() < end, "it does not come to be so: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A rig, and that nothing of what a test did stays behind.
struct Door {
    rig: Rig,
    tasks: usize,
}

impl Door {
    fn new(upstreams: Vec<Vec<Vec<Act>>>) -> Door {
        Door::patient(upstreams, Patience::default())
    }

    fn patient(upstreams: Vec<Vec<Vec<Act>>>, patience: Patience) -> Door {
        Door::of(Rig::patient(upstreams, patience, |_| {}))
    }

    fn of(rig: Rig) -> Door {
        until("the gateway and its upstreams are there", || rig.tasks() == 1 + rig.upstreams.len());
        Door { tasks: rig.tasks(), rig }
    }

    fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.rig.address).unwrap();
        socket.set_read_timeout(Some(SOON)).unwrap();
        socket.set_nodelay(true).unwrap();
        socket
    }

    fn say(&self, request: impl AsRef<[u8]>) -> TcpStream {
        let mut socket = self.connect();
        socket.write_all(request.as_ref()).unwrap();
        socket
    }

    fn calls(&self) -> usize {
        self.rig.upstreams.iter().map(|u| u.calls().len()).sum()
    }

    /// Everything is as it was, and so many calls were made. A pool that has once had an idle connection keeps a task
    /// that looks after its age: one for each provider, however many calls there were.
    #[track_caller]
    fn is_quiet_after(&self, calls: usize) {
        let pools = self.rig.upstreams.len();
        until("no task is left over", || self.rig.tasks() <= self.tasks + pools);
        until("no request runs", || self.rig.engine.meters.running_now() == 0);
        assert_eq!(self.calls(), calls);
    }
}

/// A chat request on a connection that is kept.
fn request(version: &str, headers: &str, more: serde_json::Value) -> String {
    let body = chat_body(more);
    let length = body.len();
    format!("POST /v1/chat/completions {version}\r\nhost: g\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

fn plain(headers: &str) -> String {
    request("HTTP/1.1", headers, json!({}))
}

/// All that comes, and whether the connection was reset.
fn rest(mut socket: TcpStream) -> (String, bool) {
    let mut bytes = Vec::new();
    let reset = match socket.read_to_end(&mut bytes) {
        Ok(_) => false,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
            true
        }
    };
    (String::from_utf8(bytes).unwrap(), reset)
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let door = Door::new(vec![vec![ok("hi")]]);
    let mut socket = door.connect();
    for byte in plain("connection: close\r\n").bytes() {
        socket.write_all(&[byte]).unwrap();
    }
    let answer = Answer::read(socket);
    assert_eq!((answer.status, answer.header("x-switchback-target")), (200, Some("a")));
    door.is_quiet_after(1);
}

#[test]
fn a_body_that_never_ends_is_refused_once_it_is_too_large() {
    let door = Door::new(vec![vec![ok("never")]]);
    let mut socket = door.say("POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ntransfer-encoding: chunked\r\n\r\n");
    let mut writer = socket.try_clone().unwrap();
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let writing = std::thread::spawn(move || while writer.write_all(chunk.as_bytes()).is_ok() {});
    let mut head = [0; 12];
    socket.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 413");
    socket.shutdown(Shutdown::Both).unwrap();
    writing.join().unwrap();
    door.is_quiet_after(0);
    let record = door.rig.records(1).remove(0);
    assert_eq!((&record["outcome"], &record["attempts"]), (&json!("refused"), &json!(0)));
}

#[test]
fn a_client_that_writes_all_of_a_body_too_large_still_sees_why_it_was_refused() {
    let door = Door::new(vec![vec![ok("never")]]);
    for framing in ["content-length: 8388608\r\n\r\n", "transfer-encoding: chunked\r\n\r\n800000\r\n"] {
        let mut socket =
            door.say(format!("POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nconnection: close\r\n{framing}"));
        socket.write_all(&vec![b'x'; 8 << 20]).unwrap();
        let answer = Answer::read(socket);
        assert_eq!((answer.status, answer.code().as_str()), (413, "body_too_large"));
        assert!(answer.complete && answer.header("x-switchback-id").is_some());
    }
    // One that asks first is told not to send at all.
    let answer = Answer::read(door.say(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nexpect: 100-continue\r\ncontent-length: 8388608\r\n\r\n",
    ));
    assert_eq!(answer.status, 413);
    door.is_quiet_after(0);
}

#[test]
fn heads_and_bodies_that_stop_are_given_up() {
    let patience = Patience { head: Duration::from_millis(300), ..Patience::default() };
    let door = Door::patient(vec![vec![ok("never")]], patience);
    let answer = Answer::read(
        door.say("POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nconnection: close\r\ncontent-length: 99\r\n\r\n{"),
    );
    assert_eq!((answer.status, answer.code().as_str()), (408, "request_timeout"));
    for begun in ["", "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nx-a: "] {
        assert_eq!(rest(door.say(begun)), (String::new(), false), "{begun:?}");
    }
    door.is_quiet_after(0);
}

/// `SWITCHBACK_IDLE=2000` asks for more of them.
#[test]
fn idle_connections_take_nothing_from_requests() {
    let many = std::env::var("SWITCHBACK_IDLE").map_or(300, |n| n.parse().unwrap());
    let door = Door::new(vec![vec![ok("hi")]]);
    let idle: Vec<TcpStream> = (0..many)
        .map(|i| if i % 2 == 0 { door.connect() } else { door.say("POST /v1/chat/completions HTTP/1.1\r\n") })
        .collect();
    until("all are taken", || door.rig.tasks() >= door.tasks + many);
    let began = Instant::now();
    for _ in 0..10 {
        assert_eq!(door.rig.chat("", json!({})).status, 200);
    }
    println!("{many} idle connections: 10 requests in {:?}", began.elapsed());
    drop(idle);
    door.is_quiet_after(10);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let door = Door::new(vec![vec![ok("one"), ok("two"), ok("three")]]);
    let socket = door.say([plain(""), plain(""), plain("connection: close\r\n")].concat());
    let (text, reset) = rest(socket);
    assert!(!reset && text.matches("HTTP/1.1 200").count() == 3, "{text}");
    let at = |word: &str| text.find(&format!("\"content\":\"{word}\"")).unwrap();
    assert!(at("one") < at("two") && at("two") < at("three"));
    door.is_quiet_after(3);
}

#[test]
fn nonsense_after_a_request_spoils_only_itself() {
    let door = Door::new(vec![vec![ok("one")]]);
    let (text, _) = rest(door.say([&plain(""), "\x01\x02 nonsense\r\n\r\n"].concat()));
    let answers: Vec<&str> = text.split("HTTP/1.1 ").skip(1).map(|a| &a[..3]).collect();
    assert_eq!(answers, ["200", "400"], "{text}");
    door.is_quiet_after(1);
}

#[test]
fn heads_beyond_the_limits_are_refused() {
    let door = Door::new(vec![vec![ok("never")]]);
    let long = |bytes: usize| format!("connection: close\r\nx-long: {}\r\n", "v".repeat(bytes));
    let answer = Answer::read(door.say(plain(&long(70_000))));
    assert_eq!((answer.status, answer.code().as_str()), (431, "headers_too_large"));
    assert!(answer.header("x-switchback-id").is_some());
    let many: String = (0..150).map(|i| format!("x-{i}: v\r\n")).collect();
    for headers in [long(1 << 20), many] {
        // The client may be cut off while it still writes: what counts is what it can read.
        let mut socket = door.connect();
        let _ = socket.write_all(plain(&headers).as_bytes());
        let (text, _) = rest(socket);
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 431"), "{text}");
    }
    let far = format!("GET /{} HTTP/1.1\r\nhost: g\r\n\r\n", "p".repeat(70_000));
    let (text, _) = rest(door.say(far));
    assert!(text.starts_with("HTTP/1.1 414"), "{text}");
    door.is_quiet_after(0);
}

#[test]
fn where_a_request_ends_has_one_answer() {
    let door = Door::new(vec![vec![ok("one")]]);
    let body = chat_body(json!({}));
    let size = body.len();
    // Chunks rule, and nothing that follows on such a connection is believed.
    let hidden = plain("");
    for lengths in
        ["content-length: 4\r\ntransfer-encoding: chunked", "transfer-encoding: chunked\r\ncontent-length: 4"]
    {
        let (text, _) = rest(door.say(format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\n{lengths}\r\n\r\n{size:x}\r\n{body}\r\n0\r\n\r\n{hidden}"
        )));
        assert_eq!(text.matches("HTTP/1.1 200").count(), 1, "{text}");
        assert!(text.contains("connection: close"), "{text}");
    }
    door.is_quiet_after(2);
    for lengths in [
        "content-length: 4\r\ncontent-length: 5",
        "content-length: -1",
        "content-length: 99999999999999999999999999",
        "transfer-encoding: chunked\r\ntransfer-encoding: identity",
        "transfer-encoding: gzip",
    ] {
        let (text, _) = rest(door.say(format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\n{lengths}\r\n\r\n{size:x}\r\n{body}\r\n0\r\n\r\n{hidden}"
        )));
        assert!(text.starts_with("HTTP/1.1 4") && text.matches("HTTP/1.1 ").count() == 1, "{lengths}: {text}");
    }
    door.is_quiet_after(2);
}

#[test]
fn an_old_client_gets_a_whole_answer_with_its_length() {
    let door = Door::new(vec![vec![ok("hi")]]);
    let (text, reset) = rest(door.say(request("HTTP/1.0", "", json!({}))));
    assert!(!reset && text.starts_with("HTTP/1.0 200") && text.contains("content-length: "), "{text}");
    let (text, _) = rest(door.say("POST /v1/chat/completions HTTP/1.0\r\n\r\n"));
    assert!(text.starts_with("HTTP/1.0 400") && text.contains("x-switchback-id"), "{text}");
    let (text, _) = rest(door.say("POST /v1/chat/completions HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"));
    assert!(text.contains(" 400 "), "{text}");
    door.is_quiet_after(1);
}

#[test]
fn an_old_client_sees_the_end_of_a_stream_and_cannot_mistake_a_cut_for_it() {
    let good = vec![stream_head(), role(), text("Hel"), finish(), done(), last_chunk()];
    let cut = vec![stream_head(), role(), text("Hel"), Act::Pause(30), Act::Reset];
    let door = Door::new(vec![vec![good, cut]]);
    let ask = || rest(door.say(request("HTTP/1.0", "", json!({"stream": true}))));
    let (text, reset) = ask();
    assert!(!reset && text.ends_with("data: [DONE]\n\n"), "{text}");
    let (text, reset) = ask();
    assert!(reset && text.contains("partial-stream") && !text.contains("[DONE]"), "{text}");
    door.is_quiet_after(2);
}

#[test]
fn a_stream_that_the_gateway_gives_up_does_not_end_in_order_for_an_old_client() {
    let acts = vec![stream_head(), role(), text("Hel"), Act::Hang];
    let patience = Patience { drain: Duration::from_millis(50), ..Patience::default() };
    let mut door = Door::of(Rig::patient(vec![vec![acts]], patience, |policy| {
        policy.budgets[0].idle = switchback::policy::Millis(60_000);
    }));
    let mut socket = door.say(request("HTTP/1.0", "", json!({"stream": true})));
    let mut seen = String::new();
    while !seen.contains("Hel") {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        seen.push(char::from(byte[0]));
    }
    door.rig.stop();
    assert_eq!(door.rig.ended(), 1);
    assert!(rest(socket).1, "an orderly end would look like the end of the answer");
}

#[test]
fn a_client_that_stops_sending_counts_as_gone() {
    let door = Door::new(vec![vec![vec![Act::Hang]]]);
    let socket = door.say(plain(""));
    until("the upstream is called", || door.calls() == 1);
    socket.shutdown(Shutdown::Write).unwrap();
    assert_eq!(door.rig.records(1)[0]["outcome"], "cancelled");
    door.is_quiet_after(1);
}

/// An upstream that streams text for as long as it is not told to end.
struct Torrent {
    address: SocketAddr,
    sent: Arc<AtomicUsize>,
    end: Arc<AtomicBool>,
    runtime: tokio::runtime::Runtime,
}

impl Torrent {
    fn new() -> Torrent {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (sent, end) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, ended) = (Arc::clone(&sent), Arc::clone(&end));
        runtime.spawn(async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 4096];
            assert!(socket.read(&mut buffer).await.unwrap() > 0);
            let say = |act: Act| match act {
                Act::Say(text) => text.into_bytes(),
                other => panic!("{other:?}"),
            };
            let mut bytes = [say(stream_head()), say(role())].concat();
            loop {
                if socket.write_all(&bytes).await.is_err() {
                    return;
                }
                count.fetch_add(bytes.len(), Ordering::Relaxed);
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                bytes = say(text(&"x".repeat(8_000)));
            }
            let _ = socket.write_all(&[say(finish()), say(done()), say(last_chunk())].concat()).await;
        });
        Torrent { address, sent, end, runtime }
    }

    fn door(&self, patience: Patience) -> Door {
        let address = self.address;
        Door::of(Rig::patient(vec![vec![]], patience, |policy| {
            policy.providers[0].base_url = Some(Text::Literal(format!("http://{address}/v1")));
        }))
    }

    fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    /// Waits until the upstream cannot send any more, for longer than the idle timer of the rig, and says how much it
    /// had sent by then.
    fn stopped(&self) -> usize {
        let end = Instant::now() + SOON;
        let (mut before, mut since) = (0, Instant::now());
        while before == 0 || since.elapsed() < Duration::from_millis(1_500) {
            if self.sent() != before {
                (before, since) = (self.sent(), Instant::now());
            }
            assert!(Instant::now() < end, "the upstream is never slowed: {before} bytes");
            std::thread::sleep(Duration::from_millis(10));
        }
        before
    }
}

/// Most that may lie between an upstream and a client that does not read: what two systems' sockets hold, and little of
/// our own.
const ON_THE_WAY: usize = 32 << 20;

#[test]
fn a_slow_reader_slows_the_upstream_and_nobody_is_blamed() {
    let torrent = Torrent::new();
    let door = torrent.door(Patience::default());
    let mut socket = door.say(request("HTTP/1.1", "connection: close\r\n", json!({"stream": true})));
    for _ in 0..200 {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    let sent = torrent.stopped();
    assert!(sent < ON_THE_WAY, "{sent} bytes are on the way");
    torrent.end.store(true, Ordering::Relaxed);
    let (text, reset) = rest(socket);
    assert!(!reset && text.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n") && !text.contains("\"error\""));
    let record = door.rig.records(1).remove(0);
    assert_eq!((&record["outcome"], &record["attempts"]), (&json!("served"), &json!(1)));
    door.is_quiet_after(0);
    torrent.runtime.shutdown_background();
}

#[test]
fn a_client_that_takes_nothing_is_left() {
    let patience = Patience { stall: Duration::from_millis(400), ..Patience::default() };
    let torrent = Torrent::new();
    let door = torrent.door(patience);
    let socket = door.say(request("HTTP/1.1", "", json!({"stream": true})));
    assert_eq!(door.rig.records(1)[0]["outcome"], "cancelled");
    door.is_quiet_after(0);
    drop(socket);
    torrent.runtime.shutdown_background();

    let large = completion(None, &"x".repeat(24 << 20));
    let door = Door::patient(vec![vec![whole(200, "", &large)]], patience);
    let socket = door.say(plain(""));
    until("the answer is there", || door.rig.engine.meters.running_now() == 0 && door.calls() == 1);
    door.is_quiet_after(1);
    drop(socket);
}

#[test]
fn an_event_is_not_taken_apart_for_a_slow_reader() {
    let word = "word ".repeat(2_000);
    let mut acts = vec![stream_head(), role()];
    acts.extend((0..200).map(|_| text(&word)));
    acts.extend([finish(), done(), last_chunk()]);
    let door = Door::new(vec![vec![acts]]);
    let mut socket = door.say(request("HTTP/1.1", "connection: close\r\n", json!({"stream": true})));
    let mut bytes = Vec::new();
    let mut piece = [0; 997];
    loop {
        let n = socket.read(&mut piece).unwrap();
        if n == 0 {
            break;
        }
        bytes.extend_from_slice(&piece[..n]);
    }
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.matches(&event_text(json!({"content": word}), None)).count(), 200);
    door.is_quiet_after(1);
}
