//! What each setting of each block came to, and why: the side list that `list --resolved` prints.
//!
//! In: settings as lowering meets them. Out: plain text values with their origins. Never read by anything that decides.

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
