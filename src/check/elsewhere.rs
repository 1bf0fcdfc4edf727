//! What other gateways, proxies and client libraries call things that have another word here.
//!
//! In: a word that is none of the language where it stands. Out: what to write instead, or where the thing is said. Only a
//! next step comes of it: no word of this list is ever taken.

use crate::syntax::settings::Block;

/// Words for one setting of a block, and the setting or the advice that they get.
type Row = (Block, &'static [&'static str], Meant);

/// What to do about a word from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meant {
    /// Write this word of the same block.
    Word(&'static str),
    /// Do this.
    Advice(&'static str),
}

use Meant::{Advice, Word};

const SETTINGS: &[Row] = &[
    (Block::Provider, &["url", "endpoint", "host", "address", "baseurl"], Word("base-url")),
    (Block::Provider, &["api-key", "apikey", "token", "secret", "credential", "auth"], Word("key")),
    (Block::Provider, &["type", "kind", "protocol", "dialect"], Word("api")),
    (Block::Provider, &["connect-timeout"], Word("timeout-connect")),
    (Block::Provider, &["timeout"], Advice("how long a call may take is said by a budget: `attempt-timeout`")),
    (Block::Model, &["max-tokens", "max-output-tokens", "max-completion-tokens"], Word("max-output")),
    (Block::Model, &["context-window", "context-length", "max-context"], Word("context")),
    (Block::Model, &["stream"], Word("streaming")),
    (Block::Model, &["functions", "function-calling", "tool-calling"], Word("tools")),
    (Block::Model, &["json", "json-mode", "response-format"], Word("structured-output")),
    (Block::Model, &["cost", "costs", "pricing"], Word("price")),
    (Block::Model, &["input", "inputs", "vision"], Word("modalities")),
    (Block::Target, &["name", "model-name", "deployment"], Word("upstream")),
    (Block::Target, &["cost", "costs", "pricing"], Word("price")),
    (Block::Target, &["weight"], Advice("a share stands in the tier's chain: `one 70%, other 30%`")),
    (Block::Target, &["priority", "order"], Advice("targets are asked in the order of the tier's chain")),
    (Block::Target, &["timeout"], Advice("how long a call may take is said by a budget: `attempt-timeout`")),
    (Block::Target, &["url", "endpoint"], Advice("where it is called is said by its provider: `base-url`")),
    (Block::Tier, &["targets", "members", "models", "providers", "fallbacks"], Word("chain")),
    (Block::Tier, &["strategy", "routing-strategy", "sort"], Word("order")),
    (Block::Tier, &["sticky", "session-affinity"], Word("affinity")),
    (Block::Budget, &["timeout", "request-timeout", "total-timeout", "time"], Word("deadline")),
    (Block::Budget, &["max-attempts", "tries", "max-tries", "calls"], Word("attempts")),
    (
        Block::Budget,
        &["retries", "max-retries", "num-retries", "retry"],
        Advice(
            "how often a failure is retried stands in a matrix: `overloaded -> retry 2 times`; `attempts` caps all calls",
        ),
    ),
    (Block::Budget, &["cost", "max-cost", "max-spend"], Word("spend")),
    (Block::Budget, &["ttft", "time-to-first-token", "first-token-timeout"], Word("first-token")),
    (Block::Budget, &["idle-timeout", "stream-timeout"], Word("idle")),
    (
        Block::Breaker,
        &["threshold", "failures", "failure-threshold", "errors", "allowed-fails", "window"],
        Advice("write when it opens: `trip when consecutive >= 5`, or `trip when errors >= 50% over 30s, min 20`"),
    ),
    (Block::Breaker, &["cooldown", "cooldown-time", "timeout", "reset-timeout", "sleep-window"], Word("open")),
    (Block::Probe, &["interval", "period"], Word("every")),
    (
        Block::Probe,
        &["path", "url", "endpoint"],
        Advice(
            "a probe is a small call of the model: `prompt` says what is asked, `kind endpoint` only looks whether it is there",
        ),
    ),
    (Block::Probe, &["failure-threshold", "unhealthy-threshold", "fall"], Advice("write `down after 3 failures`")),
    (Block::Probe, &["success-threshold", "healthy-threshold", "rise"], Advice("write `up after 2 passes`")),
    (Block::Route, &["model", "models", "name", "names", "alias"], Word("serves")),
    (Block::Route, &["when", "if", "match-when"], Word("match")),
    (Block::Route, &["targets", "chain", "pool"], Advice("name a tier, which holds the chain: `tier NAME`")),
    (Block::Route, &["policy", "rules", "errors", "on-error"], Word("matrix")),
    (
        Block::Route,
        &["limits", "timeout", "retries"],
        Advice("name a budget, which holds times and attempts: `budget NAME`"),
    ),
];

const BLOCKS: &[(&[&str], Block)] = &[
    (&["vendor", "upstream", "backend"], Block::Provider),
    (&["deployment", "endpoint", "instance"], Block::Target),
    (&["capabilities", "requirement", "requirements", "requires"], Block::Contract),
    (&["pool", "group", "model-group", "chain", "fallbacks"], Block::Tier),
    (&["policy", "rules", "errors", "failures", "on-error"], Block::Matrix),
    (&["limit", "limits", "timeouts", "retry", "retries"], Block::Budget),
    (&["circuit-breaker", "circuitbreaker", "circuit"], Block::Breaker),
    (&["health", "healthcheck", "health-check", "healthchecks"], Block::Probe),
    (&["warmup", "warm-up", "slow-start", "recovery"], Block::Ramp),
    (&["service", "virtual-model", "alias"], Block::Route),
    (&["scenario", "case", "spec"], Block::Test),
];

/// The class, pattern or row that another word for a failure is meant to name: a status, or `default`.
pub fn class(word: &str) -> Option<&'static str> {
    Some(match plain(word).as_str() {
        "default" | "else" | "any" | "all" | "rest" => "otherwise",
        "timeout" | "timeouts" | "408" | "504" => "timeout-*",
        "400" | "422" | "bad-request" => "invalid-request",
        "401" | "unauthorized" => "auth",
        "402" | "quota" | "insufficient-quota" => "quota-exhausted",
        "403" | "forbidden" => "permission",
        "404" => "not-found",
        "413" => "payload-too-large",
        "429" | "throttled" | "too-many-requests" => "rate-limit",
        "500" | "502" | "5xx" | "5**" | "internal-error" | "error" | "errors" => "server-error",
        "503" | "529" | "unavailable" | "busy" => "overloaded",
        "content-filter" | "content-policy" | "moderation" | "safety" => "policy",
        "context-length" | "context-window-exceeded" => "context-overflow",
        "connection-error" | "network" | "dns" | "refused" => "connect",
        _ => return None,
    })
}

