//! A chain of several models under a contract that asks for no measured quality: an answer may come from a model that
//! nobody has looked at for this task.

use super::{clauses, declared, enabled, known, quoted, routes};
use crate::check::context::{Context, extends_of};
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Percent;
use crate::syntax::settings::Block;
use std::collections::BTreeSet;

/// The clauses that ask for evidence.
const QUALITY: [&str; 2] = ["task-success", "schema-valid"];

/// Looks at each route that has a contract.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for (route, tier) in routes(draft).filter(|(route, _)| route.fallback > Percent::NONE) {
        let Some(contract) = route.contract.and_then(|id| known(&draft.contracts, id.index())) else { continue };
        if asks_for_evidence(cx, &contract.name) {
            continue;
        }
        for chain in &tier.chains {
            let Some(links) = enabled(draft, chain) else { continue };
            let admitted = links.iter().filter(|link| clauses::unmet(contract, link).is_empty());
            let models: BTreeSet<&str> = admitted.map(|link| link.model.name.as_str()).collect();
            if models.len() < 2 {
                continue;
            }
            out.push(
                Diagnostic::new(
                    Code::UnprovenFallback,
                    route.span,
                    format!(
                        "route `{}` may change model, and contract `{}` asks for no quality",
                        route.name, contract.name
                    ),
                )
                .here("an answer may come from a model that was never measured")
                .label(chain.span, format!("models {}", quoted(models)))
                .label(contract.span, "neither `task-success` nor `schema-valid`")
                .help("keep the chain to one model, write `fallback no` in the route, or allow it above the route with a reason"),
            );
            break;
        }
    }
}

/// Whether a contract, or one that it extends, has a quality clause, in effect or not yet.
fn asks_for_evidence(cx: &Context<'_>, name: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut at = declared(cx, Block::Contract, name);
    while let Some(decl) = at.filter(|decl| seen.insert(decl.name.clone())) {
        if decl.statements().iter().any(|s| s.keyword().is_some_and(|word| QUALITY.contains(&word))) {
            return true;
        }
        let parent = extends_of(decl).and_then(|s| s.items.get(1)).and_then(|item| item.word());
        at = parent.and_then(|name| declared(cx, Block::Contract, name));
    }
    false
}
