//! From an edit on disk to the first request that it serves.

use super::gateway::policy;
use super::line::{quantile, result};
use super::process::{Folder, Running, ask, rounds};
use std::time::{Duration, Instant};

/// The longest that an edit may take to serve, in milliseconds.
const AIM: f64 = 2_000.0;

pub fn run() {
    let folder = Folder::new("reload");
    let (_mock, addresses) = Running::mock(None);
    let file = folder.0.join("policy.sbk");
    let text = policy(&addresses);
    std::fs::write(&file, &text).unwrap();
    let gateway = Running::gateway(None, &file, &[]);
    let served = || {
        let head = ask(&gateway.said, "ok");
        head.split_once("x-switchback-policy: ").unwrap().1[..64].to_owned()
    };
    let mut times = Vec::new();
    for edit in 0..10 * rounds().0 {
        let before = served();
        let beside = folder.0.join("policy.sbk~");
        std::fs::write(&beside, text.replace("deadline 30s", &format!("deadline {}ms", 30_001 + edit))).unwrap();
        let began = Instant::now();
        std::fs::rename(&beside, &file).unwrap();
        while served() == before {
            assert!(began.elapsed() < Duration::from_secs(20), "the edit does not serve");
        }
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let n = times.len();
    result("reload to first request p50", "ms", quantile(&mut times, 0.5), Some(("aim", AIM)), n);
    result("reload to first request max", "ms", quantile(&mut times, 1.0), Some(("aim", AIM)), n);
}
