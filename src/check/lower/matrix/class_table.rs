//! What the class table says of a row's actions.
//!
//! In: a row whose classes are known. Out: one diagnostic for what its classes rule out, and one for each action that
//! evades what a class says. Never changes the row.

use super::listed;
use crate::diag::{Code, Diagnostic};
use crate::policy::class::Verb;
use crate::policy::{Action, Class, ClassSet, Row, RowAction};

/// The classes of a row that an action can never follow.
fn ruled_out(row: &Row, verb: Verb) -> ClassSet {
    row.classes.iter().filter(|class| class.forbids(verb)).fold(ClassSet::default(), ClassSet::with)
}

/// Reports actions that the class table rules out, and two that evade what the class says.
pub(super) fn class_table(row: &Row, out: &mut Vec<Diagnostic>) {
    let verbs = row.actions.iter().map(|action| (action.action.verb(), action.span));
    // What one class rules out is told once for the row.
    let mut told: Vec<(ClassSet, Diagnostic)> = Vec::new();
    for (verb, span) in verbs {
        let ruled_out = ruled_out(row, verb);
        if ruled_out.is_empty() {
            continue;
        }
        if let Some((_, found)) = told.iter_mut().find(|(classes, _)| *classes == ruled_out) {
            *found = found.clone().label(span, format!("nor can `{verb}`"));
            continue;
        }
        let message = format!("`{verb}` can never follow {}", listed(ruled_out));
        let found = Diagnostic::new(Code::ActionRuledOut, span, message)
            .here("ruled out")
            .help("give these classes a row of their own, ending in `stop`; `explain SB0504` says why");
        told.push((ruled_out, found));
    }
    let all = told.iter().fold(ClassSet::default(), |set, (classes, _)| set.union(*classes));
    out.extend(told.into_iter().map(|(_, found)| found));
    for RowAction { action, span, .. } in &row.actions {
        let matters = |class: Class| row.classes.contains(class) && !all.contains(class);
        match action {
            Action::Retry { .. } if matters(Class::RateLimit) => out.push(
                Diagnostic::new(Code::RetryOnRateLimit, *span, "`retry` does not wait for a rate limit to pass")
                    .here("calls into the limit again")
                    .help("write `wait up to 5s`, which follows the provider's hint")
                    .fix("write `wait up to 5s`", *span, "wait up to 5s", false),
            ),
            Action::Fallback(_) if matters(Class::Policy) => out.push(
                Diagnostic::new(Code::FallbackOnPolicy, *span, "`fallback` on `policy` evades a refusal")
                    .here("asks another model what this one refused")
                    .help("write `stop`; where the filter is known to err, say so in an `allow` comment"),
            ),
            Action::Retry { .. }
            | Action::Fallback(_)
            | Action::Wait { .. }
            | Action::NextKey
            | Action::Failover
            | Action::Stop { .. } => {}
        }
    }
}
