//! The forms of findings: each a whole document of its kind, whatever is wrong with the policy, the paths or the flags.
//! SARIF, JUnit and GitLab's reports are held against the schemas in `tests/formats`.

mod xml;
mod xsd;

use crate::shell::{GOOD, Shell};
use serde_json::Value;
use std::collections::BTreeSet;
use xml::Element;
use xsd::Schema;

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
    shell.write("tested.sbk", &format!("{GOOD}test \"t\" {{ a answers ok; send r; expect served by a }}\n"));
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
            holds("schemas/check.schema.json", &document);
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

/// A JSON Schema of `tests/formats` or `schemas`, with formats such as `uri-reference` asserted.
fn holds(schema: &str, document: &Value) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(schema);
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.enable_format_assertions();
    compiler.add_resource("schema.json", schema).unwrap();
    let index = compiler.compile("schema.json", &mut schemas).unwrap();
    if let Err(error) = schemas.validate(document, index) {
        panic!("{error}\n{document:#}");
    }
}

/// The schema of SARIF 2.1.0, and what the standard asks for beside it.
fn sarif(log: &Value, exit: i32) {
    holds("tests/formats/sarif-schema-2.1.0.json", log);
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let unique: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(unique.len(), rules.len());
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], exit != 2);
    assert_eq!(invocation["toolExecutionNotifications"].as_array().unwrap().is_empty(), exit != 2);
    for result in run["results"].as_array().unwrap() {
        assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
        let mut regions = Vec::new();
        places(result, &mut regions);
        assert!(!regions.is_empty());
        for region in regions {
            let number = |key: &str| region[key].as_u64().unwrap();
            assert!(
                (number("startLine"), number("startColumn")) <= (number("endLine"), number("endColumn")),
                "{region}"
            );
        }
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
        assert!(!uri.split('/').next().unwrap().contains(':'), "{uri} reads like a scheme");
    }
    assert!(exit != 1 || !run["results"].as_array().unwrap().is_empty());
}

/// Each object with a line it begins on, wherever it stands.
fn places<'a>(value: &'a Value, into: &mut Vec<&'a Value>) {
    match value {
        Value::Object(members) => {
            if members.contains_key("startLine") {
                into.push(value);
            }
            members.values().for_each(|value| places(value, into));
        }
        Value::Array(values) => values.iter().for_each(|value| places(value, into)),
        _ => {}
    }
}

