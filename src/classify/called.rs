//! What an answer without success is, of a target that a policy knows: the tables, the policy's corrections, and whether
//! it is our own doing. Whoever calls a target asks here, and nowhere else.
//!
//! In: whom was called, in whose words; and the answer. Out: `Classified`. A request that went out in another dialect than
//! its caller's is one that we wrote: an upstream that refuses it as malformed has found a mistake of ours, which says
//! nothing about the caller's request or about the target. It never looks at a success.

use super::correct::corrected;
use super::{Classified, Headers, Vendor, http};
use crate::policy::{Class, Correction, Scope, Stage};

/// A call that was made.
#[derive(Clone, Copy, Debug)]
pub struct Called<'a> {
    /// Whose table its failures are read by.
    pub vendor: &'static Vendor,
    /// What the policy knows better about the target.
    pub corrections: &'a [Correction],
    /// The request went out in another dialect than its caller's.
    pub translated: bool,
}

/// Statuses by which a request is refused as malformed.
const MALFORMED: [u16; 2] = [400, 422];

impl Called<'_> {
    /// What an answer without success is. `wall_ms` is milliseconds since 1970.
    pub fn answer(&self, status: u16, headers: &dyn Headers, body: &[u8], wall_ms: u64) -> Classified {
        let failed = http::answer_of(self.vendor, status, headers, body, wall_ms);
        self.mark(corrected(failed, body, self.corrections))
    }

    /// The failure, marked where it is our own doing: also one that was found under a success, in an answer or a stream.
    pub fn mark(&self, failed: Classified) -> Classified {
        if self.translated && of_the_request(&failed) { ours(failed) } else { failed }
    }
}

/// A request that we could not write in the target's dialect, and so did not send.
pub fn unwritten(what: &str) -> Classified {
    ours(Classified::of(Class::InvalidRequest, Stage::NotSent, "dialect-unwritten").saying(what))
}

fn of_the_request(failed: &Classified) -> bool {
    failed.class == Class::InvalidRequest
        // An error inside of a success may name none.
        && failed.status.is_none_or(|status| MALFORMED.contains(&status))
        && matches!(failed.scope, None | Some(Scope::Request))
}

fn ours(failed: Classified) -> Classified {
    Classified { ours: true, scope: Some(Scope::Request), ..failed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::NoHeaders;
    use crate::classify::vendor::ANYBODY;

    const BAD: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"x: Extra inputs"}}"#;

    fn of(translated: bool, status: u16, body: &str, corrections: &[Correction]) -> (Class, bool) {
        let called = Called { vendor: &ANYBODY, corrections, translated };
        let failed = called.answer(status, &NoHeaders, body.as_bytes(), 0);
        (failed.class, failed.ours)
    }

    #[test]
    fn a_malformed_request_is_ours_where_we_wrote_it() {
        assert_eq!(of(true, 400, BAD, &[]), (Class::InvalidRequest, true));
        assert_eq!(of(true, 422, BAD, &[]), (Class::InvalidRequest, true));
        assert_eq!(of(false, 400, BAD, &[]), (Class::InvalidRequest, false));
    }

    #[test]
    fn so_it_is_where_a_success_says_it() {
        let called = |translated| Called { vendor: &ANYBODY, corrections: &[], translated };
        let found = || crate::classify::http::error_of(&ANYBODY, BAD.as_bytes(), None, &NoHeaders, 0);
        assert_eq!((found().class, found().status), (Class::InvalidRequest, None));
        assert!(called(true).mark(found()).ours && !called(false).mark(found()).ours);
        assert!(!called(true).mark(found().after_output()).ours);
    }

    #[test]
    fn what_says_more_than_malformed_is_what_it_says() {
        let overflow =
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#;
        assert_eq!(of(true, 400, overflow, &[]), (Class::ContextOverflow, false));
        let filtered = r#"{"error":{"code":"content_filter"}}"#;
        assert_eq!(of(true, 400, filtered, &[]), (Class::Policy, false));
        assert_eq!(of(true, 401, "{}", &[]).1, of(true, 500, BAD, &[]).1);
        assert!(!of(true, 500, BAD, &[]).1);
    }

    #[test]
    fn what_a_policy_corrects_is_judged_as_corrected() {
        let row = |status, class| [Correction { status, text: None, class }];
        assert_eq!(of(true, 400, BAD, &row(400, Class::ServerError)), (Class::ServerError, false));
        assert_eq!(of(true, 400, "{}", &row(400, Class::InvalidRequest)), (Class::InvalidRequest, true));
    }
}
