//! What an error body says: its words, codes and types, out of the shapes that servers and relays use.
//!
//! In: body bytes of any kind. Out: `Said`, with everything that a rule or a hint may look at. It never fails: a body
//! that is no JSON is text, a page is what stands on it, a broken object is what could be read of it. An error inside an
//! error is unwrapped a bounded number of times, and the innermost speaks first.

mod page;
mod shown;
mod text;
mod walk;
mod xml;

pub use shown::{MESSAGE_CHARS, words};
pub(crate) use text::normal;

/// Beginning of a body that is looked at, in bytes: an error says what it is at once.
pub const READ_BYTES: usize = 64 * 1024;

/// Most text that is kept for phrases, in bytes.
const TEXT_BYTES: usize = 8 * 1024;

/// Most that is kept of the beginning and of the end of one message, in bytes: what is wrong stands first, or last after
/// a trace of calls.
const KEPT: (usize, usize) = (3 * 1024, 1024);

/// Most members of objects that are looked at.
const MEMBERS: u16 = 256;

/// Most codes, types and the like that are kept.
const WORDS: usize = 48;

/// Most codes that are taken from prose.
const SPOKEN: usize = 24;

/// How deep an error may stand to be looked into once more.
const UNWRAPPED: u8 = 8;

/// Most waits that are kept.
const WAITS: usize = 16;

/// What a body says about an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Its words, in full: those of the innermost error.
    pub message: String,
    /// Its code, numbers as digits.
    pub code: Option<String>,
    /// Its type.
    pub kind: Option<String>,
    /// The HTTP status that it says it stands for.
    pub status: Option<u16>,
    /// Who a relay says had the error.
    pub provider: Option<String>,
    /// Codes, types and the like of all layers, in the normal form: lower case, letters and digits only.
    pub words: Vec<String>,
    /// The same, of names in prose that can only be codes.
    pub spoken: Vec<String>,
    /// All messages, in lower case, one a line.
    pub text: String,
    /// Members that state a wait: the member's name in the normal form, and its value.
    pub waits: Vec<(String, String)>,
    /// It is a page, not an answer of an API.
    pub page: bool,
    /// Which triples of bytes `text` holds.
    grams: text::Grams,
    /// How many members were looked at.
    members: u16,
    /// How deep each of `message`, `code`, `kind`, `status` stood.
    depths: [u8; 4],
}

