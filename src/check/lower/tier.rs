//! `tier`: chains of targets.

mod order;

use crate::check::context::{Context, Decl};

use crate::check::cursor::Cursor;
use crate::check::fields;
use crate::check::guard::{self, Reads};
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::contract::Pattern;
use crate::policy::{Chain, Exercise, Millis, Order, Percent, Prefer, Rank, TargetId, Tier};
use crate::source::Span;
use crate::syntax::settings::Block;
use crate::syntax::tree::{Item, ItemKind, Statement};

/// Lowers a `tier` block.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<Tier> {
    let fields = cx.fields(decl);
    let last_resort = fields.or(cx, "last-resort", false, |cx, s| cx.flag(s));
    let order = fields.or(cx, "order", Order::AsWritten, order::lower);
    let slow_above = fields.optional(cx, "slow-above", |cx, s| cx.time(s));
    let prefer =
        fields.or(cx, "prefer", Prefer::Healthy, |cx, s| Prefer::from_word(cx.one_of(Block::Tier, "prefer", s)?));
    let affinity = fields.or(cx, "affinity", None, affinity);
    let statements = fields.all("chain");
    let mut chains = Vec::new();
    let mut general: Option<(&Statement, Option<Chain>)> = None;
    let mut whole = true;
    for statement in &statements {
        let keyword = statement.items.first().map_or(statement.span, |item| item.span);
        if let Some(other) = statements.iter().find(|other| is_second(cx, statement, other)) {
            let first = other.items.first().map_or(other.span, |item| item.span);
            cx.report(second_chain(keyword, first));
            whole = false;
            continue;
        }
        // Without a block, what stands after the word was meant to be in it.
        let headed = statement.block.is_some() || statement.items.get(1).is_some_and(|item| item.is("in"));
        let regions = if headed { regions(cx, statement) } else { None };
        let ranks = ranks(cx, statement, keyword);
        let is_general = regions.as_ref().is_some_and(Vec::is_empty);
        let chain = match (regions, ranks) {
            (Some(regions), Some(ranks)) => Some(Chain { regions, ranks, span: keyword }),
            (None, _) | (_, None) => None,
        };
        whole &= chain.is_some();
        if !is_general {
            chains.extend(chain);
        } else if let Some((first, _)) = &general {
            let first = first.items.first().map_or(first.span, |item| item.span);
            cx.report(second_chain(keyword, first));
            whole = false;
        } else {
            general = Some((statement, chain));
        }
    }
    match general {
        Some((_, chain)) => chains.extend(chain),
        None if whole && !statements.is_empty() && fields::strangers(decl) == 0 && !runs_into_chain(decl) => {
            cx.report(
                Diagnostic::new(
                    Code::NoGeneralChain,
                    decl.name_span,
                    format!("tier `{}` has chains for some regions alone", decl.name),
                )
                .help("add a `chain { … }` for requests from anywhere else"),
            );
            whole = false;
        }
        None => whole = false,
    }
    let exercise: Vec<_> = fields.all("exercise").iter().map(|s| exercise(cx, s, &chains, whole)).collect();
    let exercise: Option<Vec<_>> = exercise.into_iter().collect();
    let (last_resort, slow_above, order, prefer) = (last_resort?, slow_above?, order?, prefer?);
    let (affinity, exercise) = (affinity?, exercise?);
    if whole && (order, prefer) == (Order::AsWritten, Prefer::Healthy) {
        for (statement, exercise) in fields.all("exercise").iter().zip(&exercise) {
            if let Some(first) = asked_first_anyway(&chains, exercise.target) {
                cx.report(first_exercised(statement.span, first));
            }
        }
    }
    if whole {
        shadowed_chains(cx, &chains);
    }
    whole.then(|| Tier {
        name: decl.name.clone(),
        span: decl.name_span,
        docs: decl.statement.docs.clone(),
        chains,
        last_resort,
        slow_above,
        order,
        prefer,
        exercise,
        affinity,
    })
}

/// Reports chains for regions that chains above them are all for: the first that matches is taken.
fn shadowed_chains(cx: &mut Context<'_>, chains: &[Chain]) {
    for (at, chain) in chains.iter().enumerate().filter(|(_, chain)| !chain.regions.is_empty()) {
        let above = chains.get(..at).unwrap_or_default();
        // A pattern that fits another pattern's text, its `*` included, fits all that the other one does.
        let covers = |region: &Pattern| above.iter().find(|c| c.regions.iter().any(|p| p.matches(&region.0)));
        let covering: Option<Vec<&Chain>> = chain.regions.iter().map(covers).collect();
        let Some(covering) = covering else { continue };
        let found = Diagnostic::new(Code::ChainShadowed, chain.span, "no request ever gets this chain")
            .here("never taken")
            .help("move it above the other one, or take it away: the first chain that a region matches is taken");
        let mut spans: Vec<Span> = covering.into_iter().map(|chain| chain.span).collect();
        spans.dedup();
        cx.report(spans.into_iter().fold(found, |found, span| found.label(span, "taken for its regions")));
    }
}

fn second_chain(keyword: Span, first: Span) -> Diagnostic {
    Diagnostic::new(Code::DuplicateSetting, keyword, "a second chain for every region")
        .label(first, "the other one")
        .help("keep one of them, or say which regions one is for: `chain in [eu-*] { … }`")
}

