//! A budget that hedges, where no call can ever be: the budget itself rules it out, or a route that uses it does.

use super::{Link, enabled, known, routes, setting};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Budget, Effects, Hedge, Percent, Route, Tier};
use crate::source::Span;
use crate::syntax::settings::Block;

/// Looks at each budget that hedges, and then at each route that uses it.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for budget in draft.budgets.iter().flatten() {
        let Some(hedge) = budget.hedge else { continue };
        let place = |word: &str| setting(cx, Block::Budget, &budget.name, word).unwrap_or(budget.span);
        if let Some((word, why, help)) = ruled_out(budget, hedge) {
            let message = format!("no call of budget `{}` is ever hedged", budget.name);
            out.push(
                Diagnostic::new(Code::HedgeNever, place("hedge"), message)
                    .here("never happens")
                    .label(place(word), why)
                    .help(help),
            );
            continue;
        }
        for (route, tier) in routes(draft) {
            let own = known(&draft.budgets, route.budget.index()).is_some_and(|b| b.name == budget.name);
            let Some((at, why, help)) = own.then(|| ruled_out_for(cx, draft, route, tier)).flatten() else { continue };
            let message = format!("no call of route `{}` is ever hedged", route.name);
            out.push(
                Diagnostic::new(Code::HedgeNever, place("hedge"), message)
                    .here("never happens there")
                    .label(at, why)
                    .help(help),
            );
        }
    }
}

/// The setting of the budget that rules hedges out, how, and what to do about it.
fn ruled_out(budget: &Budget, hedge: Hedge) -> Option<(&'static str, String, String)> {
    if budget.attempts < 2 {
        let why = "a hedge is a call, and there is one in all".to_owned();
        return Some(("attempts", why, "write `attempts 2` or more, or leave `hedge` out".to_owned()));
    }
    if budget.replays == 0 {
        let why = "a hedge repeats what may have been processed".to_owned();
        return Some(("replays", why, "write `replays 1` or more, or leave `hedge` out".to_owned()));
    }
    let last = budget.deadline.less(budget.min_attempt);
    (hedge.at_least > last).then(|| {
        let why = format!("after {last} no call begins: {} of it is the least", budget.min_attempt);
        ("deadline", why, format!("write `hedge after p95, at least {last}` or less"))
    })
}

/// What of a route rules hedges out, where that stands, and what to do about it.
fn ruled_out_for(
    cx: &Context<'_>,
    draft: &Draft,
    route: &Route,
    tier: &Tier,
) -> Option<(Span, &'static str, &'static str)> {
    let place = |word: &str| setting(cx, Block::Route, &route.name, word).unwrap_or(route.span);
    if route.side_effects == Effects::Unknown {
        let why = "what may have set something off is not sent twice";
        return Some((place("side-effects"), why, "give the route a budget without `hedge`"));
    }
    if route.failover == Percent::NONE {
        let why = "no request goes to another target of the model";
        return Some((place("failover"), why, "give the route a budget without `hedge`"));
    }
    let chains: Option<Vec<Vec<Link<'_>>>> = tier.chains.iter().map(|chain| enabled(draft, chain)).collect();
    let nowhere = chains?.iter().all(|links| !links.iter().any(|one| links.iter().any(|other| stands_in(one, other))));
    let why = "no target has another of its model beside it";
    nowhere.then_some((tier.span, why, "add another deployment of the model, or leave `hedge` out"))
}

/// Whether one target could be a hedge of another: the same model, and another deployment.
fn stands_in(one: &Link<'_>, other: &Link<'_>) -> bool {
    let place = |link: &Link<'_>| {
        let target = link.target;
        (target.provider, target.upstream.clone(), target.region.clone())
    };
    one.target.model == other.target.model && place(one) != place(other)
}
