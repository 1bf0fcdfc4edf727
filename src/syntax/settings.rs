//! The one table of settings: every block and every word that may begin a statement in it.
//!
//! In: a block and a word. Out: what the word takes, what holds without it, whether it has an effect yet, and what it
//! means in one line. Lowering, suggestions, defaults, `explain`, `list` and the reference all read this table, so a
//! word exists here or nowhere. Never reads a policy and never reports anything.

mod early;
mod reference;
mod table;

pub use early::{EARLY, Early, EarlyRow, explain_early};
pub use reference::reference;
pub use table::{BLOCKS, SETTINGS};

use Status::{InEffect, Later};

/// A kind of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Block {
    /// `provider`
    Provider,
    /// `model`
    Model,
    /// `target`
    Target,
    /// `contract`
    Contract,
    /// `evaluation`
    Evaluation,
    /// `tier`
    Tier,
    /// `matrix`
    Matrix,
    /// `budget`
    Budget,
    /// `breaker`
    Breaker,
    /// `probe`
    Probe,
    /// `ramp`
    Ramp,
    /// `route`
    Route,
    /// `defaults`
    Defaults,
    /// `objective`
    Objective,
    /// `alert`
    Alert,
    /// `client`
    Client,
    /// `test`
    Test,
    /// `load`
    Load,
}

/// What follows a block's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// A name: `tier frontier`.
    Named,
    /// A title in quotes: `test "…"`.
    Titled,
    /// Two names: `evaluation MODEL for CONTRACT`.
    Paired,
    /// Nothing: `defaults`.
    Bare,
}

/// Whether a word of the language has an effect in this build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It does what it says.
    InEffect,
    /// It is reserved and refused, since a word without effect would be a promise nobody keeps.
    Later,
}

/// What a block is, beside its settings.
#[derive(Debug)]
pub struct BlockRow {
    /// Which.
    pub block: Block,
    /// Its word.
    pub word: &'static str,
    /// What follows the word.
    pub naming: Naming,
    /// Whether it has an effect.
    pub status: Status,
    /// What it is, in one line.
    pub meaning: &'static str,
}

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// `yes` or `no`.
    Flag,
    /// A plain number: `3`.
    Count,
    /// A number of tokens: `64k`.
    Tokens,
    /// `250ms`, `8s`, `2m`.
    Duration,
    /// `99.5%`.
    Percent,
    /// `$2.50/M in, $10/M out`.
    Prices,
    /// A string, or a name for what is called like one.
    Text,
    /// Text, or a reference: `env NAME`, `file "PATH"`.
    Reference,
    /// A name of the author's own that no block declares.
    Name,
    /// The name of a block of this kind.
    Block(Block),
    /// One of these words.
    OneOf(&'static [(&'static str, Status)]),
    /// A list of these words.
    ListOf(&'static [(&'static str, Status)]),
    /// A list of names, strings or patterns.
    List,
    /// A guard after `when`.
    Guard,
    /// A block of its own, or a form of its own that is written like this.
    Form(&'static str),
}

/// One row of the table.
#[derive(Debug)]
pub struct Setting {
    /// The block it stands in.
    pub block: Block,
    /// The word it begins with.
    pub word: &'static str,
    /// What it takes.
    pub value: ValueType,
    /// What holds without it, in the language's notation; empty where nothing does.
    pub default: &'static str,
    /// Whether a block without it is wrong.
    pub required: bool,
    /// Whether it may stand more than once in a block.
    pub repeatable: bool,
    /// Whether it has an effect.
    pub status: Status,
    /// The edition that brought it.
    pub since: u32,
    /// What it means, in one line.
    pub meaning: &'static str,
}

impl Block {
    /// The block of a word.
    pub fn from_word(word: &str) -> Option<Block> {
        BLOCKS.iter().find(|row| row.word == word).map(|row| row.block)
    }

    /// The block's row. The table has one for each; `tests` hold it to that.
    pub fn row(self) -> &'static BlockRow {
        static NONE: BlockRow = BlockRow {
            block: Block::Load,
            word: "",
            naming: Naming::Bare,
            status: Later,
            meaning: "a block without a row in the table",
        };
        BLOCKS.iter().find(|row| row.block == self).unwrap_or(&NONE)
    }

    /// The word it begins with.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// Whether it has an effect.
    pub fn is_later(self) -> bool {
        self.row().status == Later
    }
}

/// The rows of a block, in the order of the table. The table has its blocks in the order of [`Block`]; `tests` hold it to
/// that. Every statement of a set is looked up here, so the rows of other blocks are not walked.
pub fn settings_of(block: Block) -> impl Iterator<Item = &'static Setting> {
    let start = SETTINGS.partition_point(|setting| setting.block < block);
    SETTINGS.iter().skip(start).take_while(move |setting| setting.block == block)
}

/// The row of a word in a block.
pub fn setting(block: Block, word: &str) -> Option<&'static Setting> {
    settings_of(block).find(|setting| setting.word == word)
}

/// The blocks in which a word may stand, in the order of the table.
pub fn blocks_with(word: &str) -> Vec<Block> {
    SETTINGS.iter().filter(|setting| setting.word == word).map(|setting| setting.block).collect()
}

/// All words of the table, for suggestions: blocks first, each word once.
pub fn words() -> Vec<&'static str> {
    let mut words: Vec<_> = BLOCKS.iter().map(|row| row.word).collect();
    for setting in SETTINGS {
        if !words.contains(&setting.word) {
            words.push(setting.word);
        }
    }
    words
}

