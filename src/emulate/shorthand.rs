//! A script in one word: what `switchback emulate` does when it is asked for a model of that name.
//!
//! In: a model's name as a request gives it, such as `503*2 then ok` or `cuts,after-events=40`. Out: the same
//! [`Script`] that a policy's `script { }` block makes, or a sentence that says which piece is not understood. Never
//! guesses: a piece that has no meaning where it stands is an error, so that a misspelled fault is not taken for `ok`.

use crate::policy::{Answer, Class, Millis, Percent, Script, ScriptLine, StreamEnd, Window};
use crate::source::Span;

/// The grammar, for `--help`.
pub const GRAMMAR: &str = "\
Without PATH the model's name in a request is its script:

  NAME = STEP [then STEP]...     steps answer in order; the last one repeats
  STEP = WHAT[*N][,OPTION]...    for N calls; `ok` follows where no step does

  WHAT
    ok                  an answer (also where a step has options alone)
    400 to 599          that status (also written status=503)
    overloaded          a failure of that class: rate-limit, quota-exhausted,
                        overloaded, server-error, auth, permission, not-found,
                        invalid-request, context-overflow, policy, ...
    hangs               takes the request, then silence before the headers
    resets              a TCP reset before the headers
    stalls              output begins, then silence
    cuts                output begins, then the connection ends in mid-body
    errors              output begins, then an error event
    unterminated        output ends without finish reason or end marker
    malformed           a success that is no JSON; in a stream a bad frame
                        (also written invalid-json)
    empty               a success with nothing in it
    truncated           ended by length below the request's own limit
    flaps               503 by time; give down= and up=
  OPTION
    after=D             time to an error's headers or an answer's first output
    first-token=D       the same, for answers
    retry-after=D       the hint of a status or class
    code=X              the error code of a status
    text=T              the text of `ok` (no comma in it)
    after-events=N      pieces of output before stalls, cuts, errors or
                        unterminated (5)
    share=N%            only that share of calls; the others are `ok`
    down=D,up=D         by time from the first call, in the order written;
                        `ok` while up
  D is a number with ms, s, m or h.

  ok,after=300ms          429,retry-after=30s       first-token=5s
  503*2 then ok           stalls,after-events=5     cuts,after-events=40
  share=20%,status=503    resets,down=10s,up=20s    flaps,down=10s,up=20s";

/// Pieces of output before a stream's scripted end, where a name does not say.
const PIECES: u32 = 5;

/// The script that a name stands for.
///
/// # Errors
/// A sentence in lower case that names the piece that is not understood.
pub fn parse(name: &str) -> Result<Script, String> {
    let steps = name.split(" then ").map(Step::parse).collect::<Result<Vec<_>, _>>()?;
    let (last, alone) = (steps.len().saturating_sub(1), steps.len() == 1);
    let mut script = Script { lines: vec![line(Answer::Ok { text: None })], repeats: None };
    // The last line that fits answers, so the first step is the last line.
    for (i, step) in steps.into_iter().enumerate().rev() {
        if let Some(phases) = step.phases {
            if !alone {
                return Err("`down` and `up` take the whole name, without `then`".into());
            }
            script.repeats = Some(phases.down.plus(phases.up));
        }
        let times = step.times.or((i < last).then_some(1));
        script.lines.push(ScriptLine {
            window: step.phases.map_or(Window::Since(Millis::ZERO), Phases::window),
            share: step.share,
            after: step.after,
            times,
            ..line(step.answer)
        });
    }
    Ok(script)
}

fn line(answer: Answer) -> ScriptLine {
    ScriptLine {
        window: Window::Since(Millis::ZERO),
        share: None,
        answer,
        after: Millis::ZERO,
        times: None,
        span: Span::default(),
    }
}

/// How long it is down and up in turn.
#[derive(Clone, Copy)]
struct Phases {
    down: Millis,
    up: Millis,
    down_first: bool,
}

impl Phases {
    fn window(self) -> Window {
        let from = if self.down_first { Millis::ZERO } else { self.up };
        Window::Between(from, from.plus(self.down))
    }
}

struct Step {
    answer: Answer,
    times: Option<u32>,
    after: Millis,
    share: Option<Percent>,
    phases: Option<Phases>,
}

/// The first word of a step.
#[derive(Clone, Copy)]
enum What {
    Ok,
    Status(u16),
    Class(Class),
    Hangs,
    Resets,
    Stream(StreamEnd),
    Malformed,
    Empty,
    Truncated,
}

impl What {
    fn parse(word: &str) -> Option<What> {
        Some(match word {
            "ok" => What::Ok,
            "hangs" => What::Hangs,
            "resets" => What::Resets,
            "stalls" => What::Stream(StreamEnd::Stalls),
            "cuts" => What::Stream(StreamEnd::Cuts),
            "errors" => What::Stream(StreamEnd::Errors),
            "unterminated" => What::Stream(StreamEnd::Ends),
            "malformed" | "invalid-json" => What::Malformed,
            "empty" => What::Empty,
            "truncated" => What::Truncated,
            "flaps" => What::Status(503),
            _ => match word.parse::<u16>() {
                Ok(status) if (400..600).contains(&status) => What::Status(status),
                Ok(_) => return None,
                Err(_) => What::Class(Class::from_word(word)?),
            },
        })
    }
}

