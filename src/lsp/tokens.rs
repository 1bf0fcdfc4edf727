//! Semantic tokens: the colours of a file by what its words are, not by how they are spelt.
//!
//! In: a file of a set. Out: stretches with their types, in order, none over the end of a line. What is not a word has
//! the type of its token.

use super::roles::{Role, Word};
use super::set::Set;
use crate::source::{FileId, Span};
use crate::syntax::tree::TokenKind;

macro_rules! kinds {
    ($($variant:ident $name:literal;)*) => {
        /// The type of a token.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Kind {
            /// All, in the order of the legend.
            pub const ALL: &'static [Kind] = &[$(Kind::$variant,)*];

            /// The protocol's name for it.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$variant => $name,)* }
            }
        }
    };
}

kinds! {
    Keyword "keyword";
    Name "class";
    Setting "property";
    Value "enumMember";
    Failure "type";
    Action "function";
    Fact "variable";
    Str "string";
    Number "number";
    Operator "operator";
    Comment "comment";
}

/// A stretch of text with its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where it stands.
    pub span: Span,
    /// Its type.
    pub kind: Kind,
    /// Whether it is the name of a block where the block itself stands.
    pub declaration: bool,
}

/// The tokens of a file.
pub fn tokens(set: &Set, file: FileId) -> Vec<Token> {
    let Some((_, tree)) = set.file(file) else { return Vec::new() };
    let mut words = set.words_of(file).iter().peekable();
    let mut found = Vec::new();
    for token in &tree.tokens {
        while words.next_if(|word| word.span.start < token.span.start).is_some() {}
        let word = words.peek().filter(|word| word.span == token.span);
        let kind = match token.kind {
            TokenKind::Word => word.map(|word| kind(word)),
            TokenKind::Str => Some(Kind::Str),
            TokenKind::Number => Some(Kind::Number),
            TokenKind::Arrow | TokenKind::Operator => Some(Kind::Operator),
            TokenKind::Comment => Some(Kind::Comment),
            TokenKind::Open
            | TokenKind::Close
            | TokenKind::OpenList
            | TokenKind::CloseList
            | TokenKind::Comma
            | TokenKind::Semicolon
            | TokenKind::LineEnd => None,
        };
        // Only a token that cannot be read could go on past its line.
        let text = tree.source.slice(token.span).trim_end_matches(['\r', '\n']);
        if let Some(kind) = kind.filter(|_| !text.is_empty() && !text.contains(['\r', '\n'])) {
            let start = token.span.start as usize;
            let declaration = word.is_some_and(|word| word.role.declares().is_some());
            found.push(Token { span: Span::new(token.span.file, start, start + text.len()), kind, declaration });
        }
    }
    found
}

fn kind(word: &Word) -> Kind {
    match word.role {
        Role::Kind(_) | Role::Keyword => Kind::Keyword,
        Role::Declares(_) | Role::Refers(_) => Kind::Name,
        Role::Setting(_) => Kind::Setting,
        Role::Value(_) => Kind::Value,
        Role::Class => Kind::Failure,
        Role::Verb => Kind::Action,
        Role::Fact => Kind::Fact,
    }
}
