//! The forms of findings, and what stands in each of them when the flags themselves are wrong.

use crate::cli::{Exit, Io};
use crate::diag::Level;
use crate::diag::render::{self, Run};
use clap::ValueEnum;

/// The form of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Format {
    /// With the lines of the policy, for people
    Human,
    /// One line each, for editors and grep
    Concise,
    /// One JSON document (schemas/check.schema.json)
    Json,
    /// One JSON object a line
    Jsonl,
    /// SARIF 2.1.0
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// Code Quality report of GitLab
    Gitlab,
    /// JUnit XML
    Junit,
}

/// Prints a run. Failures are told on stderr too, whatever the form: a pipe may hide a document.
pub(super) fn print(run: &Run<'_>, format: Format, io: &mut Io) -> Exit {
    for failure in &run.failures {
        io.say(&format!("error: {failure}"));
    }
    let text = match format {
        Format::Human => Ok(human(run, io.color_out)),
        Format::Concise => Ok(run.sets.iter().map(|set| render::concise(set.diagnostics, set.sources)).collect()),
        Format::Json => render::json(run),
        Format::Jsonl => render::jsonl(run),
        Format::Sarif => render::sarif(run),
        Format::Github => Ok(render::github(run)),
        Format::Gitlab => render::gitlab(run),
        Format::Junit => Ok(render::junit(run)),
    };
    match text {
        Ok(text) => {
            io.print(&text);
            Exit::Clean
        }
        Err(error) => {
            io.say(&format!("error: the findings cannot be written as JSON: {error}"));
            Exit::Failed
        }
    }
}

fn human(run: &Run<'_>, color: bool) -> String {
    let mut text = String::new();
    for set in &run.sets {
        text.push_str(&render::human(set.diagnostics, set.sources, color));
        let count = render::count(set.diagnostics);
        let count = if count.is_empty() { "nothing to report".to_owned() } else { count };
        let policy = set.policy.as_ref().map(|policy| format!("; policy {}", policy.hash)).unwrap_or_default();
        text.push_str(&format!("{}: {count}{policy}\n", set.path));
    }
    text
}

/// The document that stands for a run which never began because of its flags, if a form for programs was asked for.
pub(in crate::cli) fn wanted(words: &[String], failure: &str) -> Option<String> {
    // The program's name, then global flags, then the command.
    let command = words.iter().skip(1).find(|word| !word.starts_with('-') && !is_color(word))?;
    let takes_json = matches!(command.as_str(), "test" | "graph" | "list" | "baselines");
    if command != "check" && !takes_json {
        return None;
    }
    let after =
        words.iter().zip(words.iter().skip(1)).find(|(flag, _)| *flag == "--format").map(|(_, value)| value.as_str());
    let joined = words.iter().find_map(|word| word.strip_prefix("--format="));
    let format = Format::from_str(after.or(joined)?, true).ok()?;
    if takes_json && format != Format::Json {
        return None;
    }
    let run = Run { sets: Vec::new(), failures: vec![failure.to_owned()], fail_on: Level::Error };
    match format {
        Format::Human | Format::Concise => None,
        Format::Json => render::json(&run).ok(),
        Format::Jsonl => render::jsonl(&run).ok(),
        Format::Sarif => render::sarif(&run).ok(),
        Format::Github => Some(render::github(&run)),
        Format::Gitlab => render::gitlab(&run).ok(),
        Format::Junit => Some(render::junit(&run)),
    }
}

/// The value of `--color`, which may stand before the command.
fn is_color(word: &str) -> bool {
    matches!(word, "auto" | "always" | "never")
}
