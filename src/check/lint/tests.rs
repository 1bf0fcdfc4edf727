use crate::check::sample::{codes, diagnostics, found, text};

const REAL: &str = "provider right { api openai-chat; base-url \"http://127.0.0.1:2/v1\" }";

#[test]
fn the_sample_is_clean() {
    assert_eq!(found(&[]), []);
}

/// One call for requests that could have gone on is one mistake, however many rows and routes show it.
#[test]
fn one_cause_is_told_once() {
    let matrix =
        "matrix simple { connect -> retry once, failover, fallback; timeout-* -> failover; otherwise -> stop }";
    let budget = "budget short { deadline 10s; attempts 1 }";
    let routes = "route chat { tier chat; matrix simple; budget short }\n\
                  route more { tier chat; matrix simple; budget short; serves [more] }";
    let found = codes(&[("matrix", matrix), ("budget", budget), ("route", routes)]);
    assert_eq!(found, ["SB0510", "SB0615"]);
    // Chains that lack the same clause.
    let tier = "tier chat { chain { one; two }; chain in [eu-*] { two } }";
    let contract = "contract kept { retention <= 30d }";
    let route =
        format!("{contract}\nroute chat {{ contract kept; tier chat; matrix simple; budget short; fallback no }}");
    let all = diagnostics(&text(&[("tier", tier), ("route", &route)]));
    let unmet: Vec<_> = all.iter().filter(|d| d.entry().id == "SB0611").collect();
    let [one] = unmet.as_slice() else { panic!("{unmet:?}") };
    assert!(one.help.starts_with("write `retention` at the model"), "{}", one.help);
}

#[test]
fn cleartext_is_for_loopback_alone() {
    let address =
        |url: &str| codes(&[("provider", &format!("provider left {{ api openai-chat; base-url {url} }}\n{REAL}"))]);
    for url in [
        "\"http://127.8.0.1:1/v1\"",
        "\"http://localhost/v1\"",
        "\"http://[::1]:9/\"",
        "\"http://a.localhost\"",
        "\"https://example.com\"",
        "env URL",
        "env URL else \"http://127.0.0.1:8000/v1\"",
    ] {
        assert_eq!(address(url), [""; 0], "{url}");
    }
    for url in [
        "\"http://example.com/v1\"",
        "\"http://10.0.0.1\"",
        "\"http://127.0.0.1.example.com\"",
        "env URL else \"http://example.com\"",
    ] {
        assert_eq!(address(url), ["SB1103"], "{url}");
    }
}

#[test]
fn an_address_carries_no_credential() {
    let codes =
        |url: &str| codes(&[("provider", &format!("provider left {{ api openai-chat; base-url {url} }}\n{REAL}"))]);
    for url in [
        "\"http://localhost@example.com\"",
        "\"https://user:word@a.example/v1\"",
        "\"https://a.example/v1?api-key=0123\"",
        "env URL else \"https://user:word@a.example/v1\"",
    ] {
        assert_eq!(codes(url), ["SB1101"], "{url}");
    }
    assert_eq!(codes("\"https://a.example/v1?version=2\""), ["SB0303"], "it is no base address");
}

#[test]
fn a_hang_of_the_first_target_leaves_the_second_its_time() {
    let set = |budget: &str, matrix: &str, chain: &str| {
        let targets = "target one { model small; provider left }\ntarget two { model small; provider right }\n\
                       target three { model small; provider right; upstream \"three\" }";
        codes(&[
            ("target", targets),
            ("tier", &format!("tier chat {{ chain {{ {chain} }} }}")),
            ("matrix", &format!("matrix simple {{ {matrix} }}")),
            ("budget", &format!("budget short {{ deadline 20s; {budget} }}")),
        ])
    };
    let moves = "timeout-* -> failover; otherwise -> stop";
    assert_eq!(set("attempts 3", moves, "one; two; three"), ["SB0719"]);
    assert_eq!(set("attempts 3; attempt-timeout 12s", moves, "one; two; three"), ["SB0719"]);
    assert_eq!(set("attempts 3; attempt-timeout 6s", moves, "one; two; three"), [""; 0]);
    assert_eq!(set("attempts 3; headers 4s", moves, "one; two; three"), [""; 0], "a hang ends at its headers");
    assert_eq!(set("attempts 3; reserve 2s; attempt-timeout 15s", moves, "one; two; three"), [""; 0]);
    assert_eq!(set("attempts 2", moves, "one; two; three"), ["SB0615"], "the second call is the last one");
    assert_eq!(set("attempts 2", moves, "one; two"), ["SB0221"], "nothing is kept for a third");
    let stays = "connect -> failover; otherwise -> stop";
    assert_eq!(set("attempts 3", stays, "one; two; three"), [""; 0], "a time-out ends it");
}

