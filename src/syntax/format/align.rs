//! Columns: what stands one below the other in lines of one kind is aligned.
//!
//! In: lines with single spaces. Out: the same lines with more spaces between some pieces. A run is a stretch of lines of
//! one kind and one indentation without a blank or comment line between. There are three kinds:
//! settings (`keyword value`: the values), rows (`classes -> actions`: the arrows), and one-line blocks of one keyword
//! (the `{`, and statements within for as long as neighbouring lines begin theirs with the same words).

use super::lines::{Line, Piece};
use crate::syntax::tree::TokenKind;

/// What stands left of a column and is longer than this stands outside it: one long line does not push the others away.
const WIDEST: usize = 48;

/// Statements of one-line blocks are not pushed further than this.
const FURTHEST: usize = 32;

/// What kind of run a line can be part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind<'a> {
    /// `keyword value`.
    Setting,
    /// `classes -> actions`, and the arrow's piece.
    Row(usize),
    /// `keyword … { … }` on one line.
    Block(&'a str),
    /// Anything else.
    Other,
}

/// Aligns runs of lines.
pub(super) fn align(lines: &mut [Line<'_>]) {
    let kinds = kinds(lines);
    let mut from = 0;
    while from < lines.len() {
        let same = |a: Kind<'_>, b: Kind<'_>| match (a, b) {
            (Kind::Row(_), Kind::Row(_)) | (Kind::Setting, Kind::Setting) => true,
            (Kind::Block(a), Kind::Block(b)) => a == b,
            (Kind::Setting | Kind::Row(_) | Kind::Block(_) | Kind::Other, _) => false,
        };
        let first = kinds.get(from).copied().unwrap_or(Kind::Other);
        let mut to = from + 1;
        while to < lines.len() && adjacent(lines, to) && kinds.get(to).is_some_and(|kind| same(first, *kind)) {
            to += 1;
        }
        let run = lines.get_mut(from..to).unwrap_or_default();
        match first {
            Kind::Setting => column(run, |_| Some(1), WIDEST, usize::MAX),
            Kind::Row(_) => column(run, arrow, WIDEST, usize::MAX),
            Kind::Block(_) => table(run),
            Kind::Other => {}
        }
        from = to;
    }
}

/// Whether a line stands directly below the one before it, at the same depth.
fn adjacent(lines: &[Line<'_>], index: usize) -> bool {
    let above = index.checked_sub(1).and_then(|above| lines.get(above));
    above.zip(lines.get(index)).is_some_and(|(above, line)| above.indent == line.indent && !line.blank_above)
}

fn kinds<'a>(lines: &[Line<'a>]) -> Vec<Kind<'a>> {
    let alone: Vec<Kind<'a>> =
        lines.iter().enumerate().map(|(i, line)| kind(line, lines.get(i + 1).is_some_and(|l| l.continues))).collect();
    let at = |index: usize| alone.get(index).copied().unwrap_or(Kind::Other);
    (0..lines.len())
        .map(|i| {
            let Kind::Block(_) = at(i) else { return at(i) };
            let above = i > 0 && adjacent(lines, i) && at(i - 1) == at(i);
            let below = adjacent(lines, i + 1) && at(i + 1) == at(i);
            // Within a block, a lone `keyword value { … }` is a setting among others.
            let value = lines.get(i).filter(|line| line.depth > 0).and_then(|line| line.pieces.get(1));
            match value.filter(|_| !above && !below) {
                // `chain in [eu-*] { … }`: what follows the word says where it holds, and is not its value.
                Some(piece) if piece.kind != TokenKind::Open && piece.text != "in" => Kind::Setting,
                Some(_) => Kind::Other,
                None => at(i),
            }
        })
        .collect()
}

/// The kind of a line by itself.
fn kind<'a>(line: &Line<'a>, goes_on: bool) -> Kind<'a> {
    let pieces = content(line);
    let (Some(first), Some(second)) = (pieces.first(), pieces.get(1)) else { return Kind::Other };
    if line.continues || goes_on || first.kind != TokenKind::Word {
        return Kind::Other;
    }
    if let Some(arrow) = arrow(line) {
        return Kind::Row(arrow);
    }
    let opens = pieces.iter().position(|piece| piece.kind == TokenKind::Open);
    match (opens, pieces.last().map(|piece| piece.kind)) {
        (None, _) if second.space > 0 && pieces.iter().all(|piece| piece.kind != TokenKind::Semicolon) => Kind::Setting,
        (Some(open), Some(TokenKind::Close)) if one_block(pieces, open) => Kind::Block(first.text),
        (None | Some(_), _) => Kind::Other,
    }
}

