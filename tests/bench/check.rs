//! `switchback check` of a large set in a fresh process: reading, parsing, checking, lints, and telling.

use super::line::{median, result};
use super::process::{Folder, SWITCHBACK, rounds};
use std::fmt::Write;
use std::process::Command;
use std::time::Instant;

/// The size of the set, in bytes.
const SIZE: usize = 1024 * 1024;
/// Mistakes of the bad one.
const MISTAKES: usize = 200;
/// The goal, in milliseconds.
const AIM: f64 = 300.0;

/// A set of about so many bytes: each part is a whole policy with names of its own.
pub fn set(size: usize) -> (String, usize) {
    let mut text = String::from("switchback 1\n");
    let mut parts = 0;
    while text.len() < size {
        let n = parts;
        write!(
            text,
            r#"
# Part {n} of a large set.
provider near-{n} {{ api openai-chat; base-url "https://near-{n}.example/v1"; key env NEAR_{n}_KEY }}
provider far-{n} {{ api openai-chat; base-url "https://far-{n}.example/v1"; key env FAR_{n}_KEY }}
model m-{n} {{
  modalities [text]; streaming yes; tools yes; structured-output none
  context 32k; max-output 4k; price $0.50/M in, $1.50/M out
}}
target a-{n} {{ model m-{n}; provider near-{n} }}
target b-{n} {{ model m-{n}; provider far-{n} }}
tier t-{n} {{ chain {{ a-{n} when request.tokens <= 12k; b-{n} }} }}
contract c-{n} {{ streaming yes; context >= 16k }}
matrix x-{n} {{
  overloaded, server-error -> retry once, failover
  connect, timeout-* -> failover
  rate-limit -> wait up to 2s, failover
  otherwise -> stop
}}
budget u-{n} {{ deadline 10s; attempts 4; backoff 200ms to 1s, jitter full }}
route r-{n} {{ tier t-{n}; contract c-{n}; matrix x-{n}; budget u-{n} }}
"#
        )
        .unwrap();
        parts += 1;
    }
    (text, parts)
}

/// The same with mistakes of four kinds, spread evenly.
fn spoiled(text: &str, parts: usize) -> String {
    let mut text = text.to_owned();
    for i in 0..MISTAKES {
        let n = i * parts / MISTAKES;
        let (right, wrong) = match i % 4 {
            0 => (format!("route r-{n} {{ tier t-{n};"), format!("route r-{n} {{ tier tt-{n};")),
            1 => (format!("budget u-{n} {{ deadline 10s;"), format!("budget u-{n} {{ deadline 10 parsecs;")),
            2 => (format!("target a-{n} {{ model m-{n};"), format!("target a-{n} {{ modle m-{n};")),
            _ => (format!("contract c-{n} {{ streaming yes;"), format!("contract c-{n} {{ streaming maybe;")),
        };
        assert!(text.contains(&right));
        text = text.replacen(&right, &wrong, 1);
    }
    text
}

pub fn run() {
    let folder = Folder::new("check");
    let (good, parts) = set(SIZE);
    let bad = spoiled(&good, parts);
    for (name, text, exit) in [("valid", &good, 0), ("200 mistakes", &bad, 1)] {
        let file = folder.0.join("policy.sbk");
        std::fs::write(&file, text).unwrap();
        let runs = 3 * rounds().0 as usize;
        let times = (0..runs).map(|_| {
            let began = Instant::now();
            let out = Command::new(SWITCHBACK).arg("check").arg(&file).output().unwrap();
            let took = began.elapsed().as_secs_f64() * 1e3;
            assert_eq!(out.status.code(), Some(exit), "{}", String::from_utf8_lossy(&out.stderr));
            took
        });
        result(&format!("check 1 MiB {name}"), "ms", median(times.collect()), Some(("aim", AIM)), runs);
    }
}
