//! What every piece of lowering shares: the names of the set, and the list of what is wrong so far.
//!
//! In: `Names`, made once from all trees, and items that refer to them. Out: ids, which are positions in the sorted
//! lists of names, and diagnostics. A reference that cannot be resolved is reported once, here, and is `None`; whoever
//! gets `None` stays silent. Never decides what a setting means.

use super::resolution::Resolved;
use super::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::{BudgetId, ContractId, MatrixId, ModelId, ProviderId, RouteId, TargetId, TierId};
use crate::source::Span;
use crate::syntax::settings::{Block, Early, ValueType, setting};
use crate::syntax::tree::{Item, ItemKind, Statement, Token, TokenKind, Tree};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A block that was declared.
#[derive(Clone, Debug)]
pub struct Decl<'a> {
    /// Its kind.
    pub block: Block,
    /// Its name or title; empty for `defaults`.
    pub name: String,
    /// Where the name stands; the keyword for `defaults`.
    pub name_span: Span,
    /// The whole block.
    pub statement: &'a Statement,
}

impl<'a> Decl<'a> {
    /// The name as it stands in the tree.
    pub(super) fn written(&self) -> &'a str {
        match self.statement.items.get(1).map(|item| &item.kind) {
            Some(ItemKind::Word(text) | ItemKind::Str(text)) if *text == self.name => text,
            Some(_) | None => "",
        }
    }

    /// The statements inside.
    pub fn statements(&self) -> &'a [Statement] {
        self.statement.block.as_ref().map_or(&[], |block| &block.statements)
    }
}

/// All names of a set: one namespace per kind of block over all files.
#[derive(Debug)]
pub struct Names<'a> {
    /// The files.
    pub trees: &'a [Tree],
    /// Per kind, sorted by name, each name once: the position is the id. Tests are in the order of files and lines.
    pub(super) lists: BTreeMap<Block, Vec<Decl<'a>>>,
    /// The position of each name in its list.
    pub(super) places: HashMap<(Block, &'a str), usize>,
    /// Blocks whose name was taken already: looked at like the others, and dropped.
    pub(super) spare: Vec<Decl<'a>>,
    /// Heads that could not be read.
    pub(super) lost: Vec<Lost>,
}

/// The head of a block that could not be read: what it may have declared, nobody calls missing.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    /// Its kind, where that is known.
    pub(super) block: Option<Block>,
    /// Names that it may have had; none where it may have had any.
    pub(super) names: Vec<String>,
}

impl<'a> Names<'a> {
    /// The blocks of a kind, in the order of their ids.
    pub fn list(&self, block: Block) -> &[Decl<'a>] {
        self.lists.get(&block).map_or(&[], Vec::as_slice)
    }

    /// The position of a name among the blocks of a kind.
    pub fn position(&self, block: Block, name: &str) -> Option<usize> {
        self.places.get(&(block, name)).copied()
    }

    /// A block by kind and position.
    pub fn decl(&self, block: Block, position: usize) -> Option<&Decl<'a>> {
        self.list(block).get(position)
    }

    /// Whether the set may have a block of a kind without names that could not be read.
    pub fn is_lost(&self, block: Block) -> bool {
        self.lost.iter().any(|lost| lost.block == Some(block) || lost.block.is_none() && lost.names.len() < 2)
    }

    /// The kinds in which a name is declared.
    pub fn kinds_of(&self, name: &str) -> Vec<Block> {
        self.lists.keys().copied().filter(|block| self.position(*block, name).is_some()).collect()
    }

    /// Where a word stands in the set, as a word.
    pub(super) fn places_of(&self, word: &str) -> Vec<Span> {
        let is_word = |token: &&Token| token.kind == TokenKind::Word && self.slice(token.span) == word;
        self.trees.iter().flat_map(|tree| &tree.tokens).filter(is_word).map(|token| token.span).collect()
    }

    /// The statement at the top level that a place stands in.
    fn around(&self, place: Span) -> Option<&'a Statement> {
        let tree = self.trees.iter().find(|tree| tree.source.id == place.file)?;
        let at = tree.statements.partition_point(|statement| statement.span.end < place.end);
        tree.statements.get(at).filter(|statement| statement.span.start <= place.start)
    }

    /// Whether a place is in the value of a setting that takes texts or names which belong to no block.
    pub(super) fn is_label(&self, place: Span) -> bool {
        let Some(around) = self.around(place) else { return false };
        let inside = around.block.iter().flat_map(|block| &block.statements);
        let line = inside.into_iter().find(|s| s.span.start < place.start && place.end <= s.span.end);
        let row = line.and_then(|s| setting(around.keyword().and_then(Block::from_word)?, s.keyword()?));
        row.is_some_and(|row| matches!(row.value, ValueType::Name | ValueType::Text | ValueType::List))
    }

    /// Whether a name is also that of the route that a place stands in: what belongs to one route is often called like it.
    pub(super) fn agrees(&self, name: &str, place: Span) -> bool {
        let route = self.around(place).filter(|s| s.keyword() == Some(Block::Route.word()));
        route.and_then(|s| s.items.get(1)).is_some_and(|item| item.is(name) && item.span != place)
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &'a str {
        let at = usize::try_from(span.file.0).ok().and_then(|at| self.trees.get(at));
        let tree = at.filter(|tree| tree.source.id == span.file);
        let tree = tree.or_else(|| self.trees.iter().find(|tree| tree.source.id == span.file));
        tree.map_or("", |tree| tree.source.slice(span))
    }
}

