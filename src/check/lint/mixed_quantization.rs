//! Targets of one model that are declared to be stored differently: a failover between them changes the answers.

use super::setting;
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Target;
use crate::syntax::settings::Block;
use std::collections::BTreeMap;

/// Compares each target that declares its quantization with the first of its model that does.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut firsts: BTreeMap<usize, (&Target, &str)> = BTreeMap::new();
    for target in draft.targets.iter().flatten().filter(|target| target.enabled) {
        let Some(own) = target.quantization.as_deref() else { continue };
        let (first, other) = *firsts.entry(target.model.index()).or_insert((target, own));
        if own.eq_ignore_ascii_case(other) {
            continue;
        }
        let place = |target: &Target| setting(cx, Block::Target, &target.name, "quantization").unwrap_or(target.span);
        let message = format!("`{}` and `{}` are one model, stored as {other} and {own}", first.name, target.name);
        out.push(
            Diagnostic::new(Code::MixedQuantization, place(target), message)
                .here("a failover to or from here changes what is answered")
                .label(place(first), format!("`{}` is stored as {other}", first.name))
                .help(
                    "give one of them a model of its own and `fallback` between the two, or say that they answer \
                     alike: `# allow SB0625: reason`",
                ),
        );
    }
}
