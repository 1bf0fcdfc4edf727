//! Values: what one item, or a few, mean as numbers with units, texts, lists and words of a fixed choice.
//!
//! In: items of the tree, and the sink of diagnostics. Out: the typed value, or nothing after one diagnostic has named
//! what is due, what is there instead, and where possible the text that was meant. Never looks a name up, never knows
//! which setting it reads for, and never repeats a string of the policy in a message, since it might be a secret.

mod key;
mod quantity;
mod rate;
mod reference;
#[cfg(test)]
mod tests;
mod text;

pub use key::{SHORTEST as SHORTEST_KEY, in_address as key_in_address, literal as key_literal, looks_like_key};
pub use quantity::Kind;
pub use rate::rate;
pub use reference::{of_a_shell, secret, text, verbatim};
pub use text::{
    choice, is_name, label, labels, list, name, names, one_each, pattern, patterns, string, strings, truth,
    unknown_word,
};

use crate::diag::{Code, Diagnostic};
use crate::policy::class::Verb;
use crate::policy::{Comparison, Millis, Money, Multiple, Percent, Price};
use crate::source::Span;
use crate::syntax::tree::{Item, ItemKind, Operator};
use quantity::Trouble;

/// A duration: `250ms`, `8s`, `2m`, `1h`, `7d`, whole milliseconds.
pub fn duration(item: &Item, out: &mut Vec<Diagnostic>) -> Option<Millis> {
    number(item, Kind::Duration, out).map(Millis)
}

/// A duration longer than nothing.
pub fn time(item: &Item, out: &mut Vec<Diagnostic>) -> Option<Millis> {
    let time = duration(item, out)?;
    if time == Millis::ZERO {
        out.push(
            Diagnostic::new(Code::OutOfRange, item.span, "no time at all").help("write a time longer than nothing"),
        );
        return None;
    }
    Some(time)
}

/// A percentage from 0% to 100%, two decimals at most.
pub fn percent(item: &Item, out: &mut Vec<Diagnostic>) -> Option<Percent> {
    let share = number(item, Kind::Percentage, out)?;
    match u32::try_from(share) {
        Ok(share @ 0..=10_000) => Some(Percent(share)),
        Ok(_) | Err(_) => {
            out.push(out_of_range(item, "more than 100%", "a share is at most `100%`"));
            None
        }
    }
}

/// A count: `3`, `64k` = 64 000, `1M`.
pub fn count(item: &Item, out: &mut Vec<Diagnostic>) -> Option<u64> {
    number(item, Kind::Count, out)
}

/// A plain number from `least` to `most`, without a unit: attempts, statuses, versions.
pub fn integer(item: &Item, least: u32, most: u32, out: &mut Vec<Diagnostic>) -> Option<u32> {
    let plain = matches!(&item.kind, ItemKind::Number(text) if text.bytes().all(|b| b.is_ascii_digit()));
    if !plain {
        let wrong = wrong(item, "a plain number").help("a number without a unit and without a point: `3`");
        let spelled = COUNTS.iter().find(|(word, _)| item.is(word)).map(|(_, count)| count.to_string());
        out.push(match spelled {
            Some(count) => {
                wrong.help(format!("write `{count}`")).fix(format!("write `{count}`"), item.span, count, false)
            }
            None => wrong,
        });
        return None;
    }
    let value = number(item, Kind::Count, out)?;
    match u32::try_from(value) {
        Ok(value) if (least..=most).contains(&value) => Some(value),
        Ok(_) | Err(_) => {
            let bounds = match most {
                u32::MAX => format!("at least {least}"),
                _ => format!("from {least} to {most}"),
            };
            out.push(out_of_range(item, &format!("not {bounds}"), &format!("write a number {bounds}")));
            None
        }
    }
}

/// An amount of money: `$0.05`, nine decimals at most.
pub fn money(item: &Item, out: &mut Vec<Diagnostic>) -> Option<Money> {
    number(item, Kind::Money, out).map(Money)
}

/// A price for a million tokens: `$2.50/M`, nine decimals at most.
pub fn price(item: &Item, out: &mut Vec<Diagnostic>) -> Option<Price> {
    number(item, Kind::Price, out).map(Price)
}

