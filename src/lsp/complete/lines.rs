//! Suggestions inside tests and scripts.
//!
//! In: the words of a line so far. Out: what may come next. Never suggests what has no effect yet.

use super::{Kind, Out};
use crate::check::lower::expect::{PATH_WORDS, REASONS};
use crate::policy::class::{Class, Refusal, Verb};
use crate::syntax::settings::{Block, Status, settings_of};

impl Out<'_> {
    pub(super) fn test(&mut self, before: &[&str]) {
        let line = match before {
            ["at"] => return,
            ["at", _, rest @ ..] => rest,
            line => line,
        };
        match line {
            [] => {
                for row in settings_of(Block::Test).filter(|row| row.status == Status::InEffect) {
                    self.add(Kind::Setting, row.word, row.meaning);
                }
                self.names(Block::Target);
            }
            ["send"] => self.names(Block::Route),
            ["given"] => {
                self.add(Kind::Value, "dice 50%", "what undrawn dice show");
                self.add(Kind::Value, "spent $1 for", "what a route has spent today");
            }
            ["given", "spent", _, "for"] => self.names(Block::Route),
            ["given", "dice", _] => self.add(Kind::Keyword, "for", "only for one purpose"),
            ["expect"] => {
                for (form, what) in EXPECTATIONS {
                    self.add(Kind::Keyword, *form, *what);
                }
            }
            ["expect", "served"] => self.add(Kind::Keyword, "by", ""),
            ["expect", "served", "by"] | ["expect", "skipped"] => self.names(Block::Target),
            ["expect", "skipped", _] => self.add(Kind::Keyword, "as", "and why"),
            ["expect", "skipped", _, "as"] => self.all(Kind::Value, &REASONS),
            ["expect", "never"] => {
                self.names(Block::Target);
                self.names(Block::Provider);
            }
            ["expect", "refused"] => {
                self.classes();
                Refusal::ALL.iter().for_each(|why| self.add(Kind::Class, why.word(), why.meaning()));
            }
            ["expect", "path", ..] => {
                PATH_WORDS.iter().for_each(|(word, meaning, _)| self.add(Kind::Value, *word, *meaning));
                self.classes();
                for verb in Verb::ALL.iter().filter(|verb| !verb.is_later()) {
                    self.add(Kind::Action, verb.word(), verb.meaning());
                }
            }
            ["expect" | "send" | "given", ..] => {}
            [_] => self.all(Kind::Keyword, &["answers", "is"]),
            [_, "is"] => self.all(
                Kind::Value,
                &["down", "degraded", "open", "half-open", "held for 10s", "disabled", "ramping at 10%"],
            ),
            [_, "answers"] => self.outcomes(),
            _ => {}
        }
    }

    pub(super) fn script(&mut self, before: &[&str]) {
        match before {
            [] => self.all(
                Kind::Keyword,
                &[
                    "answers",
                    "at 5m answers",
                    "from 0s to 10m answers",
                    "every 10% of calls answers",
                    "repeats every 30m",
                ],
            ),
            [.., "answers"] => self.outcomes(),
            _ => {}
        }
    }

    fn outcomes(&mut self) {
        self.all(
            Kind::Value,
            &[
                "ok",
                "429 retry-after 30s",
                "503",
                "hangs",
                "resets",
                "streams 12 tokens then cuts",
                "empty",
                "invalid-json",
            ],
        );
        self.classes();
    }

    fn classes(&mut self) {
        Class::ALL.iter().for_each(|class| self.add(Kind::Class, class.word(), class.meaning()));
    }

    pub(super) fn request(&mut self, before: &[&str]) {
        match before {
            [] => self.all(Kind::Setting, REQUEST),
            ["stream" | "tools"] => self.all(Kind::Value, &["yes", "no"]),
            ["schema"] => self.all(Kind::Value, &["yes", "no", "json-object"]),
            ["side-effects"] => self.all(Kind::Value, &["none", "unknown"]),
            ["modalities"] => self.all(Kind::Value, &["[text]", "[text, image]"]),
            _ => {}
        }
    }
}

/// The facts that a test's request may be given.
const REQUEST: &[&str] = &[
    "stream",
    "tokens",
    "max-output",
    "tools",
    "schema",
    "modalities",
    "region",
    "session",
    "header \"x\" \"v\"",
    "metadata \"x\" \"v\"",
    "side-effects",
];

/// What may be expected, and what that is.
pub const EXPECTATIONS: &[(&str, &str)] = &[
    ("served by", "which target's answer came back"),
    ("refused", "why nothing came back"),
    ("attempts == 1", "how many upstream calls there were"),
    ("elapsed < 1s", "how long it took"),
    ("cost < $0.01", "what it cost"),
    ("path [ok]", "each attempt's class, and the actions between"),
    ("never", "who was not asked"),
    ("skipped", "who was passed over, and why"),
    ("output \"text\"", "what the client got"),
    ("ended with error", "that the stream broke"),
];
