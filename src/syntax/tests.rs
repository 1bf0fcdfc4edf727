use super::*;
use crate::diag::Code;
use crate::source::{FileId, Source, Span};
use crate::syntax::tree::{Item, ItemKind, Statement, TokenKind};
use proptest::prelude::*;

fn source(text: &str) -> Source {
    Source::new(FileId(0), "test.sbk", text)
}

fn clean(text: &str) -> Tree {
    let (tree, diagnostics) = parse(&source(text));
    assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
    tree
}

/// Code, line and column of each diagnostic.
fn found(text: &str) -> Vec<(Code, u32, u32)> {
    let source = source(text);
    parse(&source)
        .1
        .into_iter()
        .map(|d| {
            let place = source.place(d.span.start);
            (d.code, place.line, place.column)
        })
        .collect()
}

/// Statements without places: items as text, blocks in braces.
pub(super) fn outline(statements: &[Statement]) -> String {
    fn items(items: &[Item]) -> String {
        items.iter().map(item).collect::<Vec<_>>().join(" ")
    }
    fn item(item: &Item) -> String {
        match &item.kind {
            ItemKind::Word(word) => word.clone(),
            ItemKind::Str(text) => format!("{text:?}"),
            ItemKind::Number(number) => format!("#{number}"),
            ItemKind::List(elements) => {
                format!("[{}]", elements.iter().map(|e| items(e)).collect::<Vec<_>>().join(", "))
            }
            ItemKind::Group(inner) => format!("({})", items(inner)),
            ItemKind::Arrow => "->".into(),
            ItemKind::Comma => ",".into(),
            ItemKind::Operator(operator) => operator.text().into(),
        }
    }
    statements
        .iter()
        .map(|s| {
            let docs = s.docs.as_ref().map(|d| format!("<{d}> ")).unwrap_or_default();
            let block = s.block.as_ref().map(|b| format!(" {{{}}}", outline(&b.statements))).unwrap_or_default();
            format!("{docs}{}{block}", items(&s.items))
        })
        .collect::<Vec<_>>()
        .join("; ")
}

/// A policy in the style of the language's examples.
pub(super) const SAMPLE: &str = r#"switchback 1

# Two houses, one model.
provider red  { api emulated; account main }
provider blue { api openai-chat; base-url "http://127.0.0.1:9/v1"; key env BLUE_KEY }

## What both serve.
## In two lines.
model chat-1.5 {
  modalities [text, image]
  price      $2.50/M in, $10/M out
  context    64k
}
target red-1 {
  model chat-1.5; provider red; region us-east
  failure 400 "Busy" is overloaded
  script {
    from 20s to 80s answers overloaded after 50ms   # a minute
    repeats every 5m
  }
}
tier both {
  chain { red-1; blue-1 when request.tokens > 100k and
    request.region in [us-*] }
  chain in [eu-*] { blue-1 70%, red-1 30% }
}
matrix plain {
  connect, timeout-*,
    overloaded -> retry once, failover
  rate-limit when (failure.retry-after >= 5s or time.left < 6s) and not request.stream -> failover
  otherwise -> stop as 503
}
evaluation chat-1.5 for both { measured 2026-10-02; task-success 95.2% }
"#;

#[test]
fn statements_end_with_lines_semicolons_and_blocks() {
    let tree = clean("a b; c\nd { e; f } g { }\nh,\n i ->\n\n j and\nk");
    assert_eq!(outline(&tree.statements), "a b; c; d {e; f}; g {}; h , i -> j and k");
}

