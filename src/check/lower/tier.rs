//! `tier`: chains of targets.

use crate::check::context::{Context, Decl};
use crate::check::fields;
use crate::check::guard::{self, Reads};
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::contract::Pattern;
use crate::policy::tier::Rank;
use crate::policy::{Chain, Tier};
use crate::source::Span;
use crate::syntax::tree::{Item, ItemKind, Statement};

/// Lowers a `tier` block.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<Tier> {
    let fields = cx.fields(decl);
    let last_resort = fields.or(cx, "last-resort", false, |cx, s| cx.flag(s));
    let statements = fields.all("chain");
    let mut chains = Vec::new();
    let mut general: Option<(&Statement, Option<Chain>)> = None;
    let mut whole = true;
    for statement in &statements {
        let keyword = statement.items.first().map_or(statement.span, |item| item.span);
        let regions = regions(cx, statement);
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
            cx.report(
                Diagnostic::new(Code::DuplicateSetting, keyword, "a second chain for every region")
                    .label(first, "the first one")
                    .help("keep one of them, or say which regions one is for: `chain in [eu-*] { … }`"),
            );
            whole = false;
        } else {
            general = Some((statement, chain));
        }
    }
    match general {
        Some((_, chain)) => chains.extend(chain),
        None if whole && !statements.is_empty() && fields::strangers(decl) == 0 => {
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
    let last_resort = last_resort?;
    whole.then(|| Tier {
        name: decl.name.clone(),
        span: decl.name_span,
        docs: decl.statement.docs.clone(),
        chains,
        last_resort,
    })
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
    for line in &block.statements {
        let Some(line_ranks) = rank(cx, line) else {
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

/// `TARGET [when GUARD]`. A split, which has no effect yet, comes back as its targets in order.
fn rank<'a>(cx: &mut Context<'a>, line: &'a Statement) -> Option<Vec<Rank>> {
    if let Some(block) = &line.block {
        cx.report(
            Diagnostic::new(Code::UnexpectedBlock, block.span, "a rank takes no block")
                .help("take the braces and what is in them away"),
        );
    }
    let at = line.items.iter().position(|item| item.is("when")).unwrap_or(line.items.len());
    let (names, condition) = line.items.split_at_checked(at)?;
    let guard = match condition.split_first() {
        Some((when, items)) => guard::lower(items, when.span, Reads::Request, &mut cx.diagnostics).map(Some),
        None => Some(None),
    };
    if names.is_empty() {
        let span = line.items.first().map_or(line.span, |item| item.span);
        cx.report(value::missing("a target", span));
        return None;
    }
    let parts: Vec<&[Item]> = names.split(|item| matches!(item.kind, ItemKind::Comma)).collect();
    let shares = |item: &&Item| matches!(&item.kind, ItemKind::Number(text) if text.ends_with('%'));
    let is_split = parts.len() > 1 || names.iter().any(|item| shares(&item));
    if is_split {
        let early = names.iter().find(shares).or_else(|| names.get(1))?;
        let word = cx.names.slice(early.span);
        let diagnostic = crate::check::context::not_yet(early.span, word)
            .help("give each target a rank of its own for now: splits of traffic come later");
        cx.report(diagnostic);
    }
    let mut ranks = Vec::new();
    let mut whole = true;
    for part in parts {
        let Some((name, rest)) = part.split_first() else { continue };
        if !is_split {
            cx.nothing_more(rest);
        }
        match cx.target(name) {
            Some(target) => ranks.push((target, name.span)),
            None => whole = false,
        }
    }
    let guard = guard?;
    whole.then(|| ranks.into_iter().map(|(target, span)| Rank { target, guard: guard.clone(), span }).collect())
}
