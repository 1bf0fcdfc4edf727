use super::*;
use crate::check::sample::{found, policy};
use crate::policy::class::Verb;
use crate::policy::test::{PathItem, Told};
use crate::policy::{
    Answer, Class, Comparison, Effects, Expectation, Millis, Modality, Money, Percent, Refusal, SendFacts,
    StructuredOutput, Subject,
};

fn block(lines: &str) -> String {
    format!("test \"a story\" {{\n{lines}\n}}")
}

fn test(lines: &str) -> Test {
    policy(&[("test", &block(lines))]).tests.remove(0)
}

fn wrong(lines: &str) -> Vec<(&'static str, String)> {
    found(&[("test", &block(lines))])
}

fn facts(text: &str) -> SendFacts {
    match test(&format!("send chat {{ {text} }}\nexpect attempts == 1")).lines.remove(0).step {
        TestStep::Send { facts, .. } => *facts,
        other => panic!("{other:?}"),
    }
}

fn expect(text: &str) -> Expectation {
    match test(&format!("send chat\nexpect {text}")).lines.remove(1).step {
        TestStep::Expect(expectation) => expectation,
        other => panic!("{other:?}"),
    }
}

/// The table of settings, and so `explain`, hover and the reference, has every expectation there is.
#[test]
fn the_form_of_an_expectation_has_all_of_them() {
    let form = crate::syntax::settings::setting(crate::syntax::settings::Block::Test, "expect").unwrap().value.text();
    let listed: Vec<_> = form.split(" | ").filter_map(|part| part.split(' ').next()).collect();
    assert_eq!(listed, crate::check::lower::expect::WORDS);
}

#[test]
fn a_story_is_read_in_order() {
    let test = test(
        "one answers overloaded after 50ms once\none answers ok 2 times\nat 3s two answers 429 retry-after 30s\n\
         two is held for 5s\ngiven dice 3% for ramp\nat 1s send chat\nexpect served by one",
    );
    assert_eq!(test.name, "a story");
    assert_eq!(test.lines.len(), 7);
    let TestStep::Answers { after, times, .. } = &test.lines[0].step else { panic!() };
    assert_eq!((*after, *times), (Millis(50), Some(1)));
    let TestStep::Answers { times, answer, .. } = &test.lines[1].step else { panic!() };
    assert_eq!((*times, answer), (Some(2), &Answer::Ok { text: None }));
    assert_eq!(test.lines[2].at, Some(Millis(3_000)));
    let TestStep::Answers { times, .. } = &test.lines[2].step else { panic!() };
    assert_eq!(*times, None);
    assert!(matches!(test.lines[3].step, TestStep::Is { state: TargetState::Held(Millis(5_000)), .. }));
    assert!(matches!(test.lines[4].step, TestStep::Dice { share: Percent(300), purpose: Some(DicePurpose::Ramp) }));
    assert_eq!(test.lines[5].at, Some(Millis(1_000)));
}

#[test]
fn facts_have_defaults() {
    let plain = facts("");
    assert_eq!((plain.stream, plain.tokens, plain.max_output, plain.tools), (false, 1_000, 500, false));
    assert!(plain.modalities.contains(Modality::Text) && !plain.modalities.contains(Modality::Image));
    let full = facts(
        "stream yes; tokens 2k; max-output 1k; tools yes; schema yes; modalities [text, image]\n\
         region eu-west; session \"s-1\"; header \"X-A\" \"1\"; header \"x-b\" \"2\"; metadata \"Class\" \"batch\"\n\
         side-effects unknown",
    );
    assert!(full.stream && full.tools && full.modalities.contains(Modality::Image));
    assert_eq!((full.tokens, full.max_output, full.schema), (2_000, 1_000, StructuredOutput::JsonSchema));
    assert_eq!(full.region.as_deref(), Some("eu-west"));
    assert_eq!(full.session.as_deref(), Some("s-1"));
    assert_eq!(full.headers, [("x-a".into(), "1".into()), ("x-b".into(), "2".into())]);
    assert_eq!(full.metadata, [("Class".into(), "batch".into())]);
    assert_eq!(full.side_effects, Some(Effects::Unknown));
}

