//! The outside corpora: how far we agree with cases that others wrote, and that it does not get worse.
//!
//! `SWITCHBACK_CORPUS=DIR cargo test --test it corpus -- --nocapture` measures the files in DIR. Each file that is there
//! is reported, area by area; what does not agree is listed. `tests/corpus/floors.toml` holds floors for files it knows
//! by their SHA-256: any other text of the same name is reported and not held to anything. Without the variable there
//! is nothing to measure.

mod action;
mod backoff;
mod behaviours;
mod breaker;
mod contract;
mod deadline;
mod floors;
mod health;
pub mod provider_errors;
mod ramp;
mod replay;
mod report;
mod retry_after;
mod retry_budget;
mod routing;
mod scope;
mod wire;

use floors::Floors;
use report::Report;
use std::path::Path;

/// A file of the corpus: its name in reports, its path, and what measures it.
struct Measured {
    name: &'static str,
    path: &'static str,
    measure: fn(&Path, &str) -> Result<Vec<Report>, String>,
}

const FILES: [Measured; 3] = [
    Measured {
        name: "provider-errors",
        path: "provider-errors.jsonl",
        measure: |_, text| provider_errors::measure(text),
    },
    Measured { name: "behaviours", path: "behaviours.json", measure: |_, text| Ok(vec![behaviours::measure(text)?]) },
    Measured { name: "wire", path: "wire/index.json", measure: wire::measure },
];

/// What is to be printed, and what fails.
#[derive(Default)]
struct Outcome {
    lines: Vec<String>,
    failures: Vec<String>,
}

fn measure(folder: &Path, floors: &Floors) -> Outcome {
    let mut outcome = Outcome::default();
    let mut present = 0;
    for file in &FILES {
        let Ok(text) = std::fs::read_to_string(folder.join(file.path)) else {
            outcome.lines.push(format!("corpus {} absent", file.name));
            continue;
        };
        present += 1;
        match (file.measure)(folder, &text) {
            Ok(reports) => {
                outcome.lines.extend(reports.iter().flat_map(|r| r.lines(file.name)));
                outcome.failures.extend(floors.below(file.path, &text, &reports));
            }
            Err(error) => outcome.failures.push(format!("{}: {error}", file.path)),
        }
    }
    if present == 0 {
        outcome.failures.push(format!("none of the corpus files is in {}", folder.display()));
    }
    outcome
}

#[test]
fn agrees_at_least_as_far_as_the_floors() {
    let floors = Floors::read(include_str!("../corpus/floors.toml")).unwrap();
    let Some(folder) = std::env::var_os("SWITCHBACK_CORPUS") else {
        println!("\nSWITCHBACK_CORPUS is not set: no corpus is measured");
        return;
    };
    let outcome = measure(Path::new(&folder), &floors);
    // The runner may have left its own line open.
    println!("\n{}", outcome.lines.join("\n"));
    assert!(outcome.failures.is_empty(), "{}", outcome.failures.join("\n"));
}

#[test]
fn a_folder_without_any_corpus_file_fails() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/corpus");
    let outcome = measure(&folder, &Floors::default());
    assert!(outcome.lines.contains(&"corpus behaviours absent".to_string()), "{:?}", outcome.lines);
    assert_eq!(outcome.failures.len(), 1);
}
