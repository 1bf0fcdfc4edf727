//! The command `serve` as a process: its first line, its exits, reload, drain.

use crate::serve_rig::{Folder, Served, answer, command};
use serde_json::Value;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const POLICY: &str = r#"switchback 1
provider north { api emulated }
provider south { api emulated }
model small {
  modalities [text]; streaming yes; tools no; structured-output none
  context 32k; max-output 4k; price $0.50/M in, $1.50/M out
}
target north-1 { model small; provider north; script { answers overloaded } }
target south-1 { model small; provider south; script { answers ok "from the south" after 20ms } }
tier chat { chain { north-1; south-1 } }
matrix simple {
  context-overflow, payload-too-large, policy, partial-stream -> stop
  otherwise -> failover
}
budget quick { deadline 5s; attempts 3 }
defaults { matrix simple; budget quick }
route chat { tier chat }
"#;

/// The same with a provider whose key is not there.
fn needing_a_key() -> String {
    let policy = POLICY.replace("north { api emulated }", "north { api openai-chat; key env SWITCHBACK_TEST_ABSENT }");
    policy.replace("; script { answers overloaded }", "")
}

/// Exit code and stderr of a command that does not get to serve.
fn refused(args: &[&str], path: &Path) -> (i32, String) {
    let out = command(args, path).output().unwrap();
    (out.status.code().unwrap(), String::from_utf8(out.stderr).unwrap())
}

#[test]
fn what_keeps_it_from_serving_has_its_exit_code() {
    let folder = Folder::new("refused", POLICY);
    let (code, said) = refused(&["--listen", "0.0.0.0:0"], &folder.policy());
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("loopback"), "{said}");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let (code, said) = refused(&["--listen", &taken.local_addr().unwrap().to_string()], &folder.policy());
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("cannot listen"), "{said}");
    let (code, said) = refused(&[], &folder.0.join("absent.sbk"));
    assert_eq!(code, 2, "{said}");
    let (code, said) = refused(&["--drain", "10"], &folder.policy());
    assert_eq!(code, 2, "{said}");
    let (code, said) = refused(&["--records", "/nowhere/at/all"], &folder.policy());
    assert_eq!(code, 2, "{said}");
    folder.write(&POLICY.replace("tier chat {", "teir chat {"));
    let (code, said) = refused(&[], &folder.policy());
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("SB0"), "{said}");
    folder.write(&needing_a_key());
    let (code, said) = refused(&[], &folder.policy());
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("SWITCHBACK_TEST_ABSENT"), "{said}");
}

#[test]
fn it_serves_obeys_an_edit_refuses_a_broken_one_and_recovers() {
    let folder = Folder::new("reload", POLICY);
    let records = folder.0.join("records.jsonl");
    let served = Served::new(&["--records", records.to_str().unwrap(), "--region", "eu-west"], &folder.policy());
    let (head, body) = answer(served.chat());
    assert!(head.starts_with("HTTP/1.1 200") && body.contains("from the south"), "{head}\n{body}");
    assert!(head.contains(&format!("x-switchback-policy: {}", served.hash)), "{head}");
    assert!(head.contains("x-switchback-target: south-1") && head.contains("x-switchback-attempts: 2"), "{head}");

    folder.write(&POLICY.replace("chain { north-1; south-1 }", "chain { south-1; north-1 }"));
    let ready = served.ready_when(|r| r["policy"] != served.hash.as_str());
    assert_eq!(ready["reload"]["ok"], true);
    let (head, _) = answer(served.chat());
    assert!(head.contains("x-switchback-attempts: 1"), "{head}");

    folder.write(&POLICY.replace("tier chat {", "teir chat {"));
    let broken = served.ready_when(|r| r["reload"]["ok"] == false);
    assert_eq!((&broken["policy"], &broken["ready"]), (&ready["policy"], &Value::Bool(true)));
    assert!(broken["reload"]["diagnostics"][0]["code"].as_str().unwrap().starts_with("SB"), "{broken}");
    assert!(served.get("/metrics").contains("switchback_policy_reload_ok 0\n"));
    assert!(answer(served.chat()).0.contains("x-switchback-attempts: 1"));

    folder.write(&needing_a_key());
    let rejected = served.ready_when(|r| r["reload"]["diagnostics"].to_string().contains("SWITCHBACK_TEST_ABSENT"));
    assert_eq!((&rejected["policy"], &rejected["reload"]["ok"]), (&ready["policy"], &Value::Bool(false)));

    folder.write(POLICY);
    served.ready_when(|r| r["policy"] == served.hash.as_str() && r["reload"]["ok"] == true);
    assert!(answer(served.chat()).0.contains("x-switchback-attempts: 2"));

    let (code, said) = served.stop();
    assert_eq!(code, 0, "{said}");
    let records = std::fs::read_to_string(records).unwrap();
    let records: Vec<Value> = records.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let attempts: Vec<u64> = records.iter().map(|r| r["attempts"].as_u64().unwrap()).collect();
    assert_eq!(attempts, [2, 1, 1, 2]);
    let step = &records[0]["steps"][1];
    assert_eq!((&step["action"], &step["target"]), (&"failover".into(), &"south-1".into()));
    let line = POLICY.lines().position(|l| l.contains("otherwise")).unwrap() + 1;
    assert_eq!(step["line"], line, "{step}");
    assert_eq!(records[0]["request"]["region"], "eu-west");
}

