//! What is said of a broken set, less what only repeats that it is broken.
//!
//! In: the trees, the errors that are certain, and all findings. Out: the findings that are mistakes of their own. An echo
//! stands where the shape is broken already, on a line whose brackets had to be mended, judges a whole block of which a
//! piece could not be read, or judges what the set as a whole means while some of it is not known. Never drops an error
//! that stands on its own.

use crate::diag::{Code, Diagnostic, Level};
use crate::source::Span;
use crate::syntax::settings::Block;
use crate::syntax::tree::Statement;
use crate::syntax::{self, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Codes about how blocks play together: with a piece missing, nobody can tell.
pub(super) const WHOLE_SET: [Code; 26] = [
    Code::SlowAboveUnseen,
    Code::UnknownPrice,
    Code::StageTooShort,
    Code::ProbeRefused,
    Code::AnswerAboveSpend,
    Code::AttemptsBelowPool,
    Code::MixedQuantization,
    Code::RegionNowhere,
    Code::WaitAboveDeadline,
    Code::ChainSwitchedOff,
    Code::FallbackToItself,
    Code::DearerStandby,
    Code::AttemptsAboveChain,
    Code::UnusedBlock,
    Code::ActionNeverPossible,
    Code::ContractUnmet,
    Code::EmulatedAndReal,
    Code::OneOutageAway,
    Code::AttemptsBelowChain,
    Code::UnprovenFallback,
    Code::UnreachableTarget,
    Code::OverlappingRoutes,
    Code::LimitAboveDeadline,
    Code::HedgeNever,
    Code::HangTakesAll,
    Code::RetriesAboveTarget,
];

/// Codes about all of a block, whatever piece of it they point at.
const WHOLE_BLOCK: [Code; 12] = [
    Code::ReserveAboveDeadline,
    Code::NestedBlock,
    Code::MissingSetting,
    Code::MatrixNotTotal,
    Code::ActionRuledOut,
    Code::FallbackOnPolicy,
    Code::RowShadowed,
    Code::OtherwiseNotLast,
    Code::EmptyChain,
    Code::NoGeneralChain,
    Code::TestWithoutExpect,
    Code::UnexpectedBlock,
];

/// Drops what is an echo of a broken shape.
pub(super) fn of_shape(trees: &[Tree], shape: &[Diagnostic], found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let broken: Vec<&Diagnostic> = shape.iter().filter(|d| d.level() == Level::Error).collect();
    if broken.is_empty() {
        return found;
    }
    let mut on_line: BTreeMap<Span, usize> = BTreeMap::new();
    for line in broken.iter().filter_map(|d| lines(trees, d.span)) {
        *on_line.entry(line).or_default() += 1;
    }
    let beside = |d: &Diagnostic| lines(trees, d.span).and_then(|line| on_line.get(&line)).copied().unwrap_or(0);
    let mended = |d: &Diagnostic| d.code.mends_brackets();
    let places: Vec<Span> = broken.iter().filter(|d| !mended(d)).map(|d| d.span).collect();
    let guessed = |d: &&&Diagnostic| mended(d) || beside(d) > 1;
    let tangled: Vec<Span> = broken.iter().filter(guessed).filter_map(|d| lines(trees, d.span)).collect();
    let blocks: Vec<Span> = broken.iter().flat_map(|d| around(trees, d.span)).map(|s| s.span).collect();
    let is_echo = |d: &Diagnostic| {
        any(&places, d.span)
            || broken.iter().any(|stray| unread(trees, stray, d))
            || any(&tangled, d.span) && !(d.code == Code::MissingBlock && beside(d) < 2)
            || d.code == Code::AllowWithoutEffect
            || WHOLE_BLOCK.contains(&d.code) && touches(&blocks, d)
            || WHOLE_SET.contains(&d.code)
    };
    // Beside what is wrong with a line's shape, one mistake of its own is believed.
    let shapes: Vec<Span> = broken.iter().filter_map(|d| reach(trees, d)).collect();
    let mut told: BTreeSet<Span> = BTreeSet::new();
    let mut is_more = |d: &Diagnostic| match shapes.iter().find(|lines| overlap(**lines, d.span)) {
        Some(lines) => !told.insert(*lines),
        None => false,
    };
    found.into_iter().filter(|d| !is_echo(d) && !is_more(d)).collect()
}

/// Whether a finding only says that something is missing, or too much, right beside text that could not be read, or
/// stands behind text that takes the rest of its line with it.
fn unread(trees: &[Tree], stray: &Diagnostic, found: &Diagnostic) -> bool {
    let tree = trees.iter().find(|tree| tree.source.id == stray.span.file);
    let Some(tree) = tree.filter(|_| found.span.file == stray.span.file) else { return false };
    let touch = |left: Span, right: Span| {
        let between = Span { start: left.end, end: right.start, ..left };
        left.end <= right.start && tree.source.slice(between).chars().all(|c| c == ' ' || c == '\t')
    };
    // A comma in the place of a setting's word.
    if stray.code == Code::MissingItem {
        return found.code == Code::UnknownSetting && touch(stray.span, found.span);
    }
    if stray.code != Code::StrayText {
        return false;
    }
    let behind = stray.span.end <= found.span.start && overlap(tree.source.lines(stray.span), found.span);
    let lacks = matches!(found.code, Code::MissingValue | Code::MissingName | Code::MissingBlock | Code::BrokenGuard);
    let dangles = lacks || found.code == Code::LeftOver;
    lacks && touch(found.span, stray.span)
        || dangles && touch(stray.span, found.span)
        || behind && syntax::swallows(&tree.source, stray)
}

/// The lines that a broken shape makes doubtful: its own, and where a piece is missing all that its statement runs on to.
fn reach(trees: &[Tree], diagnostic: &Diagnostic) -> Option<Span> {
    let mut whole = diagnostic.span;
    let mut inside = around(trees, whole).next().filter(|_| diagnostic.code == Code::MissingItem);
    while let Some(statement) = inside {
        let items = statement.items.first().zip(statement.items.last()).map(|(a, b)| a.span.to(b.span));
        if let Some(items) = items.filter(|items| overlap(*items, diagnostic.span)) {
            whole = whole.to(items);
            break;
        }
        let mut below = statement.block.iter().flat_map(|block| &block.statements);
        inside = below.find(|inner| overlap(inner.span, diagnostic.span));
    }
    lines(trees, whole)
}

/// Drops what is an echo of errors among the findings themselves. Tests decide nothing, so an error in one hides nothing.
pub(super) fn of_errors(trees: &[Tree], found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let certain = |d: &&Diagnostic| {
        d.level() == Level::Error
            && d.code != Code::NotYetInEffect
            && !WHOLE_SET.contains(&d.code)
            && !WHOLE_BLOCK.contains(&d.code)
    };
    let is_test = |s: &&Statement| s.keyword() == Some(Block::Test.word());
    let around: Vec<&Statement> = found.iter().filter(certain).flat_map(|d| around(trees, d.span)).collect();
    let decides = around.iter().any(|s| !is_test(s)) || found.iter().any(|d| WHOLE_BLOCK.contains(&d.code));
    let broken: Vec<Span> = around.iter().map(|s| s.span).collect();
    let is_echo = |d: &Diagnostic| {
        WHOLE_SET.contains(&d.code) && decides
            // The key may be what is broken.
            || d.code == Code::KeyMissing && any(&broken, d.span)
    };
    found.into_iter().filter(|d| !is_echo(d)).collect()
}

/// The top-level statements that a place lies in.
fn around(trees: &[Tree], place: Span) -> impl Iterator<Item = &Statement> {
    let tree = trees.iter().find(|tree| tree.source.id == place.file);
    let statements = tree.map_or(&[][..], |tree| &tree.statements);
    let first = statements.partition_point(|s| s.span.end < place.start);
    statements.iter().skip(first).take_while(move |s| s.span.start <= place.end)
}

fn touches(blocks: &[Span], diagnostic: &Diagnostic) -> bool {
    any(blocks, diagnostic.span) || diagnostic.labels.iter().any(|label| any(blocks, label.span))
}

fn any(places: &[Span], span: Span) -> bool {
    places.iter().any(|place| overlap(*place, span))
}

fn overlap(a: Span, b: Span) -> bool {
    a.file == b.file && a.start <= b.end && b.start <= a.end
}

/// The whole lines of a span.
fn lines(trees: &[Tree], span: Span) -> Option<Span> {
    trees.iter().find(|tree| tree.source.id == span.file).map(|tree| tree.source.lines(span))
}
