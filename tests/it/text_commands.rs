//! The commands about policy text: `check`, `fmt` and `explain`, as a shell sees them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const GOOD: &str = r#"switchback 1

provider p { api openai-chat; base-url "http://127.0.0.1:9/v1" }
model m { modalities [text]; streaming yes; context 32k; max-output 4k }
target a { model m; provider p }
tier t { chain { a } }
matrix x { otherwise -> stop }
budget b { deadline 10s; attempts 1 }
route r { tier t; matrix x; budget b }
"#;

const UNFORMATTED: &str = "switchback 1\n# kept\nmodel m {context 32k;max-output 4k}\n";
const FORMATTED: &str = "switchback 1\n# kept\nmodel m { context 32k; max-output 4k }\n";
const BROKEN: &str = "switchback 1\nmodel m { modalities [text }\n";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("switchback-text-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(args: &[&str], paths: &[&Path]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_switchback")).args(args).args(paths).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn check_reports_in_three_forms() {
    let folder = Folder::new("check");
    let (good, broken) = (folder.file("good.sbk", GOOD), folder.file("broken.sbk", BROKEN));

    let (code, out, err) = run(&["check"], &[&broken]);
    assert_eq!((code, err.as_str()), (Some(1), ""));
    assert!(out.contains("error[SB0101] unclosed-bracket\n"), "{out}");
    assert!(out.contains("broken.sbk:2:22]"), "{out}");

    let (code, out, _) = run(&["check", "--format", "concise"], &[&broken]);
    assert_eq!(code, Some(1));
    assert!(out.lines().any(|l| l.ends_with("broken.sbk:2:22: error[SB0101] this `[` is never closed")), "{out}");

    let (code, out, _) = run(&["check", "--format", "json"], &[&good, &broken]);
    assert_eq!(code, Some(1));
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    let reports = document["sets"].as_array().unwrap();
    assert_eq!(reports[0]["policy"]["routes"], serde_json::json!(["r"]));
    assert_eq!(reports[0]["policy"]["hash"].as_str().unwrap().len(), 64);
    assert!(reports[1]["policy"].is_null());
    assert!(document["policy"].is_null(), "several sets have no one policy");
    let found = document["diagnostics"].as_array().unwrap();
    assert_eq!(found.iter().filter(|finding| finding["code"] == "SB0101").count(), 1);
    assert_eq!(reports[1]["summary"]["errors"], found.iter().filter(|finding| finding["level"] == "error").count());
    assert_eq!(reports[1]["summary"], document["summary"]);

    let (_, out, _) = run(&["check", "--format", "json"], &[&good]);
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["policy"], document["sets"][0]["policy"]);
    assert_eq!(document["policy"]["routes"], serde_json::json!(["r"]));
}

#[test]
fn check_fails_on_what_it_is_told_to() {
    let folder = Folder::new("levels");
    let warned = folder.file("warned.sbk", &GOOD.replace("http://127.0.0.1:9/v1", "http://10.0.0.7:9/v1"));
    let clean = folder.file("clean.sbk", GOOD);
    assert_eq!(run(&["check"], &[&warned]).0, Some(0));
    assert_eq!(run(&["check", "--fail-on", "warning"], &[&warned]).0, Some(1));
    assert_eq!(run(&["check", "--fail-on", "warning"], &[&clean]).0, Some(0));
    // What cannot be read weighs more than findings, and does not hide them.
    let (code, out, err) = run(&["check"], &[&folder.0.join("nowhere.sbk"), &warned]);
    assert_eq!(code, Some(2));
    assert!(err.contains("nowhere.sbk") && out.contains("warning[SB1103]"), "{out}{err}");
}

#[test]
fn fmt_writes_lists_and_shows() {
    let folder = Folder::new("fmt");
    let path = folder.file("a.sbk", UNFORMATTED);
    let text = || std::fs::read_to_string(&path).unwrap();

    let (code, out, _) = run(&["fmt", "--check"], &[&folder.0]);
    assert_eq!((code, out), (Some(1), format!("{}\n", path.display())));
    let (code, out, _) = run(&["fmt", "--diff"], &[&folder.0]);
    assert_eq!(code, Some(1));
    assert!(out.contains("\n-model m {context 32k;max-output 4k}\n+model m { context 32k; max-output 4k }\n"), "{out}");
    assert_eq!(text(), UNFORMATTED);

    assert_eq!(run(&["fmt"], &[&folder.0]).0, Some(0));
    assert_eq!(text(), FORMATTED);
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
    for flags in [&["fmt"][..], &["fmt", "--check"], &["fmt", "--diff"]] {
        assert_eq!(run(flags, &[&folder.0]), (Some(0), String::new(), String::new()));
    }
}

