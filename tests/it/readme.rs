//! The README is run: its policy, its mistake, its commands, its request, its edits, its links.

use crate::serve_rig::{Folder, Served, answer, command};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const QUICKSTART: &str = "policies/quickstart.sbk";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

/// The fenced blocks of a language, in order.
fn blocks(language: &str) -> Vec<String> {
    let text = readme();
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(kind) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|l| *l != "```").collect();
        if kind == language {
            found.push(block.join("\n") + "\n");
        }
    }
    found
}

/// Applies a block of `-` and `+` lines: what is taken away must stand there, once, as it is written.
fn edited(text: &str, diff: &str) -> String {
    let part = |sign: char| -> String {
        diff.lines().filter_map(|l| l.strip_prefix(sign)).map(|l| format!("{l}\n")).collect()
    };
    let (old, new) = (part('-'), part('+'));
    assert_eq!(text.matches(&old).count(), 1, "not there once:\n{old}");
    text.replacen(&old, &new, 1)
}

fn switchback(args: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_switchback")).args(args).current_dir(folder).env("NO_COLOR", "1").output().unwrap()
}

/// Whether all that is shown is there: objects may leave members out, and lists elements at their end.
fn shows(shown: &Value, real: &Value) -> bool {
    match (shown, real) {
        (Value::Object(shown), Value::Object(real)) => {
            shown.iter().all(|(name, value)| real.get(name).is_some_and(|r| shows(value, r)))
        }
        (Value::Array(shown), Value::Array(real)) => {
            shown.len() <= real.len() && shown.iter().zip(real).all(|(s, r)| shows(s, r))
        }
        (shown, real) => shown == real,
    }
}

#[test]
fn the_policy_is_clean_formatted_and_passes_its_test() {
    let policies = blocks("sbk");
    assert_eq!(policies.len(), 1);
    let folder = Folder::new("readme-policy", &policies[0]);
    for args in [&["check", "--fail-on", "advice"][..], &["fmt", "--check"], &["test"]] {
        let out = switchback(&[args, &["policy.sbk"]].concat(), &folder.0);
        assert_eq!(out.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&out.stdout));
    }
}

/// The test of the language page is about the README's policy.
#[test]
fn the_test_shown_in_the_language_page_passes() {
    let page = std::fs::read_to_string(root().join("docs/language.md")).unwrap();
    let start = page.find("\ntest \"").unwrap();
    let test = &page[start..start + page[start..].find("\n```").unwrap()];
    let folder = Folder::new("readme-language", &format!("{}{test}\n", blocks("sbk")[0]));
    let out = switchback(&["test", "policy.sbk"], &folder.0);
    let said = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success() && said.contains("2 passed"), "{said}");
}

#[test]
fn the_mistake_is_rendered_as_shown() {
    let broken = edited(&blocks("sbk")[0], &blocks("diff")[0]);
    let folder = Folder::new("readme-mistake", &broken);
    let out = switchback(&["check", "policy.sbk"], &folder.0);
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(String::from_utf8(out.stdout).unwrap(), blocks("text")[0]);
}

#[test]
fn the_request_the_record_and_the_edits_are_as_shown() {
    let diffs = blocks("diff");
    let folder = Folder::new("readme-serve", "");
    let policy = folder.0.join(QUICKSTART);
    let text = std::fs::read_to_string(root().join(QUICKSTART)).unwrap();
    std::fs::create_dir_all(policy.parent().unwrap()).unwrap();
    std::fs::write(&policy, &text).unwrap();
    let mut serve = command(&["--records", "records.jsonl"], Path::new(QUICKSTART));
    serve.current_dir(&folder.0);
    let served = Served::of(serve);

    let (head, body) = answer(served.connect(&request(&blocks("sh")[1])));
    for shown in blocks("http")[0].lines() {
        let real = head.lines().find(|l| l.split(':').next() == shown.split(':').next());
        let real = real.unwrap_or_else(|| panic!("{shown}: not in\n{head}"));
        if shown.starts_with("x-switchback-id: ") || shown.starts_with("x-request-id: ") {
            assert_eq!(real.len(), shown.len());
        } else if let Some(policy) = real.strip_prefix("x-switchback-policy: ") {
            assert_eq!(policy, served.hash);
        } else {
            assert_eq!(real, shown);
        }
    }
    let body: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["choices"][0]["finish_reason"], "stop");

    let edit = edited(&text, &diffs[1]);
    std::fs::write(&policy, &edit).unwrap();
    served.ready_when(|r| r["policy"] != served.hash.as_str());
    let (head, _) = answer(served.connect(&request(&blocks("sh")[1])));
    assert!(
        head.contains("x-switchback-attempts: 1\r\n") && head.contains("x-switchback-target: north-1\r\n"),
        "{head}"
    );

    std::fs::write(&policy, edited(&edit, &diffs[2])).unwrap();
    let ready = served.ready_when(|r| r["reload"]["ok"] == false);
    let shown: Value = serde_json::from_str(&blocks("json")[1]).unwrap();
    assert!(shows(&shown, &ready), "{ready}");
    let (head, _) = answer(served.connect(&request(&blocks("sh")[1])));
    assert!(head.contains("x-switchback-target: north-1\r\n"), "{head}");

    assert_eq!(served.stop().0, 0);
    let records = std::fs::read_to_string(folder.0.join("records.jsonl")).unwrap();
    let record: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    let shown: Value = serde_json::from_str(&blocks("json")[0]).unwrap();
    assert!(shows(&shown, &record), "{record}");
    assert_eq!(shown["steps"].as_array().map(Vec::len), record["steps"].as_array().map(Vec::len));
}

/// What the curl line of a block sends.
fn request(line: &str) -> String {
    let line = line.replace("\\\n", " ");
    let url = line.split_whitespace().find(|w| w.starts_with("http://")).unwrap();
    let path = url.strip_prefix("http://127.0.0.1:4000").unwrap();
    let quoted = |flag: &str| {
        let rest = &line[line.find(flag).unwrap() + flag.len()..];
        rest.split('\'').nth(1).unwrap().to_owned()
    };
    let (header, body) = (quoted(" -H "), quoted(" -d "));
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: g\r\nconnection: close\r\n{header}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

#[test]
fn the_commands_are_those_of_the_command_line() {
    let commands = &blocks("sh")[0];
    assert_eq!(commands, "cargo run -- serve policies/quickstart.sbk\ncargo test\n");
    for client in [&blocks("python")[0], &blocks("js")[0]] {
        assert!(client.contains("\"http://127.0.0.1:4000/v1\"") && client.contains("\"chat\""), "{client}");
    }
    let serve = switchback(&["serve", "--help"], &root());
    assert!(String::from_utf8(serve.stdout).unwrap().contains("[default: 127.0.0.1:4000]"));
}

#[test]
fn what_is_compared_can_differ() {
    let real = serde_json::json!({"a": 1, "b": [{"c": 2}, 3]});
    assert!(shows(&serde_json::json!({"b": [{"c": 2}]}), &real));
    assert!(!shows(&serde_json::json!({"b": [{"c": 3}]}), &real));
    assert!(!shows(&serde_json::json!({"d": null}), &real));
    assert_eq!(edited("a\nb\nc\n", "-b\n+d\n"), "a\nd\nc\n");
}
