//! Load: `load closed|open ADDRESS PATH MODEL SHAPE SECONDS [CONNECTIONS|RATE]`, one line of numbers on stdout.
//!
//! Closed: so many connections, each asks again as soon as it is answered. Open: so many requests a second whatever
//! becomes of them, each timed from when it was due. A shape is `plain`, `burst` (a stream without pause) or `paced`.

use super::line::at;
use super::mock::find;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Threads of an open loop: more than can ever be waiting at once.
const WORKERS: usize = 96;
/// Share of a closed loop's time that is not counted.
const WARM: f64 = 0.15;

/// What a load came to.
pub struct Load {
    /// Answers.
    pub n: usize,
    /// Answers a second.
    pub rate: f64,
    /// Half of them came within so many microseconds, and 99 of 100.
    pub p50: f64,
    pub p99: f64,
    /// Answers that were none.
    pub failed: u64,
}

impl Load {
    pub fn parse(text: &str) -> Load {
        let numbers: Vec<f64> = text.split_whitespace().map(|t| t.parse().unwrap()).collect();
        let [n, rate, p50, p99, failed] = numbers[..] else { panic!("the load said `{text}`") };
        Load { n: n as usize, rate, p50, p99, failed: failed as u64 }
    }
}

/// A chat request's body.
pub fn body(model: &str, stream: bool) -> String {
    format!(
        r#"{{"model":"{model}","stream":{stream},"messages":[{{"role":"user","content":"{}"}}]}}"#,
        "word ".repeat(40)
    )
}

fn request(path: &str, model: &str, shape: &str) -> Vec<u8> {
    let mut body = body(model, shape != "plain");
    if shape == "paced" || shape == "held" {
        body = body.replace("word word", &format!("{shape} word"));
    }
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: b\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into()
}

/// How long the answer is that these bytes begin with, once all of it is there, and whether it is a good one.
fn answer_end(bytes: &[u8]) -> Option<(usize, bool)> {
    let head = find(bytes, b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&bytes[..head]).ok()?;
    let good = text.starts_with("HTTP/1.1 200");
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let end = match length {
        Some(length) => head + length,
        None if bytes.ends_with(b"0\r\n\r\n") => bytes.len(),
        None => return None,
    };
    (bytes.len() >= end).then_some((end, good))
}

pub fn run(args: &[String]) {
    let [kind, address, path, model, shape, secs, many] = args else { panic!("load: {args:?}") };
    let request = request(path, model, shape);
    let (secs, many) = (secs.parse::<f64>().unwrap(), many.parse::<u64>().unwrap());
    let (mut times, failed, took) =
        if kind == "closed" { closed(address, &request, secs, many) } else { open(address, &request, secs, many) };
    times.sort_by(f64::total_cmp);
    let n = times.len();
    println!("{n} {} {} {} {failed}", n as f64 / took, at(&times, 0.5), at(&times, 0.99));
}

fn closed(address: &str, request: &[u8], secs: f64, many: u64) -> (Vec<f64>, u64, f64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (times, failed) = (Mutex::new(Vec::new()), AtomicU64::new(0));
    let began = Instant::now();
    let (warm, end) = (began + Duration::from_secs_f64(secs * WARM), began + Duration::from_secs_f64(secs));
    runtime.block_on(async {
        let all = (0..many).map(|_| async {
            let mut bytes = Vec::with_capacity(16_384);
            let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
            socket.set_nodelay(true).unwrap();
            while Instant::now() < end {
                let asked = Instant::now();
                socket.write_all(request).await.unwrap();
                bytes.clear();
                let good = loop {
                    if socket.read_buf(&mut bytes).await.unwrap() == 0 {
                        break false;
                    }
                    if let Some((_, good)) = answer_end(&bytes) {
                        break good;
                    }
                };
                if !good {
                    failed.fetch_add(1, Ordering::Relaxed);
                    socket = tokio::net::TcpStream::connect(address).await.unwrap();
                    socket.set_nodelay(true).unwrap();
                } else if asked >= warm {
                    times.lock().unwrap().push(asked.elapsed().as_secs_f64() * 1e6);
                }
            }
        });
        futures_util::future::join_all(all).await;
    });
    (times.into_inner().unwrap(), failed.into_inner(), secs * (1.0 - WARM))
}

fn open(address: &str, request: &[u8], secs: f64, rate: u64) -> (Vec<f64>, u64, f64) {
    let (times, failed, next) = (Mutex::new(Vec::new()), AtomicU64::new(0), AtomicU64::new(0));
    let count = (secs * rate as f64) as u64;
    let began = Instant::now() + Duration::from_millis(100);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let mut socket = TcpStream::connect(address).unwrap();
                socket.set_nodelay(true).unwrap();
                socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                let (mut bytes, mut buffer) = (Vec::new(), vec![0; 16_384]);
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        return;
                    }
                    let due = began + Duration::from_secs_f64(i as f64 / rate as f64);
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    socket.write_all(request).unwrap();
                    bytes.clear();
                    let good = loop {
                        match socket.read(&mut buffer) {
                            Ok(n) if n > 0 => bytes.extend_from_slice(&buffer[..n]),
                            _ => break false,
                        }
                        if let Some((_, good)) = answer_end(&bytes) {
                            break good;
                        }
                    };
                    if good {
                        times.lock().unwrap().push(due.elapsed().as_secs_f64() * 1e6);
                    } else {
                        failed.fetch_add(1, Ordering::Relaxed);
                        socket = TcpStream::connect(address).unwrap();
                    }
                }
            });
        }
    });
    (times.into_inner().unwrap(), failed.into_inner(), secs)
}

/// Opens streams that stay open, and waits for the first piece of each.
pub fn held(address: &str, many: usize) -> Vec<TcpStream> {
    let request = request("/v1/chat/completions", "ok", "held");
    let mut sockets: Vec<TcpStream> = Vec::new();
    for _ in 0..many {
        let mut socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        socket.write_all(&request).unwrap();
        sockets.push(socket);
    }
    for socket in &mut sockets {
        let (mut seen, mut buffer) = (Vec::new(), [0; 1_024]);
        while find(&seen, b"word ").is_none() {
            let n = socket.read(&mut buffer).unwrap();
            assert!(n > 0, "{}", String::from_utf8_lossy(&seen));
            seen.extend_from_slice(&buffer[..n]);
        }
    }
    sockets
}
