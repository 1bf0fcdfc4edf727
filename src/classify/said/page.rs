//! Pages: what a proxy, a CDN or a web server sends where an API would send JSON.
//!
//! In: text. Out: whether it is a page, its title, and what a reader would see of its beginning. It is no HTML parser:
//! tags are skipped, scripts and styles too.

/// Beginning of a page that is looked at, in bytes.
const LOOKED_AT: usize = 8 * 1024;

/// Whether the text is a page.
pub(super) fn is_page(text: &str) -> bool {
    text.starts_with('<') && text.as_bytes().get(1).is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'!' | b'?'))
}

/// The title, or nothing.
pub(super) fn title(text: &str) -> &str {
    let beginning = beginning(text);
    let lower = beginning.to_ascii_lowercase();
    let found = lower.find("<title>").map(|at| at + "<title>".len()).and_then(|from| {
        let to = lower.get(from..)?.find("</title>")? + from;
        beginning.get(from..to)
    });
    found.unwrap_or_default().trim()
}

/// What a reader would see.
pub(super) fn visible(text: &str) -> String {
    let mut out = String::new();
    let mut rest = beginning(text);
    while let Some(at) = rest.find('<') {
        let (seen, tag) = rest.split_at(at);
        push(&mut out, seen);
        let is = |name: &str| tag.as_bytes().get(..name.len()).is_some_and(|t| t.eq_ignore_ascii_case(name.as_bytes()));
        let end = match () {
            () if is("<script") => "</script>",
            () if is("<style") => "</style>",
            () if is("<!--") => "-->",
            () => ">",
        };
        rest = match tag.find(end) {
            Some(to) => tag.get(to + end.len()..).unwrap_or_default(),
            None => "",
        };
    }
    push(&mut out, rest);
    out
}

fn push(out: &mut String, seen: &str) {
    let seen = seen.trim();
    if !seen.is_empty() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(seen);
    }
}

/// The part that is looked at.
pub(super) fn beginning(text: &str) -> &str {
    let end = (0..=LOOKED_AT.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or(text)
}