#[test]
fn a_running_request_finishes_when_it_is_asked_to_end() {
    let folder = Folder::new("drain", &POLICY.replace("after 20ms", "after 800ms"));
    let served = Served::new(&[], &folder.policy());
    let socket = served.chat();
    std::thread::sleep(Duration::from_millis(200));
    let began = Instant::now();
    let (code, said) = served.stop();
    assert_eq!(code, 0, "{said}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let (head, body) = answer(socket);
    assert!(head.starts_with("HTTP/1.1 200") && body.contains("from the south"), "{head}\n{body}");
}

#[test]
fn what_does_not_end_in_time_is_cut_off_and_still_recorded() {
    let folder = Folder::new("cut", &POLICY.replace("after 20ms", "after 4s"));
    let records = folder.0.join("records.jsonl");
    let served = Served::new(&["--drain", "100ms", "--records", records.to_str().unwrap()], &folder.policy());
    let socket = served.chat();
    std::thread::sleep(Duration::from_millis(200));
    let (code, said) = served.stop();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("cut off"), "{said}");
    let record: Value = serde_json::from_str(std::fs::read_to_string(records).unwrap().trim()).unwrap();
    assert_eq!(record["outcome"], "cancelled");
    drop(socket);
}

#[test]
#[cfg(target_os = "linux")]
fn a_low_limit_of_open_files_is_raised_as_far_as_it_may() {
    let folder = Folder::new("files", POLICY);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -S -n 64; exec \"$0\" \"$@\""]).arg(env!("CARGO_BIN_EXE_switchback"));
    limited.arg("serve").arg(folder.policy()).stdout(Stdio::null()).stderr(Stdio::piped());
    let served = Served::of(limited);
    let idle: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(&served.address).unwrap()).collect();
    assert!(answer(served.chat()).0.starts_with("HTTP/1.1 200"));
    let open = || std::fs::read_dir(format!("/proc/{}/fd", served.child.id())).unwrap().count();
    assert!(open() > 200);
    drop(idle);
    let until = Instant::now() + Duration::from_secs(10);
    while open() > 64 {
        assert!(Instant::now() < until, "{} files stay open", open());
        std::thread::sleep(Duration::from_millis(10));
    }
    let (code, said) = served.stop();
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("could not be taken"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_loses_records_and_no_requests() {
    let folder = Folder::new("full", POLICY);
    let served = Served::new(&["--records", "/dev/full"], &folder.policy());
    for lost in 1..=2 {
        assert!(answer(served.chat()).0.starts_with("HTTP/1.1 200"));
        let until = Instant::now() + Duration::from_secs(10);
        while !served.get("/metrics").contains(&format!("switchback_records_dropped_total {lost}\n")) {
            assert!(Instant::now() < until, "{}", served.get("/metrics"));
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    let (code, said) = served.stop();
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("decision records are lost"), "{said}");
}
