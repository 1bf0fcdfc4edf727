//! Tests of policies, run as the command runs them.

use super::run_all;
use crate::ready::prepare;
use crate::source::Sources;

const POLICY: &str = r#"switchback 1
provider p { api openai-chat; base-url "http://127.0.0.1:9/v1" }
provider q { api openai-chat; base-url "http://127.0.0.1:9/v1" }
model m { modalities [text]; streaming yes; tools no; structured-output none; context 32k; max-output 4k; price $1/M in, $2/M out }
target a { model m; provider p }
target b { model m; provider q }
tier t { chain { a; b } }
matrix x {
  overloaded, server-error, connect -> retry once, failover
  rate-limit -> wait up to 5s, failover
  timeout-*, truncated, empty-response, malformed-response, stream-early -> failover
  otherwise  -> stop
}
budget u { deadline 10s; attempts 4; attempt-timeout 4s; first-token 2s; idle 1s; reserve 3s; backoff 200ms to 1s }
route r { tier t; matrix x; budget u }
"#;

/// The misses of one test, as `line: got`.
fn misses(lines: &str) -> Vec<String> {
    misses_of(POLICY, lines)
}

fn misses_of(policy: &str, lines: &str) -> Vec<String> {
    let text = format!("{policy}test \"it\" {{\n{lines}\n}}\n");
    let prepared = prepare(Sources::from_texts([("t.sbk", text.as_str())]));
    let found: Vec<_> = prepared.diagnostics.iter().map(|d| d.message.clone()).collect();
    let ready = prepared.ready.unwrap_or_else(|| panic!("{found:?}"));
    let reports = run_all(&ready.graph, &ready.sources);
    reports[0].misses.iter().map(|m| format!("{}: {}", m.expected, m.got)).collect()
}

#[track_caller]
fn holds(lines: &str) {
    assert_eq!(misses(lines), Vec::<String>::new());
}

#[test]
fn a_retry_and_a_failover_take_the_time_they_take() {
    holds(
        "a answers overloaded after 50ms\nb answers ok after 400ms\nsend r\n\
         expect path [overloaded, retry, overloaded, failover, ok]\nexpect elapsed == 600ms\nexpect attempts == 3",
    );
    holds("given dice 0%\na answers overloaded after 50ms\nb answers ok after 400ms\nsend r\nexpect elapsed == 520ms");
}

#[test]
fn timers_run_out_in_virtual_time() {
    holds(
        "a answers hangs\nb answers ok after 1s\nsend r\nexpect path [timeout-headers, failover, ok]\nexpect elapsed == 5s",
    );
    holds(
        "a answers streams 0 tokens then stalls\nb answers ok after 1s\nsend r { stream yes }\n\
         expect path [timeout-first-token, failover, ok]\nexpect elapsed == 3s",
    );
    holds(
        "a answers streams 5 tokens then stalls after 100ms\nsend r { stream yes }\n\
         expect ended with error\nexpect elapsed == 1100ms\nexpect never b",
    );
    // What is due at the same instant as the answer comes first.
    holds("a answers ok after 4s\nb answers ok after 1s\nsend r\nexpect path [timeout-headers, failover, ok]");
    holds("a answers ok after 3999ms\nsend r\nexpect served by a");
}

#[test]
fn a_hold_is_seen_by_the_next_request() {
    holds(
        "a answers 429 retry-after 30s once\na answers ok after 10ms\nb answers ok after 10ms\nsend r\n\
         expect path [rate-limit, failover, ok]\n\
         at 10s send r\nexpect served by b\nexpect skipped a as hold\n\
         at 31s send r\nexpect served by a",
    );
}

#[test]
fn states_and_scripts_may_begin_later() {
    holds(
        "a answers ok after 10ms\nat 5s a is down\nb answers ok after 10ms\nsend r\nexpect served by a\n\
         at 6s send r\nexpect served by b\nexpect skipped a as down",
    );
    holds(
        "a answers ok after 10ms\nat 5s a answers auth\nsend r\nexpect served by a\n\
         at 6s send r\nexpect refused auth as 502\nexpect attempts == 1",
    );
}