#[test]
fn items_are_told_apart() {
    let tree =
        clean(r#"x gpt-4.1 a->b timeout-* * OPENAI_API_KEY 8s 99.5% $2.50/M 2026-10-02 64KiB 5%->y "a\"\\\n\t\u{e9}""#);
    assert_eq!(
        outline(&tree.statements),
        r#"x gpt-4.1 a -> b timeout-* * OPENAI_API_KEY #8s #99.5% #$2.50/M #2026-10-02 #64KiB #5% -> y "a\"\\\n\té""#
    );
    let tree = clean("x [a, b c,\n  \"d\", ] (e == f.g and\n not h(\"i\")) <= a != b < c");
    assert_eq!(outline(&tree.statements), "x [a, b c, \"d\"] (e == f.g and not h (\"i\")) <= a != b < c");
}

#[test]
fn documentation_is_what_stands_directly_above() {
    let tree = clean("## one\n##two\na { ## no\n  b\n  ## in\n  # allow SB0612: why\n  c\n}\n## far\n\nd; ## no\ne");
    assert_eq!(outline(&tree.statements), "<one\ntwo> a {b; <in> c}; d; e");
}

#[test]
fn spans_cover_what_was_written() {
    let tree = clean(SAMPLE);
    let text = |span: Span| tree.source.slice(span);
    let red = &tree.statements[1];
    assert_eq!(text(red.span), "provider red  { api emulated; account main }");
    assert_eq!(text(red.block.as_ref().unwrap().span), "{ api emulated; account main }");
    assert_eq!(text(red.block.as_ref().unwrap().statements[1].span), "account main");
}

#[test]
fn tokens_hold_the_whole_text() {
    let tree = clean(SAMPLE);
    let rest: String = {
        let mut at = 0;
        let mut gaps = String::new();
        for token in &tree.tokens {
            assert!(token.span.start as usize >= at);
            gaps.push_str(&SAMPLE[at..token.span.start as usize]);
            at = token.span.end as usize;
        }
        gaps + &SAMPLE[at..]
    };
    assert_eq!(rest.trim(), "");
    assert_eq!(tree.tokens.iter().filter(|t| t.kind == TokenKind::LineEnd).count(), SAMPLE.matches('\n').count());
}

#[test]
fn a_missing_bracket_is_found_where_the_layout_shows_it() {
    use Code::{MismatchedBracket, StrayCloser, UnclosedBracket};
    let cases: &[(&str, Code, u32, u32, &str)] = &[
        ("a {\n  b\n\nc {\n  d\n}\n", UnclosedBracket, 3, 1, "a {b}; c {d}"),
        ("a {\n  b {\n    c\n  d\n}\ne\n", UnclosedBracket, 4, 3, "a {b {c}; d}; e"),
        ("a { b { c; d }\ne\n", UnclosedBracket, 1, 15, "a {b {c; d}}; e"),
        ("a {\n  b [c, d\n  e f\n}\n", UnclosedBracket, 2, 5, "a {b [c, d]; e f}"),
        ("a { b [c, d; e }\nf", UnclosedBracket, 1, 7, "a {b [c, d]; e}; f"),
        ("a {\n  b when (c == d {\n    e\n  }\n}\n", UnclosedBracket, 2, 10, "a {b when (c == d) {e}}"),
        ("a\n  b\n  c\n}\nd\n", Code::MissingOpener, 1, 1, "a {b; c}; d"),
        ("a {\n  b\n    c\n  }\n}\n", Code::MissingOpener, 2, 3, "a {b {c}}"),
        ("a {\n  b { c }}\n  d\n}\n", StrayCloser, 2, 10, "a {b {c}; d}"),
        ("a b]\nc", StrayCloser, 1, 4, "a b; c"),
        ("a [b, c)\nd", MismatchedBracket, 1, 8, "a [b, c]; d"),
        ("a {\n  b [c, d}\n  e\n}\n", MismatchedBracket, 2, 10, "a {b [c, d]; e}"),
        ("a { {\n  b\n}\nc\n", Code::HeadlessBlock, 1, 5, "a {b}; c"),
        ("a b\n{\n  c\n}\nd\n", Code::HeadlessBlock, 2, 1, "a b {c}; d"),
    ];
    for (text, code, line, column, read) in cases {
        assert_eq!(found(text), [(*code, *line, *column)], "{text}");
        assert_eq!(outline(&parse(&source(text)).0.statements), *read, "{text}");
    }
}

#[test]
fn layout_does_not_matter_where_brackets_match() {
    assert_eq!(outline(&clean("a {\nb {\nc\n}\n    d [\ne,\nf] }\n").statements), "a {b {c}; d [e, f]}");
}

#[test]
fn an_unclosed_string_ends_with_its_line() {
    assert_eq!(found("a { b \"c d; e }\nf\n"), [(Code::UnclosedString, 1, 7)]);
    let (tree, _) = parse(&source("a { b \"c d; e }\nf \"g\\\nh\n"));
    assert_eq!(outline(&tree.statements), "a {b \"c d; e\"}; f \"g \"; h");
}

#[test]
fn each_misplaced_piece_is_named_once() {
    use Code::{BadEscape, EmptyStatement, MissingItem, StrayText};
    let cases: &[(&str, Code, u32, &str)] = &[
        ("a -> -> b", MissingItem, 6, "a -> b"),
        ("a, -> b", MissingItem, 4, "a -> b"),
        ("a b,, c", MissingItem, 5, "a b , c"),
        ("a { b, }", MissingItem, 6, "a {b}"),
        ("-> a", MissingItem, 1, "a"),
        ("a >=", MissingItem, 3, "a >="),
        ("a [b,, c]", MissingItem, 6, "a [b, c]"),
        ("a [, b]", MissingItem, 4, "a [b]"),
        ("a;; b", EmptyStatement, 3, "a; b"),
        ("a = b", StrayText, 3, "a b"),
        ("a: b", StrayText, 1, "a b"),
        ("a b/c", StrayText, 3, "a b/c"),
        ("a b--c", StrayText, 3, "a b--c"),
        ("a 'b", StrayText, 3, "a"),
        ("a \u{a0} b", StrayText, 3, "a b"),
        ("a “b”", StrayText, 3, "a"),
        ("a => b", StrayText, 3, "a b"),
        ("a \"b\\q\"", BadEscape, 5, "a \"b\\\\q\""),
        ("a \"\\u{110000}\"", BadEscape, 4, "a \"\\\\u{110000}\""),
    ];
    for (text, code, column, read) in cases {
        assert_eq!(found(text), [(*code, 1, *column)], "{text}");
        assert_eq!(outline(&parse(&source(text)).0.statements), *read, "{text}");
    }
}

#[test]
fn unrelated_mistakes_are_all_shown() {
    let mut text = String::from("switchback 1\n");
    let mistakes = [
        "price = $1",
        "key \"abc",
        "list [a, b",
        "row a -> -> b",
        "up 'x'",
        "a b,, c",
        "x {{ y }",
        "esc \"\\q\"",
        "s;; t",
        "w [a)",
    ];
    for (n, mistake) in mistakes.iter().chain(&mistakes).enumerate() {
        text.push_str(&format!("block b{n} {{\n  before 1\n  {mistake}\n  after 2\n}}\n"));
    }
    let mut lines: Vec<u32> = found(&text).into_iter().map(|(_, line, _)| line).collect();
    lines.dedup();
    assert_eq!(lines, (0..20).map(|n| 4 + 5 * n).collect::<Vec<_>>());
    let (tree, _) = parse(&source(&text));
    assert_eq!(outline(&tree.statements).matches("after #2").count(), 20);
}

#[test]
fn losing_or_doubling_any_token_makes_at_most_two_diagnostics() {
    let tree = clean(SAMPLE);
    for token in &tree.tokens {
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        let (before, it, after) = (&SAMPLE[..start], &SAMPLE[start..end], &SAMPLE[end..]);
        for text in
            [format!("{before}{after}"), format!("{before}{it}{it}{after}"), format!("{before}{it} {it}{after}")]
        {
            let found = found(&text);
            assert!(found.len() <= 2, "{found:?}\n{text}");
        }
    }
}

#[test]
fn deep_nesting_is_refused_without_overflow() {
    for (open, close) in [("[", "]"), ("(", ")"), ("a{", "}")] {
        let deep = |n: usize| format!("x {}{}\ny\n", open.repeat(n), close.repeat(n));
        assert_eq!(found(&deep(guard::MAX_DEPTH)).len(), 0);
        let (tree, diagnostics) = parse(&source(&deep(100_000)));
        assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::TooDeep]);
        assert!(outline(&tree.statements).ends_with("; y"));
        let unclosed = found(&open.repeat(100_000));
        assert!(unclosed.len() <= guard::MAX_DEPTH + 2);
        let spaced = format!("{open} ").repeat(200);
        assert!(brackets::is_whole(&guard::guard(&source(&spaced)).0.text), "{spaced}");
    }
}

