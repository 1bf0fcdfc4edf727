//! Lays a file out anew, from its tokens.
//!
//! In: a tree without syntax errors. Out: its text with two spaces of indentation a level, one space between items, at
//! most one blank line in a row, and the columns of `align`. Lines stay as the author broke them, except that a block
//! over several lines has its braces at the ends of their lines. Comments stay where they are, and all lines end as
//! the first one does. Meaning never changes.

mod align;
mod lines;

#[cfg(test)]
mod tests;

use super::Tree;

/// The text of a tree, well laid out. The tree must come from a text without syntax errors, else what could not be read
/// is laid out as if it could.
pub fn format(tree: &Tree) -> String {
    let mut lines = lines::lines(tree);
    align::align(&mut lines);
    let mut out = String::with_capacity(tree.source.text.len());
    for line in &lines {
        if line.blank_above {
            out.push('\n');
        }
        let indent = if line.pieces.is_empty() { 0 } else { line.indent };
        out.extend(std::iter::repeat_n(' ', indent));
        for piece in &line.pieces {
            out.extend(std::iter::repeat_n(' ', piece.space));
            out.push_str(piece.text);
        }
        out.push('\n');
    }
    if ends_in_crlf(&tree.source.text) { out.replace("\r\n", "\n").replace('\n', "\r\n") } else { out }
}

/// Whether the first line of a text ends as on Windows. All lines are then laid out so.
fn ends_in_crlf(text: &str) -> bool {
    text.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r'))
}
