//! A target of a chain that the route's contract always drops, while others of the chain meet it.

use super::{clauses, enabled, known};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Route;
use std::collections::BTreeMap;

/// Looks at each target of each chain, and speaks of it where every route that uses the chain drops it.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    // A route that is unknown may be the one that reaches the target.
    let Some(all) = draft.routes.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else { return };
    let mut users: BTreeMap<usize, Vec<&Route>> = BTreeMap::new();
    for route in all {
        users.entry(route.tier.index()).or_default().push(route);
    }
    for (index, users) in users {
        let Some(tier) = known(&draft.tiers, index) else { continue };
        let contracts: Option<Vec<_>> =
            users.iter().map(|route| route.contract.and_then(|id| known(&draft.contracts, id.index()))).collect();
        let Some(contracts) = contracts.filter(|all| !all.is_empty()) else { continue };
        // What drops a target from one chain drops it from the others too, so it is told once.
        let mut told: BTreeMap<&str, Diagnostic> = BTreeMap::new();
        for chain in &tier.chains {
            let Some(links) = enabled(draft, chain) else { continue };
            // A chain that a contract drops as a whole is that contract's error.
            let alive = contracts.iter().all(|c| links.iter().any(|link| clauses::unmet(c, link).is_empty()));
            if !alive {
                continue;
            }
            for link in &links {
                let reasons: Vec<_> = contracts.iter().map(|c| (c, clauses::unmet(c, link))).collect();
                if reasons.iter().any(|(_, clauses)| clauses.is_empty()) {
                    continue;
                }
                if let Some(found) = told.remove(link.target.name.as_str()) {
                    told.insert(&link.target.name, found.label(link.span, "nor here"));
                    continue;
                }
                let message = format!("target `{}` can never be reached here", link.target.name);
                let mut diagnostic = Diagnostic::new(Code::UnreachableTarget, link.span, message)
                    .here("never reached")
                    .help("remove it from the chain, or ask for less in the contract");
                for (contract, clauses) in reasons {
                    let label = format!("contract `{}` drops it: {}", contract.name, clauses.join("; "));
                    diagnostic = diagnostic.label(contract.span, label);
                }
                told.insert(&link.target.name, diagnostic);
            }
        }
        out.extend(told.into_values());
    }
}
