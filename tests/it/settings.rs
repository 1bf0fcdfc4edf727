//! The table of settings and what `check` does with it: every word in effect is read, every other is refused once.

use switchback::check;
use switchback::diag::{Code, Diagnostic};
use switchback::source::Sources;
use switchback::syntax;
use switchback::syntax::settings::{Block, Naming, SETTINGS, Setting, Status, choices};

/// A whole set in which the block of one kind begins with a statement more.
fn set(block: Block, statement: &str) -> String {
    let blocks = [
        (Block::Provider, "p", "api emulated"),
        (Block::Model, "m", "modalities [text]; context 32k"),
        (Block::Target, "a", "model m; provider p"),
        (Block::Contract, "c", "streaming no"),
        (Block::Tier, "t", "chain { a }"),
        (Block::Matrix, "x", "otherwise -> stop"),
        (Block::Budget, "b", "deadline 10s; attempts 1"),
        (Block::Breaker, "k", "hint-cap 1m"),
        (Block::Probe, "o", "traffic no"),
        (Block::Ramp, "g", "100%"),
        (Block::Route, "r", "contract c; tier t; matrix x; budget b"),
        (Block::Defaults, "", "matrix x; breaker k; probe o; ramp g"),
        (Block::Test, "\"title\"", "send r; a answers ok; expect served by a"),
    ];
    let mut text = "switchback 1\n".to_owned();
    for (kind, name, body) in blocks {
        let more = if kind == block { format!("{statement}; ") } else { String::new() };
        text.push_str(&format!("{} {name} {{ {more}{body} }}\n", kind.word()));
    }
    text
}

/// What is said about the statement itself.
fn said(text: &str, statement: &str) -> Vec<Diagnostic> {
    let sources = Sources::from_texts([("a.sbk", text)]);
    let trees: Vec<_> = sources.iter().map(|source| syntax::parse(source).0).collect();
    let at = text.find(statement).unwrap();
    let inside = |d: &Diagnostic| (at..at + statement.len()).contains(&(d.span.start as usize));
    check::check(&trees).1.into_iter().filter(inside).collect()
}

fn in_blocks_in_effect() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|setting| !setting.block.is_later())
}

#[test]
fn the_set_without_the_statement_is_right() {
    let text = set(Block::Load, "");
    let sources = Sources::from_texts([("a.sbk", text)]);
    let trees: Vec<_> = sources.iter().map(|source| syntax::parse(source).0).collect();
    let (policy, found) = check::check(&trees);
    assert!(policy.is_some(), "{found:#?}");
}

#[test]
fn no_word_in_effect_is_taken_and_ignored() {
    for setting in in_blocks_in_effect().filter(|setting| setting.status == Status::InEffect) {
        // No setting takes this, so silence would mean that nobody looked.
        let statement = format!("{} != [1 != 2]", setting.word);
        let found = said(&set(setting.block, &statement), &statement);
        assert!(!found.is_empty(), "`{}` of a {} is not read", setting.word, setting.block.word());
        let early = found.iter().any(|d| d.code == Code::NotYetInEffect);
        assert!(!early, "`{}` of a {} is refused", setting.word, setting.block.word());
    }
}

#[test]
fn every_word_without_effect_is_refused_once_at_the_word() {
    for setting in in_blocks_in_effect().filter(|setting| setting.status == Status::Later) {
        let statement = format!("{} nonsense", setting.word);
        let found = said(&set(setting.block, &statement), &statement);
        let codes: Vec<_> = found.iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::NotYetInEffect], "`{}` of a {}", setting.word, setting.block.word());
        assert_eq!((found[0].span.end - found[0].span.start) as usize, setting.word.len());
    }
}

#[test]
fn every_value_without_effect_is_refused_once_at_the_value() {
    let mut seen = 0;
    for setting in in_blocks_in_effect().filter(|setting| setting.status == Status::InEffect) {
        for (value, _) in choices(setting).iter().filter(|(_, status)| *status == Status::Later) {
            let statement = format!("{} {value}", setting.word);
            let found = said(&set(setting.block, &statement), &statement);
            let codes: Vec<_> = found.iter().map(|d| d.code).collect();
            assert_eq!(codes, [Code::NotYetInEffect], "{statement}");
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn every_block_without_effect_is_refused_once_at_its_word() {
    for row in switchback::syntax::settings::BLOCKS.iter().filter(|row| row.status == Status::Later) {
        let name = match row.naming {
            Naming::Named => "n",
            Naming::Titled => "\"n\"",
            Naming::Paired => "m for r",
            Naming::Bare => "",
        };
        let statement = format!("{} {name} {{ nonsense 1 2 3; also {{ nothing }} }}", row.word);
        let text = set(Block::Load, "") + &statement;
        let codes: Vec<_> = said(&text, &statement).iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::NotYetInEffect], "{statement}");
    }
}
