//! One bracket in the place of another, and brackets that go.
//!
//! In: a bracket that does not fit where it stands. Out: the edit that makes it fit, and the diagnostic. Where it does
//! not fit is decided elsewhere.

use super::super::repair::Edit;
use super::super::scan::{Bracket, Mark};
use super::Nesting;
use crate::diag::{Code, Diagnostic};

impl Nesting<'_> {
    /// Takes a `}` for the `{` of the block below it.
    pub(super) fn meant_to_open(&mut self, mark: &Mark) {
        let place = self.span(mark.at, mark.at + 1);
        self.out.edits.push(Edit::Put(mark.at, '{'));
        self.out.diagnostics.push(
            Diagnostic::new(Code::MismatchedBracket, place, "this `}` stands where a block begins")
                .here("`{` is due here")
                .help("write `{`: what follows is indented like the block's")
                .fix("write `{`", place, "{", false),
        );
        self.push(Bracket::Brace, mark.at);
    }

    /// Takes the bracket opened last, which is none of a block, for a `{`.
    pub(super) fn meant_for_block(&mut self) {
        let Some(top) = self.stack.last_mut().filter(|top| top.bracket != Bracket::Brace) else { return };
        let (at, wrong) = (top.at, top.bracket.opener());
        top.bracket = Bracket::Brace;
        let place = self.span(at, at + 1);
        self.out.edits.push(Edit::Put(at, '{'));
        self.out.diagnostics.push(
            Diagnostic::new(Code::MismatchedBracket, place, format!("this `{wrong}` stands where a block begins"))
                .here("`{` is due here")
                .help("write `{`: what follows is no list, whose parts commas join")
                .fix("write `{`", place, "{", false),
        );
    }

    /// Takes a wrong closing bracket for the right one.
    pub(super) fn mismatch(&mut self, mark: &Mark, found: Bracket) {
        let Some(top) = self.stack.pop() else { return };
        let close = top.bracket.closer();
        let place = self.span(mark.at, mark.at + 1);
        self.out.edits.push(Edit::Put(mark.at, close));
        self.out.diagnostics.push(
            Diagnostic::new(
                Code::MismatchedBracket,
                place,
                format!("`{}` is closed by `{}`", top.bracket.opener(), found.closer()),
            )
            .here(format!("`{close}` is due here"))
            .label(self.span(top.at, top.at + 1), "opened here")
            .help(format!("write `{close}`"))
            .fix(format!("write `{close}`"), place, close, false),
        );
    }

    /// Removes a bracket that has no counterpart.
    pub(super) fn stray(&mut self, mark: &Mark, bracket: char, here: &str) {
        let place = self.span(mark.at, mark.at + 1);
        self.out.edits.push(Edit::Blank(mark.at, mark.at + 1));
        let (message, help) = match bracket {
            '{' => ("this `{` opens a block without a name".to_owned(), "remove it".to_owned()),
            _ => {
                (format!("this `{bracket}` closes nothing"), "remove it, or open what it is meant to close".to_owned())
            }
        };
        self.out.diagnostics.push(
            Diagnostic::new(if bracket == '{' { Code::HeadlessBlock } else { Code::StrayCloser }, place, message)
                .here(here)
                .help(help)
                .fix(format!("remove `{bracket}`"), place, "", false),
        );
    }
}
