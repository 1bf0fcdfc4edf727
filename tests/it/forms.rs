//! The forms of findings: each a whole document of its kind, whatever is wrong with the policy, the paths or the flags.

use crate::shell::{GOOD, Shell};
use serde_json::Value;
use std::collections::BTreeSet;

const FORMS: [&str; 6] = ["json", "jsonl", "sarif", "github", "gitlab", "junit"];

/// Names and texts that a careless renderer stumbles over.
const AWKWARD: &str = "switchback 1\n\u{e9} \"<&>'\u{1}\" 100% a:b, \u{1f600}\nmodel m { modalities [text }\n}\n";

fn shell() -> Shell {
    let shell = Shell::new();
    shell.write("good.sbk", GOOD);
    shell.write("a b,c:%.sbk", AWKWARD);
    shell.write("warned.sbk", &GOOD.replace("127.0.0.1", "10.0.0.7"));
    shell.write("wrong.sbk", &GOOD.replace("10s", "10").replace("tier t;", "tier tt;"));
    shell.write("empty.sbk", "");
    shell.write("latin.sbk", "x");
    std::fs::write(shell.path().join("latin.sbk"), [0x73, 0xe9]).unwrap();
    shell
}

fn lines() -> Vec<(&'static str, i32)> {
    vec![
        ("good.sbk", 0),
        ("warned.sbk", 0),
        ("warned.sbk wrong.sbk good.sbk", 1),
        ("empty.sbk", 1),
        ("latin.sbk good.sbk", 2),
        ("nowhere", 2),
        ("good.sbk --select SB77", 2),
        ("good.sbk --nonsense", 2),
        ("good.sbk --fail-on nothing", 2),
        ("", 2),
        ("--staged", 2),
    ]
}

