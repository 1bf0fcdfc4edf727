//! Who goes before whom: the one rule by which measured things change an order.
//!
//! In: things in an order, and what was measured of them. Out: the same things, where those that win by a tenth went
//! ahead. What is unknown loses against all that is known. No clock and no room of its own.

use crate::policy::Order;

/// Whether a measure wins against another by a tenth; less is better.
pub fn beats(own: Option<u64>, other: Option<u64>) -> bool {
    match (own, other) {
        (Some(own), Some(other)) => own < other && u128::from(own) * 100 <= u128::from(other) * Order::WIN_PCT,
        (Some(_), None) => true,
        (None, Some(_) | None) => false,
    }
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
