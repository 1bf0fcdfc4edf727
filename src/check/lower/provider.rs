//! `provider`.

use super::health::{self, Health};
use super::trigger::parts;
use crate::check::context::{Context, Decl};
use crate::check::cursor::Cursor;
use crate::check::read::end_of;
use crate::check::resolution::Origin;
use crate::check::value;
use crate::diag::{Code, Diagnostic};
use crate::policy::address::{checked_base, has_credential};
use crate::policy::{Api, Provider, RetryRatio, Text};
use crate::source::Span;
use crate::syntax::settings::Block;
use crate::syntax::tree::{Item, ItemKind, Statement};

/// Headers that carry credentials, in lower case.
const CREDENTIALS: [&str; 8] = [
    "authorization",
    "proxy-authorization",
    "api-key",
    "x-api-key",
    "x-goog-api-key",
    "x-amz-security-token",
    "cookie",
    "set-cookie",
];

/// Lowers a `provider` block.
pub fn lower<'a>(cx: &mut Context<'a>, decl: &'a Decl<'a>, known: &Health) -> Option<Provider> {
    let fields = cx.fields(decl);
    let api = fields.required(cx, "api", |cx, s| cx.one_of(Block::Provider, "api", s)).and_then(Api::from_word);
    let base_url = fields.optional(cx, "base-url", url);
    let key = fields.optional(cx, "key", |cx, s| {
        let items = cx.value_items(s)?;
        value::secret(items, end_of(s), &mut cx.diagnostics)
    });
    let keys = fields.optional(cx, "keys", keys);
    if let (Some(one), Some(pool)) = (fields.one("key"), fields.one("keys")) {
        cx.report(
            Diagnostic::new(Code::DuplicateSetting, end_of(pool), "this provider has a key and a pool of keys")
                .label(end_of(one), "the key")
                .help("put it into the pool, or leave the pool out"),
        );
        return None;
    }
    let headers = headers(cx, &fields.all("header"));
    let pass_headers = fields.or(cx, "pass-headers", Vec::new(), pass_headers);
    let account = fields.or(cx, "account", decl.name.clone(), |cx, s| cx.label(s));
    cx.settle(decl, "account", decl.name.clone(), Origin::Default);
    health::refer(cx, &fields, Block::Breaker);
    health::refer(cx, &fields, Block::Probe);
    health::refer(cx, &fields, Block::Ramp);
    health::settle(cx, decl, Block::Breaker, &[], "every setting at its default");
    health::settle(cx, decl, Block::Probe, &[], "none");
    health::settle(cx, decl, Block::Ramp, &[], "none");
    let breaker = health::rules(&known.breakers, health::chosen(cx.names, Block::Breaker, &[decl]));
    let retry = fields.or(cx, "retry-ratio", RetryRatio::default(), retry_ratio);
    let timeout_connect = fields.or(cx, "timeout-connect", Provider::TIMEOUT_CONNECT, |cx, s| cx.time(s));
    let key = key?;
    Some(Provider {
        name: decl.name.clone(),
        span: decl.name_span,
        docs: decl.statement.docs.clone(),
        api: api?,
        base_url: base_url?,
        keys: keys?.unwrap_or_else(|| key.into_iter().collect()),
        headers: headers?,
        pass_headers: pass_headers?,
        account: account?,
        timeout_connect: timeout_connect?,
        breaker: breaker.unwrap_or_default(),
        retry: retry?,
    })
}

/// `[env NAME, file "PATH", …]`: references, as a single `key` is one.
fn keys<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Vec<Text>> {
    let item = cx.single(statement)?;
    let ItemKind::List(parts) = &item.kind else {
        cx.report(value::wrong(item, "a list of references").help("write `keys [env KEY_A, env KEY_B]`"));
        return None;
    };
    // Every key is looked at before one is missed.
    let read = |part: &Vec<Item>| {
        // `env A env B`: a comma is missing.
        if let [_, _, next, ..] = part.as_slice()
            && (next.is("env") || next.is("file"))
        {
            let before = Span { end: next.span.start, ..next.span };
            let found = Diagnostic::new(Code::LeftOver, next.span, "a comma is missing in this list");
            cx.report(found.help("write a comma between the keys").fix("write `,`", before, ", ", false));
            return None;
        }
        value::secret(part, item.span, &mut cx.diagnostics)
    };
    let keys: Vec<Option<Text>> = parts.iter().map(read).collect();
    let keys: Vec<Text> = keys.into_iter().collect::<Option<_>>()?;
    if keys.is_empty() {
        cx.report(
            Diagnostic::new(Code::MissingValue, item.span, "this pool holds no key")
                .help("name keys, or leave `keys` out for a server that asks for none"),
        );
        return None;
    }
    if let Some(twice) = (1..keys.len()).find(|at| keys.iter().take(*at).any(|k| Some(k) == keys.get(*at))) {
        let span = parts.get(twice).and_then(|p| p.first()).map_or(item.span, |i| i.span);
        cx.report(
            Diagnostic::new(Code::DuplicateSetting, span, "this key stands in the pool twice")
                .help("keep one of them: the same key again is no other key"),
        );
        return None;
    }
    Some(keys)
}

