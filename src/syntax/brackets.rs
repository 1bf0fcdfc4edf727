//! Mends the nesting of brackets.
//!
//! In: the marks of a scan. Out: edits after which each bracket has its counterpart, and a diagnostic for each repair.
//! A text whose brackets match is left alone, whatever its layout. For any other text the indentation is asked where
//! the missing bracket belongs, unless believing it makes more trouble than counting alone. Linear.

mod look;
mod put;

use super::guard::MAX_DEPTH;
use super::repair::{Edit, Repaired};
use super::scan::{Bracket, Mark, MarkKind, scan};
use crate::diag::{Code, Diagnostic};
use crate::source::{FileId, Span};

/// What mending comes to.
pub(super) struct Mended {
    /// What was wrong.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What makes it whole.
    pub(super) edits: Vec<Edit>,
}

/// Mends the nesting of a text.
pub(super) fn mend(text: &str, marks: &[Mark], file: FileId) -> Mended {
    let counted = run(text, marks, file, false);
    if counted.diagnostics.is_empty() {
        return counted;
    }
    let by_layout = run(text, marks, file, true);
    let fits = |mended: &Mended| is_whole(&Repaired::new(text, mended.edits.clone()).text);
    if by_layout.diagnostics.len() <= counted.diagnostics.len() && fits(&by_layout) {
        by_layout
    } else if fits(&counted) {
        counted
    } else {
        // Without brackets at all the rest can still be read.
        let brackets = marks.iter().filter(|mark| matches!(mark.kind, MarkKind::Open(_) | MarkKind::Close(_)));
        Mended { edits: brackets.map(|mark| Edit::Blank(mark.at, mark.at + 1)).collect(), ..counted }
    }
}

/// Whether each bracket of a text has its counterpart, and none nests too deep.
pub(super) fn is_whole(text: &str) -> bool {
    run(text, &scan(text).marks, FileId::default(), false).edits.is_empty()
}

fn run(text: &str, marks: &[Mark], file: FileId, layout: bool) -> Mended {
    let mut nesting = Nesting {
        text,
        file,
        layout,
        stack: Vec::new(),
        outline: Vec::new(),
        line: 0,
        line_start: 0,
        indent: 0,
        line_depth: 0,
        closed: None,
        deeper: None,
        too_deep: None,
        next: None,
        out: Mended { diagnostics: Vec::new(), edits: Vec::new() },
    };
    for (at, mark) in marks.iter().enumerate() {
        nesting.next = marks.get(at + 1).copied();
        nesting.take(mark);
    }
    nesting.out
}

/// An open bracket.
struct Opener {
    bracket: Bracket,
    at: usize,
    /// Number and indentation of its line.
    line: usize,
    indent: usize,
    /// Whether nothing follows it on its line.
    ends_line: bool,
    /// Of a list: the end of the first line that no comma carries over.
    cut: Option<usize>,
}

/// A line that may have lost its `{`.
struct OutlineLine {
    indent: usize,
    at: usize,
    end: usize,
    closes: bool,
    /// How many brackets are open at its end.
    depth: usize,
}

struct Nesting<'a> {
    text: &'a str,
    file: FileId,
    layout: bool,
    stack: Vec<Opener>,
    /// Lines above, each indented more than the one before it.
    outline: Vec<OutlineLine>,
    line: usize,
    line_start: usize,
    indent: usize,
    /// How many brackets were open where the line begins.
    line_depth: usize,
    /// The line of the block that was closed last, if its `}` began a line.
    closed: Option<usize>,
    /// The line above with this line's indentation, if only deeper ones stand between.
    deeper: Option<OutlineLine>,
    /// A bracket beyond the limit, and how many are open within it.
    too_deep: Option<(usize, usize)>,
    /// What comes after the mark that is being looked at.
    next: Option<Mark>,
    out: Mended,
}

