//! The facts that guards read, with what they mean and what they are compared with, for hover and completion.
//!
//! In: a word. Out: its row. `check::guard` decides which facts exist; a test holds this list to it.

/// A fact.
#[derive(Debug)]
pub struct FactRow {
    /// Its word.
    pub word: &'static str,
    /// What it is, in one line.
    pub meaning: &'static str,
    /// Values that fit it, for completion: fixed words, or an example.
    pub values: &'static [&'static str],
    /// Whether it is known only after a failure, so that it may stand in a matrix alone.
    pub after_failure: bool,
}

const fn row(
    word: &'static str,
    meaning: &'static str,
    values: &'static [&'static str],
    after_failure: bool,
) -> FactRow {
    FactRow { word, meaning, values, after_failure }
}

const YES_NO: &[&str] = &["yes", "no"];
const STAGES: &[&str] = &["not-sent", "rejected", "sent", "headers", "output"];
const MODALITIES: &[&str] = &["[text]", "[text, image]"];

/// All facts.
pub const FACTS: &[FactRow] = &[
    row("request.model", "The model as the client wrote it.", &["\"name\""], false),
    row("request.stream", "Whether the client asked for a stream.", YES_NO, false),
    row("request.tools", "Whether the request brings tools.", YES_NO, false),
    row("request.tokens", "The estimate of its input, in tokens.", &["8k"], false),
    row("request.max-output", "The most output that it asks for, in tokens.", &["4k"], false),
    row("request.modalities", "The kinds of input that it holds.", MODALITIES, false),
    row("request.client", "The client that asked.", &["\"name\""], false),
    row("request.region", "The region that the request came with.", &["eu-west"], false),
    row("request.session", "The session that it belongs to.", &["\"id\""], false),
    row("request.header", "A header of the request: `request.header(\"name\")`.", &["\"value\""], false),
    row("request.metadata", "An entry of its metadata: `request.metadata(\"name\")`.", &["\"value\""], false),
    row("failure.retry-after", "How long the provider asked to be left alone.", &["5s"], true),
    row("failure.status", "The status of the failed answer.", &["429"], true),
    row("failure.code", "The provider's own code of the failure.", &["\"code\""], true),
    row("failure.stage", "How far the attempt had come.", STAGES, true),
    row("attempt.number", "How many upstream calls there have been, the failed one included.", &["2"], true),
    row("attempt.on-target", "How many of them went to this target.", &["1"], true),
    row("time.left", "What is left of the deadline.", &["2s"], true),
    row("spent", "The worst cost of the attempts so far.", &["$0.05"], true),
];

/// The row of a word.
pub fn find(word: &str) -> Option<&'static FactRow> {
    FACTS.iter().find(|fact| fact.word == word)
}