#[test]
fn refusals_are_expected_by_name_and_status() {
    holds("a is disabled\nb is held for 90s\nsend r\nexpect refused no-target as 503\nexpect attempts == 0");
    holds("send r { tokens 40k }\nexpect refused contract as 503");
    holds("a answers invalid-request\nsend r\nexpect refused invalid-request as 400\nexpect never q");
}

#[test]
fn output_and_cost_are_those_of_who_served() {
    holds(
        "a answers ok \"good day\" after 10ms\nsend r { tokens 1k }\nexpect output \"good day\"\nexpect cost < $0.002\nexpect cost > $0.001",
    );
    holds("a answers ok \"good day\" after 10ms\nsend r { stream yes }\nexpect output \"good day\"");
}

/// The policy with other lines in its tier, budget or route.
fn holds_with(changes: &[(&str, &str)], lines: &str) {
    let mut policy = POLICY.to_owned();
    for (from, to) in changes {
        assert!(policy.contains(from), "{from}");
        policy = policy.replace(from, to);
    }
    assert_eq!(misses_of(&policy, lines), Vec::<String>::new());
}

const OK: &str = "a answers ok after 10ms\nb answers ok after 10ms\n";

#[test]
fn a_split_is_drawn_by_session_and_whoever_is_not_drawn_comes_second() {
    let split = [("a; b", "a 70%, b 30%")];
    holds_with(&split, &format!("given dice 69% for split\n{OK}send r\nexpect served by a"));
    holds_with(&split, &format!("given dice 70% for split\n{OK}send r\nexpect served by b"));
    holds_with(
        &split,
        "given dice 90% for split\na answers ok after 10ms\nb answers empty\nsend r\nexpect path [empty-response, failover, ok]",
    );
    holds_with(&split, &format!("given dice 90% for split\n{OK}b is down\nsend r\nexpect served by a"));
}

#[test]
fn an_exercise_asks_the_standby_first_if_pass_one_admits_it() {
    let exercise = [("chain { a; b }", "chain { a; b }; exercise 2% of b")];
    holds_with(&exercise, &format!("given dice 1% for exercise\n{OK}send r\nexpect served by b"));
    holds_with(&exercise, &format!("given dice 2% for exercise\n{OK}send r\nexpect served by a"));
    holds_with(&exercise, &format!("given dice 1% for exercise\n{OK}b is degraded\nsend r\nexpect served by a"));
}

#[test]
fn a_session_stays_where_it_was_served_until_it_is_idle() {
    let affinity = [("chain { a; b }", "chain { a; b }; affinity session for 5m")];
    let lines = "a answers overloaded 2 times\na answers ok after 10ms\nb answers ok after 10ms\n\
        send r { session s }\nexpect served by b\n\
        at 1m send r { session s }\nexpect served by b\nexpect attempts == 1\n\
        at 2m send r { session other }\nexpect served by a\n\
        at 5m send r { session s }\nexpect served by b\n\
        at 11m send r { session s }\nexpect served by a";
    holds_with(&affinity, lines);
}

#[test]
fn each_tier_has_a_home_of_its_own_for_a_session() {
    let tiers = [
        (
            "chain { a; b } }",
            "chain { a; b }; affinity session for 5m }\ntier u { chain { a }; affinity session for 5m }",
        ),
        ("route r {", "route other { tier u; matrix x; budget u }\nroute r {"),
    ];
    let lines = "a answers overloaded 2 times\na answers ok after 10ms\nb answers ok after 10ms\n\
        send r { session s }\nexpect served by b\n\
        at 1m send other { session s }\nexpect served by a\n\
        at 2m send r { session s }\nexpect served by b\n\
        at 8m send r { session s }\nexpect served by a";
    holds_with(&tiers, lines);
}