/// The options of a step, each at most once.
#[derive(Default)]
struct Options<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Options<'a> {
    fn take<T>(&mut self, key: &str, parse: impl Fn(&'a str) -> Option<T>, like: &str) -> Result<Option<T>, String> {
        let Some(at) = self.0.iter().position(|(k, _)| *k == key) else { return Ok(None) };
        let (_, value) = self.0.remove(at);
        parse(value).map(Some).ok_or_else(|| format!("`{key}={value}` is not understood; write it like `{key}={like}`"))
    }
}

impl Step {
    fn parse(text: &str) -> Result<Step, String> {
        let (mut what, mut times, mut options) = (None, None, Options::default());
        let mut flaps = false;
        for item in text.split(',').map(str::trim) {
            let word = match item.split_once('=').map(|(k, v)| (k.trim(), v.trim())) {
                Some(("status", status)) => status,
                Some((key, _)) if options.0.iter().any(|(k, _)| *k == key) => {
                    return Err(format!("`{key}` is given twice"));
                }
                Some(option) => {
                    options.0.push(option);
                    continue;
                }
                None => item,
            };
            let (word, count) = counted(word)?;
            let known = What::parse(word).ok_or_else(|| format!("`{word}` is no answer that the emulator knows"))?;
            let flaps_at = word == "flaps" || (flaps && matches!(known, What::Status(_) | What::Class(_)));
            if what.is_some() && !flaps_at {
                return Err(format!("`{word}` is a second answer in one step; join steps with ` then `"));
            }
            // `flaps` says when; a status beside it, in either order, says with what.
            if !(word == "flaps" && what.is_some()) {
                what = Some(known);
            }
            flaps |= word == "flaps";
            times = times.or(count);
        }
        let phases = phases(&mut options)?;
        if flaps && phases.is_none() {
            return Err("`flaps` needs `down=` and `up=`, such as `flaps,down=10s,up=20s`".into());
        }
        let after = options.take("after", duration, "300ms")?;
        let first_token = options.take("first-token", duration, "5s")?;
        let share = options.take("share", percent, "20%")?;
        let answer = answer(what.unwrap_or(What::Ok), &mut options)?;
        match options.0.first() {
            Some((key, _)) => Err(format!("`{key}` means nothing in `{}`", text.trim())),
            None => Ok(Step { answer, times, after: after.or(first_token).unwrap_or_default(), share, phases }),
        }
    }
}

fn answer(what: What, options: &mut Options<'_>) -> Result<Answer, String> {
    let owned = |text: &str| Some(text.to_string());
    Ok(match what {
        What::Ok => Answer::Ok { text: options.take("text", owned, "hello")? },
        What::Status(status) => Answer::Status {
            status,
            retry_after: options.take("retry-after", duration, "30s")?,
            code: options.take("code", owned, "slow_down")?,
        },
        What::Class(class) => Answer::Failure { class, retry_after: options.take("retry-after", duration, "30s")? },
        What::Hangs => Answer::Hangs,
        What::Resets => Answer::Resets,
        What::Stream(then) => {
            let pieces = options.take("after-events", |v| v.parse().ok(), "5")?;
            Answer::Streams { tokens: pieces.unwrap_or(PIECES), then }
        }
        What::Malformed => Answer::InvalidJson,
        What::Empty => Answer::Empty,
        What::Truncated => Answer::Truncated,
    })
}

/// `503*2` is a word and a count.
fn counted(word: &str) -> Result<(&str, Option<u32>), String> {
    match word.split_once('*') {
        None => Ok((word, None)),
        Some((what, count)) => match count.trim().parse::<u32>() {
            Ok(count) if count > 0 => Ok((what.trim(), Some(count))),
            Ok(_) | Err(_) => Err(format!("`{word}` has no count; write it like `{}*2`", what.trim())),
        },
    }
}

fn phases(options: &mut Options<'_>) -> Result<Option<Phases>, String> {
    let place = |key: &str| options.0.iter().position(|(k, _)| *k == key);
    let down_first = place("down") < place("up");
    let (down, up) = (options.take("down", duration, "10s")?, options.take("up", duration, "20s")?);
    match (down, up) {
        (None, None) => Ok(None),
        (Some(Millis::ZERO), _) | (_, Some(Millis::ZERO)) => Err("`down` and `up` are longer than nothing".into()),
        (Some(down), Some(up)) => Ok(Some(Phases { down, up, down_first })),
        (Some(_), None) | (None, Some(_)) => Err("`down` and `up` go together".into()),
    }
}

fn duration(text: &str) -> Option<Millis> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let size: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(size).map(Millis)
}

/// `20%` or `2.5%`: at most two digits behind the point, since a basis point is the smallest share.
fn percent(text: &str) -> Option<Percent> {
    let number = text.strip_suffix('%')?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |t: &str| (!t.is_empty() && t.len() <= 3 && t.bytes().all(|b| b.is_ascii_digit())).then_some(());
    digits(whole)?;
    digits(part).filter(|()| part.len() <= 2)?;
    let points = whole.parse::<u32>().ok()? * 100 + format!("{part:0<2}").parse::<u32>().ok()?;
    (points <= 10_000).then_some(Percent(points))
}

#[cfg(test)]
mod tests;
