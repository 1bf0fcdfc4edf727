//! The ranks of a chain: one target a line, or a split, with or without a guard.
//!
//! In: the block of a `chain`. Out: its ranks in order, or nothing after what is wrong with a line was named. Never knows
//! for which requests the chain is.

use crate::check::context::Context;
use crate::check::guard::{self, Reads};
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Percent, Rank};
use crate::source::Span;
use crate::syntax::settings::Block;
use crate::syntax::tree::{Item, ItemKind, Statement};

/// Reads the block of a chain; `keyword` is its word.
pub(super) fn ranks<'a>(cx: &mut Context<'a>, statement: &'a Statement, keyword: Span) -> Option<Vec<Rank>> {
    let Some(block) = &statement.block else {
        cx.report(
            Diagnostic::new(Code::MissingBlock, keyword, "this chain has no block")
                .help("write its targets in braces: `chain { a; b }`"),
        );
        return None;
    };
    if block.statements.is_empty() {
        cx.report(
            Diagnostic::new(Code::EmptyChain, block.span, "this chain is empty")
                .help("name the targets that may answer, the preferred one first"),
        );
        return None;
    }
    let mut ranks: Vec<Rank> = Vec::new();
    let mut whole = true;
    for (place, line) in (0u16..).zip(&block.statements) {
        let Some(line_ranks) = rank(cx, line, place) else {
            whole = false;
            continue;
        };
        for rank in line_ranks {
            if let Some(first) = ranks.iter().find(|other| other.target == rank.target) {
                let name = cx.names.slice(rank.span);
                cx.report(
                    Diagnostic::new(Code::TargetTwice, rank.span, format!("target `{name}` stands twice in a chain"))
                        .label(first.span, "it stands here first")
                        .help("keep one of them; a second call at a target is what `retry` is for"),
                );
                whole = false;
            } else {
                ranks.push(rank);
            }
        }
    }
    whole.then_some(ranks)
}

/// `TARGET [when GUARD]`, or a split: `TARGET 70%, TARGET 30% [when GUARD]`.
fn rank<'a>(cx: &mut Context<'a>, line: &'a Statement, place: u16) -> Option<Vec<Rank>> {
    if let Some(block) = &line.block {
        cx.report(
            Diagnostic::new(Code::UnexpectedBlock, block.span, "a rank takes no block")
                .help("take the braces and what is in them away"),
        );
    }
    let at = line.items.iter().position(|item| item.is("when")).unwrap_or(line.items.len());
    let (names, condition) = line.items.split_at_checked(at)?;
    let (Some(first), Some(last)) = (names.first(), names.last()) else {
        let span = line.items.first().map_or(line.span, |item| item.span);
        cx.report(value::missing("a target", span));
        return None;
    };
    // `target a`, as in a block's head.
    if let ([word, name], true) = (names, first.is(Block::Target.word()))
        && name.word().is_some()
    {
        cx.target(name);
        let front = Span { end: name.span.start, ..word.span };
        cx.report(
            Diagnostic::new(Code::LeftOver, word.span, "a chain names its targets alone")
                .here("too much")
                .help("write the name of the target and no word before it")
                .fix("remove `target`", front, "", false),
        );
        return None;
    }
    let guard = match condition.split_first() {
        Some((when, items)) => guard::lower(items, when.span, Reads::Request, &mut cx.diagnostics).map(Some),
        None => Some(None),
    };
    let parts: Vec<&[Item]> = names.split(|item| matches!(item.kind, ItemKind::Comma)).collect();
    let is_split = parts.len() > 1;
    if is_split && parts.iter().all(|part| matches!(part, [name] if name.word().is_some())) {
        // Commas were meant to separate ranks: no target has a share.
        for name in parts.iter().filter_map(|part| part.first()) {
            cx.target(name);
        }
        let message = "targets on one line share it, and none of these says how";
        cx.report(
            Diagnostic::new(Code::MissingValue, first.span.to(last.span), message).here("a split without shares").help(
                "write one target a line, or with `;` between them; a split says its shares: `one 70%, other 30%`",
            ),
        );
        return None;
    }
    if let Some(turned) = shares_first(cx, &parts) {
        for part in &parts {
            part.get(1).and_then(|name| cx.target(name));
        }
        let message = "a share stands behind its target, not before it";
        cx.report(Diagnostic::new(Code::WrongValue, first.span.to(last.span), message).fix(
            format!("write `{turned}`"),
            first.span.to(last.span),
            turned,
            false,
        ));
        return None;
    }
    let mut ranks = Vec::new();
    let mut whole = true;
    for part in parts {
        let Some((name, rest)) = part.split_first() else { continue };
        let target = cx.target(name);
        let share = share(cx, name, rest, is_split);
        match (target, share) {
            (Some(target), Some(share)) => ranks.push((target, share, name.span)),
            (None, _) | (_, None) => whole = false,
        }
    }
    let sum: u64 = ranks.iter().filter_map(|(_, share, _)| *share).map(|share| u64::from(share.0)).sum();
    if whole && is_split && sum != u64::from(Percent::ALL.0) {
        let sum = Percent(u32::try_from(sum).unwrap_or(u32::MAX));
        cx.report(
            Diagnostic::new(Code::SplitNotWhole, first.span.to(last.span), format!("this split adds up to {sum}"))
                .help("let the shares of a rank add up to 100%"),
        );
        whole = false;
    }
    let guard = guard?;
    let rank = |(target, share, span)| Rank { place, share, target, guard: guard.clone(), span };
    whole.then(|| ranks.into_iter().map(rank).collect())
}