#[test]
fn the_cheapest_goes_first_where_it_wins_by_a_tenth() {
    let cheap = |price: &str| format!("target b {{ model m; provider q; price {price} }}");
    let with = |price: &str, lines: &str| {
        let target = cheap(price);
        holds_with(
            &[("target b { model m; provider q }", &target), ("chain { a; b }", "chain { a; b }; order price")],
            lines,
        );
    };
    with("$0.90/M in, $1.80/M out", &format!("{OK}send r\nexpect served by b"));
    with("$0.95/M in, $1.90/M out", &format!("{OK}send r\nexpect served by a"));
    with("$0.10/M in, $0.20/M out", &format!("{OK}b is degraded\nsend r\nexpect served by a"));
}

#[test]
fn the_fastest_goes_first_by_what_calls_took() {
    let order = |order: &str| [("tier t { ", format!("tier t {{ order {order}; "))];
    let lines = "a answers empty after 10ms once\na answers ok after 900ms\nb answers ok after 100ms\n\
                 send r\nexpect served by b\nat 1m send r\nexpect served by b\n";
    let holds = |said: &str, lines: &str| {
        let changes = order(said);
        let changes: Vec<(&str, &str)> = changes.iter().map(|(from, to)| (*from, to.as_str())).collect();
        holds_with(&changes, lines);
    };
    holds("latency", lines);
    holds("score { latency 90%; price 10% }", lines);
    // Streams have an order of their own, and a ranking stands until the next is due.
    holds("latency", &format!("{lines}at 2m send r {{ stream yes }}\nexpect served by a\n"));
    holds("latency every 2m", &lines.replace("at 1m send r\nexpect served by b", "at 1m send r\nexpect served by a"));
    // A week goes by the p50 of what is kept, and one call has none.
    holds("latency every 7d", &lines.replace("at 1m send r\nexpect served by b", "at 8d send r\nexpect served by a"));
}

#[test]
fn what_is_slow_for_one_tier_is_passed_over_there_alone() {
    let changes = [
        (
            "tier t { ",
            "probe light { every 4s; traffic yes; slow when latency > 9s }\ntier other { chain { a; b } }\nroute s { tier other; matrix x; budget u }\ntier t { slow-above 1s; ",
        ),
        ("provider p { ", "provider p { probe light; "),
    ];
    holds_with(
        &changes,
        "a answers ok after 1500ms\nb answers ok after 10ms\nsend r { stream yes }\nexpect served by a\n\
         at 10s send r { stream yes }\nexpect skipped a as degraded\nexpect served by b\n\
         at 20s send s { stream yes }\nexpect served by a",
    );
}

#[test]
fn the_same_model_may_be_preferred_though_it_is_slow() {
    let other = [
        (
            "target b { model m; provider q }",
            "model n { modalities [text]; streaming yes; context 32k; max-output 4k }\ntarget b { model n; provider q }",
        ),
        ("chain { a; b }", "chain { a; b }; prefer same-model"),
    ];
    holds_with(&other, &format!("{OK}a is degraded\nsend r\nexpect served by a\nexpect attempts == 1"));
    // Among equals the healthy one goes first.
    holds_with(
        &[("chain { a; b }", "chain { a; b }; prefer same-model")],
        &format!("{OK}a is degraded\nsend r\nexpect served by b"),
    );
}

#[test]
fn used_targets_come_round_again_after_a_pause() {
    let rounds = [("attempts 4;", "attempts 4; rounds 2;"), ("retry once, failover", "failover")];
    let lines = "a answers overloaded once\na answers ok after 10ms\nb answers overloaded\nsend r\n\
        expect path [overloaded, failover, overloaded, failover, ok]\nexpect served by a\nexpect elapsed == 135ms";
    holds_with(&[rounds[0], rounds[1], ("backoff 200ms to 1s", "backoff 250ms to 1s")], lines);
    holds_with(&rounds[1..], "a answers overloaded\nb answers overloaded\nsend r\nexpect attempts == 2");
}

