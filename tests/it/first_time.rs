//! What first authors write, and what they are told: one finding, that names the mistake and the way out of it. A change
//! that is offered makes the finding go away.

use switchback::diag::{Code, Diagnostic};
use switchback::ready::prepare;
use switchback::source::Sources;

const POLICY: &str = r#"switchback 1

provider groq { api openai-chat; base-url "https://api.groq.com/openai/v1"; key env GROQ_API_KEY }
provider cerebras { api openai-chat; base-url "https://api.cerebras.ai/v1"; key env CEREBRAS_API_KEY }
model llama-70b { modalities [text]; streaming yes; tools yes; context 128k; max-output 8k }
target groq-70b { model llama-70b; provider groq; region us-east; upstream "llama-3.3-70b" }
target cerebras-70b { model llama-70b; provider cerebras }
tier mid { chain { groq-70b; cerebras-70b } }
matrix standard {
  connect, overloaded, server-error -> retry once, failover
  timeout-* -> failover
  rate-limit -> wait up to 2s, failover
  otherwise -> stop
}
budget chat { deadline 20s; attempts 3; attempt-timeout 8s }
route assistant { tier mid; matrix standard; budget chat }
test "a long limit is left at once" {
  groq-70b answers 429 retry-after 30s
  cerebras-70b answers ok after 600ms
  send assistant
  expect served by cerebras-70b
}
"#;

