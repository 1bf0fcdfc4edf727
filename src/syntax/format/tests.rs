use super::format;
use crate::source::{FileId, Source};
use crate::syntax::tests::{SAMPLE, outline};
use crate::syntax::{parse, says_the_same};
use proptest::prelude::*;

/// Formats a text without mistakes, and checks what holds for each: it says the same and is a fixed point.
fn formatted(text: &str) -> String {
    let read = |text: &str| {
        let (tree, diagnostics) = parse(&Source::new(FileId(0), "test.sbk", text));
        assert!(diagnostics.is_empty(), "{text}\n{diagnostics:#?}");
        tree
    };
    let before = read(text);
    let once = format(&before);
    let after = read(&once);
    assert_eq!(outline(&before.statements), outline(&after.statements), "{text}\n{once}");
    assert!(says_the_same(&before, &after), "{text}\n{once}");
    assert_eq!(format(&after), once);
    once
}

/// What stands between a chain's word and its block says where it holds, and is no value to be put in a column.
#[test]
fn the_regions_of_a_chain_are_no_value() {
    let text = "switchback 1\n\ntier t {\n  slow-above 12s\n  chain in [eu-*] { b }\n  chain {\n    a\n  }\n}\n";
    let source = crate::source::Source::new(crate::source::FileId(0), "a.sbk", text);
    assert_eq!(super::format(&crate::syntax::parse(&source).0), text);
}

#[test]
fn a_laid_out_file_stays_as_it_is() {
    let text = r#"switchback 1

# Two houses, one model.
provider red  { api emulated; account main }
provider blue { api openai-chat; base-url "http://127.0.0.1:9/v1"; key env BLUE_KEY }

## What both serve.
model chat-1.5 {
  modalities [text, image]
  price      $2.50/M in, $10/M out
  context    >= 64k  # at least
}
target red-1     { model chat-1.5; provider red;  region us-east }
target blue-west { model chat-1.5; provider blue; region us-west }

tier both {
  slow-above 12s
  prefer     same-model
  chain { red-1; blue-1 }

  # Over two lines.
  chain in [us-*, eu-*] {
    red-1 when request.metadata("class") == "batch" and
      not (request.stream or request.tokens > 100k)
    blue-1 70%, red-1 30%
  }
}
matrix plain {
  connect, timeout-* -> retry once, failover
  rate-limit         -> wait up to 5s
  auth, permission, invalid-request, payload-too-large, policy -> stop
  empty-response,
    malformed-response -> failover
  otherwise -> stop
}
ramp slow { 20% for 1m; 100% }
evaluation a         for one   { samples 400; measured 2026-10-02 }
evaluation much-more for other { samples 2;   measured 2026-10-02 }

test "a list" {
  send   both { tokens 200 }
  red-1  answers overloaded after 50ms
  expect served by blue-1
  expect path [
    overloaded,  # first
    failover,
    ok,
  ]
}
"#;
    assert_eq!(formatted(text), text);
}

#[test]
fn spaces_blank_lines_and_indentation_are_made_regular() {
    assert_eq!(
        formatted("\u{feff}\n\na   b;c\r\n\n\n\nd{\n\n# e   \n\tf [ g ,h ]( i )\n    j  k\n\n}\n\n\n"),
        "a b; c\n\nd {\n  # e\n  f [g, h] (i)\n  j k\n}\n"
    );
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("\n\n"), "");
    assert_eq!(formatted("# only"), "# only\n");
}

#[test]
fn a_block_over_lines_has_its_braces_at_line_ends() {
    assert_eq!(
        formatted("a { b; c\n    d } e\nf { g { h\n } }; i # j\n"),
        "a {\n  b; c\n  d\n}\ne\nf {\n  g {\n    h\n  }\n};\ni  # j\n"
    );
}

#[test]
fn the_sample_keeps_its_comments() {
    let once = formatted(SAMPLE);
    let comments =
        |text: &str| text.lines().filter_map(|l| l.split_once('#').map(|c| c.1.to_owned())).collect::<Vec<_>>();
    assert_eq!(comments(&once), comments(SAMPLE));
}

fn statements() -> impl Strategy<Value = String> {
    let bit = prop::sample::select(vec![
        "a",
        "bc-d",
        "key env X",
        "8s",
        "\"x\"",
        "{ ",
        " }",
        "{\n",
        "\n}",
        "[a, b]",
        "[\na,\nb\n]",
        "(c or\nd)",
        ", ",
        ";",
        " -> ",
        " <= ",
        "# c\n",
        "\n## d\n",
        "\n",
        "\n\n",
        "\n\n\n",
        " and ",
        " { x; y z } ",
        "h(\"i\")",
    ]);
    prop::collection::vec(bit, 0..40).prop_map(|bits| bits.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn formatting_is_a_fixed_point_and_says_the_same(text in statements()) {
        if parse(&Source::new(FileId(0), "test.sbk", text.as_str())).1.is_empty() {
            formatted(&text);
        }
    }
}

#[test]
fn trees_that_say_something_else_are_told_apart() {
    let tree = |text: &str| parse(&Source::new(FileId(0), "test.sbk", text)).0;
    assert!(says_the_same(&tree("a { b; c [d, e] } # f"), &tree("a {\n  b\n  c [d,e,]\n}\n# f")));
    for other in ["a { b; c [d, e] }", "a { b; c [d] } # f", "a { b c [d, e] } # f", "a { b; c (d, e) } # f", "a; # f"]
    {
        assert!(!says_the_same(&tree("a { b; c [d, e] } # f"), &tree(other)), "{other}");
    }
    assert!(!says_the_same(&tree("## x\na"), &tree("## x\n\na")));
}
