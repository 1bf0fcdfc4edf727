//! Whole runs.

use super::world::{Bench, HEAD, MATRIX};
use crate::decide::*;
use crate::policy::class::{Blame, Verb};
use crate::policy::{Class, Effects, Millis, Refusal, Stage};

fn bench() -> Bench {
    Bench::new(&format!("{HEAD}{MATRIX}"), |_, _| {})
}

#[test]
fn a_healthy_request_is_one_call() {
    let mut b = bench();
    let next = b.step(Event::Begin);
    assert_eq!(b.called(&next), "a");
    assert!(matches!(b.at(300).last(Progress::Headers), Next::GoOn));
    assert!(matches!(b.last(Progress::Served), Next::Finish));
    assert_eq!(b.run.outcome(), Some(Outcome::Served));
    assert_eq!(b.run.attempts(), 1);
    assert_eq!(b.world.settled.iter().map(|s| s.blame).collect::<Vec<_>>(), [Blame::Success]);
}

#[test]
fn retry_then_failover_then_fallback_then_exhausted() {
    let mut b = bench();
    b.step(Event::Begin);
    let Next::Wait { until } = b.fails(Class::Overloaded, Stage::Rejected) else { panic!() };
    assert_eq!(until, Millis(200), "the first backoff is the base");
    let next = b.at(200).step(Event::Woke);
    assert_eq!(b.called(&next), "a");
    let next = b.at(250).fails(Class::Overloaded, Stage::Rejected);
    assert_eq!(b.called(&next), "b");
    // On b the retry is fresh, but it is the fourth call.
    let Next::Wait { until } = b.at(300).fails(Class::Overloaded, Stage::Rejected) else { panic!() };
    assert_eq!(until, Millis(500), "moving on starts the backoff anew");
    let next = b.at(500).step(Event::Woke);
    assert_eq!(b.called(&next), "b");
    let Next::Refuse(refused) = b.at(550).fails(Class::Overloaded, Stage::Rejected) else { panic!() };
    assert_eq!((refused.status, refused.why.word(), refused.answered), (503, "overloaded", true));
    assert_eq!(b.run.attempts(), 4);
    let actions: Vec<_> = b.run.trail().iter().map(|s| s.action).collect();
    assert_eq!(
        actions,
        [
            StepAction::Call,
            StepAction::Row(Verb::Retry),
            StepAction::Row(Verb::Failover),
            StepAction::Row(Verb::Retry),
            StepAction::Row(Verb::Stop)
        ],
        "calls and the stop"
    );
    assert_eq!(b.run.trail().iter().filter(|s| s.target.is_some()).count(), 4);
}

#[test]
fn a_limit_that_fits_is_waited_for_and_one_that_does_not_is_left() {
    let mut b = bench();
    b.step(Event::Begin);
    let hint = |ms| Failure { hint: Some(Millis(ms)), ..Failure::of(Class::RateLimit, Stage::Rejected) };
    let Next::Wait { until } = b.last(Progress::Failed(hint(1_500))) else { panic!() };
    assert!(until >= Millis(1_500), "never before the hint is over: {until}");
    assert!(until <= Millis(1_650), "a tenth of spread at most: {until}");
    let mut b = bench();
    b.step(Event::Begin);
    let next = b.last(Progress::Failed(hint(2_001)));
    assert_eq!(b.called(&next), "b");
    assert_eq!(b.world.settled[0].hold_until, Some(Millis(2_001)), "others are kept away all the same");
}

#[test]
fn no_limit_is_waited_for_that_another_request_made_longer() {
    let mut b = bench();
    let a = b.id("a");
    b.step(Event::Begin);
    b.world.standings[a].hold_until = Millis(60_000);
    let next =
        b.last(Progress::Failed(Failure { hint: Some(Millis(500)), ..Failure::of(Class::RateLimit, Stage::Rejected) }));
    assert_eq!(b.called(&next), "b");
}