/// Whether a chain names no target, beside one for the same regions that does: another setting under its word.
fn is_second(cx: &Context<'_>, chain: &Statement, other: &Statement) -> bool {
    let names_targets = |chain: &Statement| {
        let mut lines = chain.block.iter().flat_map(|block| &block.statements);
        lines.any(|line| line.keyword().is_some_and(|word| cx.names.position(Block::Target, word).is_some()))
    };
    let general = |chain: &Statement| chain.block.is_some() && !chain.items.get(1).is_some_and(|item| item.is("in"));
    general(chain) && general(other) && names_targets(other) && !names_targets(chain)
}

/// Whether a chain is part of the line above it, which goes on by mistake.
fn runs_into_chain(decl: &Decl<'_>) -> bool {
    decl.statements().iter().any(|s| s.items.iter().skip(1).any(|item| item.is("chain")))
}

/// `none`, or `session for D`
fn affinity<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Option<Millis>> {
    let items = cx.value_items(statement)?;
    let mut cursor = Cursor::new(items, statement.span);
    let first = cursor.due("`none` or `session for D`", &mut cx.diagnostics)?;
    if first.is("none") {
        return cursor.finish(&mut cx.diagnostics).then_some(None);
    }
    if !first.is("session") {
        cx.report(value::wrong(first, "`none` or `session for D`"));
        return None;
    }
    cursor.due_word("for", &mut cx.diagnostics)?;
    let idle = cursor.due("how long a session may be idle", &mut cx.diagnostics)?;
    let idle = value::duration(idle, &mut cx.diagnostics)?;
    cursor.finish(&mut cx.diagnostics).then_some(Some(idle))
}

/// `N% of TARGET`
fn exercise<'a>(cx: &mut Context<'a>, statement: &'a Statement, chains: &[Chain], whole: bool) -> Option<Exercise> {
    let items = cx.value_items(statement)?;
    let mut cursor = Cursor::new(items, statement.span);
    let share = cursor.due("a share of sessions", &mut cx.diagnostics)?;
    let share_span = share.span;
    let share = value::percent(share, &mut cx.diagnostics);
    cursor.due_word("of", &mut cx.diagnostics)?;
    let name = cursor.due("a target", &mut cx.diagnostics)?;
    let target = cx.target(name)?;
    cursor.finish(&mut cx.diagnostics).then_some(())?;
    let share = share?;
    let stands = chains.iter().flat_map(|c| &c.ranks).any(|r| r.target == target);
    // What could not be read of the chains may name it.
    if !stands && whole {
        cx.report(
            Diagnostic::new(Code::ExerciseElsewhere, name.span, "this target stands in no chain of the tier")
                .help("exercise a target of the chain: one that is never asked otherwise proves nothing"),
        );
        return None;
    }
    if !(Percent(100)..=Percent(500)).contains(&share) {
        cx.report(
            Diagnostic::new(Code::ExerciseShare, share_span, format!("{share} of sessions is no exercise"))
                .here("outside 1% to 5%")
                .help(
                    "less than 1% proves too little, more than 5% is a split of traffic: write a split if one is meant",
                ),
        );
    }
    Some(Exercise { share, target })
}

/// Where a target stands first, if it does so wherever it stands and alone in its rank: as written, nobody is asked
/// before it.
fn asked_first_anyway(chains: &[Chain], target: TargetId) -> Option<Span> {
    let mut standing = chains.iter().filter(|chain| chain.ranks.iter().any(|rank| rank.target == target)).peekable();
    let first = standing.peek()?.ranks.first()?.span;
    let leads = |chain: &Chain| chain.ranks.first().is_some_and(|rank| rank.target == target && rank.share.is_none());
    standing.all(leads).then_some(first)
}

fn first_exercised(exercise: Span, first: Span) -> Diagnostic {
    Diagnostic::new(Code::WithoutEffect, exercise, "an exercise of the target that every session asks first")
        .here("changes nothing")
        .label(first, "stands first")
        .help("name a standby, which is asked only when others fail, or take this away")
}

/// `in [REGION, …]` after `chain`; nothing there means every region.
fn regions<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Vec<Pattern>> {
    let rest = statement.items.get(1..).unwrap_or_default();
    let Some((first, rest)) = rest.split_first() else { return Some(Vec::new()) };
    if !first.is("in") {
        cx.report(value::wrong(first, "`in [REGION, …]` or the chain's `{`"));
        return None;
    }
    let Some((list, rest)) = rest.split_first() else {
        cx.report(value::missing("a list of regions", first.span));
        return None;
    };
    cx.nothing_more(rest);
    let patterns = value::patterns(list, &mut cx.diagnostics)?;
    if patterns.is_empty() {
        // One whose regions are all broken was told of them.
        if !matches!(&list.kind, ItemKind::List(regions) if regions.is_empty()) {
            return None;
        }
        cx.report(
            Diagnostic::new(Code::MissingValue, list.span, "this chain is for no region at all")
                .help("name regions, or leave `in [ ]` out"),
        );
        return None;
    }
    Some(patterns.into_iter().map(|pattern| pattern.value).collect())
}

fn ranks<'a>(cx: &mut Context<'a>, statement: &'a Statement, keyword: Span) -> Option<Vec<Rank>> {
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