#[test]
fn retries_fit_the_calls_that_a_target_may_get() {
    let set = |retry: &str, budget: &str| {
        let matrix = format!("matrix simple {{ connect -> {retry}, failover; otherwise -> stop }}");
        found(&[("matrix", &matrix), ("budget", &format!("budget short {{ deadline 20s; {budget} }}"))])
    };
    assert_eq!(set("retry once", "attempts 3"), []);
    assert_eq!(set("retry 2 times", "attempts 3"), [("SB0717", "retry 2 times".to_owned())]);
    assert_eq!(set("retry 2 times", "attempts 3; per-target 3"), []);
    assert_eq!(set("retry 4 times", "attempts 3; per-target 3"), [("SB0717", "retry 4 times".to_owned())]);
}

#[test]
fn one_route_leads_to_answers_of_one_kind() {
    let providers =
        "provider left { api emulated }\nprovider right { api openai-chat; base-url \"http://127.0.0.1:2/v1\" }";
    let set = |budget: &str, action: &str| {
        codes(&[
            ("provider", providers),
            ("tier", "tier chat { chain { one } }\ntier real { chain { two } }"),
            ("matrix", &format!("matrix simple {{ policy, partial-stream -> stop; otherwise -> {action}stop }}")),
            ("budget", &format!("budget short {{ deadline 10s; attempts 2; {budget} }}")),
            (
                "model",
                "model small { modalities [text]; streaming yes; context 32k; max-output 4k; price $1/M in, $2/M out }",
            ),
        ])
    };
    assert_eq!(set("", "fallback to real, "), ["SB0613"], "by a fallback");
    assert_eq!(set("spend $9/day then use real", ""), ["SB0613"], "beyond a day's money");
}

#[test]
fn emulated_providers_are_pointed_out_beside_real_ones() {
    let emulated = format!("provider left {{ api emulated }}\n{REAL}");
    assert_eq!(codes(&[("provider", &emulated)]), ["SB0613"], "in one chain");
    let both = "provider left { api emulated }\nprovider right { api emulated }";
    assert_eq!(codes(&[("provider", both)]), [""; 0], "a demonstration");
}

#[test]
fn a_chain_that_shares_one_thing_is_one_outage_away() {
    let providers = |left: &str, right: &str| {
        let provider = |name: &str, more: &str, port: u32| {
            format!("provider {name} {{ api openai-chat; base-url \"http://127.0.0.1:{port}/v1\"; {more} }}")
        };
        format!("{}\n{}", provider("left", left, 1), provider("right", right, 2))
    };
    assert_eq!(codes(&[("provider", &providers("account a", "account a"))]), ["SB0614"]);
    assert_eq!(codes(&[("provider", &providers("key env A", "key env A"))]), ["SB0614"]);
    assert_eq!(codes(&[("provider", &providers("key env A", "key env B"))]), [""; 0]);
    let regions = |one: &str, two: &str| {
        format!(
            "target one {{ model small; provider left; {one} }}\ntarget two {{ model small; provider right; {two} }}"
        )
    };
    assert_eq!(codes(&[("target", &regions("region eu", "region eu"))]), ["SB0614"]);
    assert_eq!(codes(&[("target", &regions("region eu", ""))]), [""; 0]);
    // A chain of one is meant to be one, and so is what is left of it when a target is switched off.
    assert_eq!(codes(&[("target", &regions("region eu", "region eu; enabled no"))]), [""; 0]);
}

