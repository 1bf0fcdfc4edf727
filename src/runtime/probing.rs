//! What a probe asks, and what its answer says of a target's health.
//!
//! In: a probe's rules, who is asked, an answer. Out: a request, when the next one is due, and what is to be noted. The
//! answer is judged as one to a client is, and then by what the policy expects of it: an empty, garbled or wrong one never
//! passes. Sends nothing and keeps nothing.

use crate::classify::Headers;
use crate::classify::vendor::Vendor;
use crate::decide::draw;
use crate::decide::vitals::Probed;
use crate::policy::probe::{BadAnswer, ProbeKind, ProbeRules};
use crate::policy::{Class, Dialect, Millis, Usage};
use crate::wire::chat::answer::Asked;
use crate::wire::chat::{ChatRequest, request};
use crate::wire::messages::Answering;
use crate::wire::translate;
use bytes::Bytes;
use serde_json::{Value, json};

/// The function that a probe by `kind tools` is to call.
const TOOL: &str = "answer";

/// The question: the fewest words, and a limit under the name that the vendor takes.
pub(super) fn question(rules: &ProbeRules, model: &str, vendor: &Vendor) -> Result<ChatRequest, request::BadRequest> {
    // OpenAI's reasoning models refuse the older name, and all of its models take the newer one.
    let limit = if vendor.name == "openai" { "max_completion_tokens" } else { "max_tokens" };
    let mut body = json!({
        "model": model, "messages": [{"role": "user", "content": rules.prompt}], limit: rules.max_tokens,
    });
    if let (ProbeKind::Tools, Value::Object(members)) = (rules.kind, &mut body) {
        members.insert("tools".to_owned(), json!([tool()]));
        members.insert("tool_choice".to_owned(), json!("required"));
    }
    request::read(Bytes::from(body.to_string()))
}

fn tool() -> Value {
    let parameters = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let function = json!({"name": TOOL, "description": "Gives the answer.", "parameters": parameters});
    json!({"type": "function", "function": function})
}

/// What a probe uses at most: its words and its tool, a token a byte, and the whole answer.
pub(super) fn usage(rules: &ProbeRules) -> Usage {
    let tool = if rules.kind == ProbeKind::Tools { tool().to_string().len() } else { 0 };
    let input = u64::try_from(rules.prompt.len() + tool).unwrap_or(u64::MAX);
    Usage { input, output: u64::from(rules.max_tokens), cached: 0 }
}

/// From the end of one probe to the next. A changing state is looked at more often, so that it is known soon and not
/// guessed. `seed` tells targets and instances apart, so that they do not march in step.
pub(super) fn pause(rules: &ProbeRules, changing: bool, seed: u64, number: u64) -> Millis {
    let every = if changing { rules.hurried() } else { rules.every };
    every.plus(Millis(draw::below(seed, number, rules.jitter.of(every).0)))
}

/// What a success by status says, after so long.
pub(super) fn of_success(
    rules: &ProbeRules,
    (dialect, asked): (Dialect, &Asked),
    headers: &dyn Headers,
    body: Bytes,
    took: Millis,
    wall_ms: u64,
) -> Probed {
    let judged = translate::judge(dialect, headers, body.clone(), asked, Answering::default, wall_ms);
    let good = match &judged {
        Ok((body, answered)) => Answer::read(body).fits(rules, answered.finish.as_deref() == Some("length")),
        // Cut short of the probe's limit: what there is has to do.
        Err(failure) if failure.class == Class::Truncated => {
            let answer = Answer::read(&body);
            answer.holds_something() && answer.fits(rules, true)
        }
        Err(_) => false,
    };
    match judged {
        _ if good => Probed::Passed(took),
        Err(failure) if !is_bad_answer(failure.class) => verdict_on(failure.class),
        Ok(_) | Err(_) => bad(rules),
    }
}

/// What an answer that is none is taken for.
pub(super) fn bad(rules: &ProbeRules) -> Probed {
    match rules.bad_answer {
        BadAnswer::Fail => Probed::Failed,
        BadAnswer::Slow => Probed::Poor,
    }
}

/// Successes by status that are no answer, or not enough of one.
fn is_bad_answer(class: Class) -> bool {
    matches!(class, Class::EmptyResponse | Class::MalformedResponse | Class::SchemaInvalid | Class::Truncated)
}

/// What an error says about health: a limit or a credential is about us, a refusal or a bad request about the question.
pub(super) fn verdict_on(class: Class) -> Probed {
    match class {
        Class::RateLimit
        | Class::QuotaExhausted
        | Class::Auth
        | Class::Permission
        | Class::InvalidRequest
        | Class::ContextOverflow
        | Class::PayloadTooLarge
        | Class::Policy => Probed::Inconclusive,
        Class::Connect
        | Class::TimeoutHeaders
        | Class::TimeoutFirstToken
        | Class::TimeoutIdle
        | Class::Overloaded
        | Class::ServerError
        | Class::NotFound
        | Class::SchemaInvalid
        | Class::EmptyResponse
        | Class::MalformedResponse
        | Class::Truncated
        | Class::StreamEarly
        | Class::PartialStream
        | Class::Unknown => Probed::Failed,
    }
}

