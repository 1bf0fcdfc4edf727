//! The reference of the language, written from the table.
//!
//! In: the table of settings. Out: `docs/language-reference.md`, which a test holds to be this text. Words without
//! effect are listed as such and nowhere else.

use super::{BLOCKS, BlockRow, EARLY, Naming, Setting, Status, choices, settings_of};

const INTRODUCTION: &str = "# Language reference

Every block and every setting, as `check` reads them. This page is written from the table that the checks use; a test
compares the two. What the words do together is told in [the language](language.md); `switchback list --resolved` shows what
a set comes to.

A setting is written `WORD VALUE`, one a line. *Required* ones must stand in the block or in one that it extends;
*repeatable* ones may stand more than once.
";

/// The page.
pub fn reference() -> String {
    let mut page = INTRODUCTION.to_owned();
    let in_effect = || BLOCKS.iter().filter(|row| row.status == Status::InEffect);
    for row in in_effect() {
        block(row, &mut page);
    }
    page.push_str("\n## Not yet in effect\n\n");
    page.push_str(
        "Reserved words. A policy that uses one is refused at the word with `SB0210`, since a word without effect\n",
    );
    page.push_str("would be a promise that nobody keeps.\n\n");
    page.push_str("| word | in | meaning |\n| --- | --- | --- |\n");
    for row in BLOCKS.iter().filter(|row| row.status == Status::Later) {
        page.push_str(&format!("| `{}` | the top level | {} |\n", row.word, row.meaning));
    }
    for row in in_effect() {
        for setting in settings_of(row.block) {
            early(row, setting, &mut page);
        }
        for part in EARLY.iter().filter(|part| part.block == row.block) {
            let place = if part.word.contains('.') { "guards".to_owned() } else { format!("`{}`", row.word) };
            page.push_str(&format!("| `{}` | {place} | {} |\n", part.written, cell(part.meaning)));
        }
    }
    page
}

fn block(row: &BlockRow, page: &mut String) {
    let name = match row.naming {
        Naming::Named => " NAME",
        Naming::Titled => " \"TITLE\"",
        Naming::Paired => " NAME for NAME",
        Naming::Bare => "",
    };
    page.push_str(&format!("\n## {}\n\n`{}{name} {{ … }}`: {}\n", row.word, row.word, lower_first(row.meaning)));
    page.push_str("\n| setting | takes | without it | meaning |\n| --- | --- | --- | --- |\n");
    for setting in settings_of(row.block).filter(|setting| setting.status == Status::InEffect) {
        let without = match (setting.required, setting.default) {
            (true, _) => "required".to_owned(),
            (false, "") => String::new(),
            (false, default) => cell(default),
        };
        let more = if setting.repeatable { " Repeatable." } else { "" };
        page.push_str(&format!(
            "| `{}` | {} | {without} | {}{more} |\n",
            setting.word,
            cell(&takes(setting)),
            cell(setting.meaning)
        ));
    }
}

/// What a setting takes, words without effect left out.
fn takes(setting: &Setting) -> String {
    let known = choices(setting);
    if known.is_empty() {
        return setting.value.text();
    }
    let now = known.iter().filter(|(_, status)| *status == Status::InEffect).map(|(word, _)| format!("`{word}`"));
    let now = now.collect::<Vec<_>>().join(", ");
    if setting.value.text().starts_with('[') { format!("a list of {now}") } else { now }
}

fn early(row: &BlockRow, setting: &Setting, page: &mut String) {
    if setting.status == Status::Later {
        page.push_str(&format!("| `{}` | `{}` | {} |\n", setting.word, row.word, cell(setting.meaning)));
        return;
    }
    for (value, _) in choices(setting).iter().filter(|(_, status)| *status == Status::Later) {
        page.push_str(&format!("| `{} {value}` | `{}` | {} |\n", setting.word, row.word, cell(setting.meaning)));
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