fn url<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Text> {
    let text = cx.text(statement)?;
    let written = match &text {
        Text::Literal(url) => Some(url),
        Text::Env { default, .. } | Text::File { default, .. } => default.as_ref(),
    };
    if written.is_some_and(|url| has_credential(url)) {
        // Told with all other credentials of the file.
        return None;
    }
    if written.is_some_and(|url| holds_a_variable(url)) {
        cx.report(
            Diagnostic::new(
                Code::WrongValue,
                end_of(statement),
                "a variable stands for a whole address, not a piece of one",
            )
            .here("taken as it is written")
            .help("write `base-url env NAME`, and give the whole address in that variable"),
        );
        return None;
    }
    if let Some(what) = written.and_then(|url| checked_base(url).err()) {
        cx.report(
            Diagnostic::new(Code::WrongValue, end_of(statement), format!("this address {what}"))
                .here("no base address")
                .help("write the whole address and no more, such as \"https://api.example.com/v1\""),
        );
        return None;
    }
    let url = written.map(|url| url.trim_end_matches('/'));
    if let Some((base, call)) = url.and_then(|url| CALLS.iter().find_map(|call| Some((url.strip_suffix(call)?, call))))
    {
        let base = base.to_owned();
        cx.report(
            Diagnostic::new(Code::WrongValue, end_of(statement), format!("`{call}` is added to the address"))
                .here("a call would go to an address that has it twice")
                .help(format!("write \"{base}\"")),
        );
        return None;
    }
    Some(text)
}

/// Whether a piece of an address is written as other languages write variables: `${HOST}`, `$HOST`, `{{ host }}`.
fn holds_a_variable(url: &str) -> bool {
    url.contains('{') || url.split('$').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// What is added to the address for a call, in one dialect or the other.
const CALLS: [&str; 2] = ["/chat/completions", "/messages"];

fn headers<'a>(cx: &mut Context<'a>, statements: &[&'a Statement]) -> Option<Vec<(String, Text)>> {
    let mut headers: Vec<(String, Text, Span)> = Vec::new();
    let mut whole = true;
    for statement in statements {
        match header(cx, statement) {
            Some((name, text, span)) => {
                if let Some((_, _, first)) = headers.iter().find(|(other, ..)| *other == name) {
                    let first = *first;
                    cx.report(
                        Diagnostic::new(Code::DuplicateSetting, span, format!("header `{name}` is set twice"))
                            .label(first, "set here first")
                            .help("keep one of them"),
                    );
                    whole = false;
                } else {
                    headers.push((name, text, span));
                }
            }
            None => whole = false,
        }
    }
    whole.then(|| headers.into_iter().map(|(name, text, _)| (name, text)).collect())
}

/// `header NAME VALUE`
fn header<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<(String, Text, Span)> {
    let (name, rest) = cx.value_items(statement)?.split_first()?;
    let label = value::label(name, &mut cx.diagnostics)?;
    let text = header_name(cx, label, name.span);
    let value = value::verbatim(rest, name.span, &mut cx.diagnostics);
    Some((text?, value?, name.span))
}

fn pass_headers<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<Vec<String>> {
    let item = cx.single(statement)?;
    let names = value::labels(item, &mut cx.diagnostics)?;
    // Every name is looked at before one is missed.
    let names: Vec<_> = names.into_iter().map(|name| header_name(cx, name.value, name.span)).collect();
    names.into_iter().collect()
}

/// A header's name in lower case; refuses what is none, and those that carry credentials.
pub(super) fn header_name(cx: &mut Context<'_>, name: String, span: Span) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(is_token) {
        cx.report(
            Diagnostic::new(Code::WrongValue, span, "this is not the name of a header")
                .help("a header's name is letters, digits and `-`, such as \"x-cache-ttl\""),
        );
        return None;
    }
    if CREDENTIALS.contains(&name.as_str()) {
        cx.report(
            Diagnostic::new(Code::CredentialHeader, span, format!("`{name}` carries a credential"))
                .help("leave it out: a provider's credential is its `key`, and a client's own is never handed on"),
        );
        return None;
    }
    Some(name)
}

/// `20%[, at least 1/s][, burst 20]`
fn retry_ratio<'a>(cx: &mut Context<'a>, statement: &'a Statement) -> Option<RetryRatio> {
    let mut cursor = Cursor::new(cx.value_items(statement)?, statement.span);
    let mut retry = RetryRatio::default();
    let item = cursor.due("a percentage", &mut cx.diagnostics)?;
    retry.ratio = value::percent(item, &mut cx.diagnostics)?;
    parts(cx, cursor, &["at", "burst"], |cx, word, cursor| {
        if word == "burst" {
            let item = cursor.due("a plain number", &mut cx.diagnostics)?;
            retry.burst = value::integer(item, 0, RetryRatio::MOST_BURST, &mut cx.diagnostics)?;
            return Some(());
        }
        cursor.due_word("least", &mut cx.diagnostics)?;
        let item = cursor.due("a rate", &mut cx.diagnostics)?;
        retry.at_least = value::rate(item, &mut cx.diagnostics)?;
        Some(())
    })?;
    Some(retry)
}
