//! The documentation says what is there: every setting, every field, every metric, every option, and links that lead
//! somewhere.

use crate::serve_rig::{Folder, Served};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use switchback::policy::class::Verb;
use switchback::policy::{Class, Refusal};
use switchback::syntax::settings::{BLOCKS, SETTINGS, Status, choices};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join("docs").join(name)).unwrap()
}

/// The part of a page under a heading, up to the next one that is as high.
fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let start = text.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}")) + 1 + heading.len();
    let level = heading.split(' ').next().unwrap();
    let end = text[start..].find(&format!("\n{level} ")).map_or(text.len(), |at| start + at);
    &text[start..end]
}

/// Whether a word stands in backticks, at the front or by itself in them.
fn names(text: &str, word: &str) -> bool {
    text.split('`').skip(1).step_by(2).any(|code| code == word || code.split([' ', ',']).any(|part| part == word))
}

#[test]
fn the_language_page_names_every_setting_where_it_belongs() {
    let text = page("language.md");
    let later = section(&text, "## Not yet in effect");
    for block in BLOCKS {
        let within = match (block.status, block.word) {
            (Status::Later, word) => {
                assert!(names(later, word), "{word} is not in effect, and not listed as such");
                continue;
            }
            (Status::InEffect, "test") => section(&text, "## Tests"),
            (Status::InEffect, word) => section(&text, &format!("### {word}")),
        };
        let row = later.lines().find(|l| l.starts_with(&format!("| `{}` |", block.word))).unwrap_or_default();
        for setting in SETTINGS.iter().filter(|s| s.block == block.block) {
            let (place, words) = match setting.status {
                Status::Later => (row, "as not in effect"),
                Status::InEffect if setting.word == "extends" => (section(&text, "## Blocks"), "among the blocks"),
                Status::InEffect => (within, "in its section"),
            };
            assert!(names(place, setting.word), "{} of {} is not named {words}", setting.word, block.word);
            if setting.status == Status::InEffect {
                for (word, _) in choices(setting).iter().filter(|(_, s)| *s == Status::Later) {
                    assert!(names(row, word), "{} {word} of {} is not listed", setting.word, block.word);
                }
            }
        }
    }
}