#[test]
fn time_grows_with_the_text_and_no_faster() {
    // Each of these made a quadratic scan of an earlier kind of lexer slow; these must be a matter of a
    // second or so even unoptimised, and a quadratic reading would take hours.
    for piece in ["a \"b\" ", "[", "a { ", "\"a\n", "}", "## d\n", "a,\n", "]", "a\n  b\n}\n"] {
        let text = piece.repeat(60_000 / piece.len());
        let _ = parse(&source(&text));
    }
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let text = "# a\n".repeat(guard::MAX_BYTES / 4 + 1);
    let (tree, diagnostics) = parse(&source(&text));
    assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::TextTooLarge]);
    assert!(tree.statements.is_empty());
}

#[test]
fn each_conflict_of_a_merge_is_told_once_and_its_first_version_is_read() {
    let text = "a {\n<<<<<<< HEAD\n  b 1 }\n=======\n  b \"2 }\n>>>>>>> it's [theirs\n\
                <<<<<<< HEAD\nc\n||||||| base\nd {\n=======\ne\n>>>>>>> theirs\nf\n";
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        let (tree, diagnostics) = parse(&source(&text));
        assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::MergeConflict; 2], "{diagnostics:?}");
        assert_eq!(diagnostics.iter().map(|d| d.labels.len()).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(outline(&tree.statements), "a {b #1}; c; f");
    }
    // Half of a conflict: the lines that were left are told, and what stands between them is read.
    for (text, count) in [
        ("a\n=======\nb\n>>>>>>> x\nc\n", 1),
        ("<<<<<<< x\na\nb\nc\n", 1),
        (">>>>>>> x\na\n=======\nb\nc", 2),
        ("<<<<<<< x\na\n<<<<<<< x\nb\nc\n", 2),
    ] {
        let (tree, diagnostics) = parse(&source(text));
        assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), vec![Code::MergeConflict; count], "{text}");
        assert_eq!(outline(&tree.statements), "a; b; c", "{text}");
    }
    for text in ["# <<<<<<< x\na\n", "  ======= x\n", "<<<<<<<<\n", "=======x\n", "======\n"] {
        assert!(found(text).iter().all(|d| d.0 != Code::MergeConflict), "{text}");
    }
}

