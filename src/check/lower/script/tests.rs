use super::*;
use crate::check::sample::{found, policy};
use crate::policy::{Answer, Class, StreamEnd};

const EMULATED: &str = "provider left { api emulated }\nprovider right { api emulated }";

fn target(lines: &str) -> String {
    format!(
        "target one {{ model small; provider left; script {{\n{lines}\n}} }}\ntarget two {{ model small; provider right }}"
    )
}

fn script(lines: &str) -> Script {
    policy(&[("provider", EMULATED), ("target", &target(lines))]).targets[0].script.clone().unwrap()
}

fn answer(line: &str) -> Answer {
    script(&format!("answers {line}")).lines.remove(0).answer
}

fn wrong(lines: &str) -> Vec<(&'static str, String)> {
    found(&[("provider", EMULATED), ("target", &target(lines))])
}

#[test]
fn every_outcome_is_read() {
    let status =
        |status, retry_after, code: Option<&str>| Answer::Status { status, retry_after, code: code.map(str::to_owned) };
    assert_eq!(answer("ok"), Answer::Ok { text: None });
    assert_eq!(answer("ok \"hello\""), Answer::Ok { text: Some("hello".into()) });
    assert_eq!(answer("503"), status(503, None, None));
    assert_eq!(answer("429 retry-after 30s code \"x\""), status(429, Some(Millis(30_000)), Some("x")));
    assert_eq!(answer("429 code \"x\" retry-after 30s"), status(429, Some(Millis(30_000)), Some("x")));
    assert_eq!(answer("overloaded"), Answer::Failure { class: Class::Overloaded, retry_after: None });
    assert_eq!(
        answer("rate-limit retry-after 2s"),
        Answer::Failure { class: Class::RateLimit, retry_after: Some(Millis(2_000)) }
    );
    assert_eq!(answer("hangs"), Answer::Hangs);
    assert_eq!(answer("resets"), Answer::Resets);
    assert_eq!(answer("streams 40 tokens then cuts"), Answer::Streams { tokens: 40, then: StreamEnd::Cuts });
    assert_eq!(answer("streams 1 token then ends"), Answer::Streams { tokens: 1, then: StreamEnd::Ends });
    assert_eq!(answer("truncated"), Answer::Truncated);
    assert_eq!(answer("empty"), Answer::Empty);
    assert_eq!(answer("invalid-json"), Answer::InvalidJson);
}

#[test]
fn lines_have_windows_shares_times_and_counts() {
    let script = script(
        "answers ok after 300ms\nat 10s answers 500 once\nfrom 20s to 80s answers overloaded after 50ms 2 times\n\
         every 3% of calls answers hangs\nrepeats every 5m",
    );
    assert_eq!(script.repeats, Some(Millis(300_000)));
    let line = |at: usize| &script.lines[at];
    assert_eq!((line(0).window, line(0).after, line(0).times), (Window::Since(Millis(0)), Millis(300), None));
    assert_eq!((line(1).window, line(1).after, line(1).times), (Window::Since(Millis(10_000)), Millis(0), Some(1)));
    assert_eq!(
        (line(2).window, line(2).after, line(2).times),
        (Window::Between(Millis(20_000), Millis(80_000)), Millis(50), Some(2))
    );
    assert_eq!(line(3).share, Some(Percent(300)));
}

#[test]
fn what_is_wrong_is_named() {
    for (lines, code, place) in [
        ("answer ok", "SB0305", "answer"),
        ("answers fine", "SB0305", "fine"),
        ("answers", "SB0307", "answers"),
        ("answers 200", "SB0304", "200"),
        ("answers ok after 5", "SB0301", "5"),
        ("answers ok 5s", "SB0309", "5s"),
        ("answers streams 40 tokens", "SB0307", "tokens"),
        ("answers streams 40 tokens then halts", "SB0305", "halts"),
        ("from 80s to 20s answers ok", "SB0304", "80s to 20s"),
        ("answers ok\nrepeats every 0s", "SB0304", "0s"),
        ("answers ok\nrepeats every 1m\nrepeats every 2m", "SB0214", "repeats every 2m"),
        ("answers ok\nat 2m answers 500\nrepeats every 1m", "SB0304", "at 2m answers 500"),
        ("every 3 of calls answers ok", "SB0301", "3"),
    ] {
        assert_eq!(wrong(lines), [(code, place.to_owned())], "{lines}");
    }
    assert_eq!(wrong("")[0].0, "SB0307");
}

#[test]
fn only_emulated_targets_have_scripts() {
    let lines = target("answers ok");
    assert_eq!(found(&[("target", &lines)]), [("SB0906", "script".to_owned())]);
}
