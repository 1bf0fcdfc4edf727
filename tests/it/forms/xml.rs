//! As much of XML 1.0 as a strict reader of reports and of their schema needs: a tree, or why the text is none.

/// An element.
#[derive(Debug, Default)]
pub struct Element {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Element>,
    /// The text between the children.
    pub text: String,
}

impl Element {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// This element and all below it.
    pub fn all(&self) -> Vec<&Element> {
        let mut all = vec![self];
        self.children.iter().for_each(|child| all.extend(child.all()));
        all
    }
}

/// The root of a document.
pub fn read(document: &str) -> Result<Element, String> {
    let mut rest = document.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"").ok_or("no declaration")?;
    rest = rest.trim_start().strip_prefix("?>").ok_or("the declaration does not end")?;
    if let Some(c) = document.chars().find(|c| !is_char(*c)) {
        return Err(format!("{c:?} has no place in XML"));
    }
    let mut open = vec![Element::default()];
    while let Some(at) = rest.find('<') {
        let text = decode(&rest[..at])?;
        open.last_mut().unwrap().text.push_str(&text);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.split_once("-->").ok_or("a comment does not end")?.1;
            continue;
        }
        let (tag, after) = rest[1..].split_once('>').ok_or("a tag does not end")?;
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().unwrap();
            let parent = open.last_mut().ok_or("more is closed than was opened")?;
            if closed.name != name {
                return Err(format!("</{name}> closes <{}>", closed.name));
            }
            parent.children.push(closed);
            continue;
        }
        let element = element(tag.trim_end_matches('/'))?;
        if tag.ends_with('/') {
            open.last_mut().unwrap().children.push(element);
        } else {
            open.push(element);
        }
    }
    let mut root = open.pop().unwrap();
    if !open.is_empty() || root.children.len() != 1 || !(root.text + rest).trim().is_empty() {
        return Err("not one whole element".to_owned());
    }
    Ok(root.children.remove(0))
}

fn element(tag: &str) -> Result<Element, String> {
    let (name, mut rest) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
    let mut element = Element { name: name.to_owned(), ..Element::default() };
    rest = rest.trim();
    while !rest.is_empty() {
        let (key, after) = rest.split_once("=\"").ok_or_else(|| format!("not attributes: {rest}"))?;
        let (value, after) = after.split_once('"').ok_or_else(|| format!("a value does not end: {rest}"))?;
        if value.contains('<') || element.attribute(key).is_some() || !(after.is_empty() || after.starts_with(' ')) {
            return Err(format!("not an attribute: {rest}"));
        }
        element.attributes.push((key.to_owned(), decode(value)?));
        rest = after.trim_start();
    }
    Ok(element)
}

fn decode(text: &str) -> Result<String, String> {
    let known = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    for (at, _) in text.match_indices('&') {
        if !known.iter().any(|(entity, _)| text[at..].starts_with(entity)) {
            return Err(format!("a bare `&`: {text}"));
        }
    }
    Ok(known.iter().fold(text.to_owned(), |text, (entity, c)| text.replace(entity, c)))
}

fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}
