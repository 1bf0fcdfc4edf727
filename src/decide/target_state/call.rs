//! A call, as the ledgers of its target see it: who asks, what was granted, and how it ended.

use crate::decide::path::PathPermit;
use crate::decide::standing::Admission;
use crate::decide::vitals::Latency;
use crate::decide::{Facts, Settle};
use crate::policy::breaker::Capability;
use crate::policy::class::Blame;
use crate::policy::{Class, Millis, Modality, Scope, StructuredOutput};

/// Who asks: what of a request bears on how a target stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask<'a> {
    /// What its session is hashed by.
    pub session: &'a str,
    /// The capability it is about.
    pub capability: Capability,
}

impl Ask<'_> {
    /// As a request asks.
    pub fn of(facts: &Facts) -> Ask<'_> {
        let capability = if facts.tools {
            Capability::Tools
        } else if facts.structured_output != StructuredOutput::None {
            Capability::StructuredOutput
        } else if facts.modalities.contains(Modality::Image) {
            Capability::Image
        } else if facts.modalities.contains(Modality::Audio) {
            Capability::Audio
        } else {
            Capability::Text
        };
        Ask { session: facts.session_key(), capability }
    }
}

/// How a call ended, for everything that is kept of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// What it says, the granted-time rule applied.
    pub blame: Blame,
    /// The class, where it failed.
    pub class: Option<Class>,
    /// How wide the answer showed it to be.
    pub scope: Option<Scope>,
    /// The wait that the answer asked for.
    pub hint: Option<Millis>,
    /// Nobody is sent there until then.
    pub hold_until: Option<Millis>,
    /// How long it took, where there was output.
    pub latency: Option<Latency>,
}

impl Ended {
    /// An end that says nothing: the client left, a hedge was lost, the call was given up.
    pub const NEUTRAL: Ended =
        Ended { blame: Blame::Neutral, class: None, scope: None, hint: None, hold_until: None, latency: None };

    /// As a run settles it.
    pub fn of(settle: &Settle) -> Ended {
        Ended {
            blame: settle.blame,
            class: settle.class,
            scope: settle.scope,
            hint: settle.hint,
            hold_until: settle.hold_until,
            latency: settle.latency,
        }
    }

    /// A success.
    pub fn served(latency: Option<Latency>) -> Ended {
        Ended { blame: Blame::Success, latency, ..Ended::NEUTRAL }
    }

    /// A failure of this class, blamed as the class table has it.
    pub fn failed(class: Class) -> Ended {
        Ended { blame: class.blame(), class: Some(class), ..Ended::NEUTRAL }
    }
}

/// A call under way. Hand it back when the call is over, however it ends.
#[derive(Debug)]
#[must_use = "a permit that is not handed back keeps its place and fails its trials"]
pub struct Permit {
    pub(super) path: PathPermit,
    pub(super) admission: Admission,
    pub(super) capability: Capability,
}

impl Permit {
    /// How the call was let in.
    pub fn admission(&self) -> Admission {
        self.admission
    }
}
