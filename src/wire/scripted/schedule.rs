//! Which line of a script answers: by time and share for scripts, call by call for tests.
//!
//! In: lines as written, and for each call when it comes and what was drawn. Out: the answer and how long it takes. It
//! owns its lines and counts, reads no clock and draws nothing.

use crate::policy::{Answer, Millis, Script, ScriptLine, Window};

/// How long an answer takes that no line is there for.
pub const UNSCRIPTED: Millis = Millis(300);

/// A target's script, and how often each line has answered.
#[derive(Clone, Debug)]
pub struct Schedule {
    script: Script,
    used: Vec<u32>,
    /// Which repetition `used` counts in.
    round: u64,
    unscripted: Answer,
}

impl Schedule {
    /// A script of which nothing was used.
    pub fn new(script: &Script) -> Schedule {
        let used = vec![0; script.lines.len()];
        Schedule { script: script.clone(), used, round: 0, unscripted: Answer::Ok { text: None } }
    }

    /// The answer to the next call and how long it takes: from the last line whose window and share fit and whose count
    /// is not used up. Without one it is a plain answer after [`UNSCRIPTED`].
    ///
    /// `elapsed` counts from the script's start, `share_draw` is in millionths. With `repeats`, time and counts start
    /// again.
    pub fn next(&mut self, elapsed: Millis, share_draw: u32) -> (&Answer, Millis) {
        let (round, elapsed) = match self.script.repeats {
            Some(Millis(every)) if every > 0 => (elapsed.0 / every, Millis(elapsed.0 % every)),
            Some(_) | None => (0, elapsed),
        };
        if round != self.round {
            self.round = round;
            self.used.fill(0);
        }
        let lines = self.script.lines.iter().zip(&mut self.used).rev();
        let mut fitting = lines.filter(|(line, used)| fits(line, **used, elapsed, share_draw));
        match fitting.next() {
            Some((line, used)) => {
                *used = used.saturating_add(1);
                (&line.answer, line.after)
            }
            None => (&self.unscripted, UNSCRIPTED),
        }
    }
}

fn fits(line: &ScriptLine, used: u32, elapsed: Millis, share_draw: u32) -> bool {
    let in_time = match line.window {
        Window::Since(from) => elapsed >= from,
        Window::Between(from, to) => elapsed >= from && elapsed < to,
    };
    // A share is in basis points, a draw in millionths.
    let in_share = line.share.is_none_or(|share| u64::from(share_draw) < u64::from(share.0) * 100);
    in_time && in_share && line.times.is_none_or(|times| used < times)
}

/// One `answers` line of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallLine {
    /// From when on it holds; the start where it is not written.
    pub at: Millis,
    /// The answer.
    pub answer: Answer,
    /// How long it takes.
    pub after: Millis,
    /// How many calls it answers; absent: one, or all that are left if it is the last.
    pub times: Option<u32>,
}

/// A test's lines for one target, and how many calls they have answered.
#[derive(Clone, Debug, Default)]
pub struct CallScript {
    lines: Vec<CallLine>,
    /// The instant whose lines answer now.
    at: Millis,
    /// Calls that they have answered.
    answered: u32,
}

impl CallScript {
    /// A script of which nothing was used. Lines stay in the order written among those of one instant.
    pub fn new(lines: impl IntoIterator<Item = CallLine>) -> CallScript {
        CallScript { lines: lines.into_iter().collect(), ..CallScript::default() }
    }

    /// The answer to the next call and how long it takes, or nothing where no line holds yet.
    ///
    /// The lines of the latest instant that has come answer in the order written, each as often as it says; the last
    /// one repeats. Lines of earlier instants are over by then.
    pub fn next(&mut self, now: Millis) -> Option<(&Answer, Millis)> {
        let at = self.lines.iter().map(|l| l.at).filter(|at| *at <= now).max()?;
        if at != self.at {
            self.at = at;
            self.answered = 0;
        }
        let mut before = 0u32;
        let mut chosen = None;
        for line in self.lines.iter().filter(|l| l.at == at) {
            chosen = Some(line);
            before = before.saturating_add(line.times.unwrap_or(1));
            if self.answered < before {
                break;
            }
        }
        self.answered = self.answered.saturating_add(1);
        chosen.map(|line| (&line.answer, line.after))
    }
}