#[test]
fn attempts_reach_the_whole_chain() {
    let budget = |attempts| codes(&[("budget", &format!("budget short {{ deadline 10s; attempts {attempts} }}"))]);
    assert_eq!(budget(1), ["SB0615"]);
    assert_eq!(budget(2), [""; 0]);
}

const MODELS: (&str, &str) = (
    "model",
    "model small { modalities [text]; context 32k; max-output 4k }\n\
     model large { modalities [text]; context 128k; max-output 4k }",
);
const MIXED: (&str, &str) =
    ("target", "target one { model small; provider left }\ntarget two { model large; provider right }");

fn under(contract: &str, route: &str) -> Vec<(&'static str, String)> {
    let contract = format!("contract c {{ {contract} }}");
    let route = format!("route chat {{ tier chat; matrix simple; budget short; contract c; {route} }}");
    found(&[MODELS, MIXED, ("contract", &contract), ("route", &route)])
}

#[test]
fn a_contract_that_nobody_meets_names_each_target_and_clause() {
    let text = "contract c { modalities [image]; context >= 64k }";
    let route = "route chat { tier chat; matrix simple; budget short; contract c; fallback no }";
    let all = crate::check::sample::diagnostics(&crate::check::sample::text(&[
        MODELS,
        MIXED,
        ("contract", text),
        ("route", route),
    ]));
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].entry().id, "SB0611");
    let labels: Vec<_> = all[0].labels.iter().map(|label| label.message.as_str()).collect();
    assert_eq!(labels[1], "`one`: no `image` among its modalities; `context` 32000, at least 64000 asked for");
    assert_eq!(labels[2], "`two`: no `image` among its modalities");
}

#[test]
fn what_a_model_does_not_state_meets_nothing() {
    assert_eq!(under("modalities [text]; tools yes", "fallback no").first().map(|f| f.0), Some("SB0611"));
    assert_eq!(under("modalities [text]; price <= $1/M out", "fallback no").first().map(|f| f.0), Some("SB0611"));
    assert_eq!(under("modalities [text]; regions [eu-*]", "fallback no").first().map(|f| f.0), Some("SB0611"));
}

#[test]
fn a_target_that_every_contract_drops_is_pointed_out() {
    assert_eq!(under("modalities [text]; context >= 64k", "fallback no"), [("SB0617", "one".to_owned())]);
    // Another route without a contract reaches it.
    let route = "route chat { tier chat; matrix simple; budget short; contract c; fallback no }\n\
                 route free { tier chat; matrix simple; budget short }";
    let contract = "contract c { modalities [text]; context >= 64k }";
    assert_eq!(codes(&[MODELS, MIXED, ("contract", contract), ("route", route)]), [""; 0]);
}

#[test]
fn changing_the_model_wants_evidence() {
    assert_eq!(under("modalities [text]", ""), [("SB0616", "chat".to_owned())]);
    assert_eq!(under("modalities [text]", "fallback no"), []);
    // The clause has no effect yet, and still says that the author thought of it.
    assert_eq!(under("modalities [text]; task-success >= 90%", ""), [("SB0210", "task-success".to_owned())]);
}

#[test]
fn actions_are_judged_over_all_routes_of_a_matrix() {
    let matrix = ("matrix", "matrix simple { connect -> failover, fallback\notherwise -> stop }");
    assert_eq!(found(&[matrix]), [("SB0510", "fallback".to_owned())]);
    assert_eq!(found(&[matrix, MODELS, MIXED]), [("SB0510", "failover".to_owned())]);
    let wide = "target one { model small; provider left }\ntarget two { model large; provider right }\n\
                target three { model small; provider right }";
    let tiers = "tier chat { chain { one; three } }\ntier mixed { chain { one; two } }";
    let routes = "route chat { tier chat; matrix simple; budget short }\n\
                  route mixed { tier mixed; matrix simple; budget short }";
    assert_eq!(found(&[matrix, MODELS, ("target", wide), ("tier", tiers), ("route", routes)]), []);
    let once = ("budget", "budget short { deadline 10s; attempts 2; per-target 1 }");
    let retry = ("matrix", "matrix simple { connect -> retry once\notherwise -> stop }");
    assert_eq!(found(&[retry, once]), [("SB0510", "retry once".to_owned())]);
}

