//! What each word of a file is: a block's word, a name, a reference, a setting, a value, a class, an action, a fact.
//!
//! In: a tree. Out: its words with their roles, in the order of the text. One walk that hover, definition, rename,
//! completion and colours share. It takes the words of settings from the table, and looks no name up: whether a block
//! of that name exists is asked of the set. Half-typed text has fewer roles, and never none of the right ones.

mod lines;

use crate::policy::class::{Class, Verb};
use crate::policy::contract::Pattern;
use crate::source::Span;
use crate::syntax::Tree;
use crate::syntax::settings::{Block, Naming, Setting, ValueType, choices, setting};
use crate::syntax::tree::{Item, ItemKind, Statement};

/// What a word is.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    /// The word that a block begins with.
    Kind(Block),
    /// The name that a block gives itself.
    Declares(Block),
    /// The name of a block of one of these kinds.
    Refers(&'static [Block]),
    /// The word that a setting begins with.
    Setting(&'static Setting),
    /// One of the fixed words of a setting.
    Value(&'static Setting),
    /// A failure class, or a pattern of some.
    Class,
    /// An action of a matrix.
    Verb,
    /// A fact that a guard reads.
    Fact,
    /// A word of the grammar: `when`, `and`, `up`, `to`.
    Keyword,
}

impl Role {
    /// The kind of the block whose name this is, where the block itself stands.
    pub fn declares(self) -> Option<Block> {
        match self {
            Role::Declares(block) => Some(block),
            Role::Kind(_)
            | Role::Refers(_)
            | Role::Setting(_)
            | Role::Value(_)
            | Role::Class
            | Role::Verb
            | Role::Fact
            | Role::Keyword => None,
        }
    }

    /// The kinds of block whose name this may be.
    pub fn names(self) -> &'static [Block] {
        match self {
            Role::Declares(block) => one(block),
            Role::Refers(kinds) => kinds,
            Role::Kind(_)
            | Role::Setting(_)
            | Role::Value(_)
            | Role::Class
            | Role::Verb
            | Role::Fact
            | Role::Keyword => &[],
        }
    }
}

/// A word with its role.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub role: Role,
    /// The kind of the block around it, or that it begins.
    pub block: Option<Block>,
    /// Where the name of that block stands; its word for a block without a name.
    pub home: Span,
}

/// The words of a tree, in order.
pub fn words(tree: &Tree) -> Vec<Word> {
    let mut walk = Walk { words: Vec::new(), block: None, home: Span::default() };
    for statement in &tree.statements {
        walk.top(statement);
    }
    walk.words.sort_by_key(|word| word.span);
    walk.words
}

struct Walk {
    words: Vec<Word>,
    block: Option<Block>,
    home: Span,
}

impl Walk {
    fn push(&mut self, item: Option<&Item>, role: Role) {
        if let Some(item) = item.filter(|item| item.word().is_some()) {
            self.words.push(Word { span: item.span, role, block: self.block, home: self.home });
        }
    }

    fn top(&mut self, statement: &Statement) {
        let Some(first) = statement.items.first() else { return };
        self.block = first.word().and_then(Block::from_word);
        self.home = first.span;
        let Some(block) = self.block else {
            self.push(Some(first), Role::Keyword);
            return;
        };
        if let (Naming::Named | Naming::Titled | Naming::Paired, Some(name)) =
            (block.row().naming, statement.items.get(1))
        {
            self.home = name.span;
        }
        self.push(Some(first), Role::Kind(block));
        match block.row().naming {
            Naming::Named => self.push(statement.items.get(1), Role::Declares(block)),
            Naming::Paired => {
                let (own, other): (Role, &[Block]) = if block == Block::Evaluation {
                    (Role::Refers(&[Block::Model]), &[Block::Contract])
                } else {
                    (Role::Declares(block), &[Block::Route])
                };
                self.push(statement.items.get(1), own);
                self.push(statement.items.get(2), Role::Keyword);
                self.push(statement.items.get(3), Role::Refers(other));
            }
            Naming::Titled | Naming::Bare => {}
        }
        for inner in statement.block.iter().flat_map(|block| &block.statements) {
            self.inner(block, inner);
        }
    }

