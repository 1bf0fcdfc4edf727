//! A block as its settings: what it says itself, then what it takes over from the blocks it extends.
//!
//! In: a declared block. Out: `Fields`, by which lowering asks for one word after the other, and readers for the usual
//! values. Unknown, misplaced, repeated, missing and early settings are reported here, from the table, and nowhere
//! else. In a reader's answer `None` is a broken value that was reported, `Some(None)` a word that was left out.

use super::context::{Context, Decl, extends_of};
use super::resolution::{Origin, Resolved};
use super::stranger::{nested, said_already, unknown_setting, words_of};
use crate::diag::{Code, Diagnostic, closest};
use crate::syntax::settings::{Block, Setting, Status, ValueType, choices, setting, settings_of};
use crate::syntax::tree::{Item, ItemKind, Statement};

/// The settings of one block.
#[derive(Debug)]
pub struct Fields<'a> {
    entries: Vec<Entry<'a>>,
    decls: Vec<&'a Decl<'a>>,
}

#[derive(Debug)]
struct Entry<'a> {
    setting: &'static Setting,
    statement: &'a Statement,
    /// The block it is inherited from.
    from: Option<&'a str>,
}

impl<'a> Fields<'a> {
    /// The statement of a word: the block's own, else that of the nearest block it extends.
    pub fn one(&self, word: &str) -> Option<&'a Statement> {
        self.entries.iter().find(|entry| entry.setting.word == word).map(|entry| entry.statement)
    }

    /// The statements of a repeatable word: all of the block's own, else all of the nearest block that has any.
    pub fn all(&self, word: &str) -> Vec<&'a Statement> {
        let mut hits = self.entries.iter().filter(|entry| entry.setting.word == word).peekable();
        let from = hits.peek().and_then(|entry| entry.from);
        hits.filter(|entry| entry.from == from).map(|entry| entry.statement).collect()
    }

    /// The block's own statement of a word.
    pub fn own(&self, word: &str) -> Option<&'a Statement> {
        let is_own = |entry: &&Entry<'a>| entry.setting.word == word && entry.from.is_none();
        self.entries.iter().find(is_own).map(|entry| entry.statement)
    }

    /// The statements of a repeatable word, block by block: the block's own, then those of each that it extends.
    pub fn generations(&self, word: &str) -> Vec<Vec<&'a Statement>> {
        let of = |from: Option<&str>| {
            let entries = self.entries.iter().filter(|entry| entry.setting.word == word && entry.from == from);
            entries.map(|entry| entry.statement).collect()
        };
        let ancestors = self.decls.iter().skip(1).map(|decl| of(Some(decl.name.as_str())));
        [of(None)].into_iter().chain(ancestors).collect()
    }

    /// The block and those it extends, nearest first.
    pub fn decls(&self) -> &[&'a Decl<'a>] {
        &self.decls
    }

    /// What `read` makes of a word.
    pub fn optional<T>(
        &self,
        cx: &mut Context<'a>,
        word: &str,
        read: impl FnOnce(&mut Context<'a>, &'a Statement) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.one(word) {
            None => Some(None),
            Some(statement) => read(cx, statement).map(Some),
        }
    }

    /// What `read` makes of a word, or what holds without it.
    pub fn or<T>(
        &self,
        cx: &mut Context<'a>,
        word: &str,
        default: T,
        read: impl FnOnce(&mut Context<'a>, &'a Statement) -> Option<T>,
    ) -> Option<T> {
        self.optional(cx, word, read).map(|value| value.unwrap_or(default))
    }

    /// What `read` makes of a word that has to be there; a missing one was reported with the block.
    pub fn required<T>(
        &self,
        cx: &mut Context<'a>,
        word: &str,
        read: impl FnOnce(&mut Context<'a>, &'a Statement) -> Option<T>,
    ) -> Option<T> {
        self.one(word).and_then(|statement| read(cx, statement))
    }
}

