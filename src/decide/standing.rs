//! How a target stands at the instant it is asked about, and who answers such questions.
//!
//! A run never looks at shared state. It asks a `Verdicts`, whose answers the driver gives from live state, from a
//! test's lines, or, in a proof, by trying both. Asking changes nothing but what it says it takes.

use super::event::Settle;
use super::orders::Ranked;
use crate::policy::tier::ChainRef;
use crate::policy::{DicePurpose, Millis, Money, TargetId, TierId};

/// How one target stands now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Switched off in git, or by a switch.
    pub disabled: bool,
    /// What probes say.
    pub health: Health,
    /// What traffic says.
    pub breaker: Breaker,
    /// Nobody is sent there until then; zero where nothing holds.
    pub hold_until: Millis,
    /// At its `max-concurrent`.
    pub busy: bool,
    /// What the recovery ramp says to this session.
    pub ramp: Ramp,
    /// Last-resort calls in flight.
    pub last_resort_inflight: u32,
    /// Being degraded bars it from nothing: its tier says `prefer same-model`.
    pub tolerated: bool,
    /// Nothing was learned of its health for so long that it may be otherwise.
    pub stale: bool,
    /// What speaks against it is its region's affair: elsewhere its provider does well.
    pub regional: bool,
}

impl Standing {
    /// Nothing speaks against it.
    pub const GOOD: Standing = Standing {
        disabled: false,
        health: Health::Healthy,
        breaker: Breaker::Closed,
        hold_until: Millis::ZERO,
        busy: false,
        ramp: Ramp::Full,
        last_resort_inflight: 0,
        tolerated: false,
        stale: false,
        regional: false,
    };
}

crate::policy::class::words! {
    /// What probes say of a target.
    Health {
        Healthy "healthy" "it answers, and fast enough";
        Degraded "degraded" "it answers, too slowly";
        Down "down" "it does not answer";
    }
}

/// What traffic says of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaker {
    /// It may be called.
    Closed,
    /// It may not.
    Open {
        /// Until then.
        until: Millis,
        /// Opened by a statement of the provider (credential, quota): no last resort.
        hard: bool,
    },
    /// It is being tried.
    HalfOpen {
        /// Whether a trial may start now.
        slot: bool,
    },
}

impl Breaker {
    /// The word for records.
    pub fn word(self) -> &'static str {
        match self {
            Breaker::Closed => "closed",
            Breaker::Open { .. } => "open",
            Breaker::HalfOpen { .. } => "half-open",
        }
    }
}

/// What the recovery ramp says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ramp {
    /// No ramp is running.
    Full,
    /// This session is in.
    Admitted,
    /// This session is not in yet.
    Barred,
}

crate::policy::class::words! {
    /// Why a target was passed over.
    Reason {
        Disabled "disabled" "switched off";
        Down "down" "probes say that it does not answer";
        BreakerOpen "breaker-open" "its breaker is open";
        Hold "hold" "it asked to be left alone for a while";
        TrialBusy "trial-busy" "it is half-open and its trials are taken";
        Busy "busy" "it is at its own limit of calls";
        Ramp "ramp" "it is coming back, and this session is not in yet";
        Degraded "degraded" "it is slow";
    }
}

impl Reason {
    /// Whether it says that the target fails, and not that it is full, switched off, or asked for rest.
    pub fn is_of_failing(self) -> bool {
        match self {
            Reason::Down | Reason::BreakerOpen | Reason::TrialBusy => true,
            Reason::Disabled | Reason::Hold | Reason::Busy | Reason::Ramp | Reason::Degraded => false,
        }
    }
}

/// How a call was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Admission {
    /// As any.
    Normal,
    /// As a trial of a half-open target.
    Trial,
    /// Because nothing else was left.
    LastResort,
}

/// Answers the questions a run may ask, and takes note of how its attempts ended.
///
/// The answers are data to the run: the same answers lead to the same decision, whoever gives them.
pub trait Verdicts {
    /// How a target stands now.
    fn standing(&mut self, target: TargetId, now: Millis) -> Standing;

    /// Whether a `retry` or `wait` at the target could be paid for. Takes nothing.
    fn retry_token(&mut self, target: TargetId, now: Millis) -> bool;

    /// Pays for a `retry`, a `wait` or a hedge at the target; says whether it could. What cannot be paid for takes nothing.
    fn take_retry_token(&mut self, target: TargetId, now: Millis) -> bool;

    /// The p95 of the target's latest calls, to first output where `stream`, else to the end of whole answers. Nothing
    /// where too few are known.
    fn p95(&mut self, target: TargetId, stream: bool, now: Millis) -> Option<Millis>;

    /// Lets a call in as it was chosen, with this key. `first`: the request has not been at this target before. A call that was let in is
    /// settled by [`Verdicts::settle`], however it ends.
    ///
    /// # Errors
    /// The reason against it, where things changed since it was chosen.
    fn admit(&mut self, target: TargetId, how: (Admission, u16), first: bool, now: Millis) -> Result<(), Reason>;

    /// The key for the next call at a target: the first of its provider's that does not rest and is not among those used.
    /// Where there is no pool it is 0, as long as nothing was used.
    fn key(&mut self, target: TargetId, used: &[u16], now: Millis) -> Option<u16>;

    /// A draw in parts per million, 0 to 999 999; the same question gives the same draw.
    fn draw(&mut self, purpose: DicePurpose, attempt: u32) -> u32;

    /// A draw of the session in parts per million, for a share of `of`: the same for all requests of the session, on every
    /// instance, so that whoever is in at 10% stays in at 50%.
    fn share(&mut self, purpose: DicePurpose, of: &str) -> u32;

    /// Where the session was last served by this tier, if that was no longer ago than `idle`; nothing for a request
    /// without a session.
    fn home(&mut self, tier: TierId, idle: Millis, now: Millis) -> Option<TargetId>;

    /// The request was served by a target of this tier, which has affinity: its session is at home there.
    fn at_home(&mut self, tier: TierId, target: TargetId, now: Millis);

    /// Where a target stands in the measured order of its chain, for streams or for whole answers. Asked only where the
    /// tier has such an order.
    fn ranked(&mut self, chain: ChainRef, target: TargetId, stream: bool, now: Millis) -> Ranked;

    /// The health of a target for a tier with a `slow-above` of its own, given the one that all share. Asked only where
    /// the tier has one.
    fn health_above(&mut self, target: TargetId, limit: Millis, shared: Health) -> Health;

    /// Whether the day of the request's route has money left for a call that costs this at worst, under a cap where there is
    /// one. Takes nothing. Asked only where the budget has `spend $X/day`.
    ///
    /// # Errors
    /// How long until the day is over, where it has not.
    fn affords(&mut self, worst: Money, cap: Option<Money>) -> Result<(), Millis>;

    /// Keeps that much of the day for an attempt, by its number. Settled by [`Verdicts::bill`], however the attempt ends.
    ///
    /// # Errors
    /// As of [`Verdicts::affords`]; somebody else may have been faster.
    fn reserve(&mut self, attempt: u32, worst: Money, cap: Option<Money>) -> Result<(), Millis>;

    /// What the attempt was billed.
    fn bill(&mut self, attempt: u32, billed: Money);

    /// How an attempt ended. Called before any question about what to do next, so that a hold that the answer asked for
    /// is seen at once.
    fn settle(&mut self, settle: &Settle);
}
