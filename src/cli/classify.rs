//! `switchback classify`: what an error is, and by which rule.
//!
//! In: JSON lines, each one exchange with an upstream. Out: one JSON line for each, in order, or text for people. A line
//! that is no exchange is said on stderr with its number, and the others are still answered.

use super::{Exit, Io};
use crate::wire::exchange::{Exchange, judge, line};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Longest line that is read, in bytes.
const MAX_LINE: u64 = 16 * 1024 * 1024;

/// Arguments of `classify`.
#[derive(clap::Args, Debug)]
#[command(
    long_about = "Say what went wrong in an exchange with an upstream: class, stage, scope, wait, and the rule that decided\n\nEach line of the input is a JSON object. Members that are read: `id` (handed on), `provider`, `api`, `transport` (`http`, `sse`, `connect`), `status`, `headers`, `body`, `events`, `end` (`eof`, `reset`, `stall`), `fault` (`dns`, `refused`, `tls`, `connect_timeout`, `reset_before_headers`, `headers_timeout`, or a client library's words). Whatever else it holds is ignored; a body that is JSON may stand as text or as JSON. A line that cannot be read is said on stderr with its number, gets no answer, and ends the command with 2; the other lines are answered all the same.",
    after_help = "Examples:\n  switchback classify errors.jsonl\n  switchback classify --human errors.jsonl | less"
)]
pub struct Args {
    /// A file of JSON lines; standard input if absent or `-`
    file: Option<PathBuf>,
    /// Explain each verdict in words
    #[arg(long)]
    human: bool,
}

/// Runs the command.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let input: Box<dyn Read> = match args.file.as_deref().filter(|f| f.as_os_str() != "-") {
        None => Box::new(std::io::stdin()),
        Some(path) => match std::fs::File::open(path) {
            Ok(file) => Box::new(file),
            Err(error) => {
                io.say(&format!("error: {} cannot be read: {error}", path.display()));
                return Exit::Failed;
            }
        },
    };
    let wall_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    let wall_ms = u64::try_from(wall_ms).unwrap_or(0);
    lines(BufReader::new(input), args.human, wall_ms, io)
}

fn lines(mut input: impl BufRead, human: bool, wall_ms: u64, io: &mut Io) -> Exit {
    let mut exit = Exit::Clean;
    let mut bytes = Vec::new();
    for number in 1u64.. {
        bytes.clear();
        match input.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes) {
            Ok(0) => break,
            Ok(_) if bytes.len() as u64 == MAX_LINE && !bytes.ends_with(b"\n") => {
                io.say(&format!("error: line {number} is longer than {MAX_LINE} bytes"));
                return Exit::Failed;
            }
            Ok(_) => {}
            Err(error) => {
                io.say(&format!("error: line {number} cannot be read: {error}"));
                return Exit::Failed;
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if text.trim().is_empty() {
            continue;
        }
        match line::read(&text) {
            Ok(line) => answer(&line, human, wall_ms, io),
            Err(why) => {
                io.say(&format!("error: line {number}: {why}"));
                exit = Exit::Failed;
            }
        }
    }
    exit
}

fn answer(line: &line::Line, human: bool, wall_ms: u64, io: &mut Io) {
    let exchange: Exchange<'_> = line.exchange();
    let verdict = judge(&exchange, wall_ms);
    let answer = line::Answer::of(line.id.clone(), &verdict);
    if human {
        io.print(&format!("{}\n", line::explain(&answer, &verdict)));
    } else if let Ok(json) = serde_json::to_string(&answer) {
        io.print(&format!("{json}\n"));
    }
}
