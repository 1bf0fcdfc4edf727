//! The pure half on whole policies. A `|` in a text is the place that is asked about.

use super::complete::{EARLY_FACT, complete};
use super::fixes::{self, Edit};
use super::set::Set;
use super::{facts, format, hover, names, symbols, tokens};
use crate::diag::{Code, has_errors};
use crate::source::FileId;
use crate::syntax::settings::{BLOCKS, Block, Naming, Status, settings_of};
use std::path::{Path, PathBuf};

const MAIN: &str = r#"switchback 1

provider p { api emulated }
model m { modalities [text]; streaming yes; context 32k; max-output 4k }
model n { modalities [text]; streaming yes; context 64k; max-output 4k }
target a { model m; provider p }
## The standby.
target b { model n; provider p }
tier t { chain { a; b when request.tokens > 8k } }
tier large { chain { b } }
matrix base { otherwise -> stop }
matrix x {
  extends base
  context-overflow -> fallback to large, stop
  timeout-* -> failover, fallback
}
budget quick { deadline 10s; attempts 2 }
budget slow { extends quick; deadline 30s }
defaults { matrix x; budget slow }
route r { tier t }
"#;

const TESTS: &str = r#"switchback 1

test "the standby answers" {
  send r { tokens 9k }
  a answers timeout-headers
  b answers ok
  expect served by b
  expect path [timeout-headers, fallback, ok]
}
test "nobody else" {
  send r
  a answers ok
  expect never b
  expect served by a
}
"#;

fn set_of(files: &[(&str, &str)]) -> Set {
    let mut set = Set::new("/set");
    set.read(files.iter().map(|(name, text)| (Path::new("/set").join(name), (*text).to_owned())), false);
    set
}

/// A set of one file, and the offset of the mark in it.
fn marked(text: &str) -> (Set, usize) {
    let at = text.find('|').unwrap();
    (set_of(&[("a.sbk", &text.replacen('|', "", 1))]), at)
}

/// The policy with a mark behind the first place where `word` stands in `context`.
fn at(set: &Set, file: u32, context: &str, word: &str) -> usize {
    let (_, tree) = set.file(FileId(file)).unwrap();
    let start = tree.source.text.find(context).unwrap_or_else(|| panic!("{context}"));
    start + context.find(word).unwrap() + 1
}

fn apply(set: &Set, edits: &[Edit]) -> Vec<(String, String)> {
    let all = set.trees().iter().map(|tree| {
        let mut text = tree.source.text.to_string();
        let mut own: Vec<_> = edits.iter().filter(|edit| edit.span.file == tree.source.id).collect();
        own.sort_by_key(|edit| std::cmp::Reverse(edit.span));
        for edit in own {
            text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
        }
        (tree.source.name.clone(), text)
    });
    all.collect()
}

#[test]
fn the_policy_is_right() {
    let mut set = set_of(&[("a.sbk", MAIN), ("b.test.sbk", TESTS)]);
    assert!(!has_errors(set.diagnostics()), "{:#?}", set.diagnostics());
}

#[test]
fn a_definition_and_its_references_find_each_other() {
    let set = set_of(&[("a.sbk", MAIN), ("b.test.sbk", TESTS)]);
    let slice = |span| {
        let line = set.file(span).unwrap();
        line.1.source.name.clone()
    };
    for (file, context, word) in
        [(0, "{ a; b when", "b"), (1, "b answers", "b"), (1, "by b", " b"), (1, "never b", " b")]
    {
        let found = names::definition(&set, FileId(file), at(&set, file, context, word));
        let [only] = found.as_slice() else { panic!("{context}: {found:?}") };
        assert_eq!(set.file(only.file).unwrap().1.source.place(only.start).line, 8, "{context}");
        assert_eq!(slice(only.file), "a.sbk");
    }
    let large = names::references(&set, FileId(0), at(&set, 0, "tier large", "large"), false);
    assert_eq!(large.len(), 1, "the fallback in the matrix");
    let b = names::references(&set, FileId(0), at(&set, 0, "target b", "b"), true);
    assert_eq!(b.len(), 6, "itself, two chains, three lines of tests");
}

