//! The emulator without sockets: scripts over calls and over changes of policy.

use super::*;
use crate::policy::{Model, ModelId, Provider, ProviderId, ScriptLine, Target, Window};
use crate::source::Span;

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test)
}

fn line(answer: Answer, window: Window, times: Option<u32>) -> ScriptLine {
    ScriptLine { window, share: None, answer, after: Millis::ZERO, times, span: Span::default() }
}

fn status(status: u16) -> Answer {
    Answer::Status { status, retry_after: None, code: None }
}

fn script(lines: impl IntoIterator<Item = ScriptLine>) -> Script {
    Script { lines: lines.into_iter().collect(), repeats: None }
}

/// Once 503, then 500.
fn stepped() -> Script {
    let ever = Window::Since(Millis::ZERO);
    script([line(status(500), ever, None), line(status(503), ever, Some(1))])
}

fn one(script: Script) -> Emulator {
    Emulator::new([Scripted { target: "north-1".into(), upstream: "small".into(), script }])
}

const ASK: &[u8] = br#"{"model":"small","messages":[]}"#;
const ASK_STREAM: &[u8] = br#"{"model":"small","stream":true,"messages":[]}"#;

async fn call(emulator: &Emulator) -> u16 {
    emulator.call("north-1", vec![], ASK).await.unwrap().status
}

fn policy(apis: &[Api], script: Script) -> Policy {
    let providers = apis.iter().enumerate().map(|(i, api)| Provider {
        name: format!("p{i}"),
        span: Span::default(),
        docs: None,
        api: *api,
        base_url: None,
        keys: Vec::new(),
        headers: vec![],
        pass_headers: vec![],
        account: format!("p{i}"),
        timeout_connect: Provider::TIMEOUT_CONNECT,
        breaker: crate::policy::BreakerRules::default(),
        retry: crate::policy::RetryRatio::default(),
    });
    let targets = apis.iter().enumerate().map(|(i, _)| Target {
        name: format!("north-{}", i + 1),
        span: Span::default(),
        docs: None,
        model: ModelId(0),
        provider: ProviderId(u16::try_from(i).unwrap()),
        upstream: "small".into(),
        region: None,
        prices: Default::default(),
        retention: None,
        enabled: true,
        quantization: None,
        idempotency_key: None,
        script: Some(script.clone()),
        max_concurrent: None,
        corrections: Vec::new(),
        seed: None,
        probe: None,
        ramp: crate::policy::RampRules::default(),
    });
    Policy {
        providers: providers.collect(),
        targets: targets.collect(),
        models: Vec::<Model>::new(),
        ..Policy::default()
    }
}

#[test]
fn the_first_call_meets_an_outage_from_the_start() {
    let outage = Window::Between(Millis::ZERO, Millis(600_000));
    let ok = line(Answer::Ok { text: None }, Window::Since(Millis::ZERO), None);
    let emulator = one(script([ok, line(status(503), outage, None)]));
    assert_eq!(run(call(&emulator)), 503);
}

#[test]
fn only_emulated_targets_of_a_policy_are_played() {
    let emulator = Emulator::of_policy(&policy(&[Api::OpenaiChat, Api::Emulated], stepped()));
    assert_eq!(emulator.names(), ["north-2"]);
}

#[test]
fn an_unchanged_script_goes_on_and_a_changed_one_begins_anew() {
    let emulator = Emulator::of_policy(&policy(&[Api::Emulated], stepped()));
    run(async {
        assert_eq!(call(&emulator).await, 503);
        emulator.follow(&policy(&[Api::Emulated, Api::Emulated], stepped()));
        assert_eq!(call(&emulator).await, 500, "the first step was used up before");
        let mut changed = stepped();
        changed.repeats = Some(Millis(3_600_000));
        emulator.follow(&policy(&[Api::Emulated], changed));
        assert_eq!(call(&emulator).await, 503);
        assert_eq!(emulator.calls().total, 3, "counts outlive a change");
    });
}

#[test]
fn a_moved_script_is_the_same_script() {
    let mut moved = stepped();
    for line in &mut moved.lines {
        line.span = Span { start: 7, end: 9, ..Span::default() };
    }
    let emulator = Emulator::of_policy(&policy(&[Api::Emulated], stepped()));
    run(async {
        assert_eq!(call(&emulator).await, 503);
        emulator.follow(&policy(&[Api::Emulated], moved));
        assert_eq!(call(&emulator).await, 500, "a comment above a script must not begin it anew");
    });
}

#[test]
fn a_reset_comes_before_headers_and_a_cut_after_output() {
    let ever = Window::Since(Millis::ZERO);
    let reset = one(script([line(Answer::Resets, ever, None)]));
    assert_eq!(run(reset.call("north-1", vec![], ASK)).unwrap_err(), EmulatedFault::Reset);
    let cuts = Answer::Streams { tokens: 2, then: crate::policy::StreamEnd::Cuts };
    let cut = one(script([line(cuts, ever, None)]));
    run(async {
        let mut body = cut.call("north-1", vec![], ASK_STREAM).await.unwrap().body;
        let (mut text, mut end) = (String::new(), None);
        while let Some(piece) = body.next().await {
            match piece {
                Ok(bytes) => text.push_str(std::str::from_utf8(&bytes).unwrap()),
                Err(fault) => end = Some(fault),
            }
        }
        assert!(text.contains("token-2") && !text.contains("[DONE]"), "{text}");
        assert_eq!(end, Some(EmulatedFault::Cut));
    });
}

#[test]
fn a_hang_is_counted_before_it_hangs() {
    let emulator = one(script([line(Answer::Hangs, Window::Since(Millis::ZERO), None)]));
    run(async {
        let hang = emulator.call("north-1", vec![], ASK);
        assert!(tokio::time::timeout(std::time::Duration::from_millis(5), hang).await.is_err());
    });
    assert_eq!(emulator.calls().calls["north-1"], 1);
}

#[test]
fn an_unknown_target_or_a_bad_body_is_told() {
    let emulator = one(stepped());
    run(async {
        assert_eq!(emulator.call("south-1", vec![], ASK).await.unwrap().status, 404);
        assert_eq!(emulator.call("north-1", vec![], b"{").await.unwrap().status, 400);
    });
    assert_eq!(emulator.calls().total, 2);
}

#[test]
fn a_draw_of_a_share_is_even_and_differs_between_targets() {
    let below = |target: &str, share: u32| (0..100).filter(|n| draw(target, *n) < share * 10_000).count();
    for target in ["a", "north-1", "share=20%,status=503"] {
        for share in [1, 20, 50, 99] {
            assert!(below(target, share).abs_diff(share as usize) <= 1, "{target} {share}: {}", below(target, share));
        }
    }
    assert_ne!(draw("north-1", 0), draw("north-2", 0));
}
