//! `switchback list`: what it prints, in both forms, and how it ends.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const POLICY: &str = r#"switchback 1

provider p { api openai-chat; base-url "http://127.0.0.1:9/v1" }
model m { modalities [text]; streaming yes; context 32k; max-output 4k }
target a { model m; provider p }
tier t { chain { a } }
matrix x { otherwise -> stop }
budget slow {
  extends  quick
  deadline 60s
}
budget quick { deadline 10s; attempts 1 }
defaults { matrix x }
route r { tier t; budget slow }
"#;

fn folder(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("switchback-list-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.sbk"), text).unwrap();
    folder
}

fn list(path: &Path, flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_switchback")).arg("list").arg(path).args(flags).output().unwrap()
}

#[test]
fn every_setting_comes_with_its_value_and_origin() {
    let folder = folder("resolved", POLICY);
    let output = list(&folder, &["--resolved", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["version"], 1);
    let blocks = json["blocks"].as_array().unwrap();
    let setting = |kind: &str, name: &str, word: &str| {
        let block = blocks.iter().find(|b| b["kind"] == kind && b["name"] == name).unwrap();
        block["settings"].as_array().unwrap().iter().find(|s| s["word"] == word).unwrap().clone()
    };
    let attempts = setting("budget", "slow", "attempts");
    assert_eq!((&attempts["value"], &attempts["origin"]["kind"]), (&"1".into(), &"inherited".into()));
    assert_eq!((&attempts["origin"]["from"], &attempts["origin"]["line"]), (&"quick".into(), &12.into()));
    let reserve = setting("budget", "slow", "reserve");
    assert_eq!((&reserve["value"], &reserve["origin"]["kind"]), (&"24s".into(), &"default".into()));
    let matrix = setting("route", "r", "matrix");
    assert_eq!((&matrix["value"], &matrix["origin"]["kind"]), (&"x".into(), &"defaults".into()));
    assert_eq!(setting("matrix", "x", "otherwise")["value"], "-> stop");

    let human = list(&folder, &["--resolved"]);
    let text = String::from_utf8(human.stdout).unwrap();
    assert!(text.contains("inherited from quick, line 12"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn without_the_flag_only_what_is_written_is_listed() {
    let folder = folder("written", POLICY);
    let text = String::from_utf8(list(&folder, &[]).stdout).unwrap();
    assert!(text.contains("budget slow") && text.contains("60s"), "{text}");
    assert!(!text.contains("24s") && !text.contains("timeout-connect"), "{text}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_set_with_errors_is_not_listed() {
    let folder = folder("errors", &POLICY.replace("tier t;", "tier tt;"));
    let output = list(&folder, &[]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("SB0202"));
    let nowhere = list(&folder.join("nowhere"), &[]);
    assert_eq!(nowhere.status.code(), Some(2));
    std::fs::remove_dir_all(folder).unwrap();
}
