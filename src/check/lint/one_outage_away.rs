//! A chain whose targets share one provider, account, credential or region: one outage takes them all.

use super::{Link, enabled};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};

/// Looks at each chain of two or more targets, and names the widest thing that they share.
pub fn lint(_: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for tier in draft.tiers.iter().flatten() {
        for chain in &tier.chains {
            let Some(links) = enabled(draft, chain).filter(|links| links.len() > 1) else { continue };
            let Some(what) = shared(&links) else { continue };
            out.push(
                Diagnostic::new(
                    Code::OneOutageAway,
                    chain.span,
                    format!(
                        "this chain of tier `{}` is one outage away from having no target: all share {what}",
                        tier.name
                    ),
                )
                .here("no target survives its loss")
                .help("add a target elsewhere"),
            );
        }
    }
}

fn shared(links: &[Link<'_>]) -> Option<String> {
    let first = links.first()?;
    let (provider, target) = (first.provider, first.target);
    let all = |same: &dyn Fn(&Link<'_>) -> bool| links.iter().all(same);
    if all(&|link| link.provider.name == provider.name) {
        return Some(format!("provider `{}`", provider.name));
    }
    if all(&|link| link.provider.account == provider.account) {
        return Some(format!("account `{}`", provider.account));
    }
    if !provider.keys.is_empty() && all(&|link| link.provider.keys == provider.keys) {
        return Some("one credential".to_owned());
    }
    let region = target.region.as_ref()?;
    all(&|link| link.target.region.as_ref() == Some(region)).then(|| format!("region `{region}`"))
}