/// What is written, what it becomes, and the code and a piece of the next step that it draws.
const SLIPS: &[(&str, &str, Code, &str)] = &[
    ("switchback 1", "version 1", Code::MissingEdition, "write `switchback 1`"),
    ("switchback 1", "Switchback 1", Code::MissingEdition, "write `switchback 1`"),
    ("provider groq {", "vendor groq {", Code::UnknownBlock, "write `provider`"),
    ("target groq-70b {", "deployment groq-70b {", Code::UnknownBlock, "write `target`"),
    ("key env GROQ_API_KEY", "api_key env GROQ_API_KEY", Code::UnknownSetting, "write `key`"),
    ("key env GROQ_API_KEY", "key GROQ_API_KEY", Code::WrongValue, "write `env GROQ_API_KEY`"),
    ("key env GROQ_API_KEY", "key \"GROQ_API_KEY\"", Code::WrongValue, "write `env GROQ_API_KEY`"),
    ("key env GROQ_API_KEY", "key process.env.GROQ_API_KEY", Code::WrongValue, "write `env GROQ_API_KEY`"),
    ("key env GROQ_API_KEY", "key env(GROQ_API_KEY)", Code::WrongValue, "after a space"),
    ("key env GROQ_API_KEY", "key \"gsk_0123456789abcdefghij\"", Code::KeyLiteral, "env NAME"),
    ("api openai-chat;", "type openai-chat;", Code::UnknownSetting, "write `api`"),
    ("api openai-chat;", "api openai;", Code::UnknownWord, "`openai-chat`?"),
    ("api openai-chat;", "api \"openai-chat\";", Code::UnknownWord, "write `openai-chat`"),
    ("api openai-chat; base-url", "api openai-chat, base-url", Code::LeftOver, "`;`"),
    (
        "groq.com/openai/v1\"",
        "groq.com/openai/v1/chat/completions\"",
        Code::WrongValue,
        "https://api.groq.com/openai/v1\"",
    ),
    ("modalities [text]", "modalities [\"text\"]", Code::UnknownWord, "write `text`"),
    ("streaming yes", "streaming true", Code::NotYesOrNo, "write `yes`"),
    ("context 128k", "context_window 128k", Code::UnknownSetting, "write `context`"),
    ("context 128k", "context 128000 tokens", Code::WrongValue, "write `128000`"),
    ("context 128k", "context >= 128k", Code::WrongValue, "write `128k`"),
    ("max-output 8k", "maxTokens 8k", Code::UnknownSetting, "write `max-output`"),
    ("region us-east", "region US-East", Code::BadName, "write `us-east`, or `\"US-East\"`"),
    ("chain { groq-70b;", "chain { groq-70b,", Code::MissingValue, "one target a line, or with `;`"),
    ("groq-70b; cerebras-70b }", "groq-70b if request.tokens > 4k; cerebras-70b }", Code::LeftOver, "write `when`"),
    ("retry once, failover", "retry one, failover", Code::UnitWord, "write `once`"),
    ("retry once, failover", "retry twice, failover", Code::UnitWord, "write `2 times`"),
    ("retry once, failover", "retry 2, failover", Code::UnitWord, "write `2 times`"),
    ("retry once, failover", "retry 2x, failover", Code::UnitWord, "write `2 times`"),
    ("retry once, failover", "retry, failover", Code::MissingValue, "write `retry once`"),
    ("retry once, failover", "retry once failover", Code::LeftOver, "`…, failover`"),
    ("retry once, failover", "retry once then failover", Code::LeftOver, "`…, failover`"),
    ("retry once, failover", "retry once; failover", Code::UnknownClass, "`retry once, failover`"),
    ("retry once, failover", "[retry once, failover]", Code::WrongValue, "commas between them"),
    ("retry once, failover", "failover to cerebras-70b", Code::LeftOver, "the chain says which target is next"),
    ("retry once, failover", "cerebras-70b", Code::UnknownAction, "write `failover`"),
    ("wait up to 2s", "wait 2s", Code::WrongValue, "write `wait up to 2s`"),
    ("wait up to 2s", "wait up 2s", Code::WrongValue, "write `wait up to 2s`"),
    ("wait up to 2s", "wait", Code::MissingValue, "write `wait up to 2s`"),
    ("wait up to 2s", "wait up to 2", Code::MissingUnit, "write `2s`"),
    ("rate-limit ->", "429 ->", Code::UnknownClass, "write `rate-limit`"),
    ("server-error ->", "5xx ->", Code::UnknownClass, "write `server-error`"),
    ("timeout-* ->", "timeout ->", Code::UnknownClass, "write `timeout-*`"),
    ("connect, overloaded, server-error", "[connect, overloaded]", Code::WrongValue, "commas between them"),
    ("otherwise -> stop", "default -> stop", Code::UnknownClass, "write `otherwise`"),
    ("otherwise -> stop", "otherwise -> fail", Code::UnknownAction, "write `stop`"),
    ("otherwise -> stop", "otherwise -> stop 503", Code::WrongValue, "write `stop as 503`"),
    ("otherwise -> stop", "otherwise stop", Code::MissingValue, "write `->`"),
    ("deadline 20s", "timeout 20s", Code::UnknownSetting, "write `deadline`"),
    ("deadline 20s", "deadline 20", Code::MissingUnit, "write `20s`"),
    ("deadline 20s", "deadline 20000", Code::MissingUnit, "`20000ms` if milliseconds are meant"),
    ("deadline 20s", "deadline 20 seconds", Code::WrongValue, "write `20s`"),
    ("attempts 3", "max_attempts 3", Code::UnknownSetting, "write `attempts`"),
    ("attempts 3", "attempts three", Code::WrongValue, "write `3`"),
    ("attempts 3", "attempts 3 times", Code::WrongValue, "write `3`"),
    ("attempts 3;", "attempts 3; retries 2;", Code::UnknownSetting, "stands in a matrix"),
    ("budget chat }", "budget chat; timeout 5s }", Code::UnknownSetting, "name a budget"),
    ("budget chat }", "budget chat; exhausted stop 503 }", Code::WrongValue, "write `stop as 503`"),
    ("expect served by cerebras-70b", "expect attempts 2", Code::MissingValue, "write `==`"),
    ("deadline 20s", "deadline env DEADLINE", Code::WrongValue, "write the value itself"),
    ("context 128k", "context 128,000", Code::LeftOver, "write `128000`"),
    ("deadline 20s", "deadline -20s", Code::StrayText, "no negative numbers"),
    ("deadline 20s", "deadline .5m", Code::StrayText, "a digit before the point"),
    ("deadline 20s", "deadline +20s", Code::StrayText, "without a sign"),
    ("deadline 20s", "deadline “20s”", Code::StrayText, "straight double quotes"),
    ("deadline 20s", "deadline 20s + 5s", Code::StrayText, "without a sign"),
    ("deadline 20s", "deadline 1m30s", Code::WrongUnit, "write `90s`"),
    ("deadline 20s", "deadline 1h30m", Code::WrongUnit, "write `90m`"),
    ("attempts 3", "attempts -3", Code::StrayText, "no negative numbers"),
    ("\"https://api.groq.com/openai/v1\"", "'https://api.groq.com/openai/v1'", Code::StrayText, "double quotes"),
    ("route assistant {", "route /v1/chat {", Code::StrayText, "names are letters"),
    ("-> stop", "=> stop", Code::StrayText, "write `->`"),
    ("-> stop", ": stop", Code::StrayText, "a space separates"),
    ("otherwise -> stop", "* -> stop", Code::UnknownClass, "write `otherwise`"),
    ("budget chat {", "// don't let them wait\nbudget chat {", Code::StrayText, "begin with `#`"),
    ("budget chat {", "/* let nobody wait */\nbudget chat {", Code::StrayText, "begin with `#`"),
    ("\"a long limit is left at once\"", "'a long limit is left at once'", Code::StrayText, "double quotes"),
    ("switchback 1", "contract 1", Code::MissingEdition, "write `switchback 1`"),
    ("chain { groq-70b; cerebras-70b }", "groq-70b; cerebras-70b", Code::UnknownSetting, "`chain { … }`"),
    ("chain { groq-70b; cerebras-70b }", "target groq-70b; target cerebras-70b", Code::UnknownSetting, "`chain { … }`"),
    ("chain { groq-70b; cerebras-70b }", "chain { target groq-70b; cerebras-70b }", Code::LeftOver, "the name of the"),
    ("chain { groq-70b; cerebras-70b }", "chain [groq-70b, cerebras-70b]", Code::MissingBlock, "`chain { a; b }`"),
    ("chain { groq-70b; cerebras-70b }", "chain = [groq-70b, cerebras-70b]", Code::StrayText, "leave it out"),
    ("groq-70b; cerebras-70b }", "groq-70b -> cerebras-70b }", Code::LeftOver, "one target a line"),
    ("groq-70b; cerebras-70b }", "groq-70b cerebras-70b }", Code::LeftOver, "one target a line"),
    ("groq-70b; cerebras-70b }", "groq-70b 70%, cerebras-70b weight 30 }", Code::WrongValue, "write `30%`"),
    ("\"a long limit is left at once\"", "a long limit", Code::BadName, "write `test \"what it shows\""),
    ("key env GROQ_API_KEY", "key ${GROQ_API_KEY}", Code::WrongValue, "write `env GROQ_API_KEY`"),
    ("key env GROQ_API_KEY", "key $GROQ_API_KEY", Code::WrongValue, "write `env GROQ_API_KEY`"),
    ("key env GROQ_API_KEY", "key \"env GROQ_API_KEY\"", Code::WrongValue, "write `env GROQ_API_KEY`"),
    ("assistant { tier", "assistant { match when stream; tier", Code::UnknownFact, "`request.stream`?"),
    ("assistant { tier", "assistant { match when tokens > 3k; tier", Code::UnknownFact, "`request.tokens`?"),
    (
        "assistant { tier",
        "assistant { match when request.max_output > 3k; tier",
        Code::UnknownFact,
        "`request.max-output`?",
    ),
    ("tier mid {", "tier mid { order price every 60s;", Code::WithoutEffect, "goes with `latency` and `score`"),
    ("groq-70b; cerebras-70b }", "groq-70b 70%; cerebras-70b }", Code::LeftOver, "`one 70%, other 30%`"),
    (
        "chain { groq-70b; cerebras-70b }",
        "chain { groq-70b; cerebras-70b }; chain { latency 60%; price 40% }",
        Code::DuplicateSetting,
        "keep one",
    ),
    (
        "budget chat {",
        "breaker b { trip when failures >= 5 }\nbudget chat {",
        Code::UnknownWord,
        "when consecutive >= 5`",
    ),
    ("budget chat {", "breaker b { trip after 5 failures }\nbudget chat {", Code::WrongValue, "when consecutive >= 5`"),
    ("budget chat {", "breaker b { trip when 5 failures }\nbudget chat {", Code::WrongValue, "when consecutive >= 5`"),
    ("send assistant", "request assistant", Code::UnknownTestLine, "write `send`"),
    ("expect served by cerebras-70b", "assert served by cerebras-70b", Code::UnknownTestLine, "write `expect`"),
    ("groq-70b answers 429", "groq-70b returns 429", Code::UnknownTestLine, "write `answers`"),
    ("groq-70b answers 429 retry-after 30s", "groq-70b fails", Code::UnknownTestLine, "write `answers server-error`"),
    (
        "groq-70b; cerebras-70b }",
        "70% groq-70b, 30% cerebras-70b }",
        Code::WrongValue,
        "write `groq-70b 70%, cerebras-70b 30%`",
    ),
    ("wait up to 2s", "wait for 2s", Code::WrongValue, "write `wait up to 2s`"),
    ("wait up to 2s", "wait at most 2s", Code::WrongValue, "write `wait up to 2s`"),
    ("wait up to 2s", "wait forever", Code::WrongValue, "write `wait up to 2s`"),
    ("wait up to 2s", "sleep 5s", Code::UnknownAction, "write `wait up to 5s`"),
    ("retry once, failover", "repeat 2 times, failover", Code::UnknownAction, "write `retry`"),
    ("retry once, failover", "retry once, switch to cerebras-70b", Code::UnknownAction, "write `failover`"),
    ("otherwise -> stop", "otherwise -> stop with 503", Code::WrongValue, "write `stop as 503`"),
    ("otherwise -> stop", "otherwise -> stop with error", Code::WrongValue, "write `stop as 503`"),
    ("otherwise -> stop", "otherwise -> return 503", Code::UnknownAction, "write `stop as 503`"),
    ("expect served by cerebras-70b", "expect served cerebras-70b", Code::WrongValue, "write `by` before it"),
    ("expect served by cerebras-70b", "expect served from cerebras-70b", Code::WrongValue, "write `by`"),
    ("expect served by cerebras-70b", "expect attempts = 2", Code::StrayText, "write `==`"),
    ("groq-70b; cerebras-70b }", "groq-70b when request.stream = yes; cerebras-70b }", Code::StrayText, "write `==`"),
    (
        "groq-70b; cerebras-70b }",
        "groq-70b when (request.tokens = 100k); cerebras-70b }",
        Code::StrayText,
        "write `==`",
    ),
    ("budget chat {", "breaker b { trip when consecutive = 5 }\nbudget chat {", Code::StrayText, "write `>=`"),
    (
        "groq-70b; cerebras-70b }",
        "groq-70b when request.tools == yes | request.stream == yes; cerebras-70b }",
        Code::StrayText,
        "write `or`",
    ),
    ("-> stop", "\u{2192} stop", Code::StrayText, "write `->`"),
    (
        "groq-70b; cerebras-70b }",
        "groq-70b when request.tokens \u{2265} 4k; cerebras-70b }",
        Code::StrayText,
        "write `>=`",
    ),
    ("context 128k", "price €1/M in; context 128k", Code::StrayText, "in dollars, such as `$1/M`"),
    ("tier mid;", "tier mid/llama;", Code::StrayText, "write `mid-llama`"),
    ("tier mid {", "tier mid/llama {", Code::StrayText, "write `mid-llama`"),
    ("chain { groq-70b;", "chain { groq/70b;", Code::StrayText, "write `groq-70b`"),
    ("upstream \"llama-3.3-70b\"", "upstream meta/llama-3", Code::StrayText, "double quotes"),
    ("retry once, failover", "retry once | failover", Code::StrayText, "write a comma"),
    ("retry once, failover", "retry once || failover", Code::StrayText, "write a comma"),
    ("timeout-* -> failover", "timeout-* -> failover|stop", Code::StrayText, "write `failover, stop`"),
    ("connect, overloaded, server", "connect | overloaded, server", Code::StrayText, "write a comma"),
    ("modalities [text]", "modalities [text | image]", Code::StrayText, "write a comma"),
    ("modalities [text]", "modalities [text image]", Code::LeftOver, "write a comma"),
    ("modalities [text]", "modalities [text image audio]", Code::LeftOver, "write `text, image, audio`"),
    ("key env GROQ_API_KEY", "keys [env GROQ_A env GROQ_B]", Code::LeftOver, "write a comma"),
    ("-> retry once, failover", "-> { retry once; failover }", Code::UnexpectedBlock, "commas between them"),
    ("-> retry once, failover", "{ retry once; failover }", Code::UnexpectedBlock, "commas between them"),
    ("attempt-timeout 8s", "timeout 8s", Code::UnknownSetting, "write `attempt-timeout`"),
    ("attempts 3;", "attempts 3; timeout 8s;", Code::UnknownSetting, "leave it out"),
    ("\"https://api.groq.com/openai/v1\"", "\"https://${HOST}/v1\"", Code::WrongValue, "write `base-url env NAME`"),
    ("\"https://api.groq.com/openai/v1\"", "\"$HOST/v1\"", Code::WrongValue, "write `base-url env NAME`"),
    ("groq-70b answers 429 retry-after 30s", "groq-70b times out", Code::UnknownTestLine, "write `answers hangs`"),
];

