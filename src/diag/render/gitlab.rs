//! A Code Quality report of GitLab: an array of issues, each with a fingerprint that survives moved lines.

use super::{Run, region, sentence};
use crate::diag::Level;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

/// The report of a run.
///
/// # Errors
/// When it cannot be written as JSON, which no text of a policy brings about.
pub fn gitlab(run: &Run<'_>) -> Result<String, serde_json::Error> {
    let mut seen: BTreeMap<u64, u32> = BTreeMap::new();
    let mut fingerprint = |parts: [&str; 3]| {
        let hash = digest(&parts.join("\u{0}"));
        let nth = seen.entry(hash).or_insert(0);
        *nth += 1;
        format!("{hash:016x}{nth:04x}")
    };
    let mut issues = Vec::new();
    for (sources, diagnostic) in run.findings() {
        let (entry, place) = (diagnostic.entry(), region(diagnostic.span, sources));
        issues.push(Issue {
            fingerprint: fingerprint([entry.id, place.file, &diagnostic.message]),
            description: sentence(diagnostic),
            check_name: format!("{} {}", entry.id, entry.name),
            severity: match entry.level {
                Level::Error => "major",
                Level::Warning => "minor",
                Level::Advice => "info",
            },
            location: Location { path: place.file.to_owned(), lines: Lines { begin: place.line } },
        });
    }
    for failure in &run.failures {
        issues.push(Issue {
            fingerprint: fingerprint(["", "", failure]),
            description: failure.clone(),
            check_name: "switchback".to_owned(),
            severity: "blocker",
            location: Location { path: ".".to_owned(), lines: Lines { begin: 1 } },
        });
    }
    serde_json::to_string_pretty(&issues).map(|text| text + "\n")
}

/// FNV-1a: a fingerprint need only tell issues of one report apart, and stay the same.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
