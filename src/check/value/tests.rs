use super::*;
use crate::source::{FileId, Span};

fn at() -> Span {
    Span::new(FileId(0), 0, 1)
}

fn item(kind: ItemKind) -> Item {
    Item { kind, span: at() }
}

fn num(text: &str) -> Item {
    item(ItemKind::Number(text.into()))
}

fn word(text: &str) -> Item {
    item(ItemKind::Word(text.into()))
}

fn quoted(text: &str) -> Item {
    item(ItemKind::Str(text.into()))
}

/// The value, the first code's id, and the fix's text.
fn read<T>(
    read: impl Fn(&Item, &mut Vec<Diagnostic>) -> Option<T>,
    item: &Item,
) -> (Option<T>, Option<&'static str>, Option<String>) {
    let mut out = Vec::new();
    let value = read(item, &mut out);
    assert!(out.len() <= 1, "{out:?}");
    assert_eq!(value.is_none(), out.len() == 1, "{out:?}");
    let first = out.pop();
    (value, first.as_ref().map(|d| d.entry().id), first.and_then(|d| d.fix).map(|f| f.text))
}

#[test]
fn durations_are_whole_milliseconds() {
    for (text, ms) in
        [("250ms", 250), ("8s", 8_000), ("1.5s", 1_500), ("2m", 120_000), ("1h", 3_600_000), ("7d", 604_800_000)]
    {
        assert_eq!(read(duration, &num(text)), (Some(Millis(ms)), None, None), "{text}");
    }
    for (text, code, fix) in [
        ("30", "SB0301", Some("30s")),
        ("5min", "SB0302", Some("5m")),
        ("30%", "SB0302", None),
        ("$3", "SB0302", None),
        ("0.5ms", "SB0304", None),
        ("1.0005s", "SB0304", None),
        ("99999999999999999999d", "SB0304", None),
        ("5x", "SB0302", None),
    ] {
        assert_eq!(read(duration, &num(text)), (None, Some(code), fix.map(str::to_owned)), "{text}");
    }
    assert_eq!(read(duration, &word("soon")).1, Some("SB0303"));
    assert_eq!(read(duration, &quoted("8s")).1, Some("SB0303"));
}

#[test]
fn shares_are_basis_points() {
    assert_eq!(read(percent, &num("99.5%")).0, Some(Percent(9_950)));
    assert_eq!(read(percent, &num("0.25%")).0, Some(Percent(25)));
    assert_eq!(read(percent, &num("100%")).0, Some(Percent(10_000)));
    assert_eq!(read(percent, &num("101%")).1, Some("SB0304"));
    assert_eq!(read(percent, &num("0.125%")).1, Some("SB0304"));
    assert_eq!(read(percent, &num("5")).2.as_deref(), Some("5%"));
}

#[test]
fn counts_know_k_and_m() {
    assert_eq!(read(count, &num("64k")).0, Some(64_000));
    assert_eq!(read(count, &num("1.5k")).0, Some(1_500));
    assert_eq!(read(count, &num("1M")).0, Some(1_000_000));
    assert_eq!(read(count, &num("64K")).2.as_deref(), Some("64k"));
    assert_eq!(read(count, &num("1.5")).1, Some("SB0304"));
    assert_eq!(read(|i, o| integer(i, 1, 9, o), &num("3")).0, Some(3));
    assert_eq!(read(|i, o| integer(i, 1, 9, o), &num("0")).1, Some("SB0304"));
    assert_eq!(read(|i, o| integer(i, 1, 9, o), &num("3k")).1, Some("SB0303"));
    assert_eq!(read(|i, o| integer(i, 1, u32::MAX, o), &num("5000000000")).1, Some("SB0304"));
}

#[test]
fn money_and_prices_are_billionths() {
    assert_eq!(read(money, &num("$0.05")).0, Some(Money(50_000_000)));
    assert_eq!(read(money, &num("$0.000000001")).0, Some(Money(1)));
    assert_eq!(read(money, &num("$0.0000000001")).1, Some("SB0304"));
    assert_eq!(read(money, &num("0.05")).2.as_deref(), Some("$0.05"));
    assert_eq!(read(price, &num("$2.50/M")).0, Some(Price(2_500_000_000)));
    assert_eq!(read(price, &num("$2.50")), (None, Some("SB0301"), Some("$2.50/M".into())));
    assert_eq!(read(price, &num("$20/day")).1, Some("SB0302"));
    assert_eq!(read(size, &num("64KiB")).0, Some(65_536));
    assert_eq!(read(size, &num("64kb")).2.as_deref(), Some("64KiB"));
    assert_eq!(read(|item, out| multiple(item, 1_000, out), &num("2.5x")).0, Some(Multiple(2_500)));
}

#[test]
fn every_kind_is_called_by_its_name() {
    use quantity::kind;
    for (text, is) in [
        ("8s", Kind::Duration),
        ("5%", Kind::Percentage),
        ("64k", Kind::Count),
        ("$1", Kind::Money),
        ("$1/M", Kind::Price),
        ("1MiB", Kind::Size),
        ("2x", Kind::Multiple),
        ("20/s", Kind::Rate),
        ("$200/day", Kind::Rate),
        ("2026-10-02", Kind::Date),
    ] {
        assert_eq!(kind(text), Some(is), "{text}");
        assert_eq!(kind(is.example()), Some(is));
    }
    assert_eq!(kind("3foo"), None);
    assert_eq!(kind("3."), None);
}

