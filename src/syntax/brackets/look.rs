//! What stands behind a bracket on its line, where that tells what the bracket is meant for.
//!
//! In: a bracket's mark, and the nesting before it. Out: yes or no. Changes nothing.

use super::super::scan::{Bracket, Mark, MarkKind};
use super::{Nesting, Opener};

/// How many characters behind a bracket are asked whether it belongs there.
const NEAR: usize = 400;

impl Nesting<'_> {
    /// Whether a mark of a kind stands right behind this one.
    pub(super) fn directly_before(&self, mark: &Mark, kind: MarkKind) -> bool {
        self.next.is_some_and(|next| next.kind == kind && next.before == mark.at + 1)
    }

    /// Whether this `}` ends its line, closes nothing that begins on it, and what follows is indented like its block.
    pub(super) fn opens_block(&self, mark: &Mark) -> bool {
        let deeper = match self.next.map(|next| (next.before, next.kind)) {
            Some((before, MarkKind::Line { indent, .. })) => before == mark.at + 1 && indent > self.indent,
            Some((_, MarkKind::Open(_) | MarkKind::Close(_) | MarkKind::Semicolon | MarkKind::End)) | None => false,
        };
        deeper && self.stack.last().is_none_or(|top| top.line < self.line)
    }

    /// Whether the rest of a line has a `}` for a list that begins on it: all its other blocks are closed without.
    pub(super) fn brace_closes(&self, mark: &Mark) -> bool {
        let (line, _) = self.rest_of_line(mark);
        let here = |open: &&Opener| open.line == self.line && open.bracket == Bracket::Brace;
        let open = self.stack.iter().filter(here).count() + line.matches('{').count();
        self.stack.last().is_some_and(|top| top.line == self.line)
            && !line.contains(']')
            && line.matches('}').count() > open
    }

    /// What stands behind a mark on its line, comments left out, and all that stands behind it; neither goes far, since
    /// looking that far each time would take its time.
    fn rest_of_line(&self, mark: &Mark) -> (&str, &str) {
        let rest = self.text.get(mark.at + 1..).unwrap_or("");
        let near = rest.char_indices().nth(NEAR).map_or(rest.len(), |(at, _)| at);
        let rest = rest.get(..near).unwrap_or("");
        (rest.split(['\n', '#']).next().unwrap_or(""), rest)
    }

    /// Whether more stands behind this `}` on its line, with a `}` too many.
    pub(super) fn goes_on(&self, mark: &Mark) -> bool {
        let (line, rest) = self.rest_of_line(mark);
        let count = |bracket: char| line.matches(bracket).count();
        let more = line.trim_start().chars().next().is_some_and(|c| c != '}');
        let below = rest.split('\n').skip(1).find(|line| !line.trim().is_empty()).unwrap_or("");
        let deeper = below.len() - below.trim_start_matches(' ').len() > self.indent && !below.trim().starts_with('}');
        let (open, close) = (self.stack.len() + count('{'), self.line_depth + count('}') + 1);
        more && (close > open || close == open && deeper)
    }
}
