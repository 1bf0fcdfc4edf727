//! Where in a policy a place is, from the tokens before it.
//!
//! In: a tree's tokens and an offset. Out: the blocks around, the words of the statement so far, what was said in the
//! block already, and the word that is being typed. Brackets need not match: a block's word at the beginning of a
//! statement with a `{` behind it begins at the top level, wherever the text so far seems to be.

use crate::source::Span;
use crate::syntax::Tree;
use crate::syntax::settings::Block;
use crate::syntax::tree::{Token, TokenKind};

/// A brace that is open at the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenBlock {
    /// The first word of its statement.
    pub head: String,
    /// The kind of block, at the top level.
    pub block: Option<Block>,
    /// The word after the first one: a block's name.
    pub name: Option<String>,
}

/// A place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scene {
    /// The blocks around it, the outermost first.
    pub path: Vec<OpenBlock>,
    /// The words, values and signs of the statement before it, brackets among them.
    pub before: Vec<String>,
    /// Whether a bracket of a list is open.
    pub in_list: bool,
    /// The words that statements of the same block begin with, the one at the place left out.
    pub said: Vec<String>,
    /// The word that is being typed: from its start to the place.
    pub replaces: Span,
}

struct Frame {
    open: OpenBlock,
    said: Vec<String>,
}

/// The scene at an offset; nothing inside comments and strings, where nothing is suggested.
pub fn scene(tree: &Tree, offset: usize) -> Option<Scene> {
    let file = tree.source.id;
    let at = u32::try_from(offset).ok()?;
    let typed = tree.tokens.iter().find(|token| token.span.start < at && at <= token.span.end && is_word(token));
    let start = typed.map_or(at, |token| token.span.start);
    let within = |token: &&Token| match token.kind {
        // To the end of its line a comment goes on.
        TokenKind::Comment => {
            token.span.start < at && !tree.source.slice(Span { end: at, ..token.span }).contains('\n')
        }
        TokenKind::Str => token.span.start < at && at < token.span.end,
        TokenKind::Word
        | TokenKind::Number
        | TokenKind::Open
        | TokenKind::Close
        | TokenKind::OpenList
        | TokenKind::CloseList
        | TokenKind::Comma
        | TokenKind::Arrow
        | TokenKind::Operator
        | TokenKind::Semicolon
        | TokenKind::LineEnd => false,
    };
    if tree.tokens.iter().any(|token| within(&token)) {
        return None;
    }
    let mut walk = Walk::default();
    for token in tree.tokens.iter().take_while(|token| token.span.start < start) {
        walk.token(token.kind, tree.source.slice(token.span));
    }
    let mut said = walk.frames.last().map_or(Vec::new(), |frame| frame.said.clone());
    if let Some(frame) = walk.frames.last() {
        said.extend(below(tree, at, &frame.open));
    }
    Some(Scene {
        path: walk.frames.into_iter().map(|frame| frame.open).collect(),
        in_list: walk.lists > 0,
        before: walk.statement,
        said,
        replaces: Span::new(file, start as usize, offset),
    })
}

/// What the statements below the place begin with, up to the end of its block.
fn below(tree: &Tree, at: u32, open: &OpenBlock) -> Vec<String> {
    let mut walk = Walk { frames: vec![Frame { open: open.clone(), said: Vec::new() }], ..Walk::default() };
    let mut said = Vec::new();
    let ends = |token: &Token| matches!(token.kind, TokenKind::LineEnd | TokenKind::Semicolon | TokenKind::Close);
    for token in tree.tokens.iter().skip_while(|token| token.span.start < at).skip_while(|token| !ends(token)) {
        walk.token(token.kind, tree.source.slice(token.span));
        match walk.frames.first() {
            Some(frame) if frame.open == *open => said.clone_from(&frame.said),
            Some(_) | None => break,
        }
    }
    said
}

fn is_word(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Number)
}

#[derive(Default)]
struct Walk {
    frames: Vec<Frame>,
    statement: Vec<String>,
    lists: usize,
}

impl Walk {
    fn token(&mut self, kind: TokenKind, text: &str) {
        match kind {
            TokenKind::Word
            | TokenKind::Str
            | TokenKind::Number
            | TokenKind::Comma
            | TokenKind::Arrow
            | TokenKind::Operator => {
                self.statement.push(text.to_owned());
            }
            TokenKind::OpenList => {
                self.lists += 1;
                self.statement.push(text.to_owned());
            }
            TokenKind::CloseList => {
                self.lists = self.lists.saturating_sub(1);
                self.statement.push(text.to_owned());
            }
            TokenKind::Open => {
                let head = self.statement.first().cloned().unwrap_or_default();
                let name = self.statement.get(1).cloned();
                let block = Block::from_word(&head).filter(|_| self.frames.is_empty() || self.is_block());
                self.end();
                if block.is_some() {
                    self.frames.clear();
                }
                self.frames.push(Frame { open: OpenBlock { head, block, name }, said: Vec::new() });
            }
            TokenKind::Close => {
                self.end();
                self.frames.pop();
            }
            TokenKind::Semicolon => self.end(),
            TokenKind::LineEnd => {
                let goes_on = self.lists > 0
                    || matches!(self.statement.last().map(String::as_str), Some("," | "->" | "and" | "or"));
                if !goes_on {
                    self.end();
                }
            }
            TokenKind::Comment => {}
        }
    }

    /// Whether the statement looks like a block's head: its word, a name or a title, and nothing else.
    fn is_block(&self) -> bool {
        matches!(self.statement.as_slice(), [word, _] if !matches!(word.as_str(), "send"))
            || matches!(self.statement.as_slice(), [word] if word == Block::Defaults.word())
    }

    /// Notes what the statement begins with: in a matrix all classes of a row without a guard.
    fn end(&mut self) {
        self.lists = 0;
        let statement = std::mem::take(&mut self.statement);
        let Some(frame) = self.frames.last_mut() else { return };
        if frame.open.block == Some(Block::Matrix) {
            if !statement.iter().any(|word| word == "when") {
                frame.said.extend(statement.into_iter().take_while(|word| word != "->").filter(|word| word != ","));
            }
        } else {
            frame.said.extend(statement.into_iter().next());
        }
    }
}
