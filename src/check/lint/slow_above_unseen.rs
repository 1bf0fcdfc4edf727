//! A `slow-above` over targets that nobody probes: only probes, and what they let in, say how slow a target is.

use super::{known, quoted, written};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::probe::ProbeKind;
use crate::syntax::settings::Block;
use std::collections::BTreeSet;

/// Looks at each tier with a limit of its own.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for tier in draft.tiers.iter().flatten().filter(|tier| tier.slow_above.is_some()) {
        let Some(span) = written(cx, Block::Tier, &tier.name, "slow-above") else { continue };
        let targets: BTreeSet<usize> =
            tier.chains.iter().flat_map(|c| &c.ranks).map(|rank| rank.target.index()).collect();
        let targets = targets.into_iter().filter_map(|at| known(&draft.targets, at));
        let unseen = targets.filter(|t| t.probe.as_ref().is_none_or(|probe| probe.kind == ProbeKind::Endpoint));
        let unseen: Vec<&str> = unseen.map(|target| target.name.as_str()).collect();
        if !unseen.is_empty() {
            out.push(
                Diagnostic::new(Code::SlowAboveUnseen, span, format!("nobody sees whether {} is slow", quoted(unseen)))
                    .here("a limit that nothing is measured against")
                    .help("give each target of the tier a `probe` of a kind that takes an answer"),
            );
        }
    }
}
