use super::*;
use crate::decide::standing::{Admission, Breaker};
use crate::decide::target_state::{Ask, Ended};
use crate::policy::Class;
use crate::policy::breaker::Capability;

const ASK: Ask<'static> = Ask { session: "s", capability: Capability::Text };

fn target(name: &str, provider: &str, account: &str) -> TargetSpec {
    TargetSpec { account: account.to_string(), ..TargetSpec::plain(name, provider) }
}

fn plan(targets: &[TargetSpec]) -> Plan {
    Plan::of(targets.to_vec(), Millis(8_000), "one")
}

fn names(plan: &Plan) -> Vec<Vec<&str>> {
    plan.groups.iter().map(|g| g.targets.iter().map(|t| t.name.as_str()).collect()).collect()
}

#[test]
fn targets_are_together_where_they_share_a_provider_or_an_account_through_whomever() {
    let plan = plan(&[
        target("a", "p", "x"),
        target("b", "q", "y"),
        target("c", "r", "z"),
        target("d", "q", "x"),
        target("e", "r", "z"),
    ]);
    assert_eq!(names(&plan), [vec!["a", "b", "d"], vec!["c", "e"]]);
    assert_eq!(plan.seat(TargetId(3)), Some(Seat { group: 0, place: 2 }));
    assert_eq!(plan.seat(TargetId(4)), Some(Seat { group: 1, place: 1 }));
    assert_eq!(plan.seat(TargetId(5)), None);
}

#[test]
fn a_target_is_found_again_under_another_id_and_calls_under_way_still_count_where_nothing_changed() {
    let old_targets = [target("b", "p", "p"), target("c", "q", "q")];
    let mut old = Ledgers::new(plan(&old_targets));
    let (group, place) = old.of(TargetId(0)).unwrap();
    let permit = group.admit(place, Millis(0), ASK, (Admission::Normal, 0), true).unwrap();
    group.settle(place, Millis(0), permit, &Ended::failed(Class::Auth));
    let (group, place) = old.of(TargetId(1)).unwrap();
    let under_way = group.admit(place, Millis(0), ASK, (Admission::Normal, 0), true).unwrap();

    let new_targets = [target("a", "p", "p"), target("b", "p", "p"), target("c", "q", "q")];
    let mut new = old.carried_to(plan(&new_targets));
    for id in [0, 1] {
        // The new target shares the account that was refused.
        let (group, place) = new.of(TargetId(id)).unwrap();
        assert!(matches!(group.standing(place, Millis(1), ASK).breaker, Breaker::Open { hard: true, .. }));
    }
    let (group, place) = new.of(TargetId(2)).unwrap();
    assert!(group.settle(place, Millis(1), under_way, &Ended::failed(Class::ServerError)));
}