#[test]
fn renaming_anything_keeps_the_policy() {
    let set = set_of(&[("a.sbk", MAIN), ("b.test.sbk", TESTS)]);
    let declared: Vec<_> = set.declared().map(|d| (d.name.to_owned(), d.span)).collect();
    assert!(declared.len() > 10);
    for (name, span) in declared {
        let edits = names::rename(&set, span.file, span.start as usize, "quite-new").unwrap();
        let texts = apply(&set, &edits);
        let texts: Vec<_> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let mut renamed = set_of(&texts);
        assert!(!has_errors(renamed.diagnostics()), "{name}: {:#?}", renamed.diagnostics());
        assert!(!renamed.declared().any(|d| d.name == name && d.span == span));
    }
}

#[test]
fn worked_examples_keep_their_policies_when_renamed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("policies");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let mut set = set_of(&[("a.sbk", &text)]);
        let before: Vec<_> = set.diagnostics().iter().map(|d| d.code).collect();
        for span in set.declared().map(|d| d.span).collect::<Vec<_>>() {
            let edits = names::rename(&set, span.file, span.start as usize, "quite-new").unwrap();
            let texts = apply(&set, &edits);
            let mut renamed = set_of(&[("a.sbk", &texts[0].1)]);
            let after: Vec<_> = renamed.diagnostics().iter().map(|d| d.code).collect();
            assert_eq!(before.len(), after.len(), "{} {:#?}", set.slice(span), renamed.diagnostics());
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn bad_names_are_refused() {
    let set = set_of(&[("a.sbk", MAIN)]);
    let target = at(&set, 0, "target a {", " a {");
    for (name, why) in [
        ("Big", "is no name"),
        ("", "is no name"),
        ("send", "word of the language"),
        ("b", "already"),
        ("p", "a provider `p` already"),
    ] {
        let refused = names::rename(&set, FileId(0), target, name).unwrap_err();
        assert!(refused.contains(why), "{name}: {refused}");
    }
    assert_eq!(names::rename(&set, FileId(0), target, "a").unwrap().len(), 2, "its own name is no other's");
    let tier = at(&set, 0, "tier large", "large");
    assert!(names::rename(&set, FileId(0), tier, "larger-context").is_err());
    assert!(names::rename(&set, FileId(0), 0, "x").is_err(), "the edition is no block");
}

#[track_caller]
fn says(file: u32, context: &str, word: &str, expected: &[&str]) {
    let mut set = set_of(&[("a.sbk", MAIN), ("b.test.sbk", TESTS)]);
    let offset = at(&set, file, context, word);
    let said = hover::hover(&mut set, FileId(file), offset).unwrap().text;
    for expected in expected {
        assert!(said.contains(expected), "{expected:?} is not in:\n{said}");
    }
}

#[test]
fn hover_says_what_a_word_means_and_comes_to() {
    says(0, "deadline 30s", "deadline", &["From receipt", "Here: `30s` (written here, a.sbk:18)"]);
    says(0, "extends quick", "extends", &["Takes over another budget"]);
    says(0, "attempts 2", "attempts", &["Required.", "Here: `2`"]);
    says(
        0,
        "budget slow",
        "slow",
        &["deadline", "30s", "attempts", "# inherited from quick, a.sbk:17", "per-target", "# default"],
    );
    says(0, "route r {", "r {", &["# from the defaults block, a.sbk:19"]);
    says(0, "; b when", "b", &["The standby."]);
    says(0, "api emulated", "emulated", &["a value of `api`", "`openai-chat`"]);
    says(0, "context-overflow ->", "context", &["failure class", "Too many tokens.", "Never answered with"]);
    says(0, "timeout-* ->", "timeout", &["`timeout-idle`", "`timeout-headers`"]);
    says(0, "failover, fallback", "failover", &["an action", "Another target of the same model."]);
    says(0, "request.tokens", "request", &["a fact", "in tokens"]);
    says(0, "defaults {", "defaults", &["matrix", "budget"]);
    says(1, "by b", " b", &["The standby."]);
    says(1, "expect served", "expect", &["What must have come"]);
}

#[test]
fn hover_on_a_code_in_a_comment_is_its_page() {
    let (mut set, offset) = marked("switchback 1\n# allow SB0|612: why\nprovider p { api emulated }\n");
    let said = hover::hover(&mut set, FileId(0), offset).unwrap();
    assert!(said.text.starts_with("# SB0612"), "{}", said.text);
    assert_eq!(set.slice(said.span), "SB0612");
}

fn suggested(text: &str) -> Vec<String> {
    let (set, offset) = marked(text);
    complete(&set, FileId(0), offset).map_or(Vec::new(), |(_, found)| found.into_iter().map(|s| s.label).collect())
}

#[track_caller]
fn suggests(text: &str, wanted: &[&str], unwanted: &[&str]) {
    let found = suggested(text);
    for word in wanted {
        assert!(found.iter().any(|found| found == word), "`{word}` is not among {found:?}");
    }
    for word in unwanted {
        assert!(!found.iter().any(|found| found == word), "`{word}` is among {found:?}");
    }
}

#[test]
fn completion_knows_the_block_it_is_in() {
    suggests("|", &["switchback 1", "route"], &["deadline"]);
    suggests("switchback 1\nrou|", &["route", "test"], &["switchback 1"]);
    suggests(
        "switchback 1\nbudget b {\n  attempts 2\n  |\n  idle 3s\n}",
        &["deadline", "reserve"],
        &["attempts", "idle"],
    );
    suggests("switchback 1\nbudget b { dea|", &["deadline", "extends"], &["api"]);
    suggests("switchback 1\nbudget b {\nattempts 1\nroute r {\n  |\n", &["tier", "matrix"], &["deadline"]);
    suggests("switchback 1\nprovider p { api | }", &["openai-chat", "emulated"], &["api"]);
    suggests("switchback 1\nmodel m { modalities [text, | }", &["image"], &["modalities"]);
    suggests("switchback 1\nmodel m { streaming |", &["yes", "no"], &[]);
    suggests("switchback 1\ntarget a { }\ntarget b-c { }\ntier t { chain {\n  b|\n} }", &["a", "b-c"], &["t"]);
    suggests("switchback 1\ntier t { }\nroute r { tier |", &["t"], &["r"]);
    suggests("switchback 1\nmodel m { }\nroute r { match | }", &["when"], &[]);
    assert_eq!(suggested("switchback 1 # |"), Vec::<String>::new());
    assert_eq!(suggested("switchback 1\nmodel m { like \"|\" }"), Vec::<String>::new());
}

#[test]
fn completion_leaves_out_what_has_no_effect_yet() {
    let top = suggested("switchback 1\n|");
    for row in BLOCKS {
        assert_eq!(top.iter().any(|word| word == row.word), row.status == Status::InEffect, "{}", row.word);
        let name = if row.naming == Naming::Bare { "" } else { "x " };
        let inside = suggested(&format!("switchback 1\n{} {name}{{ | }}", row.word));
        for setting in settings_of(row.block).filter(|setting| setting.status == Status::Later) {
            assert!(!inside.iter().any(|word| word == setting.word), "{} in {}", setting.word, row.word);
        }
    }
}

#[test]
fn completion_knows_rows_and_guards() {
    let row = |rest: &str| format!("switchback 1\ntier spare {{ }}\nmatrix x {{\n  auth -> stop\n  {rest}\n}}\n");
    suggests(&row("|"), &["connect", "otherwise", "timeout-*", "extends"], &["auth"]);
    suggests(&row("connect, |"), &["policy"], &["connect", "otherwise"]);
    suggests(&row("connect |"), &["->", "when"], &[]);
    suggests(&row("connect -> |"), &["retry once", "next-key", "stop"], &["repair once", "connect"]);
    suggests(&row("policy -> |"), &["stop", "fallback"], &["retry once", "failover"]);
    suggests(&row("connect -> failover, fallback to |"), &["larger-context", "spare"], &["stop"]);
    suggests(&row("connect when |"), &["failure.status", "request.tokens"], &[]);
    suggests(&row("connect when failure.stage == |"), &["not-sent"], &[]);
    suggests(&row("connect when time.left > 2s |"), &["and"], &[]);
    suggests("switchback 1\ntarget a { }\ntier t { chain { a when | } }", &["request.tokens"], &["failure.status"]);
    suggests("switchback 1\ntarget a { }\ntier t { chain { a when request.tokens | } }", &[">"], &[]);
}

#[test]
fn completion_knows_lines_of_tests() {
    let line = |rest: &str| format!("switchback 1\ntarget a {{ }}\nroute r {{ }}\ntest \"x\" {{\n  {rest}\n}}\n");
    suggests(&line("|"), &["send", "expect", "a"], &["r"]);
    suggests(&line("send |"), &["r"], &["a"]);
    suggests(&line("send r { | }"), &["stream", "tokens"], &["send"]);
    suggests(&line("expect served by |"), &["a"], &["r"]);
    suggests(&line("expect refused |"), &["no-target", "auth"], &[]);
    suggests(&line("expect path [|"), &["ok", "lost", "hedge", "failover", "overloaded"], &["repair"]);
    suggests(&line("expect path [lost, |"), &["hedge"], &[]);
    suggests(&line("a |"), &["answers", "is"], &[]);
    suggests(&line("at 2s a answers |"), &["ok", "overloaded"], &[]);
}

#[test]
fn completion_goes_on_with_forms() {
    let inside = |block: &str, rest: &str| {
        format!(
            "switchback 1\ntarget a {{ region eu-west }}\ntarget b {{ region us-east }}\nbudget b {{ }}\n{block} n {{\n  {rest}\n}}\n"
        )
    };
    let trip = ["errors >= 50% over 30s, min 20", "slow >= 80% above 10s", "consecutive >= 5"];
    suggests(&inside("breaker", "trip when |"), &trip, &[]);
    suggests(&inside("budget", "hedge |"), &["after p95, at least 500ms"], &[]);
    suggests(&inside("breaker", "trip |"), &["when consecutive >= 5"], &["errors >= 50% over 30s, min 20"]);
    suggests(&inside("breaker", "trip when errors >= 20% |"), &["over 30s, min 20"], &["above 10s"]);
    suggests(&inside("breaker", "open 30s, |"), &["doubling to 5m", "growing 1.5x to 5m"], &[]);
    suggests(&inside("breaker", "hold |"), &["rate-limit"], &["partial-stream", "CLASS up to D, default D"]);
    suggests(&inside("breaker", "hold rate-limit |"), &["up to 5s", "up to 5s, default 5s"], &[]);
    suggests(&inside("probe", "slow when |"), &["latency > 3x baseline, at least 500ms", "latency > 12s"], &[]);
    suggests(&inside("probe", "down |"), &["after 3 failures"], &["after N failures"]);
    suggests(&inside("ramp", "rollback when |"), &["errors >= 20%, min 20", "consecutive >= 5"], &[]);
    suggests(&inside("route", "exhausted |"), &["stop as 503", "wait up to 5s"], &["stop as STATUS"]);
    suggests(&inside("route", "exhausted stop as |"), &["503"], &["5s"]);
    suggests(&inside("route", "failover |"), &["yes", "no", "10%"], &["N%"]);
    suggests(&inside("target", "failure 429 |"), &["is"], &[]);
    suggests(&inside("target", "failure 429 is |"), &["auth", "quota-exhausted"], &["partial-stream", "rate-limited"]);
    suggests(&inside("target", "failure 429 \"seats\" is |"), &["auth"], &[]);
    suggests(&inside("contract", "regions [|"), &["eu-west", "us-east"], &["[eu-west]"]);
    suggests(&inside("contract", "regions |"), &["[eu-west]"], &["eu-west"]);
    suggests(&inside("contract", "context |"), &[">= 64k"], &[]);
    suggests(&inside("tier", "chain in [eu-west, |"), &["us-east"], &[]);
    suggests(&inside("tier", "exercise 2% of |"), &["a", "b"], &[]);
    suggests(&inside("budget", "extends |"), &["b"], &["n"]);
    suggests("switchback 1\nmatrix y { }\nmatrix x {\n  extends |\n}", &["y"], &["x"]);
    let line = |rest: &str| format!("switchback 1\ntarget a {{ }}\ntest \"x\" {{\n  {rest}\n}}\n");
    suggests(&line("expect skipped a |"), &["as"], &["a"]);
    suggests(&line("expect skipped a as |"), &["degraded", "breaker-open", "contract"], &["a"]);
    for block in BLOCKS.iter().filter(|row| row.status == Status::InEffect && row.block != Block::Test) {
        for setting in settings_of(block.block).filter(|setting| setting.status == Status::InEffect) {
            let name = if block.naming == Naming::Bare { "" } else { "x " };
            for label in suggested(&format!("switchback 1\n{} {name}{{ {} | }}", block.word, setting.word)) {
                let made_up = label.split([' ', '[', ']', ',']).any(|word| {
                    word.len() > 1 && word.bytes().all(|b| b.is_ascii_uppercase())
                        || ["N", "D", "N%", "$X/day"].contains(&word)
                });
                assert!(!made_up || label.starts_with("[env"), "`{label}` after `{}` cannot be written", setting.word);
            }
        }
    }
}

#[test]
fn nothing_is_suggested_inside_comments() {
    for text in [
        "switchback 1\n# |",
        "switchback 1\n#|",
        "switchback 1\n# pro|vider",
        "# |",
        "#|\nswitchback 1",
        "switchback 1\n## the first |\nprovider p { api emulated }\n",
        "switchback 1\n# |\n# more\nprovider p { api emulated }\n",
        "switchback 1\n# allow SB0612: |\n",
        "switchback 1\nprovider p {\n  # a|\n}\n",
        "switchback 1\nprovider p { api emulated } # |\n",
        "switchback 1\n# \u{e9}|\r\n",
        "switchback 1\nprovider p {\n  # |",
        "switchback 1\nmodel m { modalities [text, # |\n] }",
        "switchback 1\nmodel m { modalities [ # |",
        "switchback 1\nprovider p { api \"x # |",
        "switchback 1\n} # |",
        "switchback 1\n@@ # |",
        "switchback 1\n# |\n@@",
    ] {
        assert_eq!(suggested(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn values_words_of_the_grammar_and_reserved_words_are_explained() {
    let text = MAIN.replace("budget quick {", "budget quick { backoff 250ms to 4s, jitter full;");
    let text = text.replace("timeout-* -> failover", "truncated -> continue once, stop\n  timeout-* -> failover");
    let text = text.replace("target b { model n;", "target b { model n; region eu-west; upstream \"n-1\";");
    for (word, wanted) in [
        ("switchback", &["the edition of the language"] as &[&str]),
        ("32k", &["32 000", "Input and output together, in tokens", "Here: `32k` (written here"]),
        ("10s", &["10 000 ms", "deadline"]),
        ("250ms", &["250 milliseconds", "Pauses before retries"]),
        ("jitter", &["Pauses before retries"]),
        ("eu-west", &["Where it is", "Here: `eu-west`"]),
        ("\"n-1\"", &["The model's name sent to the provider"]),
        ("8k", &["8 000", "The estimate of its input"]),
        ("continue", &["Not in effect yet"]),
        ("once", &["asked to go on after a length cut"]),
    ] {
        let mut set = set_of(&[("a.sbk", &text)]);
        let said = hover::hover(&mut set, FileId(0), text.find(word).unwrap() + 1);
        let said = said.unwrap_or_else(|| panic!("nothing is said of `{word}`"));
        assert_eq!(set.slice(said.span), word);
        for part in wanted {
            assert!(said.text.contains(part), "`{word}`: `{part}` is not in {}", said.text);
        }
    }
}

#[test]
fn a_suggestion_replaces_the_word_that_is_being_typed() {
    let (set, offset) = marked("switchback 1\ntarget b-c.d { }\ntier t { chain { b-c.| } }");
    let (span, found) = complete(&set, FileId(0), offset).unwrap();
    assert_eq!((set.slice(span), found[0].label.as_str()), ("b-c.", "b-c.d"));
}

/// What a value of a fact may be is what the set knows, and stands in brackets where a list is due.
#[test]
fn values_are_suggested_where_they_fit() {
    let offered = |name: &str, text: &str| -> Vec<String> {
        let at = text.find('|').unwrap();
        let set = set_of(&[(name, &text.replacen('|', "", 1))]);
        let found = complete(&set, FileId(0), at).map(|(_, found)| found).unwrap_or_default();
        found.into_iter().map(|one| one.label).collect()
    };
    let targets = "switchback 1\ntarget a { region eu-west }\ntarget b { region us-east }\n";
    let guard = |rest: &str| offered("a.sbk", &format!("{targets}tier t {{ chain {{ a when request.{rest} }} }}"));
    assert_eq!(guard("region in [|]"), ["eu-west", "us-east"]);
    assert_eq!(guard("region in [eu-west, |]"), ["eu-west", "us-east"]);
    assert_eq!(guard("region in |"), ["[eu-west]", "[us-east]"]);
    assert_eq!(guard("region == |"), ["eu-west", "us-east"]);
    assert_eq!(guard("modalities in [|]"), ["text", "image"]);
    assert_eq!(guard("region in [eu-west] |"), ["and", "or"]);
    assert_eq!(guard("region in [eu-west |]"), [""; 0]);
    assert_eq!(guard("tokens in |"), ["[8k]"]);
    let backoff = offered("a.sbk", "switchback 1\nbudget b { backoff 1s to 2s, jitter | }");
    let mut jitters: Vec<_> = crate::policy::Jitter::ALL.iter().map(|jitter| jitter.word().to_owned()).collect();
    let mut found = backoff;
    jitters.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, jitters);
    assert_eq!(offered("a.test.sbk", "switchback 1\n|"), ["test"]);
    assert!(offered("a.sbk", "switchback 1\n|").len() > 10);
}

#[test]
fn a_fact_without_effect_is_not_suggested() {
    let guarded =
        |fact: &str| MAIN.replace("timeout-* -> failover", &format!("connect when {fact} == \"x\" -> failover"));
    for fact in crate::lsp::facts::FACTS.iter().filter(|fact| !fact.word.contains("header")) {
        let mut set = set_of(&[("a.sbk", &guarded(fact.word))]);
        let refused = set.diagnostics().iter().any(|d| d.code == Code::NotYetInEffect);
        assert_eq!(refused, fact.word == EARLY_FACT, "{}", fact.word);
    }
}

#[test]
fn what_is_suggested_has_an_effect() {
    let mut seen = 0;
    for word in ["retry", "wait", "next-key", "failover", "fallback", "repair", "continue", "stop"] {
        let early = crate::policy::class::Verb::from_word(word).unwrap().is_later();
        let form = match word {
            "retry" | "repair" | "continue" => format!("{word} once"),
            "wait" => "wait up to 1s".to_owned(),
            _ => word.to_owned(),
        };
        let text = MAIN.replace("timeout-* -> failover", &format!("connect, truncated -> {form}, failover"));
        let mut set = set_of(&[("a.sbk", &text)]);
        let refused = set.diagnostics().iter().any(|d| d.code == Code::NotYetInEffect);
        assert_eq!(refused, early, "`{word}`: {:#?}", set.diagnostics());
        seen += 1;
    }
    assert_eq!(seen, crate::policy::class::Verb::ALL.len());
}

#[test]
fn the_facts_are_those_that_guards_read() {
    let mut known: Vec<_> = crate::check::guard::fact_words().collect();
    let mut ours: Vec<_> = facts::FACTS.iter().map(|fact| fact.word).collect();
    known.sort_unstable();
    ours.sort_unstable();
    assert_eq!(ours, known);
}

#[test]
fn a_fix_mends_and_an_allow_silences() {
    let text = MAIN.replace("failover, fallback", "failovr, fallback");
    let mut set = set_of(&[("a.sbk", &text)]);
    let at = text.find("failovr").unwrap();
    let actions = fixes::actions(&mut set, FileId(0), at, at);
    let [only] = actions.as_slice() else { panic!("{actions:#?}") };
    assert_eq!((only.title.as_str(), only.preferred), ("write `failover`", true));
    assert_eq!(apply(&set, std::slice::from_ref(&only.edit))[0].1, MAIN);

    let warned = MAIN.replace("api emulated }", "\r\n  api openai-chat\r\n  base-url \"http://10.0.0.7/v1\"\r\n}");
    let mut set = set_of(&[("a.sbk", &warned)]);
    let at = warned.find("http:").unwrap();
    let actions = fixes::actions(&mut set, FileId(0), at, at);
    let [only] = actions.as_slice() else { panic!("{actions:#?}") };
    assert_eq!(only.title, "allow SB1103 here");
    let mended = apply(&set, std::slice::from_ref(&only.edit))[0].1.clone();
    assert!(mended.contains("\r\n  # allow SB1103: \r\n  base-url"), "{mended}");
    let mended = mended.replace("# allow SB1103: ", "# allow SB1103: inside");
    let mut set = set_of(&[("a.sbk", &mended)]);
    assert!(!set.diagnostics().iter().any(|d| d.entry().id == "SB1103"), "{:#?}", set.diagnostics());
}

#[test]
fn formatting_changes_no_more_than_it_must() {
    let set = set_of(&[("a.sbk", "switchback 1\nmodel m {context 32k}\nmodel n { context 1k }\n")]);
    let edit = format::format(&set, FileId(0)).unwrap();
    assert_eq!(set.slice(edit.span), "model m {context 32k}\n");
    assert_eq!(edit.text, "model m { context 32k }\n");
    assert_eq!(format::format(&set_of(&[("a.sbk", "switchback 1\nmodel m { context\n")]), FileId(0)), None);

    let crlf = set_of(&[("a.sbk", "switchback 1\r\nmodel m {context 32k}\r\n")]);
    let edit = format::format(&crlf, FileId(0)).unwrap();
    let done = apply(&crlf, &[edit])[0].1.clone();
    assert_eq!(done, "switchback 1\r\nmodel m { context 32k }\r\n");
    assert_eq!(format::format(&set_of(&[("a.sbk", &done)]), FileId(0)), None);
}

#[test]
fn the_outline_holds_blocks_and_their_statements() {
    let set = set_of(&[("a.sbk", MAIN), ("b.test.sbk", TESTS)]);
    let outline = symbols::outline(&set, FileId(0));
    let budget = outline.iter().find(|symbol| symbol.name == "slow").unwrap();
    assert_eq!(budget.detail, "budget");
    let inside: Vec<_> = budget.children.iter().map(|c| (c.name.as_str(), c.detail.as_str())).collect();
    assert_eq!(inside, [("extends", "quick"), ("deadline", "30s")]);
    assert!(outline.iter().any(|symbol| symbol.name == "defaults"));
    assert_eq!(symbols::outline(&set, FileId(1))[0].name, "the standby answers");
    assert_eq!(symbols::search(&set, "larg").len(), 1);
    for symbol in &outline {
        assert!(symbol.span.start <= symbol.name_span.start && symbol.name_span.end <= symbol.span.end);
    }
}

#[test]
fn colours_follow_what_words_are() {
    let set = set_of(&[("a.sbk", MAIN)]);
    let found = tokens::tokens(&set, FileId(0));
    let kind = |word: &str| {
        let token = found.iter().find(|token| set.slice(token.span) == word).unwrap_or_else(|| panic!("{word}"));
        (token.kind, token.declaration)
    };
    assert_eq!(kind("provider"), (tokens::Kind::Keyword, false));
    assert_eq!(kind("quick"), (tokens::Kind::Name, true));
    assert_eq!(kind("deadline"), (tokens::Kind::Setting, false));
    assert_eq!(kind("emulated"), (tokens::Kind::Value, false));
    assert_eq!(kind("context-overflow"), (tokens::Kind::Failure, false));
    assert_eq!(kind("failover"), (tokens::Kind::Action, false));
    assert_eq!(kind("request.tokens"), (tokens::Kind::Fact, false));
    assert_eq!(kind("8k"), (tokens::Kind::Number, false));
    assert_eq!(kind("## The standby."), (tokens::Kind::Comment, false));
    assert!(found.is_sorted_by_key(|token| token.span.start));
}

#[test]
fn a_change_parses_its_own_file_alone_and_is_checked_with_all() {
    let mut set = set_of(&[("a.sbk", MAIN), ("b.test.sbk", TESTS)]);
    let other = set.trees()[1].tokens.as_ptr();
    set.open(&PathBuf::from("/set/a.sbk"), 1, MAIN.replace("target b ", "target c "));
    assert_eq!(set.trees()[1].tokens.as_ptr(), other, "the tests were not parsed again");
    let found: Vec<_> = set.diagnostics().iter().filter(|d| d.code == Code::UnknownName).collect();
    let places = found.iter().flat_map(|d| d.labels.iter().map(|label| label.span).chain([d.span]));
    let files: Vec<_> = places.map(|span| span.file.0).collect();
    assert!(files.contains(&0) && files.contains(&1), "{files:?}");
    set.close(Path::new("/set/a.sbk"));
    assert!(!has_errors(set.diagnostics()));
}

/// Cut anywhere, with anything put there, a policy gets answers and no panic.
#[test]
fn half_typed_text_is_answered() {
    let text = MAIN.to_owned() + TESTS;
    let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(7).collect();
    for (round, at) in cuts.into_iter().enumerate() {
        let put = ["", "{", "\"", "}", "-> ", "é😀", "\r", ", ", "[("][round % 9];
        let broken = match round % 2 {
            0 => format!("{}{put}", &text[..at]),
            _ => format!("{}{put}{}", &text[..at], &text[at..]),
        };
        let mut set = set_of(&[("a.sbk", &broken)]);
        for offset in [at.saturating_sub(1), at, at + put.len()] {
            let _ = hover::hover(&mut set, FileId(0), offset);
            let _ = complete(&set, FileId(0), offset);
            let _ = names::references(&set, FileId(0), offset, true);
            let _ = names::rename(&set, FileId(0), offset, "quite-new");
            let _ = fixes::actions(&mut set, FileId(0), offset, offset);
        }
        let _ = (format::format(&set, FileId(0)), symbols::outline(&set, FileId(0)), tokens::tokens(&set, FileId(0)));
    }
}