impl ValueType {
    /// How it is written, for people.
    pub fn text(self) -> String {
        let list = |words: &[(&str, Status)]| words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" | ");
        match self {
            ValueType::Flag => "yes | no".into(),
            ValueType::Count => "a plain number, such as 3".into(),
            ValueType::Tokens => "a number of tokens, such as 64k".into(),
            ValueType::Duration => "a duration, such as 8s".into(),
            ValueType::Percent => "a percentage, such as 99.5%".into(),
            ValueType::Prices => "prices, such as $2.50/M in, $10/M out".into(),
            ValueType::Text => "a string".into(),
            ValueType::Reference => "a string, env NAME or file \"PATH\"".into(),
            ValueType::Name => "a name".into(),
            ValueType::Block(block) => format!("the name of a {}", block.word()),
            ValueType::OneOf(words) => list(words),
            ValueType::ListOf(words) => format!("[{}]", list(words).replace(" | ", ", ")),
            ValueType::List => "a list, such as [a, b]".into(),
            ValueType::Guard => "when GUARD".into(),
            ValueType::Form(form) => form.into(),
        }
    }
}

/// The words that a setting takes and whether each has an effect; empty where it takes no fixed words.
pub fn choices(setting: &Setting) -> &'static [(&'static str, Status)] {
    match setting.value {
        ValueType::OneOf(words) | ValueType::ListOf(words) => words,
        ValueType::Flag => &[("yes", InEffect), ("no", InEffect)],
        ValueType::Count
        | ValueType::Tokens
        | ValueType::Duration
        | ValueType::Percent
        | ValueType::Prices
        | ValueType::Text
        | ValueType::Reference
        | ValueType::Name
        | ValueType::Block(_)
        | ValueType::List
        | ValueType::Guard
        | ValueType::Form(_) => &[],
    }
}

/// What a block's or setting's word means, for `explain`; nothing for a word that is not of the table.
pub fn explain(word: &str) -> Option<String> {
    let mut text = String::new();
    if let Some(row) = BLOCKS.iter().find(|row| row.word == word) {
        text.push_str(&explain_block(row));
    }
    for setting in SETTINGS.iter().filter(|setting| setting.word == word) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&explain_setting(setting));
    }
    if text.is_empty() {
        text = explain_value(word);
    }
    (!text.is_empty()).then_some(text)
}

/// The settings that a word is a value of.
fn explain_value(word: &str) -> String {
    let mut text = String::new();
    for setting in SETTINGS {
        let Some((_, status)) = choices(setting).iter().find(|(value, _)| *value == word) else { continue };
        let early = setting.status == Later || *status == Later;
        let status = if early { " (not in effect yet)" } else { "" };
        let (block, name) = (setting.block.word(), setting.word);
        text.push_str(&format!("{word}: a value of {name} in a {block}{status}. {}\n", setting.meaning));
    }
    text
}

/// The settings in whose form a word stands, for `explain`: `jitter` of `backoff`. Empty for a word that is in none.
pub fn explain_part(word: &str) -> String {
    let mut text = String::new();
    for setting in SETTINGS {
        let form = if setting.default.contains(word) { setting.default.to_owned() } else { setting.value.text() };
        if word.len() > 1 && form.split([' ', ',', ';']).any(|part| part == word) {
            let (block, name) = (setting.block.word(), setting.word);
            text.push_str(&format!("{word}: a part of {name} in a {block}: `{name} {form}`. {}\n", setting.meaning));
        }
    }
    text
}

fn explain_block(row: &BlockRow) -> String {
    let name = match row.naming {
        Naming::Named => " NAME",
        Naming::Titled => " \"TITLE\"",
        Naming::Paired => " NAME for NAME",
        Naming::Bare => "",
    };
    let mut text = format!("{}{name} {{ … }}\n\n{}\n", row.word, row.meaning);
    if row.status == Later {
        text.push_str("Not in effect yet: a policy that has this block is refused.\n");
    }
    let rows: Vec<_> = settings_of(row.block).collect();
    let width = rows.iter().map(|setting| setting.word.len()).max().unwrap_or(0);
    if !rows.is_empty() {
        text.push('\n');
    }
    for setting in rows {
        let status = if setting.status == Later { " (not in effect yet)" } else { "" };
        text.push_str(&format!("  {:width$}  {}{status}\n", setting.word, setting.meaning));
    }
    text
}

fn explain_setting(setting: &Setting) -> String {
    let mut text = format!("{} (in {})\n\n{}\n", setting.word, setting.block.word(), setting.meaning);
    text.push_str(&format!("Takes: {}\n", setting.value.text()));
    if setting.required {
        text.push_str("Required.\n");
    }
    if !setting.default.is_empty() {
        text.push_str(&format!("Default: {}\n", setting.default));
    }
    if setting.repeatable {
        text.push_str("May stand more than once.\n");
    }
    if setting.status == Later {
        text.push_str("Not in effect yet: a policy that has this setting is refused.\n");
    }
    let later: Vec<_> = choices(setting).iter().filter(|(_, s)| *s == Later).map(|(word, _)| *word).collect();
    if setting.status == InEffect && !later.is_empty() {
        text.push_str(&format!("Not in effect yet: {}.\n", later.join(", ")));
    }
    text
}

#[cfg(test)]
mod tests;
