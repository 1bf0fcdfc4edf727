//! Whole answers under a success: every one is judged.
//!
//! In: a body. Out: what failed, or nothing. An answer counts where it brings output and gives no reason against itself.

use super::{Case, End, found};
use crate::classify::{Classified, Fault, fault};
use crate::policy::{Class, Scope, Stage};
use crate::wire::broken::error_in;
use crate::wire::ending::ending;
use crate::wire::output::Object;

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
        if let Some(object) = Object::read(body) {
            return self.object(&object);
        }
        let is_stream = ["data:", "event:", "error:", ":"].iter().any(|b| body.starts_with(b));
        let is_list = body.starts_with('[') || body.contains("}\n{");
        if is_stream || is_list { self.unasked_stream(body) } else { Some(self.text(body)) }
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

    fn object(&self, object: &Object<'_>) -> Option<Classified> {
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
    pub(super) fn foreign(&self, object: &Object<'_>) -> Classified {
        let malformed = || found(Class::MalformedResponse, "body-other-json", "the answer is of another kind");
        let hints_at_error = ERROR_MEMBERS.iter().any(|name| object.members.has(name));
        let said = hints_at_error.then(|| self.error(object.text, None)).filter(|f| f.class != Class::StreamEarly);
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
