//! A tree after a change of its text, with no more parsed anew than what was touched.
//!
//! In: a tree of a text without syntax errors, and the text after a change. Out: the tree that parsing all of it would
//! yield, or nothing where only that can tell. Top-level statements do not look into each other, and a line that
//! follows the end of one begins at the top level: there the text is cut. Never yields a tree of broken text.

use super::guard::MAX_BYTES;
use super::tree::{Item, ItemKind, Statement, Tree};
use crate::source::{Source, Span};

/// The tree of `source`, which differs in one place from the text that `old` is of. `old` must have parsed clean.
pub fn reparse(old: Tree, source: &Source) -> Option<Tree> {
    let (before, after): (&str, &str) = (&old.source.text, &source.text);
    if old.source.id != source.id || after.len() > MAX_BYTES {
        return None;
    }
    let (from, to) = changed(before, after);
    let (kept, start) = above(&old, from);
    let (dropped, end) = below(&old, to);
    let tail = before.len() - end;
    let middle = after.get(start..after.len().checked_sub(tail)?)?;
    // Only at the beginning of a file is a mark of the byte order one.
    if start > 0 && middle.starts_with('\u{FEFF}') {
        return None;
    }
    let (mut middle, shape) = super::parse(&Source::new(source.id, source.name.clone(), middle));
    if !shape.is_empty() {
        return None;
    }
    let (down, by) = (i64::try_from(start).ok()?, i64::try_from(after.len()).ok()? - i64::try_from(before.len()).ok()?);
    let Tree { mut statements, mut tokens, .. } = old;
    let mut last = statements.split_off(dropped.min(statements.len()));
    statements.truncate(kept);
    let mut behind = tokens.split_off(tokens.partition_point(|token| (token.span.start as usize) < end));
    tokens.truncate(tokens.partition_point(|token| token.span.end as usize <= start));
    middle.statements.iter_mut().for_each(|statement| shift(statement, down));
    last.iter_mut().for_each(|statement| shift(statement, by));
    middle.tokens.iter_mut().for_each(|token| shift_span(&mut token.span, down));
    behind.iter_mut().for_each(|token| shift_span(&mut token.span, by));
    statements.append(&mut middle.statements);
    statements.append(&mut last);
    tokens.append(&mut middle.tokens);
    tokens.append(&mut behind);
    Some(Tree { source: source.clone(), statements, tokens })
}

/// The stretch of `before` that is not in `after`.
fn changed(before: &str, after: &str) -> (usize, usize) {
    let same = |(a, b): &(u8, u8)| a == b;
    let front = before.bytes().zip(after.bytes()).take_while(same).count();
    let most = before.len().min(after.len()) - front;
    let back = before.bytes().rev().zip(after.bytes().rev()).take(most).take_while(same).count();
    (front, before.len() - back)
}

/// How many statements end on lines before `from`, and where the line after the last of them begins.
fn above(old: &Tree, from: usize) -> (usize, usize) {
    let mut kept = old.statements.partition_point(|statement| (statement.span.end as usize) < from);
    while kept > 0 {
        match cut(old, kept) {
            Some(cut) if cut <= from => return (kept, cut),
            Some(_) | None => kept -= 1,
        }
    }
    (0, 0)
}

/// Which statement is the first behind `to`, one whole statement between them left out, and where its part of the text
/// begins. What stands directly above a statement may be its documentation, and what stands on the line of the change
/// may have become a comment, so neither can be relied on.
fn below(old: &Tree, to: usize) -> (usize, usize) {
    let line = old.source.text.get(to..).and_then(|rest| rest.find('\n'));
    let to = line.map_or(old.source.text.len(), |length| to + length);
    let first = old.statements.partition_point(|statement| (statement.span.start as usize) < to);
    let cuts = (first + 1..old.statements.len()).find_map(|dropped| Some((dropped, cut(old, dropped)?)));
    cuts.unwrap_or((old.statements.len(), old.source.text.len()))
}

/// Where the line begins that follows the first `count` statements, if the next one does not begin on theirs.
fn cut(old: &Tree, count: usize) -> Option<usize> {
    let end = old.statements.get(count.checked_sub(1)?)?.span.end as usize;
    let cut = end + old.source.text.get(end..)?.find('\n')? + 1;
    let next = old.statements.get(count);
    next.is_none_or(|next| next.span.start as usize >= cut).then_some(cut)
}

