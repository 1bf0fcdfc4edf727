//! What models can do and what contracts ask: two sides of the same capability words.

use super::class::words;
use super::units::{Millis, Percent, Prices};
use crate::source::Span;
use std::fmt;

words! {
    /// A kind of content.
    Modality {
        Text "text" "plain text";
        Image "image" "pictures";
        Audio "audio" "sound";
        Video "video" "moving pictures";
        File "file" "documents";
    }
}

/// A set of modalities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Modalities(u8);

impl Modalities {
    /// The set and this one.
    #[must_use]
    pub fn with(self, modality: Modality) -> Modalities {
        Modalities(self.0 | (1 << (modality as u8)))
    }

    /// Both sets.
    #[must_use]
    pub fn union(self, other: Modalities) -> Modalities {
        Modalities(self.0 | other.0)
    }

    /// Whether it is in the set.
    pub fn contains(self, modality: Modality) -> bool {
        self.0 & (1 << (modality as u8)) != 0
    }

    /// Its members.
    pub fn iter(self) -> impl Iterator<Item = Modality> {
        Modality::ALL.iter().copied().filter(move |m| self.contains(*m))
    }
}

words! {
    /// Tool calling, on the scale `no < yes < parallel`.
    Tools {
        No "no" "no tool calls";
        Yes "yes" "tool calls";
        Parallel "parallel" "several tool calls at once";
    }
}

words! {
    /// Structured output, on the scale `none < json-object < json-schema`.
    StructuredOutput {
        None "none" "free text only";
        JsonObject "json-object" "some JSON object";
        JsonSchema "json-schema" "JSON that fits a given schema";
    }
}

/// What a model states. What is not stated is unknown and meets no clause that asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// Kinds of input it takes.
    pub modalities: Option<Modalities>,
    /// Whether it streams.
    pub streaming: Option<bool>,
    /// Tool calling.
    pub tools: Option<Tools>,
    /// Structured output.
    pub structured_output: Option<StructuredOutput>,
    /// Input and output together, in tokens.
    pub context: Option<u64>,
    /// Output, in tokens.
    pub max_output: Option<u64>,
    /// Whether it goes on from a given beginning of its answer.
    pub prefill: Option<bool>,
    /// Whether it reasons.
    pub reasoning: Option<bool>,
    /// Prices.
    pub prices: Prices,
    /// How long the provider keeps what it was sent.
    pub retention: Option<Millis>,
    /// How good it is, by the operator's own measurement. Ranks only: no clause asks for it.
    pub quality: Option<Percent>,
}

/// The least that an answer must be able to do.
#[derive(Clone, Debug)]
pub struct Contract {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
    /// Its documentation.
    pub docs: Option<String>,
    /// Modalities that must be taken.
    pub modalities: Modalities,
    /// Whether streaming is needed.
    pub streaming: bool,
    /// The least tool calling.
    pub tools: Tools,
    /// The least structured output.
    pub structured_output: StructuredOutput,
    /// The least context, in tokens.
    pub context: Option<u64>,
    /// The least output limit, in tokens.
    pub max_output: Option<u64>,
    /// Whether prefill is needed.
    pub prefill: bool,
    /// Whether reasoning is needed.
    pub reasoning: bool,
    /// Regions that are allowed, as patterns; empty allows all.
    pub regions: Vec<Pattern>,
    /// The longest retention.
    pub retention: Option<Millis>,
    /// The highest prices.
    pub prices: Prices,
}

/// A name in which each `*` stands for any run of characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern(pub String);

impl Pattern {
    /// Whether the pattern covers a name.
    pub fn matches(&self, name: &str) -> bool {
        // Greedy with one point of return: linear in practice, no allocation.
        let (p, n) = (self.0.as_bytes(), name.as_bytes());
        let (mut pi, mut ni, mut star) = (0, 0, None);
        while ni < n.len() {
            match p.get(pi) {
                Some(b'*') => {
                    star = Some((pi, ni));
                    pi += 1;
                }
                Some(c) if n.get(ni) == Some(c) => {
                    pi += 1;
                    ni += 1;
                }
                Some(_) | None => match star {
                    Some((at, from)) => {
                        pi = at + 1;
                        ni = from + 1;
                        star = Some((at, from + 1));
                    }
                    None => return false,
                },
            }
        }
        p.get(pi..).unwrap_or_default().iter().all(|c| *c == b'*')
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