/// What of an answer a policy may expect something of.
#[derive(Debug, Default)]
struct Answer {
    text: String,
    /// Name and arguments of each call.
    calls: Vec<(String, String)>,
}

impl Answer {
    fn read(body: &[u8]) -> Answer {
        let whole: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(message) = whole.pointer("/choices/0/message") else { return Answer::default() };
        let word = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        let calls = calls.map(|call| (word(call.pointer("/function/name")), word(call.pointer("/function/arguments"))));
        Answer { text: word(message.get("content")), calls: calls.collect() }
    }

    fn holds_something(&self) -> bool {
        !self.text.is_empty() || !self.calls.is_empty()
    }

    /// Whether it is what the policy expects. `cut`: it ended by its length.
    fn fits(&self, rules: &ProbeRules, cut: bool) -> bool {
        let text = match rules.kind {
            ProbeKind::Generate | ProbeKind::Embedding | ProbeKind::Endpoint => self.text.as_str(),
            ProbeKind::Tools => match self.calls.first() {
                // Text instead of a call is no call; nothing yet may have been on the way to one.
                None if rules.answer_contains.is_none() => return cut && self.text.is_empty(),
                None => return false,
                Some((name, _)) if name != TOOL => return false,
                Some((_, arguments)) if !cut && !is_object(arguments) => return false,
                Some((_, arguments)) => arguments.as_str(),
            },
        };
        rules.answer_contains.as_ref().is_none_or(|expected| text.contains(expected.as_str()))
    }
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::vendor::ANYBODY;
    use crate::policy::Percent;

    const TOOK: Millis = Millis(70);
    const PASSED: Probed = Probed::Passed(TOOK);

    fn tools() -> ProbeRules {
        ProbeRules { kind: ProbeKind::Tools, ..ProbeRules::default() }
    }

    fn saying(text: &str) -> ProbeRules {
        ProbeRules { answer_contains: Some(text.to_owned()), ..ProbeRules::default() }
    }

    fn of(rules: &ProbeRules, body: &str) -> Probed {
        let chat = question(rules, "m", &ANYBODY).unwrap();
        let asked = Asked { vendor: &ANYBODY, ..chat.asked() };
        let headers = vec![("content-type", "application/json")];
        of_success(rules, (Dialect::Chat, &asked), &headers, Bytes::from(body.to_owned()), TOOK, 0)
    }

    fn answer(message: &str, finish: &str, tokens: u64) -> String {
        format!(
            r#"{{"choices":[{{"index":0,"message":{message},"finish_reason":"{finish}"}}],"usage":{{"prompt_tokens":3,"completion_tokens":{tokens}}}}}"#
        )
    }

