//! The table of settings and what `check` does with it: every word in effect is read, every other is refused once.

use switchback::check;
use switchback::diag::{Code, Diagnostic};
use switchback::policy::class::Verb;
use switchback::source::Sources;
use switchback::syntax;
use switchback::syntax::settings::{Block, EARLY, Naming, SETTINGS, Setting, Status, choices};

/// A whole set in which the block of one kind begins with a statement more.
fn set(block: Block, statement: &str) -> String {
    let blocks = [
        (Block::Provider, "p", "api emulated"),
        (Block::Model, "m", "modalities [text]; context 32k"),
        (Block::Target, "a", "model m; provider p"),
        (Block::Contract, "c", "streaming no"),
        (Block::Tier, "t", "chain { a }"),
        (Block::Matrix, "x", "otherwise -> stop"),
        (Block::Budget, "b", "deadline 10s; attempts 1"),
        (Block::Breaker, "k", "hint-cap 1m"),
        (Block::Probe, "o", "traffic no"),
        (Block::Ramp, "g", "100%"),
        (Block::Route, "r", "contract c; tier t; matrix x; budget b"),
        (Block::Defaults, "", "matrix x; breaker k; probe o; ramp g"),
        (Block::Test, "\"title\"", "send r; a answers ok; expect served by a"),
    ];
    let mut text = "switchback 1\n".to_owned();
    for (kind, name, body) in blocks {
        let more = if kind == block { format!("{statement}; ") } else { String::new() };
        text.push_str(&format!("{} {name} {{ {more}{body} }}\n", kind.word()));
    }
    text
}

/// What is said about the statement itself.
fn said(text: &str, statement: &str) -> Vec<Diagnostic> {
    let sources = Sources::from_texts([("a.sbk", text)]);
    let trees: Vec<_> = sources.iter().map(|source| syntax::parse(source).0).collect();
    let at = text.find(statement).unwrap();
    let inside = |d: &Diagnostic| (at..at + statement.len()).contains(&(d.span.start as usize));
    check::check(&trees).1.into_iter().filter(inside).collect()
}

fn in_blocks_in_effect() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|setting| !setting.block.is_later())
}

#[test]
fn the_set_without_the_statement_is_right() {
    let text = set(Block::Load, "");
    let sources = Sources::from_texts([("a.sbk", text)]);
    let trees: Vec<_> = sources.iter().map(|source| syntax::parse(source).0).collect();
    let (policy, found) = check::check(&trees);
    assert!(policy.is_some(), "{found:#?}");
}

#[test]
fn no_word_in_effect_is_taken_and_ignored() {
    for setting in in_blocks_in_effect().filter(|setting| setting.status == Status::InEffect) {
        // No setting takes this, so silence would mean that nobody looked.
        let statement = format!("{} != [1 != 2]", setting.word);
        let found = said(&set(setting.block, &statement), &statement);
        assert!(!found.is_empty(), "`{}` of a {} is not read", setting.word, setting.block.word());
        let early = found.iter().any(|d| d.code == Code::NotYetInEffect);
        assert!(!early, "`{}` of a {} is refused", setting.word, setting.block.word());
    }
}

#[test]
fn every_word_without_effect_is_refused_once_at_the_word() {
    for setting in in_blocks_in_effect().filter(|setting| setting.status == Status::Later) {
        let statement = format!("{} nonsense", setting.word);
        let found = said(&set(setting.block, &statement), &statement);
        let codes: Vec<_> = found.iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::NotYetInEffect], "`{}` of a {}", setting.word, setting.block.word());
        assert_eq!((found[0].span.end - found[0].span.start) as usize, setting.word.len());
    }
}

/// A word inside of a form is refused through a row of the table that the reference is written from.
#[test]
fn every_part_without_effect_is_refused_once_and_listed() {
    let page = switchback::syntax::settings::reference();
    let (_, listed) = page.split_once("## Not yet in effect").unwrap();
    for row in EARLY {
        assert_eq!(row.early.row().written, row.written);
        let found = said(&set(row.block, row.example), row.example);
        let told: Vec<_> = found.iter().map(|d| (d.code, d.message.as_str())).collect();
        let message = format!("`{}` is not in effect yet", row.word);
        assert_eq!(told, [(Code::NotYetInEffect, message.as_str())], "{}", row.example);
        assert!(listed.contains(&format!("| `{}` |", row.written)), "{}", row.written);
    }
    // The actions of the language, whatever their number.
    for verb in Verb::ALL.iter().filter(|verb| verb.is_later()) {
        assert!(EARLY.iter().any(|row| row.word == verb.word()), "{verb}");
    }
}