/// `70% one, 30% two`: the same the right way round.
fn shares_first(cx: &Context<'_>, parts: &[&[Item]]) -> Option<String> {
    let turned = parts.iter().map(|part| match part {
        [Item { kind: ItemKind::Number(share), .. }, name] if share.ends_with('%') && name.word().is_some() => {
            Some(format!("{} {share}", cx.names.slice(name.span)))
        }
        _ => None,
    });
    turned.collect::<Option<Vec<_>>>().map(|parts| parts.join(", "))
}

/// The share after a target's name: due in a split, and nothing elsewhere.
fn share<'a>(cx: &mut Context<'a>, name: &Item, rest: &'a [Item], is_split: bool) -> Option<Option<Percent>> {
    match (is_split, rest.split_first()) {
        (true, None) => {
            let help = "write its share, such as `70%`: those of a line add up to 100%";
            cx.report(value::missing("this target's share of the split", name.span).help(help));
            None
        }
        // `a weight 70`, as in other tools.
        (true, Some((word, [Item { kind: ItemKind::Number(number), span }]))) if word.word().is_some() => {
            let (number, whole) = (number.trim_end_matches('%'), word.span.to(*span));
            let message = "a share stands right behind its target, in percent";
            cx.report(Diagnostic::new(Code::WrongValue, whole, message).fix(
                format!("write `{number}%`"),
                whole,
                format!("{number}%"),
                false,
            ));
            None
        }
        (true, Some((share, more))) => {
            cx.nothing_more(more);
            value::percent(share, &mut cx.diagnostics).map(Some)
        }
        (false, Some((more, _))) => {
            let help = match &more.kind {
                ItemKind::Number(_) => "the shares of a split stand on one line, with a comma: `one 70%, other 30%`",
                ItemKind::Word(_) | ItemKind::Arrow => "write one target a line, or with `;` between them",
                ItemKind::Str(_) | ItemKind::List(_) | ItemKind::Group(_) | ItemKind::Comma | ItemKind::Operator(_) => {
                    "remove it: a rank is a target, and `when` with a condition"
                }
            };
            let known = |item: &Item| item.word().is_some_and(|word| cx.names.position(Block::Target, word).is_some());
            let before = cx.diagnostics.len();
            let is_word = matches!(more.kind, ItemKind::Word(_));
            cx.nothing_more(rest);
            if let Some(found) = cx.diagnostics.get_mut(before).filter(|_| !is_word || known(more)) {
                found.help = help.to_owned();
            }
            Some(None)
        }
        (false, None) => Some(None),
    }
}