#[test]
fn a_canary_share_of_sessions_may_fail_over() {
    let canary = [("budget u }", "budget u; failover 10% }"), ("retry once, failover", "failover")];
    let lines = |dice: &str, then: &str| {
        format!("given dice {dice} for canary\na answers overloaded\nb answers ok after 10ms\nsend r\nexpect {then}")
    };
    holds_with(&canary, &lines("9%", "served by b"));
    holds_with(&canary, &lines("10%", "refused overloaded as 503"));
}

#[test]
fn a_cap_on_cost_counts_every_call_at_its_worst() {
    // One call is at worst 1k * $1/M + 500 * $2/M = $0.002.
    let cap = |cap: &str| format!("backoff 200ms to 1s; spend {cap}/request");
    let with = |amount: &str, lines: &str| {
        let cap = cap(amount);
        holds_with(&[("backoff 200ms to 1s", &cap)], lines);
    };
    let lines =
        |attempts: u32| format!("a answers overloaded\nb answers overloaded\nsend r\nexpect attempts == {attempts}");
    with("$0.008", &lines(4));
    with("$0.0059", &lines(2));
    with("$0.0019", "send r\nexpect refused contract as 503\nexpect attempts == 0");
}

#[test]
fn a_pool_is_walked_at_once_and_a_dead_key_rests_for_everybody() {
    let pool = [
        (
            "provider p { api openai-chat; base-url \"http://127.0.0.1:9/v1\" }",
            "provider p { api openai-chat; base-url \"http://127.0.0.1:9/v1\"; keys [env A, env B, env C, env D] }",
        ),
        ("  otherwise  -> stop", "  auth, permission, quota-exhausted -> next-key, failover\n  otherwise -> stop"),
        ("attempts 4", "attempts 5"),
    ];
    // Dead, empty and forbidden keys take one call each, without a pause; the next request begins with the good one.
    holds_with(
        &pool,
        "a answers auth after 10ms once\na answers quota-exhausted after 10ms once\na answers permission after 10ms once\n\
         a answers ok after 10ms\nsend r\n\
         expect path [auth, next-key, quota-exhausted, next-key, permission, next-key, ok]\n\
         expect elapsed == 40ms\nexpect served by a\n\
         at 1s send r\nexpect path [ok]\nexpect served by a",
    );
    // With every key resting the target is held, and others answer.
    holds_with(
        &pool,
        "a answers auth after 10ms\nb answers ok after 10ms\nsend r\n\
         expect path [auth, next-key, auth, next-key, auth, next-key, auth, failover, ok]\n\
         at 1s send r\nexpect served by b\nexpect attempts == 1\nexpect skipped a as hold",
    );
    // What is no affair of a key opens the target's breaker, whichever key it was.
    holds_with(
        &pool,
        "a answers server-error after 10ms\nb answers ok after 10ms\nsend r\nsend r\nsend r\n\
         at 5s send r\nexpect skipped a as breaker-open",
    );
}

#[test]
fn a_test_that_does_not_hold_says_what_it_saw() {
    assert_eq!(
        misses("a answers ok\nsend r\nexpect served by b\nexpect attempts == 2\nexpect path [overloaded, retry, ok]"),
        [
            "expect served by b: served by a",
            "expect attempts == 2: 1 attempts",
            "expect path [overloaded, retry, ok]: path [ok]",
        ]
    );
    assert_eq!(
        misses(
            "a answers ok \"x\"\nsend r\nexpect ended with error\nexpect never p\nexpect output \"y\"\nexpect elapsed > 1s"
        ),
        [
            "expect ended with error: served by a",
            "expect never p: `a` was called",
            "expect output \"y\": output \"x\"",
            "expect elapsed > 1s: 0ms elapsed",
        ]
    );
}

#[test]
fn a_call_without_a_script_fails_the_test() {
    let seen = misses("a answers overloaded\nsend r\nexpect attempts == 3");
    assert!(seen[0].contains("`b` was called and has no script"), "{seen:?}");
}

