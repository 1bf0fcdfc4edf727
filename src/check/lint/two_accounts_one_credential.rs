//! Two providers with one address and one credential that are said to be two accounts: what bars one bars the other.

use super::setting;
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Provider;
use crate::syntax::settings::Block;
use std::collections::HashMap;

/// Compares each provider with those before it.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let mut known: HashMap<_, &Provider> = HashMap::new();
    for second in draft.providers.iter().flatten().filter(|provider| !provider.keys.is_empty()) {
        let first = *known.entry((second.api, &second.base_url, &second.keys)).or_insert(second);
        if first.account == second.account {
            continue;
        }
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
