//! The `spend` lines of a budget: the most that a request, and a day, may cost.
//!
//! In: the settings of a `budget` block. Out: a cap for each unit that one is written for. A line replaces the inherited
//! one of its unit and leaves the other alone.

use crate::check::context::{Context, Decl};
use crate::check::cursor::Cursor;
use crate::check::fields::Fields;
use crate::check::resolution::{Origin, Resolved};
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Beyond, DaySpend, Money};
use crate::source::Span;
use crate::syntax::tree::{Item, ItemKind, Statement};

/// The caps of a budget.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spend {
    /// `$X/request`
    pub per_request: Option<Money>,
    /// `$X/day then …`
    pub per_day: Option<DaySpend>,
}

/// One line.
enum Line {
    Request(Money),
    Day(DaySpend),
}

/// The `spend` lines, those furthest back first, so that own ones replace inherited ones unit by unit.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>, fields: &Fields<'a>) -> Option<Spend> {
    let mut spend = Spend::default();
    let mut notes: Vec<(bool, String, Origin)> = Vec::new();
    let mut whole = true;
    for (home, lines) in fields.decls().iter().zip(fields.generations("spend")).rev() {
        let mut seen: Vec<(bool, Span)> = Vec::new();
        for statement in lines {
            let Some(line) = line(cx, statement) else {
                whole = false;
                continue;
            };
            let a_day = matches!(line, Line::Day(_));
            if let Some((_, first)) = seen.iter().find(|(day, _)| *day == a_day) {
                let unit = if a_day { "day" } else { "request" };
                cx.report(
                    Diagnostic::new(Code::DuplicateSetting, statement.span, format!("a second cap for a {unit}"))
                        .label(*first, "the first one")
                        .help("keep one of them"),
                );
                whole = false;
                continue;
            }
            seen.push((a_day, statement.span));
            match line {
                Line::Request(cap) => spend.per_request = Some(cap),
                Line::Day(day) => spend.per_day = Some(day),
            }
            let origin = match home.name == decl.name {
                true => Origin::Written(statement.span),
                false => Origin::Inherited { from: home.name.clone(), span: statement.span },
            };
            notes.retain(|(day, ..)| *day != a_day);
            let text = cx.names.slice(statement.span).split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
            notes.push((a_day, text, origin));
        }
    }
    note(cx, decl, notes);
    whole.then_some(spend)
}

/// Notes for the listing what each unit came to.
fn note<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>, notes: Vec<(bool, String, Origin)>) {
    if !cx.is_listed(decl) || notes.is_empty() {
        return;
    }
    let (block, word) = (decl.block, "spend".to_owned());
    cx.resolved.retain(|note| note.block != block || note.name != decl.name || note.word != word);
    for (_, value, origin) in notes {
        cx.resolved.push(Resolved { block, name: decl.name.clone(), word: word.clone(), value, origin });
    }
}

/// `$X/request`, or `$X/day [then stop|then use TIER]`
fn line<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Line> {
    let mut cursor = Cursor::new(cx.value_items(statement)?, statement.span);
    let first = cursor.due("an amount, such as `$0.60/request` or `$5/day`", &mut cx.diagnostics)?;
    let units = match &first.kind {
        ItemKind::Number(text) => (text.strip_suffix("/request"), text.strip_suffix("/day")),
        ItemKind::Word(_)
        | ItemKind::Str(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => (None, None),
    };
    let line = match units {
        (Some(amount), _) => Line::Request(money(cx, amount, first)?),
        (None, Some(amount)) => {
            let cap = money(cx, amount, first);
            let then = if cursor.is_done() { Some(Beyond::Stop) } else { beyond(cx, &mut cursor) };
            Line::Day(DaySpend { cap: cap?, then: then? })
        }
        (None, None) => {
            cx.report(value::wrong(first, "an amount for a request or a day, such as `$0.60/request` or `$5/day`"));
            return None;
        }
    };
    cursor.finish(&mut cx.diagnostics).then_some(line)
}

fn money(cx: &mut Context<'_>, amount: &str, item: &Item) -> Option<Money> {
    let amount = Item { kind: ItemKind::Number(amount.to_owned()), span: item.span };
    value::money(&amount, &mut cx.diagnostics)
}

/// `then stop` or `then use TIER`
fn beyond(cx: &mut Context<'_>, cursor: &mut Cursor<'_>) -> Option<Beyond> {
    cursor.due_word("then", &mut cx.diagnostics)?;
    let what = cursor.due("`stop` or `use TIER`", &mut cx.diagnostics)?;
    match what.word() {
        Some("stop") => Some(Beyond::Stop),
        Some("use") => {
            let tier = cursor.due("the name of a tier", &mut cx.diagnostics)?;
            Some(Beyond::Use(cx.tier(tier)?))
        }
        Some(_) | None => {
            cx.report(value::wrong(what, "`stop` or `use TIER`").help("write `then stop` or `then use TIER`"));
            None
        }
    }
}
