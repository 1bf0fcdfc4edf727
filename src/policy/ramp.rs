//! Ramps: how a recovered target gets its traffic back, and what takes it away again.
//!
//! One set of rules per target, provider or the set's defaults; without any, a recovered target is full at once. Plain
//! values under the language's names. Keeps no state.

use super::units::{Millis, Percent};

/// `10% for 2m`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RampStage {
    /// The share of sessions.
    pub share: Percent,
    /// For how long.
    pub lasts: Millis,
}

/// The `rollback when` lines; either is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rollback {
    /// `errors >= 20%, min 20`: the share, and the least calls of a stage before it says anything.
    pub errors: Option<(Percent, u32)>,
    /// `consecutive >= 5`
    pub consecutive: Option<u32>,
}

impl Default for Rollback {
    /// At a hundred calls a second and one error in fifty, this rolls a sound target back once in a thousand ramps, and
    /// still catches a dead one within five calls and a half-dead one within twenty.
    fn default() -> Rollback {
        Rollback { errors: Some((Percent(2_000), 20)), consecutive: Some(5) }
    }
}

/// All settings of a `ramp` block. Without stages a target is full at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RampRules {
    /// Rising; after the last comes full.
    pub stages: Vec<RampStage>,
    /// What takes the traffic away again.
    pub rollback: Rollback,
}

impl RampRules {
    /// Places that sessions are hashed to: a place for each hundredth of a percent, the finest share there is.
    pub const PLACES: u64 = 10_000;

    /// From its start to full.
    pub fn whole(&self) -> Millis {
        self.stages.iter().fold(Millis::ZERO, |sum, stage| sum.plus(stage.lasts))
    }

    /// The stage that runs so long after the start; none once it is full. The first instant of a stage is its own.
    pub fn stage_at(&self, since_start: Millis) -> Option<(usize, RampStage)> {
        let mut end = Millis::ZERO;
        self.stages.iter().copied().enumerate().find(|(_, stage)| {
            end = end.plus(stage.lasts);
            since_start < end
        })
    }
}
