//! A contract that no target of a chain meets: every request of the route would be refused.

use super::{clauses, enabled, known, routes};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};

/// Looks at each chain of each route that has a contract.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for (route, tier) in routes(draft) {
        let Some(contract) = route.contract.and_then(|id| known(&draft.contracts, id.index())) else { continue };
        for chain in &tier.chains {
            let Some(links) = enabled(draft, chain).filter(|links| !links.is_empty()) else { continue };
            let unmet: Vec<_> = links.iter().map(|link| (link, clauses::unmet(contract, link))).collect();
            if unmet.iter().any(|(_, clauses)| clauses.is_empty()) {
                continue;
            }
            let message = format!(
                "no target of tier `{}` meets contract `{}` of route `{}`",
                tier.name, contract.name, route.name
            );
            let mut diagnostic = Diagnostic::new(Code::ContractUnmet, route.span, message)
                .here("every request would be refused")
                .label(contract.span, "the contract")
                .help("add a target that meets the contract, or ask for less");
            for (link, clauses) in unmet {
                diagnostic = diagnostic.label(link.span, format!("`{}`: {}", link.target.name, clauses.join("; ")));
            }
            out.push(diagnostic);
        }
    }
}