#[test]
fn truth_is_yes_or_no() {
    assert_eq!(read(truth, &word("yes")).0, Some(true));
    assert_eq!(read(truth, &word("no")).0, Some(false));
    assert_eq!(read(truth, &word("true")), (None, Some("SB0306"), Some("yes".into())));
    assert_eq!(read(truth, &quoted("no")), (None, Some("SB0306"), Some("no".into())));
    assert_eq!(read(truth, &word("maybe")), (None, Some("SB0306"), None));
}

#[test]
fn names_strings_and_lists() {
    assert_eq!(read(name, &word("gpt-4.1")).0.as_deref(), Some("gpt-4.1"));
    assert_eq!(read(name, &quoted("gpt-4.1")).2.as_deref(), Some("gpt-4.1"));
    assert_eq!(read(name, &word("eu-*")).1, Some("SB0303"));
    assert_eq!(read(string, &word("x")).2.as_deref(), Some("\"x\""));
    let list = item(ItemKind::List(vec![vec![word("a")], vec![word("b")]]));
    let read_names = read(names, &list).0.unwrap();
    assert_eq!(read_names.iter().map(|n| n.value.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(read(names, &word("a")).2.as_deref(), Some("[a]"));
    let mut out = Vec::new();
    let crowded = item(ItemKind::List(vec![vec![word("a"), word("b")]]));
    names(&crowded, &mut out);
    assert_eq!(out[0].entry().id, "SB0308");
}

#[test]
fn a_choice_suggests_the_closest() {
    use crate::policy::Jitter;
    let jitter = |i: &Item, o: &mut Vec<Diagnostic>| choice(i, "a jitter", Jitter::ALL, Jitter::word, o);
    assert_eq!(read(jitter, &word("full")).0, Some(Jitter::Full));
    assert_eq!(read(jitter, &word("ful")), (None, Some("SB0305"), Some("full".into())));
    assert_eq!(read(jitter, &word("x")), (None, Some("SB0305"), None));
}

#[test]
fn references() {
    use crate::policy::Text;
    let read = |items: &[Item]| {
        let mut out = Vec::new();
        (text(items, at(), &mut out), out.first().map(|d| d.entry().id))
    };
    assert_eq!(read(&[quoted("x")]).0, Some(Text::Literal("x".into())));
    assert_eq!(read(&[word("env"), word("A_B")]).0, Some(Text::Env { name: "A_B".into(), default: None }));
    assert_eq!(
        read(&[word("file"), quoted("p"), word("else"), quoted("d")]).0,
        Some(Text::File { path: "p".into(), default: Some("d".into()) })
    );
    assert_eq!(read(&[word("env")]), (None, Some("SB0307")));
    assert_eq!(read(&[]), (None, Some("SB0307")));
    assert_eq!(read(&[word("env"), word("A"), word("or")]).1, Some("SB0308"));
    assert_eq!(read(&[word("env"), word("A"), word("else")]).1, Some("SB0307"));
    let mut out = Vec::new();
    assert_eq!(secret(&[quoted("x")], at(), &mut out), None);
    assert_eq!(secret(&[word("env"), word("A"), word("else"), quoted("x")], at(), &mut out), None);
    assert_eq!(out.iter().map(|d| d.entry().id).collect::<Vec<_>>(), ["SB1101", "SB0303"]);
}

#[test]
fn repetitions() {
    let read = |items: &[Item]| {
        let mut out = Vec::new();
        (times(items, &mut out), out.first().map(|d| d.entry().id))
    };
    assert_eq!(read(&[word("once")]), (Some((Some(1), 1)), None));
    assert_eq!(read(&[num("3"), word("times")]), (Some((Some(3), 2)), None));
    assert_eq!(read(&[num("1"), word("time")]).1, Some("SB0309"));
    assert_eq!(read(&[num("3"), word("time")]).1, Some("SB0309"));
    assert_eq!(read(&[num("3")]).1, Some("SB0309"));
    assert_eq!(read(&[word("after")]), (None, None));
}

#[test]
fn keys_are_recognised_and_ordinary_texts_are_not() {
    for text in [
        "sk-proj-abcdefghijklmnop1234",
        "AKIAIOSFODNN7EXAMPLE",
        "gsk_abcdefghijklmnopqrst",
        "xai-abcdefghijklmnopqrst",
        "Bearer abcdefghijklmnop",
        "0123456789abcdef0123456789abcdef",
        "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    ] {
        assert!(looks_like_key(text), "{text}");
    }
    for text in [
        "gpt-4o-2024-11-20",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "sk-1",
        "ping",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "an outage costs one retry, then the other target answers",
        "123e4567-e89b-12d3-a456-426614174000",
        "evals/2026-10-02/support.json",
    ] {
        assert!(!looks_like_key(text), "{text}");
    }
}

#[test]
fn a_comparison_reads_operator_and_value() {
    let mut out = Vec::new();
    let items = [item(ItemKind::Operator(Operator::AtLeast)), num("64k")];
    let (comparison, value) = comparison(&items, at(), &mut out).unwrap();
    assert_eq!((comparison, count(value, &mut out)), (Comparison::AtLeast, Some(64_000)));
    assert_eq!(super::comparison(&[num("64k")], at(), &mut out), None);
    assert_eq!(super::comparison(&items[..1], at(), &mut out), None);
    assert_eq!(out.iter().map(|d| d.entry().id).collect::<Vec<_>>(), ["SB0307", "SB0307"]);
}
