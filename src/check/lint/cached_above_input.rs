//! Input read from a cache that costs more than input that is not: two prices are swapped, or one is mistyped.

use super::setting;
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::Prices;
use crate::source::Span;
use crate::syntax::settings::Block;

/// Looks at models, and at targets with prices of their own.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for model in draft.models.iter().flatten() {
        let span = setting(cx, Block::Model, &model.name, "price").unwrap_or(model.span);
        look(model.capabilities.prices, span, out);
    }
    for target in draft.targets.iter().flatten() {
        let span = setting(cx, Block::Target, &target.name, "price").unwrap_or(target.span);
        look(target.prices, span, out);
    }
}

fn look(prices: Prices, span: Span, out: &mut Vec<Diagnostic>) {
    if let (Some(input), Some(cached)) = (prices.input, prices.cached)
        && cached > input
    {
        out.push(
            Diagnostic::new(Code::CachedAboveInput, span, "cached input costs more here than input that is not cached")
                .here("the wrong way round?")
                .help("write the lower of the two for `cached`"),
        );
    }
}
