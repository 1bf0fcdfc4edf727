//! A model that is said to write more than it can hold: input and output share its context.

use super::setting;
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::syntax::settings::Block;

/// Looks at each model.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for model in draft.models.iter().flatten() {
        let (Some(context), Some(most)) = (model.capabilities.context, model.capabilities.max_output) else { continue };
        if most <= context {
            continue;
        }
        let span = |word: &str| setting(cx, Block::Model, &model.name, word).unwrap_or(model.span);
        out.push(
            Diagnostic::new(Code::OutputAboveContext, span("max-output"), "more output than the context holds")
                .here(format!("{most} tokens"))
                .label(span("context"), format!("{context} tokens, input and output together"))
                .help("check both numbers with the vendor's page of the model"),
        );
    }
}
