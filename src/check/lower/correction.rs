//! `failure STATUS "code or phrase" is CLASS`: what a policy knows better about a target's failures.

use crate::check::context::Context;
use crate::check::cursor::Cursor;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Class, Correction};
use crate::syntax::tree::Statement;

/// The corrections of a target, in the order of their lines; the first that fits will hold.
pub(super) fn all<'a>(cx: &mut Context<'a>, statements: &[&'a Statement]) -> Option<Vec<Correction>> {
    let mut known: Vec<Correction> = Vec::new();
    let mut whole = true;
    for statement in statements {
        let Some(row) = one(cx, statement) else {
            whole = false;
            continue;
        };
        let covers = |earlier: &&Correction| {
            earlier.status == row.status && (earlier.text.is_none() || earlier.text == row.text)
        };
        if let Some(at) = known.iter().position(|earlier| covers(&earlier)) {
            let first = statements.get(at).map_or(statement.span, |s| s.span);
            cx.report(
                Diagnostic::new(Code::DuplicateSetting, statement.span, "an earlier correction covers this one")
                    .label(first, "the earlier one")
                    .help("remove one of them, or put the one with a code or phrase first"),
            );
            whole = false;
        }
        known.push(row);
    }
    whole.then_some(known)
}

fn one<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Correction> {
    let items = cx.value_items(statement)?;
    let out = &mut cx.diagnostics;
    let mut cursor = Cursor::new(items, statement.span);
    // A success is no failure, whatever the policy says.
    let status = value::integer(cursor.due("a status", out)?, 300, 599, out)?;
    let text = cursor.peek().zip(cursor.take_string());
    if let Some((item, "")) = text {
        let found = Diagnostic::new(Code::OutOfRange, item.span, "an empty text stands in every failure");
        out.push(found.help("write a code or a piece of the message, or leave the text out"));
        return None;
    }
    let text = text.map(|(_, text)| text.to_owned());
    cursor.due_word("is", out)?;
    let item = cursor.due("a failure class", out)?;
    let Some(class) = item.word().and_then(Class::from_word) else {
        let mut found = match item.word() {
            Some(word) => value::unknown_word(word, item.span, "a failure class", Class::ALL.iter().map(|c| c.word())),
            None => value::wrong(item, "a failure class"),
        };
        found.code = Code::UnknownClass;
        out.push(found);
        return None;
    };
    if class == Class::PartialStream {
        out.push(
            Diagnostic::new(Code::OutOfRange, item.span, "no status is a `partial-stream`")
                .here("that is what broke after output, and nothing else")
                .help("name the class that it would be before output"),
        );
        return None;
    }
    let status = u16::try_from(status).ok()?;
    cursor.finish(out).then_some(Correction { status, text, class })
}

#[cfg(test)]
mod tests {
    use crate::check::sample::{diagnostics, text};
    use crate::diag::Code;

    fn with(lines: &str) -> Vec<(Code, String)> {
        let target = format!(
            "target one {{ model small; provider left; {lines} }}\ntarget two {{ model small; provider right }}"
        );
        let text = text(&[("target", &target)]);
        let found = diagnostics(&text).into_iter();
        found.map(|d| (d.code, text[d.span.start as usize..d.span.end as usize].to_owned())).collect()
    }

    #[test]
    fn a_correction_names_a_failure_and_a_class() {
        assert_eq!(with("failure 400 \"no seats\" is overloaded; failure 400 is server-error"), []);
        let one = |code, at: &str| vec![(code, at.to_owned())];
        assert_eq!(with("failure 200 is overloaded"), one(Code::OutOfRange, "200"));
        assert_eq!(with("failure 400 is partial-stream"), one(Code::OutOfRange, "partial-stream"));
        assert_eq!(with("failure 400 is overloadd"), one(Code::UnknownClass, "overloadd"));
        assert_eq!(with("failure 400 overloaded").len(), 1);
        assert_eq!(with("failure 400 \"\" is overloaded"), one(Code::OutOfRange, "\"\""));
    }

    #[test]
    fn a_correction_that_can_never_hold_is_refused() {
        let found = with("failure 400 is overloaded; failure 400 \"x\" is auth");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, Code::DuplicateSetting);
    }
}
