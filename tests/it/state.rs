//! The state folder of `serve`, as a process that ends and begins again.

use super::serve_rig::{Folder, Served, command, until};
use serde_json::Value;
use std::path::Path;

/// A probe that has money for exactly one probe a day: at $1 a token of a prompt of two bytes and a word back.
const POLICY: &str = r#"switchback 1
provider p { api emulated }
model m { modalities [text]; streaming yes; tools no; structured-output none; context 32k; max-output 4k; price $1/M in, $1/M out }
target a { model m; provider p; probe light; script { answers ok after 1ms } }
tier t { chain { a } }
matrix x { otherwise -> stop }
budget u { deadline 10s; attempts 1 }
probe light { every 50ms; timeout 40ms; prompt "hi"; max-tokens 1; spend $0.000003/day }
route chat { tier t; matrix x; budget u }
"#;

fn serve(folder: &Folder, state: &Path) -> Served {
    Served::of({
        let mut command = command(&["--log", "info"], &folder.policy());
        command.env("SWITCHBACK_STATE", state);
        command
    })
}

fn counted(served: &Served, result: &str) -> u64 {
    let start = format!("switchback_probes_total{{target=\"a\",result=\"{result}\"}} ");
    let page = served.get("/metrics");
    page.lines().find_map(|line| line.strip_prefix(&start)).map_or(0, |n| n.parse().unwrap())
}

#[test]
fn what_was_spent_today_is_spent_after_a_restart() {
    let folder = Folder::new("state", POLICY);
    let state = folder.0.join("not/there/yet");
    let served = serve(&folder, &state);
    until("money for one probe is spent", || counted(&served, "skip") > 1);
    assert_eq!(counted(&served, "ok"), 1);
    let document = state.join("probe-spend.json");
    until("it is written while it serves", || document.exists());
    assert_eq!(served.stop().0, 0);
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(&document).unwrap()).unwrap();
    assert_eq!((&kept["version"], &kept["content"]["a"]["nano"]), (&1.into(), &3_000.into()));
    let served = serve(&folder, &state);
    until("nothing is left of today", || counted(&served, "skip") > 1);
    assert_eq!(counted(&served, "ok"), 0);
    let (exit, said) = served.stop();
    assert!(exit == 0 && !said.contains("without `--state`"), "{said}");
}

#[test]
fn without_a_folder_it_says_what_a_restart_forgets() {
    let folder = Folder::new("stateless", POLICY);
    let mut bare = command(&["--listen", "127.0.0.1:0"], &folder.policy());
    bare.env_remove("SWITCHBACK_STATE");
    let mut child = bare.spawn().unwrap();
    let mut said = String::new();
    let mut lines = std::io::BufReader::new(child.stderr.take().unwrap());
    while !said.contains("listening on") {
        assert!(std::io::BufRead::read_line(&mut lines, &mut said).unwrap() > 0, "{said}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(said.contains("WARN") && said.contains("without `--state`, what probes have spent today"), "{said}");
}

#[test]
fn a_second_gateway_on_the_folder_is_refused() {
    let folder = Folder::new("state-twice", POLICY);
    let state = folder.0.join("state");
    let first = serve(&folder, &state);
    let args = ["--listen", "127.0.0.1:0", "--state", state.to_str().unwrap()];
    let second = command(&args, &folder.policy()).output().unwrap();
    let said = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains("in use by another gateway"), "{said}");
    assert_eq!(first.stop().0, 0);
}

#[test]
fn a_document_that_cannot_be_read_is_moved_aside_and_told() {
    let folder = Folder::new("state-corrupt", POLICY);
    let state = folder.0.join("state");
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("probe-spend.json"), "{\"version\":1,").unwrap();
    let served = serve(&folder, &state);
    let metrics = served.get("/metrics");
    assert!(metrics.contains("switchback_state_corrupt_total{document=\"probe-spend\"} 1"), "{metrics}");
    assert_eq!(served.stop().0, 0);
    let names = std::fs::read_dir(&state).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().any(|name| name.starts_with("probe-spend.corrupt-")));
}

#[test]
fn a_folder_that_cannot_be_written_any_more_stops_nothing() {
    let folder = Folder::new("state-full", POLICY);
    let state = folder.0.join("state");
    // The file beside, in which a document is written, cannot be made.
    std::fs::create_dir_all(state.join("probe-spend.json.new")).unwrap();
    let served = serve(&folder, &state);
    let metric = |line: &str| served.get("/metrics").lines().any(|l| l == line);
    until("it is noticed", || metric("switchback_state_ok 0"));
    assert!(served.chat().peer_addr().is_ok() && served.get("/healthz") == "ok\n");
    std::fs::remove_dir(state.join("probe-spend.json.new")).unwrap();
    until("it is tried again", || metric("switchback_state_ok 1"));
    assert!(!metric("switchback_state_write_failures_total 0"));
    let (_, said) = served.stop();
    let told = |words: &str| said.matches(words).count();
    assert_eq!((told("state cannot be written"), told("state is written again")), (1, 1), "{said}");
}

#[test]
fn what_calls_took_is_shown_of_a_gateway_that_has_ended_and_one_that_serves() {
    let folder = Folder::new("state-seen", &POLICY.replace("target a {", "target a { region us;"));
    let state = folder.0.join("state");
    let told = |calls: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_switchback"));
        let output =
            command.arg("baselines").arg(folder.policy()).arg("--state").arg(&state).args(["--format", "json"]);
        let output = output.output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let row = report["baselines"].as_array().unwrap().iter().find(|row| row["kind"] == calls).cloned();
        (output.status.code(), row.unwrap_or_default())
    };
    let start = |region: &str| {
        let mut command = command(&["--region", region], &folder.policy());
        Served::of({
            command.env("SWITCHBACK_STATE", &state);
            command
        })
    };
    let served = start("eu");
    let (head, _) = super::serve_rig::answer(served.chat());
    assert!(head.contains("x-switchback-target: a"), "{head}");
    until("there is money for one probe", || counted(&served, "ok") == 1);
    assert_eq!(served.stop().0, 0);
    let (exit, row) = told("whole");
    assert_eq!((exit, &row["calls"], &row["target"]), (Some(0), &1.into(), &"a".into()));
    assert_eq!((&row["gateway_region"], &row["region"]), (&"eu".into(), &"us".into()));
    // A restart goes on from there, and reading needs no lock.
    let served = start("eu");
    super::serve_rig::answer(served.chat());
    until("it is written while it serves", || told("whole").1["calls"] == 2);
    assert_eq!(served.stop().0, 0);
    assert!(told("probe").1["p50_ms"].is_u64());
}
