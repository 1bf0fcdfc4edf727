//! What is said of the word under the pointer.
//!
//! In: a set and a place in it. Out: Markdown: what a word means, from the tables of the language, and what it comes to
//! in this set and why, from the resolved listing. Never says whether the policy is right.

mod value;

use super::complete::EARLY_FACT;
use super::facts;
use super::roles::{Role, Word};
use super::set::Set;
use crate::check::{ListedBlock, ListedOrigin, ListedSetting};
use crate::diag::Code;
use crate::policy::class::{Class, Verb};
use crate::policy::contract::Pattern;
use crate::source::{FileId, Span};
use crate::syntax::settings::{Block, BlockRow, Setting, Status, choices};
use crate::syntax::tree::{Statement, TokenKind};

/// What is shown, and the word that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The word.
    pub span: Span,
    /// Markdown.
    pub text: String,
}

/// What is said of an offset in a file.
pub fn hover(set: &mut Set, file: FileId, offset: usize) -> Option<Hover> {
    let Some(word) = set.word_at(file, offset) else {
        return code(set, file, offset).or_else(|| value::hover(set, file, offset));
    };
    match of(set, file, word) {
        Some(text) => Some(Hover { span: word.span, text }),
        None => value::hover(set, file, offset),
    }
}

/// What is said of a word by its role; nothing of one that only belongs to the grammar.
fn of(set: &mut Set, file: FileId, word: Word) -> Option<String> {
    let offset = word.span.start as usize;
    let text = match word.role {
        Role::Kind(Block::Defaults) => named(set, Block::Defaults, ""),
        Role::Kind(block) => kind(block.row()),
        Role::Declares(_) | Role::Refers(_) => {
            let symbol = super::names::symbol(set, file, offset)?;
            let (block, name) = (symbol.block, symbol.name.to_owned());
            named(set, block, &name)
        }
        Role::Setting(row) => setting(set, word, row),
        Role::Value(row) => choice(row, set.slice(word.span)),
        Role::Class => classes(set.slice(word.span)),
        Role::Verb => Verb::from_word(set.slice(word.span)).map(verb)?,
        Role::Fact => facts::find(set.slice(word.span)).map(fact)?,
        Role::Keyword if word.block.is_none() && set.slice(word.span) == "switchback" => EDITION.to_owned(),
        Role::Keyword => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// What the first line of a file means.
const EDITION: &str = "**switchback**: the edition of the language\n\nThe first line of each file: `switchback 1`. It fixes what \
    the words of the file mean for ever; a later edition changes nothing in it.";

/// A code in a comment: `# allow SB0612: …`.
fn code(set: &Set, file: FileId, offset: usize) -> Option<Hover> {
    let (_, tree) = set.file(file)?;
    let holds = |span: Span| span.start as usize <= offset && offset <= span.end as usize;
    let comment = tree.tokens.iter().find(|token| token.kind == TokenKind::Comment && holds(token.span))?;
    let text = tree.source.slice(comment.span);
    let at = text.find("SB")?;
    let id = text.get(at..)?.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
    let entry = Code::find(id)?.entry();
    let start = comment.span.start as usize + at;
    Some(Hover { span: Span::new(file, start, start + id.len()), text: entry.page.to_owned() })
}

fn kind(row: &BlockRow) -> String {
    format!("**{}**: a block\n\n{}{}", row.word, row.meaning, early(row.status))
}

fn early(status: Status) -> &'static str {
    match status {
        Status::InEffect => "",
        Status::Later => "\n\n*Not in effect yet: a policy that says this is refused.*",
    }
}

fn listed<'s>(set: &'s mut Set, block: Block, name: &str) -> Option<&'s ListedBlock> {
    let own = |listed: &&ListedBlock| listed.kind == block.word() && listed.name.as_deref().unwrap_or("") == name;
    set.listing().blocks.iter().find(own)
}

fn named(set: &mut Set, block: Block, name: &str) -> String {
    let row = block.row();
    let declared = set.declared().find(|d| d.block == block && d.name == name).map(|d| d.span);
    let head = format!("**{}**", [row.word, name].join(" ").trim());
    let Some(listed) = listed(set, block, name).cloned() else {
        let docs = declared.and_then(|span| docs(set, span)).map(|docs| format!("\n\n{docs}")).unwrap_or_default();
        let absent = if declared.is_none() && !name.is_empty() { "\n\n*There is none of this name.*" } else { "" };
        return format!("{head}{docs}{absent}\n\n{}{}", row.meaning, early(row.status));
    };
    let mut text = head;
    match &listed.docs {
        Some(docs) => text.push_str(&format!("\n\n{docs}")),
        None => text.push_str(&format!("\n\n{}", row.meaning)),
    }
    if !listed.settings.is_empty() {
        let pad = |of: fn(&ListedSetting) -> &String| {
            listed.settings.iter().map(|s| of(s).chars().count()).filter(|n| *n <= 32).max().unwrap_or(0)
        };
        let (words, values) = (pad(|s| &s.word), pad(|s| &s.value));
        text.push_str("\n\n```switchback\n");
        for setting in &listed.settings {
            let (word, value) = (&setting.word, &setting.value);
            let written = matches!(setting.origin, ListedOrigin::Written { .. });
            let origin = if written { String::new() } else { format!("  # {}", origin(&setting.origin)) };
            text.push_str(format!("{word:words$}  {value:values$}{origin}").trim_end());
            text.push('\n');
        }
        text.push_str("```");
    }
    text.push_str(&format!("\n\n{}:{}", listed.file, listed.line));
    text
}