/// A block and those it extends.
#[derive(Debug)]
pub struct Lineage<'n, 'a> {
    /// The block itself, then what it extends, nearest first.
    pub decls: Vec<&'n Decl<'a>>,
    /// Whether all of them are known: false after a wrong name or a cycle, when nothing may be called missing.
    pub complete: bool,
}

/// The state of one check.
#[derive(Debug)]
pub struct Context<'a> {
    /// The names of the set.
    pub names: &'a Names<'a>,
    /// What is wrong so far, in the order of finding.
    pub diagnostics: Vec<Diagnostic>,
    /// What each setting came to, for `list --resolved`.
    pub resolved: Vec<Resolved>,
    /// Whether somebody wants that list: noting it takes a third of the time of a check.
    pub lists: bool,
    /// What is referred to.
    pub(super) used: HashSet<(Block, usize)>,
    /// What may be referred to, by a word that has no effect yet or is not known.
    mentioned: HashSet<(Block, usize)>,
    /// References to blocks that are not there, in the order of finding.
    pub(super) unknown: Vec<(Block, String, Span)>,
}

impl<'a> Context<'a> {
    /// A context without findings.
    pub fn new(names: &'a Names<'a>) -> Self {
        Self {
            names,
            diagnostics: Vec::new(),
            resolved: Vec::new(),
            lists: false,
            used: HashSet::new(),
            mentioned: HashSet::new(),
            unknown: Vec::new(),
        }
    }

    /// How much was found so far, names that are not there included.
    pub fn findings(&self) -> usize {
        self.diagnostics.len() + self.unknown.len()
    }

    /// Adds a finding.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Refuses a word inside of a form that has no effect yet.
    pub fn early(&mut self, span: Span, part: Early) {
        self.report(not_yet_part(span, part));
    }

    /// Refuses a whole statement whose word has no effect yet. The names in it count as used: what they belong to is
    /// not superfluous, only early.
    pub fn later_statement(&mut self, statement: &Statement) {
        let Some(first) = statement.items.first() else { return };
        self.report(not_yet(first.span, self.names.slice(first.span)));
        self.mention_statement(statement);
    }

    /// Counts every block whose name stands in a statement, at any depth, as used.
    pub fn mention_statement(&mut self, statement: &Statement) {
        self.mention(&statement.items);
        for inner in statement.block.iter().flat_map(|block| &block.statements) {
            self.mention_statement(inner);
        }
    }

    /// Counts every block whose name stands among items as used.
    pub fn mention(&mut self, items: &[Item]) {
        for item in items {
            match &item.kind {
                ItemKind::Word(word) => {
                    for block in self.names.kinds_of(word) {
                        if let Some(position) = self.names.position(block, word) {
                            self.mentioned.insert((block, position));
                        }
                    }
                }
                ItemKind::List(parts) => parts.iter().for_each(|part| self.mention(part)),
                ItemKind::Group(items) => self.mention(items),
                ItemKind::Str(_) | ItemKind::Number(_) | ItemKind::Arrow | ItemKind::Comma | ItemKind::Operator(_) => {}
            }
        }
    }

    /// Whether something refers to a block.
    pub fn is_used(&self, block: Block, position: usize) -> bool {
        self.used.contains(&(block, position)) || self.mentioned.contains(&(block, position))
    }

