//! Tests in virtual time: the lines of a `test` block drive the very state machine that serves.
//!
//! In: a graph and its tests. Out: what each expectation came to. Scripted answers become wire bytes, are read and
//! classified as live ones are, and time is a number. No network, no clock, no sleep.

mod calling;
mod drive;
mod expect;
mod report;
mod world;

pub use report::{Miss, Report, Summary, TestReport};

use crate::graph::Graph;
use crate::policy::{Millis, Test, TestStep};
use crate::source::Sources;
use drive::Told;
use world::World;

/// Runs every test of the set, in the order of files and lines.
pub fn run_all(graph: &Graph, sources: &Sources) -> Vec<TestReport> {
    graph.policy().tests.iter().map(|test| run(graph, sources, test)).collect()
}

/// Runs one test.
pub fn run(graph: &Graph, sources: &Sources, test: &Test) -> TestReport {
    let mut world = World::new(graph, test);
    let mut report = TestReport::new(sources, test);
    let mut last: Option<Told> = None;
    let (mut called, mut refusal_expected) = (0, false);
    for (number, line) in (1u32..).zip(&test.lines) {
        match &line.step {
            TestStep::Send { route, facts } => {
                let at = line.at.unwrap_or(Millis::ZERO).max(world.now());
                let told = drive::send(graph, &mut world, *route, facts, at, number);
                called += told.run.attempts();
                if let Some(target) = told.unscripted {
                    report.miss(
                        sources,
                        line.span,
                        format!("`{}` was called and has no script", graph.target_name(target)),
                    );
                }
                last = Some(told);
            }
            TestStep::Expect(expectation) => {
                refusal_expected |= expect::is_refusal(expectation);
                match &last {
                    Some(told) => {
                        if let Err(got) = expect::judge(graph, told, expectation) {
                            report.miss(sources, line.span, got);
                        }
                    }
                    None => report.miss(sources, line.span, "there is no `send` above this line".to_owned()),
                }
            }
            TestStep::Answers { .. } | TestStep::Is { .. } | TestStep::Dice { .. } | TestStep::Spent { .. } => {}
        }
    }
    if called == 0 && !refusal_expected && report.passed() {
        let nothing = "nothing was called, so this test shows nothing; expect a refusal, or script a target";
        report.miss(sources, test.span, nothing.to_owned());
    }
    report.sends = last.map_or(0, |_| test.lines.iter().filter(|l| matches!(l.step, TestStep::Send { .. })).count());
    report
}

#[cfg(test)]
mod tests;