#[test]
fn every_form_is_whole_whatever_happens() {
    let shell = shell();
    for form in FORMS {
        for (line, exit) in lines() {
            let said = shell.run(&format!("check --format {form} {line}"));
            assert_eq!(said.exit, exit, "{form} {line}: {}", said.err);
            whole(form, &said.out, exit);
        }
        let mut command = shell.command(env!("CARGO_BIN_EXE_switchback"), "check --format");
        let output = command.args([form, "a b,c:%.sbk"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        whole(form, &String::from_utf8(output.stdout).unwrap(), 1);
    }
}

fn whole(form: &str, out: &str, exit: i32) {
    match form {
        "json" => {
            let document: Value = serde_json::from_str(out).unwrap_or_else(|e| panic!("{e}: {out}"));
            assert_eq!(document["version"], 1);
            assert_eq!(document["failures"].as_array().unwrap().is_empty(), exit != 2, "{out}");
        }
        "jsonl" => {
            let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(lines.iter().any(|line| line["failure"].is_string()), exit == 2, "{out}");
            assert!(lines.iter().all(|line| line["failure"].is_string() || line["code"].is_string()), "{out}");
        }
        "sarif" => sarif(&serde_json::from_str(out).unwrap(), exit),
        "gitlab" => gitlab(&serde_json::from_str(out).unwrap(), exit),
        "github" => github(out, exit),
        "junit" => junit(out, exit),
        _ => panic!("{form}"),
    }
}

/// What the schema of SARIF 2.1.0 asks for, of the members that are written.
fn sarif(log: &Value, exit: i32) {
    fn only(object: &Value, known: &[&str], required: &[&str]) {
        let object = object.as_object().unwrap();
        for key in object.keys() {
            assert!(known.contains(&key.as_str()), "`{key}` has no place beside {known:?}");
        }
        for key in required {
            assert!(object.contains_key(*key), "no `{key}` in {object:?}");
        }
    }
    fn text(message: &Value) {
        only(message, &["text", "markdown", "id", "arguments"], &["text"]);
        assert!(!message["text"].as_str().unwrap().is_empty());
    }
    fn region(region: &Value) {
        only(region, &["startLine", "startColumn", "endLine", "endColumn"], &["startLine"]);
        let number = |key: &str| region[key].as_u64().unwrap();
        assert!(number("startLine") >= 1 && number("startColumn") >= 1);
        assert!((number("startLine"), number("startColumn")) <= (number("endLine"), number("endColumn")), "{region}");
    }
    fn artifact(artifact: &Value) {
        only(artifact, &["uri", "uriBaseId", "index"], &["uri"]);
        let uri = artifact["uri"].as_str().unwrap();
        assert!(uri.bytes().all(|b| b.is_ascii_graphic() && !b"<>\"{}|\\^`".contains(&b)), "{uri}");
        assert!(!uri.split('/').next().unwrap().contains(':'), "{uri} reads like a scheme");
    }
    fn location(location: &Value) {
        only(location, &["id", "physicalLocation", "message"], &["physicalLocation"]);
        only(&location["physicalLocation"], &["artifactLocation", "region"], &["artifactLocation"]);
        artifact(&location["physicalLocation"]["artifactLocation"]);
        region(&location["physicalLocation"]["region"]);
        if let Some(message) = location.get("message") {
            text(message);
        }
    }
    only(log, &["$schema", "version", "runs"], &["version", "runs"]);
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    only(run, &["tool", "results", "invocations", "columnKind"], &["tool"]);
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    only(&run["tool"], &["driver"], &["driver"]);
    let driver = &run["tool"]["driver"];
    only(driver, &["name", "version", "semanticVersion", "rules", "informationUri"], &["name"]);
    let rules = driver["rules"].as_array().unwrap();
    let unique: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(unique.len(), rules.len());
    for rule in rules {
        only(rule, &["id", "name", "shortDescription", "help", "defaultConfiguration"], &["id"]);
        text(&rule["shortDescription"]);
        text(&rule["help"]);
        assert!(
            ["none", "note", "warning", "error"].contains(&rule["defaultConfiguration"]["level"].as_str().unwrap())
        );
    }
    let invocation = &run["invocations"][0];
    only(invocation, &["executionSuccessful", "toolExecutionNotifications"], &["executionSuccessful"]);
    assert_eq!(invocation["executionSuccessful"], exit != 2);
    for note in invocation["toolExecutionNotifications"].as_array().unwrap() {
        only(note, &["level", "message"], &["message"]);
        text(&note["message"]);
    }
    for result in run["results"].as_array().unwrap() {
        let known = ["ruleId", "ruleIndex", "level", "message", "locations", "relatedLocations", "fixes"];
        only(result, &known, &["message"]);
        text(&result["message"]);
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
        result["locations"].as_array().unwrap().iter().for_each(location);
        result.get("relatedLocations").iter().flat_map(|all| all.as_array().unwrap()).for_each(location);
        for fix in result.get("fixes").iter().flat_map(|all| all.as_array().unwrap()) {
            only(fix, &["description", "artifactChanges"], &["artifactChanges"]);
            for change in fix["artifactChanges"].as_array().unwrap() {
                only(change, &["artifactLocation", "replacements"], &["artifactLocation", "replacements"]);
                artifact(&change["artifactLocation"]);
                for replacement in change["replacements"].as_array().unwrap() {
                    only(replacement, &["deletedRegion", "insertedContent"], &["deletedRegion"]);
                    region(&replacement["deletedRegion"]);
                    assert!(replacement["insertedContent"]["text"].is_string());
                }
            }
        }
    }
}

/// What GitLab's Code Quality asks for.
fn gitlab(report: &Value, exit: i32) {
    let issues = report.as_array().unwrap();
    let mut prints = BTreeSet::new();
    for issue in issues {
        for key in ["description", "check_name", "fingerprint", "severity"] {
            assert!(issue[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {issue}");
        }
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&issue["severity"].as_str().unwrap()));
        assert!(issue["location"]["path"].as_str().is_some_and(|path| !path.starts_with("./")), "{issue}");
        assert!(issue["location"]["lines"]["begin"].as_u64().is_some_and(|line| line >= 1), "{issue}");
        assert!(prints.insert(issue["fingerprint"].as_str().unwrap()), "a fingerprint twice: {issue}");
    }
    assert_eq!(issues.iter().any(|issue| issue["severity"] == "blocker"), exit == 2);
    assert!(exit != 1 || !issues.is_empty());
}

/// `::COMMAND PROPERTIES::MESSAGE`, a line each.
fn github(out: &str, exit: i32) {
    for line in out.lines() {
        let rest = line.strip_prefix("::").unwrap_or_else(|| panic!("{line}"));
        let (head, message) = rest.split_once("::").unwrap();
        let (command, properties) = head.split_once(' ').unwrap();
        assert!(["error", "warning", "notice"].contains(&command) && !message.is_empty(), "{line}");
        for property in properties.split(',') {
            let (key, value) = property.split_once('=').unwrap();
            assert!(["file", "line", "endLine", "col", "endColumn", "title"].contains(&key), "{line}");
            assert!(!value.is_empty() && !value.contains(':'), "{line}");
        }
    }
    assert_eq!(out.lines().any(|line| line.starts_with("::error title=switchback::")), exit == 2);
}

/// Well-formed XML of suites, cases and what is in them, with counts that hold.
fn junit(out: &str, exit: i32) {
    let body = out.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap();
    let mut open: Vec<String> = Vec::new();
    let mut counts = std::collections::BTreeMap::new();
    let mut root = String::new();
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        assert!(!text.contains('>') && entities(text), "{text}");
        let end = rest[at..].find('>').unwrap() + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let alone = tag.ends_with('/');
        let (name, attributes) = tag.trim_end_matches('/').split_once(' ').unwrap_or((tag.trim_end_matches('/'), ""));
        let parent = open.last().map_or("", String::as_str);
        let fits = match name {
            "testsuites" => parent.is_empty(),
            "testsuite" => parent == "testsuites",
            "testcase" => parent == "testsuite",
            "failure" | "error" | "system-out" => parent == "testcase",
            _ => false,
        };
        assert!(fits, "<{name}> in <{parent}>");
        attributes_are_well_formed(attributes);
        *counts.entry(name.to_owned()).or_insert(0) += 1;
        if name == "testsuites" {
            root = attributes.to_owned();
        }
        if !alone {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{out}");
    let count = |name: &str| counts.get(name).copied().unwrap_or(0);
    for (key, name) in [("tests", "testcase"), ("failures", "failure"), ("errors", "error")] {
        assert!(root.contains(&format!("{key}=\"{}\"", count(name))), "{key}: {root}");
    }
    assert_eq!((count("error") > 0, count("failure") > 0 || exit != 1), (exit == 2, true));
}

fn attributes_are_well_formed(text: &str) {
    let mut rest = text;
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").unwrap();
        assert!(name.bytes().all(|b| b.is_ascii_lowercase()), "{text}");
        let (value, after) = after.split_once('"').unwrap();
        assert!(entities(value) && !value.contains('<'), "{value}");
        rest = after.trim_start();
    }
}

/// Whether each `&` begins an entity, and no character is one that XML has no place for.
fn entities(text: &str) -> bool {
    let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
    text.match_indices('&').all(|(at, _)| known.iter().any(|entity| text[at..].starts_with(entity)))
        && text.chars().all(|c| !c.is_control() || c == '\n')
}

#[test]
fn warnings_are_chosen_and_errors_are_always_shown() {
    let shell = shell();
    let count = |line: &str| shell.run(&format!("check --format concise {line}")).out.lines().count();
    assert_eq!(count("warned.sbk"), 1);
    assert_eq!(count("warned.sbk --ignore SB1103"), 0);
    assert_eq!(count("warned.sbk --ignore cleartext-http"), 0);
    assert_eq!(count("warned.sbk --ignore SB11,SB06"), 0);
    assert_eq!(count("warned.sbk --select SB06"), 0);
    assert_eq!(count("warned.sbk --select SB11"), 1);
    assert_eq!(count("warned.sbk --select SB11 --ignore SB1103"), 0);
    assert_eq!(count("wrong.sbk --ignore SB --select SB06"), 2);
    assert_eq!(shell.run("check warned.sbk --fail-on warning --ignore SB1103").exit, 0);
}

#[test]
fn safe_changes_are_made_and_others_only_if_asked_for() {
    let shell = Shell::new();
    let hash = |name: &str| {
        let said = shell.run(&format!("check --format json {name}"));
        let document: Value = serde_json::from_str(&said.out).unwrap();
        document["policy"]["hash"].as_str().map(str::to_owned)
    };
    shell.write("good.sbk", GOOD);
    let odd = GOOD.replace("api openai-chat;", "api openai-chat;;").replace("streaming yes", "streaming: yes");
    shell.write("odd.sbk", &odd);
    let said = shell.run("check --diff odd.sbk");
    assert!(said.exit == 1 && said.out.contains("-provider p { api openai-chat;;"), "{}", said.out);
    assert_eq!(shell.read("odd.sbk"), odd);
    let said = shell.run("check --fix odd.sbk");
    assert_eq!((said.exit, shell.read("odd.sbk").as_str()), (0, GOOD), "{}{}", said.out, said.err);
    assert_eq!(hash("odd.sbk"), hash("good.sbk"));

    // A guess is made only if asked for, and what it leads to is looked at again.
    let guess = GOOD.replace("budget b;", "budget b").replace("tier t;", "tiet t;").replace("streaming", "streamin");
    shell.write("guess.sbk", &guess);
    assert_eq!(shell.run("check --fix guess.sbk").exit, 1);
    assert_eq!(shell.read("guess.sbk"), guess);
    let said = shell.run("check --unsafe-fixes guess.sbk");
    assert_eq!((said.exit, shell.read("guess.sbk").as_str()), (0, GOOD), "{}{}", said.out, said.err);
}
