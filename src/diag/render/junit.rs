//! A JUnit report, as Jenkins' `junit-10.xsd` takes it: a suite for each file, a case for each diagnostic, and one that
//! passes for a file without any. The schema knows no line of a case, so that its name ends with the place.

use super::{Run, region, sentence};

/// The document of a run. What is milder than what fails the run is a case that passes and says why.
pub fn junit(run: &Run<'_>) -> String {
    let (mut suites, mut tests, mut failed) = (String::new(), 0, 0);
    for set in &run.sets {
        for source in set.sources.iter() {
            let here = || set.diagnostics.iter().filter(|d| d.span.file == source.id);
            let fails = here().filter(|d| d.level() <= run.fail_on).count();
            let mut cases = String::new();
            for diagnostic in here() {
                let (entry, place) = (diagnostic.entry(), region(diagnostic.span, set.sources));
                let name = format!("{} {} {}:{}", entry.id, entry.name, place.line, place.column);
                let text = escape(&sentence(diagnostic));
                let inside = if entry.level <= run.fail_on {
                    format!("<failure type=\"{}\" message=\"{text}\"/>", entry.level.word())
                } else {
                    format!("<system-out>{}: {text}</system-out>", entry.level.word())
                };
                cases.push_str(&case(&name, &source.name, &inside));
            }
            let count = here().count().max(1);
            if here().next().is_none() {
                cases.push_str(&case("check", &source.name, ""));
            }
            suites.push_str(&suite(&source.name, count, fails, 0, &cases));
            (tests, failed) = (tests + count, failed + fails);
        }
    }
    let errors = run.failures.len();
    if errors > 0 {
        let error = |failure: &String| case("run", "switchback", &format!("<error message=\"{}\"/>", escape(failure)));
        suites.push_str(&suite("switchback", errors, 0, errors, &run.failures.iter().map(error).collect::<String>()));
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"switchback check\" tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\">\n{suites}</testsuites>\n",
        tests + errors
    )
}

fn suite(name: &str, tests: usize, failures: usize, errors: usize, cases: &str) -> String {
    let name = escape(name);
    format!(
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\">\n{cases}  </testsuite>\n"
    )
}

fn case(name: &str, file: &str, inside: &str) -> String {
    let (name, file) = (escape(name), escape(file));
    format!("    <testcase name=\"{name}\" classname=\"{file}\">{inside}</testcase>\n")
}

/// Text for XML 1.0, which has no place for most control characters, escaped or not.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}
