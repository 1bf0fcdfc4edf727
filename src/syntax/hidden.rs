//! Characters that nobody sees, inside of comments and texts.
//!
//! In: the text of a comment or of a string in quotes. Out: a diagnostic for each run of characters that have no width or
//! turn the direction of what is shown: a reviewer would read another text than the one that holds. Outside of comments
//! and strings the grammar has no use for them anyway.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// Whether nobody sees a character, or it makes others be shown elsewhere.
pub fn is_hidden(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// Adds a finding for each run of them. `span` is where the text stands.
pub(super) fn find(text: &str, span: Span, in_string: bool, out: &mut Vec<Diagnostic>) {
    if text.is_ascii() {
        return;
    }
    let mut rest = text;
    while let Some(from) = rest.find(is_hidden) {
        let tail = rest.get(from..).unwrap_or("");
        let length = tail.find(|c| !is_hidden(c)).unwrap_or(tail.len());
        let at = text.len() - rest.len() + from;
        let start = span.start as usize + at;
        let run = tail.get(..length).unwrap_or("");
        let around =
            (text.get(..at).unwrap_or("").chars().next_back(), tail.get(length..).unwrap_or("").chars().next());
        if !joins(run, around) {
            out.push(finding(run, Span::new(span.file, start, start + length), in_string));
        }
        rest = tail.get(length..).unwrap_or("");
    }
}

/// Whether a joiner, or its opposite, stands between what it is made for: parts of an emoji, letters of scripts that join.
fn joins(run: &str, around: (Option<char>, Option<char>)) -> bool {
    matches!(run, "\u{200C}" | "\u{200D}") && matches!(around, (Some(a), Some(b)) if !a.is_ascii() && !b.is_ascii())
}

fn finding(run: &str, span: Span, in_string: bool) -> Diagnostic {
    let named: Vec<String> = run.chars().map(|c| format!("U+{:04X}", u32::from(c))).collect();
    let shown = named.iter().take(3).cloned().collect::<Vec<_>>().join(" ");
    let more = if named.len() > 3 { format!(" and {} more", named.len() - 3) } else { String::new() };
    let place = if in_string { "string" } else { "comment" };
    let found =
        Diagnostic::new(Code::HiddenText, span, format!("this {place} holds text that nobody sees: {shown}{more}"))
            .here("hidden here");
    if in_string {
        let escaped: String = run.chars().map(|c| format!("\\u{{{:X}}}", u32::from(c))).collect();
        let title = if named.len() > 3 { "write escapes".to_owned() } else { format!("write `{escaped}`") };
        found
            .help("remove it; where it is meant, write it as an escape that can be read")
            .fix(title, span, escaped, true)
    } else {
        found.help("remove it, and look at the line again").fix("remove it", span, "", false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joiner_is_hidden_only_where_it_joins_nothing() {
        let found = |text: &str| {
            let mut out = Vec::new();
            find(text, Span::default(), true, &mut out);
            out.len()
        };
        for seen in ["\u{1F469}\u{200D}\u{1F4BB}", "\u{645}\u{6CC}\u{200C}\u{62E}", "plain"] {
            assert_eq!(found(seen), 0, "{seen:?}");
        }
        for hidden in [
            "a\u{200D}b",
            "\u{200D}\u{1F4BB}",
            "\u{1F469}\u{200D}",
            "\u{1F469}\u{200D}\u{200D}\u{1F4BB}",
            "\u{645}\u{202E}\u{62E}",
        ] {
            assert_eq!(found(hidden), 1, "{hidden:?}");
        }
    }
}