#[test]
fn every_expectation_is_read() {
    assert!(matches!(expect("served by two"), Expectation::ServedBy(id) if id.index() == 1));
    assert!(matches!(
        expect("refused no-target as 503"),
        Expectation::Refused { why: Told::Refusal(Refusal::NoTarget), status: Some(503) }
    ));
    assert!(matches!(
        expect("refused invalid-request"),
        Expectation::Refused { why: Told::Class(Class::InvalidRequest), status: None }
    ));
    assert!(matches!(expect("attempts == 0"), Expectation::Attempts(Comparison::Equal, 0)));
    assert!(matches!(expect("elapsed < 1s"), Expectation::Elapsed(Comparison::Less, Millis(1_000))));
    assert!(matches!(expect("cost <= $0.01"), Expectation::Cost(Comparison::AtMost, Money(10_000_000))));
    assert!(matches!(expect("never one"), Expectation::Never(Subject::Target(_))));
    assert!(matches!(expect("never left"), Expectation::Never(Subject::Provider(_))));
    assert!(matches!(expect("skipped one as degraded"), Expectation::Skipped { reason, .. } if reason == "degraded"));
    assert!(matches!(expect("skipped one as contract"), Expectation::Skipped { reason, .. } if reason == "contract"));
    assert!(matches!(expect("output \"hi\""), Expectation::Output(text) if text == "hi"));
    assert!(matches!(expect("ended with error"), Expectation::EndedWithError));
    let Expectation::Path(path) = expect("path [overloaded, retry, ok]") else { panic!() };
    assert_eq!(path, [PathItem::Class(Class::Overloaded), PathItem::Action(Verb::Retry), PathItem::Ok]);
}

#[test]
fn every_state_is_read() {
    let state = |text: &str| match test(&format!("one is {text}\nsend chat\nexpect attempts == 0")).lines[0].step {
        TestStep::Is { state, .. } => state,
        _ => panic!(),
    };
    for (text, expected) in [
        ("down", TargetState::Down),
        ("degraded", TargetState::Degraded),
        ("open", TargetState::Open),
        ("half-open", TargetState::HalfOpen),
        ("held for 2s", TargetState::Held(Millis(2_000))),
        ("disabled", TargetState::Disabled),
        ("ramping at 10%", TargetState::Ramping(Percent(1_000))),
    ] {
        assert_eq!(state(text), expected);
    }
}

#[test]
fn what_is_wrong_is_named() {
    let good = "send chat\nexpect attempts == 0";
    for (line, code, place) in [
        ("one serves ok", "SB0902", "one serves"),
        ("nobody answers ok", "SB0202", "nobody"),
        ("one answers fine", "SB0305", "fine"),
        ("one is asleep", "SB0305", "asleep"),
        ("one is down now", "SB0308", "now"),
        ("given dice 3", "SB0301", "3"),
        ("given dice 3% for luck", "SB0305", "luck"),
        ("given luck", "SB0303", "luck"),
        ("send nowhere", "SB0202", "nowhere"),
        ("send chat { stram yes }", "SB0212", "stram"),
        ("send chat { stream yes; stream no }", "SB0214", "stream"),
        ("send chat { stream true }", "SB0306", "true"),
        ("from 1s to 2s one answers ok", "SB0902", "from 1s"),
        ("at 5s given dice 3%", "SB0902", "at 5s given dice 3%"),
    ] {
        assert_eq!(wrong(&format!("{line}\n{good}")), [(code, place.to_owned())], "{line}");
    }
    for (line, code, place) in [
        ("expect answered by one", "SB0904", "answered"),
        ("expect served one", "SB0303", "one"),
        ("expect attempts 2", "SB0307", "2"),
        ("expect elapsed < 1", "SB0301", "1"),
        ("expect refused nonsense", "SB0305", "nonsense"),
        ("expect path [overloaded, repair, ok]", "SB0210", "repair"),
        ("expect path [overladed]", "SB0305", "overladed"),
        ("expect skipped one as tired", "SB0305", "tired"),
    ] {
        assert_eq!(wrong(&format!("send chat\n{line}")), [(code, place.to_owned())], "{line}");
    }
}

#[test]
fn a_test_sends_and_expects() {
    assert_eq!(wrong("send chat"), [("SB0901", "\"a story\"".to_owned())]);
    assert_eq!(wrong("expect attempts == 0\nsend chat"), [("SB0903", "expect attempts == 0".to_owned())]);
    assert_eq!(wrong("expect attempts == 0"), [("SB0903", "expect attempts == 0".to_owned())]);
    assert_eq!(wrong("send chat\nexpect attempts == 0\nsend chat\nexpect attempts == 1"), []);
}
