use super::*;
use crate::diag::Code;
use crate::policy::Percent;
use crate::policy::{Api, Effects, Exhausted, Jitter, Millis, Text};
use crate::source::Sources;
use crate::syntax::parse;

const PARTS: &str = r#"
provider p { api openai-chat; base-url "http://127.0.0.1:9/v1" }
model m { modalities [text]; streaming yes; context 32k; max-output 4k }
target a { model m; provider p }
tier t { chain { a } }
matrix x { otherwise -> stop }
budget b { deadline 10s; attempts 2 }
route r { tier t; matrix x; budget b }
"#;

fn run<const N: usize>(files: [(&str, String); N]) -> (Option<Checked<Policy>>, Listing, Vec<Diagnostic>) {
    let sources = Sources::from_texts(files);
    let trees: Vec<_> = sources
        .iter()
        .map(|source| {
            let (tree, found) = parse(source);
            assert!(found.is_empty(), "{found:?}");
            tree
        })
        .collect();
    list(&trees)
}

fn set(text: &str) -> (Option<Checked<Policy>>, Listing, Vec<Diagnostic>) {
    run([("a.sbk", format!("switchback 1\n{text}"))])
}

/// The codes of all errors, and the text each points at.
fn errors(text: &str) -> Vec<(Code, String)> {
    let whole = format!("switchback 1\n{text}");
    let (policy, _, found) = set(text);
    let errors: Vec<_> = found.iter().filter(|d| d.level() == crate::diag::Level::Error).collect();
    assert_eq!(policy.is_none(), !errors.is_empty());
    errors.iter().map(|d| (d.code, whole[d.span.start as usize..d.span.end as usize].to_owned())).collect()
}

fn policy(text: &str) -> Checked<Policy> {
    let (policy, _, found) = set(text);
    policy.unwrap_or_else(|| panic!("{found:#?}"))
}

fn one(code: Code, text: &str) -> Vec<(Code, String)> {
    vec![(code, text.to_owned())]
}

#[test]
fn a_whole_set_is_lowered_with_its_defaults() {
    let policy = policy(PARTS);
    let provider = &policy.providers[0];
    assert_eq!(provider.api, Api::OpenaiChat);
    assert_eq!(provider.account, "p");
    assert_eq!(provider.base_url, Some(Text::Literal("http://127.0.0.1:9/v1".into())));
    assert_eq!(provider.timeout_connect, Millis(2_000));
    assert_eq!(policy.targets[0].upstream, "m");
    assert!(policy.targets[0].enabled);
    let budget = &policy.budgets[0];
    assert_eq!((budget.deadline, budget.attempts, budget.per_target), (Millis(10_000), 2, 2));
    assert_eq!(budget.reserve, Millis(4_000));
    assert_eq!(budget.backoff.jitter, Jitter::Full);
    let route = &policy.routes[0];
    assert_eq!(route.serves, ["r"]);
    assert_eq!((route.failover, route.fallback, route.exhausted), (Percent::ALL, Percent::ALL, Exhausted::DEFAULT));
    assert_eq!(route.side_effects, Effects::None);
    assert_eq!(policy.defaults.session_header, "x-switchback-session");
}

#[test]
fn ids_do_not_depend_on_order_or_files() {
    let more = "target z { model m; provider p; region eu-west }\ntarget b { model m; provider p; region us-east }";
    let (first, _, _) = set(&format!("{more}\n{PARTS}"));
    let (second, _, found) =
        run([("1.sbk", format!("switchback 1\n{PARTS}")), ("2.sbk", format!("switchback 1\n{more}"))]);
    let names = |p: &Policy| p.targets.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&first.unwrap()), ["a", "b", "z"]);
    assert_eq!(names(&second.unwrap_or_else(|| panic!("{found:?}"))), ["a", "b", "z"]);
}

