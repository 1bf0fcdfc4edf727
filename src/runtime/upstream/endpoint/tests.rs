use super::*;
use crate::source::Span;

struct World;

impl Outside for World {
    fn env(&self, name: &str) -> Option<String> {
        match name {
            "KEY" => Some("k-1".into()),
            "BLANK" => Some(" ".into()),
            "TWO_LINES" => Some("a\nb".into()),
            _ => None,
        }
    }

    fn file(&self, path: &str) -> std::io::Result<String> {
        if path == "/keys/one" { Ok("k-2\n".into()) } else { Err(std::io::ErrorKind::NotFound.into()) }
    }
}

fn provider() -> Provider {
    Provider {
        name: "p".into(),
        span: Span::default(),
        docs: None,
        api: Api::OpenaiChat,
        base_url: None,
        keys: Vec::new(),
        headers: Vec::new(),
        pass_headers: Vec::new(),
        account: "p".into(),
        timeout_connect: Millis(2_000),
        breaker: crate::policy::BreakerRules::default(),
        retry: crate::policy::RetryRatio::default(),
    }
}

fn env(name: &str, default: Option<&str>) -> Text {
    Text::Env { name: name.into(), default: default.map(Into::into) }
}

#[test]
fn the_default_address_is_openai_and_the_key_is_a_bearer() {
    let endpoint = Endpoint::resolve(&Provider { keys: vec![env("KEY", None)], ..provider() }, &World).unwrap();
    assert_eq!(endpoint.url, "https://api.openai.com/v1/chat/completions");
    assert_eq!(endpoint.keys, [Secret::new("Bearer k-1")]);
}

#[test]
fn messages_go_to_anthropic_with_the_key_by_itself() {
    let provider = Provider { api: Api::AnthropicMessages, keys: vec![env("KEY", None)], ..provider() };
    let endpoint = Endpoint::resolve(&provider, &World).unwrap();
    assert_eq!(endpoint.url, "https://api.anthropic.com/v1/messages");
    assert_eq!((endpoint.key_header, &endpoint.keys[..]), ("x-api-key", &[Secret::new("k-1")][..]));
}

#[test]
fn a_key_is_never_shown() {
    let endpoint = Endpoint::resolve(&Provider { keys: vec![env("KEY", None)], ..provider() }, &World).unwrap();
    assert!(!format!("{endpoint:?}").contains("k-1"));
    let error = Endpoint::resolve(&Provider { keys: vec![env("TWO_LINES", None)], ..provider() }, &World).unwrap_err();
    assert!(!error.to_string().contains('\n'), "{error}");
}

#[test]
fn a_missing_or_blank_variable_is_named() {
    for name in ["ABSENT", "BLANK"] {
        let error = Endpoint::resolve(&Provider { keys: vec![env(name, None)], ..provider() }, &World).unwrap_err();
        assert!(error.to_string().contains(name) && error.to_string().contains("`p`"), "{error}");
        assert!(error.to_string().contains("`key`"), "{error}");
    }
    let pool = vec![env("KEY", None), env("ABSENT", None)];
    let error = Endpoint::resolve(&Provider { keys: pool, ..provider() }, &World).unwrap_err();
    assert!(error.to_string().contains("`keys`"), "as the policy says it: {error}");
}

#[test]
fn defaults_stand_in_for_what_is_absent() {
    let base = Some(env("ABSENT", Some("http://127.0.0.1:9/v1/")));
    let endpoint = Endpoint::resolve(&Provider { base_url: base, ..provider() }, &World).unwrap();
    assert_eq!(endpoint.url, "http://127.0.0.1:9/v1/chat/completions");
}

#[test]
fn a_file_loses_its_last_line_break_and_a_missing_one_is_named() {
    let file = |path: &str| Some(Text::File { path: path.into(), default: None });
    let endpoint =
        Endpoint::resolve(&Provider { keys: file("/keys/one").into_iter().collect(), ..provider() }, &World).unwrap();
    assert_eq!(endpoint.keys, [Secret::new("Bearer k-2")]);
    let error = Endpoint::resolve(&Provider { keys: file("/keys/two").into_iter().collect(), ..provider() }, &World)
        .unwrap_err();
    assert!(error.to_string().contains("/keys/two"), "{error}");
}

#[test]
fn an_address_must_be_one() {
    for bad in ["ftp://x", "x.example", "https://", "https://u:p@x", "https://x/v1?key=1", "http://:80", "https://x y"]
    {
        let base = Some(Text::Literal(bad.into()));
        let error = Endpoint::resolve(&Provider { base_url: base, ..provider() }, &World).unwrap_err();
        assert!(error.to_string().contains("base-url"), "{bad}: {error}");
    }
}

#[test]
fn what_was_sent_in_confidence_is_taken_out_of_an_upstreams_words() {
    let mut provider = provider();
    provider.keys = vec![Text::Literal("abc+def/ghi==".into())];
    let endpoint = Endpoint::resolve(&provider, &Process).unwrap();
    let said = "no such key: Bearer abc+def/ghi==, that is abc+def/ghi==!";
    assert_eq!(endpoint.scrub(said.into()), "no such key: [key], that is [key]!");
    assert_eq!(endpoint.scrub("nothing here".into()), "nothing here");
    assert_eq!(endpoint.scrub("cut: Bearer abc+def/g…".into()), "cut: [key]…");
    assert_eq!(endpoint.scrub("cut: abc+def/g…".into()), "cut: [key]…");
    assert_eq!(endpoint.scrub_bytes(b"abc+def/ghi==").as_deref(), Some(&b"[key]"[..]));
    assert_eq!(endpoint.scrub_bytes(b"nothing here"), None);
}
