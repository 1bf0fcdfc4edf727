//! A route of made-up answers in a set that serves real ones as well.
//!
//! A set whose providers are all emulated is a demonstration, and nobody takes it for anything else. A route that mixes
//! both is another finding.

use super::{in_reach, setting};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Api;
use crate::syntax::settings::Block;
use std::collections::BTreeMap;

/// Speaks once of each emulated provider of a route that reaches nothing else.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut made_up = BTreeMap::new();
    let mut real = None;
    for route in draft.routes.iter().flatten() {
        let Some(links) = in_reach(draft, route) else { continue };
        match links.iter().find(|link| link.provider.api != Api::Emulated) {
            Some(link) => real = real.or(Some((link.provider, route))),
            None => {
                for link in links {
                    made_up.entry(&link.provider.name).or_insert((link.provider, route));
                }
            }
        }
    }
    let Some((other, beside)) = real else { return };
    for (provider, route) in made_up.into_values() {
        let span = setting(cx, Block::Provider, &provider.name, "api").unwrap_or(provider.span);
        let message = format!(
            "route `{}` serves what provider `{}` makes up, and route `{}` real answers",
            route.name, provider.name, beside.name
        );
        out.push(
            Diagnostic::new(Code::EmulatedProvider, span, message)
                .here("the built-in emulator")
                .label(route.span, "its answers are made up")
                .label(other.span, "a real provider")
                .help("name a real api here; where that is meant, write `# allow SB0612: reason` above the provider"),
        );
    }
}