#[test]
fn six_unrelated_mistakes_are_shown_in_one_run() {
    let text = r#"
provider p { api openai-chatt; base-url "http://127.0.0.1:9/v1" }
model m { modalities [text]; streaming maybe; context 32k }
target a { model mm; provider p }
tier t { chain { a; a } }
matrix x { otherwise -> stop }
budget b { deadline 30; attempts 2 }
route r { tier t; matrix x; budget b; deadline 3s }
"#;
    let found = errors(text);
    let expected = [
        (Code::UnknownWord, "openai-chatt"),
        (Code::NotYesOrNo, "maybe"),
        (Code::UnknownName, "mm"),
        (Code::TargetTwice, "a"),
        (Code::MissingUnit, "30"),
        (Code::WrongBlock, "deadline"),
    ];
    assert_eq!(found, expected.map(|(code, text)| (code, text.to_owned())));
}

#[test]
fn a_broken_piece_causes_no_second_error() {
    // The provider's api is early, its target and all that stands on it are fine.
    let early = PARTS.replace("openai-chat", "azure-openai");
    assert_eq!(errors(&early), one(Code::NotYetInEffect, "azure-openai"));
    // A default that is wrong is not also missing in each route.
    let text = PARTS.replace("matrix x; ", "").to_owned() + "defaults { matrix y }\n";
    assert_eq!(errors(&text), one(Code::UnknownName, "y"));
    // A parent that is not there leaves what it may have said unknown.
    let text = PARTS.replace("deadline 10s; attempts 2", "extends c");
    assert_eq!(errors(&text), one(Code::UnknownName, "c"));
    // A setting that is refused is not also missing.
    let text = PARTS.replace("tier t; matrix", "tier t { chain { a } }; matrix");
    assert_eq!(errors(&text), one(Code::NestedBlock, "tier"));
}

#[test]
fn words_without_effect_are_refused_each_at_its_word() {
    let text = PARTS.replace("budget b }", "budget b; guarantee attempts <= 2; breaker q }")
        + "client q { region eu; nonsense }\nalert z { url env A }\n";
    let found = errors(&text);
    let early: Vec<_> =
        found.iter().filter(|(code, _)| *code == Code::NotYetInEffect).map(|(_, t)| t.as_str()).collect();
    assert_eq!(early, ["guarantee", "client", "alert"]);
    assert_eq!(found.len(), 4, "{found:?}");
    assert_eq!(found[1], (Code::WrongBlock, "breaker".to_owned()));
}

#[test]
fn a_split_is_whole_and_its_targets_are_known() {
    let text = PARTS.replace("chain { a }", "chain { a 70%, b 30% }") + "target b { model m; provider p; region eu }\n";
    assert_eq!(errors(&text), []);
    assert_eq!(errors(&text.replace("30%", "20%")), one(Code::SplitNotWhole, "a 70%, b 20%"));
    assert_eq!(errors(&text.replace(", b 30%", ", b")), one(Code::MissingValue, "b"));
    assert_eq!(errors(&text.replace("a 70%, b 30%", "a 70%")), one(Code::LeftOver, "70%"));
    let text = PARTS.replace("chain { a }", "chain { a 70%, c 30% }");
    assert_eq!(errors(&text).last(), one(Code::UnknownName, "c").last());
}

#[test]
fn editions_stand_first() {
    let (_, _, found) = run([("a.sbk", PARTS.to_owned())]);
    assert_eq!(found[0].code, Code::MissingEdition);
    assert_eq!(found[0].fix.as_ref().unwrap().text, "switchback 1\n\n");
    let (_, _, found) = run([("a.sbk", format!("switchback 2\n{PARTS}"))]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, Code::UnknownEdition);
}

#[test]
fn test_files_hold_tests_alone() {
    let (_, _, found) = run([
        ("a.sbk", format!("switchback 1\n{PARTS}")),
        ("b.test.sbk", "switchback 1\nmodel extra { context 8k }\n".to_owned()),
    ]);
    assert!(found.iter().any(|d| d.code == Code::WrongFile), "{found:?}");
}