#[test]
fn retry_does_not_sit_out_a_hold() {
    let mut b = bench();
    b.step(Event::Begin);
    let hinted = Failure { hint: Some(Millis(900)), ..Failure::of(Class::Overloaded, Stage::Rejected) };
    let next = b.last(Progress::Failed(hinted));
    assert_eq!(b.called(&next), "b");
}

#[test]
fn after_output_nothing_is_repeated() {
    for event in [
        Progress::Failed(Failure::of(Class::Overloaded, Stage::Output)),
        Progress::TimedOut(Timer::Idle),
        Progress::TimedOut(Timer::Total),
    ] {
        let mut b = Bench::new(&format!("{HEAD}{MATRIX}"), |f, _| f.stream = true);
        b.step(Event::Begin);
        b.last(Progress::Headers);
        b.last(Progress::Output);
        let Next::Break(refused) = b.at(900).last(event) else { panic!() };
        assert_eq!(refused.why.word(), "partial-stream");
        assert_eq!(b.run.outcome(), Some(Outcome::Cut));
        assert_eq!(b.run.attempts(), 1);
        assert!(matches!(b.step(Event::Begin), Next::GoOn), "an ended run does nothing more");
    }
}

#[test]
fn what_may_have_had_side_effects_is_not_repeated() {
    let text = format!("{HEAD}{}", MATRIX.replace("budget short }", "budget short; side-effects unknown }"));
    let mut b = Bench::new(&text, |_, _| {});
    b.step(Event::Begin);
    let Next::Refuse(refused) = b.at(4_000).last(Progress::TimedOut(Timer::Headers)) else { panic!() };
    assert_eq!((refused.why.word(), b.run.attempts()), ("timeout-headers", 1));
    // What was certainly not processed may go elsewhere.
    let mut b = Bench::new(&text, |_, _| {});
    b.step(Event::Begin);
    let next = b.fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "b");
    // A request can tighten what its route says.
    let mut b = Bench::new(&format!("{HEAD}{MATRIX}"), |f, _| f.effects = Effects::Unknown);
    b.step(Event::Begin);
    assert!(matches!(b.at(4_000).last(Progress::TimedOut(Timer::Headers)), Next::Refuse(_)));
}

#[test]
fn a_target_that_de_duplicates_may_be_asked_again_and_no_other() {
    let text = format!("{HEAD}{}", MATRIX.replace("budget short }", "budget short; side-effects unknown }"))
        .replace("target a { model m; provider p }", "target a { model m; provider p; idempotency-key \"x-once\" }");
    let mut b = Bench::new(&text, |_, _| {});
    b.step(Event::Begin);
    assert!(matches!(b.fails(Class::ServerError, Stage::Sent), Next::Wait { .. }));
    let next = b.at(200).step(Event::Woke);
    assert_eq!(b.called(&next), "a");
    assert!(matches!(b.at(300).fails(Class::ServerError, Stage::Sent), Next::Refuse(_)), "b knows no such key");
}

#[test]
fn pure_requests_are_repeated_twice_after_unknown_outcomes() {
    let text = format!("{HEAD}{}", MATRIX.replace("retry once, failover, fallback", "retry 9 times"));
    let text = text.replace("attempts 4", "attempts 9; per-target 9");
    let mut b = Bench::new(&text, |_, _| {});
    b.step(Event::Begin);
    for at in [500, 1_500] {
        assert!(matches!(b.at(at).fails(Class::ServerError, Stage::Sent), Next::Wait { .. }));
        b.at(at + 600).step(Event::Woke);
    }
    assert!(matches!(b.at(2_500).fails(Class::ServerError, Stage::Sent), Next::Refuse(_)));
    assert_eq!(b.run.attempts(), 3);
}

