//! A cap on attempts that no request can come to: more than one for each target of the chain and each
//! further key of its pools, and what retries add.

use super::{Link, enabled, known, routes, walks_keys, written};
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
        let matrix = known(&draft.matrices, route.matrix.index());
        let longest = |matrix| {
            let chains = tier.chains.iter().map(|chain| Some(calls(&enabled(draft, chain)?, matrix)));
            u32::try_from(chains.collect::<Option<Vec<_>>>()?.into_iter().max()?).ok()
        };
        let uses = matrix.and_then(|matrix| uses(longest(matrix)?, matrix));
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

/// Calls that a chain takes without repeating any: one for each target, and for each further key of its pools.
fn calls(links: &[Link<'_>], matrix: &Matrix) -> usize {
    let pools: BTreeMap<&str, usize> =
        links.iter().map(|link| (link.provider.name.as_str(), link.provider.keys.len().saturating_sub(1))).collect();
    links.len() + if walks_keys(matrix) { pools.values().sum() } else { 0 }
}

/// All of these once, and one more call or as many as the most patient row retries. Nothing where a matrix leads to
/// another tier, whose targets come on top.
fn uses(calls: u32, matrix: &Matrix) -> Option<u32> {
    let mut more = 1;
    for action in matrix.rows.iter().flat_map(|row| &row.actions) {
        match action.action {
            Action::Retry { times } => more = more.max(times),
            Action::Fallback(crate::policy::FallbackTo::Tier(_)) => return None,
            Action::Fallback(_) | Action::Wait { .. } | Action::Failover | Action::Stop { .. } | Action::NextKey => {}
        }
    }
    Some(calls + more)
}
