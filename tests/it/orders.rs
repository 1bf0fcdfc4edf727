//! Measured orders in a gateway as a process: what is on disk ranks, and the ranking outlives a restart and a reload.

use super::serve_rig::{Folder, Served, answer, command, until};
use serde_json::Value;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const POLICY: &str = r#"switchback 1
provider p { api emulated }
provider q { api emulated }
model m { modalities [text]; streaming yes; tools no; structured-output none; context 32k; max-output 4k; price $1/M in, $1/M out }
target a { model m; provider p; script { answers ok after 1ms } }
target b { model m; provider q; script { answers ok after 1ms } }
tier t { order latency every 7d; chain { a; b } }
matrix x { connect -> failover; otherwise -> stop }
budget u { deadline 10s; attempts 2 }
route chat { tier t; matrix x; budget u }
"#;

/// A state folder in which calls of the two took these buckets of time.
fn measured(state: &Path, a: usize, b: usize) {
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let series = |target: &str, bucket: usize| {
        serde_json::json!({"region": "", "target": target, "kind": "whole", "latest_ms": now,
            "days": [{"day": now / 86_400_000, "counts": [[bucket, 400]]}]})
    };
    let content = [series("a", a), series("b", b)];
    let document = serde_json::json!({"version": 1, "document": "baselines", "content": content});
    std::fs::create_dir_all(state).unwrap();
    std::fs::write(state.join("baselines.json"), document.to_string()).unwrap();
}

fn serve(folder: &Folder, state: &Path) -> Served {
    let records = folder.0.join("records.jsonl");
    let args = ["--state", state.to_str().unwrap(), "--records", records.to_str().unwrap()];
    Served::of(command(&args, &folder.policy()))
}

fn served_by(served: &Served) -> String {
    let (head, _) = answer(served.chat());
    let line = head.lines().find_map(|line| line.strip_prefix("x-switchback-target: "));
    line.unwrap_or_else(|| panic!("{head}")).to_owned()
}

#[test]
fn what_is_on_disk_ranks_and_stands_over_reload_and_restart() {
    let folder = Folder::new("orders", POLICY);
    let state = folder.0.join("state");
    measured(&state, 200, 100);
    let served = serve(&folder, &state);
    assert_eq!(served_by(&served), "b");
    let metrics = served.get("/metrics");
    let place = |target: &str, place: u32| {
        let labels = format!("tier=\"t\",chain=\"1\",kind=\"whole\",target=\"{target}\"");
        metrics.contains(&format!("switchback_order_place{{{labels}}} {place}\n"))
    };
    assert!(place("b", 1) && place("a", 2), "{metrics}");
    let p50 = "switchback_baseline_milliseconds{target=\"b\",kind=\"whole\",quantile=\"0.5\"} 656\n";
    assert!(metrics.contains(p50), "{metrics}");
    // Another policy that says the same of the order.
    let hash = served.hash.clone();
    folder.write(&POLICY.replace("attempts 2", "attempts 3"));
    served.ready_when(|ready| ready["policy"] != hash);
    assert_eq!(served_by(&served), "b");
    // One that is as written for a while comes back to the week's ranking.
    let hash = served.ready()["policy"].clone();
    folder.write(&POLICY.replace("order latency every 7d; ", ""));
    let written = served.ready_when(|ready| ready["policy"] != hash);
    assert_eq!(served_by(&served), "a");
    folder.write(POLICY);
    served.ready_when(|ready| ready["policy"] != written["policy"]);
    assert_eq!(served_by(&served), "b");
    assert_eq!(served.stop().0, 0);
    let records = std::fs::read_to_string(folder.0.join("records.jsonl")).unwrap();
    let record: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    let order = &record["order"];
    assert_eq!((&order["by"], &order["candidates"][0]["target"]), (&"latency".into(), &"b".into()), "{order}");
    assert!(order["candidates"][0]["latency_ms"].as_u64() < order["candidates"][1]["latency_ms"].as_u64(), "{order}");
    // What is on disk now says otherwise, and it is not the week's end.
    measured(&state, 100, 200);
    let served = serve(&folder, &state);
    assert_eq!(served_by(&served), "b");
    assert_eq!(served.stop().0, 0);
    std::fs::remove_file(state.join("rankings.json")).unwrap();
    measured(&state, 100, 200);
    let served = serve(&folder, &state);
    assert_eq!(served_by(&served), "a");
    until("the ranking is written while it serves", || state.join("rankings.json").exists());
}

#[test]
fn without_a_folder_it_says_what_a_restart_forgets() {
    let folder = Folder::new("orders-bare", POLICY);
    let mut bare = command(&[], &folder.policy());
    bare.env_remove("SWITCHBACK_STATE");
    let served = Served::of(bare);
    assert_eq!(served_by(&served), "a");
    // A reload says it again, so that it is not only at the top of a long log.
    let hash = served.hash.clone();
    folder.write(&POLICY.replace("attempts 2", "attempts 3"));
    served.ready_when(|ready| ready["policy"] != hash);
    let (_, said) = served.stop();
    assert!(said.contains("without `--state`, what calls took is forgotten"), "{said}");
}
