//! Whole answers under a success: every one is judged.
//!
//! In: a body. Out: what failed, or nothing. An answer counts where it brings output and gives no reason against itself.

use super::ending::ending;
use super::{Case, End, found};
use crate::classify::{Classified, Fault, fault};
use crate::policy::{Class, Scope, Stage};
use crate::wire::json;
use serde_json::value::RawValue;

/// Members one of which makes an object that no dialect knows an error.
const ERROR_MEMBERS: &[&str] =
    &["error", "errors", "fault", "detail", "message", "msg", "code", "error_code", "errorCode", "Output", "error_msg"];

impl Case<'_> {
    /// What failed in a whole answer under a success.
    pub(super) fn whole(&self, body: &str, end: End) -> Option<Classified> {
        let body = body.trim_start_matches('\u{feff}').trim();
        match end {
            End::Clean => self.complete(body),
            End::Reset => Some(fault(Fault::BodyReset { output: false })),
            End::Stall => Some(found(Class::TimeoutIdle, "stream-stalled", "nothing more came")),
        }
    }

    fn complete(&self, body: &str) -> Option<Classified> {
        if body.is_empty() {
            return Some(found(Class::EmptyResponse, "body-empty", "the answer is empty"));
        }
        if body.starts_with('<') {
            return Some(found(Class::MalformedResponse, "body-page", "the answer is a page"));
        }
        let is_stream = ["data:", "event:", "error:", ":"].iter().any(|b| body.starts_with(b));
        let Ok(value) = serde_json::from_str::<&RawValue>(body) else {
            return if is_stream || body.contains("}\n{") { self.unasked_stream(body) } else { Some(self.text(body)) };
        };
        match value.get().as_bytes().first() {
            Some(b'{') => self.object(value.get()),
            Some(b'[') => self.unasked_stream(body),
            Some(_) | None => Some(self.text(body)),
        }
    }

    /// A body that was to be one answer and is a stream of them.
    fn unasked_stream(&self, body: &str) -> Option<Classified> {
        let (failure, _) = self.stream(&[body], End::Clean);
        failure.map(|f| self.plain(f))
    }

    /// Text instead of JSON: an error where it says so, and else no answer of this dialect.
    fn text(&self, body: &str) -> Classified {
        let malformed = || found(Class::MalformedResponse, "body-not-json", "the answer is no JSON object");
        let broken = body.starts_with(['{', '[']);
        let said = (!broken).then(|| self.error(body, None)).filter(|f| f.class != Class::StreamEarly);
        said.map_or_else(malformed, |f| self.plain(f))
    }

    fn object(&self, object: &str) -> Option<Classified> {
        if let Some(payload) = error_in(object) {
            return Some(self.plain(self.error(payload, None)));
        }
        if !self.knows(object) {
            return Some(self.foreign(object));
        }
        let end = self.reason(object).and_then(|reason| ending(&reason));
        if let Some((class, rule)) = end {
            return Some(self.ended(class, rule));
        }
        if self.brings_output(object) {
            return None;
        }
        if self.refuses(object) {
            return Some(found(Class::Policy, "refusal", "the model declined").within(Scope::Request));
        }
        Some(found(Class::EmptyResponse, "finish-empty", "the answer holds nothing"))
    }

    /// An object of no dialect that we know for this call: an error in an odd shape, or something else.
    pub(super) fn foreign(&self, object: &str) -> Classified {
        let malformed = || found(Class::MalformedResponse, "body-other-json", "the answer is of another kind");
        let hints_at_error = ERROR_MEMBERS.iter().any(|name| json::has_member(object, name));
        let said = hints_at_error.then(|| self.error(object, None)).filter(|f| f.class != Class::StreamEarly);
        said.map_or_else(malformed, |f| self.plain(f))
    }

    /// An answer that ended for a reason that spoils it.
    pub(super) fn ended(&self, class: Class, rule: &'static str) -> Classified {
        let failure = found(class, rule, "the answer ended with a reason against it");
        // What the target did was asked for, or what it could.
        if matches!(class, Class::Policy | Class::Truncated) { failure.within(Scope::Request) } else { failure }
    }

    /// A failure as a plain answer has it: there a general fault has a name.
    fn plain(&self, failure: Classified) -> Classified {
        let class = if failure.class == Class::StreamEarly { Class::ServerError } else { failure.class };
        Classified { class, stage: Stage::Headers, ..failure }
    }
}

/// The object that holds an error, if there is one, whatever the dialect.
pub(super) fn error_in(object: &str) -> Option<&str> {
    let is = |name, word: &str| json::member(object, name).and_then(json::string).is_some_and(|w| w == word);
    let marked = json::member(object, "error")
        .is_some_and(|e| !matches!(e.get(), "\"\"" | "{}" | "false" | "[]" | "0"))
        || is("object", "error")
        || is("type", "error")
        || json::member(object, "errors").is_some_and(|e| !matches!(e.get(), "[]" | "{}"))
        || json::member(object, "fault").is_some()
        || json::member(object, "success").is_some_and(|s| s.get() == "false");
    if marked {
        return Some(object);
    }
    let mut inner = None;
    for path in ["choices[].error", "response.error", "header.error"] {
        json::at(object, path, &mut |error| inner = inner.or(Some(error.get())));
    }
    let code = |path| {
        let mut found = None;
        json::at(object, path, &mut |n| found = found.or(Some(n.get())));
        found.filter(|n| !matches!(*n, "0" | "\"0\"" | "200" | "\"200\"" | "\"\""))
    };
    let coded = code("base_resp.status_code").or(code("error_code")).or(code("header.code"));
    inner
        .or(coded.map(|_| object))
        .or_else(|| (is("status", "failed") || is("type", "response.failed")).then_some(object))
}
