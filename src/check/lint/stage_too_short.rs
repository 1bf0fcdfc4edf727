//! A stage of a ramp that is over before a call that hangs in it is known to have failed: its rollback never sees it.

use super::{declared, known};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::check::lower::health;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Action, Budget, FallbackTo, Millis, Route, TargetId};
use crate::source::Span;
use crate::syntax::settings::Block;

/// Looks at each ramp in use, with the shortest time that any route grants a call at its targets: where even that is
/// longer than a stage, no route's calls can show in it.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for (position, decl) in cx.names.list(Block::Ramp).iter().enumerate() {
        let Some(rules) = known(&draft.health.ramps, position) else { continue };
        let Some((limit, budget)) = shortest(cx, draft, position) else { continue };
        let lines: Vec<Span> = decl.statements().iter().filter(|s| s.begins_with_number()).map(|s| s.span).collect();
        for (at, stage) in rules.stages.iter().enumerate().filter(|(_, stage)| stage.lasts < limit) {
            // Stages that another block wrote are told of there, unless this one alone is used.
            let span = lines.get(at).copied().unwrap_or(decl.name_span);
            let message = format!("a stage of {} is over before its rollback can see a call hang", stage.lasts);
            out.push(
                Diagnostic::new(Code::StageTooShort, span, message)
                    .here(format!("a call may take {limit}"))
                    .label(budget, "this budget grants it")
                    .help(format!("let each stage last {limit} at least")),
            );
        }
    }
}

/// The shortest limit of a call at any target that has this ramp, and the budget that sets it.
fn shortest(cx: &Context<'_>, draft: &Draft, ramp: usize) -> Option<(Millis, Span)> {
    let has = |index: usize| {
        let name = &known(&draft.targets, index)?.name;
        let decl = declared(cx, Block::Target, name)?;
        let choice = health::chosen(cx.names, Block::Ramp, &health::homes(cx.names, decl))?;
        (choice.position == ramp).then_some(())
    };
    let reaches = |route: &Route| targets(draft, route).into_iter().any(|id| has(id.index()).is_some());
    let limit = |budget: &Budget| (budget.attempt_timeout.unwrap_or(budget.deadline), budget.span);
    let routes = draft.routes.iter().flatten().filter(|route| reaches(route));
    routes.filter_map(|route| known(&draft.budgets, route.budget.index())).map(limit).min_by_key(|(limit, _)| *limit)
}

/// The targets of a route's own tier, and of those that its matrix falls back to.
fn targets(draft: &Draft, route: &Route) -> Vec<TargetId> {
    let matrix = known(&draft.matrices, route.matrix.index());
    let further =
        matrix.iter().flat_map(|matrix| &matrix.rows).flat_map(|row| &row.actions).filter_map(|step| {
            if let Action::Fallback(FallbackTo::Tier(tier)) = step.action { Some(tier) } else { None }
        });
    let tiers = further.chain([route.tier]).filter_map(|id| known(&draft.tiers, id.index()));
    tiers.flat_map(|tier| &tier.chains).flat_map(|chain| &chain.ranks).map(|rank| rank.target).collect()
}