/// Bits of policies and of trouble.
fn fragments() -> impl Strategy<Value = String> {
    let bit = prop::sample::select(vec![
        "provider",
        "a",
        "b-*",
        "and",
        "or",
        "8s",
        "$1/M",
        "\"x\"",
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        ",",
        ";",
        "->",
        "-",
        ">",
        "<=",
        "==",
        "=",
        "!",
        "# c",
        "## d",
        "\n",
        "\n  ",
        "\n    ",
        " ",
        "\t",
        "\r\n",
        "é",
        "“",
        "\u{a0}",
        "\u{feff}",
        "\u{0}",
        ".",
        "_",
        "*",
        "{ a; b }",
        "[a, b]",
        "\n<<<<<<< a\n",
        "\n=======\n",
        "\n||||||| b\n",
        "\n>>>>>>> c\n",
    ]);
    prop::collection::vec(bit, 0..60).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_a_tree(text in prop_oneof![3 => fragments(), 1 => any::<String>()]) {
        let source = source(&text);
        let (repaired, _) = guard::guard(&source);
        prop_assert!(brackets::is_whole(&repaired.text), "{:?} became {:?}", text, repaired.text);
        prop_assert!(pest::accepts(&repaired.text), "{:?} became {:?}", text, repaired.text);
        let (tree, diagnostics) = parse(&source);
        let inside = |span: Span| text.get(span.start as usize..span.end as usize).is_some();
        prop_assert!(tree.tokens.iter().all(|t| inside(t.span)));
        for d in &diagnostics {
            prop_assert!(inside(d.span) && d.labels.iter().all(|l| inside(l.span)), "{:?}", d);
        }
    }
}
