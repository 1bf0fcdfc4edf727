//! `tests/cases/field.toml`: each field case has a test that there is, or the later subject it waits for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use switchback::ready::prepare;
use switchback::source::Sources;
use switchback::story;

/// What a case may wait for.
const SUBJECTS: [&str; 9] = [
    "dialects",
    "judged answers and side-effect records",
    "proofs and diff",
    "replay",
    "importers",
    "metrics/traces/dashboard",
    "clients/kill switches",
    "shared state (Redis)",
    "response cache",
];

/// The cases that there are.
const CASES: [&str; 24] = [
    "FC-01", "FC-02", "FC-03", "FC-04", "FC-06", "FC-07", "FC-09", "FC-10", "FC-12", "FC-13", "FC-14", "FC-19",
    "FC-21", "FC-22", "FC-24", "FX-1", "FX-3", "FX-4", "FX-5", "FX-7", "FX-9", "FX-10", "FX-11", "FX-12",
];

#[derive(Clone, Debug, Default)]
struct Case {
    id: String,
    about: String,
    tests: Vec<String>,
    blocks: Vec<String>,
    waits: Vec<String>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The file's cases. Of TOML, comments, tables of `case`, strings and lists of strings are understood.
fn read(text: &str) -> Result<Vec<Case>, String> {
    let mut cases: Vec<Case> = Vec::new();
    let mut list: Option<String> = None;
    for (n, line) in text.lines().map(str::trim).enumerate() {
        let wrong = || format!("field.toml:{}: `{line}`", n + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line == "[[case]]" {
            cases.push(Case::default());
            continue;
        }
        let case = cases.last_mut().ok_or_else(wrong)?;
        let (key, value) = match &list {
            Some(key) => (key.clone(), line),
            None => line.split_once(" = ").map(|(k, v)| (k.to_owned(), v)).ok_or_else(wrong)?,
        };
        let strings: Vec<String> = value.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        let first = || strings.first().cloned().ok_or_else(wrong);
        match key.as_str() {
            "id" => case.id = first()?,
            "about" => case.about = first()?,
            "tests" => case.tests.extend(strings),
            "blocks" => case.blocks.extend(strings),
            "waits" => case.waits.extend(strings),
            _ => return Err(wrong()),
        }
        let opens = value.starts_with('[') || list.is_some();
        list = Some(key).filter(|_| opens && !value.ends_with(']'));
    }
    Ok(cases)
}

fn cases() -> Vec<Case> {
    read(&std::fs::read_to_string(root().join("tests/cases/field.toml")).unwrap()).unwrap()
}

/// What is wrong with a list of cases, held against those that there should be.
fn amiss<'a>(cases: &[Case], due: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for Case { id, about, tests, blocks, waits } in cases {
        if !known.insert(id.as_str()) {
            found.push(format!("{id} stands there twice"));
        }
        if about.is_empty() || tests.is_empty() && blocks.is_empty() && waits.is_empty() {
            found.push(format!("{id} says nothing"));
        }
        for wait in waits {
            let (subject, what) = wait.split_once(": ").unwrap_or((wait, ""));
            if !SUBJECTS.contains(&subject) || what.is_empty() {
                found.push(format!("{id} waits for `{wait}`, which is no subject"));
            }
        }
    }
    let due: BTreeSet<&str> = due.into_iter().collect();
    found.extend(due.difference(&known).map(|id| format!("{id} is missing")));
    found.extend(known.difference(&due).map(|id| format!("{id} is no case")));
    found
}

#[test]
fn every_case_is_mapped() {
    assert_eq!(amiss(&cases(), CASES), Vec::<String>::new());
}

/// The ids of a document of cases: headings and the first cells of tables.
fn ids(text: &str) -> Vec<String> {
    let first = |line: &str| line.trim_start_matches(['#', '|', ' ']).split([' ', '|']).next().unwrap_or("").to_owned();
    let lines = text.lines().filter(|l| l.starts_with("### ") || l.starts_with("| "));
    lines.map(first).filter(|id| id.starts_with("FC-") || id.starts_with("FX-")).collect()
}

