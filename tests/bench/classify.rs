//! How long it takes to classify a body of 64 KiB, and how much memory it takes.
//!
//! `cargo bench --bench classify` prints one JSON line for each body: `bench`, `unit`, `value` (the median), `against`
//! (the most it may be), `ratio`, `n`. The last line is the growth of the process's peak memory over all of them, read
//! from the kernel; it is left out where the kernel does not tell.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;
use switchback::classify::{NoHeaders, http};
use switchback::wire::exchange::{Came, End, Exchange, judge};

const SIZE: usize = 64 * 1024;
const LIMIT_US: f64 = 200.0;
const LIMIT_BYTES: f64 = 1024.0 * 1024.0;
const ROUNDS: usize = 400;

fn bodies() -> Vec<(&'static str, u16, String)> {
    let fill = |text: &str| text.repeat(SIZE / text.len() + 1).chars().take(SIZE).collect::<String>();
    let wrapped = |open: &str, middle: &str, close: &str| {
        let inner: String = fill(middle).chars().take(SIZE - open.len() - close.len()).collect();
        format!("{open}{inner}{close}")
    };
    vec![
        ("message", 429, wrapped(r#"{"error":{"message":""#, "rate of the model is high. ", r#""}}"#)),
        ("members", 400, format!("{{{}\"z\":1}}", r#""message":"no such model here","#.repeat(SIZE / 34))),
        (
            "codes",
            400,
            format!("[{}{{}}]", (0..2_000).map(|n| format!("{{\"code\":\"odd_code_{n}_x\"}},")).collect::<String>()),
        ),
        ("details", 400, format!("[{}{{}}]", r#"{"detail":[{"loc":["body"],"msg":"is odd"}]},"#.repeat(SIZE / 46))),
        ("nested", 500, fill("[{\"error\":")),
        ("strings", 500, fill(r#"{"message":"{\"message\":\"{\\\"message\\\":"#)),
        ("text", 500, fill("model models/ deployment endpoint try again in ")),
        ("page", 502, wrapped("<html><title>502</title>", "<p>model <b>x</b> ", "</html>")),
        ("noise", 400, fill("{\"a\":{\"b\":[1,2,3,\"\\u00e9\"]},\"c\":")),
        (
            "success",
            200,
            wrapped(r#"{"choices":[{"message":{"content":""#, "words ", r#""},"finish_reason":"length"}]}"#),
        ),
        ("success-members", 200, format!("{{{}\"z\":1}}", r#""a":{"b":[]},"#.repeat(SIZE / 13))),
    ]
}

fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

fn classify(status: u16, body: &str) {
    if (200..300).contains(&status) {
        let came = Came::Whole { status, body, end: End::Clean };
        black_box(judge(&Exchange { provider: "", api: "openai-chat", headers: Vec::new(), came }, 0).failure);
    } else {
        black_box(http::answer(status, &NoHeaders, body.as_bytes(), 0));
    }
}

fn line(name: &str, unit: &str, value: f64, against: f64, n: usize) {
    let ratio = value / against;
    let _ = writeln!(
        std::io::stdout(),
        r#"{{"bench":"{name}","unit":"{unit}","value":{value:.1},"against":{against:.1},"ratio":{ratio:.3},"n":{n}}}"#
    );
}

fn main() {
    let bodies = bodies();
    let before = peak();
    for (_, status, body) in &bodies {
        classify(*status, body);
    }
    let after = peak();
    for (name, status, body) in &bodies {
        let mut times: Vec<u128> = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                classify(*status, black_box(body));
                start.elapsed().as_nanos()
            })
            .collect();
        times.sort_unstable();
        let median = times.get(ROUNDS / 2).copied().unwrap_or_default();
        line(&format!("classify-{name}"), "us", median as f64 / 1_000.0, LIMIT_US, ROUNDS);
    }
    if let (Some(before), Some(after)) = (before, after) {
        line("classify-memory", "bytes", after.saturating_sub(before) as f64, LIMIT_BYTES, 1);
    }
}