#[test]
fn unused_blocks_are_pointed_out_unless_something_else_is_broken() {
    let more = ("budget", "budget short { deadline 10s; attempts 2 }\nbudget long { deadline 60s; attempts 2 }");
    assert_eq!(found(&[more]), [("SB0221", "long".to_owned())]);
    let typo = ("route", "route chat { tier chat; matrix simple; budget lonk }");
    assert_eq!(codes(&[more, typo]), ["SB0202"]);
}

#[test]
fn a_probe_that_a_model_would_refuse_is_named_at_the_target() {
    let model = "model small { modalities [text]; streaming yes; tools no; context 32k; max-output 4k }";
    let with = |probe: &str| {
        let blocks = format!("probe o {{ {probe} }}\ndefaults {{ probe o }}");
        found(&[("model", model), ("blocks", &blocks)])
    };
    let both = |code| vec![(code, "one".to_owned()), (code, "two".to_owned())];
    assert_eq!(with("max-tokens 5000"), both("SB0812"));
    assert_eq!(with("kind tools"), both("SB0812"));
    assert_eq!(with("max-tokens 4000"), []);
    assert_eq!(with("kind endpoint; max-tokens 5000"), [], "nothing is generated");
}

#[test]
fn a_stage_must_outlast_the_shortest_call() {
    let with = |budget: &str, ramp: &str| {
        let blocks = format!("ramp g {{ {ramp} }}\ndefaults {{ ramp g }}");
        found(&[("budget", &format!("budget short {{ {budget} }}")), ("blocks", &blocks)])
    };
    let short = "deadline 10s; attempts 2; attempt-timeout 4s";
    assert_eq!(with(short, "10% for 3s; 50% for 4s; 100%"), [("SB0823", "10% for 3s".to_owned())]);
    assert_eq!(with(short, "10% for 4s; 100%"), []);
    assert_eq!(with("deadline 10s; attempts 2", "10% for 9s; 100%"), [("SB0823", "10% for 9s".to_owned())]);
}

#[test]
fn breakers_probes_and_ramps_are_there_to_be_used() {
    let blocks = "breaker b { }\nprobe o { }\nramp g { 100% }";
    let unused = |name: &str| ("SB0221", name.to_owned());
    assert_eq!(found(&[("blocks", blocks)]), [unused("b"), unused("o"), unused("g")]);
}

#[test]
fn a_rest_as_long_as_the_deadline_is_pointed_out() {
    let route = |more: &str| {
        codes(&[("route", &format!("route chat {{ tier chat; matrix simple; budget short; exhausted {more} }}"))])
    };
    assert_eq!(route("wait up to 1h"), ["SB0511"]);
    assert_eq!(route("wait up to 1s"), [""; 0]);
}

#[test]
fn attempts_are_held_against_the_keys_of_a_pool_that_is_walked() {
    const ABOVE: &str = "SB0711";
    let pool = format!(
        "provider left {{ api openai-chat; base-url \"http://127.0.0.1:1/v1\"; keys [env A, env B, env C, env D] }}\n{REAL}"
    );
    let judged = |matrix: &str, attempts: &str| {
        let budget = format!("budget short {{ deadline 10s; attempts {attempts} }}");
        let mut found = codes(&[("provider", &pool), ("matrix", matrix), ("budget", &budget)]);
        found.retain(|code| matches!(*code, "SB0716" | ABOVE));
        found
    };
    let walks = "matrix simple { auth -> next-key, failover; otherwise -> stop }";
    let stays = "matrix simple { auth -> failover; otherwise -> stop }";
    assert_eq!(judged(walks, "3"), ["SB0716"]);
    // Two targets, and three further keys; one call more is what a retry may take.
    assert_eq!((judged(walks, "4"), judged(walks, "6")), (vec![], vec![]));
    assert_eq!(judged(walks, "7"), [ABOVE]);
    assert_eq!((judged(stays, "3"), judged(stays, "4")), (vec![], vec![ABOVE]));
}

const PRICED: &str =
    "model small { modalities [text]; streaming yes; context 32k; max-output 4k; price $1/M in, $2/M out }";

