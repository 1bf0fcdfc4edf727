//! A small whole set that draws nothing, and what a change of it draws. For unit tests of the check.

use super::check;
use crate::diag::Diagnostic;
use crate::policy::Policy;
use crate::source::Sources;
use crate::syntax::parse;

/// The blocks of the set, each of which a test may replace.
const BLOCKS: [(&str, &str); 7] = [
    (
        "provider",
        "provider left { api openai-chat; base-url \"http://127.0.0.1:1/v1\" }\n\
         provider right { api openai-chat; base-url \"http://127.0.0.1:2/v1\" }",
    ),
    ("model", "model small { modalities [text]; streaming yes; context 32k; max-output 4k }"),
    ("target", "target one { model small; provider left }\ntarget two { model small; provider right }"),
    ("tier", "tier chat { chain { one; two } }"),
    ("matrix", "matrix simple { otherwise -> stop }"),
    ("budget", "budget short { deadline 10s; attempts 2 }"),
    ("route", "route chat { tier chat; matrix simple; budget short }"),
];

/// The set with the blocks of some kinds replaced; further blocks under any other word.
pub fn text(changes: &[(&str, &str)]) -> String {
    let change = |kind: &str| changes.iter().find(|(word, _)| *word == kind).map(|(_, text)| *text);
    let mut parts = vec!["switchback 1"];
    parts.extend(BLOCKS.iter().map(|(kind, text)| change(kind).unwrap_or(text)));
    parts.extend(changes.iter().filter(|(word, _)| BLOCKS.iter().all(|(kind, _)| kind != word)).map(|(_, text)| *text));
    parts.join("\n")
}

/// What is wrong with a text.
pub fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let sources = Sources::from_texts([("a.sbk", text)]);
    let (tree, found) = parse(sources.iter().next().unwrap());
    assert!(found.is_empty(), "{found:#?}\n{text}");
    check(&[tree]).1
}

/// Each finding as its code and the text that it points at.
pub fn found(changes: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    let text = text(changes);
    let place = |d: &Diagnostic| text[d.span.start as usize..d.span.end as usize].to_owned();
    diagnostics(&text).iter().map(|d| (d.entry().id, place(d))).collect()
}

/// The codes of the findings.
pub fn codes(changes: &[(&str, &str)]) -> Vec<&'static str> {
    found(changes).into_iter().map(|(code, _)| code).collect()
}

/// The policy, which must have no errors.
pub fn policy(changes: &[(&str, &str)]) -> Policy {
    let text = text(changes);
    let sources = Sources::from_texts([("a.sbk", text.as_str())]);
    let (tree, _) = parse(sources.iter().next().unwrap());
    let (policy, found) = check(&[tree]);
    Policy::clone(&policy.unwrap_or_else(|| panic!("{found:#?}\n{text}")))
}
