//! Any bytes as an answer, as a stream in every dialect, as a line of `classify`, and as headers.

use switchback::classify::{Vendor, http};
use switchback::wire::chat::{Asked, judge};
use switchback::wire::exchange::{self, Came, End, Exchange, line};

const APIS: &[&str] = &[
    "openai-chat",
    "openai-responses",
    "anthropic-messages",
    "gemini",
    "bedrock-converse-stream",
    "ollama-chat",
    "cohere-chat",
    "tgi-generate",
    "dashscope-native",
    "",
];

const PROVIDERS: &[&str] = &["", "openai", "gemini", "bedrock", "edge", "relay", "zhipu", "ollama"];

/// One input: its first bytes choose who sent it and how, the rest is what came.
pub fn run(data: &[u8]) {
    let Some((choice, rest)) = data.split_at_checked(3) else { return };
    let pick = |n: usize, of: usize| usize::from(choice[n]) % of;
    let api = APIS[pick(0, APIS.len())];
    let provider = PROVIDERS[pick(1, PROVIDERS.len())];
    let status = [200, 200, 400, 403, 429, 500, 503][pick(2, 7)];
    let text = String::from_utf8_lossy(rest);
    // Up to an empty line, header lines; the same bytes are the body.
    let head = text.split("\n\n").next().unwrap_or_default();
    let headers: Vec<(String, String)> =
        head.lines().filter_map(|l| l.split_once(':')).map(|(n, v)| (n.to_string(), v.to_string())).collect();

    let found = http::answer_of(Vendor::named(provider), status.max(400), &headers, rest, 1_767_225_600_000);
    assert!(found.message.is_none_or(|m| m.chars().count() <= 512));
    let _ = judge(&headers, rest, &Asked::default(), 0);
    let _ = line::read(&text);

    let pieces: Vec<&str> = text.split_inclusive("\n\n").collect();
    for end in [End::Clean, End::Reset, End::Stall] {
        for came in [
            Came::Whole { status, body: &text, end },
            Came::Stream { status, events: pieces.clone(), end },
            Came::Nothing { fault: "", words: &text },
        ] {
            let exchange = Exchange { provider, api, headers: headers.clone(), came };
            let verdict = exchange::judge(&exchange, 0);
            assert_eq!(verdict.failure.is_some(), verdict.scope.is_some());
            assert!(verdict.failure.is_none_or(|f| f.hint.is_none_or(|h| h.0 > 0)));
        }
    }
}
