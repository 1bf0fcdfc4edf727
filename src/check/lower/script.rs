//! Scripts: how the emulator answers for a target.
//!
//! In: a target's `script { … }` statement. Out: its lines with their windows, shares and counts, or nothing after what
//! is wrong with them was named. Never plays a line.

use super::super::context::{Context, Decl};
use super::super::cursor::Cursor;
use super::super::value;
use super::outcome::{self, Outcome};
use crate::diag::{Code, Diagnostic};
use crate::policy::{Millis, Percent, Script, ScriptLine, Window};
use crate::source::Span;
use crate::syntax::settings::Block;
use crate::syntax::tree::Statement;

/// Lowers the `script` statement of `target`.
pub fn lower<'a>(ctx: &mut Context<'a>, target: &Decl<'a>, statement: &'a Statement) -> Option<Script> {
    let word = statement.items.first()?;
    let Some(block) = &statement.block else {
        ctx.report(
            Diagnostic::new(Code::MissingBlock, statement.span, "a script stands in a block of its own")
                .help("write `script { answers ok after 300ms }`"),
        );
        return None;
    };
    let unreal = provider(ctx, target).filter(|(_, emulated)| !emulated);
    if let Some((provider, _)) = unreal {
        ctx.report(
            Diagnostic::new(
                Code::ScriptWithoutEmulator,
                word.span,
                format!("target `{}` is not emulated, and follows no script", target.name),
            )
            .here("nobody would play it")
            .label(provider, "its provider")
            .help("remove the script, or name a provider with `api emulated`; tests script any target"),
        );
        return None;
    }
    let out = &mut ctx.diagnostics;
    let mut sound = value::left_over(statement.items.get(1..).unwrap_or_default(), out);
    let mut script = Script::default();
    let mut repeats: Option<Span> = None;
    for statement in &block.statements {
        match line(statement, out) {
            Some(Line::Answers(line)) => script.lines.push(line),
            Some(Line::Repeats(every)) => {
                if let Some(first) = repeats.replace(statement.span) {
                    out.push(
                        Diagnostic::new(Code::DuplicateSetting, statement.span, "`repeats` stands here twice")
                            .label(first, "first here")
                            .help("keep one of them"),
                    );
                    sound = false;
                }
                script.repeats = Some(every);
            }
            None => sound = false,
        }
    }
    if sound && script.lines.is_empty() {
        out.push(value::missing("`answers OUTCOME`", word.span).help("a script says how its target answers"));
        return None;
    }
    sound &= reachable(&script, repeats, out);
    sound.then_some(script)
}

/// Where a target's provider is named, and whether it is emulated; nothing where that is not known.
fn provider(ctx: &Context<'_>, target: &Decl<'_>) -> Option<(Span, bool)> {
    let named = target.statements().iter().find(|s| s.keyword() == Some("provider"))?.items.get(1)?;
    let position = ctx.names.position(Block::Provider, named.word()?)?;
    let provider = ctx.names.decl(Block::Provider, position)?;
    let api = provider.statements().iter().find(|s| s.keyword() == Some("api"))?.items.get(1)?.word()?;
    Some((named.span, api == "emulated"))
}

/// Windows that begin only after the script has begun again are never open.
fn reachable(script: &Script, repeats: Option<Span>, out: &mut Vec<Diagnostic>) -> bool {
    let (Some(every), Some(at)) = (script.repeats, repeats) else { return true };
    let start = |line: &ScriptLine| match line.window {
        Window::Since(from) | Window::Between(from, _) => from,
    };
    let late: Vec<&ScriptLine> = script.lines.iter().filter(|line| start(line) >= every).collect();
    for line in &late {
        out.push(
            Diagnostic::new(
                Code::OutOfRange,
                line.span,
                format!("this line begins when the script is over: it repeats every {every}"),
            )
            .here("never holds")
            .label(at, "begins again here")
            .help("let it begin earlier, or the script repeat later"),
        );
    }
    late.is_empty()
}

/// The words that a line may begin with.
const LINES: [&str; 5] = ["answers", "at", "from", "every", "repeats"];

enum Line {
    Answers(ScriptLine),
    Repeats(Millis),
}

fn line(statement: &Statement, out: &mut Vec<Diagnostic>) -> Option<Line> {
    if let Some(block) = &statement.block {
        out.push(
            Diagnostic::new(Code::UnexpectedBlock, block.span, "a line of a script takes no block")
                .help("remove the braces"),
        );
        return None;
    }
    let mut cursor = Cursor::new(&statement.items, statement.span);
    if cursor.take_word("repeats") {
        cursor.due_word("every", out)?;
        let item = cursor.due("a duration", out)?;
        let every = value::duration(item, out)?;
        if every == Millis::ZERO {
            out.push(
                Diagnostic::new(Code::OutOfRange, item.span, "a script cannot repeat every moment")
                    .help("write a duration above zero"),
            );
            return None;
        }
        return cursor.finish(out).then_some(Line::Repeats(every));
    }
    let window = window(&mut cursor, out)?;
    let share = share(&mut cursor, out)?;
    let item = cursor.due("`answers OUTCOME`", out)?;
    if !item.is("answers") {
        out.push(match item.word() {
            Some(word) => value::unknown_word(word, item.span, "a line of a script", LINES.into_iter()),
            None => value::wrong(item, "`answers OUTCOME`"),
        });
        return None;
    }
    let Outcome { answer, after, times } = outcome::lower(&mut cursor, out)?;
    Some(Line::Answers(ScriptLine { window, share, answer, after, times, span: statement.span }))
}

/// Nothing, `at D` or `from D to D`.
fn window(cursor: &mut Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<Window> {
    if cursor.take_word("at") {
        return value::duration(cursor.due("a duration", out)?, out).map(Window::Since);
    }
    if !cursor.take_word("from") {
        return Some(Window::Since(Millis::ZERO));
    }
    let first = cursor.due("a duration", out)?;
    let from = value::duration(first, out)?;
    cursor.due_word("to", out)?;
    let last = cursor.due("a duration", out)?;
    let to = value::duration(last, out)?;
    if to <= from {
        out.push(
            Diagnostic::new(Code::OutOfRange, first.span.to(last.span), format!("a time from {from} to {to} is empty"))
                .here("ends before it begins")
                .help("write the earlier time first"),
        );
        return None;
    }
    Some(Window::Between(from, to))
}

/// Nothing, or `every N% of calls`.
fn share(cursor: &mut Cursor<'_>, out: &mut Vec<Diagnostic>) -> Option<Option<Percent>> {
    if !cursor.take_word("every") {
        return Some(None);
    }
    let share = value::percent(cursor.due("a percentage", out)?, out)?;
    cursor.due_word("of", out)?;
    cursor.due_word("calls", out)?;
    Some(Some(share))
}

#[cfg(test)]
mod tests;
