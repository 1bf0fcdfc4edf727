//! Routes that can take the same request: which of them is asked first must be said.
//!
//! In: the lowered routes. Out: diagnostics. Two conditions that are too large to be held against each other count as
//! overlapping.

use crate::check::context::Context;
use crate::check::guard::{Verdict, verdict};
use crate::diag::{Code, Diagnostic};
use crate::policy::{Guard, Route};
use crate::source::Span;
use crate::syntax::settings::Block;
use std::collections::{BTreeMap, BTreeSet};

/// Reports routes that overlap, and `before` where it decides nothing.
pub fn check(cx: &mut Context<'_>, routes: &[Option<Route>]) {
    let known: Vec<(usize, &Route)> =
        routes.iter().enumerate().filter_map(|(at, route)| route.as_ref().map(|route| (at, route))).collect();
    let mut servers: BTreeMap<&str, Vec<(usize, &Route)>> = BTreeMap::new();
    for (i, route) in &known {
        for name in &route.serves {
            servers.entry(name).or_default().push((*i, route));
        }
    }
    // Two routes may share several names; one of them is enough to say so.
    let mut seen = BTreeSet::new();
    for (name, routes) in &servers {
        for (at, a) in routes.iter().enumerate() {
            for b in routes.iter().skip(at + 1).filter(|b| seen.insert((a.0, b.0))) {
                pair(cx, name, *a, *b);
            }
        }
    }
    for (i, route) in &known {
        before(cx, *i, route, routes);
    }
}

fn pair(cx: &mut Context<'_>, shared: &str, (i, a): (usize, &Route), (j, b): (usize, &Route)) {
    let says = |route: &Route, other: usize| route.before.is_some_and(|id| id.index() == other);
    let ordered = says(a, j) || says(b, i);
    let (message, help) = match (&a.matches, &b.matches) {
        (Some(_), None) | (None, Some(_)) => return,
        (Some(left), Some(right)) if ordered || apart(left, right) => return,
        (Some(_), Some(_)) => (
            format!("routes `{}` and `{}` can match the same request for `{shared}`", a.name, b.name),
            format!("say which is asked first: `before {}`, or make the conditions exclude each other", a.name),
        ),
        (None, None) => (
            format!("routes `{}` and `{}` both serve `{shared}`", a.name, b.name),
            "take the name out of one of them, or give one a `match when …`".to_owned(),
        ),
    };
    // The later one in the files is the one that was added.
    let (first, second) = if a.span <= b.span { (a, b) } else { (b, a) };
    cx.report(
        Diagnostic::new(Code::OverlappingRoutes, second.span, message)
            .label(first.span, format!("`{}` serves it too", first.name))
            .help(help),
    );
}

fn before(cx: &mut Context<'_>, at: usize, route: &Route, routes: &[Option<Route>]) {
    let Some(id) = route.before else { return };
    let span = before_span(cx, at).unwrap_or(route.span);
    if id.index() == at {
        cx.report(
            Diagnostic::new(Code::BeforeCycle, span, format!("route `{}` is to be asked before itself", route.name))
                .help("name another route, or leave `before` out"),
        );
        return;
    }
    let Some(other) = routes.get(id.index()).and_then(Option::as_ref) else { return };
    let meets = route.serves.iter().any(|name| other.serves.contains(name));
    if !meets || route.matches.is_none() || other.matches.is_none() {
        let why = if meets { "one of the two has no `match`" } else { "the two serve no model in common" };
        cx.report(
            Diagnostic::new(Code::IdleBefore, span, format!("`before {}` decides nothing", other.name))
                .here(why)
                .label(other.span, "the other route")
                .help("leave it out; a route with a `match` is asked before one without anyway"),
        );
        return;
    }
    if let Some(last) = circle(at, routes) {
        cx.report(
            Diagnostic::new(Code::BeforeCycle, span, format!("`before` leads from `{}` back to itself", route.name))
                .label(last.span, format!("`{}` closes the circle", last.name))
                .help("take one `before` of the circle away"),
        );
    }
}

/// The last route of a circle of `before`s that begins at `at`, if `at` is the first by name in it.
fn circle(at: usize, routes: &[Option<Route>]) -> Option<&Route> {
    let mut here = at;
    for _ in 0..routes.len() {
        let route = routes.get(here)?.as_ref()?;
        here = route.before?.index();
        if here == at {
            return Some(route);
        }
        if here < at {
            return None;
        }
    }
    None
}

fn before_span(cx: &Context<'_>, at: usize) -> Option<Span> {
    let decl = cx.names.decl(Block::Route, at)?;
    decl.statements().iter().find(|s| s.keyword() == Some("before")).map(|s| s.span)
}

/// Whether two conditions exclude each other.
fn apart(left: &Guard, right: &Guard) -> bool {
    verdict(&[left, right], u64::MAX) == Some(Verdict::Never)
}