#[test]
fn every_value_without_effect_is_refused_once_at_the_value() {
    let mut seen = 0;
    for setting in in_blocks_in_effect().filter(|setting| setting.status == Status::InEffect) {
        for (value, _) in choices(setting).iter().filter(|(_, status)| *status == Status::Later) {
            let statement = format!("{} {value}", setting.word);
            let found = said(&set(setting.block, &statement), &statement);
            let codes: Vec<_> = found.iter().map(|d| d.code).collect();
            assert_eq!(codes, [Code::NotYetInEffect], "{statement}");
            seen += 1;
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn every_block_without_effect_is_refused_once_at_its_word() {
    for row in switchback::syntax::settings::BLOCKS.iter().filter(|row| row.status == Status::Later) {
        let name = match row.naming {
            Naming::Named => "n",
            Naming::Titled => "\"n\"",
            Naming::Paired => "m for r",
            Naming::Bare => "",
        };
        let statement = format!("{} {name} {{ nonsense 1 2 3; also {{ nothing }} }}", row.word);
        let text = set(Block::Load, "") + &statement;
        let codes: Vec<_> = said(&text, &statement).iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::NotYetInEffect], "{statement}");
    }
}

/// Two values of each setting, which must make a difference to the graph or to what a test sees.
const DIFFERENCES: &[(Block, &str, &str, &str)] = &[
    (Block::Provider, "api", "emulated", "openai-chat"),
    (Block::Provider, "base-url", "\"https://a.example\"", "\"https://b.example\""),
    (Block::Provider, "key", "env A", "env B"),
    (Block::Provider, "keys", "[env A, env B]", "[env A, env B, env C]"),
    (Block::Provider, "header", "\"x-a\" \"1\"", "\"x-a\" \"2\""),
    (Block::Provider, "pass-headers", "[\"x-a\"]", "[\"x-b\"]"),
    (Block::Provider, "account", "one", "two"),
    (Block::Provider, "timeout-connect", "1s", "2s"),
    (Block::Provider, "breaker", "k", "l"),
    (Block::Provider, "retry-ratio", "20%, at least 1/s, burst 20", "10%, at least 1/s, burst 20"),
    (Block::Provider, "probe", "n", "o"),
    (Block::Provider, "ramp", "w", "v"),
    (Block::Model, "modalities", "[text]", "[text, image]"),
    (Block::Model, "streaming", "yes", "no"),
    (Block::Model, "tools", "yes", "no"),
    (Block::Model, "structured-output", "json-object", "none"),
    (Block::Model, "context", "32k", "64k"),
    (Block::Model, "max-output", "1k", "2k"),
    (Block::Model, "prefill", "yes", "no"),
    (Block::Model, "reasoning", "yes", "no"),
    (Block::Model, "price", "$1/M in, $2/M out", "$1/M in, $3/M out"),
    (Block::Model, "retention", "0s", "30d"),
    (Block::Target, "model", "m", "i"),
    (Block::Target, "provider", "p", "q"),
    (Block::Target, "upstream", "one", "two"),
    (Block::Target, "region", "one", "two"),
    (Block::Target, "retention", "0s", "30d"),
    (Block::Target, "price", "$1/M in, $2/M out", "$1/M in, $3/M out"),
    (Block::Target, "quantization", "\"fp8\"", "\"bf16\""),
    (Block::Target, "enabled", "yes", "no"),
    (Block::Target, "idempotency-key", "\"X-One\"", "\"X-Two\""),
    (Block::Target, "script", "{ answers ok }", "{ answers overloaded }"),
    (Block::Target, "max-concurrent", "1", "2"),
    (Block::Target, "failure", "429 is auth", "429 \"seats\" is auth"),
    (Block::Target, "baseline", "p50 300ms, p95 900ms", "p50 300ms, p95 800ms"),
    (Block::Target, "probe", "n", "none"),
    (Block::Target, "ramp", "w", "none"),
    (Block::Contract, "extends", "d", "e"),
    (Block::Contract, "modalities", "[text]", "[text, image]"),
    (Block::Contract, "streaming", "yes", "no"),
    (Block::Contract, "tools", "yes", "no"),
    (Block::Contract, "structured-output", "json-object", "none"),
    (Block::Contract, "context", ">= 8k", ">= 16k"),
    (Block::Contract, "max-output", ">= 100", ">= 200"),
    (Block::Contract, "prefill", "yes", "no"),
    (Block::Contract, "reasoning", "yes", "no"),
    (Block::Contract, "regions", "[here]", "[here, there]"),
    (Block::Contract, "retention", "<= 60d", "<= 90d"),
    (Block::Contract, "price", "<= $20/M out", "<= $30/M out"),
    (Block::Tier, "chain", "{ a }", "{ z }"),
    (Block::Tier, "last-resort", "yes", "no"),
    (Block::Tier, "order", "price", "as-written"),
    (Block::Tier, "slow-above", "2s", "3s"),
    (Block::Tier, "order", "latency", "latency every 7d"),
    (Block::Tier, "order", "score { latency 70%; price 30% }", "score { latency 30%; price 70% }"),
    (Block::Model, "quality", "80%", "90%"),
    (Block::Tier, "prefer", "same-model", "healthy"),
    (Block::Tier, "exercise", "1% of a", "2% of a"),
    (Block::Tier, "affinity", "session for 1m", "none"),
    (Block::Matrix, "extends", "y", "f"),
    (Block::Matrix, "otherwise", "-> stop", "-> stop as 502"),
    (Block::Budget, "extends", "g", "h"),
    (Block::Budget, "deadline", "10s", "20s"),
    (Block::Budget, "attempts", "1", "2"),
    (Block::Budget, "per-target", "1", "2"),
    (Block::Budget, "attempt-timeout", "4s", "5s"),
    (Block::Budget, "headers", "1s", "2s"),
    (Block::Budget, "first-token", "1s", "2s"),
    (Block::Budget, "idle", "5s", "6s"),
    (Block::Budget, "total", "50s", "60s"),
    (Block::Budget, "min-attempt", "100ms", "200ms"),
    (Block::Budget, "reserve", "1s", "2s"),
    (Block::Budget, "backoff", "100ms to 1s", "200ms to 1s"),
    (Block::Budget, "replays", "1", "0"),
    (Block::Budget, "rounds", "1", "2"),
    (Block::Budget, "spend", "$1/request", "$2/request"),
    (Block::Budget, "spend", "$1/day then stop", "$2/day then stop"),
    (Block::Budget, "spend", "$1/day then stop", "$1/day then use v"),
    (Block::Budget, "hedge", "after p95, at least 500ms", "after p95, at least 2s"),
    (Block::Breaker, "extends", "k", "l"),
    (Block::Breaker, "scopes", "[account, target]", "[target]"),
    (Block::Breaker, "trip", "when errors >= 50% over 30s, min 20", "when errors >= 60% over 30s, min 20"),
    (Block::Breaker, "open", "10s, doubling to 5m", "20s, doubling to 5m"),
    (Block::Breaker, "half-open", "1 at once, 2 successes", "1 at once, 3 successes"),
    (Block::Breaker, "stable", "1m", "2m"),
    (Block::Breaker, "hint-cap", "1m", "2m"),
    (Block::Breaker, "timeout-evidence", "40%", "60%"),
    (Block::Breaker, "hold", "rate-limit up to 1m, default 1s", "rate-limit up to 2m, default 1s"),
    (Block::Probe, "extends", "n", "o"),
    (Block::Probe, "every", "10s", "20s"),
    (Block::Probe, "timeout", "1s", "2s"),
    (Block::Probe, "kind", "generate", "endpoint"),
    (Block::Probe, "prompt", "\"one\"", "\"two\""),
    (Block::Probe, "max-tokens", "5", "6"),
    (Block::Probe, "answer", "contains \"one\"", "contains \"two\""),
    (Block::Probe, "bad-answer", "fail", "slow"),
    (Block::Probe, "slow", "when latency > 3x baseline, at least 500ms", "when latency > 2x baseline, at least 500ms"),
    (Block::Probe, "down", "after 3 failures", "after 4 failures"),
    (Block::Probe, "up", "after 2 passes", "after 3 passes"),
    (Block::Probe, "degraded", "after 3 slow", "after 4 slow"),
    (Block::Probe, "recovered", "after 3 ok", "after 4 ok"),
    (Block::Probe, "baseline", "100 probes, min 20, renew 30m", "100 probes, min 30, renew 30m"),
    (Block::Probe, "traffic", "yes", "no"),
    (Block::Probe, "spend", "$1/day", "$2/day"),
    (Block::Ramp, "extends", "w", "v"),
    (Block::Ramp, "rollback", "when errors >= 20%, min 20", "when errors >= 30%, min 20"),
    (Block::Route, "version", "1", "2"),
    (Block::Route, "serves", "[s]", "[s, u]"),
    (Block::Route, "match", "when request.tokens <= 9k", "when request.tokens <= 8k"),
    (
        Block::Route,
        "before",
        "other; match when request.stream == no; serves [r]",
        "another; match when request.stream == yes; serves [r]",
    ),
    (Block::Route, "contract", "c", "d"),
    (Block::Route, "tier", "t", "u"),
    (Block::Route, "matrix", "x", "y"),
    (Block::Route, "budget", "b", "g"),
    (Block::Route, "side-effects", "none", "unknown"),
    (Block::Route, "failover", "yes", "no"),
    (Block::Route, "fallback", "yes", "no"),
    (Block::Route, "exhausted", "stop as 503", "stop as 502"),
    (Block::Route, "exhausted", "stop as 503", "wait up to 5s"),
    (Block::Route, "exhausted", "wait up to 5s", "wait up to 6s"),
    (Block::Defaults, "matrix", "x", "y"),
    (Block::Defaults, "budget", "b", "g"),
    (Block::Defaults, "session-header", "x-one", "x-two"),
    (Block::Defaults, "region-header", "x-one", "x-two"),
    (Block::Defaults, "breaker", "k", "l"),
    (Block::Defaults, "probe", "n", "o"),
    (Block::Defaults, "ramp", "w", "v"),
    (Block::Test, "send", "r { stream yes }", "r { tokens 100k }"),
    (Block::Test, "expect", "served by a", "served by z"),
    (Block::Test, "given", "dice 10%", "dice 99%"),
    (Block::Test, "given", "spent $1 for r; given dice 10%", "spent $1 for r; given dice 99%"),
    (Block::Test, "at", "0s a is down", "1h a is down"),
];

/// A whole set with one statement of one block in the place of those with its word.
fn with(block: Block, word: &str, value: &str) -> String {
    let blocks = [
        (Block::Provider, "p", "api emulated; probe n; ramp w; breaker k"),
        (Block::Provider, "q", "api emulated; breaker j; probe j; ramp j"),
        (Block::Provider, "plain", "api emulated"),
        (
            Block::Model,
            "m",
            "modalities [text, image]; streaming yes; tools yes; structured-output json-object; context 32k; max-output 4k; prefill yes; reasoning yes; price $1/M in, $2/M out; retention 0s",
        ),
        (Block::Model, "i", "modalities [text]; context 16k; price $1/M in, $2/M out"),
        (Block::Target, "a", "model m; provider p; region here"),
        (Block::Target, "z", "model m; provider q; region there"),
        (Block::Contract, "c", ""),
        (Block::Contract, "d", "context >= 1k"),
        (Block::Contract, "e", "context >= 2k"),
        (Block::Tier, "t", "chain { a;z }"),
        (Block::Target, "by-default", "model m; provider plain"),
        (Block::Tier, "u", "chain { z;by-default }"),
        (Block::Tier, "v", "chain { by-default }"),
        (Block::Matrix, "x", "overloaded -> retry once, failover; otherwise -> stop"),
        (Block::Matrix, "y", "overloaded -> failover; otherwise -> stop"),
        (Block::Matrix, "f", "connect -> failover; otherwise -> stop"),
        (Block::Budget, "b", "deadline 10s; attempts 2"),
        (Block::Budget, "g", "deadline 11s; attempts 2; idle 3s"),
        (Block::Budget, "h", "deadline 12s; attempts 2; idle 4s"),
        (Block::Breaker, "j", ""),
        (Block::Breaker, "k", "stable 1m"),
        (Block::Breaker, "l", "stable 2m"),
        (Block::Probe, "j", ""),
        (Block::Probe, "n", "every 30s"),
        (Block::Probe, "o", "every 40s"),
        (Block::Ramp, "j", "10% for 1m; 100%"),
        (Block::Ramp, "w", "10% for 1m; 100%"),
        (Block::Ramp, "v", "20% for 1m; 100%"),
        (Block::Route, "spare", "tier t; contract c; matrix x; budget b"),
        (Block::Route, "r", "contract c; tier t; budget b; matrix x"),
        (Block::Route, "other", "tier t; match when request.stream == no and request.tokens <= 500; serves [r]"),
        (Block::Route, "another", "tier u; match when request.stream == yes and request.tokens <= 500; serves [r]"),
        (Block::Defaults, "", "matrix x; budget b; breaker k; probe n; ramp w"),
        (Block::Test, "\"title\"", "a answers overloaded once; a answers ok; send r; expect elapsed >= 200ms"),
    ];
    // The blocks that are given a statement, and what else has to change with some.
    let given = match block {
        Block::Breaker | Block::Probe | Block::Ramp => "j",
        Block::Defaults => "",
        Block::Test => "\"title\"",
        _ => blocks.iter().find(|(kind, ..)| *kind == block).unwrap().1,
    };
    let mut text = "switchback 1\n".to_owned();
    for (kind, name, body) in blocks {
        let mut lines: Vec<String> = body.split("; ").filter(|line| !line.is_empty()).map(str::to_owned).collect();
        if kind == block && name == given {
            let first = lines.iter().position(|line| line.split(' ').next() == Some(word));
            lines.retain(|line| line.split(' ').next() != Some(word));
            // A block that extends another must not say the same again, and comes with its word first.
            if word == "extends" && matches!(kind, Block::Matrix | Block::Budget | Block::Ramp) {
                lines.clear();
            }
            let at = if word == "extends" {
                0
            } else if word == "at" {
                2
            } else {
                first.unwrap_or(lines.len())
            };
            lines.insert(at.min(lines.len()), format!("{word} {value}"));
        }
        text.push_str(&format!("{} {name} {{ {} }}\n", kind.word(), lines.join("; ")));
    }
    text
}

/// What a set comes to: its graph, and how its tests end.
fn outcome(text: &str) -> Result<(String, String), String> {
    let prepared = switchback::ready::prepare(Sources::from_texts([("a.sbk", text)]));
    let errors = prepared.diagnostics.iter().filter(|d| d.level() == switchback::diag::Level::Error);
    let errors: Vec<_> = errors.map(|d| d.message.clone()).collect();
    let ready = prepared.ready.ok_or_else(|| errors.join("; "))?;
    let tests = switchback::story::run_all(&ready.graph, &ready.sources);
    let told = serde_json::to_string(&switchback::story::Report::new(ready.hash(), tests)).unwrap();
    Ok((ready.hash().to_owned(), told))
}

#[test]
fn every_setting_makes_a_difference() {
    let mut without = Vec::new();
    let mut idle = Vec::new();
    let mut broken = Vec::new();
    for setting in in_blocks_in_effect().filter(|setting| setting.status == Status::InEffect) {
        let rows: Vec<_> =
            DIFFERENCES.iter().filter(|(b, word, ..)| (*b, *word) == (setting.block, setting.word)).collect();
        let known = choices(setting);
        let now = known.iter().filter(|(_, status)| *status == Status::InEffect).count();
        // With one value in effect there is nothing to change to.
        if rows.is_empty() && (now != 1 || known.is_empty()) {
            without.push(format!("{} {}", setting.block.word(), setting.word));
        }
        for (block, word, one, other) in rows {
            match (outcome(&with(*block, word, one)), outcome(&with(*block, word, other))) {
                (Ok(one), Ok(other)) if one != other => {}
                (Ok(_), Ok(_)) => idle.push(format!("{} {word}", block.word())),
                (one, other) => broken.push(format!("{} {word}: {:?}", block.word(), one.and(other).err())),
            }
        }
    }
    assert!(broken.is_empty(), "not right:\n{}", broken.join("\n"));
    assert!(without.is_empty(), "no two values are tried of {without:?}");
    assert!(idle.is_empty(), "nothing depends on {idle:?}");
}