#[test]
fn caps_on_money_are_held_against_prices_and_tiers_in_reach() {
    let budget = |spend: &str| format!("budget short {{ deadline 10s; attempts 2; {spend} }}");
    let set = |model: &str, spend: &str| {
        let more = "target three { model small; provider left; upstream \"three\" }\ntier other { chain { three } }";
        let used = format!(
            "{more}\nroute second {{ tier other; matrix simple; budget plain }}\nbudget plain {{ deadline 10s; attempts 2 }}"
        );
        text(&[("model", model), ("budget", &budget(spend)), ("more", &used)])
    };
    let spends =
        |model: &str, spend: &str| -> Vec<_> { diagnostics(&set(model, spend)).iter().map(|d| d.entry().id).collect() };
    for good in
        ["spend $5/day", "spend $5/day then stop", "spend $5/day then use other", "spend $1/request; spend $5/day"]
    {
        assert_eq!(spends(PRICED, good), [""; 0], "{good}");
    }
    assert_eq!(spends(PRICED, "spend $5/day then use chat"), ["SB0721"]);
    // A longest answer is 4k tokens at $2 for a million.
    assert_eq!(spends(PRICED, "spend $0.007/day then stop"), ["SB0706", "SB0706"]);
    assert_eq!(spends(PRICED, "spend $0.007/day; spend $0.005/request"), ["SB0706", "SB0706"]);
    let unpriced = "model small { modalities [text]; streaming yes; context 32k; max-output 4k }";
    let targets = |spend: &str| {
        let found = diagnostics(&set(unpriced, spend));
        assert_eq!(found.iter().map(|d| d.entry().id).collect::<Vec<_>>(), ["SB0704"]);
        1 + found[0].labels.iter().filter(|label| label.message == "nor here").count()
    };
    assert_eq!(targets("spend $5/day then stop"), 2);
    assert_eq!(targets("spend $5/day then use other"), 3, "used beyond the cap");
}

#[test]
fn two_budgets_with_one_cap_are_one_finding() {
    let budgets = "budget short { deadline 10s; attempts 2; spend $0.007/day }\n\
                   budget other { deadline 10s; attempts 2; spend $0.007/day }";
    let routes =
        "route chat { tier chat; matrix simple; budget short }\nroute more { tier chat; matrix simple; budget other }";
    assert_eq!(
        codes(&[("model", PRICED), ("budget", budgets), ("route", routes)]),
        ["SB0706", "SB0706"],
        "two targets"
    );
}

#[test]
fn an_answers_length_has_to_be_known_where_it_counts() {
    let unlimited = "model small { modalities [text]; streaming yes; context 32k; price $1/M in, $2/M out }";
    let spend = |line: &str| {
        codes(&[("model", unlimited), ("budget", &format!("budget short {{ deadline 10s; attempts 2; {line} }}"))])
    };
    assert_eq!(spend(""), [""; 0]);
    assert_eq!(spend("spend $1/request"), ["SB0629", "SB0629"]);
    assert_eq!(spend("spend $1/day"), ["SB0629", "SB0629"]);
    let messages = "provider left { api anthropic-messages; base-url \"http://127.0.0.1:1/v1\" }";
    assert_eq!(codes(&[("model", unlimited), ("provider", &format!("{messages}\n{REAL}"))]), ["SB0629"]);
}

#[test]
fn an_exercise_is_of_a_target_that_is_not_first_anyway() {
    let tier = |text: &str| codes(&[("tier", &format!("tier chat {{ {text} }}"))]);
    assert_eq!(tier("chain { one; two }; exercise 2% of two"), [""; 0]);
    assert_eq!(tier("chain { one; two }; exercise 2% of one"), ["SB0627"]);
    assert_eq!(tier("chain { one; two }; exercise 2% of one; prefer same-model"), [""; 0]);
    assert_eq!(tier("chain { one 70%, two 30% }; exercise 2% of one"), [""; 0]);
    assert_eq!(tier("chain in [eu-*] { two; one }; chain { one; two }; exercise 2% of one"), [""; 0]);
    assert_eq!(tier("chain { one; two }; order as-written every 60s"), ["SB0627"]);
}

