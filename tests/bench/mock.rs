//! An upstream that costs as little as one can: it looks for the end of a request and writes bytes that are ready.
//!
//! One address answers, the other is overloaded but for one request of a thousand. A streamed answer is ten chunks, each written by itself; in a
//! body that holds `paced` they are 2 ms apart, and in one that holds `held` the second never comes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const CHUNKS: usize = 10;
/// Of so many requests the overloaded one answers one, lest all who call it give it up.
const LET_IN: u64 = 1_000;

static REFUSED: AtomicU64 = AtomicU64::new(0);
const PACE: Duration = Duration::from_millis(2);

pub fn run() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let good = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let bad = TcpListener::bind("127.0.0.1:0").await.unwrap();
        eprintln!("mock {} {}", good.local_addr().unwrap(), bad.local_addr().unwrap());
        tokio::spawn(accept(bad, true));
        accept(good, false).await;
    });
}

async fn accept(listener: TcpListener, overloaded: bool) {
    loop {
        let Ok((socket, _)) = listener.accept().await else { continue };
        let _ = socket.set_nodelay(true);
        tokio::spawn(connection(socket, overloaded));
    }
}

async fn connection(mut socket: TcpStream, overloaded: bool) {
    let error = r#"{"error":{"message":"overloaded","type":"server_error","code":"overloaded"}}"#;
    let error = whole("503 Service Unavailable", error);
    let filler = "x".repeat(700);
    let answer = whole(
        "200 OK",
        &format!(
            r#"{{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":"{filler}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}}}"#
        ),
    );
    let pieces = stream();
    let mut bytes = Vec::with_capacity(8_192);
    let mut begin = 0;
    loop {
        let end = loop {
            if let Some(end) = request_end(&bytes[begin..]) {
                break begin + end;
            }
            match socket.read_buf(&mut bytes).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        };
        let request = &bytes[begin..end];
        let refused = overloaded && REFUSED.fetch_add(1, Ordering::Relaxed) % LET_IN != LET_IN - 1;
        let said = if refused {
            socket.write_all(&error).await
        } else if find(request, b"\"stream\":true").is_some() {
            play(&mut socket, &pieces, request).await
        } else {
            socket.write_all(&answer).await
        };
        if said.is_err() {
            return;
        }
        begin = end;
        if begin == bytes.len() {
            bytes.clear();
            begin = 0;
        }
    }
}

async fn play(socket: &mut TcpStream, pieces: &[Vec<u8>], request: &[u8]) -> std::io::Result<()> {
    let (paced, held) = (find(request, b"paced").is_some(), find(request, b"held").is_some());
    for (i, piece) in pieces.iter().enumerate() {
        if i > 1 && paced {
            tokio::time::sleep(PACE).await;
        }
        if i > 1 && held {
            // Until the other side goes.
            return socket.read_u8().await.and(Err(std::io::ErrorKind::BrokenPipe.into()));
        }
        socket.write_all(piece).await?;
        // Somebody else's turn: what is written in one go would arrive as one piece.
        tokio::task::yield_now().await;
    }
    Ok(())
}

fn whole(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}").into()
}

fn stream() -> Vec<Vec<u8>> {
    let event = |delta: &str, finish: &str| {
        let text = format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        );
        format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut pieces = vec![head.into()];
    pieces.extend((0..CHUNKS).map(|_| event(r#"{"content":"word "}"#, "null")));
    pieces.push(event("{}", "\"stop\""));
    pieces.push(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n".to_vec());
    pieces
}

/// How long the request is that these bytes begin with, once all of it is there.
fn request_end(bytes: &[u8]) -> Option<usize> {
    let head = find(bytes, b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&bytes[..head]).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let end = head + length.unwrap_or(0);
    (bytes.len() >= end).then_some(end)
}

pub fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|w| w == what)
}
