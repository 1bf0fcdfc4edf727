//! `order`: `as-written`, `price`, `latency [every D]`, `score [every D] { latency P; price P; quality P }`.

use crate::check::context::Context;
use crate::check::cursor::Cursor;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Millis, Order, Percent, Weights};
use crate::source::Span;
use crate::syntax::tree::{Item, Statement};

/// What may stand after `order`.
const WAYS: &str = "`as-written`, `price`, `latency` or `score`";

/// Lowers an `order` statement.
pub(super) fn lower<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Order> {
    let keyword = statement.items.first()?;
    let mut cursor = Cursor::new(statement.items.get(1..).unwrap_or_default(), keyword.span);
    let way = cursor.due(WAYS, &mut cx.diagnostics)?;
    let scored = way.is("score");
    if !scored && let Some(block) = &statement.block {
        cx.report(
            Diagnostic::new(Code::UnexpectedBlock, block.span, "only `order score` takes a block")
                .help("take the braces and what is in them away, or write `order score`"),
        );
        return None;
    }
    let order = match way.word() {
        Some("as-written") => Order::AsWritten,
        Some("price") => Order::Price,
        Some("latency") => Order::Latency { every: every(cx, &mut cursor)? },
        Some("score") => {
            let every = every(cx, &mut cursor)?;
            Order::Score { every, weights: weights(cx, statement, way.span)? }
        }
        Some(_) | None => {
            cx.report(value::wrong(way, WAYS));
            return None;
        }
    };
    if let (Order::Price | Order::AsWritten, Some(word)) = (&order, cursor.peek().filter(|item| item.is("every"))) {
        every(cx, &mut cursor)?;
        let span = word.span.to(statement.items.last().unwrap_or(word).span);
        cx.report(without_effect(order, way, span));
    }
    cursor.finish(&mut cx.diagnostics).then_some(order)
}

/// What a request costs is known without looking, and what is written is never ranked.
fn without_effect(order: Order, way: &Item, every: Span) -> Diagnostic {
    let why = match order {
        Order::Price => "what a request costs is known with each request",
        Order::AsWritten | Order::Latency { .. } | Order::Score { .. } => "this order never changes",
    };
    Diagnostic::new(Code::WithoutEffect, every, "nothing is measured here, so nothing is ranked anew")
        .here("changes nothing")
        .label(way.span, why)
        .help("take `every` away: it goes with `latency` and `score`")
        .fix("take `every` away", Span { start: way.span.end, ..every }, "", true)
}

fn every<'a>(cx: &mut Context<'a>, cursor: &mut Cursor<'a>) -> Option<Millis> {
    if !cursor.take_word("every") {
        return Some(Order::EVERY);
    }
    let item = cursor.due("how often it is ranked anew", &mut cx.diagnostics)?;
    value::time(item, &mut cx.diagnostics)
}

fn weights<'a>(cx: &mut Context<'a>, statement: &'a Statement, way: Span) -> Option<Weights> {
    let Some(block) = &statement.block else {
        cx.report(
            Diagnostic::new(Code::MissingBlock, way, "this score has no weights")
                .help("write them in braces: `order score { latency 50%; price 30%; quality 20% }`"),
        );
        return None;
    };
    let mut seen: [Option<(Percent, Span)>; 3] = [None; 3];
    let mut whole = true;
    for line in &block.statements {
        let read = weight(cx, line);
        let Some((at, share, span)) = read else {
            whole = false;
            continue;
        };
        let Some(slot) = seen.get_mut(at) else { continue };
        if let Some((_, first)) = slot {
            cx.report(
                Diagnostic::new(Code::DuplicateSetting, span, "this is weighed twice")
                    .label(*first, "the first time")
                    .help("keep one of them"),
            );
            whole = false;
        }
        *slot = Some((share, span));
    }
    let share = |slot: Option<(Percent, Span)>| slot.map_or(Percent::NONE, |(share, _)| share);
    let [latency, price, quality] = seen.map(share);
    let sum: u64 = [latency, price, quality].iter().map(|share| u64::from(share.0)).sum();
    if whole && sum != u64::from(Percent::ALL.0) {
        let sum = Percent(u32::try_from(sum).unwrap_or(u32::MAX));
        cx.report(
            Diagnostic::new(Code::ScoreNotWhole, block.span, format!("these weights add up to {sum}"))
                .help("let the weights of `latency`, `price` and `quality` add up to 100%"),
        );
        whole = false;
    }
    whole.then_some(Weights { latency, price, quality })
}

/// `latency 50%`
fn weight<'a>(cx: &mut Context<'a>, line: &'a Statement) -> Option<(usize, Percent, Span)> {
    const MEASURES: [&str; 3] = ["latency", "price", "quality"];
    if let Some(block) = &line.block {
        cx.report(
            Diagnostic::new(Code::UnexpectedBlock, block.span, "a weight takes no block")
                .help("take the braces and what is in them away"),
        );
    }
    let mut cursor = Cursor::new(&line.items, line.span);
    let measure: &Item = cursor.due("`latency`, `price` or `quality`", &mut cx.diagnostics)?;
    let Some(at) = MEASURES.iter().position(|word| measure.is(word)) else {
        cx.report(value::wrong(measure, "`latency`, `price` or `quality`"));
        return None;
    };
    let share = cursor.due("its weight", &mut cx.diagnostics)?;
    let share = value::percent(share, &mut cx.diagnostics)?;
    cursor.finish(&mut cx.diagnostics).then_some((at, share, measure.span))
}