#[test]
fn a_test_in_which_nothing_is_called_shows_nothing() {
    let seen = misses("a is disabled\nb is disabled\nsend r\nexpect attempts == 0");
    assert!(seen[0].contains("nothing was called"), "{seen:?}");
}

const WAITS: [(&str, &str); 1] = [("budget u }", "budget u; exhausted wait up to 8s }")];
const REST: &str = "given dice 0% for backoff\na is held for 20s\nb is held for 7s\n";

#[test]
fn nobody_admits_and_the_first_to_return_is_waited_for_once() {
    holds(&format!("{REST}{OK}send r\nexpect refused no-target as 503\nexpect attempts == 0\nexpect elapsed == 0s"));
    holds_with(
        &WAITS,
        &format!("{REST}{OK}send r\nexpect served by b\nexpect elapsed == 7010ms\nexpect skipped a as hold"),
    );
    // What was waited for fails: the row ran out, and there is no second wait.
    holds_with(
        &WAITS,
        &format!("{REST}b answers overloaded\nsend r\nexpect refused overloaded as 503\nexpect elapsed < 8s"),
    );
    // Up to a tenth more, so that not all come back in the same instant.
    holds_with(
        &WAITS,
        "given dice 50% for backoff\na is held for 20s\nb is held for 7s\nb answers ok\nsend r\nexpect elapsed == 7350ms",
    );
}

#[test]
fn a_rest_is_no_longer_than_it_may_be_and_ends_before_the_deadline() {
    let longer = "given dice 0% for backoff\na is held for 20s\nb is held for 8001ms\n";
    holds_with(&WAITS, &format!("{longer}{OK}send r\nexpect refused no-target as 503\nexpect elapsed == 0s"));
    let late = [("budget u }", "budget u; exhausted wait up to 1m }")];
    let back = |ms: u32| format!("given dice 99% for backoff\na is down\nb is held for {ms}ms\n{OK}send r\n");
    // The whole of it fits, and a call of `min-attempt` after it; where the spread does not fit, it is left out.
    holds_with(&late, &format!("{}expect served by b\nexpect elapsed == 9510ms", back(9_500)));
    holds_with(&late, &format!("{}expect refused no-target as 503\nexpect elapsed == 0s", back(9_501)));
    // Nobody knows when what is down returns.
    holds_with(&late, "a is down\nb is disabled\nsend r\nexpect refused no-target\nexpect elapsed == 0s");
}

#[test]
fn a_row_that_ran_out_for_want_of_a_target_rests_and_asks_again() {
    let held = "given dice 0% for backoff\nb is held for 3s\n";
    holds_with(
        &WAITS,
        &format!(
            "{held}a answers truncated after 10ms\nb answers ok after 10ms\nsend r\n\
             expect path [truncated, failover, ok]\nexpect elapsed == 3010ms"
        ),
    );
    holds(&format!(
        "{held}a answers truncated after 10ms\nb answers ok after 10ms\nsend r\nexpect refused truncated as 503"
    ));
    // Not for a contract, not for a row that only meant to stop, and not where no call is left.
    holds_with(&WAITS, &format!("{held}a is held for 2s\nsend r {{ tokens 40k }}\nexpect refused contract as 503"));
    holds_with(&WAITS, &format!("{held}a answers auth after 10ms\nsend r\nexpect refused auth\nexpect elapsed < 1s"));
    let one = [("budget u }", "budget u; exhausted wait up to 8s }"), ("attempts 4", "attempts 1")];
    holds_with(&one, &format!("{held}a answers empty after 10ms\nsend r\nexpect refused empty-response as 503"));
}

