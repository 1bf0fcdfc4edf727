//! An emulated provider that a route would serve: its answers are made up.

use super::{links, routes, setting};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Api;
use crate::syntax::settings::Block;
use std::collections::BTreeMap;

/// Speaks once of each emulated provider that a chain of a route reaches.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut served = BTreeMap::new();
    for (route, tier) in routes(draft) {
        for link in tier.chains.iter().filter_map(|chain| links(draft, chain)).flatten() {
            if link.provider.api == Api::Emulated {
                served.entry(&link.provider.name).or_insert((link.provider, route));
            }
        }
    }
    for (provider, route) in served.into_values() {
        let span = setting(cx, Block::Provider, &provider.name, "api").unwrap_or(provider.span);
        let message = format!("route `{}` serves answers that provider `{}` makes up", route.name, provider.name);
        out.push(
            Diagnostic::new(Code::EmulatedProvider, span, message)
                .here("the built-in emulator")
                .label(route.span, "the route")
                .help("name a real api here; where that is meant, write `# allow SB0612: reason` above the provider"),
        );
    }
}