/// A size in bytes: `64KiB`, `1MiB`.
pub fn size(item: &Item, out: &mut Vec<Diagnostic>) -> Option<u64> {
    number(item, Kind::Size, out)
}

/// A multiple of at least so many thousandths: `2.5x` is 2 500.
pub fn multiple(item: &Item, least: u32, out: &mut Vec<Diagnostic>) -> Option<Multiple> {
    let thousandths = number(item, Kind::Multiple, out)?;
    match u32::try_from(thousandths) {
        Ok(times) if times >= least => Some(Multiple(times)),
        Ok(_) => {
            let bound = Multiple(least);
            out.push(out_of_range(item, &format!("less than {bound}"), &format!("write a multiple from `{bound}` on")));
            None
        }
        Err(_) => {
            out.push(out_of_range(item, "too large", "write a multiple such as `2.5x`"));
            None
        }
    }
}

/// `>= VALUE`: the comparison and the one item after it, which the caller reads. `end` is where something was due if
/// there is nothing.
pub fn comparison<'a>(items: &'a [Item], end: Span, out: &mut Vec<Diagnostic>) -> Option<(Comparison, &'a Item)> {
    let Some((first, rest)) = items.split_first() else {
        out.push(missing("a comparison", end));
        return None;
    };
    let ItemKind::Operator(operator) = first.kind else {
        let message = format!("a comparison is due before {}", describe(first));
        out.push(
            Diagnostic::new(Code::MissingValue, first.span, message)
                .here("the value")
                .help("write `==`, `<=` or `>=` before the value"),
        );
        return None;
    };
    let Some((value, rest)) = rest.split_first() else {
        out.push(missing("a value", first.span));
        return None;
    };
    left_over(rest, out);
    Some((relation(operator), value))
}

/// The comparison that an operator writes.
pub fn relation(operator: Operator) -> Comparison {
    match operator {
        Operator::Equal => Comparison::Equal,
        Operator::NotEqual => Comparison::NotEqual,
        Operator::Less => Comparison::Less,
        Operator::AtMost => Comparison::AtMost,
        Operator::Greater => Comparison::Greater,
        Operator::AtLeast => Comparison::AtLeast,
    }
}

/// Words for counts, as people say them where the language has figures.
const COUNTS: [(&str, u32); 8] =
    [("one", 1), ("twice", 2), ("two", 2), ("thrice", 3), ("three", 3), ("four", 4), ("five", 5), ("ten", 10)];

