//! A block that nothing refers to.

use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic, Level};
use crate::syntax::settings::Block;

/// The kinds that are there to be referred to.
const KINDS: [Block; 10] = [
    Block::Provider,
    Block::Model,
    Block::Target,
    Block::Contract,
    Block::Tier,
    Block::Matrix,
    Block::Budget,
    Block::Breaker,
    Block::Probe,
    Block::Ramp,
];

/// Looks at each block of those kinds. Where something else is broken, what it would have referred to is not known.
pub fn lint(cx: &Context<'_>, _: &Draft, out: &mut Vec<Diagnostic>) {
    if cx.diagnostics.iter().any(|d| d.level() == Level::Error && d.code != Code::NotYetInEffect) {
        return;
    }
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
