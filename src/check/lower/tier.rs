//! `tier`: chains of targets.

mod order;
mod ranks;

use crate::check::context::{Context, Decl};
use crate::check::cursor::Cursor;
use crate::check::fields;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::contract::Pattern;
use crate::policy::{Chain, Exercise, Millis, Order, Percent, Prefer, TargetId, Tier};
use crate::source::Span;
use crate::syntax::settings::Block;
use crate::syntax::tree::{ItemKind, Statement};

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
        let ranks = ranks::ranks(cx, statement, keyword);
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
