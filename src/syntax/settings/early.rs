//! Words without effect yet that are no settings and none of a setting's fixed words: they stand inside of a form.
//!
//! In: nothing. Out: one row for each such word. `check` refuses a word of a form through its row alone, so what is refused
//! is listed in the reference and explained. Never reads a policy.

use super::Block;

/// A word inside of a form that has no effect yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Early {
    /// The action `repair`.
    Repair,
    /// The action `continue`.
    Continue,
    /// Serving what a cache kept, of `exhausted`.
    ServeCached,
    /// A baseline of one region.
    BaselineFrom,
    /// A limit that is a multiple of the baseline.
    TimesBaseline,
    /// The fact `request.client`.
    Client,
    /// The client of a test's request.
    SendClient,
    /// The idempotency key of a test's request.
    SendKey,
}

/// What is known of it.
#[derive(Debug)]
pub struct EarlyRow {
    /// Which.
    pub early: Early,
    /// The word that is refused.
    pub word: &'static str,
    /// How it is written, where that is more than the word.
    pub written: &'static str,
    /// The block it stands in; a fact stands wherever guards do.
    pub block: Block,
    /// What it means, in one line.
    pub meaning: &'static str,
    /// A statement of that block that has it.
    pub example: &'static str,
}

/// All of them, in the order of their blocks.
pub const EARLY: &[EarlyRow] = &[
    EarlyRow {
        early: Early::BaselineFrom,
        word: "from",
        written: "baseline … from REGION",
        block: Block::Target,
        meaning: "A baseline for the gateways of one region.",
        example: "baseline p50 300ms, p95 900ms from eu-west",
    },
    EarlyRow {
        early: Early::Repair,
        word: "repair",
        written: "repair once",
        block: Block::Matrix,
        meaning: "An action: asks the same target to mend its answer.",
        example: "schema-invalid -> repair once",
    },
    EarlyRow {
        early: Early::Continue,
        word: "continue",
        written: "continue once",
        block: Block::Matrix,
        meaning: "An action: asks the same target to go on where its answer was cut short.",
        example: "truncated -> continue once",
    },
    EarlyRow {
        early: Early::Client,
        word: "request.client",
        written: "request.client",
        block: Block::Matrix,
        meaning: "A fact of guards: the client that asked.",
        example: "connect when request.client == \"a\" -> stop",
    },
    EarlyRow {
        early: Early::TimesBaseline,
        word: "baseline",
        written: "attempt-timeout 4x baseline",
        block: Block::Budget,
        meaning: "A limit that is a multiple of the target's baseline.",
        example: "attempt-timeout 4x baseline",
    },
    EarlyRow {
        early: Early::ServeCached,
        word: "serve-cached",
        written: "exhausted serve-cached up to D old, else stop as STATUS",
        block: Block::Route,
        meaning: "An earlier answer, where no target is left.",
        example: "exhausted serve-cached up to 1h old, else stop as 503",
    },
    EarlyRow {
        early: Early::SendClient,
        word: "client",
        written: "send ROUTE { client NAME }",
        block: Block::Test,
        meaning: "The client that a test's request comes from.",
        example: "send r { client a }",
    },
    EarlyRow {
        early: Early::SendKey,
        word: "idempotency-key",
        written: "send ROUTE { idempotency-key \"KEY\" }",
        block: Block::Test,
        meaning: "The key by which a ledger would know a test's request again.",
        example: "send r { idempotency-key \"k\" }",
    },
];

impl Early {
    /// Its row. The table has one for each; `tests` hold it to that.
    pub fn row(self) -> &'static EarlyRow {
        static NONE: EarlyRow =
            EarlyRow { early: Early::Client, word: "", written: "", block: Block::Load, meaning: "", example: "" };
        EARLY.iter().find(|row| row.early == self).unwrap_or(&NONE)
    }
}

/// What a word means in the forms that it stands in, for `explain`; nothing for a word that is in none.
pub fn explain_early(word: &str) -> Vec<String> {
    let rows = EARLY.iter().filter(|row| row.word == word);
    rows.map(|row| {
        let (block, written) = (row.block.word(), row.written);
        let early = "Not in effect yet: a policy that has it is refused.";
        format!("{word} (in a {block}: `{written}`)\n\n{}\n{early}", row.meaning)
    })
    .collect()
}
