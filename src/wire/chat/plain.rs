//! Objects of answers as they nearly always are, read in one pass.
//!
//! In: the text of one object. Out: the `Chunk` that it is, or nothing where it is out of the ordinary in any way: a
//! member that may speak of an error, a name that is there twice, a shape that is not the dialect's, no JSON. It says
//! nothing that the long way would not say, and leaves to it whatever it is not sure of.

use super::chunk::{self, Choice, Chunk};
use crate::wire::broken;
use crate::wire::json::Text;
use crate::wire::output::{self, CHAT_PART};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::marker::PhantomData;

/// What `object` says in an ordinary answer.
const OBJECTS: &[&str] = &["\"chat.completion\"", "\"chat.completion.chunk\""];

/// More members of a message than any has.
const MEMBERS: usize = 64;

/// Reads one object, if it is an ordinary one.
pub(super) fn read(text: &str) -> Option<Chunk<'_>> {
    serde_json::from_str::<Plain<'_>>(text).ok().map(|plain| plain.0)
}

/// Out of the ordinary; what it is, the long way finds out.
fn odd<E: Error>() -> E {
    E::custom("out of the ordinary")
}

/// Keeps what comes once.
fn once<T, E: Error>(place: &mut Option<T>, value: T) -> Result<(), E> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(odd()),
    }
}

/// `null` is as good as absent.
fn given(value: Option<&RawValue>) -> Option<&RawValue> {
    value.filter(|v| v.get() != "null")
}

/// The whole object.
struct Plain<'a>(Chunk<'a>);

/// Its list of choices.
struct Choices<'a>(Vec<Choice<'a>>);

/// One of them.
struct One<'a>(Choice<'a>);

/// A message or delta: whether it brings output.
struct Part(bool);

/// Visits the type of the same name.
struct Visit<T>(PhantomData<T>);

impl<'de: 'a, 'a> Deserialize<'de> for Plain<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Visit::<Plain<'de>>(PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Choices<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Visit::<Choices<'de>>(PhantomData))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for One<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Visit::<One<'de>>(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Visit::<Part>(PhantomData))
    }
}

impl<'de> Visitor<'de> for Visit<Plain<'de>> {
    type Value = Plain<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Plain<'de>, A::Error> {
        let (mut model, mut usage, mut choices) = (None, None, None);
        while let Some(Text(name)) = map.next_key()? {
            match name.as_ref() {
                "choices" => once(&mut choices, map.next_value::<Choices<'de>>()?.0)?,
                "model" => once(&mut model, map.next_value()?)?,
                "usage" => once(&mut usage, map.next_value()?)?,
                "object" => {
                    let object: &RawValue = map.next_value()?;
                    if !OBJECTS.contains(&object.get()) {
                        return Err(odd());
                    }
                }
                name if broken::MARKS.contains(&name) => return Err(odd()),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(Plain(Chunk {
            model: given(model).and_then(chunk::word),
            usage: given(usage).and_then(chunk::usage),
            error: None,
            choices,
        }))
    }
}

impl<'de> Visitor<'de> for Visit<Choices<'de>> {
    type Value = Choices<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Choices<'de>, A::Error> {
        let mut choices = Vec::new();
        while let Some(One(choice)) = list.next_element()? {
            choices.push(choice);
        }
        Ok(Choices(choices))
    }
}

impl<'de> Visitor<'de> for Visit<One<'de>> {
    type Value = One<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a choice")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<One<'de>, A::Error> {
        let (mut index, mut finish, mut part) = (None, None, None);
        while let Some(Text(name)) = map.next_key()? {
            match name.as_ref() {
                "delta" | "message" => once(&mut part, map.next_value::<Part>()?.0)?,
                "index" => once(&mut index, map.next_value()?)?,
                "finish_reason" => once(&mut finish, map.next_value()?)?,
                "error" => return Err(odd()),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(One(Choice {
            index: given(index).map_or(0, chunk::index),
            output: part.unwrap_or(false),
            finish: given(finish).and_then(chunk::word),
        }))
    }
}

impl<'de> Visitor<'de> for Visit<Part> {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Part, A::Error> {
        let (mut output, mut refusal, mut left) = (false, None, MEMBERS);
        while let Some(Text(name)) = map.next_key()? {
            left = left.checked_sub(1).ok_or_else(odd)?;
            let value: &RawValue = map.next_value()?;
            if name == "refusal" {
                once(&mut refusal, value)?;
            } else {
                output |= CHAT_PART.counts(&name, value);
            }
        }
        Ok(Part(output || given(refusal).is_some_and(output::declines)))
    }
}

#[cfg(test)]
mod tests;