#[test]
fn the_reference_is_what_the_table_says() {
    let path = root().join("docs/language-reference.md");
    let text = switchback::syntax::settings::reference();
    if std::env::var_os("SWITCHBACK_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "docs/language-reference.md is not what the table says; SWITCHBACK_BLESS=1 rewrites it");
    for setting in SETTINGS {
        assert!(
            names(&text, setting.word) || text.contains(&format!("`{}`", setting.word)) || setting.block.is_later()
        );
    }
}

#[test]
fn the_class_table_is_the_classes() {
    let text = page("language.md");
    let table = section(&text, "## Failure classes");
    for class in Class::ALL {
        let row = table.lines().find(|l| l.starts_with(&format!("| `{class}` |")));
        let row = row.unwrap_or_else(|| panic!("no row for {class}"));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if *class != Class::PartialStream {
            assert_eq!(cells[3], class.client_status().to_string(), "{row}");
        }
        for verb in [Verb::Retry, Verb::Wait, Verb::Failover, Verb::Fallback] {
            let ruled_out = match cells[4] {
                "all but `stop`" => true,
                cell if cell.starts_with("all but") => verb != Verb::Fallback,
                cell => names(cell, verb.word()),
            };
            assert_eq!(ruled_out, class.forbids(verb), "{verb}: {row}");
        }
    }
    let errors = page("records.md");
    for refusal in [Refusal::NoTarget, Refusal::Contract, Refusal::Deadline] {
        assert!(names(table, refusal.word()) && names(&errors, refusal.word()), "{refusal}");
    }
}

#[test]
fn the_record_shown_has_the_fields_of_the_schema_and_each_is_explained() {
    let text = page("records.md");
    let shown = text.split("```json\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
    let shown: Value = serde_json::from_str(shown).unwrap();
    let schema = std::fs::read_to_string(root().join("schemas/record.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let keys = |v: &Value| -> BTreeSet<String> { v.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&shown), keys(&schema["properties"]));
    assert_eq!(keys(&shown["request"]), keys(&schema["$defs"]["RequestRecord"]["properties"]));
    for step in shown["steps"].as_array().unwrap() {
        assert_eq!(keys(step), keys(&schema["$defs"]["StepRecord"]["properties"]));
    }
    let fields = section(&text, "## Decision records");
    for key in [&shown, &shown["request"], &shown["steps"][0]].into_iter().flat_map(keys) {
        assert!(names(fields, &key), "{key} is not explained");
    }
}

#[test]
fn every_metric_is_listed() {
    let folder = Folder::new("docs-metrics", &std::fs::read_to_string(root().join("policies/quickstart.sbk")).unwrap());
    let served = Served::new(&[], &folder.policy());
    let text = page("records.md");
    let listed = section(&text, "## Metrics");
    let metrics = served.get("/metrics");
    let real: Vec<&str> = metrics.lines().filter_map(|l| l.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert!(real.len() >= 4, "{metrics}");
    for metric in &real {
        assert!(names(listed, metric), "{metric}");
    }
    for row in listed.lines().filter_map(|l| l.strip_prefix("| `")) {
        let name = row.split('`').next().unwrap();
        assert!(real.contains(&name), "{name} is listed, and not there");
    }
}

#[test]
fn every_term_of_a_dialect_is_explained() {
    let page = page("dialects.md");
    let table = section(&page, "## Chat to Messages: the request");
    for term in switchback::policy::Term::ALL {
        assert!(table.contains(&format!("| `dialect:{term}` |")), "`{term}`");
    }
}

#[test]
fn the_options_are_those_of_the_commands() {
    let text = page("cli.md");
    for command in
        ["check", "fmt", "test", "graph", "explain", "list", "serve", "emulate", "init", "completions", "man"]
    {
        let help = Command::new(env!("CARGO_BIN_EXE_switchback")).args([command, "--help"]).output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let own = section(&text, &format!("## {command}"));
        let options = |text: &str| -> BTreeSet<String> {
            let word = |w: &str| w.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-').to_owned();
            text.split_whitespace().map(word).filter(|w| w.starts_with("--") && !w.starts_with("---")).collect()
        };
        let offered: BTreeSet<String> = help
            .lines()
            .filter_map(|l| {
                l.trim_start().split(' ').find(|w| w.starts_with("--")).filter(|_| l.trim_start().starts_with('-'))
            })
            .map(str::to_owned)
            .filter(|o| !matches!(o.as_str(), "--help" | "--version" | "--color"))
            .collect();
        assert_eq!(options(own), offered, "{command}");
    }
}

/// Every relative link of the documentation leads somewhere.
#[test]
fn links_lead_somewhere() {
    let mut pages = vec![root().join("README.md"), root().join("CHANGELOG.md")];
    for folder in ["docs", "docs/decisions"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|e| e.unwrap().path());
        pages.extend(entries.filter(|p| p.extension().is_some_and(|e| e == "md")));
    }
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            if path.contains("://") {
                continue;
            }
            let to = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            assert!(to.exists(), "{}: {link}", page.display());
            if !anchor.is_empty() {
                let there = std::fs::read_to_string(&to).unwrap();
                assert!(there.lines().any(|l| anchor_of(l) == anchor), "{}: {link}", page.display());
            }
        }
    }
}

#[test]
fn every_decision_is_in_the_index() {
    let index = page("README.md");
    for entry in std::fs::read_dir(root().join("docs/decisions")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(index.contains(&format!("(decisions/{name})")), "{name}");
    }
}

/// The anchor that a heading gets on GitHub.
fn anchor_of(line: &str) -> String {
    let heading = line.trim_start_matches('#');
    if heading.len() == line.len() {
        return String::new();
    }
    let kept = heading.trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || "- _".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn what_is_looked_for_can_be_missing() {
    assert!(names("the `a b` and `c`", "c") && !names("the c", "c"));
    assert_eq!(section("x\n## A\none\n### B\ntwo\n## C\n", "## A"), "\none\n### B\ntwo");
    assert_eq!(anchor_of("## Exit codes"), "exit-codes");
}
