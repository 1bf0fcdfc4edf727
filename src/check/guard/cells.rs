//! Whether conditions can hold at all, whatever the request and the failure are.
//!
//! In: guards that have to hold together. Out: whether they never do, always do, or depend, by trying each cell that
//! their constants cut the facts into; nothing where there are too many. Knows facts by their ranges, not by policies.

use crate::policy::{Comparison, Fact, Guard, Literal, Millis, Modalities, Modality, Money, Stage};

/// What conditions come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing fulfils them.
    Never,
    /// Everything fulfils them.
    Always,
    /// Some do and some do not.
    Depends,
}

/// The most cells that are tried.
const MOST_CELLS: usize = 10_000;

/// One value of a fact, standing for all of its cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Absent,
    Flag(bool),
    Number(u64),
    Text(String),
    Stage(Stage),
    Modalities(Modalities),
}

/// What guards come to that have to hold together. `attempts` is the most calls of a request.
pub fn verdict(guards: &[&Guard], attempts: u64) -> Option<Verdict> {
    let mut uses: Vec<(&Fact, Vec<&Literal>)> = Vec::new();
    for guard in guards {
        collect(guard, &mut uses);
    }
    let cells: Option<Vec<_>> = uses.iter().map(|(fact, literals)| values(fact, literals, attempts)).collect();
    let cells = cells?;
    let count = cells.iter().try_fold(1usize, |all, own| all.checked_mul(own.len()));
    let count = count.filter(|count| *count <= MOST_CELLS)?;
    let (mut some, mut all) = (false, true);
    for cell in 0..count {
        let mut rest = cell;
        let world: Vec<(&Fact, &Value)> = uses
            .iter()
            .zip(&cells)
            .filter_map(|((fact, _), own)| {
                let value = own.get(rest % own.len());
                rest /= own.len();
                Some((*fact, value?))
            })
            .collect();
        let holds = guards.iter().all(|guard| holds(guard, &world));
        some |= holds;
        all &= holds;
    }
    Some(match (some, all) {
        (false, _) => Verdict::Never,
        (true, true) => Verdict::Always,
        (true, false) => Verdict::Depends,
    })
}

fn collect<'g>(guard: &'g Guard, uses: &mut Vec<(&'g Fact, Vec<&'g Literal>)>) {
    match guard {
        Guard::All(parts) | Guard::Any(parts) => parts.iter().for_each(|part| collect(part, uses)),
        Guard::Not(part) => collect(part, uses),
        Guard::Compare(fact, _, literal) | Guard::In(fact, literal) => {
            match uses.iter_mut().find(|(known, _)| *known == fact) {
                Some((_, literals)) => literals.push(literal),
                None => uses.push((fact, vec![literal])),
            }
        }
    }
}

/// A value for each cell of a fact; nothing where no list of values shows them.
fn values(fact: &Fact, literals: &[&Literal], attempts: u64) -> Option<Vec<Value>> {
    let optional = match fact {
        Fact::Model | Fact::Stream | Fact::Tools | Fact::Tokens | Fact::Modalities | Fact::Stage => false,
        Fact::AttemptNumber | Fact::AttemptOnTarget | Fact::TimeLeft | Fact::Spent => false,
        Fact::MaxOutput | Fact::Client | Fact::Region | Fact::Session | Fact::Header(_) | Fact::Metadata(_) => true,
        Fact::RetryAfter | Fact::Status | Fact::Code => true,
    };
    let mut values = match fact {
        Fact::Stream | Fact::Tools => vec![Value::Flag(false), Value::Flag(true)],
        Fact::Stage => Stage::ALL.iter().map(|stage| Value::Stage(*stage)).collect(),
        Fact::Modalities => sets(),
        Fact::Tokens | Fact::MaxOutput | Fact::RetryAfter | Fact::TimeLeft | Fact::Spent => {
            numbers(literals, 0, u64::MAX)
        }
        Fact::Status => numbers(literals, 100, 599),
        Fact::AttemptNumber | Fact::AttemptOnTarget => numbers(literals, 1, attempts),
        Fact::Model
        | Fact::Client
        | Fact::Region
        | Fact::Session
        | Fact::Header(_)
        | Fact::Metadata(_)
        | Fact::Code => texts(literals)?,
    };
    if optional {
        values.push(Value::Absent);
    }
    Some(values)
}

