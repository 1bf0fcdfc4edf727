use super::*;
use crate::check::sample::{codes, policy};
use crate::policy::{Millis, Money};

/// A guard of a chain.
fn chain(guard: &str) -> Guard {
    let tier = format!("tier chat {{ chain {{ one when {guard}; two }} }}");
    policy(&[("tier", &tier)]).tiers[0].chains[0].ranks[0].guard.clone().unwrap()
}

/// A guard of a row.
fn row(guard: &str) -> Guard {
    let matrix = format!("matrix simple {{ connect when {guard} -> stop; otherwise -> stop }}");
    policy(&[("matrix", &matrix)]).matrices[0].rows[0].guard.clone().unwrap()
}

fn chain_codes(guard: &str) -> Vec<&'static str> {
    codes(&[("tier", &format!("tier chat {{ chain {{ one when {guard}; two }} }}"))])
}

fn tokens(comparison: Comparison, count: u64) -> Guard {
    Guard::Compare(Fact::Tokens, comparison, Literal::Count(count))
}

fn stream(on: bool) -> Guard {
    Guard::Compare(Fact::Stream, Comparison::Equal, Literal::Flag(on))
}

#[test]
fn parentheses_nest_as_deep_as_brackets_do() {
    for depth in [1, 32, 33, 62] {
        let text = format!("{}request.tokens > 8k{}", "(".repeat(depth), ")".repeat(depth));
        assert_eq!(chain(&text), tokens(Comparison::Greater, 8_000), "{depth}");
    }
    let deeper = format!("{}request.tokens > 8k{}", "(".repeat(63), ")".repeat(63));
    let text = format!("switchback 1\ntier t {{ chain {{ one when {deeper} }} }}\n");
    let sources = crate::source::Sources::from_texts([("a.sbk", text)]);
    let found = crate::check::check_sources(&sources).1;
    assert!(found.iter().all(|d| d.code != Code::BrokenGuard), "{found:?}");
    assert!(found.iter().any(|d| d.code == Code::TooDeep), "{found:?}");
}

#[test]
fn not_binds_tighter_than_and_and_and_tighter_than_or() {
    let read = chain("request.stream == yes or not request.tokens > 8k and request.stream == no");
    let negated = Guard::Not(Box::new(tokens(Comparison::Greater, 8_000)));
    assert_eq!(read, Guard::Any(vec![stream(true), Guard::All(vec![negated, stream(false)])]));
    let grouped = chain("(request.stream == yes or request.tokens > 8k) and request.stream == no");
    let either = Guard::Any(vec![stream(true), tokens(Comparison::Greater, 8_000)]);
    assert_eq!(grouped, Guard::All(vec![either, stream(false)]));
    assert_eq!(chain("not not request.stream == yes"), stream(true));
    let nested = chain("not (request.stream == yes and request.stream == no)");
    assert_eq!(nested, Guard::Not(Box::new(Guard::All(vec![stream(true), stream(false)]))));
}

#[test]
fn every_fact_takes_its_own_kind_of_value() {
    let compare = |fact, literal| Guard::Compare(fact, Comparison::Equal, literal);
    let text = |t: &str| Literal::Text(t.into());
    for (guard, expected) in [
        ("request.model == \"gpt-4o\"", compare(Fact::Model, text("gpt-4o"))),
        ("request.tools == yes", compare(Fact::Tools, Literal::Flag(true))),
        ("request.max-output == 4k", compare(Fact::MaxOutput, Literal::Count(4_000))),
        ("request.header(\"X-Team\") == \"a\"", compare(Fact::Header("x-team".into()), text("a"))),
        ("request.metadata(\"Class\") == \"b\"", compare(Fact::Metadata("Class".into()), text("b"))),
    ] {
        assert_eq!(chain(guard), expected, "{guard}");
    }
    for (guard, expected) in [
        ("failure.retry-after == 5s", compare(Fact::RetryAfter, Literal::Time(Millis(5_000)))),
        ("failure.status == 429", compare(Fact::Status, Literal::Count(429))),
        ("failure.code == \"x\"", compare(Fact::Code, text("x"))),
        ("failure.stage == not-sent", compare(Fact::Stage, Literal::Stage(Stage::NotSent))),
        ("attempt.number == 2", compare(Fact::AttemptNumber, Literal::Count(2))),
        ("attempt.on-target == 1", compare(Fact::AttemptOnTarget, Literal::Count(1))),
        ("time.left == 2s", compare(Fact::TimeLeft, Literal::Time(Millis(2_000)))),
        ("spent == $0.05", compare(Fact::Spent, Literal::Money(Money(50_000_000)))),
    ] {
        assert_eq!(row(guard), expected, "{guard}");
    }
}

#[test]
fn lists_hold_what_their_fact_takes() {
    let regions = vec![Pattern("us-*".into()), Pattern("eu-west".into())];
    assert_eq!(chain("request.region in [us-*, eu-west]"), Guard::In(Fact::Region, Literal::Texts(regions)));
    let kinds = Modalities::default().with(Modality::Text).with(Modality::Image);
    assert_eq!(chain("request.modalities in [text, image]"), Guard::In(Fact::Modalities, Literal::Modalities(kinds)));
    assert_eq!(chain("request.tokens in [1k, 2k]"), Guard::In(Fact::Tokens, Literal::Counts(vec![1_000, 2_000])));
    assert_eq!(row("failure.status in [500, 502]"), Guard::In(Fact::Status, Literal::Counts(vec![500, 502])));
    let stages = Literal::Stages(vec![Stage::NotSent, Stage::Rejected]);
    assert_eq!(row("failure.stage in [not-sent, rejected]"), Guard::In(Fact::Stage, stages));
    // A star in the name of a session is a star.
    let either = ["a*", "b"].map(|t| Guard::Compare(Fact::Session, Comparison::Equal, Literal::Text(t.into())));
    assert_eq!(chain("request.session in [\"a*\", b]"), Guard::Any(either.to_vec()));
}

