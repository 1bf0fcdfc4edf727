//! A standby that costs many times what the first of its chain costs: an outage raises the bill by as much.

use super::{Link, enabled};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};

/// From how many times the price on it is worth a word.
const TIMES: u64 = 10;

/// Compares each chain's later targets with its first, by the price of output, else of input.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for chain in draft.tiers.iter().flatten().flat_map(|tier| &tier.chains) {
        let Some(links) = enabled(draft, chain) else { continue };
        let Some((first, rest)) = links.split_first() else { continue };
        let Some(base) = price(first).filter(|price| *price > 0) else { continue };
        for link in rest {
            let Some(times) = price(link).map(|price| price / base).filter(|times| *times >= TIMES) else { continue };
            out.push(
                Diagnostic::new(
                    Code::DearerStandby,
                    link.span,
                    format!("target `{}` costs {times} times what `{}` costs", link.target.name, first.target.name),
                )
                .here("an outage raises the bill by as much")
                .label(first.span, "the first of the chain")
                .help("put a cheaper one before it, or cap a request: `spend $X/request` in the budget"),
            );
        }
    }
}

fn price(link: &Link<'_>) -> Option<u64> {
    let (own, model) = (link.target.prices, link.model.capabilities.prices);
    own.output.or(model.output).map(|price| price.0)
}
