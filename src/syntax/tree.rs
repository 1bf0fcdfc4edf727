//! The tree that parsing yields: loose and lossless.
//!
//! It knows words, values, punctuation and blocks, and not one keyword. Every token of the text is in `Tree::tokens`,
//! comments included, so that the formatter can print the file from it; `Tree::statements` is the nesting, pointing at
//! the same text by span. What cannot be read at all is left out of the statements after a diagnostic has named it.

use crate::source::{Source, Span};

/// A parsed file.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The text it came from.
    pub source: Source,
    /// The top-level statements, the edition among them.
    pub statements: Vec<Statement>,
    /// Every token, in order, white space left out.
    pub tokens: Vec<Token>,
}

/// `item item … [block]`, ended by a line's end, `;`, or the `}` around it.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Words, values and punctuation in order; empty only where a block at the top level has no head.
    pub items: Vec<Item>,
    /// The block it carries.
    pub block: Option<Block>,
    /// `##` comments directly above, joined by line feeds, without the marks.
    pub docs: Option<String>,
    /// From the first item to the last, or to the block's `}`.
    pub span: Span,
}

/// `{ statements }`.
#[derive(Clone, Debug)]
pub struct Block {
    /// What stands inside.
    pub statements: Vec<Statement>,
    /// From `{` to `}`.
    pub span: Span,
}

/// One word, value or piece of punctuation.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Where it stands.
    pub span: Span,
}

/// What an item is.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// A name, a keyword, a fact such as `request.tokens`, or a pattern such as `timeout-*`.
    Word(String),
    /// A quoted string with its escapes undone.
    Str(String),
    /// Anything that begins with a digit or `$`, as written: `8s`, `2.5x`, `$2.50/M`, `2026-10-02`, `20/min`.
    Number(String),
    /// `[ … ]`, its items split at the commas.
    List(Vec<Vec<Item>>),
    /// `( … )`, its items in order, commas included.
    Group(Vec<Item>),
    /// `->`.
    Arrow,
    /// `,` outside a list.
    Comma,
    /// `==`, `!=`, `<`, `<=`, `>`, `>=`.
    Operator(Operator),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Operator {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            Operator::Equal => "==",
            Operator::NotEqual => "!=",
            Operator::Less => "<",
            Operator::AtMost => "<=",
            Operator::Greater => ">",
            Operator::AtLeast => ">=",
        }
    }

    /// The comparison that is written so.
    pub fn from_text(text: &str) -> Option<Operator> {
        [Operator::Equal, Operator::NotEqual, Operator::Less, Operator::AtMost, Operator::Greater, Operator::AtLeast]
            .into_iter()
            .find(|operator| operator.text() == text)
    }
}

/// A token of the text, for the formatter and for editors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A word.
    Word,
    /// A quoted string.
    Str,
    /// A number with or without a unit.
    Number,
    /// `{`
    Open,
    /// `}`
    Close,
    /// `[` or `(`
    OpenList,
    /// `]` or `)`
    CloseList,
    /// `,`
    Comma,
    /// `->`
    Arrow,
    /// A comparison.
    Operator,
    /// `;`
    Semicolon,
    /// `#` or `##` to the end of the line.
    Comment,
    /// The end of a line, also where the statement goes on (blank lines are two in a row).
    LineEnd,
}

impl Item {
    /// The word, if it is one.
    pub fn word(&self) -> Option<&str> {
        match &self.kind {
            ItemKind::Word(word) => Some(word),
            ItemKind::Str(_)
            | ItemKind::Number(_)
            | ItemKind::List(_)
            | ItemKind::Group(_)
            | ItemKind::Arrow
            | ItemKind::Comma
            | ItemKind::Operator(_) => None,
        }
    }

    /// Whether it is exactly this word.
    pub fn is(&self, word: &str) -> bool {
        self.word() == Some(word)
    }
}

impl Statement {
    /// The first item's word: the setting's or block's keyword.
    pub fn keyword(&self) -> Option<&str> {
        self.items.first().and_then(Item::word)
    }

    /// Whether it begins with a number, as the stages of a ramp do.
    pub fn begins_with_number(&self) -> bool {
        matches!(self.items.first().map(|item| &item.kind), Some(ItemKind::Number(_)))
    }
}
