//! Collects the names of a set, and holds each file to its shape.
//!
//! In: all trees. Out: `Names`, and what is wrong with editions, block words, block names and duplicates. A block whose
//! name is broken or taken is kept apart, so that its contents are looked at all the same. Never looks inside a block.

use super::alike::reads_like;
use super::context::{Decl, Lost, Names, not_yet};
use super::{edition, elsewhere, value};
use crate::diag::{Code, Diagnostic, closest};
use crate::source::Span;
use crate::syntax::settings::{BLOCKS, Block, Naming, blocks_with};
use crate::syntax::tree::{Item, ItemKind, Statement, Tree};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Words that begin lines of tests, and so can name nothing that such a line may begin with.
pub const RESERVED: [&str; 6] = ["send", "expect", "given", "at", "from", "every"];

/// How many further places a finding shows.
const MOST_PLACES: usize = 3;

/// Files that end so hold tests alone.
pub const TEST_FILE: &str = ".test.sbk";

/// Collects the names of all trees.
pub fn collect<'a>(trees: &'a [Tree], out: &mut Vec<Diagnostic>) -> Names<'a> {
    let mut names =
        Names { trees, lists: BTreeMap::new(), places: HashMap::new(), spare: Vec::new(), lost: Vec::new() };
    for tree in trees {
        let mut unopened = false;
        for statement in edition::begin(tree, out) {
            // What follows a block that was never opened was meant to stand in it.
            let is_block = statement.block.is_some() && statement.keyword().and_then(Block::from_word).is_some();
            if unopened && !is_block {
                continue;
            }
            unopened = !top_level(tree, statement, &mut names, out);
        }
    }
    for (block, list) in &mut names.lists {
        names.spare.extend(apart(list, out));
        if *block != Block::Test {
            list.sort_by(|a, b| a.name.cmp(&b.name));
        }
        if let Some(decl) = list.get(usize::from(u16::MAX)) {
            out.push(
                Diagnostic::new(Code::TooMany, decl.name_span, format!("more than 65535 blocks `{}`", block.word()))
                    .help("divide the set into several"),
            );
        }
    }
    names.places = places(&names.lists);
    names
}

/// The position of each name, by kind. Tests are in the order of writing, and are never referred to.
fn places<'a>(lists: &BTreeMap<Block, Vec<Decl<'a>>>) -> HashMap<(Block, &'a str), usize> {
    let mut places = HashMap::with_capacity(lists.values().map(Vec::len).sum());
    for (block, list) in lists {
        for (at, decl) in list.iter().enumerate() {
            places.insert((*block, decl.written()), at);
        }
    }
    places
}

/// Notes one block; returns whether it has braces, or is none at all.
fn top_level<'a>(tree: &Tree, statement: &'a Statement, names: &mut Names<'a>, out: &mut Vec<Diagnostic>) -> bool {
    let Some(first) = statement.items.first() else {
        names.lost.push(Lost { block: None, names: Vec::new() });
        return true;
    };
    if first.is("switchback") {
        return true;
    }
    let Some(block) = first.word().and_then(Block::from_word) else {
        out.push(unknown_block(first));
        // A word that stands alone may as well be the name.
        let known = |word: &str| elsewhere::block(word).or(closest(word, block_words()).and_then(Block::from_word));
        let near = first.word().filter(|_| statement.items.len() > 1).and_then(known);
        names.lost.push(Lost { block: near, names: words(&statement.items) });
        return true;
    };
    let like = reads_like(block, statement);
    if block.is_later() && like.is_none() {
        out.push(not_yet(first.span, block.word()));
        // Known by name all the same, so that a wrong reference can be told what it names.
        if let (Naming::Named, Some(name)) = (block.row().naming, statement.items.get(1))
            && let Some(text) = name.word()
        {
            let decl = Decl { block, name: text.to_owned(), name_span: name.span, statement };
            names.lists.entry(block).or_default().push(decl);
        }
        return true;
    }
    if let Some(like) = like {
        let message = format!("what this {} says is said of a {}", block.word(), like.word());
        out.push(
            Diagnostic::new(Code::WrongBlock, first.span, message)
                .here(format!("`{}` is meant?", like.word()))
                .help(format!("write `{}` here, or the settings of a {}", like.word(), block.word()))
                .fix(format!("write `{}`", like.word()), first.span, like.word(), false),
        );
        names.lost.push(Lost { block: Some(like), names: words(statement.items.get(1..).unwrap_or_default()) });
        return true;
    }
    if tree.source.name.ends_with(TEST_FILE) && block != Block::Test {
        wrong_file(block, first.span, out);
    }
    let mut items = statement.items.as_slice();
    if statement.block.is_none() {
        let end = items.get(1).unwrap_or(first);
        out.push(
            Diagnostic::new(Code::MissingBlock, first.span.to(end.span), format!("this {} has no block", block.word()))
                .help("write its settings in `{ … }`, and the `{` on the same line"),
        );
        // What else stands on the line was meant to stand in the block.
        items = items.get(..2).unwrap_or(items);
    }
    // What stands too much in a head may have been meant as the name.
    let more = words(items.get(2..).unwrap_or_default());
    if !more.is_empty() {
        names.lost.push(Lost { block: Some(block), names: more });
    }
    match name(block, first, items, out) {
        Some((name, name_span)) => {
            names.lists.entry(block).or_default().push(Decl { block, name, name_span, statement });
        }
        None => {
            let meant = items.get(1).map(|item| words(std::slice::from_ref(item))).unwrap_or_default();
            names.lost.push(Lost { block: Some(block), names: meant });
            names.spare.push(Decl { block, name: String::new(), name_span: first.span, statement });
        }
    }
    statement.block.is_some()
}

