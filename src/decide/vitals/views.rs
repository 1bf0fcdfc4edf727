//! A target's health as tiers see it that have a limit of their own.
//!
//! In: the probes and live latencies that its shared health has. Out: whether it is too slow for a limit. Each limit has a
//! whole copy of the vitals, in which a latency above it is slow too: runs, baseline and all, so that to degrade and to
//! recover takes as much as it takes anywhere.

use super::{Latency, Probed, Vitals};
use crate::decide::standing::Health;
use crate::policy::Millis;
use crate::policy::probe::{ProbeRules, Seed};

/// The copies of one target, one for each limit; none where no tier has one, or nobody looks.
#[derive(Clone, Debug, Default)]
pub struct Views(Vec<(Millis, Vitals)>);

impl Views {
    /// Copies that nobody has looked with.
    pub fn new(limits: &[Millis], probe: Option<&ProbeRules>, seed: Option<Seed>) -> Views {
        let Some(rules) = probe else { return Views::default() };
        let copy = |limit: &Millis| {
            let mut rules = rules.clone();
            let above = rules.health.slow.above.map_or(*limit, |above| above.min(*limit));
            rules.health.slow.above = Some(above);
            (*limit, Vitals::new(&rules, seed))
        };
        Views(limits.iter().map(copy).collect())
    }

    /// Takes over what others know under the same limits. The rules must be the same.
    pub fn take_over(&mut self, other: &Views) {
        for (limit, vitals) in &mut self.0 {
            if let Some((_, theirs)) = other.0.iter().find(|(known, _)| known == limit) {
                vitals.clone_from(theirs);
            }
        }
    }

    /// Takes note of a probe's end.
    pub fn probe(&mut self, now: Millis, probed: Probed) {
        for (_, vitals) in &mut self.0 {
            vitals.probe(now, probed);
        }
    }

    /// A call of live traffic had its output after this time.
    pub fn traffic(&mut self, now: Millis, latency: Latency) {
        for (_, vitals) in &mut self.0 {
            vitals.traffic(now, latency);
        }
    }

    /// The health for a tier with this limit: never better than the one that all share, which also says what is down.
    pub fn health(&self, limit: Millis, shared: Health) -> Health {
        let copy = self.0.iter().find(|(known, _)| *known == limit).map(|(_, vitals)| vitals.state());
        match (shared, copy) {
            (Health::Healthy, Some(Health::Degraded)) => Health::Degraded,
            (Health::Healthy | Health::Degraded | Health::Down, _) => shared,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(limits: &[u64]) -> Views {
        let limits: Vec<Millis> = limits.iter().copied().map(Millis).collect();
        Views::new(&limits, Some(&ProbeRules::default()), None)
    }

    fn passes(views: &mut Views, times: u32, latency: u64) {
        (0..times).for_each(|_| views.probe(Millis(0), Probed::Passed(Millis(latency))));
    }

    #[test]
    fn what_is_slow_for_one_tier_is_not_for_another() {
        let mut views = views(&[500, 2_000]);
        let seen = |views: &Views| [500, 2_000, 9_000].map(|limit| views.health(Millis(limit), Health::Healthy));
        passes(&mut views, 20, 500);
        assert_eq!(seen(&views), [Health::Healthy; 3]);
        // As many slow ones in a row as the probe's rules say, and as many good ones to come back.
        passes(&mut views, 2, 501);
        assert_eq!(seen(&views), [Health::Healthy; 3]);
        passes(&mut views, 1, 501);
        assert_eq!(seen(&views), [Health::Degraded, Health::Healthy, Health::Healthy]);
        passes(&mut views, 2, 100);
        assert_eq!(seen(&views)[0], Health::Degraded);
        passes(&mut views, 1, 100);
        assert_eq!(seen(&views), [Health::Healthy; 3]);
    }

    #[test]
    fn it_is_never_better_than_what_all_share() {
        let mut views = views(&[500]);
        passes(&mut views, 1, 501);
        let seen = |shared| views.health(Millis(500), shared);
        assert_eq!(
            Health::ALL.iter().map(|h| seen(*h)).collect::<Vec<_>>(),
            [Health::Degraded, Health::Degraded, Health::Down]
        );
    }

    #[test]
    fn a_stricter_rule_of_the_probe_still_holds() {
        let mut rules = ProbeRules::default();
        rules.health.slow.above = Some(Millis(100));
        let mut views = Views::new(&[Millis(500)], Some(&rules), None);
        passes(&mut views, 1, 101);
        assert_eq!(views.health(Millis(500), Health::Healthy), Health::Degraded);
    }

    #[test]
    fn who_is_not_probed_has_none() {
        let views = Views::new(&[Millis(1)], None, None);
        assert_eq!(views.health(Millis(1), Health::Healthy), Health::Healthy);
    }
}