#[test]
fn what_does_not_fit_is_named() {
    for (guard, code) in [
        ("request.client == web", "SB0210"),
        ("request.stream", "SB0310"),
        ("request.stream yes", "SB0310"),
        ("request.stream == yes request.tools == no", "SB0310"),
        ("(request.stream == yes request.tools == no)", "SB0310"),
        ("()", "SB0310"),
        ("request.header == \"x\"", "SB0310"),
        ("request.header(\"a\", \"b\") == \"x\"", "SB0310"),
        ("\"x\" == request.model", "SB0310"),
        ("request.token > 8k", "SB0311"),
        ("request.region < eu-west", "SB0312"),
        ("request.region == eu-*", "SB0312"),
        ("request.stream in [yes]", "SB0312"),
        ("request.modalities == text", "SB0312"),
        ("time.left > 2s", "SB0313"),
        ("failure.status == 429", "SB0313"),
        ("request.tokens > 8s", "SB0302"),
        ("request.tokens > many", "SB0303"),
        ("request.stream == true", "SB0306"),
        ("request.modalities in [smell]", "SB0305"),
    ] {
        assert_eq!(chain_codes(guard), [code], "{guard}");
    }
}

#[test]
fn one_guard_shows_all_its_mistakes() {
    assert_eq!(chain_codes("request.tokens > 8s and request.stream == on or request.tols == yes").len(), 3);
}

#[test]
fn deep_nesting_is_refused_and_not_walked() {
    let item = |kind| Item { kind, span: Span::default() };
    let mut deep = item(ItemKind::Word("request.stream".into()));
    for _ in 0..=DEEPEST {
        deep = item(ItemKind::Group(vec![deep]));
    }
    let mut found = Vec::new();
    assert_eq!(lower(&[deep], Span::default(), Reads::Request, &mut found), None);
    assert_eq!(found.iter().map(|d| d.entry().id).collect::<Vec<_>>(), ["SB0310"]);
}

/// What is settled is settled by the very reading that a decision makes.
#[test]
fn cells_are_judged_as_decisions_are() {
    use super::cells::{Value, holds};
    use crate::decide::facts::Facts;
    use crate::decide::guard::View;
    use crate::policy::{Modalities, Modality};
    let guards = [
        "request.tokens > 8k and not request.stream == yes",
        "request.tokens in [8000, 9000] or request.max-output <= 1k",
        "request.region in [eu-*, \"us-1\"]",
        "request.region != \"us-1\"",
        "not request.region != \"us-1\"",
        "request.session == \"s\" or request.header(\"x\") != \"1\"",
        "request.modalities in [text, image]",
        "request.model in [a, b] and request.tools == no",
    ];
    let texts = [None, Some("us-1"), Some("eu-2"), Some("s"), Some("1")];
    let modalities = [
        Modalities::default().with(Modality::Text),
        Modalities::default().with(Modality::Text).with(Modality::Image),
        Modalities::default().with(Modality::Audio),
    ];
    let mut held = [0, 0];
    for guard in guards.map(chain) {
        for (at, text) in texts.iter().cycle().take(60).enumerate() {
            let tokens = [7_999, 8_000, 8_001, 9_000][at % 4];
            let (stream, tools) = (at % 2 == 0, at % 3 == 0);
            let max_output = [None, Some(1_000), Some(1_001)][at % 3];
            let set = modalities[at / 2 % 3];
            let text = text.map(str::to_owned);
            let model = ["a", "b", "c"][at % 3];
            let mut facts = Facts::plain("id", model);
            (facts.tokens, facts.stream, facts.tools, facts.max_output) = (tokens, stream, tools, max_output);
            (facts.region, facts.session, facts.modalities) = (text.clone(), text.clone(), set);
            facts.headers = text.iter().map(|text| ("x".to_owned(), text.clone())).collect();
            let known = |text: &Option<String>| text.clone().map_or(Value::Absent, Value::Text);
            let world = [
                (Fact::Tokens, Value::Number(tokens)),
                (Fact::Stream, Value::Flag(stream)),
                (Fact::Tools, Value::Flag(tools)),
                (Fact::MaxOutput, max_output.map_or(Value::Absent, Value::Number)),
                (Fact::Region, known(&text)),
                (Fact::Session, known(&text)),
                (Fact::Header("x".to_owned()), known(&text)),
                (Fact::Modalities, Value::Modalities(set)),
                (Fact::Model, Value::Text(model.to_owned())),
            ];
            let world: Vec<_> = world.iter().map(|(fact, value)| (fact, value)).collect();
            let decided = crate::decide::guard::holds(Some(&guard), View { facts: &facts, failed: None });
            assert_eq!(holds(&guard, &world), decided, "{guard:?} {world:?}");
            held[usize::from(decided)] += 1;
        }
    }
    assert!(held.iter().all(|count| *count > 50), "{held:?}");
}

#[test]
fn a_pattern_equals_no_region() {
    for guard in ["request.region == \"us-*\"", "request.region == us-*", "request.region != \"us-*\""] {
        assert_eq!(chain_codes(guard), ["SB0312"], "{guard}");
    }
    assert_eq!(chain_codes("request.session == \"us-*\""), [""; 0], "a session may be called so");
}
