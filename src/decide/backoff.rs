//! Pauses before another call at the same target. Whole numbers only; no retry number overflows.

use crate::policy::{Backoff, Budget, Jitter, Millis};

/// The curve of pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Curve {
    /// How a pause is drawn.
    pub jitter: Jitter,
    /// First pause.
    pub base: Millis,
    /// Growth in percent: 200 doubles.
    pub factor_pct: u64,
    /// Longest pause.
    pub cap: Millis,
    /// Shortest pause, whatever the draw.
    pub floor: Millis,
}

impl From<Backoff> for Curve {
    fn from(backoff: Backoff) -> Curve {
        Curve {
            jitter: backoff.jitter,
            base: backoff.base,
            factor_pct: Budget::BACKOFF_FACTOR_PCT,
            cap: backoff.cap,
            floor: Budget::BACKOFF_FLOOR,
        }
    }
}

/// A wait that others were told as well, up to a tenth longer, a second at most: so they do not all come back in the same
/// instant. `draw` is in parts per million.
pub fn spread(asked: Millis, draw: u32) -> Millis {
    let most = Budget::WAIT_SPREAD.of(asked).min(Budget::WAIT_SPREAD_MOST);
    asked.plus(Millis(most.0 * u64::from(draw) / 1_000_000))
}

/// The pauses of one request at one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pauses {
    curve: Curve,
    /// The last decorrelated pause.
    previous: Millis,
}

impl Pauses {
    /// No pause taken yet.
    pub fn new(curve: Curve) -> Pauses {
        Pauses { curve, previous: curve.base }
    }

    /// Another target: its pauses begin anew.
    pub fn new_target(&mut self) {
        self.previous = self.curve.base;
    }

    /// The whole pause before retry `retry`, counted from 1: base, growing, capped.
    fn whole(&self, retry: u32) -> u64 {
        let cap = self.curve.cap.0;
        let mut pause = self.curve.base.0.min(cap);
        // Ends at the cap: at most 64 doublings, whatever the retry's number. A factor of 100% or less never grows.
        for _ in 1..retry {
            let next = pause.saturating_mul(self.curve.factor_pct) / 100;
            if next <= pause || pause >= cap {
                break;
            }
            pause = next.min(cap);
        }
        pause
    }

    /// The pause before retry `retry`, for a draw in parts per million.
    pub fn next(&mut self, retry: u32, draw: u32) -> Millis {
        let part = |n: u64| u64::try_from(u128::from(n) * u128::from(draw) / 1_000_000).unwrap_or(u64::MAX);
        let pause = match self.curve.jitter {
            Jitter::None => self.whole(retry),
            Jitter::Full => part(self.whole(retry)),
            Jitter::Equal => {
                let whole = self.whole(retry);
                let half = whole / 2;
                half + part(whole - half)
            }
            Jitter::Decorrelated => {
                let base = self.curve.base.0;
                let spread = self.previous.0.saturating_mul(3).saturating_sub(base);
                let pause = self.curve.cap.0.min(base.saturating_add(part(spread)));
                self.previous = Millis(pause);
                pause
            }
        };
        Millis(pause).max(self.curve.floor)
    }

    /// The shortest and longest pause that retry `retry` can have.
    pub fn bounds(&self, retry: u32) -> (Millis, Millis) {
        let (low, high) = match self.curve.jitter {
            Jitter::None => (self.whole(retry), self.whole(retry)),
            Jitter::Full => (0, self.whole(retry)),
            Jitter::Equal => (self.whole(retry) / 2, self.whole(retry)),
            Jitter::Decorrelated => {
                let cap = self.curve.cap.0;
                (self.curve.base.0.min(cap), cap.min(self.previous.0.saturating_mul(3)))
            }
        };
        (Millis(low).max(self.curve.floor), Millis(high).max(self.curve.floor))
    }
}
