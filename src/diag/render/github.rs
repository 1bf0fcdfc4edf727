//! Workflow commands of GitHub Actions: annotations on the lines of a change.

use super::{Run, region, sentence};
use crate::diag::Level;

/// A command a line.
pub fn github(run: &Run<'_>) -> String {
    let mut out = String::new();
    for (sources, diagnostic) in run.findings() {
        let (entry, place) = (diagnostic.entry(), region(diagnostic.span, sources));
        let command = match entry.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Advice => "notice",
        };
        let mut place_text = format!("file={},line={},endLine={}", property(place.file), place.line, place.end_line);
        // Columns are taken only where they are on one line.
        if place.line == place.end_line {
            place_text.push_str(&format!(",col={},endColumn={}", place.column, place.end_column));
        }
        let title = property(&format!("{} {}", entry.id, entry.name));
        out.push_str(&format!("::{command} {place_text},title={title}::{}\n", data(&sentence(diagnostic))));
    }
    for failure in &run.failures {
        out.push_str(&format!("::error title=switchback::{}\n", data(failure)));
    }
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