fn shift(statement: &mut Statement, by: i64) {
    shift_span(&mut statement.span, by);
    statement.items.iter_mut().for_each(|item| shift_item(item, by));
    if let Some(block) = &mut statement.block {
        shift_span(&mut block.span, by);
        block.statements.iter_mut().for_each(|inner| shift(inner, by));
    }
}

fn shift_item(item: &mut Item, by: i64) {
    shift_span(&mut item.span, by);
    match &mut item.kind {
        ItemKind::List(parts) => parts.iter_mut().flatten().for_each(|inner| shift_item(inner, by)),
        ItemKind::Group(inner) => inner.iter_mut().for_each(|inner| shift_item(inner, by)),
        ItemKind::Word(_)
        | ItemKind::Str(_)
        | ItemKind::Number(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => {}
    }
}

fn shift_span(span: &mut Span, by: i64) {
    let moved = |offset: u32| u32::try_from(i64::from(offset) + by).unwrap_or(u32::MAX);
    *span = Span { start: moved(span.start), end: moved(span.end), ..*span };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::syntax::parse;

    const TEXT: &str = "switchback 1 # edition\n\n## One.\nmodel m { context 1k } ## not of the next\n# plain\n## Two,\n## lines.\nmodel n {\n  tools [yes,\n    no]\n}; tier t { chain { a\nb } }\nmatrix x {\n  connect ->\n    stop\n}\n\n## Last.\nroute r { match when (request.tokens > 1k) }";

    fn source(text: &str) -> Source {
        Source::new(FileId(3), "a.sbk", text)
    }

    /// Puts every piece at every place, and takes every stretch away: what is spliced is what would have been parsed.
    #[test]
    fn a_spliced_tree_is_the_parsed_one() {
        let (old, shape) = parse(&source(TEXT));
        assert!(shape.is_empty(), "{shape:#?}");
        let (mut spliced, mut refused) = (0, 0);
        let mut same = |text: String| {
            let source = source(&text);
            let (whole, shape) = parse(&source);
            match reparse(old.clone(), &source) {
                Some(tree) => {
                    assert!(shape.is_empty(), "{text}\n{shape:#?}");
                    assert_eq!(format!("{:?}", tree.statements), format!("{:?}", whole.statements), "{text}");
                    assert_eq!(tree.tokens, whole.tokens, "{text}");
                    spliced += 1;
                }
                // Only what has a mistake in it is looked at as a whole.
                None => {
                    assert!(!shape.is_empty(), "{text}");
                    refused += 1;
                }
            }
        };
        let places: Vec<usize> = TEXT.char_indices().map(|(at, _)| at).step_by(3).chain([TEXT.len()]).collect();
        for at in places.iter().copied() {
            for piece in [
                "",
                "x",
                "{",
                "}",
                "\n",
                "\n\n## New.\n",
                ",",
                "->",
                "\"",
                "# c",
                "y { z 1 }\n",
                ";",
                " and ",
                "é",
                "\r\n",
                "\u{FEFF}",
            ] {
                same(format!("{}{piece}{}", &TEXT[..at], &TEXT[at..]));
            }
            for length in [1, 2, 7, 40, 90] {
                let end = (at + length).min(TEXT.len());
                same(format!("{}{}", &TEXT[..at], &TEXT[end..]));
            }
        }
        assert!(spliced > refused, "{spliced} spliced, {refused} parsed as a whole");
    }

    #[test]
    fn what_was_not_touched_is_not_parsed() {
        let unit = "model m { context 1k }\n";
        let text = format!("switchback 1\n{}", unit.repeat(50));
        let (old, _) = parse(&source(&text));
        let changed = text.replacen("1k", "2k", 1);
        let (kept, start) = above(&old, text.find("1k").unwrap());
        let (dropped, end) = below(&old, text.find("1k").unwrap() + 2);
        assert_eq!((kept, dropped), (1, 3));
        assert_eq!(&text[start..end], unit.repeat(2));
        assert!(reparse(old, &source(&changed)).is_some());
    }
}
