//! Two providers with one address and one credential that are said to be two accounts: what bars one bars the other.

use super::setting;
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::syntax::settings::Block;

/// Compares each provider with those before it.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let providers: Vec<_> = draft.providers.iter().flatten().collect();
    for (at, second) in providers.iter().enumerate() {
        let one = |first: &&&crate::policy::Provider| {
            !first.keys.is_empty()
                && (first.api, &first.base_url, &first.keys) == (second.api, &second.base_url, &second.keys)
                && first.account != second.account
        };
        let Some(first) = providers.iter().take(at).find(one) else { continue };
        let span = setting(cx, Block::Provider, &second.name, "account").unwrap_or(second.span);
        let message = format!("providers `{}` and `{}` are one account under two names", first.name, second.name);
        out.push(
            Diagnostic::new(Code::TwoAccountsOneCredential, span, message)
                .here(format!("account `{}`", second.account))
                .label(first.span, format!("account `{}`, with the same address and key", first.account))
                .help(format!("write `account {}` in both: a limit or an outage there is one for both", first.account)),
        );
    }
}
