//! The documentation says what is there: every setting, every field, every metric, every option, and links that lead
//! somewhere.

use crate::serve_rig::{Folder, Served};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use switchback::decide::group::spec::TargetSpec;
use switchback::decide::target_state::LATELY;
use switchback::decide::{average, baselines, select};
use switchback::policy::breaker::{BreakerRules, HalfOpen, HoldRule, Over};
use switchback::policy::class::Verb;
use switchback::policy::probe::{BaselineRules, HealthRules, SlowLive};
use switchback::policy::ramp::Rollback;
use switchback::policy::{Budget, Class, Order, ProbeRules, Provider, RampRules, Refusal, RetryRatio};
use switchback::syntax::settings::{BLOCKS, SETTINGS, Status, choices};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join("docs").join(name)).unwrap()
}

/// The part of a page under a heading, up to the next one that is as high.
fn section<'t>(text: &'t str, heading: &str) -> &'t str {
    let start = text.find(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}")) + 1 + heading.len();
    let level = heading.split(' ').next().unwrap();
    let end = text[start..].find(&format!("\n{level} ")).map_or(text.len(), |at| start + at);
    &text[start..end]
}

/// Whether a word stands in backticks, at the front or by itself in them.
fn names(text: &str, word: &str) -> bool {
    text.split('`').skip(1).step_by(2).any(|code| code == word || code.split([' ', ',']).any(|part| part == word))
}

#[test]
fn the_language_page_names_every_setting_where_it_belongs() {
    let text = page("language.md");
    let later = section(&text, "## Not yet in effect");
    for block in BLOCKS {
        let within = match (block.status, block.word) {
            (Status::Later, word) => {
                assert!(names(later, word), "{word} is not in effect, and not listed as such");
                continue;
            }
            (Status::InEffect, "test") => section(&text, "## Tests"),
            (Status::InEffect, word) => section(&text, &format!("### {word}")),
        };
        let row = later.lines().find(|l| l.starts_with(&format!("| `{}` |", block.word))).unwrap_or_default();
        for setting in SETTINGS.iter().filter(|s| s.block == block.block) {
            let (place, words) = match setting.status {
                Status::Later => (row, "as not in effect"),
                Status::InEffect if setting.word == "extends" => (section(&text, "## Blocks"), "among the blocks"),
                Status::InEffect => (within, "in its section"),
            };
            assert!(names(place, setting.word), "{} of {} is not named {words}", setting.word, block.word);
            if setting.status == Status::InEffect {
                for (word, _) in choices(setting).iter().filter(|(_, s)| *s == Status::Later) {
                    assert!(names(row, word), "{} {word} of {} is not listed", setting.word, block.word);
                }
            }
        }
    }
}