#[test]
fn the_reserve_is_kept_for_the_next_candidate_only() {
    let text = format!("{HEAD}{MATRIX}").replace("attempt-timeout 4s; ", "");
    let mut b = Bench::new(&text, |_, _| {});
    let Next::Call(call) = b.step(Event::Begin) else { panic!() };
    assert_eq!(call.limits.output_by, Millis(7_000), "ten seconds less the reserve");
    // While two are left the reserve is nobody's but the last one's.
    let next = b.at(7_000).last(Progress::TimedOut(Timer::Headers));
    assert_eq!(b.called(&next), "c");
    let Next::Call(call) = next else { panic!() };
    assert_eq!(call.limits.output_by, Millis(10_000));
}

#[test]
fn a_caller_in_a_hurry_gets_the_same_share_of_its_time() {
    let text = format!("{HEAD}{MATRIX}").replace("attempt-timeout 4s; ", "");
    let mut b = Bench::new(&text, |f, _| f.deadline = Some(Millis(5_000)));
    let next = b.step(Event::Begin);
    assert_eq!(b.called(&next), "a");
    let Next::Call(call) = next else { panic!() };
    assert_eq!(call.limits.output_by, Millis(3_500), "five seconds less 30% of them");
}

#[test]
fn our_own_deadline_blames_nobody() {
    let mut b = Bench::new(&format!("{HEAD}{MATRIX}").replace("a; b; c", "a"), |f, _| f.deadline = Some(Millis(800)));
    let Next::Call(call) = b.step(Event::Begin) else { panic!() };
    assert_eq!(call.limits.next(Phase::Waiting), (Millis(800), Timer::Deadline));
    let Next::Refuse(refused) = b.at(800).last(Progress::TimedOut(Timer::Deadline)) else { panic!() };
    assert_eq!((refused.status, refused.why), (504, Why::Refusal(Refusal::Deadline)));
    assert_eq!(b.world.settled[0].blame, Blame::Neutral);
}

#[test]
fn no_call_is_begun_without_time_for_it() {
    let mut b = Bench::new(&format!("{HEAD}{MATRIX}"), |f, _| f.deadline = Some(Millis(1)));
    let Next::Refuse(refused) = b.step(Event::Begin) else { panic!() };
    assert_eq!((refused.why, b.run.attempts()), (Why::Refusal(Refusal::Deadline), 0));
}

#[test]
fn the_contract_is_never_relaxed() {
    let mut b = Bench::new(&format!("{HEAD}{MATRIX}"), |f, _| f.tools = true);
    b.step(Event::Begin);
    let next = b.fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "b");
    let Next::Refuse(_) = b.fails(Class::Connect, Stage::NotSent) else { panic!("c cannot call tools") };
    let mut b = Bench::new(&format!("{HEAD}{MATRIX}"), |f, _| f.max_output = Some(4_001));
    let Next::Refuse(refused) = b.step(Event::Begin) else { panic!() };
    assert_eq!((refused.status, refused.why.word(), b.run.attempts()), (503, "contract", 0));
    assert!(refused.answered, "asking again changes nothing");
}

#[test]
fn degraded_is_better_than_nothing_and_down_is_not() {
    let mut b = bench();
    let (a, c) = (b.id("a"), b.id("c"));
    b.world.standings[a].health = Health::Degraded;
    let next = b.step(Event::Begin);
    assert_eq!(b.called(&next), "b");
    assert_eq!(b.run.trail()[0].passed.len(), 1);
    let mut b = bench();
    let other = b.id("b");
    b.world.standings[a].health = Health::Degraded;
    b.world.standings[other].breaker = Breaker::Open { until: Millis(5_000), hard: false };
    b.world.standings[c].health = Health::Down;
    let next = b.step(Event::Begin);
    assert_eq!(b.called(&next), "a");
    assert_eq!(b.run.trail()[0].pass, 2);
}

