//! What is said of a text whose shape is broken, less what only repeats that.
//!
//! In: the trees, what is wrong with their shape, and what the check found. Out: the findings that are mistakes of their
//! own. An echo stands where the shape is broken already, on a line whose brackets had to be mended, or judges a whole
//! block of which a piece could not be read. Never drops a finding of the shape itself.

use crate::diag::{Code, Diagnostic, Level};
use crate::source::Span;
use crate::syntax::Tree;

/// Drops the echoes.
pub(super) fn without(trees: &[Tree], shape: &[Diagnostic], found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut places = Vec::new();
    let mut blocks = Vec::new();
    for broken in shape.iter().filter(|d| d.level() == Level::Error) {
        let Some(tree) = trees.iter().find(|tree| tree.source.id == broken.span.file) else { continue };
        places.push(if mends_brackets(broken.code) { lines(tree, broken.span) } else { broken.span });
        blocks.extend(tree.statements.iter().map(|s| s.span).filter(|s| overlap(*s, broken.span)));
    }
    let in_any = |spans: &[Span], span: Span| spans.iter().any(|place| overlap(*place, span));
    let is_echo = |d: &Diagnostic| {
        in_any(&places, d.span)
            || judges_the_whole(d)
                && (in_any(&blocks, d.span) || d.labels.iter().any(|label| in_any(&blocks, label.span)))
    };
    found.into_iter().filter(|d| !is_echo(d)).collect()
}

fn overlap(a: Span, b: Span) -> bool {
    a.file == b.file && a.start <= b.end && b.start <= a.end
}

/// The whole lines of a span.
fn lines(tree: &Tree, span: Span) -> Span {
    let text: &str = &tree.source.text;
    let (start, end) = (span.start as usize, span.end as usize);
    let from = text.get(..start).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
    let to = text.get(end..).and_then(|tail| tail.find('\n')).map_or(text.len(), |at| end + at);
    Span::new(span.file, from, to)
}

/// Whether where things stand on the line was guessed.
fn mends_brackets(code: Code) -> bool {
    [
        Code::UnclosedBracket,
        Code::StrayCloser,
        Code::MismatchedBracket,
        Code::UnclosedString,
        Code::HeadlessBlock,
        Code::MissingOpener,
    ]
    .contains(&code)
}

/// Whether a finding is about all of a block, and not about the piece that it points at.
fn judges_the_whole(diagnostic: &Diagnostic) -> bool {
    let whole = [
        Code::MissingSetting,
        Code::MatrixNotTotal,
        Code::ActionRuledOut,
        Code::RowShadowed,
        Code::OtherwiseNotLast,
        Code::EmptyChain,
        Code::NoGeneralChain,
        Code::ContractUnmet,
        Code::TestWithoutExpect,
        Code::UnexpectedBlock,
    ];
    diagnostic.level() != Level::Error || whole.contains(&diagnostic.code)
}
