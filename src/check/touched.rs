//! What a change of a set touches: blocks that differ, and blocks that depend on them.
//!
//! In: the texts of a set before and after. Out: the places of touched blocks, which findings concern them, and advice
//! that only a change can draw. Blocks are told apart by kind and name, so a renamed file or a moved block is no change;
//! layout and comments are none either. Never reads git.

use crate::diag::{Code, Diagnostic, Level};
use crate::source::{Sources, Span};
use crate::syntax;
use crate::syntax::settings::Block;
use crate::syntax::tree::{Item, ItemKind, Statement, TokenKind, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// What a change touches.
#[derive(Debug)]
pub struct Touched {
    /// The touched blocks of the new texts.
    blocks: Vec<Span>,
    /// All blocks of the new texts.
    all: Vec<Span>,
    advice: Vec<Diagnostic>,
}

/// A block's kind and name.
type Key = (String, String);

/// A block with what it says.
struct Said<'a> {
    statement: &'a Statement,
    /// Its tokens, without comments and line ends.
    text: String,
    /// The words in it.
    words: BTreeSet<String>,
}

impl Touched {
    /// What lies between two states of a set.
    pub fn new(before: &Sources, after: &Sources) -> Touched {
        let (old, new) = (trees(before), trees(after));
        let (old, new) = (blocks(&old), blocks(&new));
        let differs = |key: &Key| old.get(key).map(|said| &said.text) != new.get(key).map(|said| &said.text);
        let mut touched: BTreeSet<&Key> = old.keys().chain(new.keys()).filter(|key| differs(key)).collect();
        let advice = contracts(&old, &new, &touched);
        loop {
            let names: BTreeSet<&str> = touched.iter().map(|key| key.1.as_str()).filter(|n| !n.is_empty()).collect();
            let defaults = touched.iter().any(|key| key.0 == Block::Defaults.word());
            let depends = |key: &Key, said: &Said<'_>| {
                said.words.iter().any(|word| names.contains(word.as_str())) || defaults && key.0 == Block::Route.word()
            };
            let more: Vec<&Key> =
                new.iter().filter(|(key, said)| !touched.contains(key) && depends(key, said)).map(|(k, _)| k).collect();
            if more.is_empty() {
                break;
            }
            touched.extend(more);
        }
        Touched {
            blocks: touched.iter().filter_map(|key| new.get(*key)).map(|said| said.statement.span).collect(),
            all: new.values().map(|said| said.statement.span).collect(),
            advice,
        }
    }

    /// Whether a finding is about something touched. Errors concern everybody, and so does what stands in no block.
    pub fn concerns(&self, diagnostic: &Diagnostic) -> bool {
        let within = |blocks: &[Span], span: Span| {
            blocks.iter().any(|b| b.file == span.file && b.start <= span.start && span.start < b.end.max(b.start + 1))
        };
        diagnostic.level() == Level::Error
            || !within(&self.all, diagnostic.span)
            || within(&self.blocks, diagnostic.span)
            || diagnostic.labels.iter().any(|label| within(&self.blocks, label.span))
    }

    /// What only a change can draw.
    pub fn advice(&self) -> &[Diagnostic] {
        &self.advice
    }
}

fn trees(sources: &Sources) -> Vec<Tree> {
    sources.iter().map(|source| syntax::parse(source).0).collect()
}

fn blocks(trees: &[Tree]) -> BTreeMap<Key, Said<'_>> {
    let mut all = BTreeMap::new();
    for tree in trees {
        for statement in &tree.statements {
            let word = |at: usize| statement.items.get(at).map(|item| tree.source.slice(item.span).to_owned());
            let Some(kind) = word(0) else { continue };
            let name = word(1).unwrap_or_default();
            let inside = |span: Span| statement.span.start <= span.start && span.end <= statement.span.end;
            let silent = |kind: TokenKind| matches!(kind, TokenKind::Comment | TokenKind::LineEnd);
            let tokens = tree.tokens.iter().filter(|t| inside(t.span) && !silent(t.kind));
            let text = tokens.map(|token| tree.source.slice(token.span)).collect::<Vec<_>>().join(" ");
            let mut words = BTreeSet::new();
            inner_words(statement, &mut words);
            all.insert((kind, name), Said { statement, text, words });
        }
    }
    all
}

/// The words of a block, its own head left out.
fn inner_words(statement: &Statement, into: &mut BTreeSet<String>) {
    for inner in statement.block.iter().flat_map(|block| &block.statements) {
        of_items(&inner.items, into);
        inner_words(inner, into);
    }
}

fn of_items(items: &[Item], into: &mut BTreeSet<String>) {
    for item in items {
        match &item.kind {
            ItemKind::Word(word) => drop(into.insert(word.clone())),
            ItemKind::List(parts) => parts.iter().for_each(|part| of_items(part, into)),
            ItemKind::Group(inner) => of_items(inner, into),
            ItemKind::Str(_) | ItemKind::Number(_) | ItemKind::Arrow | ItemKind::Comma | ItemKind::Operator(_) => {}
        }
    }
}

/// Routes that have a version and kept it, while the contract that they name says something else now.
fn contracts(
    old: &BTreeMap<Key, Said<'_>>,
    new: &BTreeMap<Key, Said<'_>>,
    changed: &BTreeSet<&Key>,
) -> Vec<Diagnostic> {
    let setting = |said: &Said<'_>, word: &str| {
        let inside = said.statement.block.as_ref()?;
        inside.statements.iter().find(|s| s.keyword() == Some(word)).cloned()
    };
    let value = |statement: &Statement| statement.items.get(1).map(|item| item.kind.clone());
    let mut found = Vec::new();
    for (key, route) in new.iter().filter(|(key, _)| key.0 == Block::Route.word()) {
        let Some(version) = setting(route, "version") else { continue };
        let before = old.get(key).and_then(|said| setting(said, "version"));
        let kept = before.is_some_and(|before| value(&before) == value(&version));
        let Some(contract) = setting(route, "contract") else { continue };
        let name = contract.items.get(1).and_then(Item::word).unwrap_or_default();
        let named = (Block::Contract.word().to_owned(), name.to_owned());
        let (true, true, Some(said)) = (kept, old.contains_key(&named) && changed.contains(&named), new.get(&named))
        else {
            continue;
        };
        let message = format!("contract `{name}` has changed, and route `{}` has its old version", key.1);
        let head = said.statement.items.get(1).map_or(said.statement.span, |item| item.span);
        found.push(
            Diagnostic::new(Code::ContractChanged, version.span, message)
                .here("the same as before")
                .label(head, "says something else now")
                .help("raise `version`, so that records can be told apart"),
        );
    }
    found
}