/// `once` or `N times`: how often, and how many items that took. Nothing, and no diagnostic, where neither stands.
pub fn times(items: &[Item], out: &mut Vec<Diagnostic>) -> Option<(Option<u32>, usize)> {
    let first = items.first()?;
    if first.is("once") {
        return Some((Some(1), 1));
    }
    let unit = items.get(1).filter(|unit| unit.is("times") || unit.is("time"));
    let (span, read) = unit.map_or((first.span, 1), |unit| (first.span.to(unit.span), 2));
    let (message, count) = match &first.kind {
        ItemKind::Number(text) => match (unit, text.strip_suffix('x').and_then(|count| count.parse().ok())) {
            (None, Some(count)) => (format!("`{text}` is a multiple, and repetitions are counted"), count),
            (None, None) => match text.parse() {
                Ok(count) => (format!("`{text}` does not say what it counts"), count),
                Err(_) => {
                    let message = format!("`{text}` does not say what it counts");
                    let found = Diagnostic::new(Code::UnitWord, span, message).here("no count");
                    out.push(found.help("write `once`, or a number and `times`: `2 times`"));
                    return Some((None, read));
                }
            },
            (Some(unit), _) => {
                let times = integer(first, 1, 1_000_000, out);
                if times != Some(1) && unit.is("times") {
                    return Some((times, read));
                }
                ("unit words agree with their number".to_owned(), times.unwrap_or(1))
            }
        },
        ItemKind::Word(word) => {
            let (_, count) = COUNTS.iter().find(|(known, _)| known == word)?;
            (format!("`{word}` is written in figures"), *count)
        }
        ItemKind::Str(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => return None,
    };
    let meant = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    out.push(
        Diagnostic::new(Code::UnitWord, span, message)
            .here(format!("`{meant}` is meant"))
            .help(format!("write `{meant}`"))
            .fix(format!("write `{meant}`"), span, meant, false),
    );
    Some((None, read))
}

fn number(item: &Item, kind: Kind, out: &mut Vec<Diagnostic>) -> Option<u64> {
    let due = kind.name();
    let (ItemKind::Number(text) | ItemKind::Word(text)) = &item.kind else {
        out.push(wrong(item, due).help(format!("write {due} such as `{}`", kind.example())));
        return None;
    };
    let trouble = match quantity::scaled(text, kind) {
        Ok(value) => return Some(value),
        Err(trouble) => trouble,
    };
    let example = format!("write {due} such as `{}`", kind.example());
    let diagnostic = match trouble {
        Trouble::Bare => {
            let bare = Diagnostic::new(Code::MissingUnit, item.span, format!("`{text}` has no unit"));
            let bare = bare.here(format!("{due} is due")).help(example);
            // Others write shares as fractions.
            if kind == Kind::Percentage && text.starts_with("0.") {
                out.push(bare.help(format!(
                    "write a share of a hundred: `50%` for a half; `{text}%` is less than one in a hundred"
                )));
                return None;
            }
            // So many seconds are hardly meant: others count in milliseconds.
            if kind == Kind::Duration && text.len() > 3 {
                out.push(bare.help(format!("write `{text}ms` if milliseconds are meant, `{text}s` if seconds are")));
                return None;
            }
            bare
        }
        Trouble::Other(found) if matches!(item.kind, ItemKind::Number(_)) => {
            let is = found.map_or("not of a unit that the language knows", Kind::name);
            Diagnostic::new(Code::WrongUnit, item.span, format!("{due} is due here, and `{text}` is {is}"))
                .here(format!("{due} is due"))
                .help(example)
        }
        Trouble::Other(_) => wrong(item, due).help(example),
        Trouble::TooFine => out_of_range(
            item,
            &format!("finer than {}", kind.finest()),
            &format!("the finest step of {due} is {}", kind.finest()),
        ),
        Trouble::TooLarge => out_of_range(item, "too large", &format!("{example}; this one cannot be held")),
    };
    out.push(match quantity::proposal(text, kind) {
        Some(meant) => {
            let title = format!("write `{meant}`");
            diagnostic.help(title.clone()).fix(title, item.span, meant, false)
        }
        None => diagnostic,
    });
    None
}

fn out_of_range(item: &Item, how: &str, help: &str) -> Diagnostic {
    Diagnostic::new(Code::OutOfRange, item.span, format!("{} is {how}", describe(item))).here(how).help(help)
}

/// What an item is, for messages. Strings are not repeated.
pub fn describe(item: &Item) -> String {
    match &item.kind {
        ItemKind::Word(word) => format!("`{word}`"),
        ItemKind::Str(_) => "a string".to_owned(),
        ItemKind::Number(text) => format!("`{text}`"),
        ItemKind::List(_) => "a list".to_owned(),
        ItemKind::Group(_) => "something in parentheses".to_owned(),
        ItemKind::Arrow => "`->`".to_owned(),
        ItemKind::Comma => "a comma".to_owned(),
        ItemKind::Operator(operator) => format!("`{}`", operator.text()),
    }
}

/// Small words that say how what follows belongs to what stands before, as people write one for another.
const JOINING: [&str; 32] = [
    "a", "about", "after", "an", "and", "as", "at", "before", "below", "by", "code", "for", "from", "in", "if", "into",
    "is", "least", "max", "most", "of", "on", "over", "per", "status", "than", "then", "to", "until", "up", "when",
    "with",
];

/// Whether an item is a small word that joins others.
pub fn joins(item: &Item) -> bool {
    item.word().is_some_and(|word| JOINING.contains(&word))
}

/// What is said of an item that is not what is due.
pub fn wrong(item: &Item, due: &str) -> Diagnostic {
    Diagnostic::new(Code::WrongValue, item.span, format!("{due} is due here, not {}", describe(item)))
        .here(format!("{due} is due"))
        .help(format!("write {due} here"))
}

/// What is said where something is due and the statement ends.
pub fn missing(due: &str, after: Span) -> Diagnostic {
    Diagnostic::new(Code::MissingValue, after, format!("{due} is due after this"))
        .here("ends too early")
        .help(format!("add {due}"))
}

/// What is said of a value that is written in two pieces: `20 seconds`, `>= 128k`; nothing of one that is not.
pub fn apart(first: &Item, rest: &[Item]) -> Option<Diagnostic> {
    let last = rest.last()?;
    let span = first.span.to(last.span);
    let next = match (&first.kind, rest) {
        // `128,000`, as others write figures.
        (ItemKind::Number(front), [Item { kind: ItemKind::Comma, .. }, Item { kind: ItemKind::Number(back), .. }])
            if back.len() == 3 =>
        {
            let found = Diagnostic::new(Code::LeftOver, span, "numbers have no commas");
            return Some(found.fix(format!("write `{front}{back}`"), span, format!("{front}{back}"), false));
        }
        (ItemKind::Word(word), [name]) if word == "env" && name.word().is_some() => {
            let found = Diagnostic::new(Code::WrongValue, span, "this value does not come from the environment");
            return Some(found.help("write the value itself: it is reviewed with the policy"));
        }
        (_, [next]) => next,
        (_, _) => return None,
    };
    let (message, meant) = match (&first.kind, &next.kind) {
        (ItemKind::Number(number), ItemKind::Word(unit)) if number.ends_with(|c: char| c.is_ascii_digit()) => {
            let unit = match unit.as_str() {
                "ms" | "millis" | "milliseconds" => "ms",
                "s" | "sec" | "secs" | "second" | "seconds" => "s",
                "m" | "min" | "mins" | "minute" | "minutes" => "m",
                "h" | "hr" | "hour" | "hours" => "h",
                "d" | "day" | "days" => "d",
                "percent" => "%",
                "k" | "K" => "k",
                "M" => "M",
                "token" | "tokens" | "times" => "",
                _ => return None,
            };
            let message =
                if unit.is_empty() { "this is counted without a word" } else { "a number and its unit are one word" };
            (message, format!("{number}{unit}"))
        }
        (ItemKind::Operator(_), ItemKind::Number(number)) => {
            ("a value is written without a comparison here", number.clone())
        }
        _ => return None,
    };
    let found = Diagnostic::new(Code::WrongValue, span, message).here(format!("`{meant}` is meant"));
    Some(found.fix(format!("write `{meant}`"), span, meant, false))
}

/// The action that something begins or leads to: `failover`, `then failover`, `-> failover`.
fn actions<'a>(first: &'a ItemKind, next: Option<&'a ItemKind>) -> Option<&'a str> {
    let verb = |kind: &'a ItemKind| match kind {
        ItemKind::Word(word) => Some(word.as_str()).filter(|word| Verb::from_word(word).is_some()),
        ItemKind::Str(_)
        | ItemKind::Number(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => None,
    };
    verb(first).or_else(|| next.and_then(verb))
}

/// Reports items after the end of a value, if there are any; returns whether there were none.
pub fn left_over(items: &[Item], out: &mut Vec<Diagnostic>) -> bool {
    let Some(first) = items.first() else { return true };
    let span = items.last().map_or(first.span, |last| first.span.to(last.span));
    let found = Diagnostic::new(Code::LeftOver, span, format!("nothing is due here, and there is {}", describe(first)))
        .here("too much");
    let found = match (&first.kind, items.get(1).map(|next| &next.kind)) {
        (ItemKind::Comma, Some(ItemKind::Number(_))) => found.help("numbers have no commas: write `128000`, or `128k`"),
        (ItemKind::Comma, Some(ItemKind::Word(_))) => found
            .help("a comma joins what one statement lists; statements end with their line, or with `;`")
            .fix("write `;`", first.span, ";", false),
        (ItemKind::Word(word), _) if matches!(word.as_str(), "if" | "where") => {
            found.help("write `when`").fix("write `when`", first.span, "when", false)
        }
        (ItemKind::Word(word), _) if matches!(word.as_str(), "and" | "or") => {
            found.help("one of them a line: write the other as a statement of its own")
        }
        (kind, next) => match actions(kind, next) {
            Some(verb) => found.help(format!("a comma stands between actions: `…, {verb}`")),
            None => found.help("remove it, or begin a new statement with a line break or `;`"),
        },
    };
    out.push(found);
    false
}
