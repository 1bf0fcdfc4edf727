//! The failure that the client would be told of, of all that a request met.

use super::Run;
use crate::policy::Class;

/// A failure that the client may be told of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) class: Class,
    pub(super) attempt: u32,
    /// What was refused is our translation of the request.
    pub(super) ours: bool,
}

/// The status where our translation was refused: an error of a gateway, and not of its client.
const OURS: u16 = 502;

impl Told {
    /// The status where a row stops and names none.
    pub(super) fn client_status(self) -> u16 {
        if self.ours { OURS } else { self.class.client_status() }
    }
}

impl Run {
    /// The client is told of the first failure, unless a later one says more about the request or the credential.
    pub(super) fn remember(&mut self, class: Class, attempt: u32, ours: bool) {
        let says_more = matches!(class, Class::Policy | Class::Auth | Class::Permission);
        // Whoever got the request as it was written, and does not take it either, knows better than our translation.
        let knows_better = class == Class::InvalidRequest && !ours && self.told.is_some_and(|told| told.ours);
        if self.told.is_none() || says_more || knows_better || self.committed {
            self.told = Some(Told { class, attempt, ours });
        }
    }
}