#[test]
fn the_reference_is_what_the_table_says() {
    let path = root().join("docs/language-reference.md");
    let text = switchback::syntax::settings::reference();
    if std::env::var_os("SWITCHBACK_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "docs/language-reference.md is not what the table says; SWITCHBACK_BLESS=1 rewrites it");
    for setting in SETTINGS {
        assert!(
            names(&text, setting.word) || text.contains(&format!("`{}`", setting.word)) || setting.block.is_later()
        );
    }
}

#[test]
fn the_class_table_is_the_classes() {
    let text = page("language.md");
    let table = section(&text, "## Failure classes");
    for class in Class::ALL {
        let row = table.lines().find(|l| l.starts_with(&format!("| `{class}` |")));
        let row = row.unwrap_or_else(|| panic!("no row for {class}"));
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if *class != Class::PartialStream {
            assert_eq!(cells[3], class.client_status().to_string(), "{row}");
        }
        for verb in [Verb::Retry, Verb::Wait, Verb::Failover, Verb::Fallback] {
            let ruled_out = match cells[4] {
                "all but `stop`" => true,
                cell if cell.starts_with("all but") => verb != Verb::Fallback,
                cell => names(cell, verb.word()),
            };
            assert_eq!(ruled_out, class.forbids(verb), "{verb}: {row}");
        }
    }
    let errors = page("records.md");
    for refusal in [Refusal::NoTarget, Refusal::Contract, Refusal::Deadline] {
        assert!(names(table, refusal.word()) && names(&errors, refusal.word()), "{refusal}");
    }
}

/// The rows of a table: the first two cells of each, without their backticks.
fn rows(section: &str) -> Vec<(String, String)> {
    let cells = |line: &str| -> Option<(String, String)> {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let plain = |cell: &str| cell.replace('`', "");
        Some((plain(cells.next()?), plain(cells.next()?)))
    };
    section.lines().filter_map(cells).collect()
}

/// Defaults as the code has them, by the names of the page. What has no number of its own is not here.
fn defaults() -> Vec<(&'static str, String)> {
    let breaker = BreakerRules::default();
    let Over::Time { span, .. } = breaker.over else { panic!("{:?}", breaker.over) };
    let hold = |class| {
        let HoldRule { cap, default } = breaker.holds.of(class).unwrap();
        cap.to_string() + &default.map_or(String::new(), |d| format!(", default {d}"))
    };
    let (share, min) = Rollback::default().errors.unwrap();
    let (probe, health, retry) = (ProbeRules::default(), HealthRules::default(), RetryRatio::default());
    let beside = health.slow.beside.unwrap();
    let slow =
        [breaker.slow.map(|_| ()), health.slow.above.map(|_| ())].map(|slow| if slow.is_none() { "off" } else { "on" });
    vec![
        ("breaker trip over", span.to_string()),
        ("breaker trip min", breaker.min.to_string()),
        ("breaker trip errors", breaker.errors.unwrap().to_string()),
        ("breaker trip slow", slow[0].to_owned()),
        ("breaker trip slow above", slow[0].to_owned()),
        ("breaker trip consecutive", breaker.consecutive.unwrap().to_string()),
        ("breaker open", breaker.open.base.to_string()),
        ("breaker open growing", breaker.open.growing.to_string()),
        ("breaker open to", breaker.open.cap.to_string()),
        ("breaker open jitter", breaker.open.jitter.to_string()),
        ("breaker hint-cap", breaker.hint_cap.to_string()),
        ("breaker half-open at once", breaker.half_open.at_once.to_string()),
        ("breaker half-open successes", breaker.half_open.successes.to_string()),
        ("breaker half-open lease", format!("attempt-timeout + {}", HalfOpen::GRACE)),
        ("breaker timeout-evidence", breaker.timeout_evidence.to_string()),
        ("breaker hold rate-limit", hold(Class::RateLimit)),
        ("breaker hold overloaded", hold(Class::Overloaded)),
        ("breaker hold server-error", hold(Class::ServerError)),
        ("breaker hold quota-exhausted", hold(Class::QuotaExhausted)),
        ("ramp rollback errors", share.to_string()),
        ("ramp rollback min", min.to_string()),
        ("ramp rollback consecutive", Rollback::default().consecutive.unwrap().to_string()),
        ("probe every", probe.every.to_string()),
        ("probe every jitter", probe.jitter.to_string()),
        ("probe timeout", ProbeRules::TIMEOUT.to_string()),
        ("probe max-tokens", probe.max_tokens.to_string()),
        ("probe down", health.down_after.to_string()),
        ("probe up", health.up_after.to_string()),
        ("probe degraded", health.degraded_after.to_string()),
        ("probe recovered", health.recovered_after.to_string()),
        ("probe slow beside", beside.multiple.to_string()),
        ("probe slow at least", beside.at_least.to_string()),
        ("probe slow above", slow[1].to_owned()),
        ("probe slow p95 min", SlowLive::MIN.to_string()),
        ("probe baseline", health.baseline.size.to_string()),
        ("probe baseline min", health.baseline.min.to_string()),
        ("probe baseline renew", health.baseline.renew.unwrap().to_string()),
        ("budget per-target", Budget::PER_TARGET.to_string()),
        ("budget min-attempt", Budget::MIN_ATTEMPT.to_string()),
        ("budget reserve", Budget::RESERVE.to_string()),
        ("budget backoff", Budget::BACKOFF.base.to_string()),
        ("budget backoff to", Budget::BACKOFF.cap.to_string()),
        ("budget backoff jitter", Budget::BACKOFF.jitter.word().to_owned()),
        ("budget idle", Budget::IDLE.to_string()),
        ("budget hedge at least", Budget::HEDGE_AT_LEAST.to_string()),
        ("budget replays", Budget::REPLAYS.to_string()),
        ("tier order every", Order::EVERY.to_string()),
        ("provider retry-ratio", retry.ratio.to_string()),
        ("provider retry-ratio at least", format!("{}/{}", retry.at_least.count, &retry.at_least.per.to_string()[1..])),
        ("provider retry-ratio burst", retry.burst.to_string()),
        ("provider timeout-connect", Provider::TIMEOUT_CONNECT.to_string()),
    ]
}

/// What no policy sets, as the code has it.
fn constants() -> Vec<(String, &'static str)> {
    vec![
        (Over::BUCKETS.to_string(), "buckets"),
        (HalfOpen::MOST.to_string(), "trials"),
        (HalfOpen::GRACE.to_string(), "grace"),
        (RampRules::PLACES.to_string(), "places"),
        (BaselineRules::PERCENTILE.to_string(), "percentile"),
        (SlowLive::KEPT.to_string(), "latencies"),
        (BaselineRules::MOST.to_string(), "probes"),
        (ProbeRules::HURRY.to_string(), "times"),
        (ProbeRules::STALE_AFTER.to_string(), "intervals"),
        (ProbeRules::FIRST_WITHIN.to_string(), "parts"),
        (Budget::BACKOFF_FLOOR.to_string(), "floor"),
        (Budget::BACKOFF_FACTOR_PCT.to_string(), "percent"),
        (Budget::THROTTLED_BASE.to_string(), "base"),
        (Budget::WAIT_SPREAD.to_string(), "spread"),
        (Budget::WAIT_SPREAD_MOST.to_string(), "spread"),
        (RetryRatio::TOKEN.to_string(), "parts"),
        (select::LAST_RESORT_INFLIGHT.to_string(), "last resort"),
        (Order::WIN_PCT.to_string(), "percent"),
        (average::NEW.to_string(), "percent"),
        (Order::LASTING.to_string(), "every"),
        (baselines::DAYS.to_string(), "days"),
        (baselines::MIN_CALLS.to_string(), "calls"),
        (Budget::HEDGE_KEPT.to_string(), "calls"),
        (Budget::HEDGE_MIN.to_string(), "calls"),
        (LATELY.to_string(), "lately"),
        (TargetSpec::plain("t", "p").epoch.to_string(), "epoch"),
    ]
}

#[test]
fn every_number_of_the_rules_is_listed_as_the_code_has_it() {
    let text = page("language.md");
    let numbers = section(&text, "## Every number");
    let set = rows(section(numbers, "### Those that a policy sets"));
    let real = defaults();
    for (name, default) in &set {
        let mut words = name.split(' ');
        let block =
            words.next().and_then(|word| BLOCKS.iter().find(|b| b.word == word)).unwrap_or_else(|| panic!("{name}"));
        let setting = words.next().unwrap();
        let known =
            SETTINGS.iter().any(|s| s.block == block.block && s.word == setting && s.status == Status::InEffect);
        // Stages and rows begin with what they are about.
        let line = matches!((block.word, setting), ("ramp", "N%") | ("matrix", "retry" | "wait"));
        assert!(known || line, "{name} is no setting");
        if let Some((_, real)) = real.iter().find(|(n, _)| n == name) {
            assert_eq!(default, real, "{name}");
        }
    }
    for (name, _) in &real {
        assert!(set.iter().any(|(n, _)| n == name), "{name} is not listed");
    }
    let fixed = rows(section(numbers, "### Those that are fixed"));
    let fixed: Vec<&str> = fixed.iter().map(|(name, _)| name.as_str()).collect();
    let real: Vec<String> = constants().into_iter().map(|(value, what)| format!("{value} {what}")).collect();
    assert_eq!(fixed, real);
}

#[test]
fn the_record_shown_has_the_fields_of_the_schema_and_each_is_explained() {
    let text = page("records.md");
    let shown = text.split("```json\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
    let shown: Value = serde_json::from_str(shown).unwrap();
    let schema = std::fs::read_to_string(root().join("schemas/record.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let keys = |v: &Value| -> BTreeSet<String> { v.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(keys(&shown), keys(&schema["properties"]));
    assert_eq!(keys(&shown["request"]), keys(&schema["$defs"]["RequestRecord"]["properties"]));
    for step in shown["steps"].as_array().unwrap() {
        assert_eq!(keys(step), keys(&schema["$defs"]["StepRecord"]["properties"]));
    }
    let fields = section(&text, "## Decision records");
    for key in [&shown, &shown["request"], &shown["steps"][0]].into_iter().flat_map(keys) {
        assert!(names(fields, &key), "{key} is not explained");
    }
}

#[test]
fn every_metric_is_listed() {
    let folder = Folder::new("docs-metrics", &std::fs::read_to_string(root().join("policies/quickstart.sbk")).unwrap());
    let served = Served::new(&[], &folder.policy());
    let text = page("records.md");
    let listed = section(&text, "## Metrics");
    let metrics = served.get("/metrics");
    let real: Vec<&str> = metrics.lines().filter_map(|l| l.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert!(real.len() >= 4, "{metrics}");
    for metric in &real {
        assert!(names(listed, metric), "{metric}");
    }
    for row in listed.lines().filter_map(|l| l.strip_prefix("| `")) {
        let name = row.split('`').next().unwrap();
        assert!(real.contains(&name), "{name} is listed, and not there");
    }
}

#[test]
fn every_term_of_a_dialect_is_explained() {
    let page = page("dialects.md");
    let table = section(&page, "## Chat to Messages: the request");
    for term in switchback::policy::Term::ALL {
        assert!(table.contains(&format!("| `dialect:{term}` |")), "`{term}`");
    }
}

#[test]
fn the_options_are_those_of_the_commands() {
    let text = page("cli.md");
    for command in
        ["check", "fmt", "test", "graph", "explain", "list", "serve", "emulate", "init", "completions", "man"]
    {
        let help = Command::new(env!("CARGO_BIN_EXE_switchback")).args([command, "--help"]).output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let own = section(&text, &format!("## {command}"));
        let options = |text: &str| -> BTreeSet<String> {
            let word = |w: &str| w.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '-').to_owned();
            text.split_whitespace().map(word).filter(|w| w.starts_with("--") && !w.starts_with("---")).collect()
        };
        let offered: BTreeSet<String> = help
            .lines()
            .filter_map(|l| {
                l.trim_start().split(' ').find(|w| w.starts_with("--")).filter(|_| l.trim_start().starts_with('-'))
            })
            .map(str::to_owned)
            .filter(|o| !matches!(o.as_str(), "--help" | "--version" | "--color"))
            .collect();
        assert_eq!(options(own), offered, "{command}");
    }
}

/// Every relative link of the documentation leads somewhere.
#[test]
fn links_lead_somewhere() {
    let mut pages = vec![root().join("README.md"), root().join("CHANGELOG.md")];
    for folder in ["docs", "docs/decisions"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap().map(|e| e.unwrap().path());
        pages.extend(entries.filter(|p| p.extension().is_some_and(|e| e == "md")));
    }
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            if path.contains("://") {
                continue;
            }
            let to = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            assert!(to.exists(), "{}: {link}", page.display());
            if !anchor.is_empty() {
                let there = std::fs::read_to_string(&to).unwrap();
                assert!(there.lines().any(|l| anchor_of(l) == anchor), "{}: {link}", page.display());
            }
        }
    }
}

#[test]
fn every_decision_is_in_the_index() {
    let index = page("README.md");
    for entry in std::fs::read_dir(root().join("docs/decisions")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(index.contains(&format!("(decisions/{name})")), "{name}");
    }
}

/// The anchor that a heading gets on GitHub.
fn anchor_of(line: &str) -> String {
    let heading = line.trim_start_matches('#');
    if heading.len() == line.len() {
        return String::new();
    }
    let kept = heading.trim().to_lowercase();
    kept.chars().filter(|c| c.is_alphanumeric() || "- _".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn what_is_looked_for_can_be_missing() {
    assert!(names("the `a b` and `c`", "c") && !names("the c", "c"));
    assert_eq!(section("x\n## A\none\n### B\ntwo\n## C\n", "## A"), "\none\n### B\ntwo");
    assert_eq!(anchor_of("## Exit codes"), "exit-codes");
}
