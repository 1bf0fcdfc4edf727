//! Rates: so many in each span of time.
//!
//! In: an item. Out: the rate, or nothing after a diagnostic has said what is due. Never more than one of a unit.

use super::{describe, quantity, wrong};
use crate::diag::{Code, Diagnostic};
use crate::policy::{Millis, Rate};
use crate::syntax::tree::{Item, ItemKind};

/// The spans that a rate may be of.
const SPANS: [(&str, u64); 4] = [("s", 1_000), ("min", 60_000), ("h", 3_600_000), ("day", 86_400_000)];
const DUE: &str = "a rate";
const HELP: &str = "write a rate such as `20/s`, `600/min` or `5/h`";

/// A rate: `20/s`, `600/min`, `5/h`, `1/day`.
pub fn rate(item: &Item, out: &mut Vec<Diagnostic>) -> Option<Rate> {
    let text = match &item.kind {
        ItemKind::Number(text) => text.as_str(),
        ItemKind::Word(_)
        | ItemKind::Str(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => {
            out.push(wrong(item, DUE).help(HELP));
            return None;
        }
    };
    let Some((count, unit)) = text.split_once('/') else {
        let plain = text.bytes().all(|b| b.is_ascii_digit());
        out.push(match plain {
            true => Diagnostic::new(Code::MissingUnit, item.span, format!("`{text}` has no unit"))
                .here("a rate is due")
                .help(HELP)
                .fix(format!("write `{text}/s`"), item.span, format!("{text}/s"), false),
            false => {
                let is = quantity::kind(text).map_or("not of a unit that the language knows", quantity::Kind::name);
                Diagnostic::new(Code::WrongUnit, item.span, format!("a rate is due here, and `{text}` is {is}"))
                    .here("a rate is due")
                    .help(HELP)
            }
        });
        return None;
    };
    let per = SPANS.iter().find(|(word, _)| *word == unit).map(|(_, per)| Millis(*per));
    let digits = !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit());
    let (Some(per), true) = (per, digits) else {
        out.push(
            Diagnostic::new(Code::WrongUnit, item.span, format!("{} is no such rate", describe(item)))
                .here("a whole number in each `s`, `min`, `h` or `day` is due")
                .help(HELP),
        );
        return None;
    };
    let Ok(count) = count.parse() else {
        out.push(
            Diagnostic::new(Code::OutOfRange, item.span, format!("{} is too large", describe(item)))
                .here("too large")
                .help(HELP),
        );
        return None;
    };
    Some(Rate { count, per })
}