#[test]
fn nobody_left_says_when_to_come_back() {
    let mut b = bench();
    for target in ["a", "b", "c"] {
        let id = b.id(target);
        b.world.standings[id].hold_until = Millis(7_000 + id as u64);
    }
    let Next::Refuse(refused) = b.at(1_000).step(Event::Begin) else { panic!() };
    assert_eq!((refused.status, refused.why.word()), (503, "no-target"));
    assert_eq!(refused.retry_after, Some(Millis(6_000)));
    assert!(!refused.answered);
}

#[test]
fn pass_two_is_walked_over_the_whole_row() {
    // In pass 1 neither the degraded equivalent nor the fallback admits; in pass 2 the equivalent does.
    let mut b = bench();
    let (other, c) = (b.id("b"), b.id("c"));
    b.world.standings[other].health = Health::Degraded;
    b.world.standings[c].health = Health::Down;
    b.step(Event::Begin);
    let next = b.fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "b");
    assert_eq!(b.run.trail()[1].pass, 2);
    // A healthy fallback goes before a degraded equivalent.
    let mut b = bench();
    b.world.standings[other].health = Health::Degraded;
    b.step(Event::Begin);
    let next = b.fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "c");
    assert_eq!(b.run.trail()[1].action, StepAction::Row(Verb::Fallback));
}

#[test]
fn the_client_is_told_of_the_first_failure_unless_a_later_one_says_more() {
    let mut b = bench();
    b.step(Event::Begin);
    b.fails(Class::Connect, Stage::NotSent);
    let Next::Refuse(refused) = b.fails(Class::InvalidRequest, Stage::Rejected) else { panic!() };
    assert_eq!((refused.why.word(), refused.attempt), ("connect", Some(1)));
    let mut b = bench();
    b.step(Event::Begin);
    b.fails(Class::Connect, Stage::NotSent);
    let Next::Refuse(refused) = b.fails(Class::Policy, Stage::Rejected) else { panic!() };
    assert_eq!((refused.why.word(), refused.status, refused.attempt), ("policy", 400, Some(2)));
}

#[test]
fn a_stop_that_is_meant_has_the_class_s_own_status() {
    let mut b = bench();
    b.step(Event::Begin);
    let Next::Refuse(refused) = b.fails(Class::InvalidRequest, Stage::Rejected) else { panic!() };
    assert_eq!((refused.status, refused.answered), (400, true));
}

#[test]
fn larger_context_means_strictly_larger() {
    let mut b = bench();
    b.step(Event::Begin);
    let next = b.fails(Class::ContextOverflow, Stage::Rejected);
    assert_eq!(b.called(&next), "c");
    let Next::Refuse(_) = b.fails(Class::ContextOverflow, Stage::Rejected) else { panic!() };
}

#[test]
fn a_pinned_request_has_one_candidate() {
    let mut b = Bench::new(&format!("{HEAD}{MATRIX}"), |f, g| f.pin = g.target_named("b"));
    let next = b.step(Event::Begin);
    assert_eq!(b.called(&next), "b");
    assert!(matches!(b.fails(Class::Connect, Stage::NotSent), Next::Refuse(_)));
}

#[test]
fn the_client_s_leaving_ends_a_wait_and_blames_nobody() {
    let mut b = bench();
    b.step(Event::Begin);
    assert!(matches!(b.fails(Class::Overloaded, Stage::Rejected), Next::Wait { .. }));
    assert!(matches!(b.step(Event::ClientGone), Next::Abandon));
    assert_eq!(b.run.outcome(), Some(Outcome::Cancelled));
    assert!(matches!(b.at(200).step(Event::Woke), Next::GoOn), "no retry after the client left");
    let mut b = bench();
    b.step(Event::Begin);
    b.step(Event::ClientGone);
    assert_eq!(b.world.settled[0].blame, Blame::Neutral);
}