impl Nesting<'_> {
    fn take(&mut self, mark: &Mark) {
        if self.skip(mark) {
            return;
        }
        match mark.kind {
            MarkKind::Line { indent, closes, carried } => self.line(mark, indent, closes, carried),
            MarkKind::Open(bracket) => self.open(mark, bracket),
            MarkKind::Close(Bracket::Brace) => self.close_brace(mark),
            MarkKind::Close(bracket) => self.close_list(mark, bracket),
            MarkKind::Semicolon => {
                if self.layout && (self.stack.last().is_some_and(|top| top.ends_line) || self.brace_closes(mark)) {
                    self.meant_for_block();
                }
                self.close_lists(mark, "before this `;`");
            }
            MarkKind::End => {
                while !self.stack.is_empty() {
                    self.unclosed(mark, "the file ends here without it");
                }
            }
        }
    }

    /// Passes over what nests too deep. True if the mark is part of it.
    fn skip(&mut self, mark: &Mark) -> bool {
        let Some((from, open)) = self.too_deep else { return false };
        match mark.kind {
            MarkKind::Line { .. } | MarkKind::Semicolon => {}
            MarkKind::Open(_) => self.too_deep = Some((from, open + 1)),
            MarkKind::Close(_) if open > 1 => self.too_deep = Some((from, open - 1)),
            MarkKind::Close(_) => {
                self.out.edits.push(Edit::Blank(from, mark.at + 1));
                self.too_deep = None;
            }
            MarkKind::End => {
                self.out.edits.push(Edit::Blank(from, mark.at));
                self.too_deep = None;
                // What is still open is closed before it.
                self.take(&Mark { before: from, ..*mark });
            }
        }
        true
    }

    fn line(&mut self, mark: &Mark, indent: usize, closes: bool, carried: bool) {
        let depth = self.stack.len();
        if let Some(last) = self.outline.last_mut() {
            (last.end, last.depth) = (mark.before, depth);
        }
        if let Some(top) = self.stack.last_mut() {
            top.ends_line |= top.at + 1 == mark.before;
            if top.bracket != Bracket::Brace && !carried && !closes {
                top.cut.get_or_insert(mark.before);
            }
        }
        // Lines that no comma joins are those of a block.
        if self.layout && !carried && self.stack.last().is_some_and(|top| top.ends_line && top.indent < indent) {
            self.meant_for_block();
        }
        let mut popped = false;
        while self.outline.last().is_some_and(|line| line.indent > indent) {
            self.outline.pop();
            popped = true;
        }
        self.deeper = self.outline.pop_if(|line| line.indent == indent).filter(|_| popped);
        self.outline.push(OutlineLine { indent, at: mark.at, end: mark.at, closes, depth });
        (self.line, self.line_start, self.indent, self.line_depth) = (self.line + 1, mark.at, indent, depth);
        if self.layout && !closes {
            while self.stack.last().is_some_and(|top| top.indent >= indent) {
                self.unclosed(mark, "before this line, which is indented no deeper");
            }
        }
    }

    fn open(&mut self, mark: &Mark, bracket: Bracket) {
        if bracket == Bracket::Brace {
            // `[{]`: a block cannot begin and end there.
            let top = self.stack.last().map(|top| top.bracket).filter(|top| *top != Bracket::Brace);
            if top.is_some_and(|list| self.directly_before(mark, MarkKind::Close(list))) {
                return self.stray(mark, '{', "no block can stand in a list");
            }
            // A list whose first line is a block's head is a block.
            if self.layout && self.stack.last().is_some_and(|top| top.ends_line) {
                self.meant_for_block();
            }
            self.close_lists(mark, "before this `{`");
            // `{ {`: the second one has no head.
            if self.layout && self.stack.last().is_some_and(|top| top.at + 1 == mark.before) {
                return self.stray(mark, '{', "another `{` stands right before it");
            }
        }
        if self.stack.len() >= MAX_DEPTH {
            let span = self.span(mark.at, mark.at + 1);
            self.out.diagnostics.push(
                Diagnostic::new(Code::TooDeep, span, format!("brackets nest more than {MAX_DEPTH} deep here"))
                    .here("what this bracket holds is passed over")
                    .help("a policy needs no more than four; look for brackets that are never closed above"),
            );
            self.too_deep = Some((mark.at, 1));
            return;
        }
        self.push(bracket, mark.at);
    }

    fn push(&mut self, bracket: Bracket, at: usize) {
        let (line, indent) = (self.line, self.indent);
        self.stack.push(Opener { bracket, at, line, indent, ends_line: false, cut: None });
    }

    fn close_list(&mut self, mark: &Mark, bracket: Bracket) {
        let lists = || self.stack.iter().rev().take_while(|open| open.bracket != Bracket::Brace);
        if lists().next().is_none() {
            return self.stray(mark, bracket.closer(), "");
        }
        if !lists().any(|open| open.bracket == bracket) {
            return self.mismatch(mark, bracket);
        }
        while self.stack.last().is_some_and(|top| top.bracket != bracket) {
            self.unclosed(mark, &format!("before this `{}`", bracket.closer()));
        }
        self.stack.pop();
    }

    fn close_brace(&mut self, mark: &Mark) {
        let first = self.line_start == mark.at;
        if let Some(list) = self.stack.last().filter(|top| top.bracket != Bracket::Brace) {
            let block = self.stack.iter().rev().find(|open| open.bracket == Bracket::Brace);
            let slip = match block {
                None => true,
                Some(block) => self.layout && !first && list.line == self.line && block.ends_line,
            };
            if slip {
                return self.mismatch(mark, Bracket::Brace);
            }
            self.close_lists(mark, "before this `}`");
        }
        if self.layout && !first && self.opens_block(mark) {
            return self.meant_to_open(mark);
        }
        if self.layout && !first && self.goes_on(mark) {
            return self.stray(mark, '}', "the block goes on behind it, to the `}` at the end of the line");
        }
        if self.layout && first {
            let indent = self.indent;
            while self.stack.len() > 1 && self.stack.last().is_some_and(|top| top.indent > indent) {
                self.unclosed(mark, "before this `}`, which is indented like an outer block");
            }
            if self.stack.last().is_none_or(|top| top.indent < indent) && self.reopen(mark) {
                return;
            }
            if self.stack.last().is_some_and(|top| top.indent < indent && top.ends_line) {
                return self.stray(mark, '}', "indented deeper than the block that it would close");
            }
        } else if self.layout && self.stack.last().is_some_and(|top| top.ends_line && top.line < self.line) {
            let block = self.stack.last().map(|top| self.span(top.at, top.at + 1));
            self.stray(mark, '}', "");
            if let (Some(block), Some(last)) = (block, self.out.diagnostics.last_mut()) {
                *last = last.clone().label(block, "the block around it is closed on a line of its own");
            }
            return;
        }
        match self.stack.pop() {
            Some(top) => self.closed = Some(top.line).filter(|_| first),
            None => self.stray(mark, '}', ""),
        }
    }

    /// Gives the `{` back to the line above whose block this `}` closes by its indentation.
    fn reopen(&mut self, mark: &Mark) -> bool {
        let inner = self.stack.last().map_or(0, |top| top.at + 1);
        let Some(line) = self.deeper.take() else { return false };
        let ends = self.text.get(..line.end).and_then(|text| text.chars().next_back());
        if line.closes || line.at < inner || line.depth != self.stack.len() || ends == Some('}') {
            return false;
        }
        let (end, head) = (self.span(line.end, line.end), self.span(line.at, line.end));
        self.out.edits.push(Edit::Insert(line.end, '{'));
        self.out.diagnostics.push(
            Diagnostic::new(Code::MissingOpener, head, "a `{` is missing at the end of this line")
                .here("what follows is indented like its block")
                .label(self.span(mark.at, mark.at + 1), "this `}` closes it, and nothing opens it")
                .help("open the block with `{`, or remove the `}`")
                .fix("add `{`", end, " {", false),
        );
        true
    }

    /// Ends all lists on top of the stack: what comes now cannot stand in one.
    fn close_lists(&mut self, mark: &Mark, why: &str) {
        while self.stack.last().is_some_and(|top| top.bracket != Bracket::Brace) {
            self.unclosed(mark, why);
        }
    }

    /// Closes the innermost bracket, which lacks its counterpart.
    fn unclosed(&mut self, mark: &Mark, why: &str) {
        let Some(top) = self.stack.pop() else { return };
        let (open, close) = (top.bracket.opener(), top.bracket.closer());
        let place = top.cut.unwrap_or(mark.before);
        self.out.edits.push(Edit::Insert(place, close));
        let opener = self.span(top.at, top.at + 1);
        if top.bracket == Bracket::Brace {
            // Where the other block of its line is closed, nobody knows which of the two `{` is meant.
            let two = self.closed == Some(top.line);
            let place = if two { opener } else { self.lack(&top, mark) };
            let found = Diagnostic::new(Code::UnclosedBracket, place, "a `}` is missing")
                .here(if two { "this line opens two blocks, and one of them is closed" } else { why })
                .label(opener, "this `{` is never closed")
                .help("close the block: write `}` on a line of its own, or at the end of a block of one line");
            let one_line = !self.text.get(top.at..mark.before).unwrap_or("").contains('\n');
            let text = if one_line { " }".to_owned() } else { format!("\n{}}}", " ".repeat(top.indent)) };
            let place = self.span(mark.before, mark.before);
            self.out.diagnostics.push(found.fix("add `}`", place, text, false));
            return;
        }
        let noticed = match (top.cut, mark.kind) {
            (Some(cut), _) => (self.span(cut, cut), format!("`{close}` is missing here, or further down")),
            (None, MarkKind::End) => (self.span(mark.at, mark.at), format!("`{close}` is missing: {why}")),
            (None, _) => (self.span(mark.at, mark.at + self.width(mark.at)), format!("`{close}` is missing {why}")),
        };
        let insert = self.span(place, place);
        self.out.diagnostics.push(
            Diagnostic::new(Code::UnclosedBracket, opener, format!("this `{open}` is never closed"))
                .here("opened here")
                .label(noticed.0, noticed.1)
                .help(format!("add the `{close}` that belongs to it"))
                .fix(format!("add `{close}`"), insert, close, false),
        );
    }

    /// Where the `}` of a block should stand: at the end of a block of one line, else on the line below its last one.
    fn lack(&self, top: &Opener, mark: &Mark) -> Span {
        let before = mark.before;
        let inside = self.text.get(top.at..before).unwrap_or("");
        let rest = self.text.get(before..mark.at).unwrap_or("");
        let Some(end) = rest.find('\n').filter(|_| inside.contains('\n')) else {
            return self.span(before, before);
        };
        let below = before + end + 1;
        // A line that holds nothing but white space is where it stood.
        match rest.get(end + 1..).unwrap_or("").split_once('\n') {
            Some((line, _)) if line.trim().is_empty() => self.span(below, below),
            None if mark.kind == MarkKind::End => self.span(before, before),
            Some(_) | None => self.span(mark.at, mark.at + self.width(mark.at)),
        }
    }

    fn width(&self, at: usize) -> usize {
        self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }
}
