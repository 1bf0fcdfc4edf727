//! Where commands write, whether in colour, and how they end.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// The folder that is meant where no path is named.
pub const HERE: &str = ".";

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: nothing found.
    Clean,
    /// 1: policy errors, failed tests, unformatted files.
    Findings,
    /// 2: bad flag, unreadable path, address in use, limit reached.
    Failed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Failed => 2,
        })
    }
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On terminals, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The two streams of a command.
pub struct Io {
    /// Results.
    pub out: Box<dyn Write>,
    /// Progress, logs, and why the job could not be done.
    pub err: Box<dyn Write>,
    /// Whether something could not be written to `out`.
    pub broken: bool,
    /// Whether `out` is coloured.
    pub color_out: bool,
    /// Whether `err` is coloured.
    pub color_err: bool,
}

impl Io {
    /// The process's own streams.
    pub fn standard(color: Color) -> Io {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let colored = |terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && !plain,
        };
        let (out, err) = (std::io::stdout(), std::io::stderr());
        Io {
            broken: false,
            color_out: colored(out.is_terminal()),
            color_err: colored(err.is_terminal()),
            out: Box::new(out),
            err: Box::new(err),
        }
    }

    /// Writes to stdout. A reader that has gone has seen enough; any other failure is told once, and fails the command.
    pub fn print(&mut self, text: &str) {
        if let Err(error) = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush())
            && error.kind() != std::io::ErrorKind::BrokenPipe
            && !std::mem::replace(&mut self.broken, true)
        {
            self.say(&format!("error: the result cannot be written: {error}"));
        }
    }

    /// Writes a line to stderr.
    pub fn say(&mut self, text: &str) {
        let _ = writeln!(self.err, "{text}");
        let _ = self.err.flush();
    }
}