#[test]
fn fmt_leaves_what_it_cannot_read() {
    let folder = Folder::new("refuse");
    let broken = folder.file("a.sbk", BROKEN);
    let other = folder.file("b.sbk", UNFORMATTED);
    let (code, out, err) = run(&["fmt"], &[&folder.0]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.contains("SB0101"), "{err}");
    assert_eq!(std::fs::read_to_string(broken).unwrap(), BROKEN);
    assert_eq!(std::fs::read_to_string(other).unwrap(), FORMATTED);
    assert_eq!(run(&["fmt"], &[&folder.0.join("nowhere")]).0, Some(2));
}

#[test]
fn lines_end_as_they_did() {
    let folder = Folder::new("fmt-ends");
    let windows = folder.file("windows.sbk", &UNFORMATTED.replace('\n', "\r\n"));
    let mixed = folder.file("mixed.sbk", &UNFORMATTED.replacen('\n', "\r\n", 1));
    let unix = folder.file("unix.sbk", &UNFORMATTED.replace("# kept\n", "# kept\r\n"));
    assert_eq!(run(&["fmt"], &[&windows, &mixed, &unix]).0, Some(0));
    for (path, wanted) in [
        (&windows, FORMATTED.replace('\n', "\r\n")),
        (&mixed, FORMATTED.replace('\n', "\r\n")),
        (&unix, FORMATTED.into()),
    ] {
        assert_eq!(std::fs::read_to_string(path).unwrap(), wanted);
    }
    assert_eq!(run(&["fmt", "--check"], &[&windows, &mixed, &unix]).0, Some(0));
}

#[test]
fn formatting_keeps_the_policy() {
    let folder = Folder::new("hash");
    let hash = |path: &Path| {
        let (_, out, _) = run(&["check", "--format", "json"], &[path]);
        serde_json::from_str::<serde_json::Value>(&out).unwrap()["policy"]["hash"].as_str().unwrap().to_owned()
    };
    let path = folder.file("a.sbk", &GOOD.replace("; ", ";\n\n\n ").replace(" {", "  {"));
    let before = hash(&path);
    assert_eq!(run(&["fmt"], &[&path]).0, Some(0));
    assert_ne!(std::fs::read_to_string(&path).unwrap(), GOOD);
    assert_eq!(hash(&path), before);
}

#[test]
fn explain_knows_codes_names_and_words() {
    let page = run(&["explain", "SB0101"], &[]);
    assert_eq!(page.0, Some(0));
    assert!(page.1.starts_with("# SB0101 unclosed-bracket\n"), "{}", page.1);
    assert_eq!(run(&["explain", "Unclosed-Bracket"], &[]), page);
    for (word, said) in [
        ("reserve", "in budget"),
        ("rate-limit", "failure class"),
        ("no-target", "refusal"),
        ("timeout-*", "timeout-idle"),
        ("jitter", "backoff"),
        ("served", "which target's answer came back"),
        ("allow", "needs a reason"),
        ("switchback", "edition"),
        ("request.tokens", "fact"),
        ("request.client", "Not in effect yet"),
        ("repair", "Not in effect yet"),
        ("continue", "Not in effect yet"),
        ("serve-cached", "Not in effect yet"),
        ("from", "baseline … from REGION"),
        ("expect", "refused CLASS [as STATUS] | attempts == N"),
    ] {
        let (code, out, _) = run(&["explain", word], &[]);
        assert_eq!(code, Some(0), "{word}");
        assert!(out.contains(said), "{out}");
    }
    let (code, out, err) = run(&["explain", "failovr"], &[]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("did you mean `failover`?"), "{err}");
}

#[test]
fn a_diff_shows_no_key() {
    let folder = Folder::new("diff-key");
    let path =
        folder.file("a.sbk", "switchback 1\nprovider p { api   openai-chat; key \"sk-abcdef0123456789abcdef\" }\n");
    let (_, out, err) = run(&["fmt", "--diff"], &[&path]);
    assert!(out.contains("-provider p") && out.contains("+provider p") && out.contains("****"), "{out}{err}");
    assert!(!out.contains("sk-abcdef"), "{out}");
}
