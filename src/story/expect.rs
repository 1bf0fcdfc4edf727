//! Whether an expectation holds of the last `send` above it.

use super::drive::Told;
use crate::decide::trail::PassedWhy;
use crate::decide::{Outcome, StepAction, StepResult, Why};
use crate::graph::Graph;
use crate::policy::test::Told as ExpectedTold;
use crate::policy::{Expectation, PathItem, Subject, TargetId};

/// Whether the expectation is of a refusal, so that a test may pass without a call.
pub(super) fn is_refusal(expectation: &Expectation) -> bool {
    matches!(expectation, Expectation::Refused { .. })
}

/// Judges one expectation.
///
/// # Errors
/// What was seen instead, for people.
pub(super) fn judge(graph: &Graph, told: &Told, expectation: &Expectation) -> Result<(), String> {
    let ok = |holds: bool, got: String| if holds { Ok(()) } else { Err(got) };
    match expectation {
        Expectation::ServedBy(target) => {
            let served = (told.run.outcome() == Some(Outcome::Served)).then(|| told.run.target()).flatten();
            ok(served == Some(*target), ending(graph, told))
        }
        Expectation::Refused { why, status } => {
            let refused = told.run.refused().filter(|_| told.run.outcome() == Some(Outcome::Refused));
            let same = refused.is_some_and(|r| match (r.why, why) {
                (Why::Class(a), ExpectedTold::Class(b)) => a == *b,
                (Why::Refusal(a), ExpectedTold::Refusal(b)) => a == *b,
                (Why::Class(_), ExpectedTold::Refusal(_)) | (Why::Refusal(_), ExpectedTold::Class(_)) => false,
            });
            let as_status = status.is_none_or(|s| refused.is_some_and(|r| r.status == s));
            ok(same && as_status, ending(graph, told))
        }
        Expectation::Attempts(comparison, count) => {
            let attempts = u64::from(told.run.attempts());
            ok(comparison.holds(&attempts, count), format!("{attempts} attempts"))
        }
        Expectation::Elapsed(comparison, limit) => {
            ok(comparison.holds(&told.elapsed, limit), format!("{} elapsed", told.elapsed))
        }
        Expectation::Cost(comparison, limit) => match told.cost {
            Some(cost) => ok(comparison.holds(&cost, limit), format!("it cost {cost}")),
            None => Err("its cost is not known: a price is missing, or nothing was served".to_owned()),
        },
        Expectation::Path(items) => {
            let seen = path(told);
            ok(seen == *items, format!("path [{}]", words(&seen)))
        }
        Expectation::Never(subject) => {
            let called = told.run.trail().iter().filter_map(|s| s.target).find(|t| covers(graph, *subject, *t));
            ok(called.is_none(), format!("`{}` was called", called.map_or("", |t| graph.target_name(t))))
        }
        Expectation::Skipped { target, reason } => {
            let seen: Vec<String> = told
                .run
                .trail()
                .iter()
                .flat_map(|s| &s.passed)
                .filter(|p| p.target == *target)
                .map(|p| p.why.to_string())
                .collect();
            let unmet = told
                .run
                .trail()
                .iter()
                .flat_map(|s| &s.passed)
                .any(|p| p.target == *target && matches!(p.why, PassedWhy::Unmet(_)));
            let holds = seen.iter().any(|s| s == reason) || (reason == "contract" && unmet);
            let seen = if seen.is_empty() {
                "it was not skipped".to_owned()
            } else {
                format!("skipped as {}", seen.join(", "))
            };
            ok(holds, seen)
        }
        Expectation::Output(text) => ok(told.output == *text, format!("output {:?}", told.output)),
        Expectation::EndedWithError => ok(told.run.outcome() == Some(Outcome::Cut), ending(graph, told)),
    }
}

fn covers(graph: &Graph, subject: Subject, target: TargetId) -> bool {
    match subject {
        Subject::Target(t) => t == target,
        Subject::Provider(p) => graph.target(target).is_some_and(|t| t.provider == p),
    }
}

/// How a request ended, in a sentence for people.
fn ending(graph: &Graph, told: &Told) -> String {
    let target = told.run.target().map_or("", |t| graph.target_name(t));
    match (told.run.outcome(), told.run.refused()) {
        (Some(Outcome::Served), _) => format!("served by {target}"),
        (Some(Outcome::Refused), Some(r)) => format!("refused {} as {}", r.why.word(), r.status),
        (Some(Outcome::Cut), Some(r)) => format!("cut after output of {target} ({})", r.why.word()),
        (Some(outcome), _) => outcome.word().to_owned(),
        (None, _) => "it did not end".to_owned(),
    }
}

/// Each attempt's class, `ok` or `lost`, in the order in which they began, and what led from one to the next.
fn path(told: &Told) -> Vec<PathItem> {
    let mut path = Vec::new();
    for step in told.run.trail().iter().filter(|s| s.target.is_some()) {
        match step.action {
            StepAction::Call => {}
            StepAction::Row(verb) => path.push(PathItem::Action(verb)),
            StepAction::Hedge => path.push(PathItem::Hedge),
        }
        path.push(match step.result {
            Some(StepResult { lost: true, .. }) => PathItem::Lost,
            Some(StepResult { class: Some(class), .. }) => PathItem::Class(class),
            Some(StepResult { class: None, .. }) | None => PathItem::Ok,
        });
    }
    path
}

fn words(path: &[PathItem]) -> String {
    let word = |item: &PathItem| match item {
        PathItem::Class(class) => class.word(),
        PathItem::Ok => "ok",
        PathItem::Lost => "lost",
        PathItem::Hedge => "hedge",
        PathItem::Action(verb) => verb.word(),
    };
    path.iter().map(word).collect::<Vec<_>>().join(", ")
}
