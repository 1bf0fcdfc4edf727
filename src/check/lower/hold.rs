//! The `hold` lines of a breaker: for how long nobody is sent to what asks for time.
//!
//! In: the settings of a `breaker` block. Out: a rule for each class. A line replaces inherited and default ones for the
//! classes that it names, and says all of them: without `default` there is no hold where there is no hint.

use super::matrix;
use super::trigger::parts;
use crate::check::context::{Context, Decl};
use crate::check::cursor::Cursor;
use crate::check::fields::Fields;
use crate::check::resolution::{Origin, Resolved};
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::breaker::{BreakerScope, HoldRule, HoldRules};
use crate::policy::{Class, ClassSet};
use crate::source::Span;
use crate::syntax::tree::{ItemKind, Statement};

/// The `hold` lines, those furthest back first, so that own ones replace inherited ones class by class.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>, fields: &Fields<'a>) -> Option<HoldRules> {
    let mut rules = HoldRules::default();
    let mut origins: Vec<(ClassSet, Origin)> = Vec::new();
    let mut whole = true;
    for (home, lines) in fields.decls().iter().zip(fields.generations("hold")).rev() {
        let mut seen: Vec<(ClassSet, Span)> = Vec::new();
        for statement in lines {
            let Some((classes, rule)) = hold(cx, statement) else {
                whole = false;
                continue;
            };
            let twice = |(other, _): &&(ClassSet, Span)| !other.intersection(classes).is_empty();
            if let Some((_, first)) = seen.iter().find(twice) {
                cx.report(
                    Diagnostic::new(Code::DuplicateSetting, statement.span, "a second hold for the same class")
                        .label(*first, "the first one")
                        .help("keep one of them"),
                );
                whole = false;
            }
            seen.push((classes, statement.span));
            rules = classes.iter().fold(rules, |rules, class| rules.with(class, Some(rule)));
            origins.push((
                classes,
                match home.name == decl.name {
                    true => Origin::Written(statement.span),
                    false => Origin::Inherited { from: home.name.clone(), span: statement.span },
                },
            ));
        }
    }
    note(cx, decl, &rules, &origins);
    whole.then_some(rules)
}

/// Notes for the listing what each class came to: the line that speaks of it last decided.
fn note<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>, rules: &HoldRules, origins: &[(ClassSet, Origin)]) {
    if !cx.is_listed(decl) {
        return;
    }
    let word = "hold".to_owned();
    cx.resolved.retain(|note| note.block != decl.block || note.name != decl.name || note.word != word);
    for class in Class::ALL {
        let Some(rule) = rules.of(*class) else { continue };
        let default = rule.default.map_or(String::new(), |time| format!(", default {time}"));
        let origin = origins.iter().rev().find(|(classes, _)| classes.contains(*class));
        cx.resolved.push(Resolved {
            block: decl.block,
            name: decl.name.clone(),
            word: word.clone(),
            value: format!("{class} up to {}{default}", rule.cap),
            origin: origin.map_or(Origin::Default, |(_, origin)| origin.clone()),
        });
    }
}

/// `CLASS[, CLASS…] up to D[, default D]`
fn hold<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<(ClassSet, HoldRule)> {
    let items = cx.value_items(statement)?;
    let at = items.iter().position(|item| item.is("up")).unwrap_or(items.len());
    let (head, rest) = items.split_at_checked(at)?;
    let mut classes = ClassSet::default();
    let mut whole = true;
    for part in head.split(|item| item.kind == ItemKind::Comma) {
        let [item] = part else {
            let odd = part.get(1).or(head.first());
            cx.report(match odd {
                Some(item) => value::wrong(item, "a comma or `up to`").help("write `hold CLASS up to D, default D`"),
                None => value::missing("a failure class", statement.items.first().map_or(statement.span, |i| i.span)),
            });
            return None;
        };
        let Some(set) = matrix::class(item, &mut cx.diagnostics) else {
            whole = false;
            continue;
        };
        let blameless = |class: &Class| BreakerScope::of_class(*class).is_none();
        if let Some(class) = set.iter().find(blameless) {
            cx.report(
                Diagnostic::new(Code::WrongValue, item.span, format!("`{class}` holds nothing"))
                    .here("says nothing about the target")
                    .help("a hold is for failures that a target, an account or a region is to blame for"),
            );
            whole = false;
        }
        classes = classes.union(set);
    }
    let mut cursor = Cursor::new(rest, head.last().map_or(statement.span, |item| item.span));
    cursor.due_word("up", &mut cx.diagnostics)?;
    cursor.due_word("to", &mut cx.diagnostics)?;
    let item = cursor.due("the longest time", &mut cx.diagnostics)?;
    let cap = value::duration(item, &mut cx.diagnostics)?;
    let mut default = None;
    parts(cx, cursor, &["default"], |cx, _, cursor| {
        let item = cursor.due("a duration", &mut cx.diagnostics)?;
        let time = value::duration(item, &mut cx.diagnostics)?;
        if time > cap {
            cx.report(
                Diagnostic::new(Code::OutOfRange, item.span, format!("a default of {time} is above its own cap"))
                    .here(format!("more than {cap}"))
                    .help("write a default up to the longest time"),
            );
            return None;
        }
        default = Some(time);
        Some(())
    })?;
    whole.then_some((classes, HoldRule { cap, default }))
}
