//! Routes that can take the same request: which of them is asked first must be said.
//!
//! In: the lowered routes. Out: diagnostics. Two conditions count as apart only where that is plain to see: somewhere
//! in both, the same fact is held to different values.

use crate::check::context::Context;
use crate::diag::{Code, Diagnostic};
use crate::policy::{Comparison, Fact, Guard, Literal, Route};
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

/// Whether two conditions plainly exclude each other.
fn apart(left: &Guard, right: &Guard) -> bool {
    conjuncts(left).iter().any(|a| conjuncts(right).iter().any(|b| exclude(a, b)))
}

/// What must all hold for a guard to hold.
fn conjuncts(guard: &Guard) -> Vec<&Guard> {
    match guard {
        Guard::All(parts) => parts.iter().flat_map(conjuncts).collect(),
        Guard::Any(_) | Guard::Not(_) | Guard::Compare(..) | Guard::In(..) => vec![guard],
    }
}

fn exclude(left: &Guard, right: &Guard) -> bool {
    match (left, right) {
        (Guard::Compare(a, Comparison::Equal, x), Guard::Compare(b, Comparison::Equal, y)) => a == b && x != y,
        (Guard::Not(inner), other) | (other, Guard::Not(inner)) => **inner == *other,
        (Guard::In(a, Literal::Texts(xs)), Guard::In(b, Literal::Texts(ys))) => {
            a == b && xs.iter().all(|x| ys.iter().all(|y| prefixes_differ(&x.0, &y.0)))
        }
        (Guard::Compare(a, Comparison::Equal, Literal::Text(x)), Guard::In(b, Literal::Texts(ys)))
        | (Guard::In(b, Literal::Texts(ys)), Guard::Compare(a, Comparison::Equal, Literal::Text(x))) => {
            a == b && ys.iter().all(|y| !y.matches(x))
        }
        (Guard::Compare(a, c, x), Guard::Compare(b, d, y)) => a == b && bounds_differ(a, (*c, x), (*d, y)),
        (Guard::All(_) | Guard::Any(_) | Guard::Compare(..) | Guard::In(..), _) => false,
    }
}

/// Whether no text fits both patterns, as far as what stands before the first `*` can tell.
fn prefixes_differ(x: &str, y: &str) -> bool {
    let fixed = |pattern: &str| pattern.split('*').next().unwrap_or_default().to_owned();
    let (a, b) = (fixed(x), fixed(y));
    match (x.contains('*'), y.contains('*')) {
        (false, false) => x != y,
        (false, true) => !x.starts_with(&b),
        (true, false) => !y.starts_with(&a),
        (true, true) => !a.starts_with(&b) && !b.starts_with(&a),
    }
}

/// Whether one comparison of a number ends where the other begins.
fn bounds_differ(_: &Fact, left: (Comparison, &Literal), right: (Comparison, &Literal)) -> bool {
    let number = |literal: &Literal| match literal {
        Literal::Count(n) => Some(*n),
        Literal::Time(t) => Some(t.0),
        Literal::Money(m) => Some(m.0),
        Literal::Flag(_)
        | Literal::Text(_)
        | Literal::Texts(_)
        | Literal::Counts(_)
        | Literal::Stage(_)
        | Literal::Stages(_)
        | Literal::Modalities(_) => None,
    };
    let (Some(a), Some(b)) = (number(left.1), number(right.1)) else { return false };
    // Half-open ranges: [low, high).
    let range = |comparison: Comparison, n: u64| match comparison {
        Comparison::Equal => (n, n.saturating_add(1)),
        Comparison::NotEqual => (0, u64::MAX),
        Comparison::Less => (0, n),
        Comparison::AtMost => (0, n.saturating_add(1)),
        Comparison::Greater => (n.saturating_add(1), u64::MAX),
        Comparison::AtLeast => (n, u64::MAX),
    };
    let ((low, high), (from, to)) = (range(left.0, a), range(right.0, b));
    high <= from || to <= low
}