    fn inner(&mut self, block: Block, statement: &Statement) {
        let Some((first, rest)) = statement.items.split_first() else { return };
        match (block, first.word().and_then(|word| setting(block, word))) {
            (Block::Test | Block::Load, _) => self.line(statement),
            (Block::Matrix, row) if row.is_none_or(|row| row.word == "otherwise") => self.row(statement),
            (_, Some(row)) => {
                self.push(Some(first), Role::Setting(row));
                self.value(row, rest, statement);
            }
            (_, None) => self.keywords(&statement.items),
        }
    }

    fn value(&mut self, row: &'static Setting, rest: &[Item], statement: &Statement) {
        match row.value {
            ValueType::Block(kind) => self.push(rest.first(), Role::Refers(one(kind))),
            ValueType::Flag | ValueType::OneOf(_) | ValueType::ListOf(_) => self.fixed(row, rest),
            ValueType::Guard => self.condition(rest),
            ValueType::Form(_) => self.form(row, rest, statement),
            ValueType::Reference => self.grammar(rest, &["env", "file", "else"]),
            ValueType::List if row.block == Block::Client && row.word == "routes" => {
                self.each(rest, Role::Refers(&[Block::Route]));
            }
            ValueType::Count
            | ValueType::Tokens
            | ValueType::Duration
            | ValueType::Percent
            | ValueType::Prices
            | ValueType::Text
            | ValueType::Name
            | ValueType::List => {}
        }
        if let ValueType::Prices = row.value {
            self.grammar(rest, &["in", "out", "cached"]);
        }
    }

    /// The forms that hold names; what else is a word in them belongs to the grammar.
    fn form(&mut self, row: &'static Setting, rest: &[Item], statement: &Statement) {
        let inside = || statement.block.iter().flat_map(|block| &block.statements);
        match (row.block, row.word) {
            (Block::Tier, "chain") => {
                self.grammar(rest, &["in"]);
                for rank in inside() {
                    self.rank(rank);
                }
            }
            (Block::Target, "script") => {
                for line in inside() {
                    self.timed(&line.items);
                }
            }
            (Block::Tier, "exercise") => self.after(rest, "of", &[Block::Target]),
            (Block::Budget, "spend") => self.after(rest, "use", &[Block::Tier]),
            (Block::Breaker, "hold") => self.outcome(rest),
            (Block::Target, "failure") => self.outcome(rest),
            (Block::Target | Block::Provider, "set" | "header") => self.grammar(rest, &["env", "file", "else"]),
            (Block::Route, "guarantee") => self.guarantee(rest),
            (Block::Route, "exhausted") => self.outcome(rest),
            _ => {
                self.keywords(rest);
                for line in inside() {
                    self.keywords(&line.items);
                }
            }
        }
    }

    fn rank(&mut self, line: &Statement) {
        let (names, condition) = before(&line.items, "when");
        self.each(names, Role::Refers(&[Block::Target]));
        self.condition(condition);
    }

    fn row(&mut self, statement: &Statement) {
        let at = statement.items.iter().position(|item| item.kind == ItemKind::Arrow);
        let (head, actions) = statement.items.split_at(at.unwrap_or(statement.items.len()).min(statement.items.len()));
        let (classes, condition) = before(head, "when");
        for item in classes {
            match item.word().and_then(|word| setting(Block::Matrix, word)) {
                Some(row) => self.push(Some(item), Role::Setting(row)),
                None => self.push(Some(item), Role::Class),
            }
        }
        self.condition(condition);
        for action in actions.split(|item| matches!(item.kind, ItemKind::Comma | ItemKind::Arrow)) {
            let Some((verb, rest)) = action.split_first() else { continue };
            self.push(Some(verb), if is_verb(verb) { Role::Verb } else { Role::Keyword });
            let fallback = verb.is(Verb::Fallback.word());
            for (at, item) in rest.iter().enumerate() {
                let names = fallback && at > 0 && !item.is("larger-context");
                self.push(Some(item), if names { Role::Refers(&[Block::Tier]) } else { Role::Keyword });
            }
        }
    }

    /// `when` and what follows it.
    fn condition(&mut self, items: &[Item]) {
        for item in items {
            match &item.kind {
                ItemKind::Word(word) if super::facts::find(word).is_some() => self.push(Some(item), Role::Fact),
                ItemKind::Word(word) if ["when", "and", "or", "not", "in", "yes", "no"].contains(&word.as_str()) => {
                    self.push(Some(item), Role::Keyword);
                }
                ItemKind::Group(inner) => self.condition(inner),
                ItemKind::Word(_)
                | ItemKind::Str(_)
                | ItemKind::Number(_)
                | ItemKind::List(_)
                | ItemKind::Arrow
                | ItemKind::Comma
                | ItemKind::Operator(_) => {}
            }
        }
    }

