//! Resident memory of the gateway: idle, with a thousand streams open, and after them.

use super::gateway::policy;
use super::line::result;
use super::load::held;
use super::process::{Folder, Running, ask};
use std::time::Duration;

const STREAMS: usize = 1_000;

pub fn run() {
    let folder = Folder::new("memory");
    let (_mock, addresses) = Running::mock(None);
    let file = folder.0.join("policy.sbk");
    std::fs::write(&file, policy(&addresses)).unwrap();
    let gateway = Running::gateway(None, &file, &["--log", "warn"]);
    let idle = gateway.resident();
    result("memory idle", "MiB", idle, None, 1);
    for round in ["", " 2nd time", " 3rd time", " 4th time"] {
        let streams = held(&gateway.said, STREAMS);
        let open = gateway.resident();
        result(&format!("memory {STREAMS} streams{round}"), "MiB", open, Some(("idle", idle)), STREAMS);
        result(&format!("memory per stream{round}"), "KiB", (open - idle) * 1_024.0 / STREAMS as f64, None, STREAMS);
        drop(streams);
        std::thread::sleep(Duration::from_secs(2));
        result(&format!("memory after them{round}"), "MiB", gateway.resident(), Some(("idle", idle)), STREAMS);
    }
    assert!(ask(&gateway.said, "ok").starts_with("HTTP/1.1 200"));
}