/// Beside the corpus that the environment names there may be the document that the cases are taken from.
#[test]
fn the_list_is_that_of_the_document() {
    let Some(corpus) = std::env::var_os("SWITCHBACK_CORPUS") else { return };
    let Ok(text) = std::fs::read_to_string(Path::new(&corpus).join("../reference/field-cases.md")) else { return };
    let ids = ids(&text);
    assert_eq!(amiss(&cases(), ids.iter().map(String::as_str)), Vec::<String>::new());
}

#[test]
fn every_named_test_is_there_and_runs() {
    // The binary that runs this is the one that has them; none of them may be one that is left out.
    let list = |more: &[&str]| {
        let out =
            Command::new(std::env::current_exe().unwrap()).args(["--list", "--format", "terse"]).args(more).output();
        let text = String::from_utf8(out.unwrap().stdout).unwrap();
        text.lines().filter_map(|l| l.strip_suffix(": test")).map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (all, left_out) = (list(&[]), list(&["--ignored"]));
    let cases = cases();
    let named: BTreeSet<&String> = cases.iter().flat_map(|c| &c.tests).collect();
    let missing: Vec<_> = named.iter().filter(|n| !all.contains(**n) || left_out.contains(**n)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    // What is made for a case is said to be.
    let made = ["field::refusals", "field::streams", "field::sequences", "field::policies", "field::dialects"];
    let unnamed: Vec<_> = all.iter().filter(|t| made.iter().any(|m| t.starts_with(m)) && !named.contains(t)).collect();
    assert!(unnamed.is_empty(), "{unnamed:?}");
}

#[test]
fn every_named_block_is_there_and_passes() {
    let folder = root().join("tests/cases/field");
    let mut texts = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        texts.insert(name, std::fs::read_to_string(path).unwrap());
    }
    let prepared = prepare(Sources::from_texts(texts));
    let Some(ready) = prepared.ready else { panic!("{:#?}", prepared.diagnostics) };
    assert!(prepared.diagnostics.is_empty(), "{:#?}", prepared.diagnostics);
    let reports = story::run_all(&ready.graph, &ready.sources);
    let failed: Vec<_> = reports.iter().filter(|r| !r.passed()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let there: BTreeSet<&str> = reports.iter().map(|r| r.name.as_str()).collect();
    let cases = cases();
    let named: BTreeSet<&str> = cases.iter().flat_map(|c| &c.blocks).map(String::as_str).collect();
    assert_eq!(named, there);
    for case in &cases {
        let own = case.blocks.iter().all(|b| b.starts_with(&format!("{} ", case.id)));
        assert!(own, "{}: {:?}", case.id, case.blocks);
    }
}

#[test]
fn a_list_that_is_not_whole_is_told() {
    let text = "[[case]]\nid = \"FC-01\"\nabout = \"x\"\ntests = [\n  \"a\",\n  \"b\",\n]\n[[case]]\nid = \"FX-9\"\nabout = \"y\"\nwaits = [\"nothing: z\"]\n[[case]]\nid = \"FC-01\"\nabout = \"x\"\n";
    let cases = read(text).unwrap();
    assert_eq!(cases[0].tests, ["a", "b"]);
    let found = amiss(&cases, ["FC-01", "FC-02"]);
    let want = [
        "FX-9 waits for `nothing: z`, which is no subject",
        "FC-01 stands there twice",
        "FC-01 says nothing",
        "FC-02 is missing",
        "FX-9 is no case",
    ];
    assert_eq!(found, want);
    assert!(read("id = \"x\"").is_err() && read("[[case]]\nother = \"x\"").is_err());
    assert_eq!(ids("### FC-01 One\n| Id | x |\n| FX-1 | y |\n"), ["FC-01", "FX-1"]);
}
