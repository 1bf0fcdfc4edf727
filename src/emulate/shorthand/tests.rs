//! Names and the scripts they stand for, and what is said of names that stand for none.

use super::*;

fn only(name: &str) -> ScriptLine {
    let script = parse(name).unwrap();
    assert_eq!(script.lines.len(), 2, "a base line and one of {name}");
    script.lines[1].clone()
}

fn wrong(name: &str, says: &str) {
    let message = parse(name).unwrap_err();
    assert!(message.contains(says), "{name}: {message}");
}

#[test]
fn each_fault_has_its_word() {
    use Answer::*;
    let streams = |tokens, then| Streams { tokens, then };
    for (name, answer) in [
        ("ok", Ok { text: None }),
        ("ok,text=hello there", Ok { text: Some("hello there".into()) }),
        ("503", Status { status: 503, retry_after: None, code: None }),
        (
            "429,retry-after=30s,code=x",
            Status { status: 429, retry_after: Some(Millis(30_000)), code: Some("x".into()) },
        ),
        ("status=500", Status { status: 500, retry_after: None, code: None }),
        ("overloaded", Failure { class: Class::Overloaded, retry_after: None }),
        ("rate-limit,retry-after=2s", Failure { class: Class::RateLimit, retry_after: Some(Millis(2_000)) }),
        ("hangs", Hangs),
        ("resets", Resets),
        ("stalls,after-events=3", streams(3, StreamEnd::Stalls)),
        ("cuts,after-events=40", streams(40, StreamEnd::Cuts)),
        ("cuts", streams(5, StreamEnd::Cuts)),
        ("errors,after-events=0", streams(0, StreamEnd::Errors)),
        ("unterminated", streams(5, StreamEnd::Ends)),
        ("malformed", InvalidJson),
        ("empty", Empty),
        ("truncated", Truncated),
    ] {
        let line = only(name);
        assert_eq!(line.answer, answer, "{name}");
        assert_eq!((line.after, line.times, line.share), (Millis::ZERO, None, None), "{name}");
    }
}

#[test]
fn delays_are_said_in_either_way() {
    assert_eq!(only("ok,after=300ms").after, Millis(300));
    assert_eq!(only("first-token=5s").after, Millis(5_000));
    assert_eq!(only("503,after=2m").after, Millis(120_000));
}

#[test]
fn steps_answer_in_order_and_the_last_repeats() {
    let script = parse("503*2 then 429 then ok").unwrap();
    let rows: Vec<_> = script.lines.iter().rev().map(|l| (l.answer.clone(), l.times)).collect();
    let status = |status| Answer::Status { status, retry_after: None, code: None };
    let ok = Answer::Ok { text: None };
    assert_eq!(rows, [(status(503), Some(2)), (status(429), Some(1)), (ok.clone(), None), (ok, None)]);
}

#[test]
fn a_count_on_the_last_step_leads_to_ok() {
    assert_eq!(only("503*2").times, Some(2));
    let times: Vec<_> = parse("503*2 then 429*3").unwrap().lines.iter().map(|l| l.times).collect();
    assert_eq!(times, [None, Some(3), Some(2)]);
}

#[test]
fn flapping_is_a_window_that_repeats() {
    let script = parse("flaps,down=10s,up=20s").unwrap();
    assert_eq!(script.repeats, Some(Millis(30_000)));
    assert_eq!(script.lines[1].window, Window::Between(Millis(0), Millis(10_000)));
    let script = parse("resets,up=20s,down=10s").unwrap();
    assert_eq!(script.lines[1].window, Window::Between(Millis(20_000), Millis(30_000)));
    assert_eq!(script.lines[1].answer, Answer::Resets);
}

#[test]
fn flaps_takes_a_status_of_its_own() {
    for name in ["flaps,down=1s,up=1s,status=500", "status=500,flaps,down=1s,up=1s"] {
        assert_eq!(only(name).answer, Answer::Status { status: 500, retry_after: None, code: None }, "{name}");
    }
}

#[test]
fn a_share_leaves_the_rest_to_ok() {
    let line = only("share=20%,status=503");
    assert_eq!(line.share, Some(Percent(2_000)));
    assert_eq!(only("hangs,share=2.5%").share, Some(Percent(250)));
    assert_eq!(parse("503,share=20%").unwrap().lines[0].answer, Answer::Ok { text: None });
}

#[test]
fn what_is_not_understood_is_said() {
    wrong("okay", "`okay` is no answer");
    wrong("", "`` is no answer");
    wrong("200", "`200` is no answer");
    wrong("gpt-4o", "`gpt-4o` is no answer");
    wrong("ok,after=soon", "write it like `after=300ms`");
    wrong("ok,retry-after=3s", "`retry-after` means nothing in");
    wrong("ok,after=1s,after=2s", "given twice");
    wrong("503,500", "second answer");
    wrong("503*0", "has no count");
    wrong("flaps", "needs `down=`");
    wrong("503,down=1s", "go together");
    wrong("503,down=1s,up=1s then ok", "without `then`");
    wrong("503,share=120%", "`share=120%` is not understood");
    wrong("503,share=%", "is not understood");
}

#[test]
fn every_example_of_the_help_is_a_script() {
    let (_, examples) = GRAMMAR.split_once("D is a number").unwrap();
    let examples: Vec<_> = examples.lines().skip(2).flat_map(|l| l.trim().split("  ")).map(str::trim).collect();
    let examples: Vec<_> = examples.into_iter().filter(|e| !e.is_empty()).collect();
    assert_eq!(examples.len(), 9);
    for example in examples {
        parse(example).unwrap_or_else(|e| panic!("{example}: {e}"));
    }
}
