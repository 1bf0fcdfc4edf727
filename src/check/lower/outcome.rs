//! Scripted outcomes: what `answers` is followed by, in scripts and in tests.
//!
//! In: the items after `answers`. Out: the answer, how long it takes, and how many calls it is for. Never knows which
//! target answers.

use super::super::cursor::Cursor;
use super::super::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::script::StreamEnd;
use crate::policy::{Answer, Class, Millis};
use crate::syntax::tree::{Item, ItemKind};

/// An outcome with its time and count.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What is answered.
    pub answer: Answer,
    /// How long it takes; nothing where that is not said.
    pub after: Millis,
    /// How many calls it is for; absent where that is not said.
    pub times: Option<u32>,
}

/// The words that an outcome may begin with, beside a status and the failure classes.
const WORDS: [&str; 7] = ["ok", "hangs", "resets", "streams", "truncated", "empty", "invalid-json"];

/// Reads `OUTCOME [after D] [once|N times]` to the end.
pub fn lower(cursor: &mut Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<Outcome> {
    let answer = answer(cursor, out)?;
    let after = match cursor.take_word("after") {
        true => value::duration(cursor.due("a duration", out)?, out)?,
        false => Millis::ZERO,
    };
    let times = match value::times(cursor.rest(), out) {
        Some((times, read)) => {
            cursor.skip(read);
            Some(times?)
        }
        None => None,
    };
    cursor.finish(out).then_some(Outcome { answer, after, times })
}

fn answer(cursor: &mut Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<Answer> {
    let item = cursor.due("an outcome", out)?;
    match &item.kind {
        ItemKind::Number(_) => status(item, cursor, out),
        ItemKind::Word(word) => match word.as_str() {
            "ok" => Some(Answer::Ok { text: cursor.take_string().map(str::to_owned) }),
            "hangs" => Some(Answer::Hangs),
            "resets" => Some(Answer::Resets),
            "streams" => streams(cursor, out),
            // Of the two readings of this word, a class and an answer, the answer is the one that plays the class out.
            "truncated" => Some(Answer::Truncated),
            "empty" => Some(Answer::Empty),
            "invalid-json" => Some(Answer::InvalidJson),
            word => failure(word, item, cursor, out),
        },
        ItemKind::Str(_)
        | ItemKind::List(_)
        | ItemKind::Group(_)
        | ItemKind::Arrow
        | ItemKind::Comma
        | ItemKind::Operator(_) => {
            out.push(value::wrong(item, "an outcome").help("a status such as `429`, a failure class, or `ok`"));
            None
        }
    }
}

fn status(item: &Item, cursor: &mut Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<Answer> {
    let status = value::integer(item, 100, 599, out)?;
    if status < 300 {
        out.push(
            Diagnostic::new(Code::OutOfRange, item.span, format!("`{status}` is no failure"))
                .here("a success")
                .help("write `ok` for an answer")
                .fix("write `ok`", item.span, "ok", false),
        );
        return None;
    }
    let (mut retry_after, mut code) = (None, None);
    loop {
        if retry_after.is_none() && cursor.take_word("retry-after") {
            retry_after = Some(value::duration(cursor.due("a duration", out)?, out)?);
        } else if code.is_none() && cursor.take_word("code") {
            code = Some(value::string(cursor.due("the code in quotes", out)?, out)?);
        } else {
            return Some(Answer::Status { status: u16::try_from(status).ok()?, retry_after, code });
        }
    }
}

fn failure(word: &str, item: &Item, cursor: &mut Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<Answer> {
    let Some(class) = Class::from_word(word) else {
        let known = WORDS.into_iter().chain(Class::ALL.iter().map(|class| class.word()));
        out.push(value::unknown_word(word, item.span, "an outcome", known));
        return None;
    };
    let retry_after = match cursor.take_word("retry-after") {
        true => Some(value::duration(cursor.due("a duration", out)?, out)?),
        false => None,
    };
    Some(Answer::Failure { class, retry_after })
}

/// `streams N tokens then cuts|stalls|errors|ends`
fn streams(cursor: &mut Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<Answer> {
    let tokens = value::integer(cursor.due("how many tokens", out)?, 0, 1_000_000, out)?;
    let unit = if tokens == 1 { "token" } else { "tokens" };
    cursor.due_word(unit, out)?;
    cursor.due_word("then", out)?;
    let end = cursor.due("how the stream ends", out)?;
    let then = value::choice(end, "an end of a stream", StreamEnd::ALL, StreamEnd::word, out)?;
    Some(Answer::Streams { tokens, then })
}