/// Whatever else stands in a file of tests, in one finding.
fn wrong_file(block: Block, span: Span, out: &mut Vec<Diagnostic>) {
    let told = out.iter_mut().find(|found| found.code == Code::WrongFile && found.span.file == span.file);
    match told {
        Some(found) => {
            if found.labels.len() < MOST_PLACES {
                *found = found.clone().label(span, format!("nor a {}", block.word()));
            }
        }
        None => out.push(
            Diagnostic::new(
                Code::WrongFile,
                span,
                format!("a file that ends in `{TEST_FILE}` holds tests alone, not a {}", block.word()),
            )
            .help("move all but the tests to another `.sbk` file of the set"),
        ),
    }
}

/// The words and texts among items, as names would be written.
fn words(items: &[Item]) -> Vec<String> {
    let name = |item: &Item| match &item.kind {
        ItemKind::Word(text) | ItemKind::Str(text) => Some(text.to_ascii_lowercase()).filter(|t| value::is_name(t)),
        ItemKind::Number(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => None,
    };
    items.iter().filter_map(name).collect()
}

/// Takes every block whose name stood before out of a list, after a diagnostic, unless its kind has no effect anyway.
fn apart<'a>(list: &mut Vec<Decl<'a>>, out: &mut Vec<Diagnostic>) -> Vec<Decl<'a>> {
    let mut seen: HashSet<&str> = HashSet::with_capacity(list.len());
    let again: Vec<usize> =
        list.iter().enumerate().filter(|(_, decl)| !seen.insert(&decl.name)).map(|(at, _)| at).collect();
    if again.is_empty() {
        return Vec::new();
    }
    let mut firsts: BTreeMap<String, Span> = BTreeMap::new();
    let (mut kept, mut spare) = (Vec::new(), Vec::new());
    for (at, decl) in std::mem::take(list).into_iter().enumerate() {
        if again.binary_search(&at).is_err() {
            firsts.insert(decl.name.clone(), decl.name_span);
            kept.push(decl);
            continue;
        }
        if let Some(first) = firsts.get(&decl.name).filter(|_| !decl.block.is_later()) {
            out.push(declared_twice(&decl, *first));
        }
        spare.push(decl);
    }
    *list = kept;
    spare
}

fn declared_twice(decl: &Decl<'_>, first: Span) -> Diagnostic {
    let word = decl.block.word();
    let apart = first.file != decl.name_span.file;
    let (message, help) = match decl.block.row().naming {
        Naming::Bare => (format!("a set has one `{word}` block"), "put what it says into the first one"),
        Naming::Named | Naming::Titled | Naming::Paired => (
            format!("there are two of {word} `{}`", decl.name),
            match apart {
                true => {
                    "rename or remove one of them: all files of a folder are one set. Sets of one file are checked by name"
                }
                false => "rename or remove one of them",
            },
        ),
    };
    Diagnostic::new(Code::DuplicateName, decl.name_span, message)
        .here("declared again")
        .label(first, "declared here first")
        .help(help)
}

