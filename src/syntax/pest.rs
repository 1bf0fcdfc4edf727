//! From mended text to tokens and statements, by the loose grammar. The only place that knows of pest.
//!
//! In: a source and the text that the guard pass made of it. Out: a tree with the author's offsets. The grammar takes
//! any text whose brackets and strings are closed; what is wrong within it is said by `shape`, not by pest.

use super::hidden;
use super::odd::{self, Around};
use super::repair::Repaired;
use super::shape::{self, Element};
use super::tree::{Block, Item, ItemKind, Operator, Statement, Token, TokenKind, Tree};
use crate::diag::{Code, Diagnostic};
use crate::source::{Source, Span};
use pest::Parser;
use pest::error::InputLocation;
use pest::iterators::{Pair, Pairs};

#[derive(pest_derive::Parser)]
#[grammar = "../grammar/policy.pest"]
struct Grammar;

/// Reads a mended text.
pub(super) fn read(source: &Source, repaired: &Repaired<'_>) -> (Tree, Vec<Diagnostic>) {
    let (tokens, diagnostics) = (Vec::new(), Vec::new());
    let mut reader = Reader { source, repaired, offset: 0, tokens, diagnostics, closing: None, depth: 0, began: 0 };
    let mut statements = Vec::new();
    // What the grammar makes of a text takes many times its room, so a large one is read in pieces.
    for (offset, piece) in repaired.pieces() {
        reader.offset = offset;
        match Grammar::parse(Rule::policy, piece) {
            Ok(mut pairs) => statements.extend(pairs.next().into_iter().flat_map(|p| reader.body(p.into_inner()))),
            Err(error) => {
                // The grammar takes everything that the guard lets through; should it ever not, the author hears of it.
                let at = match error.location {
                    InputLocation::Pos(at) | InputLocation::Span((at, _)) => repaired.origin(offset + at),
                };
                reader.diagnostics.push(Diagnostic::new(
                    Code::StrayText,
                    Span::new(source.id, at, at),
                    "the file cannot be read from here on",
                ));
                break;
            }
        }
    }
    (Tree { source: source.clone(), statements, tokens: reader.tokens }, reader.diagnostics)
}

struct Reader<'a> {
    source: &'a Source,
    repaired: &'a Repaired<'a>,
    /// Where the piece begins that is being read.
    offset: usize,
    tokens: Vec<Token>,
    diagnostics: Vec<Diagnostic>,
    /// Where the block read last is closed.
    closing: Option<Span>,
    /// How many blocks are open.
    depth: usize,
    /// The first token of the statement that is being read.
    began: usize,
}