/// The action that another word is meant to name.
pub fn action(word: &str) -> Option<&'static str> {
    Some(match plain(word).as_str() {
        "fail" | "error" | "abort" | "return" | "reject" | "raise" | "throw" | "give-up" => "stop",
        "next" | "switch" | "next-target" | "fail-over" => "failover",
        "next-model" | "fall-back" | "downgrade" => "fallback",
        "again" | "repeat" => "retry once",
        "sleep" | "backoff" => "wait up to 2s",
        "rotate-key" | "rotate" => "next-key",
        _ => return None,
    })
}

/// What a word in a block is meant to say.
pub fn setting(block: Block, word: &str) -> Option<Meant> {
    let word = plain(word);
    SETTINGS
        .iter()
        .find(|(home, words, _)| *home == block && words.contains(&word.as_str()))
        .map(|(_, _, meant)| *meant)
}

/// What a word that may stand for a setting is meant to say where that setting is there already: a time beside the
/// deadline is that of one attempt.
pub fn beside(block: Block, said: &str) -> Option<&'static str> {
    match (block, said) {
        (Block::Budget, "deadline") => Some("attempt-timeout"),
        _ => None,
    }
}

/// The kind of block that a word at the top of a file is meant to begin.
pub fn block(word: &str) -> Option<Block> {
    let word = plain(word);
    BLOCKS.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, block)| *block)
}

/// As a word would be spelled here: `maxTokens` and `max_tokens` are `max-tokens`.
fn plain(word: &str) -> String {
    let mut plain = String::with_capacity(word.len() + 4);
    let mut before = '-';
    for c in word.chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            plain.push('-');
        }
        before = c;
        plain.push(if c == '_' { '-' } else { c.to_ascii_lowercase() });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::settings::{Status, setting as row};

    #[test]
    fn what_is_proposed_is_in_effect_and_what_is_replaced_is_not_there() {
        for (block, words, meant) in SETTINGS {
            if let Word(word) = meant {
                assert_eq!(row(*block, word).map(|row| row.status), Some(Status::InEffect), "{word}");
            }
            for word in *words {
                let there = row(*block, word).is_some();
                assert!(!there, "`{word}` of a {} is of the language", block.word());
                assert_eq!(plain(word), *word);
            }
        }
        for (words, block) in BLOCKS {
            assert!(!block.is_later());
            assert!(words.iter().all(|word| Block::from_word(word).is_none()));
        }
    }

    #[test]
    fn spellings_of_other_languages_are_one() {
        for word in ["maxTokens", "max_tokens", "MAX_TOKENS", "MaxTokens", "max-tokens"] {
            assert_eq!(setting(Block::Model, word), Some(Word("max-output")), "{word}");
        }
        assert_eq!(block("circuitBreaker"), Some(Block::Breaker));
    }
}
