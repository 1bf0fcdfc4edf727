//! An action of a matrix that is possible in none of the routes that use it: no other target of a model, no other
//! model, no larger context, no attempt left.

use super::{Link, enabled, known};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::class::Verb;
use crate::policy::{Action, Budget, FallbackTo, Matrix, Route, Row};
use crate::source::Span;
use crate::syntax::settings::Block;
use std::collections::BTreeMap;

/// How many further places a finding shows.
const MOST_PLACES: usize = 3;

/// Judges each written action over all routes at once, so that a matrix may be shared by routes of different chains.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    // What is unknown may be where the action is possible.
    let Some(places) = draft.routes.iter().map(|route| place(draft, route.as_ref()?)).collect::<Option<Vec<_>>>()
    else {
        return;
    };
    let mut judged: BTreeMap<Span, (Action, bool)> = BTreeMap::new();
    for place in &places {
        for written in place.matrix.rows.iter().flat_map(|row| &row.actions).filter(|action| action.written) {
            let entry = judged.entry(written.span).or_insert((written.action, false));
            entry.1 |= place.allows(written.action);
        }
    }
    // One cause bars an action in every row of a matrix, so it is told once.
    let mut told: BTreeMap<(Span, &str), Diagnostic> = BTreeMap::new();
    for (span, (action, possible)) in judged {
        if possible {
            continue;
        }
        let (verb, matrix) = (action.verb().word(), around(cx, span));
        let mut users = places.iter().filter(|place| place.matrix.rows.iter().any(|row| has(row, span)));
        let why = if users.all(|place| place.budget.attempts < 2) { NO_SECOND } else { reason(action) };
        let first = told.remove(&(matrix, why));
        let found = match first {
            None => Diagnostic::new(Code::ActionNeverPossible, span, format!("`{verb}` is never possible here"))
                .here(why)
                .help("remove it, or give a route that uses this matrix what it needs"),
            Some(found) if found.labels.len() < MOST_PLACES => found.label(span, format!("nor is `{verb}` here")),
            Some(found) => found,
        };
        told.insert((matrix, why), found);
    }
    out.extend(told.into_values());
}

/// Why nothing but a `stop` is possible where requests have one call.
const NO_SECOND: &str = "no route that uses it has a second attempt";

/// Whether a row has the action of a place.
fn has(row: &Row, place: Span) -> bool {
    row.actions.iter().any(|action| action.span == place)
}

/// The block that a place stands in.
fn around(cx: &Context<'_>, place: Span) -> Span {
    let blocks = cx.names.list(Block::Matrix).iter().map(|decl| decl.statement.span);
    let holds = |block: &Span| block.file == place.file && block.start <= place.start && place.end <= block.end;
    blocks.into_iter().find(holds).unwrap_or(place)
}

fn reason(action: Action) -> &'static str {
    match action {
        Action::Retry { .. } | Action::Wait { .. } => "no route that uses it allows a second call at one target",
        Action::NextKey => "no route that uses it reaches a provider with a pool of `keys`",
        Action::Failover => "no route that uses it has two targets of one model in a chain",
        Action::Fallback(FallbackTo::OtherModel) => "no route that uses it has two models in a chain",
        Action::Fallback(FallbackTo::LargerContext) => "no route that uses it has a larger context in a chain",
        Action::Fallback(FallbackTo::Tier(_)) => NO_SECOND,
        Action::Stop { .. } => "",
    }
}

/// A route's matrix, with where it is walked.
struct Place<'a> {
    matrix: &'a Matrix,
    budget: &'a Budget,
    /// The chains of the route's tier and of the tiers that the matrix falls back to.
    chains: Vec<Vec<Link<'a>>>,
}

fn place<'a>(draft: &'a Draft, route: &Route) -> Option<Place<'a>> {
    let matrix = known(&draft.matrices, route.matrix.index())?;
    let budget = known(&draft.budgets, route.budget.index())?;
    let mut tiers = vec![route.tier];
    for written in matrix.rows.iter().flat_map(|row| &row.actions) {
        if let Action::Fallback(FallbackTo::Tier(tier)) = written.action {
            tiers.push(tier);
        }
    }
    let mut chains = Vec::new();
    for tier in tiers {
        for chain in &known(&draft.tiers, tier.index())?.chains {
            chains.push(enabled(draft, chain)?);
        }
    }
    Some(Place { matrix, budget, chains })
}

impl Place<'_> {
    fn allows(&self, action: Action) -> bool {
        if action.verb() == Verb::Stop {
            return true;
        }
        if self.budget.attempts < 2 {
            return false;
        }
        match action {
            Action::Retry { .. } | Action::Wait { .. } => self.budget.per_target > 1,
            Action::NextKey => self.chains.iter().flatten().any(|link| link.provider.keys.len() > 1),
            Action::Failover => self.pair(|a, b| a.model.name == b.model.name),
            Action::Fallback(FallbackTo::OtherModel) => self.pair(|a, b| a.model.name != b.model.name),
            Action::Fallback(FallbackTo::LargerContext) => {
                self.pair(|a, b| a.model.capabilities.context < b.model.capabilities.context)
            }
            Action::Fallback(FallbackTo::Tier(_)) | Action::Stop { .. } => true,
        }
    }

    /// Whether two different targets of a chain stand so to each other.
    fn pair(&self, test: impl Fn(&Link<'_>, &Link<'_>) -> bool) -> bool {
        self.chains
            .iter()
            .any(|chain| chain.iter().any(|a| chain.iter().any(|b| a.target.name != b.target.name && test(a, b))))
    }
}