/// Each set of modalities that a request can have.
fn sets() -> Vec<Value> {
    let subset = |bits: u32| {
        let own = Modality::ALL.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
        Value::Modalities(own.fold(Modalities::default(), |set, (_, modality)| set.with(*modality)))
    };
    let count = 1u32 << Modality::ALL.len().min(8);
    (1..count).map(subset).collect()
}

/// Each constant, and what is just beside it.
fn numbers(literals: &[&Literal], least: u64, most: u64) -> Vec<Value> {
    let mut all = vec![least, most];
    for literal in literals {
        let constants = match literal {
            Literal::Count(n) | Literal::Time(Millis(n)) | Literal::Money(Money(n)) => std::slice::from_ref(n),
            Literal::Counts(counts) => counts.as_slice(),
            Literal::Flag(_)
            | Literal::Text(_)
            | Literal::Texts(_)
            | Literal::Stage(_)
            | Literal::Stages(_)
            | Literal::Modalities(_) => &[],
        };
        all.extend(constants.iter().flat_map(|n| [n.saturating_sub(1), *n, n.saturating_add(1)]));
    }
    all.retain(|n| (least..=most).contains(n));
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(Value::Number).collect()
}

/// Each text that is named, one for each way in which patterns may fit, and one that is none of them. Nothing where a
/// pattern has several `*`.
fn texts(literals: &[&Literal]) -> Option<Vec<Value>> {
    // A pattern `a*b` is a beginning and an end. What fits some patterns and not the others is shown by the longest
    // beginning and the longest end among them.
    let (mut all, mut begins, mut ends) = (Vec::new(), vec![""], vec![""]);
    for literal in literals {
        match literal {
            Literal::Text(text) => all.push(text.clone()),
            Literal::Texts(list) => {
                for one in list {
                    match one.0.split_once('*') {
                        None => all.push(one.0.clone()),
                        Some((_, end)) if end.contains('*') => return None,
                        Some((begin, end)) => {
                            begins.push(begin);
                            ends.push(end);
                        }
                    }
                }
            }
            Literal::Flag(_)
            | Literal::Count(_)
            | Literal::Counts(_)
            | Literal::Time(_)
            | Literal::Money(_)
            | Literal::Stage(_)
            | Literal::Stages(_)
            | Literal::Modalities(_) => {}
        }
    }
    // No policy can name this character, so what is between is no text of its own.
    all.extend(begins.iter().flat_map(|begin| ends.iter().map(move |end| format!("{begin}\u{0}{end}"))));
    all.sort_unstable();
    all.dedup();
    Some(all.into_iter().map(Value::Text).collect())
}

/// As a decision has it: a comparison with an absent fact is false.
pub(super) fn holds(guard: &Guard, world: &[(&Fact, &Value)]) -> bool {
    let value = |fact: &Fact| world.iter().find(|(known, _)| *known == fact).map(|(_, value)| *value);
    match guard {
        Guard::All(parts) => parts.iter().all(|part| holds(part, world)),
        Guard::Any(parts) => parts.iter().any(|part| holds(part, world)),
        Guard::Not(part) => !holds(part, world),
        Guard::Compare(fact, comparison, literal) => value(fact).is_some_and(|value| fits(value, *comparison, literal)),
        Guard::In(fact, literal) => value(fact).is_some_and(|value| is_in(value, literal)),
    }
}

fn fits(value: &Value, comparison: Comparison, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Flag(own), Literal::Flag(other)) => comparison.holds(own, other),
        (Value::Number(own), Literal::Count(n) | Literal::Time(Millis(n)) | Literal::Money(Money(n))) => {
            comparison.holds(own, n)
        }
        (Value::Text(own), Literal::Text(other)) => comparison.holds(own, other),
        (Value::Stage(own), Literal::Stage(other)) => comparison.holds(own, other),
        _ => false,
    }
}

fn is_in(value: &Value, literal: &Literal) -> bool {
    match (value, literal) {
        (Value::Text(own), Literal::Texts(patterns)) => patterns.iter().any(|pattern| pattern.matches(own)),
        (Value::Number(own), Literal::Counts(counts)) => counts.contains(own),
        (Value::Stage(own), Literal::Stages(stages)) => stages.contains(own),
        (Value::Modalities(own), Literal::Modalities(among)) => own.iter().all(|modality| among.contains(modality)),
        _ => false,
    }
}