    fn guarantee(&mut self, items: &[Item]) {
        let (claim, condition) = before(items, "when");
        let either: &'static [Block] = &[Block::Target, Block::Provider];
        match claim.split_first() {
            Some((first, rest)) if first.is("never") || first.is("only") => {
                self.push(Some(first), Role::Keyword);
                self.each(rest, Role::Refers(if first.is("never") { either } else { &[Block::Target] }));
            }
            _ => self.outcome(claim),
        }
        self.condition(condition);
    }

    /// Words that may be classes or actions.
    fn outcome(&mut self, items: &[Item]) {
        for item in items {
            match &item.kind {
                ItemKind::List(parts) => parts.iter().for_each(|part| self.outcome(part)),
                ItemKind::Word(word) if is_class(word) => self.push(Some(item), Role::Class),
                ItemKind::Word(_) if is_verb(item) => self.push(Some(item), Role::Verb),
                ItemKind::Word(_)
                | ItemKind::Str(_)
                | ItemKind::Number(_)
                | ItemKind::Group(_)
                | ItemKind::Arrow
                | ItemKind::Comma
                | ItemKind::Operator(_) => self.push(Some(item), Role::Keyword),
            }
        }
    }

    fn fixed(&mut self, row: &'static Setting, items: &[Item]) {
        for item in items {
            if let ItemKind::List(parts) = &item.kind {
                parts.iter().for_each(|part| self.fixed(row, part));
            }
            let known = choices(row).iter().any(|(word, _)| item.is(word));
            self.push(Some(item), if known { Role::Value(row) } else { Role::Keyword });
        }
    }

    fn each(&mut self, items: &[Item], role: Role) {
        for item in items {
            if let ItemKind::List(parts) = &item.kind {
                parts.iter().for_each(|part| self.each(part, role));
            }
            self.push(Some(item), role);
        }
    }

    /// The word after `mark` is a name, the others belong to the grammar.
    fn after(&mut self, items: &[Item], mark: &str, kinds: &'static [Block]) {
        let name = items.iter().position(|item| item.is(mark)).map(|at| at + 1);
        for (at, item) in items.iter().enumerate() {
            self.push(Some(item), if Some(at) == name { Role::Refers(kinds) } else { Role::Keyword });
        }
    }

    fn grammar(&mut self, items: &[Item], words: &[&str]) {
        for item in items {
            if let ItemKind::List(parts) = &item.kind {
                parts.iter().for_each(|part| self.grammar(part, words));
            }
            if item.word().is_some_and(|word| words.contains(&word)) {
                self.push(Some(item), Role::Keyword);
            }
        }
    }

    fn keywords(&mut self, items: &[Item]) {
        items.iter().for_each(|item| self.push(Some(item), Role::Keyword));
    }
}

/// What stands before a word, and the rest from it on.
fn before<'i>(items: &'i [Item], word: &str) -> (&'i [Item], &'i [Item]) {
    let at = items.iter().position(|item| item.is(word)).unwrap_or(items.len());
    items.split_at(at.min(items.len()))
}

fn is_class(word: &str) -> bool {
    let pattern = Pattern(word.to_owned());
    word != "*" && Class::ALL.iter().any(|class| pattern.matches(class.word()))
}

fn is_verb(item: &Item) -> bool {
    item.word().and_then(Verb::from_word).is_some()
}

/// A kind as a list of one.
fn one(block: Block) -> &'static [Block] {
    match block {
        Block::Provider => &[Block::Provider],
        Block::Model => &[Block::Model],
        Block::Target => &[Block::Target],
        Block::Contract => &[Block::Contract],
        Block::Evaluation => &[Block::Evaluation],
        Block::Tier => &[Block::Tier],
        Block::Matrix => &[Block::Matrix],
        Block::Budget => &[Block::Budget],
        Block::Breaker => &[Block::Breaker],
        Block::Probe => &[Block::Probe],
        Block::Ramp => &[Block::Ramp],
        Block::Route => &[Block::Route],
        Block::Defaults => &[Block::Defaults],
        Block::Objective => &[Block::Objective],
        Block::Alert => &[Block::Alert],
        Block::Client => &[Block::Client],
        Block::Test => &[Block::Test],
        Block::Load => &[Block::Load],
    }
}
