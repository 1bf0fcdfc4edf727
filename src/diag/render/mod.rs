//! Renderers of diagnostics: siblings over one value.

use super::Diagnostic;
use crate::source::Sources;

/// One line each, until the proper renderer is merged.
pub fn human(diagnostics: &[Diagnostic], sources: &Sources, _color: bool) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    for d in diagnostics {
        let (file, place) = sources.locate(d.span);
        let _ = writeln!(
            out,
            "{file}:{}:{}: {}[{}] {} | {} | {}",
            place.line,
            place.column,
            d.level().word(),
            d.entry().id,
            d.message,
            d.here,
            d.help
        );
    }
    out
}