#[test]
fn spend_is_written_once_for_each_unit_and_inherited_unit_by_unit() {
    let spends = |spend: &str| {
        found(&[("model", PRICED), ("budget", &format!("budget short {{ deadline 10s; attempts 2; {spend} }}"))])
    };
    let said = |spend: &str| spends(spend).into_iter().map(|(code, _)| code).collect::<Vec<_>>();
    assert_eq!(said("spend $1/day; spend $2/day then stop"), ["SB0214"]);
    assert_eq!(said("spend $1/week"), ["SB0303"]);
    assert_eq!(said("spend $1/day then halt"), ["SB0303"]);
    assert_eq!(said("spend $1/day then use nobody"), ["SB0202"]);
    assert_eq!(said("spend $1/day and stop"), ["SB0303"]);
    let policy = crate::check::sample::policy(&[
        ("model", PRICED),
        (
            "budget",
            "budget short { extends base; spend $2/day then stop }\nbudget base { deadline 10s; attempts 2; spend $1/request; spend $9/day }",
        ),
    ]);
    let budget = policy.budgets.iter().find(|b| b.name == "short").unwrap();
    assert_eq!(budget.spend_per_request, Some(crate::policy::Money(1_000_000_000)));
    assert_eq!(budget.spend_per_day.unwrap().cap, crate::policy::Money(2_000_000_000));
}

/// Where a budget that hedges is told so, and what the finding points at beside it.
fn never(budget: &str, more: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    let budget = format!("budget short {{ deadline 10s; {budget} }}");
    let changes: Vec<(&str, &str)> = [("budget", budget.as_str())].into_iter().chain(more.iter().copied()).collect();
    let found = crate::check::sample::diagnostics(&crate::check::sample::text(&changes));
    let hedges = found.iter().filter(|d| d.entry().id == "SB0718");
    hedges.map(|d| (d.entry().id, d.labels[0].message.clone())).collect()
}

#[test]
fn a_hedge_that_can_never_be_is_pointed_out() {
    let hedge = "hedge after p95, at least 500ms";
    let why = |text: &str| vec![("SB0718", text.to_owned())];
    let plain = format!("attempts 2; {hedge}");
    assert_eq!(never(&plain, &[]), []);
    assert_eq!(never("attempts 2; hedge off", &[]), []);
    // The budget itself.
    assert_eq!(never(&format!("attempts 1; {hedge}"), &[]), why("a hedge is a call, and there is one in all"));
    let replays = format!("attempts 2; replays 0; {hedge}");
    assert_eq!(never(&replays, &[]), why("a hedge repeats what may have been processed"));
    let least = |ms| format!("attempts 2; min-attempt 1s; hedge after p95, at least {ms}ms");
    assert_eq!(never(&least(9_000), &[]), []);
    assert_eq!(never(&least(9_001), &[]), why("after 9s no call begins: 1s of it is the least"));
    // A route that uses it.
    let route = |more: &str| format!("route chat {{ tier chat; matrix simple; budget short; {more} }}");
    let effects = route("side-effects unknown");
    assert_eq!(never(&plain, &[("route", &effects)]), why("what may have set something off is not sent twice"));
    let elsewhere = "no request goes to another target of the model";
    assert_eq!(never(&plain, &[("route", &route("failover no"))]), why(elsewhere));
    assert_eq!(never(&plain, &[("route", &route("failover 1%"))]), []);
    // Another route with the same budget is told for itself.
    let both = format!("{}\n{}", route(""), route("failover no").replace("route chat", "route other"));
    assert_eq!(never(&plain, &[("route", &both)]), why(elsewhere));
}

