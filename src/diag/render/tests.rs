use super::json::Policy;
use super::{Run, Set, concise, count, github, gitlab, human, json, jsonl, junit, sarif};
use crate::diag::{Code, Diagnostic, Level};
use crate::source::{FileId, Sources, Span};

fn sources() -> Sources {
    Sources::from_texts([
        ("a.sbk", "switchback 1\n# ünïcode\nmodel m { größe [text, image }\nend\n"),
        ("b.sbk", "switchback 1\nmodel m {\n  x\n}\n"),
    ])
}

fn span(sources: &Sources, file: u32, needle: &str) -> Span {
    let text = &sources.get(FileId(file)).unwrap().text;
    let at = text.find(needle).unwrap();
    Span::new(FileId(file), at, at + needle.len())
}

fn sample(sources: &Sources) -> Diagnostic {
    let at = |file, needle| span(sources, file, needle);
    Diagnostic::new(Code::UnclosedBracket, at(0, "["), "this `[` is never closed")
        .here("opened here")
        .label(at(0, "}"), "`]` is missing before this `}`")
        .label(at(1, "model m {\n  x\n}"), "and this is elsewhere")
        .help("add the `]` that belongs to it")
        .fix("add `]`", Span { start: at(0, "}").start - 1, end: at(0, "}").start - 1, file: FileId(0) }, "]", false)
}

fn run<'a>(sources: &'a Sources, diagnostics: &'a [Diagnostic], policy: Option<Policy>) -> Run<'a> {
    let set = Set { path: "policies".to_owned(), sources, diagnostics, policy };
    Run { sets: vec![set], failures: vec!["cannot read x".to_owned()], fail_on: Level::Error }
}

#[test]
fn people_see_the_place_the_cause_and_the_next_step() {
    let sources = sources();
    let text = human(&[sample(&sources)], &sources, false);
    let expected = "\
error[SB0101] unclosed-bracket

  × this `[` is never closed
   ╭─[a.sbk:3:17]
 2 │ # ünïcode
 3 │ model m { größe [text, image }
   ·                 ┬            ┬
   ·                 │            ╰── `]` is missing before this `}`
   ·                 ╰── opened here
 4 │ end
   ╰────
  help: add the `]` that belongs to it
  ╰─▶   ☞ and this is elsewhere
         ╭─[b.sbk:2:1]
       1 │ switchback 1
       2 │ model m {
         · ─────────
       3 │   x
         ╰────

";
    assert_eq!(text, expected, "\n{text}");
}

#[test]
fn colour_is_only_on_demand() {
    let sources = sources();
    let diagnostics = [sample(&sources)];
    assert!(!human(&diagnostics, &sources, false).contains('\u{1b}'));
    assert!(human(&diagnostics, &sources, true).contains('\u{1b}'));
}

#[test]
fn any_place_can_be_shown() {
    let sources = Sources::from_texts([("empty.sbk", ""), ("a.sbk", "é\n\n\u{1b}[2J x\r\n\tlast")]);
    for file in [0, 1, 7] {
        for (start, end) in [(0, 0), (0, 2), (2, 2), (2, 3), (3, 4), (4, 17), (17, 17), (40, 50)] {
            let diagnostic = Diagnostic::new(Code::StrayText, Span::new(FileId(file), start, end), "x").here("y");
            let text = human(std::slice::from_ref(&diagnostic), &sources, false);
            assert!(text.starts_with("error[SB0106]"), "{text}");
            let run = run(&sources, std::slice::from_ref(&diagnostic), None);
            for text in [json(&run), jsonl(&run), sarif(&run), gitlab(&run)] {
                let text = text.unwrap();
                assert!(text.lines().all(|line| !line.contains('\u{1b}')), "{text}");
            }
            assert!(github(&run).starts_with("::error file="));
            assert_eq!(junit(&run).contains("<failure "), file < 2);
        }
    }
}

#[test]
fn one_line_each() {
    let sources = sources();
    assert_eq!(concise(&[sample(&sources)], &sources), "a.sbk:3:17: error[SB0101] this `[` is never closed\n");
    assert_eq!(count(&[sample(&sources), sample(&sources)]), "2 errors");
    assert_eq!(count(&[]), "");
}

#[test]
fn data_has_the_agreed_fields() {
    let sources = sources();
    let policy = Policy { hash: "0".repeat(64), routes: vec!["r".into()] };
    let found = [sample(&sources)];
    let run = run(&sources, &found, Some(policy));
    let document = json::document(&run);
    let place = |file: &str, line: u32, column: u32, end_line: u32, end_column: u32| serde_json::json!({"file": file, "line": line, "column": column, "end_line": end_line, "end_column": end_column});
    let with = |mut place: serde_json::Value, key: &str, value: serde_json::Value| {
        place.as_object_mut().unwrap().insert(key.into(), value);
        place
    };
    let found = with(place("a.sbk", 3, 17, 3, 18), "code", "SB0101".into());
    let found = with(found, "name", "unclosed-bracket".into());
    let found = with(found, "level", "error".into());
    let found = with(found, "message", "this `[` is never closed".into());
    let found = with(found, "help", "add the `]` that belongs to it".into());
    let labels = serde_json::json!([
        with(place("a.sbk", 3, 17, 3, 18), "message", "opened here".into()),
        with(place("a.sbk", 3, 30, 3, 31), "message", "`]` is missing before this `}`".into()),
        with(place("b.sbk", 2, 1, 4, 2), "message", "and this is elsewhere".into()),
    ]);
    let found = with(found, "labels", labels);
    let fix = with(place("a.sbk", 3, 29, 3, 29), "title", "add `]`".into());
    let fix = with(with(fix, "text", "]".into()), "safe", false.into());
    let found = with(found, "fix", fix);
    assert_eq!(
        serde_json::to_value(&document).unwrap(),
        serde_json::json!({
            "version": 1,
            "policy": {"hash": "0".repeat(64), "routes": ["r"]},
            "diagnostics": [found],
            "sets": [{
                "path": "policies",
                "policy": {"hash": "0".repeat(64), "routes": ["r"]},
                "summary": {"errors": 1, "warnings": 0, "advice": 0},
            }],
            "failures": ["cannot read x"],
            "summary": {"errors": 1, "warnings": 0, "advice": 0},
        })
    );
}
