use super::*;
use crate::check::sample::{codes, found, policy};
use crate::policy::Action;
use crate::policy::{FallbackTo, Millis};

/// Two models and two providers, so that every action is possible.
const WIDE: [(&str, &str); 2] = [
    (
        "model",
        "model small { modalities [text]; context 32k; max-output 4k }\n\
         model large { modalities [text]; context 128k; max-output 4k }",
    ),
    (
        "target",
        "target one { model small; provider left }\ntarget two { model small; provider right }\n\
         target big { model large; provider right }",
    ),
];

fn wide(matrix: &str) -> Vec<(&str, &str)> {
    let mut changes = WIDE.to_vec();
    changes.push(("tier", "tier chat { chain { one; two; big } }"));
    changes.push(("budget", "budget short { deadline 10s; attempts 3; per-target 3; attempt-timeout 3s }"));
    changes.push(("matrix", matrix));
    changes
}

fn matrix(rows: &str) -> Matrix {
    let text = format!("matrix simple {{\n{rows}\n}}");
    policy(&wide(&text)).matrices.remove(0)
}

fn wrong(rows: &str) -> Vec<(&'static str, String)> {
    let text = format!("matrix simple {{\n{rows}\n}}");
    found(&wide(&text))
}

fn only(code: &'static str, text: &str) -> Vec<(&'static str, String)> {
    vec![(code, text.to_owned())]
}

fn actions(rows: &str) -> Vec<Action> {
    let rows = format!("{rows}\notherwise -> stop");
    matrix(&rows).rows[0].actions.iter().map(|written| written.action).collect()
}

#[test]
fn actions_are_read_with_their_numbers() {
    let stop = Action::Stop { status: None };
    assert_eq!(actions("connect -> retry once"), [Action::Retry { times: 1 }, stop]);
    assert_eq!(actions("connect -> retry 3 times, failover"), [Action::Retry { times: 3 }, Action::Failover, stop]);
    assert_eq!(actions("rate-limit -> wait up to 5s"), [Action::Wait { up_to: Millis(5_000) }, stop]);
    let larger = Action::Fallback(FallbackTo::LargerContext);
    assert_eq!(
        actions("context-overflow -> fallback to larger-context, stop as 413"),
        [larger, Action::Stop { status: Some(413) }]
    );
    assert_eq!(
        actions("connect -> failover,\n  fallback"),
        [Action::Failover, Action::Fallback(FallbackTo::OtherModel), stop]
    );
}

#[test]
fn a_stop_that_was_left_out_is_added_at_the_rows_end() {
    let matrix = matrix("connect -> retry once\notherwise -> stop as 502");
    let row = &matrix.rows[0];
    assert_eq!(row.text, "connect");
    let implied = &row.actions[1];
    assert!(!implied.written && implied.span.start == row.span.end && implied.span.end == row.span.end);
    assert!(matrix.rows[1].actions[0].written);
}

#[test]
fn patterns_and_otherwise_are_resolved() {
    let matrix =
        matrix("timeout-idle when failure.status == 500 -> stop\ntimeout-*, connect -> retry once\notherwise -> stop");
    assert_eq!(matrix.rows[1].classes.iter().count(), 4);
    let rest = matrix.rows[2].classes;
    assert_eq!(rest, ClassSet::all().without(matrix.rows[1].classes));
    assert_eq!(matrix.rows[2].text, "otherwise");
}

#[test]
fn own_rows_come_first_and_cover_inherited_ones() {
    let text = "matrix simple { extends base; rate-limit -> wait up to 2s }\n\
                matrix base { rate-limit, connect -> failover\ntimeout-idle -> failover\notherwise -> stop }";
    let policy = policy(&wide(text));
    let simple = policy.matrices.iter().find(|m| m.name == "simple").unwrap();
    let texts: Vec<_> = simple.rows.iter().map(|row| row.text.as_str()).collect();
    assert_eq!(texts, ["rate-limit", "rate-limit, connect", "timeout-idle", "otherwise"]);
    let whole = "matrix simple { extends base; timeout-* -> failover }\n\
                 matrix base { timeout-idle -> failover, fallback\notherwise -> stop }";
    let policy = crate::check::sample::policy(&wide(whole));
    let simple = policy.matrices.iter().find(|m| m.name == "simple").unwrap();
    assert_eq!(simple.rows.len(), 2);
}

#[test]
fn a_matrix_is_total() {
    let (code, place) = wrong("connect -> failover").remove(0);
    assert_eq!((code, place.as_str()), ("SB0501", "connect"));
    let guarded = "timeout-*, policy, unknown when failure.status == 500 -> stop\n\
        connect, rate-limit, quota-exhausted, overloaded, server-error, auth, permission, not-found, invalid-request -> stop\n\
        context-overflow, payload-too-large, schema-invalid, empty-response, malformed-response, truncated -> stop\n\
        stream-early, partial-stream, timeout-*, policy -> stop";
    let text = format!("matrix simple {{\n{guarded}\n}}");
    let all = crate::check::sample::diagnostics(&crate::check::sample::text(&wide(&text)));
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].message, "matrix `simple` says nothing about `unknown`");
}

