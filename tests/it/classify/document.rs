//! `docs/classification.md` is written by the tables.

use switchback::classify::rules::{self, Rule};
use switchback::classify::vendor::{ANYBODY, Kind, VENDORS, Vendor};
use switchback::policy::{Class, Scope};

const HEAD: &str = "\
# How failures are classified

An answer, a stream or a broken connection becomes one *class*, at one *stage*, with one *scope* and at most one *hint*. The
same tables decide for live traffic and for `switchback classify`. This page is written by the tables themselves; a test
compares the two.

## How an answer is read

1. The body is unwrapped: JSON in any of the usual shapes, lists of one, errors that stand as text inside errors (at most eight
   deep), Python's and Go's printed errors, XML, pages (what a reader would see), plain text. At most 64 KiB are read, of XML
   and pages 8 KiB, at most 256 members are looked at, and of one message its first 3 KiB and last 1 KiB. What a caller wrote
   and a server repeats (`input`, `prompt`, `messages`, `failed_generation`) is not looked at.
2. Rules are asked in this order: the table of the vendor that a relay names, the table of the vendor, then for everybody
   codes, phrases, types, and at last the status. The first row that fits decides. A status that the body names is nearer to
   the fault than the status of whoever handed it on.
3. Codes are compared in lower case without anything but letters and digits, so that `RateLimitExceeded`,
   `rate_limit_exceeded` and `rate-limit-exceeded` are one; a `*` at an end stands for anything. Phrases are compared in
   lower case; a `*` stands for a gap in the same line.
4. Every success is judged: an error object in any shape, a page, another kind of JSON, no content, a reason that speaks
   against the answer. A refusal that the vendor states is `policy`, even where its content is empty.
5. In a stream, an error before output has the class of its cause, or is `stream-early` where it names none; after output it
   is `partial-stream` with that cause. A reason for the end (filter, length, a spoilt tool call) keeps its own class. A clean
   end without a reason is `truncated`.

`switchback classify` looks at an answer alone. The gateway also knows what was asked for: a stop at the request's own
length limit, or a model that declines in words, is an answer there.

## How hints are read

In this order, the first that is more than nothing: `retry-after-ms`; `Retry-After` in seconds, or as an instant (a date, or
seconds since 1970) against the answer's `Date`; the reset of every rate-limit bucket whose remaining count is zero (the longest); a member of the body
(`retryDelay`, `retry_after`, `estimated_time`, `resets_at` and the like); the prose, where a number with a unit follows words
that speak of waiting. A number below zero, a placeholder, or a number with a unit in `Retry-After` is no wait. Buckets on a
400 or 422 are none, an instant without a zone is none, and next to a `quota-exhausted` a wait below a minute is none: daily
limits come with waits that do not help. Hints count for `rate-limit`, `quota-exhausted`, `overloaded`, `server-error` and
`timeout-headers`. An empty bucket of a day or longer makes a rate limit an allowance.

## From scope to breaker

The scope that is printed says how wide the failure is: what the answer shows, or else what is usual for such a vendor (the
second table). Which breaker is blamed is another question, and the class table of the language answers it. Only a scope that
a rule shows overrides that table:

| the answer shows | blamed |
| --- | --- |
| `request` | nobody: the outcome is neutral |
| `model` | account, model and region together |
| `account` | the account, or of a pool the key |
| `deployment` | the target |
| `region` | the region of the provider |
| `provider` | the provider |
| nothing | what the class table says |

So a `partial-stream`, which is printed as `request` because only that call is lost, is a failure of its target; and a
`rate-limit` without more words is held for account, model and region.

";

fn kinds() -> String {
    let vendor = |kind: Kind| VENDORS.iter().find(|v| v.kind == kind).unwrap_or(&ANYBODY);
    let kinds = [Kind::Hosted, Kind::Deployed, Kind::Local, Kind::Relay, Kind::Edge];
    let mut out =
        String::from("| class | hosted | deployed | local | relay | edge |\n| --- | --- | --- | --- | --- | --- |\n");
    for class in Class::ALL.iter().copied() {
        let widths: Vec<&str> = kinds.iter().map(|k| vendor(*k).width(class).word()).collect();
        out.push_str(&format!("| `{class}` | {} |\n", widths.join(" | ")));
    }
    out.push('\n');
    for (kind, name) in kinds.iter().zip(["Hosted", "Deployed", "Local", "Relay", "Edge"]) {
        let names: Vec<&str> = VENDORS.iter().filter(|v: &&Vendor| v.kind == *kind).map(|v| v.name).collect();
        out.push_str(&format!("- {name}: {}.\n", names.join(", ")));
    }
    out.push_str("\nA vendor that is not named here is hosted, and has no table of its own.\n\n");
    out
}

fn row(rule: &Rule) -> String {
    let cell =
        |words: &[&str]| words.iter().map(|w| format!("`{}`", w.replace('|', "\\|"))).collect::<Vec<_>>().join(" ");
    let mut when = Vec::new();
    if !rule.codes.is_empty() {
        when.push(cell(rule.codes));
    }
    if !rule.phrases.is_empty() {
        when.push(format!("says {}", cell(rule.phrases)));
    }
    if !rule.status.is_empty() {
        let statuses: Vec<String> = rule.status.iter().map(u16::to_string).collect();
        when.push(format!("status {}", statuses.join(", ")));
    }
    let scope = rule.scope.map_or("", Scope::word);
    let source = if rule.source.starts_with("http") { format!("<{}>", rule.source) } else { rule.source.to_string() };
    format!("| `{}` | {} | `{}` | {scope} | {source} |\n", rule.name, when.join("; "), rule.class)
}

#[test]
fn the_page_is_what_the_tables_say() {
    let mut out = HEAD.to_string();
    out.push_str("Where no rule shows a scope:\n\n");
    out.push_str(&kinds());
    out.push_str("## The rules\n\n");
    let mut before = "";
    for (vendor, rule) in rules::all() {
        if vendor != before {
            let gap = if before.is_empty() { "" } else { "\n" };
            out.push_str(&format!(
                "{gap}### {vendor}\n\n| rule | when | class | scope | source |\n| --- | --- | --- | --- | --- |\n"
            ));
            before = vendor;
        }
        out.push_str(&row(rule));
    }
    out.push_str(
        "\nRules that begin with `fault-` are of the connection; `stream-`, `body-`, `finish-`, `refusal` and `error-event` are of \
         the dialect: the answer's own form says it.\n",
    );
    super::golden("docs/classification.md", &out);
}