impl<'a> Context<'a> {
    /// Reads the settings of a block against the table.
    pub fn fields(&mut self, decl: &'a Decl<'a>) -> Fields<'a> {
        let mut entries: Vec<Entry<'a>> = Vec::new();
        let (mut repeated, mut extends_lost) = (0, false);
        if self.is_of_another_kind(decl) {
            return Fields { entries, decls: vec![decl] };
        }
        self.loose_targets(decl);
        for statement in decl.statements().iter().filter(|s| !self.names.is_loose_target(decl, s)) {
            let meant = self.misnamed(decl, statement);
            // What it would have taken over is not known.
            extends_lost |= meant.is_some_and(|row| row.word == "extends");
            let Some(setting) = meant.or_else(|| self.row_of(decl, statement)) else { continue };
            let first = entries.iter_mut().find(|entry| entry.setting.word == setting.word);
            if let (false, Some(first)) = (setting.repeatable, first) {
                repeated += 1;
                // The one that names nothing is the one too many, and has no other finding.
                let better =
                    self.names.names_one(setting, statement) && !self.names.names_one(setting, first.statement);
                let (kept, spare) = if better { (statement, first.statement) } else { (first.statement, statement) };
                first.statement = kept;
                self.report(twice(setting.word, spare, kept));
                continue;
            }
            entries.push(Entry { setting, statement, from: None });
        }
        let lineage = self.lineage(decl);
        self.extends_comes_first(decl);
        for ancestor in lineage.decls.iter().skip(1) {
            let inherited = ancestor.statements().iter().filter_map(|statement| {
                let setting = setting(decl.block, statement.keyword()?)?;
                (setting.status == Status::InEffect && setting.word != "extends").then_some(Entry {
                    setting,
                    statement,
                    from: Some(ancestor.name.as_str()),
                })
            });
            entries.extend(inherited);
        }
        if lineage.complete && !extends_lost && decl.statement.block.is_some() {
            // Each of these may be a setting that is missing, under a wrong word.
            let doubtful = repeated + lineage.decls.iter().map(|decl| strangers(decl)).sum::<usize>();
            self.report_missing(decl, &entries, doubtful);
        }
        let fields = Fields { entries, decls: lineage.decls };
        self.resolve(decl, &fields);
        fields
    }

    /// The row for a statement of a block; reports words that the block does not have, and words without effect yet.
    fn row_of(&mut self, decl: &Decl<'a>, statement: &Statement) -> Option<&'static Setting> {
        let block = decl.block;
        let first = statement.items.first()?;
        let Some(word) = first.word() else {
            if block == Block::Ramp && statement.begins_with_number() {
                return None;
            }
            self.report(
                Diagnostic::new(Code::UnknownSetting, first.span, "a setting begins with its word").help(format!(
                    "the words of a {} are {}",
                    block.word(),
                    words_of(block)
                )),
            );
            return None;
        };
        match setting(block, word) {
            Some(row) if row.status == Status::Later => {
                self.later_statement(statement);
                None
            }
            Some(Setting { value: ValueType::Block(_), .. }) if statement.block.is_some() => {
                let diagnostic = nested(block, word, first);
                self.report(diagnostic);
                self.mention_statement(statement);
                None
            }
            Some(row) => Some(row),
            None => {
                let diagnostic =
                    said_already(decl, word, first).unwrap_or_else(|| unknown_setting(block, word, first, statement));
                self.report(diagnostic);
                self.mention_statement(statement);
                None
            }
        }
    }

    /// `extends` is the first statement, so that a reader knows at once what the others add to.
    pub fn extends_comes_first(&mut self, decl: &Decl<'a>) {
        let (Some(extends), Some(first)) = (extends_of(decl), decl.statements().first()) else { return };
        if !std::ptr::eq(extends, first) {
            let span = extends.items.first().map_or(extends.span, |item| item.span);
            self.report(
                Diagnostic::new(Code::ExtendsNotFirst, span, "`extends` stands below other statements")
                    .label(first.span, "this stands above it")
                    .help("move it to the top of the block"),
            );
        }
    }

    fn report_missing(&mut self, decl: &Decl<'a>, entries: &[Entry<'a>], doubtful: usize) {
        let is_there = |row: &Setting| entries.iter().any(|entry| entry.setting.word == row.word);
        let needed = |row: &&Setting| row.required && row.status == Status::InEffect;
        let mut missing: Vec<_> = settings_of(decl.block).filter(needed).filter(|row| !is_there(row)).collect();
        if missing.is_empty() {
            return;
        }
        missing.retain(|row| !is_said(decl, row.word));
        if missing.len() <= doubtful {
            return;
        }
        let kind = decl.block.word();
        for row in missing {
            self.report(
                Diagnostic::new(Code::MissingSetting, decl.name_span, format!("this {kind} has no `{}`", row.word))
                    .here(format!("`{}` is missing", row.word))
                    .help(format!("add `{}`: it takes {}", row.word, takes(row))),
            );
        }
    }

    /// Notes what each word of the block came to.
    fn resolve(&mut self, decl: &Decl<'a>, fields: &Fields<'a>) {
        if !self.is_listed(decl) {
            return;
        }
        for row in settings_of(decl.block).filter(|row| row.status == Status::InEffect) {
            let from = |word: &str| fields.entries.iter().find(|entry| entry.setting.word == word)?.from;
            let note = |value: String, origin: Origin| Resolved {
                block: decl.block,
                name: decl.name.clone(),
                word: row.word.to_owned(),
                value,
                origin,
            };
            let statements = fields.all(row.word);
            if statements.is_empty() && !row.default.is_empty() {
                self.resolved.push(note(row.default.to_owned(), Origin::Default));
            }
            for statement in statements {
                let origin = match from(row.word) {
                    Some(from) => Origin::Inherited { from: from.to_owned(), span: statement.span },
                    None => Origin::Written(statement.span),
                };
                let value = self.value_text(statement);
                self.resolved.push(note(value, origin));
            }
        }
    }

    /// Replaces what the table says of a word that was left out by what it came to.
    pub fn settle(&mut self, decl: &Decl<'a>, word: &str, value: impl Into<String>, origin: Origin) {
        if !self.is_listed(decl) {
            return;
        }
        // The block's own notes are the last ones.
        let mut own = self.resolved.iter_mut().rev();
        let mut own = own.by_ref().take_while(|note| note.block == decl.block && note.name == decl.name);
        if let Some(note) = own.find(|note| note.word == word && note.origin == Origin::Default) {
            note.value = value.into();
            note.origin = origin;
        }
    }

    /// Whether the list is wanted, and the block is one of the set's and not a second one of its name.
    pub fn is_listed(&self, decl: &Decl<'a>) -> bool {
        if !self.lists {
            return false;
        }
        let position = self.names.position(decl.block, &decl.name);
        let listed = position.and_then(|position| self.names.decl(decl.block, position));
        listed.is_some_and(|listed| std::ptr::eq(listed.statement, decl.statement))
    }

    /// What follows a statement's word, on one line and without comments.
    fn value_text(&self, statement: &Statement) -> String {
        let items = statement.items.get(1..).unwrap_or_default();
        let mut text = self.items_text(items);
        if let Some(block) = &statement.block {
            let inner: Vec<_> = block
                .statements
                .iter()
                .map(|inner| {
                    let rest = self.value_text(inner);
                    let word = inner.items.first().map_or("", |item| self.names.slice(item.span));
                    if rest.is_empty() { word.to_owned() } else { format!("{word} {rest}") }
                })
                .collect();
            let gap = if text.is_empty() { "" } else { " " };
            text = format!("{text}{gap}{{ {} }}", inner.join("; "));
        }
        text
    }

    fn items_text(&self, items: &[Item]) -> String {
        let mut text = String::new();
        for item in items {
            if !text.is_empty() && !matches!(item.kind, ItemKind::Comma) {
                text.push(' ');
            }
            text.push_str(&self.names.slice(item.span).split_whitespace().collect::<Vec<_>>().join(" "));
        }
        text
    }
}

