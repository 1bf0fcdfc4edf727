//! What a test came to.

use crate::policy::Test;
use crate::source::{Sources, Span};
use schemars::JsonSchema;
use serde::Serialize;

/// The result of one `test` block.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestReport {
    /// Its title.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
    /// How many requests it sent.
    pub sends: usize,
    /// What did not hold; empty where it passed.
    pub misses: Vec<Miss>,
}

/// One expectation that did not hold.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Miss {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The expectation, as written.
    pub expected: String,
    /// What was seen instead.
    pub got: String,
}

/// The results of a set's tests.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// Version of this form: 1.
    pub version: u32,
    /// Hash of the policy.
    pub policy: String,
    /// Each test, in the order of files and lines.
    pub tests: Vec<TestReport>,
    /// How many.
    pub summary: Summary,
}

/// How many tests held.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// Tests that held.
    pub passed: usize,
    /// Tests that did not.
    pub failed: usize,
}

impl Report {
    /// A report of these tests.
    pub fn new(policy: &str, tests: Vec<TestReport>) -> Report {
        let passed = tests.iter().filter(|t| t.passed()).count();
        let failed = tests.len() - passed;
        Report { version: 1, policy: policy.to_owned(), tests, summary: Summary { passed, failed } }
    }
}

impl TestReport {
    pub(super) fn new(sources: &Sources, test: &Test) -> TestReport {
        let (file, place) = sources.locate(test.span);
        TestReport { name: test.name.clone(), file: file.to_owned(), line: place.line, sends: 0, misses: Vec::new() }
    }

    pub(super) fn miss(&mut self, sources: &Sources, span: Span, got: String) {
        let (file, place) = sources.locate(span);
        let written = sources.get(span.file).map_or("", |s| s.slice(span));
        let expected = written.lines().next().unwrap_or("").trim_end_matches('{').trim().to_owned();
        self.misses.push(Miss { file: file.to_owned(), line: place.line, expected, got });
    }

    /// Whether everything held.
    pub fn passed(&self) -> bool {
        self.misses.is_empty()
    }
}
