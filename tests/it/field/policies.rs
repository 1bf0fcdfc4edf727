//! Policies that are refused before they serve.

use super::world::P0;
use switchback::ready::prepare;
use switchback::source::Sources;

/// What a policy is refused for.
fn refused(policy: &P0) -> Vec<&'static str> {
    let prepared = prepare(Sources::from_texts([("field.sbk", policy.text())]));
    assert!(prepared.ready.is_none(), "it may be served");
    let errors = prepared.diagnostics.iter().filter(|d| d.level() == switchback::diag::Level::Error);
    errors.map(|d| d.entry().name).collect()
}

#[test]
fn a_chain_that_leads_back_is_refused() {
    assert_eq!(refused(&P0::of(&["a", "b"]).but("chain { a; b }", "chain { a; b; a }")), ["target-twice"]);
}

#[test]
fn an_unknown_word_and_an_empty_chain_are_refused() {
    let policy = P0::of(&["a", "b"]);
    assert_eq!(refused(&policy.clone().but("attempts 4", "attempts 4; atempts 5")), ["unknown-setting"]);
    assert_eq!(refused(&policy.clone().but("chain { a; b }", "chain { }")), ["empty-chain"]);
    // Having no backup takes words: a row that says `stop`, or a route that says `fallback no`.
    assert_eq!(
        refused(&policy.clone().but(
            "timeout-*, truncated, not-found, unknown -> failover, fallback",
            "timeout-*, truncated, not-found, unknown ->"
        ))
        .len(),
        1
    );
    let alone = policy.but("route chat {", "route chat { failover no; fallback no;");
    assert!(prepare(Sources::from_texts([("field.sbk", alone.text())])).ready.is_some());
}