/// The documentation of the block whose name stands at a span.
fn docs(set: &Set, name: Span) -> Option<String> {
    let (_, tree) = set.file(name.file)?;
    let holds = |statement: &&Statement| statement.span.start <= name.start && name.end <= statement.span.end;
    tree.statements.iter().find(holds)?.docs.clone()
}

fn origin(origin: &ListedOrigin) -> String {
    match origin {
        ListedOrigin::Written { file, line } => format!("written here, {file}:{line}"),
        ListedOrigin::Inherited { from, file, line } => format!("inherited from {from}, {file}:{line}"),
        ListedOrigin::Defaults { file, line } => format!("from the defaults block, {file}:{line}"),
        ListedOrigin::Default => "default".to_owned(),
    }
}

fn setting(set: &mut Set, word: Word, row: &'static Setting) -> String {
    let mut text = format!("**{}**: a setting of a {}\n\n{}", row.word, row.block.word(), row.meaning);
    text.push_str(&format!("\n\nTakes: `{}`", row.value.text()));
    if !row.default.is_empty() {
        text.push_str(&format!("  \nDefault: `{}`", row.default));
    }
    if row.required {
        text.push_str("  \nRequired.");
    }
    if row.repeatable {
        text.push_str("  \nMay stand more than once.");
    }
    text.push_str(early(row.status));
    // `defaults` goes without a name: its home is its word.
    let home = set.slice(word.home);
    let name = if row.block == Block::Defaults { String::new() } else { home.trim_matches('"').to_owned() };
    let Some(listed) = listed(set, row.block, &name) else { return text };
    for setting in listed.settings.iter().filter(|setting| setting.word == row.word) {
        text.push_str(&format!("\n\nHere: `{}` ({})", setting.value, origin(&setting.origin)));
    }
    text
}

fn choice(row: &'static Setting, word: &str) -> String {
    let status = choices(row).iter().find(|(known, _)| *known == word).map(|(_, status)| *status);
    let all: Vec<_> = choices(row).iter().map(|(word, _)| format!("`{word}`")).collect();
    format!(
        "**{word}**: a value of `{}` in a {}\n\n{}\n\nOne of {}{}",
        row.word,
        row.block.word(),
        row.meaning,
        all.join(", "),
        early(status.unwrap_or(Status::InEffect))
    )
}

fn classes(word: &str) -> String {
    let pattern = Pattern(word.to_owned());
    let covered: Vec<Class> = Class::ALL.iter().copied().filter(|class| pattern.matches(class.word())).collect();
    match covered.as_slice() {
        [] => String::new(),
        [only] if only.word() == word => class(*only),
        many => {
            let lines: Vec<_> = many.iter().map(|class| format!("- `{class}`: {}", class.meaning())).collect();
            format!("**{word}**: failure classes\n\n{}", lines.join("\n"))
        }
    }
}

fn class(class: Class) -> String {
    let never: Vec<_> =
        Verb::ALL.iter().filter(|v| class.forbids(**v) && !v.is_later()).map(|v| format!("`{v}`")).collect();
    let never = if never.is_empty() { String::new() } else { format!("\n\nNever answered with {}.", never.join(", ")) };
    let status = class.client_status();
    format!(
        "**{class}**: a failure class\n\n{}{never}\n\nA `stop` on it tells the client {status}.",
        sentence(class.meaning())
    )
}

fn verb(verb: Verb) -> String {
    let never: Vec<_> = Class::ALL.iter().filter(|c| c.forbids(verb)).map(|c| format!("`{c}`")).collect();
    let never = if never.is_empty() { String::new() } else { format!("\n\nNever on {}.", never.join(", ")) };
    let status = if verb.is_later() { Status::Later } else { Status::InEffect };
    format!("**{verb}**: an action\n\n{}{never}{}", sentence(verb.meaning()), early(status))
}

fn fact(row: &facts::FactRow) -> String {
    let when = if row.after_failure { " Known only after a failure: in rows of a matrix." } else { "" };
    let status = if row.word == EARLY_FACT { Status::Later } else { Status::InEffect };
    format!("**{}**: a fact\n\n{}{when}{}", row.word, row.meaning, early(status))
}

/// A meaning of a few words, as a sentence.
fn sentence(meaning: &str) -> String {
    let mut chars = meaning.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}