/// The name of a block, or nothing after a diagnostic.
fn name(block: Block, first: &Item, items: &[Item], out: &mut Vec<Diagnostic>) -> Option<(String, Span)> {
    let word = block.word();
    let rest = items.get(1..).unwrap_or_default();
    match block.row().naming {
        Naming::Bare => {
            value::left_over(rest, out);
            Some((String::new(), first.span))
        }
        Naming::Titled => {
            let Some((title, rest)) = rest.split_first() else {
                out.push(missing_name(first.span, word, &format!("{word} \"what it shows\" {{ … }}")));
                return None;
            };
            match &title.kind {
                ItemKind::Str(text) => {
                    value::left_over(rest, out);
                    Some((text.clone(), title.span))
                }
                ItemKind::Word(_)
                | ItemKind::Number(_)
                | ItemKind::List(_)
                | ItemKind::Group(_)
                | ItemKind::Arrow
                | ItemKind::Comma
                | ItemKind::Operator(_) => {
                    out.push(
                        Diagnostic::new(Code::BadName, title.span, format!("a {word} has a title in quotes"))
                            .help(format!("write `{word} \"what it shows\" {{ … }}`")),
                    );
                    None
                }
            }
        }
        Naming::Named | Naming::Paired => {
            let Some((name, rest)) = rest.split_first() else {
                out.push(missing_name(first.span, word, &format!("{word} NAME {{ … }}")));
                return None;
            };
            value::left_over(rest, out);
            let text = declared_name(block, name, out)?;
            Some((text, name.span))
        }
    }
}

fn missing_name(span: Span, word: &str, form: &str) -> Diagnostic {
    Diagnostic::new(Code::MissingName, span, format!("this {word} has no name")).help(format!("write `{form}`"))
}

fn declared_name(block: Block, item: &Item, out: &mut Vec<Diagnostic>) -> Option<String> {
    let word = block.word();
    let (text, quoted) = match &item.kind {
        ItemKind::Word(text) => (text, false),
        ItemKind::Str(text) => (text, true),
        ItemKind::Number(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => {
            out.push(bad_name(item, format!("the name of a {word} is due here, not {}", value::describe(item))));
            return None;
        }
    };
    let fixed = text.to_ascii_lowercase();
    if !quoted && value::is_name(text) {
        let reserved =
            matches!(block, Block::Target | Block::Route | Block::Model) && RESERVED.contains(&text.as_str());
        if reserved {
            out.push(
                bad_name(item, format!("`{text}` begins lines of tests and cannot name a {word}"))
                    .help("choose another name"),
            );
            return None;
        }
        return Some(text.clone());
    }
    let message = match (quoted, value::is_name(&fixed)) {
        (true, true) => format!("the name of a {word} stands without quotes"),
        (false, true) => format!("names are in lower case: `{text}`"),
        (true, false) => format!("this string cannot name a {word}"),
        (false, false) => format!("`{text}` cannot name a {word}"),
    };
    let diagnostic = bad_name(item, message);
    out.push(if value::is_name(&fixed) {
        diagnostic.fix(format!("write `{fixed}`"), item.span, fixed, false)
    } else {
        diagnostic
    });
    None
}

fn bad_name(item: &Item, message: String) -> Diagnostic {
    Diagnostic::new(Code::BadName, item.span, message)
        .help("a name is lower-case letters, digits and `_`, in parts joined by `-` or `.`, and begins with a letter")
}

fn unknown_block(first: &Item) -> Diagnostic {
    let Some(word) = first.word() else {
        return Diagnostic::new(Code::UnknownBlock, first.span, "a block begins with its word")
            .help(format!("begin with one of {}", words_in_effect()));
    };
    if let Some(meant) = elsewhere::block(word) {
        let meant = meant.word();
        let message = format!("there is no block `{word}`; here that is a `{meant}`");
        return Diagnostic::new(Code::UnknownBlock, first.span, message).fix(
            format!("write `{meant}`"),
            first.span,
            meant,
            false,
        );
    }
    let homes = blocks_with(word);
    if !homes.is_empty() {
        let list: Vec<_> = homes.iter().map(|block| format!("`{}`", block.word())).collect();
        return Diagnostic::new(Code::WrongBlock, first.span, format!("`{word}` is a setting and stands in no block"))
            .help(format!("move it into a block of kind {}", list.join(" or ")));
    }
    let diagnostic = Diagnostic::new(Code::UnknownBlock, first.span, format!("there is no block `{word}`"));
    match closest(word, block_words()) {
        Some(near) => {
            diagnostic.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), first.span, near, false)
        }
        None => diagnostic.help(format!("begin with one of {}", words_in_effect())),
    }
}

fn block_words() -> impl Iterator<Item = &'static str> {
    BLOCKS.iter().map(|row| row.word)
}

fn words_in_effect() -> String {
    let rows = BLOCKS.iter().filter(|row| !row.block.is_later());
    rows.map(|row| format!("`{}`", row.word)).collect::<Vec<_>>().join(", ")
}