impl Reader<'_> {
    fn span(&self, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        let origin = |at: usize| self.repaired.origin(self.offset + at);
        Span::new(self.source.id, origin(span.start()), origin(span.end()))
    }

    /// Notes a token, unless the guard pass made it up, and returns its place.
    fn token(&mut self, kind: TokenKind, pair: &Pair<'_, Rule>) -> Span {
        let mut span = self.span(pair);
        if kind == TokenKind::Comment {
            let trimmed = self.source.slice(span).trim_end().len();
            span = Span::new(span.file, span.start as usize, span.start as usize + trimmed);
        }
        if span.start < span.end {
            self.tokens.push(Token { kind, span });
        }
        if matches!(kind, TokenKind::Comment | TokenKind::Str) {
            hidden::find(self.source.slice(span), span, kind == TokenKind::Str, &mut self.diagnostics);
        }
        span
    }

    /// The statements of a file or a block.
    #[allow(clippy::wildcard_enum_match_arm, reason = "`leaf` is the total match over the rules")]
    fn body(&mut self, pairs: Pairs<'_, Rule>) -> Vec<Statement> {
        let mut statements = Vec::new();
        for pair in pairs {
            match pair.as_rule() {
                Rule::statement => self.statement(pair, &mut statements),
                Rule::headless => {
                    let Some(block) = pair.into_inner().next().map(|block| self.block(block)) else { continue };
                    let open = Span { end: block.span.start + 1, ..block.span };
                    // On the line below its head it is still that head's.
                    let head = statements.last_mut().filter(|head: &&mut Statement| head.block.is_none());
                    self.diagnostics.push(shape::headless(open, head.as_ref().map(|head| head.span)));
                    match head {
                        Some(head) => {
                            head.span = head.span.to(block.span);
                            head.block = Some(block);
                        }
                        // Kept, so that nobody calls missing what it may have declared.
                        None if self.depth == 0 => {
                            let (docs, items, span) = (None, Vec::new(), block.span);
                            statements.push(Statement { docs, items, block: Some(block), span });
                        }
                        None => {}
                    }
                }
                Rule::semicolon => {
                    let before = self.tokens.iter().rev().find(|token| token.kind != TokenKind::Comment).copied();
                    let span = self.token(TokenKind::Semicolon, &pair);
                    let stray = shape::semicolon(before.map(|token| token.kind), span);
                    // One finding for all of a row.
                    match (self.diagnostics.last_mut(), before) {
                        (Some(last), Some(before))
                            if stray.is_some()
                                && last.code == Code::EmptyStatement
                                && last.span.end == before.span.end =>
                        {
                            *last = shape::semicolons(last.span.to(span));
                        }
                        _ => self.diagnostics.extend(stray),
                    }
                }
                Rule::block_close => self.closing = Some(self.token(TokenKind::Close, &pair)),
                _ => {
                    self.leaf(&pair);
                }
            }
        }
        statements
    }

    fn block(&mut self, pair: Pair<'_, Rule>) -> Block {
        let span = self.span(&pair);
        self.depth += 1;
        let statements = self.body(pair.into_inner());
        self.depth -= 1;
        let end = self.closing.take().map_or(span.end, |closing| closing.end);
        Block { statements, span: Span { end, ..span } }
    }

    fn statement(&mut self, pair: Pair<'_, Rule>, into: &mut Vec<Statement>) {
        let mut docs = self.docs();
        let mut items = Vec::new();
        let mut block = None;
        self.began = self.tokens.len();
        for pair in pair.into_inner() {
            if pair.as_rule() == Rule::block {
                block = Some(self.block(pair));
                continue;
            }
            // No head of a block goes on at the beginning of a second line, whatever the first one ends with.
            let joined = items.last().is_some_and(|item: &Item| matches!(item.kind, ItemKind::Comma | ItemKind::Arrow));
            if self.depth == 0 && joined && self.begins_line(&pair) {
                into.extend(self.put_together(docs, std::mem::take(&mut items), None));
                docs = self.docs();
            }
            items.extend(self.item(pair));
        }
        into.extend(self.put_together(docs, items, block));
    }

    /// Whether something stands at the very beginning of a line.
    fn begins_line(&self, pair: &Pair<'_, Rule>) -> bool {
        let start = self.span(pair).start as usize;
        let above = self.source.text.get(..start).is_some_and(|above| above.ends_with('\n'));
        above && !matches!(pair.as_rule(), Rule::line_end | Rule::comment)
    }

    fn put_together(&mut self, docs: Option<String>, mut items: Vec<Item>, block: Option<Block>) -> Option<Statement> {
        // `-> { … }`: what stands in the braces stands behind the arrow.
        let arrow = items.pop_if(|last| block.is_some() && last.kind == ItemKind::Arrow);
        let mut items = shape::joints(items, &mut self.diagnostics);
        items.extend(arrow);
        let Some(first) = items.first().map(|item| item.span) else {
            // A block whose head could not be read is kept at the top level, for what it may have declared.
            let block = block.filter(|_| self.depth == 0)?;
            return Some(Statement { docs, items, span: block.span, block: Some(block) });
        };
        let last = block.as_ref().map(|block: &Block| block.span).or(items.last().map(|item| item.span));
        Some(Statement { docs, span: first.to(last.unwrap_or(first)), items, block })
    }

    /// One item; nothing for comments, ends of lines, and text that is none.
    #[allow(clippy::wildcard_enum_match_arm, reason = "`leaf` is the total match over the rules")]
    fn item(&mut self, pair: Pair<'_, Rule>) -> Option<Item> {
        let span = self.span(&pair);
        let kind = match pair.as_rule() {
            Rule::list => ItemKind::List(self.list(pair)),
            Rule::group => {
                let inner = pair.into_inner().filter_map(|inner| self.item(inner)).collect();
                ItemKind::Group(shape::joints(inner, &mut self.diagnostics))
            }
            _ => return self.leaf(&pair).map(|kind| Item { kind, span }),
        };
        Some(Item { kind, span })
    }

    fn list(&mut self, pair: Pair<'_, Rule>) -> Vec<Vec<Item>> {
        let mut elements = vec![Element::default()];
        for pair in pair.into_inner() {
            let item = self.item(pair);
            let comma = item.as_ref().filter(|item| item.kind == ItemKind::Comma).map(|item| item.span);
            let Some(element) = elements.last_mut() else { continue };
            match comma {
                Some(comma) => {
                    element.comma = Some(comma);
                    elements.push(Element::default());
                }
                None => element.items.extend(item),
            }
        }
        shape::elements(elements, &mut self.diagnostics)
    }

    /// A pair without inner ones: noted as a token, and returned if it is an item.
    fn leaf(&mut self, pair: &Pair<'_, Rule>) -> Option<ItemKind> {
        let text = pair.as_str();
        match pair.as_rule() {
            Rule::word | Rule::joining => {
                let around = self.around();
                let span = self.token(TokenKind::Word, pair);
                shape::word(text, span, around, &mut self.diagnostics)
            }
            Rule::number => {
                self.token(TokenKind::Number, pair);
                Some(ItemKind::Number(text.to_owned()))
            }
            Rule::string => {
                let span = self.token(TokenKind::Str, pair);
                Some(ItemKind::Str(shape::string(text, span, &mut self.diagnostics)))
            }
            Rule::operator => {
                self.token(TokenKind::Operator, pair);
                Operator::from_text(text).map(ItemKind::Operator)
            }
            Rule::odd => {
                let around = self.around();
                let span = self.token(TokenKind::Word, pair);
                let (found, meant) = odd::odd(text, span, around);
                self.diagnostics.push(found);
                meant
            }
            Rule::comma => {
                self.token(TokenKind::Comma, pair);
                Some(ItemKind::Comma)
            }
            Rule::arrow => {
                self.token(TokenKind::Arrow, pair);
                Some(ItemKind::Arrow)
            }
            Rule::block_open => self.mark(TokenKind::Open, pair),
            Rule::block_close => self.mark(TokenKind::Close, pair),
            Rule::list_open | Rule::group_open => self.mark(TokenKind::OpenList, pair),
            Rule::list_close | Rule::group_close => self.mark(TokenKind::CloseList, pair),
            Rule::semicolon => self.mark(TokenKind::Semicolon, pair),
            Rule::line_end => self.mark(TokenKind::LineEnd, pair),
            Rule::comment => self.mark(TokenKind::Comment, pair),
            // Rules that hold others, are silent, or stand for no text.
            Rule::policy
            | Rule::statement
            | Rule::headless
            | Rule::block
            | Rule::part
            | Rule::piece
            | Rule::on
            | Rule::item
            | Rule::list
            | Rule::group
            | Rule::inside
            | Rule::lump
            | Rule::visible
            | Rule::invisible
            | Rule::byte_order_mark
            | Rule::space
            | Rule::other_space
            | Rule::EOI => None,
        }
    }

    /// In what the next token stands, as far as the tokens before it tell.
    fn around(&self) -> Around {
        let mut before = self.tokens.get(self.began..).unwrap_or_default().iter().map(|t| self.source.slice(t.span));
        Around::of(before.next(), before, self.depth)
    }

    fn mark(&mut self, kind: TokenKind, pair: &Pair<'_, Rule>) -> Option<ItemKind> {
        self.token(kind, pair);
        None
    }

    /// The `##` comments on the lines directly above what comes next. Plain comments between them are passed over.
    fn docs(&self) -> Option<String> {
        let mut lines = Vec::new();
        let mut above = self.tokens.as_slice();
        while let [rest @ .., comment, end] = above {
            let alone = rest.last().is_none_or(|token| token.kind == TokenKind::LineEnd);
            if end.kind != TokenKind::LineEnd || comment.kind != TokenKind::Comment || !alone {
                break;
            }
            if let Some(text) = self.source.slice(comment.span).strip_prefix("##") {
                lines.push(text.strip_prefix(' ').unwrap_or(text));
            }
            above = rest;
        }
        lines.reverse();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

#[cfg(test)]
pub(super) fn accepts(text: &str) -> bool {
    Grammar::parse(Rule::policy, text).is_ok()
}
