//! A region that a contract allows and no target is in: mistyped, or what it stood for has gone.

use super::{quoted, setting};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::contract::Pattern;
use crate::syntax::settings::Block;

/// Looks at each contract, if every target could be read and at least one says where it is.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let Some(targets) = draft.targets.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else { return };
    let regions: Vec<&str> = targets.iter().filter_map(|target| target.region.as_deref()).collect();
    if regions.is_empty() {
        return;
    }
    for contract in draft.contracts.iter().flatten() {
        let idle = |pattern: &&Pattern| !regions.iter().any(|region| pattern.matches(region));
        let nowhere: Vec<&str> = contract.regions.iter().filter(idle).map(|pattern| pattern.0.as_str()).collect();
        if nowhere.is_empty() {
            continue;
        }
        let span = setting(cx, Block::Contract, &contract.name, "regions").unwrap_or(contract.span);
        let mut known = regions.clone();
        known.sort_unstable();
        known.dedup();
        out.push(
            Diagnostic::new(Code::RegionNowhere, span, format!("no target is in {}", quoted(nowhere.iter().copied())))
                .here("allows nobody")
                .help(format!("targets are in {}", quoted(known.iter().copied()))),
        );
    }
}
