//! `--select` and `--ignore`: which warnings and which advice are shown. Errors always are.

use crate::diag::{Code, Diagnostic, Level};

/// What is shown.
#[derive(Debug, Default)]
pub(super) struct Choice {
    select: Vec<Code>,
    ignore: Vec<Code>,
}

impl Choice {
    /// Reads codes, names and beginnings of codes.
    ///
    /// # Errors
    /// When one of them fits no code: a choice that chooses nothing is a slip.
    pub(super) fn new(select: &[String], ignore: &[String]) -> Result<Choice, String> {
        Ok(Choice { select: codes(select)?, ignore: codes(ignore)? })
    }

    /// Whether a diagnostic is shown.
    pub(super) fn shows(&self, diagnostic: &Diagnostic) -> bool {
        let code = &diagnostic.code;
        let selected = self.select.is_empty() || self.select.contains(code);
        diagnostic.level() == Level::Error || selected && !self.ignore.contains(code)
    }
}

fn codes(words: &[String]) -> Result<Vec<Code>, String> {
    let mut all = Vec::new();
    for word in words.iter().map(|word| word.trim()) {
        let upper = word.to_ascii_uppercase();
        let begins = |code: &Code| upper.starts_with("SB") && code.entry().id.starts_with(&upper);
        let found: Vec<Code> = match Code::find(word) {
            Some(code) => vec![code],
            None => Code::ALL.iter().copied().filter(begins).collect(),
        };
        if found.is_empty() {
            return Err(format!("`{word}` is no code, and none begins so; `switchback explain` knows them"));
        }
        all.extend(found);
    }
    Ok(all)
}
