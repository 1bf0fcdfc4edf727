//! The TextMate grammar: generated from the table of settings, so that every word of the language has its colour.
//!
//! `SWITCHBACK_BLESS=1 cargo test --test it grammar` writes it anew.

use serde_json::{Value, json};
use std::path::Path;
use switchback::lsp::facts::FACTS;
use switchback::policy::class::{Class, Refusal, Verb};
use switchback::syntax::settings::{BLOCKS, BlockRow, Naming, SETTINGS, choices, settings_of};

/// No letter of a word follows.
const END: &str = "(?![A-Za-z0-9_.*-])";
/// No letter of a word stands before.
const START: &str = "(?<![A-Za-z0-9_.*-])";
/// A statement begins here.
const FIRST: &str = "(?:^|(?<=[{};]))\\s*";

/// Words as alternatives, longer ones first, since the first that fits is taken.
fn any<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let mut words: Vec<String> = words.into_iter().map(|word| word.replace('.', "\\.")).collect();
    words.sort_by_key(|word| (std::cmp::Reverse(word.len()), word.clone()));
    words.dedup();
    format!("(?:{})", words.join("|"))
}

fn word<'w>(words: impl IntoIterator<Item = &'w str>, scope: &str) -> Value {
    json!({ "match": format!("{START}{}{END}", any(words)), "name": format!("{scope}.switchback") })
}

fn block(row: &BlockRow) -> Value {
    let kind = row.word;
    let head = match row.naming {
        Naming::Bare => format!("({kind})\\s*(\\{{)"),
        Naming::Named | Naming::Titled | Naming::Paired => format!("({kind})\\s+([^\\{{#;]*?)\\s*(\\{{)"),
    };
    let open = if row.naming == Naming::Bare { "2" } else { "3" };
    let mut captures = json!({
        "1": { "name": "keyword.declaration.switchback" },
        open: { "name": "punctuation.section.block.begin.switchback" },
    });
    if row.naming != Naming::Bare {
        let name = json!({ "match": "[a-z][a-z0-9_]*(?:[.-][a-z0-9_]+)*", "name": "entity.name.type.switchback" });
        captures["2"] = json!({ "patterns": [
            { "include": "#string" },
            { "match": "\\bfor\\b", "name": "keyword.other.switchback" },
            name,
        ] });
    }
    let mut patterns = Vec::new();
    let settings: Vec<&str> = settings_of(row.block).map(|setting| setting.word).collect();
    if !settings.is_empty() {
        patterns.push(json!({
            "match": format!("{FIRST}({}){END}", any(settings)),
            "captures": { "1": { "name": "support.type.property-name.switchback" } },
        }));
    }
    patterns.push(json!({ "include": "#inside" }));
    json!({
        "name": format!("meta.block.{kind}.switchback"),
        "begin": format!("{FIRST}{head}"),
        "beginCaptures": captures,
        "end": "\\}",
        "endCaptures": { "0": { "name": "punctuation.section.block.end.switchback" } },
        "patterns": patterns,
    })
}

fn grammar() -> Value {
    let blocks: Vec<Value> = BLOCKS.iter().map(block).collect();
    let values = SETTINGS.iter().flat_map(choices).map(|(word, _)| *word);
    let grammar_words = [
        "when", "and", "or", "not", "in", "out", "cached", "to", "up", "as", "at", "from", "every", "for", "of", "by",
        "once", "times", "env", "file", "else", "answers", "after", "then", "is", "never", "only", "always", "jitter",
        "doubling", "growing", "over", "min", "least",
    ];
    let mut top = vec![
        json!({ "include": "#comment" }),
        json!({
            "match": "^\\s*(switchback)\\s+(\\d+)",
            "captures": { "1": { "name": "keyword.control.switchback" }, "2": { "name": "constant.numeric.switchback" } },
        }),
    ];
    top.extend(blocks);
    // Half-typed blocks have their colours before they have their braces.
    top.push(word(BLOCKS.iter().map(|row| row.word), "keyword.declaration"));
    top.push(json!({ "include": "#inside" }));
    json!({
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "Switchback",
        "scopeName": "source.switchback",
        "fileTypes": ["sbk"],
        "patterns": top,
        "repository": {
            "comment": { "patterns": [
                { "match": "##.*$", "name": "comment.line.documentation.switchback" },
                { "match": "#.*$", "name": "comment.line.number-sign.switchback" },
            ] },
            "string": {
                "name": "string.quoted.double.switchback",
                "begin": "\"",
                "end": "\"|$",
                "patterns": [{ "match": "\\\\(?:[\"\\\\nt]|u\\{[0-9A-Fa-f]*\\})", "name": "constant.character.escape.switchback" }],
            },
            "inside": { "patterns": [
                { "include": "#comment" },
                { "include": "#string" },
                { "begin": "\\{", "end": "\\}", "patterns": [{ "include": "#inside" }] },
                { "begin": "\\[", "end": "\\]", "patterns": [{ "include": "#inside" }] },
                word(FACTS.iter().map(|fact| fact.word), "variable.language"),
                word(Class::ALL.iter().map(|class| class.word()).chain(["timeout-*", "otherwise"]), "support.constant.class"),
                word(Verb::ALL.iter().map(|verb| verb.word()), "support.function.action"),
                word(["send", "expect", "given"], "keyword.control"),
                word(grammar_words, "keyword.other"),
                word(values.chain(Refusal::ALL.iter().map(|refusal| refusal.word())), "constant.language"),
                { "match": format!("{START}\\$?\\d[A-Za-z0-9_.%$/-]*"), "name": "constant.numeric.switchback" },
                { "match": "->|==|!=|<=|>=|<|>", "name": "keyword.operator.switchback" },
            ] },
        },
    })
}

#[test]
fn the_textmate_grammar_is_that_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("grammar/policy.tmLanguage.json");
    let text = serde_json::to_string_pretty(&grammar()).unwrap() + "\n";
    if std::env::var_os("SWITCHBACK_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "grammar/policy.tmLanguage.json is not up to date: run with SWITCHBACK_BLESS=1");
    for word in BLOCKS.iter().map(|row| row.word).chain(SETTINGS.iter().map(|setting| setting.word)) {
        assert!(text.contains(word), "`{word}` has no colour");
    }
}
