//! Dialects, and what a request may say that another dialect has no words for.
//!
//! In: nothing. Out: names. Which terms a request uses is found by `wire`, which writes it in the other dialect; the
//! contract filter only asks whether there are any. A term is never dropped in silence: a target whose dialect lacks it
//! does not meet the request.

use super::class::words;

words! {
    /// The grammar of requests and answers.
    Dialect {
        Chat "openai-chat" "OpenAI Chat Completions";
        Messages "anthropic-messages" "Anthropic Messages";
    }
}

impl Dialect {
    /// Whether a request without a limit of output is none.
    pub fn needs_max_output(self) -> bool {
        match self {
            Dialect::Chat => false,
            Dialect::Messages => true,
        }
    }
}

words! {
    /// Something that a request says and that some dialect has no words for.
    Term {
        Choices "n" "several answers at once";
        LogProbs "logprobs" "probabilities of tokens";
        LogitBias "logit-bias" "a bias of tokens";
        Seed "seed" "repeatable sampling";
        Penalties "penalties" "penalties of what was said";
        Temperature "temperature" "a temperature outside of its range";
        JsonObject "json-object" "JSON of no given form";
        Verbosity "verbosity" "how wordy an answer is to be";
        StopBlank "stop-blank" "a stop sequence that is blank";
        Audio "audio" "sound";
        Files "files" "a file that is no PDF given in full";
        ImageSource "image-source" "a picture by another address than https, or of another type";
        Parts "parts" "a part of a message of some other type";
        Names "names" "names of who speaks";
        LateSystem "late-system" "instructions in the midst of a conversation";
        TurnOrder "turn-order" "a conversation that does not begin and end with the user";
        ToolPairing "tool-pairing" "tool calls and results that do not belong together";
        ToolArguments "tool-arguments" "arguments of a tool call that are no JSON object";
        UndefinedTools "undefined-tools" "tool calls in a conversation whose tools are not given";
        OtherTools "other-tools" "tools that are no functions";
        ToolSubset "tool-subset" "a choice among some of the tools";
        Functions "functions" "the older form of tools";
        Hosted "hosted" "something that the provider runs or keeps";
        Other "other-members" "members of a request that nobody here knows";
    }
}

/// A set of terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Terms(u32);

impl Terms {
    /// The set and this one.
    #[must_use]
    pub fn with(self, term: Term) -> Terms {
        Terms(self.0 | (1 << (term as u32)))
    }

    /// Puts this one into the set.
    pub fn add(&mut self, term: Term) {
        *self = self.with(term);
    }

    /// Whether it is in the set.
    pub fn contains(self, term: Term) -> bool {
        self.0 & (1 << (term as u32)) != 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its members, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Term> {
        Term::ALL.iter().copied().filter(move |t| self.contains(*t))
    }
}

impl FromIterator<Term> for Terms {
    fn from_iter<I: IntoIterator<Item = Term>>(terms: I) -> Terms {
        terms.into_iter().fold(Terms::default(), Terms::with)
    }
}