#[test]
fn a_target_that_is_taken_from_under_a_request_is_passed_over() {
    let mut b = bench();
    b.world.taken.push((b.graph.target_named("a").unwrap(), Reason::TrialBusy));
    let next = b.step(Event::Begin);
    assert_eq!(b.called(&next), "b");
    assert_eq!(b.run.trail()[0].passed[0].why.to_string(), "trial-busy");
    // After a failure the row is walked again.
    let mut b = bench();
    b.step(Event::Begin);
    b.world.taken.push((b.graph.target_named("b").unwrap(), Reason::TrialBusy));
    let next = b.fails(Class::Connect, Stage::NotSent);
    assert_eq!(b.called(&next), "b", "the second look found it free");
    // A retry whose target is out of reach when its time comes moves on, and is not taken twice.
    let mut b = bench();
    b.step(Event::Begin);
    assert!(matches!(b.fails(Class::Overloaded, Stage::Rejected), Next::Wait { .. }));
    b.world.taken.push((b.graph.target_named("a").unwrap(), Reason::BreakerOpen));
    let next = b.at(200).step(Event::Woke);
    assert_eq!(b.called(&next), "b");
    assert_eq!(b.run.attempts(), 2);
}

#[test]
fn an_empty_bucket_moves_on_instead_of_retrying() {
    let mut b = bench();
    b.world.tokens = false;
    b.step(Event::Begin);
    let next = b.fails(Class::Overloaded, Stage::Rejected);
    assert_eq!(b.called(&next), "b");
}

#[test]
fn an_answer_that_forbids_retries_takes_only_retry_from_the_row() {
    let mut b = bench();
    b.step(Event::Begin);
    let next = b.last(Progress::Failed(Failure { no_retry: true, ..Failure::of(Class::Overloaded, Stage::Rejected) }));
    assert_eq!(b.called(&next), "b");
}

#[test]
fn an_answer_that_forbids_retries_and_names_no_time_is_not_waited_for() {
    for (hint, waits) in [(None, false), (Some(Millis(1_000)), true)] {
        let mut b = bench();
        b.step(Event::Begin);
        let failure = Failure { no_retry: true, hint, ..Failure::of(Class::RateLimit, Stage::Rejected) };
        let next = b.last(Progress::Failed(failure));
        assert_eq!(matches!(next, Next::Wait { .. }), waits);
    }
}

#[test]
fn the_healthy_path_fits_inline() {
    let mut b = bench();
    b.step(Event::Begin);
    b.last(Progress::Served);
    assert_eq!(b.run.trail().len(), 1);
}

#[test]
fn a_fallback_to_a_tier_for_which_it_is_too_late_ends() {
    let text = format!(
        "{HEAD}{}",
        "tier other { chain { c } }\ntier own { chain { a; b } }\n\
         matrix x { server-error -> fallback to other; otherwise -> stop }\n\
         budget u { deadline 3s; attempts 3; reserve 1s }\nroute r { tier own; matrix x; budget u }\n"
    );
    let mut b = Bench::new(&text, |_, _| {});
    b.step(Event::Begin);
    // 1.2 s are left: nobody else stands in the other tier, so nothing is kept of them.
    let next = b.at(1_800).fails(Class::ServerError, Stage::Sent);
    assert_eq!(b.called(&next), "c");
    let mut b = Bench::new(&text, |_, _| {});
    b.step(Event::Begin);
    let Next::Refuse(refused) = b.at(2_700).fails(Class::ServerError, Stage::Sent) else { panic!() };
    assert_eq!((refused.status, refused.why.word()), (503, "server-error"));
}

