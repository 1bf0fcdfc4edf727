//! Errors in XML, as stores, API gateways and older APIs send them.
//!
//! In: text that begins with a tag. Out: `Said`, filled from elements that hold nothing but text, by the names that members
//! of JSON have. It is no XML parser: it looks at the beginning only, and whatever it does not know it skips. What a browser
//! would show is a page, and none of its business.

use super::{Said, page, walk};
use std::borrow::Cow;

/// Marks of a page, in lower case.
const PAGE: &[&str] = &["<!doctype", "<html", "<head", "<body", "<title", "<center", "<h1", "<script"];

/// Reads an error; says whether it is one.
pub(super) fn error(text: &str, said: &mut Said) -> bool {
    let text = page::beginning(text);
    let lower = text.to_ascii_lowercase();
    if PAGE.iter().any(|mark| lower.contains(mark)) {
        return false;
    }
    let mut name = "";
    for piece in text.split('<') {
        let value = match piece.strip_prefix("![CDATA[") {
            // Text of the element around it.
            Some(data) => data.split_once("]]>").map_or(data, |(data, _)| data),
            None => {
                let Some((tag, value)) = piece.split_once('>') else { continue };
                let tag = tag.split(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
                name = tag.rsplit_once(':').map_or(tag, |(_, local)| local);
                value
            }
        };
        let value = value.trim();
        if !value.is_empty() && name.starts_with(|c: char| c.is_ascii_alphabetic()) && said.looks() {
            walk::leaf(name, &unescaped(value), said);
        }
    }
    !said.is_empty()
}

fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    Cow::Owned(marks.iter().fold(text.to_owned(), |text, (mark, is)| text.replace(mark, is)))
}
