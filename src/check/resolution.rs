//! What each setting of each block came to, and why: the side list that `list --resolved` prints.
//!
//! In: settings as lowering meets them. Out: plain text values with their origins. Never read by anything that decides.

use super::context::{Context, Decl};
use crate::policy::Matrix;
use crate::source::Span;
use crate::syntax::settings::Block;

/// One setting's effective value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The kind of block.
    pub block: Block,
    /// The block's name; empty for `defaults`.
    pub name: String,
    /// The setting.
    pub word: String,
    /// Its value in the language's notation.
    pub value: String,
    /// Why it has this value.
    pub origin: Origin,
}

/// Why a setting has its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The block says so itself.
    Written(Span),
    /// A block that it extends says so.
    Inherited {
        /// That block's name.
        from: String,
        /// Where.
        span: Span,
    },
    /// The set's `defaults` block says so.
    Defaults(Span),
    /// The language says so.
    Default,
}

/// Notes the rows of a matrix, its own first.
pub(super) fn rows<'a>(cx: &mut Context<'a>, decl: &Decl<'a>, matrix: &Matrix) {
    if !cx.lists {
        return;
    }
    for row in &matrix.rows {
        let whole = cx.names.slice(row.span).split_whitespace().collect::<Vec<_>>().join(" ");
        let value = whole.strip_prefix(row.text.as_str()).unwrap_or(&whole).trim().to_owned();
        let within =
            |outer: Span| outer.file == row.span.file && outer.start <= row.span.start && row.span.end <= outer.end;
        let home = cx.names.list(Block::Matrix).iter().find(|other| within(other.statement.span));
        let origin = match home {
            Some(home) if home.name != decl.name => Origin::Inherited { from: home.name.clone(), span: row.span },
            Some(_) | None => Origin::Written(row.span),
        };
        cx.resolved.push(Resolved {
            block: Block::Matrix,
            name: decl.name.clone(),
            word: row.text.clone(),
            value,
            origin,
        });
    }
}
