//! A `fallback to TIER` in a matrix that only routes of that very tier use.

use super::known;
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Action, FallbackTo};
use crate::source::Span;
use std::collections::BTreeMap;

/// Judges each written fallback over all routes at once.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut judged: BTreeMap<Span, (u16, bool)> = BTreeMap::new();
    for route in &draft.routes {
        let Some(route) = route else { return };
        let Some(matrix) = known(&draft.matrices, route.matrix.index()) else { return };
        for action in matrix.rows.iter().flat_map(|row| &row.actions).filter(|action| action.written) {
            if let Action::Fallback(FallbackTo::Tier(tier)) = action.action {
                judged.entry(action.span).or_insert((tier.0, false)).1 |= tier != route.tier;
            }
        }
    }
    for (span, (tier, elsewhere)) in judged {
        let Some(tier) = known(&draft.tiers, usize::from(tier)).filter(|_| !elsewhere) else { continue };
        out.push(
            Diagnostic::new(
                Code::FallbackToItself,
                span,
                format!("`fallback to {}` leads where the request is", tier.name),
            )
            .here("every route that uses this matrix has that tier")
            .label(tier.span, "the tier")
            .help("name another tier, or write `fallback` for another model of the chain"),
        );
    }
}
