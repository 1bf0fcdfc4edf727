//! The members of a JSON object, as pieces of the text they stand in.
//!
//! In: the text of an object. Out: its members in order, each value as the text that stands there, so that one value
//! can be replaced and nothing else touched. It builds no tree and copies no value.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// The members of an object, as written: duplicates included.
#[derive(Debug, Default)]
pub struct Members<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Reads an object.
    ///
    /// # Errors
    /// Where the text is not JSON, or not an object.
    pub fn read(text: &'a str) -> Result<Members<'a>, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Reads an object of at most so many members; nothing where it has more, is broken, or is none.
    pub fn at_most(text: &'a str, most: usize) -> Option<Members<'a>> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let members = deserializer.deserialize_map(Object(most)).ok()?;
        deserializer.end().ok().map(|()| members)
    }

    /// Whether there is a member of this name, `null` included.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }

    /// Shows each value that a path leads to: members joined by dots, `[]` behind a member for each item of its list.
    pub fn at(&self, path: &str, show: &mut dyn FnMut(&'a RawValue)) {
        let (step, rest) = path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
        let list = step.strip_suffix("[]");
        if let Some(value) = self.get(list.unwrap_or(step)) {
            go_on(value, list.is_some(), rest, show);
        }
    }

    /// The first member of this name; `null` is as good as absent.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, v)| *v).filter(|v| v.get() != "null")
    }

    /// The first of these names that is there more than once.
    pub fn repeated<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.0.iter().filter(|(n, _)| n == name).count() > 1)
    }
}

/// The first member of this name in the text of an object; `null` is as good as absent. Nothing else is kept.
pub fn member<'a>(text: &'a str, name: &str) -> Option<&'a RawValue> {
    let mut found = None;
    members(text, &mut |n, value| {
        if found.is_none() && n == name {
            found = Some(value);
        }
    });
    found.filter(|v| v.get() != "null")
}

/// Most members of one object, or items of one list, that are shown: no part of an answer has more that count.
const SHOWN: u32 = 4096;

/// Shows the members of the text of an object; of a broken object those before the break. What is no object has none.
pub fn members<'a>(text: &'a str, show: &mut dyn FnMut(&str, &'a RawValue)) {
    struct Shown<'s, 'a>(&'s mut dyn FnMut(&str, &'a RawValue));
    impl<'de> Visitor<'de> for Shown<'_, 'de> {
        type Value = ();
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            let mut left = SHOWN;
            while let (Some(Text(name)), Some(fewer)) = (map.next_key()?, left.checked_sub(1)) {
                left = fewer;
                (self.0)(&name, map.next_value()?);
            }
            Ok(())
        }
    }
    // What is broken ends here; what came before it was shown.
    let _ = serde_json::Deserializer::from_str(text).deserialize_map(Shown(show));
}

/// Shows the items of the text of a list; of a broken list those before the break. What is no list has none.
pub fn items<'a>(text: &'a str, show: &mut dyn FnMut(&'a RawValue)) {
    struct Shown<'s, 'a>(&'s mut dyn FnMut(&'a RawValue));
    impl<'de> Visitor<'de> for Shown<'_, 'de> {
        type Value = ();
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
            let mut left = SHOWN;
            while let (Some(item), Some(fewer)) = (list.next_element()?, left.checked_sub(1)) {
                left = fewer;
                (self.0)(item);
            }
            Ok(())
        }
    }
    let _ = serde_json::Deserializer::from_str(text).deserialize_seq(Shown(show));
}

fn at<'a>(text: &'a str, path: &str, show: &mut dyn FnMut(&'a RawValue)) {
    let (step, rest) = path.split_once('.').map_or((path, None), |(step, rest)| (step, Some(rest)));
    let list = step.strip_suffix("[]");
    if let Some(value) = member(text, list.unwrap_or(step)) {
        go_on(value, list.is_some(), rest, show);
    }
}

fn go_on<'a>(value: &'a RawValue, list: bool, rest: Option<&str>, show: &mut dyn FnMut(&'a RawValue)) {
    let mut inner = |value: &'a RawValue| match rest {
        Some(rest) => at(value.get(), rest, show),
        None => show(value),
    };
    if list { items(value.get(), &mut inner) } else { inner(value) }
}

/// Where a value stands in the text it was read from, in bytes.
pub fn range(text: &str, value: &RawValue) -> Option<Range<usize>> {
    let start = (value.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let end = start.checked_add(value.get().len())?;
    (end <= text.len()).then_some(start..end)
}

/// A string as JSON, quotes included.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A value that is a string.
pub fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(value.get()).ok().map(|t| t.0)
}

/// A value as text: of a string what it says, with a mark for what is no Unicode in it; of anything else how it is written.
pub fn lossy(value: &RawValue) -> String {
    struct Bytes;
    impl Visitor<'_> for Bytes {
        type Value = String;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a string")
        }
        fn visit_bytes<E>(self, v: &[u8]) -> Result<String, E> {
            Ok(String::from_utf8_lossy(v).into_owned())
        }
    }
    // Halves of pairs, as some languages write bytes that they could not read, are kept as bytes here.
    let text = value.get().starts_with('"').then(|| serde_json::Deserializer::from_str(value.get()));
    text.and_then(|mut text| text.deserialize_bytes(Bytes).ok()).unwrap_or_else(|| value.get().to_owned())
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object(usize::MAX))
    }
}

/// Reads an object of at most so many members.
struct Object(usize);

impl<'de> Visitor<'de> for Object {
    type Value = Members<'de>;
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(Text(name)) = map.next_key()? {
            if members.len() >= self.0 {
                return Err(serde::de::Error::custom("too many members"));
            }
            members.push((name, map.next_value()?));
        }
        Ok(Members(members))
    }
}

/// A string, borrowed where it holds no escapes.
#[derive(Debug)]
pub struct Text<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowed;
        impl<'de> Visitor<'de> for Borrowed {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(v)))
            }
            fn visit_str<E>(self, v: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(v.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_stand_where_they_were_written() {
        let text = r#" { "a" : 1 , "m\u006fdel":"x y", "n":null } "#;
        let members = Members::read(text).unwrap();
        let model = members.get("model").unwrap();
        assert_eq!(&text[range(text, model).unwrap()], r#""x y""#);
        assert_eq!(string(model).unwrap(), "x y");
        assert!(members.get("n").is_none());
        assert!(string(members.get("a").unwrap()).is_none());
    }

    #[test]
    fn any_value_has_a_text() {
        let text = |json: &str| lossy(serde_json::from_str(json).unwrap());
        assert_eq!(text(r#""a\n\u00e9 \ud83d\ude00""#), "a\né 😀");
        assert_eq!(text(r#""a\udcffb""#), "a\u{fffd}\u{fffd}\u{fffd}b");
        assert_eq!(text(r#"{"a": "b"}"#), r#"{"a": "b"}"#);
        assert_eq!(text("429"), "429");
    }

    #[test]
    fn repeated_names_are_seen_through_escapes() {
        let members = Members::read(r#"{"model":"a","mod\u0065l":"b"}"#).unwrap();
        assert_eq!(members.repeated(&["stream", "model"]), Some("model"));
    }
}