#[test]
fn a_long_chain_and_a_caller_in_a_hurry_end() {
    use std::fmt::Write;
    let mut text = String::from(HEAD);
    let mut chain = String::new();
    for n in 0..100 {
        let _ = writeln!(text, "target x{n} {{ model m; provider p; upstream \"x{n}\" }}");
        let _ = write!(chain, "x{n}; ");
    }
    let _ = write!(
        text,
        "tier long {{ chain {{ {chain} }} }}\nmatrix x {{ connect -> failover; otherwise -> stop }}\n\
         budget u {{ deadline 20s; attempts 80; reserve 6s }}\nroute r {{ tier long; matrix x; budget u }}\n"
    );
    for deadline in [499, 500, 650, 999, 1_000, 1_001, 2_000, 20_000] {
        let mut b = Bench::new(&text, |f, _| f.deadline = Some(Millis(deadline)));
        let next = b.step(Event::Begin);
        assert_eq!(matches!(next, Next::Call(_)), deadline >= 500, "{deadline}: {next:?}");
    }
}

#[test]
fn no_time_is_kept_that_nobody_could_use() {
    let text = format!("{HEAD}{MATRIX}").replace("attempt-timeout 4s; ", "");
    let granted = |deadline| {
        let mut b = Bench::new(&text, |f, _| f.deadline = Some(Millis(deadline)));
        let next = b.step(Event::Begin);
        let Next::Call(call) = next else { panic!() };
        (b.graph.target_name(call.target).to_owned(), call.limits.output_by)
    };
    assert_eq!(granted(700), ("a".into(), Millis(700)), "too little for two: all of it");
    assert_eq!(granted(1_000), ("a".into(), Millis(500)), "one minimal attempt is kept");
    assert_eq!(granted(4_000), ("a".into(), Millis(2_800)), "the same share as of the whole");
}

#[test]
fn a_pin_never_leads_where_the_request_could_not_go() {
    let text =
        format!("{HEAD}{MATRIX}").replace("a; b; c }", "a; b when request.tokens > 100k; c } chain in [eu-*] { c }");
    let graph = super::world::graph(&text);
    let pin = |tokens, region: Option<&str>, name: &str| {
        let facts = Facts { tokens, region: region.map(str::to_owned), ..Facts::plain("id", "r") };
        let route = route_for(&graph, &facts).unwrap();
        pinnable(&graph, route, &facts, name).is_some()
    };
    assert!(pin(10, None, "a") && pin(10, None, "c"));
    assert!(!pin(10, None, "b") && pin(200_000, None, "b"), "its guard has to hold");
    assert!(!pin(10, Some("eu-west"), "a") && pin(10, Some("eu-west"), "c"), "and its chain be the request's");
}

#[test]
fn a_row_that_only_meant_to_stop_has_the_class_s_own_status() {
    let text = format!(
        "{HEAD}{}",
        MATRIX.replace(
            "overloaded, server-error -> retry once, failover, fallback",
            "overloaded, server-error -> retry once, stop"
        )
    );
    let mut b = Bench::new(&text, |_, _| {});
    b.step(Event::Begin);
    b.fails(Class::ServerError, Stage::Sent);
    b.at(200).step(Event::Woke);
    let Next::Refuse(refused) = b.at(300).fails(Class::ServerError, Stage::Sent) else { panic!() };
    assert_eq!(refused.status, 502);
}

#[test]
fn what_is_ours_blames_nobody_and_is_no_400() {
    let ours = Failure { ours: true, ..Failure::of(Class::InvalidRequest, Stage::Rejected) };
    let mut b = bench();
    b.step(Event::Begin);
    let Next::Refuse(refused) = b.step(Event::Attempt(1, Progress::Failed(ours))) else { panic!() };
    assert_eq!((refused.status, refused.why.word(), refused.ours), (502, "invalid-request", true));
    assert_eq!((b.world.settled[0].blame, b.world.settled[0].hold_until), (Blame::Neutral, None));
    assert!(b.run.trail()[0].result.unwrap().ours);
    let mut b = bench();
    b.step(Event::Begin);
    let Next::Refuse(refused) = b.fails(Class::InvalidRequest, Stage::Rejected) else { panic!() };
    assert_eq!((refused.status, refused.ours), (400, false));
}
