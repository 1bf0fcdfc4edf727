//! The gateway between a load and a mock, beside nginx in the same place and nothing at all.
//!
//! Core 0 has the mock and the load, core 1 who is measured. Each round measures all of them in turn, so that what else
//! the machine does meets all alike; what is told are medians over rounds.

use super::line::{median, result};
use super::load::Load;
use super::process::{Folder, Running, ask, on, rounds};
use std::path::Path;

/// Connections of the closed loop, and requests a second of the open one.
const CONNECTIONS: u64 = 64;
const RATE: u64 = 500;

/// Where each of them stands.
const LOAD: Option<u32> = Some(0);
const PEER: Option<u32> = Some(1);

const SCENARIOS: [(&str, &str, &str, u64); 8] = [
    ("closed", "plain", "ok", CONNECTIONS),
    ("closed", "plain", "fo", CONNECTIONS),
    ("closed", "burst", "ok", CONNECTIONS),
    ("closed", "burst", "fo", CONNECTIONS),
    ("open", "plain", "ok", RATE),
    ("open", "plain", "fo", RATE),
    ("open", "paced", "ok", RATE),
    ("open", "paced", "fo", RATE),
];

/// One of those that are compared.
struct Peer {
    name: &'static str,
    /// Addresses for requests that the first target answers, and for those whose first target is overloaded.
    good: String,
    failing: Option<String>,
    process: Option<Running>,
}

impl Peer {
    fn address(&self, model: &str) -> Option<&str> {
        if model == "fo" { self.failing.as_deref() } else { Some(&self.good) }
    }
}

/// The policy under load: one model that is served at once, and one whose first target is overloaded. Its breaker
/// opens only where all fail, and the mock lets one of a thousand through: it never opens.
pub fn policy([good, bad]: &[String; 2]) -> String {
    format!(
        r#"switchback 1
# allow SB0602: the load names no key.
provider good {{ api openai-chat; base-url "http://{good}/v1" }}
provider bad {{ api openai-chat; base-url "http://{bad}/v1"; breaker never }}
breaker never {{
  trip when errors >= 100% over 30s, min 10000
  trip when consecutive >= 10000
}}
model m {{ modalities [text]; streaming yes; tools no; structured-output none; context 32k; max-output 4k }}
target g {{ model m; provider good }}
target b {{ model m; provider bad }}
tier ok {{ chain {{ g; b }} }}
tier fo {{ chain {{ b; g }} }}
matrix x {{
  context-overflow, payload-too-large, policy, partial-stream -> stop
  otherwise -> failover
}}
budget q {{ deadline 30s; attempts 3 }}
defaults {{ matrix x; budget q }}
route ok {{ tier ok }}
route fo {{ tier fo }}
"#
    )
}

