//! A provider that is called in clear text over a network: prompts, answers and the key can be read on the way.

use super::setting;
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Provider, Text};
use crate::syntax::settings::Block;

/// Looks at the addresses that the policy itself writes.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for provider in draft.providers.iter().flatten() {
        let Some(host) = written(provider).and_then(cleartext_host) else { continue };
        if is_loopback(host) {
            continue;
        }
        let span = setting(cx, Block::Provider, &provider.name, "base-url").unwrap_or(provider.span);
        out.push(
            Diagnostic::new(
                Code::CleartextHttp,
                span,
                format!("provider `{}` is called over `http` at another host", provider.name),
            )
            .here("anybody on the way can read it")
            .help("write `https`; loopback addresses may stay `http`"),
        );
    }
}

fn written(provider: &Provider) -> Option<&str> {
    match provider.base_url.as_ref()? {
        Text::Literal(url) => Some(url),
        Text::Env { default, .. } | Text::File { default, .. } => default.as_deref(),
    }
}

/// The host of an `http` address, without port, user and path.
fn cleartext_host(url: &str) -> Option<&str> {
    let scheme = url.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://"))?;
    let rest = url.get(scheme.len()..)?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[') {
        Some(six) => six.split(']').next(),
        None => host.split(':').next(),
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<core::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
