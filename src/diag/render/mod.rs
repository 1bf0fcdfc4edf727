//! Renderers of diagnostics: siblings over one value.
//!
//! In: diagnostics and the sources they point into. Out: text for people, one line each, or data. They never sort,
//! suppress or judge.

mod concise;
mod human;
pub mod json;

pub use concise::concise;
pub use human::human;

use super::{Diagnostic, Level};

/// How many there are of each level, in words: `2 errors, 1 warning`; empty if there are none.
pub fn count(diagnostics: &[Diagnostic]) -> String {
    let number = |level: Level| diagnostics.iter().filter(|d| d.level() == level).count();
    let words = [(Level::Error, "errors"), (Level::Warning, "warnings"), (Level::Advice, "pieces of advice")];
    let said = words.into_iter().filter_map(|(level, plural)| match number(level) {
        0 => None,
        1 if level == Level::Advice => Some("1 piece of advice".to_owned()),
        1 => Some(format!("1 {}", level.word())),
        n => Some(format!("{n} {plural}")),
    });
    said.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
