//! The content of a message: text, pictures, documents.
//!
//! In: `content` as chat has it: a text, or a list of parts. Out: blocks, none of them empty; and the terms that a part
//! uses for which there is no block.

use super::form::{Block, Source};
use crate::policy::{Term, Terms};
use crate::wire::json::{self, Members};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The blocks of a content.
pub(super) fn blocks<'a>(content: &'a RawValue, terms: &mut Terms) -> Vec<Block<'a>> {
    match content.get().as_bytes().first() {
        Some(b'"') => json::string(content).and_then(text).into_iter().collect(),
        Some(b'[') => {
            let mut found = Vec::new();
            let parts: Vec<&RawValue> = serde_json::from_str(content.get()).unwrap_or_default();
            for part in parts {
                found.extend(block(part, terms));
            }
            found
        }
        Some(_) | None => {
            terms.add(Term::Parts);
            Vec::new()
        }
    }
}

/// A text, unless there is nothing in it: the dialect refuses blocks without text.
pub(super) fn text(text: Cow<'_, str>) -> Option<Block<'_>> {
    (!text.trim().is_empty()).then_some(Block::Text { text })
}

fn block<'a>(part: &'a RawValue, terms: &mut Terms) -> Option<Block<'a>> {
    let members = Members::read(part.get()).unwrap_or_default();
    let kind = members.get("type").and_then(json::string);
    let found = match kind.as_deref() {
        Some("text") => return members.get("text").and_then(json::string).and_then(text),
        Some("refusal") => return members.get("refusal").and_then(json::string).and_then(text),
        Some("image_url") => members.get("image_url").and_then(image).ok_or(Term::ImageSource),
        Some("file") => members.get("file").and_then(document).ok_or(Term::Files),
        Some("input_audio") => Err(Term::Audio),
        Some(_) | None => Err(Term::Parts),
    };
    found.map_err(|term| terms.add(term)).ok()
}

fn image(image: &RawValue) -> Option<Block<'_>> {
    let url = json::member(image.get(), "url").and_then(json::string)?;
    let source = if url.starts_with("https://") { Source::Url { url } } else { inline(&url, picture)? };
    Some(Block::Image { source })
}

fn document(file: &RawValue) -> Option<Block<'_>> {
    let data = json::member(file.get(), "file_data").and_then(json::string)?;
    let source = inline(&data, |kind| (kind == "application/pdf").then_some("application/pdf"))?;
    let title = json::member(file.get(), "filename").and_then(json::string).filter(|name| !name.trim().is_empty());
    Some(Block::Document { source, title })
}

fn picture(kind: &str) -> Option<&'static str> {
    match kind {
        "image/jpeg" | "image/jpg" => Some("image/jpeg"),
        "image/png" => Some("image/png"),
        "image/gif" => Some("image/gif"),
        "image/webp" => Some("image/webp"),
        _ => None,
    }
}

/// `data:TYPE;base64,…`, of a type that is known.
fn inline<'a>(url: &str, known: impl Fn(&str) -> Option<&'static str>) -> Option<Source<'a>> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let mut params = head.split(';');
    let media_type = known(&params.next()?.trim().to_ascii_lowercase())?;
    let base64 = params.any(|param| param.trim().eq_ignore_ascii_case("base64"));
    (base64 && !data.is_empty()).then(|| Source::Base64 { media_type, data: Cow::Owned(data.to_owned()) })
}
