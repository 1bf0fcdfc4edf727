//! A contract that no target of a chain meets: every request of the route would be refused.

use super::{clauses, enabled, known, routes};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};

/// Looks at each chain of each route that has a contract.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for (route, tier) in routes(draft) {
        let Some(contract) = route.contract.and_then(|id| known(&draft.contracts, id.index())) else { continue };
        // Chains that lack the same are one finding.
        let mut told: Option<Diagnostic> = None;
        for chain in &tier.chains {
            let Some(links) = enabled(draft, chain).filter(|links| !links.is_empty()) else { continue };
            let unmet: Vec<_> = links.iter().map(|link| (link, clauses::unmet(contract, link))).collect();
            if unmet.iter().any(|(_, clauses)| clauses.is_empty()) {
                continue;
            }
            // What nobody states is written where it is known; what a target cannot do is another target's.
            let mut unknown: Vec<String> =
                unmet.iter().flat_map(|(_, clauses)| clauses).filter_map(|clause| not_stated(clause)).collect();
            let only = unmet.iter().all(|(_, clauses)| clauses.iter().all(|clause| not_stated(clause).is_some()));
            unknown.sort_unstable();
            unknown.dedup();
            let help = match (only, unknown.as_slice()) {
                (true, words) => format!("write {} at the model or the target, or ask for less", words.join(" and ")),
                (false, _) => "add a target that meets the contract, or ask for less".to_owned(),
            };
            let message = format!(
                "no target of tier `{}` meets contract `{}` of route `{}`",
                tier.name, contract.name, route.name
            );
            let mut diagnostic = told.take().unwrap_or_else(|| {
                Diagnostic::new(Code::ContractUnmet, route.span, message)
                    .here("every request would be refused")
                    .label(contract.span, "the contract")
                    .help(help)
            });
            for (link, clauses) in unmet {
                if diagnostic.labels.iter().any(|label| label.span == link.span) {
                    continue;
                }
                diagnostic = diagnostic.label(link.span, format!("`{}`: {}", link.target.name, clauses.join("; ")));
            }
            told = Some(diagnostic);
        }
        out.extend(told);
    }
}

/// The setting that a clause only lacks because nobody states it: `retention` of "`retention` unknown, …".
fn not_stated(clause: &str) -> Option<String> {
    let (word, _) = clause.split_once(" unknown")?;
    let word = word.trim_matches('`');
    Some(format!("`{}`", word.split(' ').next().unwrap_or(word)))
}
