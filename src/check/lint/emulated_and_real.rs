//! Emulated and real providers in one chain: some answers would be real, and others made up.

use super::{links, quoted};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Api;

/// Looks at each chain of each tier.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for tier in draft.tiers.iter().flatten() {
        for chain in &tier.chains {
            let Some(links) = links(draft, chain) else { continue };
            let (made_up, real): (Vec<_>, Vec<_>) = links.iter().partition(|link| link.provider.api == Api::Emulated);
            let Some(first) = made_up.first().filter(|_| !real.is_empty()) else { continue };
            let names = quoted(made_up.iter().map(|link| link.target.name.as_str()));
            out.push(
                Diagnostic::new(
                    Code::EmulatedAndReal,
                    chain.span,
                    format!("this chain of tier `{}` mixes emulated and real targets", tier.name),
                )
                .here("some of its answers are made up")
                .label(first.span, format!("emulated: {names}"))
                .help("keep emulated targets in tiers of their own"),
            );
        }
    }
}
