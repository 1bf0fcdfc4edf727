//! `contract`.

use super::model::abilities;
use crate::check::context::{Context, Decl};
use crate::check::read::end_of;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Comparison, Contract, Prices, StructuredOutput, Tools};
use crate::syntax::settings::Block;
use crate::syntax::tree::{Item, ItemKind, Statement};

/// Lowers a `contract` block, what it extends included.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<Contract> {
    let fields = cx.fields(decl);
    let abilities = abilities(cx, Block::Contract, &fields);
    let context = fields.optional(cx, "context", |cx, s| limit(cx, s, Comparison::AtLeast, value::count));
    let max_output = fields.optional(cx, "max-output", |cx, s| limit(cx, s, Comparison::AtLeast, value::count));
    let regions = fields.or(cx, "regions", Vec::new(), |cx, s| {
        let item = cx.single(s)?;
        let patterns = value::patterns(item, &mut cx.diagnostics)?;
        Some(patterns.into_iter().map(|pattern| pattern.value).collect())
    });
    let retention = fields.optional(cx, "retention", |cx, s| limit(cx, s, Comparison::AtMost, value::duration));
    let prices = prices(cx, &fields.all("price"));
    let output_limit =
        fields.optional(cx, "output-limit", |cx, s| cx.one_of(Block::Contract, "output-limit", s).map(|_| ()));
    output_limit?;
    let abilities = abilities?;
    Some(Contract {
        name: decl.name.clone(),
        span: decl.name_span,
        docs: decl.statement.docs.clone(),
        modalities: abilities.modalities.unwrap_or_default(),
        streaming: abilities.streaming.unwrap_or(false),
        tools: abilities.tools.unwrap_or(Tools::No),
        structured_output: abilities.structured_output.unwrap_or(StructuredOutput::None),
        context: context?,
        max_output: max_output?,
        prefill: abilities.prefill.unwrap_or(false),
        reasoning: abilities.reasoning.unwrap_or(false),
        regions: regions?,
        retention: retention?,
        prices: prices?,
    })
}

/// A value with the one comparison that makes sense for it.
fn limit<'a, T>(
    cx: &mut Context<'a>,
    statement: &'a Statement,
    due: Comparison,
    read: fn(&Item, &mut Vec<Diagnostic>) -> Option<T>,
) -> Option<T> {
    let items = cx.value_items(statement)?;
    if let Some(first @ Item { kind: ItemKind::Number(number), .. }) = items.first() {
        let meant = format!("{} {number}", due.text());
        let fix = format!("write `{meant}`");
        cx.report(value::wrong(first, "a comparison").help(fix.clone()).fix(fix, first.span, meant, false));
        return None;
    }
    let (written, item) = value::comparison(items, end_of(statement), &mut cx.diagnostics)?;
    let value = read(item, &mut cx.diagnostics);
    direction(cx, items, written, due)?;
    value
}

fn direction(cx: &mut Context<'_>, items: &[Item], written: Comparison, due: Comparison) -> Option<()> {
    if written == due {
        return Some(());
    }
    let first = items.first()?;
    let (what, due) = match due {
        Comparison::AtMost => ("the most", "<="),
        Comparison::AtLeast | Comparison::Equal | Comparison::NotEqual | Comparison::Less | Comparison::Greater => {
            ("the least", ">=")
        }
    };
    cx.report(
        Diagnostic::new(Code::ContractDirection, first.span, format!("a contract states {what} that will do here"))
            .here(format!("`{}` does not", written.text()))
            .help(format!("write `{due}`"))
            .fix(format!("write `{due}`"), first.span, due, false),
    );
    None
}

/// `price <= $20/M out`, as often as needed.
fn prices<'a>(cx: &mut Context<'a>, statements: &[&'a Statement]) -> Option<Prices> {
    let mut all = Prices::default();
    let mut whole = true;
    for statement in statements {
        let Some(prices) = price(cx, statement) else {
            whole = false;
            continue;
        };
        for (slot, new) in
            [(&mut all.input, prices.input), (&mut all.cached, prices.cached), (&mut all.output, prices.output)]
        {
            if slot.is_some() && new.is_some() {
                let span = statement.items.first().map_or(statement.span, |item| item.span);
                cx.report(
                    Diagnostic::new(Code::DuplicateSetting, span, "a second limit for the price of the same tokens")
                        .help("keep one of them"),
                );
                whole = false;
            }
            *slot = new.or(*slot);
        }
    }
    whole.then_some(all)
}

fn price<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Prices> {
    let items = cx.value_items(statement)?;
    let mut prices = Prices::default();
    let mut whole = true;
    for part in items.split(|item| matches!(item.kind, ItemKind::Comma)) {
        let Some((first, rest)) = part.split_first() else { continue };
        let ItemKind::Operator(operator) = first.kind else {
            cx.report(value::wrong(first, "a comparison").help("write `<=` before the price: `price <= $20/M out`"));
            whole = false;
            continue;
        };
        whole &= direction(cx, part, value::relation(operator), Comparison::AtMost).is_some();
        match cx.prices_of(rest) {
            Some(part) => {
                prices.input = part.input.or(prices.input);
                prices.cached = part.cached.or(prices.cached);
                prices.output = part.output.or(prices.output);
            }
            None => whole = false,
        }
    }
    whole.then_some(prices)
}