/// What GitLab documents of its Code Quality report, and that no fingerprint stands twice: GitLab shows the first alone.
fn gitlab(report: &Value, exit: i32) {
    holds("tests/formats/gitlab-code-quality.schema.json", report);
    let issues = report.as_array().unwrap();
    let prints: BTreeSet<&str> = issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
    assert_eq!(prints.len(), issues.len(), "a fingerprint twice: {report}");
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

fn junit_schema() -> Schema {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/formats/junit-10.xsd");
    Schema::new(&xml::read(&std::fs::read_to_string(path).unwrap()).unwrap())
}

/// The schema of Jenkins, and counts that hold.
fn junit(out: &str, exit: i32) {
    let root = xml::read(out).unwrap_or_else(|why| panic!("{why}: {out}"));
    let broken = junit_schema().breaks(&root);
    assert!(broken.is_empty(), "{broken:?}\n{out}");
    let count = |element: &Element, name: &str| element.all().iter().filter(|part| part.name == name).count();
    for suite in std::iter::once(&root).chain(&root.children) {
        for (key, name) in [("tests", "testcase"), ("failures", "failure"), ("errors", "error")] {
            assert_eq!(suite.attribute(key), Some(count(suite, name).to_string().as_str()), "{key}: {out}");
        }
    }
    assert_eq!((count(&root, "error") > 0, count(&root, "failure") > 0 || exit != 1), (exit == 2, true));
}

/// Whoever asks for JSON gets JSON, from every command that has it, and is told what went wrong.
#[test]
fn json_is_json_when_there_is_nothing_to_show() {
    let shell = shell();
    for command in ["test", "graph", "list", "baselines"] {
        if command == "baselines" {
            for line in [
                "baselines wrong.sbk --state . --format json",
                "baselines good.sbk --state nowhere --format json",
                "baselines --format json --state nowhere",
            ] {
                let document: Value =
                    serde_json::from_str(&shell.run(line).out).unwrap_or_else(|why| panic!("{line}: {why}"));
                holds("schemas/check.schema.json", &document);
            }
            continue;
        }
        let mut lines = vec![
            ("--format json wrong.sbk", 1, (0, 2)),
            ("latin.sbk --format=json", 2, (1, 0)),
            ("--format json nowhere", 2, (1, 0)),
            ("--format json --nonsense good.sbk", 2, (1, 0)),
        ];
        match command {
            "test" => lines.push(("good.sbk --format json", 1, (1, 0))),
            "graph" => lines.push(("good.sbk nobody --format json", 2, (1, 0))),
            _ => {}
        }
        for (line, exit, counts) in lines {
            let said = shell.run(&format!("{command} {line}"));
            let document: Value =
                serde_json::from_str(&said.out).unwrap_or_else(|why| panic!("{command} {line}: {why}"));
            holds("schemas/check.schema.json", &document);
            let count = |key: &str| document[key].as_array().unwrap().len();
            assert_eq!(
                (said.exit, (count("failures"), count("diagnostics"))),
                (exit, counts),
                "{command} {line}: {document}"
            );
            assert!(said.err.contains("error"), "{command} {line}: people are told as well");
        }
        // What it prints when it has something to show is its own document.
        let shown = shell
            .run(&format!("{command} {} --format json", if command == "test" { "tested.sbk" } else { "good.sbk" }));
        holds(&format!("schemas/{command}.schema.json"), &serde_json::from_str(&shown.out).unwrap());
        assert_eq!(shell.run(&format!("{command} nowhere")).out, "", "{command}: people read stderr");
    }
}

#[test]
fn a_file_that_cannot_be_read_hides_nothing_that_is_certain() {
    let shell = Shell::new();
    let (models, rest) = GOOD.split_at(GOOD.find("target").unwrap());
    shell.write("set/models.sbk", models);
    shell.write("set/rest.sbk", &format!("switchback 1\n{}", rest.replace("deadline 10s", "deadline 10")));
    shell.write("set/latin.sbk", "");
    std::fs::write(shell.path().join("set/latin.sbk"), [0x73, 0xe9]).unwrap();
    std::os::unix::fs::symlink("nowhere", shell.path().join("set/link.sbk")).unwrap();
    let said = shell.run("check set --format json");
    let document: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.exit, document["failures"].as_array().unwrap().len()), (2, 2), "{}", said.err);
    assert!(said.err.contains("set/latin.sbk is not UTF-8") && said.err.contains("cannot read set/link.sbk"));
    let codes = |document: &Value| -> Vec<String> {
        let found = document["diagnostics"].as_array().unwrap().iter();
        found.map(|d| d["code"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(codes(&document), ["SB0301"], "the mistakes of the others are shown");
    // What the missing file may declare is not called missing, and nothing is a policy that can be served.
    std::fs::remove_file(shell.path().join("set/models.sbk")).unwrap();
    shell.write("set/rest.sbk", &format!("switchback 1\n{}", rest.replace("; budget b }", " }")));
    let said = shell.run("check set --format json");
    let document: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((codes(&document), &document["policy"]), (vec![], &Value::Null), "{}", said.out);
    for command in ["test set", "graph set", "list set"] {
        let said = shell.run(command);
        assert_eq!((said.exit, said.err.lines().count()), (2, 2), "{command}: {}", said.err);
    }
    assert_eq!(shell.run("fmt --check set").exit, 2);
}

#[test]
fn a_file_that_is_too_large_is_a_finding_and_hides_nothing_else() {
    let shell = Shell::new();
    let (models, rest) = GOOD.split_at(GOOD.find("target").unwrap());
    let much = "# \u{e9}\n".repeat(8 * 1024 * 1024 / 5 + 1);
    shell.write("set/large.sbk", &format!("{models}{much}"));
    shell.write("set/rest.sbk", &format!("switchback 1\n{}", rest.replace("deadline 10s", "deadline 10")));
    let said = shell.run("check set --format concise");
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!((said.exit, lines.len()), (1, 2), "{}{}", said.out, said.err);
    assert!(lines[0].starts_with("set/large.sbk:1:1: error[SB0111] this file is larger than 8 MiB"), "{}", said.out);
    assert!(lines[1].contains("error[SB0301]"), "{}", said.out);
    assert_eq!(shell.run("fmt set/large.sbk").exit, 1);
}

#[test]
fn the_checks_of_forms_can_fail() {
    let breaks = |text: &str| {
        let text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{text}");
        xml::read(&text).map_or_else(|why| vec![why], |root| junit_schema().breaks(&root))
    };
    let suite = |inside: &str| {
        format!(
            "<testsuites><testsuite name=\"s\" tests=\"1\" failures=\"0\" errors=\"0\">{inside}</testsuite></testsuites>"
        )
    };
    assert!(breaks(&suite("<testcase name=\"c\"><failure message=\"&lt;\"/></testcase>")).is_empty());
    for (wrong, why) in [
        (suite("<testcase/>"), "<testcase> without `name`"),
        (suite("<testcase name=\"c\" line=\"3\"/>"), "<testcase> takes no `line`"),
        (suite("<testcase name=\"c\"><testcase name=\"d\"/></testcase>"), "<testcase> has no place in <testcase>"),
        (suite("<testcase name=\"c\">text</testcase>"), "<testcase> takes no text: text"),
        (suite("").replace(" tests=\"1\"", ""), "<testsuite> without `tests`"),
        (suite("").replace("testsuites", "suites"), "there is no <suites>"),
        (suite("<testcase name=\"&\"/>"), "a bare `&`: &"),
        (suite("<testcase name=\"c\">"), "</testsuite> closes <testcase>"),
    ] {
        assert_eq!(breaks(&wrong), [why]);
    }
}

#[test]
#[should_panic(expected = "additionalProperties 'nonsense' not allowed")]
fn the_schema_of_sarif_is_applied() {
    let log =
        serde_json::json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "n" } }, "nonsense": 1 }] });
    holds("tests/formats/sarif-schema-2.1.0.json", &log);
}

#[test]
#[should_panic(expected = "is not valid uri-reference")]
fn uris_are_looked_at() {
    let place = serde_json::json!({ "physicalLocation": { "artifactLocation": { "uri": "a b" } } });
    let result = serde_json::json!({ "message": { "text": "t" }, "locations": [place] });
    let log = serde_json::json!({ "version": "2.1.0", "runs": [{ "tool": { "driver": { "name": "n" } }, "results": [result] }] });
    holds("tests/formats/sarif-schema-2.1.0.json", &log);
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
    assert_eq!(shell.run("check --unsafe-fixes guess.sbk").exit, 2, "it says which changes, and not to make them");
    assert_eq!(shell.read("guess.sbk"), guess);
    let said = shell.run("check --diff --unsafe-fixes guess.sbk");
    assert!(said.exit == 1 && said.out.contains("tier t;") && shell.read("guess.sbk") == guess, "{}", said.out);
    let said = shell.run("check --fix --unsafe-fixes guess.sbk");
    assert_eq!((said.exit, shell.read("guess.sbk").as_str()), (0, GOOD), "{}{}", said.out, said.err);
}