#[test]
fn a_second_block_of_a_name_points_at_the_first_and_is_looked_into() {
    let text = format!("{PARTS}budget b {{ deadline 5; attempts 1 }}\n");
    assert_eq!(errors(&text), [(Code::DuplicateName, "b".to_owned()), (Code::MissingUnit, "5".to_owned())]);
    let (_, _, found) = set(&text);
    assert_eq!(found[0].labels.len(), 1);
}

#[test]
fn unknown_names_say_what_is_meant() {
    let (_, _, found) = set(&PARTS.replace("tier t;", "tier tt;"));
    assert_eq!(found[0].help, "did you mean `t`?");
    let (_, _, found) = set(&PARTS.replace("tier t;", "tier x;"));
    assert_eq!(found[0].help, "name a tier here; `x` is a matrix");
    assert_eq!(found[0].labels.len(), 1);
    let (_, _, found) = set(&PARTS.replace("attempts 2", "attempt 2"));
    assert_eq!(found[0].help, "did you mean `attempts`?");
}

#[test]
fn extends_takes_over_and_own_words_win() {
    let text = PARTS.to_owned() + "budget c { extends b; attempts 4; idle 5s }\nbudget d { extends c; deadline 20s }\n";
    let policy = policy(&text.replace("budget b }", "budget d }"));
    let d = policy.budgets.iter().find(|b| b.name == "d").unwrap();
    assert_eq!((d.deadline, d.attempts, d.idle, d.reserve), (Millis(20_000), 4, Millis(5_000), Millis(8_000)));
}

#[test]
fn a_circle_of_extends_is_one_error() {
    let text =
        PARTS.replace("deadline 10s", "extends c; deadline 10s") + "budget c { extends d }\nbudget d { extends b }\n";
    assert_eq!(errors(&text), one(Code::ExtendsCycle, "b"));
    let text = PARTS.replace("deadline 10s", "extends b; deadline 10s");
    assert_eq!(errors(&text), one(Code::ExtendsCycle, "b"));
}

#[test]
fn keys_are_references() {
    let text = PARTS.replace("\" }\nmodel", "\"; key \"abc\" }\nmodel");
    assert_eq!(errors(&text), one(Code::KeyLiteral, "\"abc\""));
    let text = PARTS.replace("\" }\nmodel", "\"; account \"sk-abcdefghijklmnopqrstuvwx\" }\nmodel");
    assert_eq!(errors(&text), one(Code::KeyLiteral, "\"sk-abcdefghijklmnopqrstuvwx\""));
    let text = PARTS.replace("\" }\nmodel", "\"; key env OPENAI_API_KEY_FOR_THE_WHOLE_TEAM_1 }\nmodel");
    assert_eq!(errors(&text), []);
    let text = PARTS.replace("\" }\nmodel", "\"; header x-api-key env K; pass-headers [Cookie] }\nmodel");
    assert_eq!(errors(&text)[0].0, Code::CredentialHeader);
}

#[test]
fn routes_that_overlap_need_an_order() {
    let two = |one: &str, other: &str| {
        PARTS.replace("budget b }", &format!("budget b; {one} }}"))
            + &format!("route s {{ serves [r]; tier t; matrix x; budget b; {other} }}\n")
    };
    assert_eq!(errors(&two("", "")), one(Code::OverlappingRoutes, "s"));
    assert_eq!(errors(&two("", "match when request.stream == yes")), []);
    assert_eq!(
        errors(&two("match when request.tools == yes", "match when request.stream == yes")),
        one(Code::OverlappingRoutes, "s")
    );
    assert_eq!(errors(&two("match when request.tools == yes", "match when request.stream == yes; before r")), []);
    assert_eq!(errors(&two("match when request.region in [eu-*]", "match when request.region in [us-*, ap-east]")), []);
    assert_eq!(errors(&two("match when request.tokens > 4k", "match when request.tokens <= 4k")), []);
    assert_eq!(errors(&two("", "match when request.stream == yes; before r")), one(Code::IdleBefore, "before r"));
}

