//! The walk through a JSON body that collects what names an error.
//!
//! In: text that may be JSON, broken JSON, or JSON within JSON. Out: `Said`, filled as far as the text could be read.
//! It builds no tree: values that name nothing are skipped where they stand. What a caller wrote and a server repeats is
//! not looked at.

use super::{Said, WAITS, What, text::normal};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;

/// How deep errors inside errors are walked.
const DEPTH: u8 = 12;

/// What a member's value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Message,
    Code,
    Kind,
    Word,
    Status,
    Wait,
    Provider,
    /// An object, or a text, that is the error itself.
    Error,
    /// Something around or beside it.
    Beside,
    Skip,
}

/// What members are called, in the normal form.
const NAMES: &[(Slot, &[&str])] = &[
    (
        Slot::Message,
        &[
            "message",
            "msg",
            "errormessage",
            "errormsg",
            "statusmsg",
            "detail",
            "details",
            "description",
            "errordescription",
            "faultstring",
            "title",
            "raw",
            "cause",
            "data",
            "errorstr",
            "failurereason",
            "text",
            "modelmessage",
            "originalmessage",
            "err",
            "info",
            "body",
            "upstreamerror",
            "providererror",
            "body_text",
        ],
    ),
    (Slot::Code, &["code", "errorcode", "errcode", "errorno", "errno", "apierrorcode", "errornum"]),
    (Slot::Kind, &["type", "errortype", "kind", "errorclass", "exception", "errorname"]),
    (
        Slot::Word,
        &["reason", "category", "limitsource", "quotaid", "errorid", "subcode", "errorcodename", "name", "state"],
    ),
    (Slot::Status, &["status", "statuscode", "httpstatus", "httpcode", "httpstatuscode", "originalstatuscode"]),
    (
        Slot::Wait,
        &[
            "retrydelay",
            "quotaresetdelay",
            "retryafter",
            "retryafterms",
            "retryafterseconds",
            "retryaftersecs",
            "retryafterinseconds",
            "estimatedtime",
            "resetsat",
            "resetat",
            "resettime",
            "resetsinseconds",
            "resetinseconds",
            "resetafter",
            "resetsafterseconds",
            "waitseconds",
            "xratelimitreset",
            "xratelimitremaining",
            "nextretryat",
            "quotaresettimestamp",
        ],
    ),
    (Slot::Provider, &["providername", "provider", "llmprovider"]),
    (Slot::Error, &["error", "errors", "fault", "baseresp", "outputerror", "innererror", "errorresponse"]),
    (
        Slot::Skip,
        &[
            "input",
            "inputs",
            "prompt",
            "messages",
            "failedgeneration",
            "request",
            "requestbody",
            "value",
            "loc",
            "param",
            "params",
            "ctx",
            "links",
            "help",
            "locale",
            "url",
            "documentationurl",
            "docurl",
            "content",
            "contents",
            "choices",
            "candidates",
            "tools",
            "output",
            "model",
            "requestid",
            "id",
            "usage",
            "stack",
            "stacktrace",
            "traceback",
            "user",
            "userid",
            "quotadimensions",
            "quotavalue",
        ],
    ),
];

fn slot(name: &str) -> Slot {
    // A type's address says nothing that the type's own members do not say.
    if name.starts_with('@') {
        return Slot::Skip;
    }
    // AWS's own envelope, which is no model's output.
    if name == "Output" {
        return Slot::Error;
    }
    let name = normal(name);
    NAMES.iter().find(|(_, names)| names.contains(&name.as_str())).map_or(Slot::Beside, |(slot, _)| *slot)
}