/// The pieces without a comment at the end.
fn content<'l, 'a>(line: &'l Line<'a>) -> &'l [Piece<'a>] {
    match line.pieces.as_slice() {
        [rest @ .., last] if last.kind == TokenKind::Comment => rest,
        pieces => pieces,
    }
}

/// The arrow of a row; none for a line with blocks or several statements.
fn arrow(line: &Line<'_>) -> Option<usize> {
    let plain = |piece: &Piece<'_>| !matches!(piece.kind, TokenKind::Open | TokenKind::Semicolon | TokenKind::Close);
    let position = line.pieces.iter().position(|piece| piece.kind == TokenKind::Arrow)?;
    line.pieces.iter().all(plain).then_some(position)
}

/// Whether all that follows the first `{` is in its block, which the last piece closes.
fn one_block(pieces: &[Piece<'_>], open: usize) -> bool {
    let mut depth = 0usize;
    let head = pieces.iter().take(open).all(|piece| piece.kind != TokenKind::Semicolon);
    head && pieces.iter().enumerate().skip(open).all(|(index, piece)| {
        depth += usize::from(piece.kind == TokenKind::Open);
        depth -= usize::from(piece.kind == TokenKind::Close && depth > 0);
        depth > 0 || index + 1 == pieces.len()
    })
}

/// The width of what stands before a piece, without the space directly before it.
fn width_before(line: &Line<'_>, index: usize) -> usize {
    line.pieces.iter().take(index).map(|piece| piece.space + piece.text.chars().count()).sum()
}

/// Puts one piece of each line into a column, but for lines whose left side is wider than `widest`, and not at all if
/// widths differ by more than `spread`.
fn column(run: &mut [Line<'_>], piece: impl Fn(&Line<'_>) -> Option<usize>, widest: usize, spread: usize) {
    let widths: Vec<Option<(usize, usize)>> = run
        .iter()
        .map(|line| piece(line).map(|index| (index, width_before(line, index))).filter(|(_, width)| *width <= widest))
        .collect();
    let all = || widths.iter().flatten().map(|(_, width)| *width);
    let (Some(least), Some(most)) = (all().min(), all().max()) else { return };
    if most - least > spread {
        return;
    }
    for (line, place) in run.iter_mut().zip(&widths) {
        let Some((index, width)) = *place else { continue };
        if let Some(piece) = line.pieces.get_mut(index) {
            piece.space = most - width + 1;
        }
    }
}

/// Aligns one-line blocks: the third word of their heads, their `{`, and their statements.
fn table(run: &mut [Line<'_>]) {
    let open = |line: &Line<'_>| line.pieces.iter().position(|piece| piece.kind == TokenKind::Open);
    groups(
        run,
        |line| open(line).filter(|at| *at > 2).and_then(|_| line.pieces.get(2)).map(|piece| piece.text.to_owned()),
        |group| {
            column(group, |_| Some(2), WIDEST, usize::MAX);
        },
    );
    column(run, open, WIDEST, usize::MAX);
    let most = run.iter().map(|line| statements(line).len()).max().unwrap_or(0);
    for nth in 1..most {
        let words = |line: &Line<'_>| {
            let starts = statements(line);
            starts.get(nth)?;
            let text = |at: &usize| line.pieces.get(*at).map_or("", |piece| piece.text).to_owned();
            Some(starts.iter().take(nth + 1).map(text).collect::<Vec<_>>())
        };
        groups(run, words, |group| {
            column(group, |line| statements(line).get(nth).copied(), usize::MAX, FURTHEST);
        });
    }
}

/// Where the statements of a one-line block begin.
fn statements(line: &Line<'_>) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut depth = 0usize;
    let mut fresh = false;
    for (index, piece) in content(line).iter().enumerate() {
        let opens = piece.kind == TokenKind::Open;
        if fresh && depth == 1 && piece.kind != TokenKind::Close {
            starts.push(index);
        }
        depth += usize::from(opens);
        depth -= usize::from(piece.kind == TokenKind::Close && depth > 0);
        fresh = (opens || piece.kind == TokenKind::Semicolon) && depth == 1;
    }
    starts
}

/// Runs `act` on each longest stretch of lines that have the same key.
fn groups<'a, K: PartialEq>(run: &mut [Line<'a>], key: impl Fn(&Line<'a>) -> Option<K>, act: impl Fn(&mut [Line<'a>])) {
    let keys: Vec<Option<K>> = run.iter().map(key).collect();
    let mut from = 0;
    while from < run.len() {
        let mut to = from + 1;
        while to < run.len() && keys.get(to) == keys.get(from) {
            to += 1;
        }
        if keys.get(from).is_some_and(Option::is_some)
            && let Some(group) = run.get_mut(from..to)
        {
            act(group);
        }
        from = to;
    }
}