#[test]
fn chains_for_regions_come_before_the_general_one() {
    let text = PARTS.replace("chain { a }", "chain { a }; chain in [eu-*] { b; a when request.tokens > 1k }")
        + "target b { model m; provider p; region eu-west }\n";
    let policy = policy(&text);
    let tier = &policy.tiers[0];
    assert_eq!(tier.chains.len(), 2);
    assert_eq!(tier.chain_for(Some("eu-west")), Some(0));
    assert_eq!(tier.chain_for(None), Some(1));
    assert!(tier.chains[0].ranks[1].guard.is_some());
}

#[test]
fn contracts_state_limits_in_one_direction() {
    let with = |text: &str| {
        PARTS.replace("tier t; matrix", "contract c; tier t; matrix") + &format!("contract c {{ {text} }}\n")
    };
    assert_eq!(errors(&with("context <= 8k")), one(Code::ContractDirection, "<="));
    let policy = policy(&with("context >= 8k; tools no; structured-output none; modalities [text]"));
    assert_eq!(policy.contracts[0].context, Some(8_000));
}

#[test]
fn times_that_cannot_be_kept_are_named() {
    let with = |text: &str| PARTS.replace("attempts 2", &format!("attempts 2; {text}"));
    assert_eq!(errors(&with("reserve 10s"))[0].0, Code::ReserveAboveDeadline);
    assert_eq!(errors(&with("backoff 4s to 1s, jitter full")), one(Code::BackoffUpsideDown, "4s to 1s"));
    assert_eq!(errors(&with("attempt-timeout 4x baseline, max 10s")), one(Code::NotYetInEffect, "4x baseline"));
    let (policy, _, found) = set(&with("attempt-timeout 30s"));
    assert!(policy.is_some());
    assert_eq!(found.iter().filter(|d| d.code == Code::LimitAboveDeadline).count(), 1);
}

#[test]
fn the_listing_says_where_each_value_comes_from() {
    let text = PARTS.replace("matrix x; budget b }", "budget d }")
        + "budget d { extends b; idle 5s }\ndefaults { matrix x }\n";
    let (_, listing, _) = set(&text);
    let find = |kind: &str, name: &str, word: &str| {
        let block = listing.blocks.iter().find(|b| b.kind == kind && b.name.as_deref() == Some(name)).unwrap();
        block.settings.iter().find(|s| s.word == word).map(|s| (s.value.clone(), s.origin.clone())).unwrap()
    };
    let (value, origin) = find("budget", "d", "deadline");
    assert_eq!(value, "10s");
    assert!(matches!(origin, ListedOrigin::Inherited { ref from, line: 8, .. } if from == "b"), "{origin:?}");
    assert!(matches!(find("budget", "d", "idle").1, ListedOrigin::Written { .. }));
    assert_eq!(find("budget", "d", "reserve").0, "4s");
    assert!(matches!(find("route", "r", "matrix").1, ListedOrigin::Defaults { .. }));
    assert_eq!(find("route", "r", "matrix").0, "x");
    assert_eq!(find("target", "a", "upstream").0, "\"m\"");
    assert!(matches!(find("provider", "p", "timeout-connect").1, ListedOrigin::Default));
    let text = listing.text(true);
    assert!(text.contains("inherited from b"), "{text}");
    assert!(!listing.written().text(true).contains("inherited"), "{text}");
}