    /// Resolves a name of a kind; one that is not there is kept for [`Context::settle_names`].
    pub fn reference(&mut self, block: Block, item: &Item) -> Option<usize> {
        let word = match &item.kind {
            ItemKind::Word(word) => word,
            ItemKind::Str(_)
            | ItemKind::Number(_)
            | ItemKind::List(_)
            | ItemKind::Group(_)
            | ItemKind::Arrow
            | ItemKind::Comma
            | ItemKind::Operator(_) => {
                let due = format!("the name of a {}", block.word());
                self.report(value::wrong(item, &due).help(format!("write {due}, without quotes")));
                return None;
            }
        };
        if let Some(position) = self.names.position(block, word) {
            self.used.insert((block, position));
            return Some(position);
        }
        self.unknown.push((block, word.clone(), item.span));
        None
    }

    /// The block at a position and what it extends, nearest first. Reports nothing but a cycle, at the `extends` that
    /// closes it, and a wrong name in the block's own `extends`.
    pub fn lineage(&mut self, decl: &'a Decl<'a>) -> Lineage<'a, 'a> {
        let names = self.names;
        let mut lineage = Lineage { decls: vec![decl], complete: true };
        let mut at = decl;
        while let Some(statement) = extends_of(at) {
            let Some(item) = statement.items.get(1) else {
                lineage.complete = false;
                break;
            };
            let own = std::ptr::eq(at.statement, decl.statement);
            let parent = if own {
                self.reference(decl.block, item)
            } else {
                item.word().and_then(|word| names.position(decl.block, word))
            };
            let Some(parent) = parent.and_then(|position| names.decl(decl.block, position)) else {
                lineage.complete = false;
                break;
            };
            if lineage.decls.iter().any(|seen| std::ptr::eq(seen.statement, parent.statement)) {
                lineage.complete = false;
                if std::ptr::eq(parent.statement, decl.statement) {
                    self.report_cycle(&lineage.decls, at, item);
                }
                break;
            }
            lineage.complete &= parent.statement.block.is_some();
            lineage.decls.push(parent);
            at = parent;
        }
        lineage
    }

    /// One report for a cycle, made by its member that comes first by name.
    fn report_cycle(&mut self, members: &[&Decl<'a>], last: &Decl<'a>, item: &Item) {
        let Some(first) = members.iter().min_by(|a, b| a.name.cmp(&b.name)) else { return };
        if members.first().is_some_and(|own| own.name != first.name) {
            return;
        }
        let mut path: Vec<_> = members.iter().map(|decl| format!("`{}`", decl.name)).collect();
        path.push(format!("`{}`", first.name));
        self.report(
            Diagnostic::new(
                Code::ExtendsCycle,
                item.span,
                format!("{} extends itself: {}", first.block.word(), path.join(" extends ")),
            )
            .label(first.name_span, format!("`{}` begins the circle", first.name))
            .help(format!("take the `extends` out of `{}`, or of another member of the circle", last.name)),
        );
    }
}

/// The refusal of a word inside of a form, each of which has a row in the table of them.
pub fn not_yet_part(span: Span, part: Early) -> Diagnostic {
    not_yet(span, part.row().word)
}

/// The refusal of a block, a setting, or one of a setting's fixed words that has no effect yet.
pub(super) fn not_yet(span: Span, word: &str) -> Diagnostic {
    Diagnostic::new(Code::NotYetInEffect, span, format!("`{word}` is not in effect yet"))
        .help("leave it out for now; a policy never takes a word that does nothing")
}

/// The `extends` statement of a block.
pub fn extends_of<'a>(decl: &Decl<'a>) -> Option<&'a Statement> {
    setting(decl.block, "extends")?;
    decl.statements().iter().find(|statement| statement.keyword() == Some("extends"))
}

macro_rules! references {
    ($($method:ident $id:ident $block:ident;)*) => {
        impl Context<'_> {
            $(
                #[doc = concat!("Resolves the name of a ", stringify!($method), "; reports one that is not there.")]
                pub fn $method(&mut self, item: &Item) -> Option<$id> {
                    let position = self.reference(Block::$block, item)?;
                    u16::try_from(position).ok().map($id)
                }
            )*
        }
    };
}

references! {
    provider ProviderId Provider;
    model ModelId Model;
    target TargetId Target;
    contract ContractId Contract;
    tier TierId Tier;
    matrix MatrixId Matrix;
    budget BudgetId Budget;
    route RouteId Route;
}