/// nginx in the same place: the same two ways, connections kept, nothing written down.
fn nginx(folder: &Path, [good, bad]: &[String; 2]) -> Option<Peer> {
    let ports: Vec<u16> = (0..2).map(|_| free_port()).collect();
    let conf = folder.join("nginx.conf");
    let text = format!(
        r"worker_processes 1; daemon off; pid {dir}/nginx.pid; error_log stderr crit;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000000; proxy_http_version 1.1; proxy_set_header Connection '';
  client_body_temp_path {dir}/a; proxy_temp_path {dir}/b; fastcgi_temp_path {dir}/c; uwsgi_temp_path {dir}/d; scgi_temp_path {dir}/e;
  proxy_buffering off;
  upstream good {{ server {good}; keepalive 128; keepalive_requests 1000000000; }}
  upstream both {{ server {bad} max_fails=0; server {good} backup; keepalive 128; keepalive_requests 1000000000; }}
  server {{ listen 127.0.0.1:{}; location / {{ proxy_pass http://good; }} }}
  server {{
    listen 127.0.0.1:{};
    location / {{ proxy_pass http://both; proxy_next_upstream error timeout http_503 non_idempotent; }}
  }}
}}
",
        ports[0],
        ports[1],
        dir = folder.display(),
    );
    std::fs::write(&conf, text).unwrap();
    if std::process::Command::new("nginx").arg("-v").output().is_err() {
        eprintln!("SKIPPED nginx: it is not installed");
        return None;
    }
    let at: Vec<String> = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
    let args = ["-p", folder.to_str().unwrap(), "-c", conf.to_str().unwrap()];
    let process = Running::listening(PEER, Path::new("nginx"), &args, &at[0]);
    Some(Peer { name: "nginx", good: at[0].clone(), failing: Some(at[1].clone()), process: Some(process) })
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// One load against one peer, and the processor time per answer in microseconds.
fn measure(peer: &Peer, (kind, shape, model, many): (&str, &str, &str, u64), secs: f64) -> Option<(Load, f64)> {
    let address = peer.address(model)?;
    let before = peer.process.as_ref().map_or(0.0, Running::cpu_us);
    let this = std::env::current_exe().unwrap();
    let (secs, many) = (secs.to_string(), many.to_string());
    let args = ["load", kind, address, "/v1/chat/completions", model, shape, &secs, &many];
    let out = on(LOAD, &this, &args).stderr(std::process::Stdio::inherit()).output().unwrap();
    let load = Load::parse(&String::from_utf8(out.stdout).unwrap());
    let spent = peer.process.as_ref().map_or(0.0, Running::cpu_us) - before;
    // A closed loop does not count its first answers, but they cost as much as the others.
    let all = load.n as f64 / if kind == "closed" { 0.85 } else { 1.0 };
    Some((load, spent / all))
}

pub fn run() {
    let (rounds, secs) = rounds();
    let folder = Folder::new("gateway");
    let (_mock, addresses) = Running::mock(LOAD);
    let file = folder.0.join("policy.sbk");
    std::fs::write(&file, policy(&addresses)).unwrap();
    let ours = Running::gateway(PEER, &file, &[]);
    let at = ours.said.clone();
    let mut peers = vec![Peer { name: "direct", good: addresses[0].clone(), failing: None, process: None }];
    peers.extend(nginx(&folder.0, &addresses));
    peers.push(Peer { name: "switchback", good: at.clone(), failing: Some(at.clone()), process: Some(ours) });
    for scenario in SCENARIOS {
        let mut seen: Vec<Vec<(Load, f64)>> = peers.iter().map(|_| Vec::new()).collect();
        for _ in 0..rounds {
            for (peer, seen) in peers.iter().zip(&mut seen) {
                seen.extend(measure(peer, scenario, secs));
            }
        }
        let called = (0..2).any(|_| ask(&at, "fo").contains("x-switchback-attempts: 2"));
        assert!(called, "the overloaded target is not called");
        tell(scenario, &peers, &seen);
    }
}

fn tell((kind, shape, model, _): (&str, &str, &str, u64), peers: &[Peer], seen: &[Vec<(Load, f64)>]) {
    let name = format!("gateway {kind} {shape} {}", if model == "fo" { "first 503" } else { "healthy" });
    let middle = |at: usize, value: fn(&(Load, f64)) -> f64| median(seen[at].iter().map(value).collect());
    let place = |name: &str| peers.iter().position(|p| p.name == name).filter(|at| !seen[*at].is_empty());
    let Some(ours) = place("switchback") else { return };
    for (peer, seen) in peers.iter().zip(seen) {
        let failed: u64 = seen.iter().map(|(load, _)| load.failed).sum();
        assert_eq!(failed, 0, "{name}: {} answers of {} were none", failed, peer.name);
    }
    let n = seen[ours].iter().map(|(load, _)| load.n).sum();
    for other in ["nginx", "direct"].into_iter().filter_map(place) {
        let with = peers[other].name;
        if kind == "closed" {
            result(
                &format!("{name} rate"),
                "req/s",
                middle(ours, |l| l.0.rate),
                Some((with, middle(other, |l| l.0.rate))),
                n,
            );
        } else {
            for (what, value) in [("p50", (|l| l.0.p50) as fn(&(Load, f64)) -> f64), ("p99", |l| l.0.p99)] {
                result(&format!("{name} {what}"), "us", middle(ours, value), Some((with, middle(other, value))), n);
            }
        }
        if with != "direct" {
            result(
                &format!("{name} processor"),
                "us/req",
                middle(ours, |l| l.1),
                Some((with, middle(other, |l| l.1))),
                n,
            );
        }
    }
}