/// Reads a text as JSON; says whether it is any. What follows the first value is not looked at.
pub(super) fn json(text: &str, said: &mut Said, depth: u8) -> bool {
    if !text.starts_with(['{', '[', '"']) {
        return false;
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let seed = Walk { said, name: "", slot: Slot::Error, depth };
    let read = seed.deserialize(&mut reader).is_ok();
    // An object that breaks off, or is too long to be read to its end, has still said what it said.
    read || !said.is_empty()
}

/// Takes a text of a name, from a body that is no JSON and says the same in another way.
pub(super) fn leaf(name: &str, text: &str, said: &mut Said) {
    Walk { said, name, slot: slot(name), depth: 1 }.text(text);
}

struct Walk<'s, 'n> {
    said: &'s mut Said,
    name: &'n str,
    slot: Slot,
    depth: u8,
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.depth > DEPTH {
            return Err(D::Error::custom("too deep"));
        }
        if self.slot == Slot::Skip {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(drop);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, is: bool) -> Result<(), E> {
        // A flag that is up says what it is called.
        if is && self.slot == Slot::Beside {
            self.said.add_word(self.name);
        }
        Ok(())
    }

    fn visit_i64<E>(self, n: i64) -> Result<(), E> {
        self.number(&n.to_string());
        Ok(())
    }

    fn visit_u64<E>(self, n: u64) -> Result<(), E> {
        self.number(&n.to_string());
        Ok(())
    }

    fn visit_f64<E>(self, n: f64) -> Result<(), E> {
        self.number(&n.to_string());
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.text(text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Walk { said, name, slot, depth } = self;
        loop {
            if !said.looks() {
                return Err(A::Error::custom("too many items"));
            }
            if list.next_element_seed(Walk { said: &mut *said, name, slot, depth })?.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Walk { said, slot: around, depth, .. } = self;
        // What is the error itself speaks before what is around it.
        let depth = depth.saturating_add(u8::from(around == Slot::Error));
        while let Some(name) = map.next_key::<Cow<'_, str>>()? {
            if !said.looks() {
                return Err(A::Error::custom("too many members"));
            }
            let mut slot = slot(&name);
            // The details of an error repeat or explain it, and have no say of their own.
            if around == Slot::Beside && matches!(slot, Slot::Code | Slot::Kind) {
                slot = Slot::Word;
            }
            map.next_value_seed(Walk { said: &mut *said, name: &name, slot, depth })?;
        }
        Ok(())
    }
}

impl Walk<'_, '_> {
    fn number(self, digits: &str) {
        let Walk { said, name, slot, depth } = self;
        match slot {
            Slot::Code | Slot::Status => {
                said.add_word(digits);
                if let Some(status) = status(digits)
                    && said.set(What::Status, depth)
                {
                    said.status = Some(status);
                }
                if slot == Slot::Code && said.set(What::Code, depth) {
                    said.code = Some(digits.to_owned());
                }
            }
            Slot::Wait => wait(said, name, digits),
            Slot::Kind | Slot::Word => said.add_word(digits),
            Slot::Message | Slot::Provider | Slot::Error | Slot::Beside | Slot::Skip => {}
        }
    }

    fn text(self, text: &str) {
        let Walk { said, name, slot, depth } = self;
        if text.is_empty() {
            return;
        }
        match slot {
            Slot::Message | Slot::Error => said.take_message(text, depth),
            Slot::Code => {
                if text.parse::<u64>().is_ok() {
                    return Walk { said, name, slot, depth }.number(text);
                }
                word(said, text);
                if said.set(What::Code, depth) {
                    said.code = Some(text.to_owned());
                }
            }
            Slot::Kind => {
                word(said, text);
                if said.set(What::Kind, depth) {
                    said.kind = Some(text.to_owned());
                }
            }
            Slot::Word => word(said, text),
            Slot::Status if text.parse::<u64>().is_ok() => Walk { said, name, slot, depth }.number(text),
            Slot::Status => word(said, text),
            Slot::Wait => wait(said, name, text),
            Slot::Provider => {
                said.provider.get_or_insert_with(|| text.chars().take(64).collect());
            }
            Slot::Beside | Slot::Skip => {}
        }
    }
}

/// A code that is a sentence is a message too.
fn word(said: &mut Said, text: &str) {
    said.add_word(text);
    if text.contains(' ') && text.len() > 24 {
        said.add_text(text);
    }
    if let Some((_, last)) = text.rsplit_once('.') {
        said.add_word(last);
    }
}

fn wait(said: &mut Said, name: &str, value: &str) {
    if said.waits.len() < WAITS {
        said.waits.push((normal(name), value.chars().take(64).collect()));
    }
}

fn status(digits: &str) -> Option<u16> {
    digits.parse().ok().filter(|n| (400..600).contains(n))
}
