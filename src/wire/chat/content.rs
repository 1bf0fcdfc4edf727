//! What the messages of a request hold beside text, and how much they are.
//!
//! In: the text of `messages`. Out: kinds of content and an estimate of tokens, in one pass and without a tree. It never
//! fails: what has no known form counts by its length.

use crate::policy::{Modalities, Modality};
use crate::wire::json;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// What an image counts for in the estimate, in tokens, however it is given.
const IMAGE_TOKENS: u64 = 2_000;

/// Bytes of encoded sound that stand for a token at the most.
const AUDIO_BYTES_PER_TOKEN: u64 = 64;

/// What the messages hold beside text, found in one pass.
#[derive(Debug)]
pub(super) struct Content {
    /// Kinds of content, text always among them.
    pub modalities: Modalities,
    /// Bytes of pictures and sound, which are no text to be counted by length.
    media_bytes: u64,
    /// What they count for instead.
    media_tokens: u64,
}

impl Content {
    /// Looks through `messages`.
    pub fn of(messages: &RawValue) -> Content {
        let text = Modalities::default().with(Modality::Text);
        let mut content = Content { modalities: text, media_bytes: 0, media_tokens: 0 };
        // What cannot be read any further, since it nests too deep, stays counted by its length.
        let _ = Parts(&mut content).deserialize(&mut serde_json::Deserializer::from_str(messages.get()));
        content
    }

    /// Input tokens, estimated upwards: half the bytes and a tenth more, pictures and sound apart.
    pub fn tokens(&self, messages: &RawValue, tools: [Option<&RawValue>; 2]) -> u64 {
        let length = |v: &RawValue| v.get().len() as u64;
        let bytes = length(messages) + tools.into_iter().flatten().map(length).sum::<u64>();
        bytes.saturating_sub(self.media_bytes).saturating_mul(11).div_ceil(20).saturating_add(self.media_tokens)
    }

    fn media(&mut self, modality: Modality, value: &RawValue) {
        let bytes = value.get().len() as u64;
        let tokens = match modality {
            Modality::Image => IMAGE_TOKENS,
            Modality::Audio => bytes.div_ceil(AUDIO_BYTES_PER_TOKEN),
            Modality::Text | Modality::Video | Modality::File => return,
        };
        self.media_bytes += bytes;
        self.media_tokens += tokens;
    }
}

/// The kind of content that a part of this type holds, in the member of the same name.
fn modality(kind: &str) -> Option<Modality> {
    match kind {
        "image_url" | "input_image" => Some(Modality::Image),
        "input_audio" => Some(Modality::Audio),
        "video_url" | "input_video" => Some(Modality::Video),
        "file" | "input_file" => Some(Modality::File),
        _ => None,
    }
}

/// Walks messages and their parts: lists, and in objects the members `content` and `type` and whatever holds media.
struct Parts<'c>(&'c mut Content);

impl<'de> DeserializeSeed<'de> for Parts<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Parts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(Parts(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        while let Some(json::Text(name)) = object.next_key()? {
            if name == "content" {
                object.next_value_seed(Parts(self.0))?;
            } else if name == "type" {
                let kind = json::string(object.next_value()?);
                if let Some(modality) = kind.and_then(|k| modality(&k)) {
                    self.0.modalities = self.0.modalities.with(modality);
                }
            } else if let Some(modality) = modality(&name) {
                self.0.media(modality, object.next_value()?);
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }
    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }
    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
