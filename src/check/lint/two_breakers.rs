//! Providers of one account that name different breakers: the account's key would have two of them.

use super::setting;
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::check::lower::health;
use crate::diag::{Code, Diagnostic};
use crate::policy::Provider;
use crate::syntax::settings::Block;
use std::collections::HashMap;

/// Compares each provider with the first of its account.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    let chosen = |provider: &Provider| {
        let position = cx.names.position(Block::Provider, &provider.name)?;
        let decl = cx.names.decl(Block::Provider, position)?;
        health::chosen(cx.names, Block::Breaker, &[decl]).map(|choice| choice.position)
    };
    let called = |position: Option<usize>| match position.and_then(|at| cx.names.decl(Block::Breaker, at)) {
        Some(decl) => format!("breaker `{}`", decl.name),
        None => "the built-in breaker".to_owned(),
    };
    let mut known: HashMap<&str, &Provider> = HashMap::new();
    for provider in draft.providers.iter().flatten() {
        let first = *known.entry(provider.account.as_str()).or_insert(provider);
        let (one, other) = (chosen(first), chosen(provider));
        let place = |provider: &Provider| setting(cx, Block::Provider, &provider.name, "breaker");
        let (Some(first_span), Some(span)) = (place(first), place(provider)) else { continue };
        if one == other {
            continue;
        }
        let (one, other) = (called(one), called(other));
        let message = format!("account `{}` would have two breakers: {one} and {other}", provider.account);
        out.push(
            Diagnostic::new(Code::TwoBreakers, span, message)
                .here(format!("{other} here"))
                .label(first_span, format!("{one} for `{}`", first.name))
                .help("name the same breaker in both: what one account suffers is counted once"),
        );
    }
}
