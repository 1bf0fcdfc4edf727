//! Emulated and real providers in one chain, or in reach of one route: some answers would be real, and others made up.

use super::{Link, in_reach, links, quoted};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Api;
use crate::source::Span;

/// Looks at each chain of each tier, and then at what routes reach by several.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut mixed = false;
    for tier in draft.tiers.iter().flatten() {
        for chain in &tier.chains {
            let Some((first, names)) = links(draft, chain).and_then(|links| made_up(&links)) else { continue };
            mixed = true;
            out.push(
                Diagnostic::new(
                    Code::EmulatedAndReal,
                    chain.span,
                    format!("this chain of tier `{}` mixes emulated and real targets", tier.name),
                )
                .here("some of its answers are made up")
                .label(first, format!("emulated: {names}"))
                .help("keep emulated targets in tiers of their own"),
            );
        }
    }
    // What a mixed chain leads to has been told with it.
    for route in draft.routes.iter().flatten().filter(|_| !mixed) {
        let Some((first, names)) = in_reach(draft, route).and_then(|links| made_up(&links)) else { continue };
        out.push(
            Diagnostic::new(
                Code::EmulatedAndReal,
                route.span,
                format!("route `{}` leads to emulated and to real targets", route.name),
            )
            .here("some of its answers are made up")
            .label(first, format!("emulated: {names}"))
            .help("let its matrix and its budget name tiers of the same kind"),
        );
    }
}

/// Where the first emulated target among real ones stands, and the names of all.
fn made_up(links: &[Link<'_>]) -> Option<(Span, String)> {
    let (made_up, real): (Vec<_>, Vec<_>) = links.iter().partition(|link| link.provider.api == Api::Emulated);
    let first = made_up.first().filter(|_| !real.is_empty())?;
    Some((first.span, quoted(made_up.iter().map(|link| link.target.name.as_str()))))
}