fn day(then: &str) -> [(&'static str, String); 2] {
    [
        ("backoff 200ms to 1s }", format!("backoff 200ms to 1s; spend $1/day {then} }}")),
        (
            "tier t {",
            "target c { model m; provider q; upstream \"c\" }\ntier cheap { chain { c } }\ntier t {".to_owned(),
        ),
    ]
}

fn holds_on(then: &str, lines: &str) {
    let changes = day(then);
    let changes: Vec<(&str, &str)> = changes.iter().map(|(from, to)| (*from, to.as_str())).collect();
    holds_with(&changes, lines);
}

#[test]
fn a_day_that_is_spent_refuses_until_the_next_one_begins() {
    let lines = "given spent $1 for r\na answers ok after 10ms\nsend r\nexpect refused spend as 503\nexpect attempts == 0\n\
                 expect skipped a as spend\nat 86399s send r\nexpect refused spend\nat 24h send r\nexpect served by a";
    holds_on("then stop", lines);
    holds_on("", lines);
    // $0.001 in and $0.001 out at worst: what is left covers one, and the bill of the first leaves room for another.
    let left =
        "given spent $0.998 for r\na answers ok \"x\" after 10ms\nsend r\nexpect served by a\nexpect cost < $0.002\n";
    holds_on("then stop", &format!("{left}send r {{ tokens 100 }}\nexpect refused spend"));
    holds_on("then stop", &format!("{left}send r {{ tokens 1; max-output 400 }}\nexpect served by a"));
}

#[test]
fn a_failover_that_the_day_does_not_cover_is_not_made() {
    holds_on(
        "then stop",
        "given spent $0.998 for r\na answers timeout-headers\nb answers ok\nsend r\nexpect refused spend as 503\n\
         expect path [timeout-headers]\nexpect attempts == 1",
    );
    // What was refused before it was processed was not billed.
    holds_on(
        "then stop",
        "given spent $0.998 for r\na answers overloaded\nb answers ok\nsend r\nexpect path [overloaded, retry, overloaded, failover, ok]",
    );
}

#[test]
fn a_day_that_is_spent_may_lead_to_another_tier() {
    holds_on(
        "then use cheap",
        "given spent $1 for r\nc answers ok after 10ms\nsend r\nexpect served by c\nexpect skipped a as spend\nexpect skipped b as spend",
    );
    holds_on(
        "then use cheap",
        "given spent $0.998 for r\na answers timeout-headers\nc answers ok\nsend r\nexpect path [timeout-headers, fallback, ok]",
    );
    holds_on("then use cheap", "given spent $1 for r\nc is down\nsend r\nexpect refused no-target as 503");
}

#[test]
fn who_is_outside_the_contract_in_one_tier_is_so_in_the_one_beyond_it() {
    let small = "target s { model small; provider p; region eu-1 }\nmodel small { modalities [text]; streaming yes; \
                 context 1k; max-output 4k; price $1/M in, $2/M out }\n";
    let changes = [
        ("target a { model m; provider p }", format!("{small}target a {{ model m; provider p; region us-1 }}")),
        ("target b { model m; provider q }", "target b { model m; provider q; region eu-1 }".to_owned()),
        (
            "tier t {",
            "target c { model m; provider q; upstream \"c\"; region eu-1; price $0/M in, $0/M out }\n\
             contract eu { regions [eu-*] }\ntier cheap { chain { a; s; c } }\ntier t {"
                .to_owned(),
        ),
        ("chain { a; b }", "chain { a; s; b }".to_owned()),
        ("backoff 200ms to 1s }", "backoff 200ms to 1s; spend $1/day then use cheap }".to_owned()),
        ("budget u }", "budget u; contract eu }".to_owned()),
    ];
    let mut changes: Vec<(&str, &str)> = changes.iter().map(|(from, to)| (*from, to.as_str())).collect();
    let spent = "given spent $1 for r\nsend r { tokens 2k }\nexpect refused spend as 503\nexpect skipped b as spend";
    changes.push(("chain { a; s; c }", "chain { a; s }"));
    holds_with(&changes, spent);
    changes.pop();
    holds_with(
        &changes,
        "given spent $1 for r\na answers ok\nb answers ok\ns answers ok\nc answers ok after 10ms\nsend r { tokens 2k }\n\
         expect never a\nexpect never s\nexpect served by c\nexpect skipped a as \"region\"\nexpect skipped b as spend",
    );
}

const HEDGED: &str = r#"switchback 1
provider p { api openai-chat; base-url "http://127.0.0.1:9/v1" }
provider q { api openai-chat; base-url "http://127.0.0.1:9/v1" }
model m { modalities [text]; streaming yes; tools no; structured-output none; context 32k; max-output 4k; price $1/M in, $2/M out }
target a { model m; provider p; baseline p50 400ms, p95 900ms }
target b { model m; provider q }
tier t { chain { a; b } }
matrix x { overloaded, timeout-* -> failover; otherwise -> stop }
budget u { deadline 20s; attempts 4; hedge after p95, at least 500ms }
route r { tier t; matrix x; budget u }
"#;

#[track_caller]
fn hedged_holds(lines: &str) {
    assert_eq!(misses_of(HEDGED, lines), Vec::<String>::new());
}

#[test]
fn a_late_call_and_its_hedge_run_side_by_side() {
    hedged_holds(
        "a answers ok \"slow\" after 5s\nb answers ok \"fast\" after 300ms\nsend r { stream yes }\n\
         expect path [lost, hedge, ok]\nexpect served by b\nexpect elapsed == 1200ms\nexpect output \"fast\"\n\
         expect attempts == 2",
    );
    hedged_holds(
        "a answers ok after 1s\nb answers ok after 300ms\nsend r { stream yes }\n\
         expect path [ok, hedge, lost]\nexpect served by a\nexpect elapsed == 1s",
    );
    hedged_holds("a answers ok after 800ms\nsend r { stream yes }\nexpect path [ok]");
    hedged_holds(
        "a answers overloaded after 2s\nb answers overloaded after 300ms once\nb answers ok\nsend r { stream yes }\n\
         expect path [overloaded, hedge, overloaded]\nexpect elapsed == 2s\nexpect refused overloaded",
    );
    hedged_holds(
        "a answers overloaded after 1s\nb answers ok after 3s\nsend r { stream yes }\n\
         expect path [overloaded, hedge, ok]\nexpect elapsed == 3900ms",
    );
    hedged_holds(
        "a answers ok after 5s\nb answers 400 after 1s\nsend r { stream yes }\n\
         expect path [lost, hedge, invalid-request]\nexpect refused invalid-request as 400",
    );
    hedged_holds("b is degraded\na answers ok after 5s\nsend r { stream yes }\nexpect path [ok]");
    hedged_holds("a answers ok after 5s\nsend r { stream yes; side-effects unknown }\nexpect path [ok]");
}

#[test]
fn whole_answers_are_late_by_their_own_p95() {
    let lines = |count: u64| {
        let mut lines = format!("a answers ok after 2s {count} times\na answers ok after 9s\nb answers ok after 1s\n");
        (0..count).for_each(|n| lines.push_str(&format!("at {}s send r\n", n * 10)));
        lines + &format!("at {}s send r\n", count * 10)
    };
    hedged_holds(&(lines(20) + "expect path [lost, hedge, ok]\nexpect elapsed == 3s"));
    hedged_holds(&(lines(19) + "expect path [ok]\nexpect elapsed == 9s"));
}

#[test]
fn a_hedge_is_held_against_the_day_and_its_loser_costs_the_worst() {
    // A call costs $0.002 at worst.
    let day = HEDGED.replace("at least 500ms }", "at least 500ms; spend $1/day }");
    let holds = |spent: &str, path: &str, then: &str| {
        let lines = format!(
            "given spent {spent} for r\na answers ok \"x\" after 5s\nb answers ok \"x\" after 300ms\n\
             send r {{ stream yes }}\nexpect path {path}\nat 60s send r\n{then}"
        );
        assert_eq!(misses_of(&day, &lines), Vec::<String>::new(), "{spent}");
    };
    holds("$0.998", "[ok]", "expect refused spend");
    // Room for both, but for what was billed and the loser's worst there is none for a third.
    holds("$0.996", "[lost, hedge, ok]", "expect refused spend");
    holds("$0.994", "[lost, hedge, ok]", "expect served by a");
}
