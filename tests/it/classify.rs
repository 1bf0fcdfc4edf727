//! `switchback classify`: what it says, how it ends, and that its documents are what the tables say.
//!
//! `tests/classify/cases.jsonl` holds errors of our own making, in the shapes that vendors describe, each with the answer
//! that is due.

mod document;
mod renamed;

use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Set to rewrite golden files.
const BLESS: &str = "SWITCHBACK_BLESS";

const CASES: &str = include_str!("../classify/cases.jsonl");

fn run(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_switchback"))
        .arg("classify")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    output
}

fn verdicts(input: &str) -> Vec<Value> {
    let output = run(&["-"], input);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn errors_of_our_own_making_are_what_they_are() {
    let cases: Vec<Value> = CASES.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let found = verdicts(CASES);
    assert_eq!(cases.len(), found.len());
    let mut wrong = Vec::new();
    for (case, verdict) in cases.iter().zip(&found) {
        assert_eq!(case["id"], verdict["id"]);
        let expected = case["expect"].as_object().unwrap();
        for (name, value) in expected {
            let got = match name.as_str() {
                "after_output" => json!(verdict["stage"] == "output"),
                name => verdict[name].clone(),
            };
            if got != *value {
                wrong.push(format!("{}: {name} is {got}, not {value}, by {}", case["id"], verdict["rule"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_line_has_an_answer_in_the_order_of_its_members() {
    let line = r#"{"id":["a",1],"more":{},"provider":"openai","status":429,"headers":{"Retry-After":"3"}}"#;
    let output = run(&[], line);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap().trim_end(),
        r#"{"id":["a",1],"class":"rate-limit","stage":"rejected","scope":"model","retry_after_ms":3000,"cause":null,"#
            .to_string()
            + r#""rule":"status-429","rule_source":"https://www.rfc-editor.org/rfc/rfc9110#section-15"}"#
    );
    let fine =
        r#"{"id":1,"api":"openai-chat","status":200,"body":"{\"choices\":[{\"message\":{\"content\":\"a\"}}]}"}"#;
    let found = &verdicts(fine)[0];
    assert_eq!((&found["id"], &found["class"], &found["rule"]), (&json!(1), &Value::Null, &Value::Null));
}

#[test]
fn a_bad_line_is_said_with_its_number_and_the_others_are_answered() {
    let lines = "{\"status\":500}\n\n{\"status\":\"x\"}\nno\n{\"provider\":\"openai\"}\n{\"status\":200,\"end\":\"odd\"}\n{\"status\":402}\n";
    let output = run(&[], lines);
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(2));
    let classes: Vec<Value> = out.lines().map(|l| serde_json::from_str::<Value>(l).unwrap()["class"].clone()).collect();
    assert_eq!(classes, ["server-error", "quota-exhausted"]);
    for number in [3, 4, 5, 6] {
        assert!(err.contains(&format!("error: line {number}: ")), "{err}");
    }
    assert_eq!(err.lines().count(), 4, "{err}");
    assert!(err.contains("line 3: `status` is no HTTP status"), "{err}");
    assert_eq!(run(&["nowhere.jsonl"], "").status.code(), Some(2));
}

#[test]
fn what_is_no_unicode_is_read_as_far_as_it_is() {
    let lines =
        "\u{feff}{\"status\":503,\"body\":\"\\udcff\\udcfe no capacity\"}\n{\"id\":\"\\ud800\",\"status\":503}\n";
    let found = verdicts(lines);
    assert_eq!(found[0]["class"], "overloaded");
    assert!(found[1]["id"].is_string(), "{}", found[1]);
}

#[test]
fn people_are_told_why() {
    let line = r#"{"id":"a","provider":"anthropic","api":"anthropic-messages","status":529,"body":"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"}"#;
    let text = String::from_utf8(run(&["--human"], line).stdout).unwrap();
    for part in ["a: overloaded (no room", "stage", "scope  model", "rule   code-overloaded", "says   Overloaded"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn help_has_examples() {
    let text = String::from_utf8(run(&["--help"], "").stdout).unwrap();
    assert_eq!(text.matches("switchback classify").count() - text.matches("Usage: switchback classify").count(), 2);
}

/// Compares a file with what it must hold, or rewrites it.
fn golden(path: &str, text: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{} is not up to date; set {BLESS}=1 to rewrite it", path.display());
}
