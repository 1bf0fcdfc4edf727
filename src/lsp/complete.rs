//! What may be written at a place.
//!
//! In: a set and a place in it. Out: suggestions, and the stretch that one of them replaces. Where one is comes from
//! `scene`, which reads tokens alone and so can do with half-typed text. Words whose effect does not exist yet are not
//! suggested.

mod forms;
mod lines;

pub use lines::EXPECTATIONS;

use super::facts::{self, FACTS, FactRow};
use super::scene::{Scene, scene};
use super::set::Set;
use crate::check::names::TEST_FILE;
use crate::policy::class::{Class, Verb};
use crate::source::{FileId, Span};
use crate::syntax::settings::{
    BLOCKS, Block, BlockRow, Naming, Setting, Status, ValueType, choices, setting, settings_of,
};

/// What a suggestion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A block with its braces.
    Block,
    /// A setting.
    Setting,
    /// The name of a block.
    Name,
    /// A value.
    Value,
    /// A failure class.
    Class,
    /// An action of a matrix.
    Action,
    /// A fact.
    Fact,
    /// A word of the grammar.
    Keyword,
}

/// One suggestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What is shown, and what is written unless there is a snippet.
    pub label: String,
    /// What it is.
    pub kind: Kind,
    /// One line on what it means or takes.
    pub detail: String,
    /// What is written instead, with places to fill in, by editors that can do so.
    pub snippet: Option<String>,
}

/// The suggestions for an offset in a file, best first, and what they replace.
pub fn complete(set: &Set, file: FileId, offset: usize) -> Option<(Span, Vec<Suggestion>)> {
    let (_, tree) = set.file(file)?;
    let scene = scene(tree, offset)?;
    let mut out = Out { set, suggestions: Vec::new() };
    let tests_alone = tree.source.name.ends_with(TEST_FILE);
    if let Some(path) = scene.path.split_first() {
        let (block, nested) = (path.0, path.1);
        let before: Vec<&str> = scene.before.iter().map(String::as_str).collect();
        match (block.block, nested.last().map(|open| open.head.as_str())) {
            (Some(Block::Tier), Some("chain")) => out.rank(&before),
            (Some(Block::Target), Some("script")) => out.script(&before),
            (Some(Block::Test | Block::Load), Some(_)) => out.request(&before),
            (_, Some(_)) | (None, _) => {}
            (Some(Block::Matrix), None) => out.row(&before, &scene),
            (Some(Block::Test), None) => out.test(&before),
            (Some(block), None) => out.inside(block, &before, &scene),
        }
    } else {
        out.top(&scene, tree.tokens.is_empty(), tests_alone);
    }
    (!out.suggestions.is_empty()).then_some((scene.replaces, out.suggestions))
}

struct Out<'s> {
    set: &'s Set,
    suggestions: Vec<Suggestion>,
}

/// The fact that has no effect yet.
pub const EARLY_FACT: &str = "request.client";

