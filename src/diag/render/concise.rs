//! One line for each diagnostic, as editors and `grep` like it.

use crate::diag::Diagnostic;
use crate::source::Sources;

/// `file:line:column: error[SB0101] message`, a line each.
pub fn concise(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let line = |d: &Diagnostic| {
        let (file, place) = sources.locate(d.span);
        let (level, id) = (d.level().word(), d.entry().id);
        // A message is one line whatever a policy quotes into it.
        let message = d.message.replace('\n', " ");
        format!("{file}:{}:{}: {level}[{id}] {message}\n", place.line, place.column)
    };
    diagnostics.iter().map(line).collect()
}
