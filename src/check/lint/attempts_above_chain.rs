//! A cap on attempts that no request can come to: more than one for each target of the chain, and what retries add.

use super::{enabled, known, routes, written};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Action, Matrix};
use crate::syntax::settings::Block;
use std::collections::BTreeMap;

/// Looks at each budget over all routes that use it.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    // What is unknown may be where the attempts are used.
    if draft.routes.iter().any(Option::is_none) {
        return;
    }
    let mut most: BTreeMap<u16, Option<u32>> = BTreeMap::new();
    for (route, tier) in routes(draft) {
        let chains: Option<Vec<_>> = tier.chains.iter().map(|chain| Some(enabled(draft, chain)?.len())).collect();
        let longest = chains.and_then(|all| all.into_iter().max()).and_then(|len| u32::try_from(len).ok());
        let uses =
            longest.zip(known(&draft.matrices, route.matrix.index())).and_then(|(len, matrix)| uses(len, matrix));
        let entry = most.entry(route.budget.0).or_insert(Some(0));
        *entry = entry.zip(uses).map(|(a, b)| a.max(b));
    }
    for (budget, most) in most {
        let (Some(budget), Some(most)) = (known(&draft.budgets, usize::from(budget)), most) else { continue };
        if budget.attempts <= most || budget.rounds > 1 {
            continue;
        }
        let span = written(cx, Block::Budget, &budget.name, "attempts");
        let message = format!("no request comes to {} attempts", budget.attempts);
        let found = Diagnostic::new(Code::AttemptsAboveChain, span.unwrap_or(budget.span), message)
            .here(format!("at most {most} can be used"))
            .help(format!("write `attempts {most}`: a cap that is never met protects nothing"));
        let text = format!("attempts {most}");
        out.push(match span {
            Some(span) => found.fix(format!("write `{text}`"), span, text, false),
            None => found,
        });
    }
}

/// Each target once, and one more call or as many as the most patient row retries. Nothing where a matrix leads to
/// another tier, whose targets come on top.
fn uses(targets: u32, matrix: &Matrix) -> Option<u32> {
    let mut more = 1;
    for action in matrix.rows.iter().flat_map(|row| &row.actions) {
        match action.action {
            Action::Retry { times } => more = more.max(times),
            Action::Fallback(crate::policy::FallbackTo::Tier(_)) => return None,
            Action::Fallback(_) | Action::Wait { .. } | Action::Failover | Action::Stop { .. } | Action::NextKey => {}
        }
    }
    Some(targets + more)
}
