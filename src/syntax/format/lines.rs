//! From tokens to lines: where they break, how deep they stand, and which tokens touch.
//!
//! In: a tree. Out: lines of pieces, each with the space before it, not yet in columns.

use crate::syntax::tree::{Token, TokenKind, Tree};

/// A token's text and the spaces before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    /// What it is.
    pub(super) kind: TokenKind,
    /// As written.
    pub(super) text: &'a str,
    /// Spaces before it; none at a line's beginning.
    pub(super) space: usize,
}

/// A line to print.
#[derive(Debug, Default)]
pub(super) struct Line<'a> {
    /// Spaces before the first piece.
    pub(super) indent: usize,
    /// How many blocks it stands in.
    pub(super) depth: usize,
    /// Whether a blank line stands above it.
    pub(super) blank_above: bool,
    /// Whether it goes on with the statement of the line before.
    pub(super) continues: bool,
    /// Its tokens.
    pub(super) pieces: Vec<Piece<'a>>,
}

/// Whether each `{` and `}` belongs to a block that spans lines, by token.
fn spanning(tokens: &[Token]) -> Vec<bool> {
    let mut spans = vec![false; tokens.len()];
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut line = 0;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::LineEnd => line += 1,
            TokenKind::Open => open.push((index, line)),
            TokenKind::Close => {
                if let Some((opener, at)) = open.pop() {
                    for i in [opener, index] {
                        if let Some(spans) = spans.get_mut(i) {
                            *spans = at != line;
                        }
                    }
                }
            }
            TokenKind::Word
            | TokenKind::Str
            | TokenKind::Number
            | TokenKind::OpenList
            | TokenKind::CloseList
            | TokenKind::Comma
            | TokenKind::Arrow
            | TokenKind::Operator
            | TokenKind::Semicolon
            | TokenKind::Comment => {}
        }
    }
    spans
}

/// The lines of a tree.
pub(super) fn lines(tree: &Tree) -> Vec<Line<'_>> {
    let mut layout = Layout {
        tree,
        lines: Vec::new(),
        line: Line::default(),
        depth: 0,
        nested: 0,
        joined: false,
        must_break: false,
        line_ends: 0,
        previous: None,
    };
    for (token, spans) in tree.tokens.iter().zip(spanning(&tree.tokens)) {
        layout.take(*token, spans);
    }
    layout.end_line();
    layout.lines
}

struct Layout<'a> {
    tree: &'a Tree,
    lines: Vec<Line<'a>>,
    line: Line<'a>,
    /// Open blocks.
    depth: usize,
    /// Open lists and groups.
    nested: usize,
    /// Whether the last token carries the statement over the end of its line.
    joined: bool,
    /// Whether only a comment or `;` may follow on this line.
    must_break: bool,
    /// Ends of lines since the last token.
    line_ends: usize,
    /// The last token that is no comment.
    previous: Option<Token>,
}

impl<'a> Layout<'a> {
    fn take(&mut self, token: Token, spans: bool) {
        if token.kind == TokenKind::LineEnd {
            self.end_line();
            self.line_ends += 1;
            return;
        }
        let stays = matches!(token.kind, TokenKind::Comment | TokenKind::Semicolon);
        if (self.must_break && !stays) || (spans && token.kind == TokenKind::Close) {
            self.end_line();
        }
        match token.kind {
            TokenKind::Close => self.depth = self.depth.saturating_sub(1),
            TokenKind::CloseList => self.nested = self.nested.saturating_sub(1),
            TokenKind::Word
            | TokenKind::Str
            | TokenKind::Number
            | TokenKind::Open
            | TokenKind::OpenList
            | TokenKind::Comma
            | TokenKind::Arrow
            | TokenKind::Operator
            | TokenKind::Semicolon
            | TokenKind::Comment
            | TokenKind::LineEnd => {}
        }
        let text = self.tree.source.slice(token.span);
        let space = self.space(token, text);
        if self.line.pieces.is_empty() {
            self.begin_line(token);
        }
        self.line.pieces.push(Piece { kind: token.kind, text, space });
        self.depth += usize::from(token.kind == TokenKind::Open);
        self.nested += usize::from(token.kind == TokenKind::OpenList);
        self.line_ends = 0;
        if token.kind != TokenKind::Comment {
            self.joined = matches!(token.kind, TokenKind::Comma | TokenKind::Arrow)
                || (token.kind == TokenKind::Word && matches!(text, "and" | "or"));
            self.must_break = spans || (self.must_break && stays);
            self.previous = Some(token);
        }
    }

    fn begin_line(&mut self, token: Token) {
        let closes = token.kind == TokenKind::Close;
        let opened = self.lines.last().is_none_or(|above| {
            let last = above.pieces.iter().rev().find(|piece| piece.kind != TokenKind::Comment);
            last.is_some_and(|piece| piece.kind == TokenKind::Open)
        });
        let joined = self.joined && self.nested == 0 && !closes && token.kind != TokenKind::CloseList;
        self.line = Line {
            indent: 2 * (self.depth + self.nested + usize::from(joined)),
            depth: self.depth,
            blank_above: self.line_ends > 1 && !opened && !closes,
            continues: joined || self.nested > 0 || token.kind == TokenKind::CloseList,
            pieces: Vec::new(),
        };
    }

    fn end_line(&mut self) {
        if !self.line.pieces.is_empty() {
            self.lines.push(std::mem::take(&mut self.line));
        }
        self.must_break = false;
    }

    fn space(&self, token: Token, text: &str) -> usize {
        let Some(previous) = self.previous.filter(|_| !self.line.pieces.is_empty()) else { return 0 };
        match token.kind {
            TokenKind::Comma | TokenKind::Semicolon | TokenKind::CloseList => 0,
            TokenKind::Comment => 2,
            TokenKind::Word
            | TokenKind::Str
            | TokenKind::Number
            | TokenKind::Open
            | TokenKind::Close
            | TokenKind::OpenList
            | TokenKind::Arrow
            | TokenKind::Operator
            | TokenKind::LineEnd => {
                // `request.header("x")` stays together if it was written so.
                let call = text == "(" && previous.kind == TokenKind::Word && previous.span.end == token.span.start;
                usize::from(previous.kind != TokenKind::OpenList && !call)
            }
        }
    }
}