fn found(text: &str) -> Vec<Diagnostic> {
    prepare(Sources::from_texts([("a.sbk", text)])).diagnostics
}

#[test]
fn the_policy_is_right() {
    assert_eq!(found(POLICY), []);
}

#[test]
fn each_slip_is_told_once_with_the_way_out() {
    let mut wrong = Vec::new();
    for (right, slip, code, help) in SLIPS {
        assert!(POLICY.contains(right), "{right}");
        let text = POLICY.replacen(right, slip, 1);
        let found = found(&text);
        let fits = matches!(found.as_slice(), [one] if one.code == *code && one.help.contains(help));
        if !fits {
            let said: Vec<String> =
                found.iter().map(|d| format!("  {} {} | {}", d.entry().id, d.message, d.help)).collect();
            wrong.push(format!("{slip}:\n{}", said.join("\n")));
            continue;
        }
        let Some(fix) = &found[0].fix else { continue };
        let mended = format!("{}{}{}", &text[..fix.span.start as usize], fix.text, &text[fix.span.end as usize..]);
        let left = self::found(&mended);
        if left.iter().any(|d| d.code == *code) {
            wrong.push(format!("{slip}: `{}` leaves {left:?}", fix.title));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What reads like a variable elsewhere is a text like any other where texts stand: in a header it is what is sent.
#[test]
fn a_header_is_sent_as_it_is_written() {
    for value in ["env PROD", "$PROD", "${PROD}", "PROD_MODE"] {
        let written = format!("key env GROQ_API_KEY; header \"x-mode\" \"{value}\" }}");
        assert_eq!(found(&POLICY.replacen("key env GROQ_API_KEY }", &written, 1)), [], "{value}");
    }
}

/// A whole file of another language, or with line ends of another age, is one finding.
#[test]
fn a_file_that_is_no_policy_is_told_once() {
    let text = |language: &str| match language {
        "JSON" => "{\n  \"providers\": [\n    { \"name\": \"groq\", \"api\": \"openai\" }\n  ]\n}\n".to_owned(),
        "YAML" => "providers:\n  - name: groq\n    api: openai\nroutes:\n  chat:\n    tier: mid\n".to_owned(),
        _ => "[providers.groq]\napi = \"openai\"\n\n[[routes]]\nname = \"chat\"\n".to_owned(),
    };
    for language in ["JSON", "YAML", "TOML"] {
        let found = found(&text(language));
        let [one] = found.as_slice() else { panic!("{language}: {found:?}") };
        assert_eq!(one.code, Code::OtherLanguage);
        assert!(one.message.contains(language) && one.help.contains("switchback init"), "{one:?}");
        // Beside a policy it takes nothing away but its own blocks.
        let set = Sources::from_texts([("a.sbk", POLICY.to_owned()), ("b.sbk", text(language))]);
        let codes: Vec<_> = prepare(set).diagnostics.into_iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::OtherLanguage]);
    }
    for policy in [POLICY.replace('\n', "\r"), POLICY.replacen('\n', "\r", 3), format!("# a\r{POLICY}")] {
        let found = self::found(&policy);
        let codes: Vec<_> = found.iter().map(|d| d.code).collect();
        assert_eq!(codes, [Code::LineEnds], "{found:?}");
    }
    assert_eq!(found(&POLICY.replace('\n', "\r\n")), []);
    assert_eq!(found(&POLICY.replace('\n', "\r\r\n")), []);
}

/// What a reviewer cannot see is told by its number, and shown where it stands.
#[test]
fn text_that_nobody_sees_is_named() {
    for (at, c) in [
        ("budget chat {", '\u{202E}'),
        ("budget chat {", '\u{2066}'),
        ("budget chat {", '\u{FEFF}'),
        ("llama-3.3", '\u{202D}'),
        ("llama-3.3", '\u{200B}'),
        ("a long limit", '\u{200F}'),
    ] {
        let hidden = if at.contains('{') { format!("# wait{c} for it\n{at}") } else { format!("{c}{at}") };
        let text = POLICY.replacen(at, &hidden, 1);
        let found = found(&text);
        let [one] = found.as_slice() else { panic!("{c:?}: {found:?}") };
        let named = format!("U+{:04X}", u32::from(c));
        assert_eq!((one.code, one.message.contains(&named)), (Code::HiddenText, true), "{one:?}");
        assert_eq!(&text[one.span.start as usize..one.span.end as usize], c.to_string());
        let fix = one.fix.as_ref().unwrap();
        let mended = format!("{}{}{}", &text[..fix.span.start as usize], fix.text, &text[fix.span.end as usize..]);
        assert_eq!(self::found(&mended), [], "{mended}");
        let sources = Sources::from_texts([("a.sbk", text)]);
        let shown = switchback::diag::render::human(&found, &sources, false);
        assert!(!shown.contains(c) && shown.contains('\u{FFFD}'), "{shown}");
    }
}

/// A name that nobody reads to its end is not told to its end, wherever it comes from.
#[test]
fn long_words_are_cut() {
    let long = "a".repeat(100_000);
    for (right, slip) in [
        ("tier mid {", format!("tear {long} {{")),
        ("tier mid;", format!("tier {long};")),
        ("api openai-chat;", format!("api {long};")),
        ("api openai-chat;", format!("{long} openai-chat;")),
        ("retry once", long.clone()),
        ("tier mid {", format!("tier {long}/b {{")),
    ] {
        let found = found(&POLICY.replacen(right, &slip, 1));
        assert!(!found.is_empty());
        for d in found {
            let labels: usize = d.labels.iter().map(|label| label.message.len()).sum();
            let fix = d.fix.as_ref().map_or(0, |fix| fix.title.len());
            assert!(d.message.len() + d.here.len() + d.help.len() + labels + fix < 2_000, "{}", d.entry().id);
        }
    }
}

#[test]
fn blocks_that_are_never_closed_are_told_in_one_place_once() {
    let found = found(&format!("switchback 1\n{}", "tier a {\n".repeat(3_000)));
    let mut places: Vec<_> = found.iter().map(|d| (d.code, d.span, &d.message)).collect();
    let count = places.len();
    places.dedup();
    assert_eq!(places.len(), count);
}

/// Whoever renames a reference of a set whose blocks are called like each other hears of it at the reference.
#[test]
fn a_wrong_name_is_told_where_it_is_referred_to() {
    let alike = POLICY.replace("tier mid", "tier assistant").replace("model llama-70b", "model groq-70b");
    assert_eq!(found(&alike), []);
    for (right, slip, told) in [
        ("{ tier assistant;", "{ tier nope;", "nope"),
        ("budget chat }", "budget nope }", "nope"),
        ("provider cerebras }", "provider nope }", "nope"),
        // Referred to by the name that all of them have, and declared under another.
        ("tier assistant {", "tier other {", "other"),
    ] {
        let text = alike.replacen(right, slip, 1);
        let found = found(&text);
        let said: Vec<_> = found.iter().map(|d| (d.code, &text[d.span.start as usize..d.span.end as usize])).collect();
        assert_eq!(said, [(Code::UnknownName, told)], "{slip}");
    }
}

/// A slip in the word of a block, whose name is then missing where it is referred to, is told in two findings.
#[test]
fn a_block_of_another_kind_is_told_at_its_word() {
    let found = found(&POLICY.replacen("provider groq {", "contract groq {", 1));
    let said: Vec<_> = found.iter().map(|d| (d.code, d.help.as_str())).collect();
    assert!(matches!(said.as_slice(), [(Code::WrongBlock, "write `provider`"), (Code::UnknownName, _)]), "{said:?}");
}

/// Nobody is told what is wrong without being told what to do.
#[test]
fn no_slip_is_without_a_next_step() {
    for (right, slip, ..) in SLIPS {
        for diagnostic in found(&POLICY.replacen(right, slip, 1)) {
            assert!(!diagnostic.help.is_empty(), "{slip}: {}", diagnostic.message);
        }
    }
}
