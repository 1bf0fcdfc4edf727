//! Who goes before whom: the one rule by which measured things change an order.
//!
//! In: things in an order, and what was measured of them. Out: the same things, where those that win by a tenth went
//! ahead. What is unknown loses against all that is known. No clock and no room of its own.

use crate::policy::{Millis, Money, Order, Percent, Weights};

/// Whether a measure wins against another by a tenth; less is better.
pub fn beats(own: Option<u64>, other: Option<u64>) -> bool {
    match (own, other) {
        (Some(own), Some(other)) => own < other && u128::from(own) * 100 <= u128::from(other) * Order::WIN_PCT,
        (Some(_), None) => true,
        (None, Some(_) | None) => false,
    }
}

/// What a score is made of; what is absent is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measures {
    /// How long calls take.
    pub latency: Option<Millis>,
    /// What the request costs at worst.
    pub cost: Option<Money>,
    /// How good the model is, by the operator's own measurement.
    pub quality: Option<Percent>,
}

/// The best of each measure among those that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Best {
    latency: Option<u64>,
    cost: Option<u64>,
    quality: Option<u64>,
}

impl Best {
    /// The best of some.
    pub fn of(all: impl Iterator<Item = Measures>) -> Best {
        let least = |best: Option<u64>, own: Option<u64>| best.into_iter().chain(own).min();
        all.fold(Best::default(), |best, own| Best {
            latency: least(best.latency, own.latency.map(|latency| latency.0)),
            cost: least(best.cost, own.cost.map(|cost| cost.0)),
            quality: best.quality.max(own.quality.map(|quality| u64::from(quality.0))),
        })
    }
}

/// One to a million: the best of a measure has a million, and what is unknown has nothing.
const WHOLE: u64 = 1_000_000;

/// How near a measure is to the best one, where less is better.
fn ratio(best: Option<u64>, own: Option<u64>) -> u64 {
    let (Some(best), Some(own)) = (best, own) else { return 0 };
    if own == 0 {
        return WHOLE;
    }
    u64::try_from(u128::from(best) * u128::from(WHOLE) / u128::from(own)).unwrap_or(WHOLE)
}

/// The weighted sum of best-to-own ratios, in parts per million.
pub fn score(own: Measures, best: Best, weights: Weights) -> u64 {
    let quality = own.quality.map(|quality| u64::from(quality.0));
    let parts = [
        (weights.latency, ratio(best.latency, own.latency.map(|latency| latency.0))),
        (weights.price, ratio(best.cost, own.cost.map(|cost| cost.0))),
        // More is better here, so the two change sides; a quality of nothing is as good as an unknown one.
        (weights.quality, quality.filter(|own| *own > 0).map_or(0, |own| ratio(Some(own), best.quality))),
    ];
    parts.iter().map(|(weight, part)| u64::from(weight.0) * part / u64::from(Percent::ALL.0)).sum()
}

/// Whether one's score wins against another's by a tenth; more is better.
pub fn outscores(own: Measures, other: Measures, best: Best, weights: Weights) -> bool {
    beats(Some(score(other, best, weights)), Some(score(own, best, weights)))
}

/// Puts each before the first that it wins against. Afterwards nobody wins against anyone before him, so doing it again,
/// or to some of them alone, changes nothing.
pub fn rearrange<T>(all: &mut [T], wins: impl Fn(&T, &T) -> bool) {
    for at in 1..all.len() {
        let front = all.get(at).and_then(|own| all.iter().take(at).position(|other| wins(own, other)));
        if let Some(moved) = front.and_then(|front| all.get_mut(front..=at)) {
            moved.rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ordered(measures: &[Option<u64>]) -> Vec<Option<u64>> {
        let mut all = measures.to_vec();
        rearrange(&mut all, |own, other| beats(*own, *other));
        all
    }

    #[test]
    fn a_tenth_wins_and_less_does_not() {
        assert_eq!(ordered(&[Some(100), Some(90)]), [Some(90), Some(100)]);
        assert_eq!(ordered(&[Some(100), Some(91)]), [Some(100), Some(91)]);
        assert_eq!(ordered(&[Some(0), Some(0)]), [Some(0), Some(0)]);
        assert_eq!(ordered(&[None, Some(900), None, Some(500)]), [Some(500), Some(900), None, None]);
    }

    #[test]
    fn a_score_is_the_weighted_sum_of_best_to_own_ratios() {
        let weights = Weights { latency: Percent(5_000), price: Percent(3_000), quality: Percent(2_000) };
        let of = |latency: Option<u64>, cost: Option<u64>, quality: Option<u32>| Measures {
            latency: latency.map(Millis),
            cost: cost.map(Money),
            quality: quality.map(Percent),
        };
        let all = [of(Some(200), Some(40), Some(9_000)), of(Some(400), Some(10), None), of(None, None, Some(4_500))];
        let best = Best::of(all.into_iter());
        assert_eq!(all.map(|own| score(own, best, weights)), [775_000, 550_000, 100_000]);
        // Half the latency at twice the price: what decides is the weight.
        let (fast, cheap) = (of(Some(100), Some(2), None), of(Some(200), Some(1), None));
        let best = Best::of([fast, cheap].into_iter());
        let priced = |percent: u32| Weights {
            latency: Percent(10_000 - percent),
            price: Percent(percent),
            quality: Percent::NONE,
        };
        assert!(outscores(fast, cheap, best, priced(4_000)) && !outscores(cheap, fast, best, priced(4_000)));
        assert!(outscores(cheap, fast, best, priced(6_000)) && !outscores(fast, cheap, best, priced(6_000)));
        // Less than a tenth apart, neither wins.
        assert!(!outscores(fast, cheap, best, priced(5_100)) && !outscores(cheap, fast, best, priced(5_100)));
        // What costs nothing is the best there is.
        let free = of(None, Some(0), None);
        let best = Best::of([free, cheap].into_iter());
        assert_eq!([free, cheap].map(|own| score(own, best, priced(10_000))), [1_000_000, 0]);
    }

    proptest! {
        #[test]
        fn nobody_wins_against_anyone_before_him(measures in prop::collection::vec(prop::option::of(0u64..1_000), 0..9)) {
            let all = ordered(&measures);
            for (at, own) in all.iter().enumerate() {
                prop_assert!(all.iter().take(at).all(|before| !beats(*own, *before)), "{all:?}");
            }
            prop_assert_eq!(ordered(&all), all.clone());
            let some: Vec<_> = all.iter().copied().step_by(2).collect();
            prop_assert_eq!(ordered(&some), some);
        }
    }
}
