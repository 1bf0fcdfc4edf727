//! A chain of which every target is switched off in git.

use super::links;
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};

/// Looks at each chain.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for tier in draft.tiers.iter().flatten() {
        for chain in &tier.chains {
            let Some(links) = links(draft, chain) else { continue };
            if links.is_empty() || links.iter().any(|link| link.target.enabled) {
                continue;
            }
            let mut found = Diagnostic::new(
                Code::ChainSwitchedOff,
                chain.span,
                format!("every target of this chain of tier `{}` is switched off", tier.name),
            )
            .here("nobody answers")
            .help("switch one of them on, or take the tier out of use");
            for link in links.iter().take(3) {
                found = found.label(link.target.span, "has `enabled no`");
            }
            out.push(found);
        }
    }
}