    fn text(content: &str, finish: &str, tokens: u64) -> String {
        answer(&format!(r#"{{"role":"assistant","content":"{content}"}}"#), finish, tokens)
    }

    fn called(name: &str, arguments: &str, finish: &str) -> String {
        let function = json!({"name": name, "arguments": arguments});
        let call = json!({"id": "c", "type": "function", "function": function});
        answer(&json!({"role": "assistant", "content": null, "tool_calls": [call]}).to_string(), finish, 5)
    }

    #[test]
    fn what_is_asked_is_the_least_and_no_more_than_the_limit() {
        let body = |rules: &ProbeRules, vendor: &Vendor| {
            let chat = question(rules, "m", vendor).unwrap();
            let body: Value = serde_json::from_slice(&chat.upstream_body("big")).unwrap();
            (chat.asked().max_output, body)
        };
        let (limit, plain) = body(&ProbeRules::default(), &ANYBODY);
        assert_eq!((limit, &plain["max_tokens"], &plain["model"]), (Some(5), &json!(5), &json!("big")));
        assert_eq!(plain["messages"], json!([{"role": "user", "content": "ping"}]));
        let openai = Vendor::named("openai");
        assert_eq!(openai.name, "openai");
        let (limit, newer) = body(&ProbeRules::default(), openai);
        assert_eq!((limit, &newer["max_completion_tokens"], newer.get("max_tokens")), (Some(5), &json!(5), None));
        let (_, tool) = body(&tools(), &ANYBODY);
        assert_eq!((&tool["tool_choice"], &tool["tools"][0]["function"]["name"]), (&json!("required"), &json!(TOOL)));
    }

    #[test]
    fn a_whole_answer_passes_and_so_does_one_that_ends_at_the_probes_own_limit() {
        let rules = ProbeRules::default();
        assert_eq!(of(&rules, &text("pong", "stop", 2)), PASSED);
        assert_eq!(of(&rules, &text("a long answ", "length", 5)), PASSED);
        // A model that thinks first has nothing to show at five tokens.
        assert_eq!(of(&rules, &text("", "length", 5)), PASSED);
        assert_eq!(of(&rules, &text("short", "length", 2)), PASSED, "some count other tokens");
    }

    #[test]
    fn an_empty_a_garbled_and_a_wrong_answer_are_what_the_policy_says_and_never_a_pass() {
        let fail = ProbeRules::default();
        let empty = [
            text("", "stop", 0),
            text("", "length", 2),
            String::new(),
            r#"{"choices":[{"message":{"content":""},"finish_reason":"length"}]}"#.to_owned(),
        ];
        let garbled =
            ["<html>ok</html>", "{}", r#"{"choices":[]}"#, "[1]", "data: {\"choices\":[]}\n\n"].map(str::to_owned);
        for body in empty.iter().chain(&garbled) {
            assert_eq!(of(&fail, body), Probed::Failed, "{body}");
            assert_eq!(of(&ProbeRules { bad_answer: BadAnswer::Slow, ..fail.clone() }, body), Probed::Poor, "{body}");
        }
        assert_eq!(of(&saying("pong"), &text("pong!", "stop", 2)), PASSED);
        for body in [text("ping", "stop", 2), text("p", "length", 5), text("", "length", 5), text("p", "length", 1)] {
            assert_eq!(of(&saying("pong"), &body), Probed::Failed, "{body}");
            let slow = ProbeRules { bad_answer: BadAnswer::Slow, ..saying("pong") };
            assert_eq!(of(&slow, &body), Probed::Poor, "{body}");
        }
    }

    #[test]
    fn a_tool_call_is_a_call_of_that_tool_with_arguments_that_can_be_read() {
        assert_eq!(of(&tools(), &called("answer", r#"{"text":"x"}"#, "tool_calls")), PASSED);
        assert_eq!(of(&tools(), &called("answer", r#"{"te"#, "length")), PASSED);
        assert_eq!(of(&tools(), &text("", "length", 5)), PASSED, "on its way to a call");
        let bad = [
            called("answer", r#"{"te"#, "tool_calls"),
            called("other", "{}", "tool_calls"),
            text("I would call answer()", "stop", 5),
            text("I would", "length", 5),
        ];
        for body in bad {
            assert_eq!(of(&tools(), &body), Probed::Failed, "{body}");
        }
        let saying = ProbeRules { answer_contains: Some("pong".to_owned()), ..tools() };
        assert_eq!(of(&saying, &called("answer", r#"{"text":"pong"}"#, "tool_calls")), PASSED);
        assert_eq!(of(&saying, &called("answer", r#"{"text":"x"}"#, "tool_calls")), Probed::Failed);
        assert_eq!(of(&saying, &text("pong", "stop", 2)), Probed::Failed, "said, and not called");
    }

    #[test]
    fn an_error_under_a_success_is_the_error() {
        let error = |code: &str| format!(r#"{{"error":{{"message":"no","code":"{code}"}}}}"#);
        let slow = ProbeRules { bad_answer: BadAnswer::Slow, ..ProbeRules::default() };
        assert_eq!(of(&slow, &error("rate_limit_exceeded")), Probed::Inconclusive);
        assert_eq!(of(&slow, &error("server_error")), Probed::Failed);
        assert_eq!(of(&slow, &text("", "content_filter", 0)), Probed::Inconclusive);
    }

    #[test]
    fn what_is_about_us_says_nothing_and_what_is_about_the_target_fails() {
        for class in Class::ALL {
            let about_us = matches!(class, Class::RateLimit | Class::QuotaExhausted | Class::Auth | Class::Permission);
            let about_the_question = matches!(
                class,
                Class::InvalidRequest | Class::ContextOverflow | Class::PayloadTooLarge | Class::Policy
            );
            let nothing = about_us || about_the_question;
            assert_eq!(verdict_on(*class) == Probed::Inconclusive, nothing, "{class}");
            assert_eq!(verdict_on(*class) == Probed::Failed, !nothing, "{class}");
        }
    }

    #[test]
    fn probes_are_spread_add_only_and_hurry_while_a_state_changes() {
        let rules = ProbeRules { every: Millis(10_000), jitter: Percent(1_000), ..ProbeRules::default() };
        let pauses = |changing, seed| (1..200).map(|n| pause(&rules, changing, seed, n).0).collect::<Vec<_>>();
        let one = pauses(false, 1);
        assert!(one.iter().all(|p| (10_000..=11_000).contains(p)), "{one:?}");
        assert!(one.iter().max().unwrap() - one.iter().min().unwrap() > 900, "they are drawn");
        assert_ne!(one, pauses(false, 2), "another target, another draw");
        assert!(pauses(true, 1).iter().all(|p| (2_500..=2_750).contains(p)));
        let still = ProbeRules { jitter: Percent(0), ..rules };
        assert_eq!(pause(&still, false, 1, 1), Millis(10_000));
    }
}