#[test]
fn what_can_never_decide_is_refused() {
    assert_eq!(wrong("connect -> failover\nconnect -> stop\notherwise -> stop"), only("SB0505", "connect -> stop"));
    assert_eq!(
        wrong("connect -> failover\nconnect when failure.status == 500 -> stop\notherwise -> stop"),
        only("SB0505", "connect when failure.status == 500 -> stop")
    );
    assert_eq!(wrong("connect, connect -> failover\notherwise -> stop"), only("SB0505", "connect"));
    assert_eq!(wrong("connect -> failover\noverloaded, connect -> stop\notherwise -> stop"), only("SB0505", "connect"));
    assert_eq!(
        wrong("connect when time.left > 2s -> stop\nconnect when time.left > 2s -> failover\notherwise -> stop"),
        only("SB0505", "connect when time.left > 2s -> failover")
    );
    // A pattern may overlap, and a guard may be narrower than another.
    assert_eq!(wrong("timeout-idle -> stop\ntimeout-* -> failover\notherwise -> stop"), []);
    assert_eq!(
        wrong("connect when time.left > 2s -> stop\nconnect when time.left > 1s -> failover\notherwise -> stop"),
        []
    );
}

#[test]
fn what_can_never_be_taken_is_refused() {
    assert_eq!(wrong("connect -> stop, failover\notherwise -> stop"), only("SB0506", "failover"));
    assert_eq!(wrong("connect -> failover, failover\notherwise -> stop"), only("SB0506", "failover"));
    assert_eq!(wrong("connect -> retry once, retry 2 times\notherwise -> stop"), []);
}

#[test]
fn the_class_table_holds() {
    assert_eq!(wrong("auth -> retry once\notherwise -> stop"), only("SB0504", "retry once"));
    assert_eq!(wrong("context-overflow -> failover\notherwise -> stop"), only("SB0504", "failover"));
    assert_eq!(wrong("connect -> stop\notherwise -> failover"), only("SB0504", "failover"));
    assert_eq!(wrong("rate-limit -> retry once\notherwise -> stop"), only("SB0508", "retry once"));
    assert_eq!(wrong("policy -> fallback\notherwise -> stop"), only("SB0509", "fallback"));
}

#[test]
fn otherwise_is_last_alone_and_unguarded() {
    for rows in ["otherwise -> stop\nconnect -> failover", "otherwise when time.left > 2s -> stop"] {
        assert_eq!(wrong(rows).iter().map(|(code, _)| *code).collect::<Vec<_>>(), ["SB0507"], "{rows}");
    }
    assert_eq!(wrong("connect, otherwise -> stop"), only("SB0502", "otherwise"));
}

#[test]
fn early_words_are_refused_at_their_place_and_the_row_holds() {
    assert_eq!(
        wrong("truncated -> continue once, stop\nschema-invalid -> repair once, fallback\notherwise -> stop"),
        [("SB0210", "continue".to_owned()), ("SB0210", "repair".to_owned())]
    );
}

#[test]
fn broken_rows_are_named() {
    for (rows, code, place) in [
        ("conect -> failover", "SB0502", "conect"),
        ("time-* -> failover\nx-* -> stop\notherwise -> stop", "SB0502", "x-*"),
        ("connect -> try once\notherwise -> stop", "SB0503", "try"),
        ("connect failover\notherwise -> stop", "SB0307", "failover"),
        ("connect -> retry\notherwise -> stop", "SB0307", "retry"),
        ("connect -> retry 1 times\notherwise -> stop", "SB0309", "1 times"),
        ("connect -> retry 2\notherwise -> stop", "SB0309", "2"),
        ("rate-limit -> wait 5s\notherwise -> stop", "SB0303", "wait 5s"),
        ("rate-limit -> wait up to 5\notherwise -> stop", "SB0301", "5"),
        ("connect -> failover fallback\notherwise -> stop", "SB0308", "fallback"),
        ("connect -> stop as 429\notherwise -> stop", "SB0304", "429"),
        ("connect -> stop as 200\notherwise -> stop", "SB0304", "200"),
        ("connect -> fallback to nowhere\notherwise -> stop", "SB0202", "nowhere"),
        ("connect overloaded -> stop\notherwise -> stop", "SB0303", "overloaded"),
    ] {
        let rows = rows.replace("time-* -> failover\n", "");
        assert_eq!(wrong(&rows), only(code, place), "{rows}");
    }
}

#[test]
fn a_wrong_parent_leaves_totality_open() {
    assert_eq!(codes(&wide("matrix simple { extends nothing; connect -> failover }")), ["SB0202"]);
}