impl Out<'_> {
    fn add(&mut self, kind: Kind, label: impl Into<String>, detail: impl Into<String>) {
        self.suggestions.push(Suggestion { label: label.into(), kind, detail: detail.into(), snippet: None });
    }

    fn snippet(&mut self, kind: Kind, label: &str, detail: &str, snippet: String) {
        self.suggestions.push(Suggestion {
            label: label.to_owned(),
            kind,
            detail: detail.to_owned(),
            snippet: Some(snippet),
        });
    }

    fn all(&mut self, kind: Kind, words: &[&str]) {
        words.iter().for_each(|word| self.add(kind, *word, ""));
    }

    fn names(&mut self, block: Block) {
        self.other_names(block, None);
    }

    /// The names of a kind, but for one.
    fn other_names(&mut self, block: Block, but: Option<&str>) {
        let names: Vec<String> = self.set.names(block).into_iter().map(str::to_owned).collect();
        let names = names.into_iter().filter(|name| Some(name.as_str()) != but);
        names.for_each(|name| self.add(Kind::Name, name, block.word()));
    }

    /// The head of a chain for some regions.
    fn chain(&mut self, rest: &[&str], scene: &Scene) {
        match rest {
            [] => self.snippet(Kind::Keyword, "in", "only for requests of some regions", "in [$1] {\n  $0\n}".into()),
            ["in", list @ ..] => self.regions(list.is_empty(), scene.in_list),
            _ => {}
        }
    }

    /// The regions that targets state, inside the brackets of a list or with them.
    fn regions(&mut self, first: bool, in_list: bool) {
        for region in self.set.regions() {
            if in_list {
                self.add(Kind::Value, region, "a region of a target");
            } else if first {
                self.add(Kind::Value, format!("[{region}]"), "a region of a target");
            }
        }
    }

    fn top(&mut self, scene: &Scene, empty: bool, tests_alone: bool) {
        match scene.before.as_slice() {
            [] => {
                if empty {
                    self.add(Kind::Keyword, "switchback 1", "The edition: the first line of each file.");
                }
                let here = |row: &&BlockRow| {
                    row.status == Status::InEffect && (!tests_alone || matches!(row.block, Block::Test | Block::Load))
                };
                for row in BLOCKS.iter().filter(here) {
                    let name = match row.naming {
                        Naming::Named => " ${1:name}",
                        Naming::Titled => " \"${1:what it shows}\"",
                        Naming::Paired => " ${1:name} for ${2:name}",
                        Naming::Bare => "",
                    };
                    let required: Vec<_> = settings_of(row.block).filter(|s| s.required).map(|s| s.word).collect();
                    let lines: String = (3..).zip(&required).map(|(at, word)| format!("  {word} ${at}\n")).collect();
                    let last = if required.is_empty() { "  $0\n" } else { "" };
                    self.snippet(Kind::Block, row.word, row.meaning, format!("{}{name} {{\n{lines}{last}}}", row.word));
                }
            }
            [word] if word == "switchback" => self.add(Kind::Value, "1", "the edition"),
            [word] if word == Block::Evaluation.word() => self.names(Block::Model),
            _ => {}
        }
    }

    fn inside(&mut self, block: Block, before: &[&str], scene: &Scene) {
        let Some((word, rest)) = before.split_first() else {
            let said = |row: &Setting| scene.said.iter().any(|word| word == row.word) && !row.repeatable;
            let rows = settings_of(block).filter(|row| row.status == Status::InEffect && !said(row));
            let (needed, others): (Vec<_>, Vec<_>) = rows.partition(|row| row.required);
            for row in needed.into_iter().chain(others) {
                let braces = matches!(row.value, ValueType::Form(form) if form.starts_with('{'));
                if braces {
                    self.snippet(Kind::Setting, row.word, row.meaning, format!("{} {{\n  $0\n}}", row.word));
                } else {
                    self.add(Kind::Setting, row.word, row.meaning);
                }
            }
            return;
        };
        if let Some(row) = setting(block, word) {
            self.value(row, rest, scene);
        }
    }

    fn value(&mut self, row: &'static Setting, rest: &[&str], scene: &Scene) {
        let first = rest.is_empty();
        match row.value {
            ValueType::Block(kind) if first => {
                let own = scene.path.first().and_then(|open| open.name.as_deref()).filter(|_| row.word == "extends");
                self.other_names(kind, own);
            }
            ValueType::OneOf(_) | ValueType::Flag if first => self.choices(row, rest),
            ValueType::ListOf(_) if scene.in_list => self.choices(row, rest),
            ValueType::ListOf(words) if first => {
                let some = words.first().map_or("", |(word, _)| word);
                self.add(Kind::Value, format!("[{some}]"), row.meaning);
            }
            ValueType::Reference if first => {
                self.snippet(Kind::Keyword, "env", "from the environment", "env ${1:NAME}".into());
                self.snippet(Kind::Keyword, "file", "from a file", "file \"${1:PATH}\"".into());
            }
            ValueType::Guard => self.guard(rest, false),
            ValueType::Form(_) if row.word == "chain" => self.chain(rest, scene),
            ValueType::Form(form) if !form.starts_with('{') => self.form(row, form, rest),
            ValueType::List if row.word == "regions" => self.regions(first, scene.in_list),
            ValueType::Duration | ValueType::Count | ValueType::Percent | ValueType::Tokens
                if first && row.default.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                self.add(Kind::Value, row.default, "the default");
            }
            ValueType::Block(_)
            | ValueType::OneOf(_)
            | ValueType::Flag
            | ValueType::ListOf(_)
            | ValueType::Reference
            | ValueType::Form(_)
            | ValueType::Duration
            | ValueType::Count
            | ValueType::Percent
            | ValueType::Tokens
            | ValueType::Prices
            | ValueType::Text
            | ValueType::Name
            | ValueType::List => {}
        }
    }

    fn choices(&mut self, row: &'static Setting, said: &[&str]) {
        for (word, status) in choices(row) {
            if *status == Status::InEffect && !said.contains(word) {
                let default = if row.default == *word { "the default" } else { row.meaning };
                self.add(Kind::Value, *word, default);
            }
        }
    }

    fn rank(&mut self, before: &[&str]) {
        match before.iter().position(|word| *word == "when") {
            Some(at) => self.guard(before.get(at..).unwrap_or_default(), false),
            None if before.is_empty() => self.names(Block::Target),
            None => self.add(Kind::Keyword, "when", "only for some requests"),
        }
    }

    fn row(&mut self, before: &[&str], scene: &Scene) {
        if before.first() == Some(&"extends") {
            return self.other_names(Block::Matrix, scene.path.first().and_then(|open| open.name.as_deref()));
        }
        if let Some(arrow) = before.iter().position(|word| *word == "->") {
            let (classes, actions) = before.split_at(arrow);
            return self.actions(classes, actions.get(1..).unwrap_or_default());
        }
        if let Some(at) = before.iter().position(|word| *word == "when") {
            self.guard(before.get(at..).unwrap_or_default(), true);
            return;
        }
        if !matches!(before.last(), None | Some(&",")) {
            self.add(Kind::Keyword, "->", "what it leads to");
            self.add(Kind::Keyword, "when", "only for some of these failures");
            return;
        }
        let said = |word: &str| before.contains(&word) || scene.said.iter().any(|said| said == word);
        for class in Class::ALL.iter().filter(|class| !said(class.word())) {
            self.add(Kind::Class, class.word(), class.meaning());
        }
        self.add(Kind::Class, "timeout-*", "every timeout");
        if before.is_empty() {
            for row in settings_of(Block::Matrix).filter(|row| row.status == Status::InEffect && !said(row.word)) {
                self.add(Kind::Setting, row.word, row.meaning);
            }
        }
    }

    fn actions(&mut self, classes: &[&str], actions: &[&str]) {
        let current = actions.rsplit(|word| *word == ",").next().unwrap_or_default();
        match current {
            [] => {
                let forbids = |verb: Verb| classes.iter().filter_map(|w| Class::from_word(w)).any(|c| c.forbids(verb));
                for verb in Verb::ALL.iter().copied().filter(|verb| !verb.is_later() && !forbids(*verb)) {
                    let forms: &[&str] = match verb {
                        Verb::Retry => &["retry once", "retry 2 times"],
                        Verb::Wait => &["wait up to 5s"],
                        Verb::Fallback => &["fallback", "fallback to larger-context"],
                        Verb::Stop => &["stop", "stop as 503"],
                        Verb::Failover => &["failover"],
                        Verb::NextKey => &["next-key"],
                        Verb::Repair => &["repair once"],
                        Verb::Continue => &["continue once"],
                    };
                    forms.iter().for_each(|form| self.add(Kind::Action, *form, verb.meaning()));
                }
            }
            ["fallback"] => self.add(Kind::Keyword, "to", "a tier, or a larger context"),
            ["fallback", "to"] => {
                self.add(Kind::Value, "larger-context", "any target with a strictly larger context");
                self.names(Block::Tier);
            }
            ["retry"] => self.all(Kind::Keyword, &["once", "2 times"]),
            ["wait"] => self.all(Kind::Keyword, &["up to 5s"]),
            ["stop"] => self.all(Kind::Keyword, &["as 503"]),
            _ => {}
        }
    }

    /// `when` and what follows it, as far as it was written; nothing written is `when` itself.
    fn guard(&mut self, items: &[&str], failure: bool) {
        let Some((last, before)) = items.split_last() else {
            self.add(Kind::Keyword, "when", "a guard");
            return;
        };
        let operators = ["==", "!=", "<", "<=", ">", ">=", "in"];
        if let Some(open) = items.iter().rposition(|word| matches!(*word, "[" | "]"))
            && items.get(open) == Some(&"[")
        {
            // Inside the brackets behind `in`, where a value is due.
            let due = ["[", ","].contains(last);
            let fact = items.get(..open).unwrap_or_default().iter().rev().find_map(|word| facts::find(word));
            return fact.filter(|_| due).into_iter().for_each(|fact| self.values(fact, true));
        }
        if ["when", "and", "or", "not", "("].contains(last) {
            for fact in FACTS.iter().filter(|fact| (failure || !fact.after_failure) && fact.word != EARLY_FACT) {
                self.add(Kind::Fact, fact.word, fact.meaning);
            }
        } else if facts::find(last).is_some()
            || (*last == ")" && before.iter().rev().nth(2).is_some_and(|w| facts::find(w).is_some()))
        {
            self.all(Kind::Keyword, &operators);
        } else if operators.contains(last) {
            let fact = before.iter().rev().find_map(|word| facts::find(word));
            match fact {
                Some(fact) if *last == "in" => self.lists(fact),
                Some(fact) => self.values(fact, false),
                None => {}
            }
        } else {
            self.all(Kind::Keyword, &["and", "or"]);
        }
    }

    /// What a fact may be: what the set names, else what fits it. Of a list, its elements.
    fn values(&mut self, fact: &FactRow, in_list: bool) {
        let known = if fact.word == REGION { self.set.regions() } else { Vec::new() };
        let mut words: Vec<String> = known;
        if words.is_empty() {
            let plain =
                |value: &&str| value.trim_matches(['[', ']']).split(", ").map(str::to_owned).collect::<Vec<_>>();
            let whole = |value: &&str| vec![(*value).to_owned()];
            words = fact.values.iter().flat_map(|value| if in_list { plain(value) } else { whole(value) }).collect();
            let mut seen = Vec::new();
            words.retain(|word| {
                !seen.contains(word) && {
                    seen.push(word.clone());
                    true
                }
            });
        }
        words.into_iter().for_each(|word| self.add(Kind::Value, word, ""));
    }

    /// Lists of what a fact may be, for behind `in`.
    fn lists(&mut self, fact: &FactRow) {
        let from = self.suggestions.len();
        self.values(fact, false);
        for added in self.suggestions.iter_mut().skip(from).filter(|added| !added.label.starts_with('[')) {
            added.label = format!("[{}]", added.label);
        }
    }
}

/// The fact whose values the targets of a set name.
const REGION: &str = "request.region";
