//! Answers in words: a status with a body, or an error object inside a success.
//!
//! In: status, headers, body, and whose they are where that is known. Out: `Classified`. The tables of `vendors` decide, in
//! the order that `rules` states. It never looks at a success that holds no error: that is the dialect's business.

use super::rules::{self, Rule};
use super::said::{self, Said};
use super::vendor::{ANYBODY, Kind};
use super::{Classified, Headers, Vendor, hint};
use crate::policy::{Class, Millis, Scope, Stage};

/// A hint below this is none where an allowance of a day or more is gone: such limits come with waits that do not help.
const SHORTEST_QUOTA_WAIT: Millis = Millis(60_000);

/// Who is told to wait for so long has used up an allowance, whatever it is called: rates are counted by the minute.
const LONGEST_RATE_WAIT: Millis = Millis(3_600_000);
/// Headers in which a type stands.
const TYPE_HEADERS: &[&str] = &["x-amzn-errortype", "x-ms-error-code", "x-error-code"];

/// What an answer without success is, whoever sent it. `wall_ms` is milliseconds since 1970.
pub fn answer(status: u16, headers: &dyn Headers, body: &[u8], wall_ms: u64) -> Classified {
    answer_of(&ANYBODY, status, headers, body, wall_ms)
}

/// What an answer without success is that a vendor sent. `wall_ms` is milliseconds since 1970.
pub fn answer_of(vendor: &Vendor, status: u16, headers: &dyn Headers, body: &[u8], wall_ms: u64) -> Classified {
    let said = read(headers, body);
    let vendor = seen(vendor, headers, &said);
    // What a body says it stands for is nearer to the fault than the status of whoever handed it on.
    let rule =
        rules::find(vendor, &said, Some(status)).unwrap_or_else(|| rules::by_status(said.status.unwrap_or(status)));
    let rule = daily(rule, headers);
    let found = classified(rule, &said, headers, wall_ms, !matches!(status, 400 | 422));
    Classified {
        stage: stage(status),
        scope: found.scope.or_else(|| page_scope(vendor, &said, rule.class)),
        status: Some(status),
        ..found
    }
}

/// What an error object is that a vendor sent inside a success, in a stream before output or as a whole body: of the class
/// of its cause, or `stream-early` where it names none. `named` is a type that stands outside of the object. `wall_ms` is
/// milliseconds since 1970.
pub fn error_of(
    vendor: &Vendor,
    payload: &[u8],
    named: Option<&str>,
    headers: &dyn Headers,
    wall_ms: u64,
) -> Classified {
    let mut said = read(headers, payload);
    if let Some(named) = named {
        said.add_word(named);
        said.kind.get_or_insert_with(|| named.to_owned());
    }
    let vendor = seen(vendor, headers, &said);
    let by_status = || {
        // A bare 500 says no more than that something broke.
        let rule = rules::by_status(said.status.filter(|s| *s != 500)?);
        (rule.class != Class::Unknown).then_some(rule)
    };
    // A general type says less than a status in the object.
    let rule = rules::find(vendor, &said, said.status).or_else(by_status).or_else(|| rules::bare(&said));
    match rule.map(|rule| daily(rule, headers)) {
        Some(rule) => {
            let found = classified(rule, &said, headers, wall_ms, true);
            Classified { status: said.status, ..found }
        }
        None => Classified {
            hint: None,
            status: said.status,
            code: said.code_or_kind(),
            message: Some(said::words(&said.message)).filter(|m| !m.is_empty()),
            no_retry: no_retry(headers),
            ..Classified::of(Class::StreamEarly, Stage::Headers, "error-event")
        },
    }
}

fn read(headers: &dyn Headers, body: &[u8]) -> Said {
    let mut said = Said::read(body);
    for value in TYPE_HEADERS.iter().filter_map(|name| headers.get(name)) {
        let name = value.split(':').next().unwrap_or(value);
        said.add_word(name);
        said.kind.get_or_insert_with(|| name.to_owned());
    }
    if let Some(server) = headers.get("server").filter(|_| said.page) {
        said.add_seen(server);
    }
    said
}

fn classified(rule: &Rule, said: &Said, headers: &dyn Headers, wall_ms: u64, buckets: bool) -> Classified {
    let told = hint::wait(headers, said, wall_ms, buckets).map(|hint| hint.wait);
    let rule =
        if is_rate(rule) && told.is_some_and(|told| told >= LONGEST_RATE_WAIT) { &rules::LONG_WAIT } else { rule };
    Classified {
        scope: rule.scope,
        hint: counted(rule.class, told),
        told,
        code: said.code_or_kind(),
        message: Some(said::words(&said.message)).filter(|m| !m.is_empty()),
        no_retry: no_retry(headers) || rule.name == rules::NEVER_FITS,
        ..Classified::of(rule.class, Stage::Headers, rule.name)
    }
}

/// Whose answer it is by its headers, where nobody was named.
fn seen<'v>(vendor: &'v Vendor, headers: &dyn Headers, said: &Said) -> &'v Vendor {
    if vendor.name != ANYBODY.name {
        return vendor;
    }
    let has = |name: &str| headers.get(name).is_some();
    let name = match () {
        () if has("x-amzn-errortype") || has("x-amzn-requestid") => "bedrock",
        () if has("apim-request-id") || has("x-ms-region") => "azure",
        () if has("anthropic-organization-id") || has("anthropic-ratelimit-requests-limit") => "anthropic",
        () if has("x-litellm-version") || has("x-litellm-call-id") => "litellm",
        () if said.has_word("newapierror") || said.has_word("oneapierror") => "relay",
        () => return vendor,
    };
    Vendor::named(name)
}

/// Whether it is a limit of requests in a time, and not of this one request.
fn is_rate(rule: &Rule) -> bool {
    rule.class == Class::RateLimit && rule.scope != Some(Scope::Request)
}

/// A limit of requests is an allowance where the empty bucket is that of a day or more.
fn daily<'r>(rule: &'r Rule, headers: &dyn Headers) -> &'r Rule {
    if is_rate(rule) && hint::empty_long_bucket(headers) { &rules::LONG_BUCKET } else { rule }
}

/// A page is of the edge: of the vendor's, unless the server behind it is one of many.
fn page_scope(vendor: &Vendor, said: &Said, class: Class) -> Option<Scope> {
    let wide = matches!(class, Class::ServerError | Class::Overloaded | Class::NotFound | Class::Permission);
    (said.page && wide).then_some(match vendor.kind {
        Kind::Hosted => Scope::Provider,
        Kind::Relay | Kind::Deployed | Kind::Local | Kind::Edge => Scope::Deployment,
    })
}

/// Whether a status says by itself that the request was not processed.
fn stage(status: u16) -> Stage {
    match status {
        400..=404 | 413 | 422 | 429 | 503 | 529 => Stage::Rejected,
        _ => Stage::Headers,
    }
}

/// The wait of those that were told that counts: limits are often told on answers that have nothing to do with them.
pub(super) fn counted(class: Class, told: Option<Millis>) -> Option<Millis> {
    let helps = matches!(
        class,
        Class::RateLimit | Class::QuotaExhausted | Class::Overloaded | Class::ServerError | Class::TimeoutHeaders
    );
    let least = if class == Class::QuotaExhausted { SHORTEST_QUOTA_WAIT } else { Millis(1) };
    told.filter(|told| helps && *told >= least)
}

fn no_retry(headers: &dyn Headers) -> bool {
    headers.get("x-should-retry").is_some_and(|v| v.trim().eq_ignore_ascii_case("false"))
}