impl Said {
    /// Reads a body.
    pub fn read(body: &[u8]) -> Said {
        let body = body.get(..READ_BYTES).unwrap_or(body);
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}').trim();
        let mut said = Said::default();
        if page::is_page(text) && xml::error(text, &mut said) {
            // As good as JSON.
        } else if page::is_page(text) {
            said.page = true;
            page::title(text).clone_into(&mut said.message);
            said.add_text(&page::visible(text));
        } else if !walk::json(text, &mut said, 0) {
            // What begins as JSON and is none is text.
            match text::embedded(text) {
                ("", Some(_)) => said.take_plain(text, 0),
                (_, Some(_) | None) => said.take_message(text, 0),
            }
        }
        said.spoken_status();
        said.grams = text::Grams::of(&said.text);
        said
    }

    /// Whether code, type or the like is this one. A `*` at an end stands for anything.
    pub fn has_word(&self, pattern: &str) -> bool {
        // A name in prose may be that of a parameter: only that of an error is met half-way.
        let whole = |word: &&String| !pattern.contains('*') || word.ends_with("error") || word.ends_with("exception");
        let spoken = self.spoken.iter().filter(whole);
        self.words.iter().chain(spoken).any(|word| text::glob(pattern, word))
    }

    /// Whether a message holds this phrase. A `*` in it stands for a gap in the same line.
    pub fn has_phrase(&self, phrase: &str) -> bool {
        self.grams.may_hold(phrase) && text::holds(&self.text, phrase)
    }

    /// What is shown of code and type: the code, unless it only repeats a status.
    pub fn code_or_kind(&self) -> Option<String> {
        let code = self.code.clone().filter(|c| c.parse::<u16>().is_err());
        code.or_else(|| self.kind.clone()).or_else(|| self.code.clone())
    }

    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.words.is_empty() && self.status.is_none()
    }

    /// Keeps a code, type or the like.
    pub fn add_word(&mut self, word: &str) {
        let word = normal(word);
        if !word.is_empty() && self.words.len() < WORDS && !self.words.contains(&word) {
            self.words.push(word);
        }
    }

    /// Adds what is said outside of the body.
    pub fn add_seen(&mut self, text: &str) {
        self.add_text(text);
        self.grams = text::Grams::of(&self.text);
    }

    fn add_text(&mut self, text: &str) {
        let (head, tail) = text::ends(text, KEPT);
        let (head, tail) = (&*text::without_names(head), &*text::without_names(tail));
        for token in [head, tail].into_iter().flat_map(text::tokens) {
            let token = normal(token);
            if self.spoken.len() < SPOKEN && !self.spoken.contains(&token) {
                self.spoken.push(token);
            }
        }
        for piece in [head, tail] {
            let room = TEXT_BYTES.saturating_sub(self.text.len());
            if piece.is_empty() || room == 0 {
                continue;
            }
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(&text::ends(piece, (room, 0)).0.to_lowercase());
        }
    }

    /// Counts a member; says whether it is still looked at.
    fn looks(&mut self) -> bool {
        self.members = self.members.saturating_add(1);
        self.members <= MEMBERS
    }

    fn set(&mut self, what: What, depth: u8) -> bool {
        let slot = self.depths.get_mut(what as usize);
        let Some(slot) = slot else { return false };
        // Zero is nothing yet; what stands deeper replaces what stood around it.
        let newer = *slot < depth.saturating_add(1);
        if newer {
            *slot = depth.saturating_add(1);
        }
        newer
    }

    /// Takes a text that a member of a message's name holds. An error within it is unwrapped.
    fn take_message(&mut self, message: &str, depth: u8) {
        let message = message.trim();
        if message.is_empty() {
            return;
        }
        let (plain, inner) = text::embedded(message);
        if let Some(inner) = inner.filter(|_| depth < UNWRAPPED) {
            let mut within = Said::default();
            let deeper = depth.saturating_add(1);
            if walk::json(inner, &mut within, deeper) && !within.is_empty() {
                self.add_text(plain);
                self.merge(within, depth.saturating_add(2));
                return;
            }
        }
        self.take_plain(message, depth);
    }

    /// Takes a text that holds nothing but words.
    fn take_plain(&mut self, message: &str, depth: u8) {
        if self.set(What::Message, depth) {
            message.clone_into(&mut self.message);
        }
        self.add_text(message);
    }

    fn merge(&mut self, inner: Said, depth: u8) {
        if !inner.message.is_empty() && self.set(What::Message, depth) {
            self.message = inner.message;
        }
        if inner.code.is_some() && self.set(What::Code, depth) {
            self.code = inner.code;
        }
        if inner.kind.is_some() && self.set(What::Kind, depth) {
            self.kind = inner.kind;
        }
        if inner.status.is_some() && self.set(What::Status, depth) {
            self.status = inner.status;
        }
        self.members = self.members.saturating_add(inner.members);
        inner.words.iter().for_each(|w| self.add_word(w));
        self.add_text(&inner.text);
        let heard = inner.spoken.into_iter().take(SPOKEN.saturating_sub(self.spoken.len()));
        self.spoken.extend(heard);
        let room = WAITS.saturating_sub(self.waits.len());
        self.waits.extend(inner.waits.into_iter().take(room));
        self.provider = inner.provider.or(self.provider.take());
        self.page |= inner.page;
    }

    /// The status that stands in the text itself, as client libraries print it.
    fn spoken_status(&mut self) {
        if let Some(status) = text::status(&self.text)
            && self.set(What::Status, 0)
        {
            self.status = Some(status);
        }
    }
}

/// What is kept of the innermost error alone.
#[derive(Clone, Copy)]
enum What {
    Message,
    Code,
    Kind,
    Status,
}

#[cfg(test)]
mod tests;