#[test]
fn a_hedge_needs_another_deployment_of_the_model_in_some_chain() {
    let plain = "attempts 2; hedge after p95, at least 500ms";
    let alone = vec![("SB0718", "no target has another of its model beside it".to_owned())];
    let targets =
        |one: &str, two: &str| format!("target one {{ model small; {one} }}\ntarget two {{ model small; {two} }}");
    assert_eq!(never(plain, &[("target", &targets("provider left", "provider right"))]), []);
    assert_eq!(never(plain, &[("target", &targets("provider left", "provider right; enabled no"))]), alone);
    assert_eq!(never(plain, &[MODELS, MIXED]), alone, "another model is no stand-in");
    let one_provider =
        |two: &str| targets("provider left; upstream \"m\"", &format!("provider left; upstream \"m\"{two}"));
    assert_eq!(never(plain, &[("target", &one_provider(""))]), alone, "the same name at the same place");
    assert_eq!(never(plain, &[("target", &one_provider("; region eu"))]), []);
    assert_eq!(never(plain, &[("tier", "tier chat { chain { one } }")]), alone);
    // One chain of the tier is enough.
    let cases = "tier chat { chain when request.stream == yes { one; two }\nchain { one } }";
    assert_eq!(never(plain, &[("tier", cases)]), []);
}

#[test]
fn conditions_that_are_settled_are_told_where_they_stand() {
    let rank = |guard: &str| codes(&[("tier", &format!("tier chat {{ chain {{ one; two when {guard} }} }}"))]);
    for depends in [
        "request.tokens > 4k and request.tokens < 8k",
        "request.tokens > 4k and request.tokens < 4002",
        "request.model in [a, b] and not request.model == \"a\"",
        "request.region in [eu-*, *-west] and not request.region in [eu-*]",
        "request.region in [eu-*] and request.region in [*-west, us-*] and not request.region in [eu-w*]",
        "request.session != \"a\"",
        "request.modalities in [text, image]",
        "request.header(\"x\") == \"1\" or request.header(\"y\") == \"1\"",
        "not request.max-output > 1k",
        "request.max-output > 1k or request.max-output <= 1k",
    ] {
        assert_eq!(rank(depends), [""; 0], "{depends}");
    }
    for settled in [
        "request.tokens > 8k and request.tokens < 4k",
        "request.tokens > 4000 and request.tokens < 4001",
        "request.stream == yes and request.stream == no",
        "request.tokens >= 0",
        "request.tokens > 8k or request.tokens <= 8k",
        "request.model == \"a\" and request.model in [b, c]",
        "not (request.tools == yes or request.tools == no)",
        "request.region in [eu-*] and request.region == \"us-1\"",
        "request.region in [eu-*] and request.region in [us-*, *-north] and not request.region in [*-north]",
        "request.modalities in [text] and not request.modalities in [text, image]",
    ] {
        assert_eq!(rank(settled), ["SB0316"], "{settled}");
    }
    let row = |guard: &str| {
        let matrix =
            format!("matrix simple {{ connect when {guard} -> stop; connect -> failover; otherwise -> stop }}");
        codes(&[("matrix", &matrix)])
    };
    assert_eq!(row("attempt.number >= 2"), [""; 0], "the budget has two");
    assert_eq!(row("attempt.number >= 3"), ["SB0316"]);
    assert_eq!(row("attempt.number >= 1"), ["SB0316"]);
    assert_eq!(row("failure.status == 503"), [""; 0], "nothing came back, or something else did");
    assert_eq!(row("failure.retry-after < 0s"), ["SB0316"]);
}

#[test]
fn a_rank_is_held_against_the_routes_that_lead_to_it() {
    let tier = "tier chat { chain { one; two when request.stream == yes } }";
    let route = |name: &str, guard: &str| {
        format!("route {name} {{ match when {guard}; tier chat; matrix simple; budget short }}")
    };
    let routes = |guards: &[&str]| {
        let all: Vec<_> = guards.iter().enumerate().map(|(at, guard)| route(&format!("r{at}"), guard)).collect();
        codes(&[("tier", tier), ("route", &all.join("\n"))])
    };
    assert_eq!(routes(&["request.tokens > 8k"]), [""; 0]);
    assert_eq!(routes(&["request.stream == no"]), ["SB0617"]);
    assert_eq!(
        routes(&["request.stream == no and request.tokens > 8k", "request.stream == no and request.tools == yes"]),
        ["SB0617"]
    );
    assert_eq!(routes(&["request.stream == no", "request.tokens > 8k"]), [""; 0], "one of them leads there");
}
