//! A block that nothing refers to.

use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::syntax::settings::Block;

/// The kinds that are there to be referred to.
const KINDS: [Block; 7] =
    [Block::Provider, Block::Model, Block::Target, Block::Contract, Block::Tier, Block::Matrix, Block::Budget];

/// Looks at each block of those kinds.
pub fn lint(cx: &Context<'_>, _: &Draft, out: &mut Vec<Diagnostic>) {
    for kind in KINDS {
        for (position, decl) in cx.names.list(kind).iter().enumerate() {
            if cx.is_used(kind, position) {
                continue;
            }
            let what = kind.word();
            out.push(
                Diagnostic::new(Code::UnusedBlock, decl.name_span, format!("nothing uses {what} `{}`", decl.name))
                    .here("not used")
                    .help("remove it, or use it"),
            );
        }
    }
}
