//! What clients are told when there is no answer.
//!
//! In: a bad request, or a run's refusal. Out: status, code and sentence, written in the dialect's shape by `wire`.
//! `code` is the failure class of the attempt that the client is told of, the gateway's own refusal, or one of the codes
//! of a bad request. Never holds a credential or an address of a provider.

use crate::decide::{Refused, Why};
use crate::policy::{Class, Refusal};
use crate::wire::chat::{BadRequest, error};
use bytes::Bytes;

/// One error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientError {
    /// The HTTP status.
    pub status: u16,
    /// The code.
    pub code: &'static str,
    /// A sentence.
    pub message: String,
    /// The parameter at fault, where one is.
    pub param: Option<String>,
}

impl ClientError {
    /// An error about no parameter in particular.
    pub fn new(status: u16, code: &'static str, message: impl Into<String>) -> ClientError {
        ClientError { status, code, message: message.into(), param: None }
    }

    /// A run's end. `said` is what the attempt that the client is told of said itself.
    pub fn refused(refused: &Refused, said: Option<&str>) -> ClientError {
        let message = match (refused.why, said) {
            (Why::Class(_), said) if refused.ours => {
                let said = said.filter(|said| !said.is_empty()).map_or(String::new(), |said| format!(": {said}"));
                format!("the upstream refused what this gateway made of the request in its dialect{said}")
            }
            (Why::Class(_), Some(said)) if !said.is_empty() => said.to_owned(),
            (Why::Class(Class::PartialStream), _) => "the answer broke off after output had begun".to_owned(),
            (Why::Class(class), _) => format!("the upstream failed: {}", class.meaning()),
            (Why::Refusal(Refusal::Contract), Some(said)) => said.to_owned(),
            (Why::Refusal(refusal), _) => refusal.meaning().to_owned(),
        };
        ClientError::new(refused.status, refused.why.word(), message)
    }

    /// What a request that was refused before any decision is called in its record.
    pub fn class(&self) -> Class {
        match self.status {
            404 => Class::NotFound,
            413 => Class::PayloadTooLarge,
            _ => Class::InvalidRequest,
        }
    }

    /// As a body.
    pub fn body(&self, request_id: &str) -> Bytes {
        error::body(&self.message, error::kind(self.status), self.param.as_deref(), self.code, request_id).into()
    }

    /// As the last event of a stream.
    pub fn event(&self, request_id: &str) -> Bytes {
        error::event(&self.message, error::kind(self.status), self.param.as_deref(), self.code, request_id)
    }
}

impl From<BadRequest> for ClientError {
    fn from(bad: BadRequest) -> ClientError {
        ClientError { status: bad.status, code: bad.code, message: bad.message, param: bad.param }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(why: Why) -> Refused {
        Refused { status: 503, why, attempt: None, retry_after: None, answered: true, ours: false }
    }

    #[test]
    fn the_code_is_the_class_or_the_refusal_and_the_upstream_speaks_for_itself() {
        let error = ClientError::refused(&refused(Why::Class(Class::RateLimit)), Some("slow down"));
        assert_eq!((error.code, error.message.as_str()), ("rate-limit", "slow down"));
        let error = ClientError::refused(&refused(Why::Class(Class::RateLimit)), None);
        assert!(error.message.contains(Class::RateLimit.meaning()), "{}", error.message);
        let ours = Refused { ours: true, ..refused(Why::Class(Class::InvalidRequest)) };
        let error = ClientError::refused(&ours, Some("x: extra"));
        assert!(error.message.contains("gateway made of the request") && error.message.ends_with(": x: extra"));
        let error = ClientError::refused(&refused(Why::Refusal(Refusal::Deadline)), Some("an upstream's words"));
        assert_eq!((error.code, error.message.as_str()), ("deadline", Refusal::Deadline.meaning()));
    }
}