#[test]
fn no_piece_of_a_policy_is_too_broken_to_be_checked() {
    let text = format!(
        "switchback 1\n{PARTS}defaults {{ matrix x; session-header \"x-s\" }}\n\
         contract c {{ extends d; price <= $2/M out; regions [eu-*] }}\n\
         budget e {{ extends b; backoff 1s to 2s, jitter none }}\n\
         test \"t\" {{ send r {{ tokens 2k }}; a answers ok after 1s; expect served by a }}\n"
    );
    let check_text = |text: String| {
        let sources = Sources::from_texts([("a.sbk", text)]);
        let trees: Vec<_> = sources.iter().map(|source| parse(source).0).collect();
        check(&trees)
    };
    for end in 0..text.len() {
        check_text(text[..end].to_owned());
        check_text(text[end..].to_owned());
    }
    // Without any one of its words.
    let words: Vec<&str> = text.split(' ').collect();
    for gone in 0..words.len() {
        let rest: Vec<&str> = words.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, w)| *w).collect();
        check_text(rest.join(" "));
    }
}

#[test]
fn one_slip_of_a_bracket_or_quote_is_not_many_mistakes() {
    let count = |text: String| {
        let (policy, found) = check_sources(&Sources::from_texts([("a.sbk", format!("switchback 1\n{text}"))]));
        assert!(policy.is_none());
        found.iter().map(|d| d.code).collect::<Vec<_>>()
    };
    // A block that is never opened, with its settings on the line and on those below.
    let text = PARTS.replace("budget b { deadline 10s; attempts 2 }", "budget b deadline 10s; attempts 2 }");
    assert_eq!(count(text), [Code::MissingBlock, Code::StrayCloser]);
    let text = PARTS.replace("budget b { deadline 10s; attempts 2 }", "budget b\n  deadline 10s\n  attempts 2\n");
    assert_eq!(count(text), [Code::MissingBlock]);
    let text = PARTS.replace("budget b { deadline 10s; attempts 2 }", "budget b\n{ deadline 10s; attempts 2 }");
    assert_eq!(count(text), [Code::HeadlessBlock]);
    // What the parser has named is not named again.
    let text = PARTS.replace("base-url \"http", "base-url http");
    assert_eq!(count(text), [Code::StrayText, Code::UnclosedString]);
}

#[test]
fn a_set_with_broken_shape_has_no_policy() {
    let (policy, found) = check_sources(&Sources::from_texts([("a.sbk", format!("switchback 1\n{PARTS}}}\n"))]));
    assert!(policy.is_none());
    assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::StrayCloser]);
}

#[test]
fn a_name_that_is_missing_is_told_once_and_where_the_slip_is_likely() {
    let more = "route s { tier t; matrix x; budget b; serves [s] }\n";
    // Referred to twice, declared under another name: the declaration is shown, with both references.
    let text = format!("{PARTS}{more}").replace("tier t {", "tier exhausted {");
    assert_eq!(errors(&text), one(Code::UnknownName, "exhausted"));
    let (_, _, found) = set(&text);
    assert_eq!(found.iter().find(|d| d.code == Code::UnknownName).unwrap().labels.len(), 2);
    // A reference to nothing beside blocks that are all in use.
    let text = format!("{PARTS}{more}").replace("matrix x; budget", "matrix nobody; budget");
    let codes: Vec<_> = errors(&text).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, [Code::UnknownName]);
}

#[test]
fn a_head_that_cannot_be_read_declares_what_refers_to_it() {
    for (right, wrong) in [
        ("target a {", "tarrget a {"),
        ("target a {", "target {"),
        ("target a {", "target target a {"),
        ("target a {", "target A {"),
        ("tier t {", "t {"),
        ("target a {", "provider a {"),
    ] {
        let found = errors(&PARTS.replace(right, wrong));
        assert!(found.len() == 1, "{wrong}: {found:?}");
        assert_ne!(found[0].0, Code::UnknownName, "{wrong}");
    }
    // What is certain is told all the same.
    let found = errors(&PARTS.replace("target a {", "tarrget a {").replace("budget b }", "budget bb }"));
    assert_eq!(found.iter().map(|(code, _)| *code).collect::<Vec<_>>(), [Code::UnknownBlock, Code::UnknownName]);
}
