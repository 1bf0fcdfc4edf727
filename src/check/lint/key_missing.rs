//! A vendor's own address without a credential: every call would be refused.

use super::written;
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Api;
use crate::syntax::settings::Block;

/// Looks at providers that name no address.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for provider in draft.providers.iter().flatten() {
        // A header may carry what the vendor asks for, under a name of its own.
        let open = provider.keys.is_empty() && provider.base_url.is_none() && provider.headers.is_empty();
        // A pool of keys has no effect yet, and is one all the same.
        let pool = written(cx, Block::Provider, &provider.name, "keys").is_some();
        if !open || pool || provider.api == Api::Emulated {
            continue;
        }
        out.push(
            Diagnostic::new(
                Code::KeyMissing,
                provider.span,
                format!("provider `{}` has no key, and the address is the vendor's", provider.name),
            )
            .here("every call would be refused")
            .help("write `key env NAME`, or the `base-url` of a server that asks for none"),
        );
    }
}
