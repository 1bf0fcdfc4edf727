//! How settings with a form of their own go on.
//!
//! In: a setting and the words after it so far. Out: the rest of each way to write it that begins so, with samples in the
//! place of what an author chooses, and names where a name is due. The ways are those of the settings table and the
//! variants below. Never looks at what a form means.

use super::{Kind, Out};
use crate::policy::class::Class;
use crate::syntax::settings::{Block, Setting};

/// Further ways to write a setting, beside the form and the default of its row.
const WAYS: &[(Block, &str, &[&str])] = &[
    (Block::Provider, "header", &["\"X-Name\" \"value\"", "\"X-Name\" env NAME"]),
    (Block::Target, "failure", &["STATUS is CLASS"]),
    (
        Block::Budget,
        "backoff",
        &["250ms to 4s, jitter equal", "250ms to 4s, jitter decorrelated", "250ms to 4s, jitter none"],
    ),
    (Block::Breaker, "trip", &["when slow >= 80% above 10s"]),
    (Block::Breaker, "open", &["60s", "30s, growing 1.5x to 5m"]),
    (Block::Breaker, "hold", &["CLASS up to D"]),
    (Block::Probe, "slow", &["when latency > 12s", "when p95 > 12s over 60s, min 20"]),
];

/// What stands for something an author chooses, with a sample.
const SAMPLES: &[(&str, &str)] = &[("STATUS", "503"), ("N%", "10%"), ("N", "3"), ("D", "5s"), ("$X/day", "$5/day")];

/// What stands for a name or a class, which is never made up.
const NAMES: &[&str] = &["CLASS", "TARGET", "TIER", "NAME", "VALUE", "REGION", "\"TEXT\"", "\"PATH\""];

impl Out<'_> {
    /// The rest of each way to write a setting that begins as the author did.
    pub(super) fn form(&mut self, row: &'static Setting, form: &'static str, rest: &[&str]) {
        let more = WAYS.iter().filter(|(block, word, _)| (*block, *word) == (row.block, row.word));
        let defaults =
            row.default.split("; ").filter(|way| matches(&words(way), &words(form)) || way.starts_with("when "));
        let ways = form.split(" | ").chain(defaults).chain(more.flat_map(|(_, _, ways)| *ways).copied());
        let mut told: Vec<String> = Vec::new();
        for way in ways {
            let way = words(way);
            let Some((said, left)) = way.split_at_checked(rest.len()) else { continue };
            if !matches(said, rest) || left.is_empty() {
                continue;
            }
            if let Some(name) = left.first().filter(|word| NAMES.contains(word)) {
                if !told.iter().any(|known| known == name) {
                    told.push((*name).to_owned());
                    self.due(row, name);
                }
                continue;
            }
            let text = sample(left);
            if !told.contains(&text) {
                self.add(Kind::Value, text.as_str(), row.meaning);
                told.push(text);
            }
        }
    }

    /// What may stand for a name of a form.
    fn due(&mut self, row: &'static Setting, name: &str) {
        match (name, Block::from_word(row.word)) {
            ("CLASS", _) => {
                // What broke after output is what it is.
                for class in Class::ALL.iter().filter(|class| **class != Class::PartialStream) {
                    self.add(Kind::Class, class.word(), class.meaning());
                }
            }
            ("TARGET", _) => self.names(Block::Target),
            ("TIER", _) => self.names(Block::Tier),
            ("NAME", Some(block)) => self.names(block),
            _ => {}
        }
    }
}

/// The words of a form as a statement has them: strings whole, commas and brackets apart.
fn words(form: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = form.trim();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => rest.get(1..).and_then(|tail| tail.find('"')).map_or(rest.len(), |at| at + 2),
            ',' | '[' | ']' => 1,
            _ => rest.find([' ', ',', '[', ']']).unwrap_or(rest.len()),
        };
        let (word, tail) = rest.split_at_checked(length).unwrap_or((rest, ""));
        words.push(word);
        rest = tail.trim_start();
    }
    words
}

/// Whether words may be those of a way, as far as they go: numbers, strings and what stands for something fit any.
fn matches(way: &[&str], said: &[&str]) -> bool {
    let is_measure = |word: &str| word.trim_start_matches('$').starts_with(|c: char| c.is_ascii_digit());
    way.iter().zip(said).all(|(way, said)| {
        way == said
            || is_measure(way) && is_measure(said)
            || way.starts_with('"') && said.starts_with('"')
            || NAMES.contains(way)
            || SAMPLES.iter().any(|(mark, _)| mark == way) && is_measure(said)
    })
}

/// Words as they are written, up to the first that only the author knows.
fn sample(words: &[&str]) -> String {
    let mut text = String::new();
    for word in words.iter().take_while(|word| !NAMES.contains(word)) {
        if !text.is_empty() && *word != "," && *word != "]" && !text.ends_with('[') {
            text.push(' ');
        }
        text.push_str(SAMPLES.iter().find(|(mark, _)| mark == word).map_or(word, |(_, sample)| sample));
    }
    text
}
