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

use floors::Floors;
use report::Report;
use std::path::Path;

/// A file of the corpus: its name in reports, its path, and what measures it.
struct Measured {
    name: &'static str,
    path: &'static str,
    measure: fn(&str) -> Result<Vec<Report>, String>,
}

const FILES: [Measured; 2] = [
    Measured { name: "provider-errors", path: "provider-errors.jsonl", measure: provider_errors::measure },
    Measured { name: "behaviours", path: "behaviours.json", measure: |text| Ok(vec![behaviours::measure(text)?]) },
];

/// Files of the corpus that nothing measures yet.
const NOT_MEASURED: [(&str, &str); 1] = [("wire", "wire/index.json")];

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
        match (file.measure)(&text) {
            Ok(reports) => {
                outcome.lines.extend(reports.iter().flat_map(|r| r.lines(file.name)));
                outcome.failures.extend(floors.below(file.path, &text, &reports));
            }
            Err(error) => outcome.failures.push(format!("{}: {error}", file.path)),
        }
    }
    for (name, path) in NOT_MEASURED {
        let there = folder.join(path).exists();
        present += usize::from(there);
        outcome.lines.push(format!("corpus {name} {}", if there { "not measured yet" } else { "absent" }));
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