/// Whether a setting's word stands somewhere in a block. One that stands there and is refused was reported for what it
/// is, a misspelt one too; one further on in a line was meant to begin a line of its own.
pub fn is_said(decl: &Decl<'_>, setting_word: &str) -> bool {
    let means = |word: &str| match setting(decl.block, word) {
        Some(row) => row.word == setting_word,
        None => closest(word, settings_of(decl.block).map(|row| row.word)) == Some(setting_word),
    };
    decl.statements().iter().flat_map(|s| s.items.iter().filter_map(Item::word)).any(means)
}

/// How many statements of a block are none of its settings: each may be one that is missing, under a wrong word.
pub fn strangers(decl: &Decl<'_>) -> usize {
    let strange = |s: &&Statement| s.keyword().is_none_or(|word| setting(decl.block, word).is_none());
    decl.statements().iter().filter(strange).count()
}

fn twice(word: &str, statement: &Statement, first: &Statement) -> Diagnostic {
    let span = |s: &Statement| s.items.first().map_or(s.span, |item| item.span);
    Diagnostic::new(Code::DuplicateSetting, span(statement), format!("`{word}` is said twice"))
        .label(span(first), if span(first) < span(statement) { "said here first" } else { "said here as well" })
        .help("keep one of them")
}

/// What a setting takes, for people: of fixed words those that have an effect.
fn takes(row: &Setting) -> String {
    let words =
        choices(row).iter().filter(|(_, status)| *status == Status::InEffect).map(|(word, _)| format!("`{word}`"));
    let words: Vec<String> = words.collect();
    if words.is_empty() { row.value.text() } else { words.join(" or ") }
}
