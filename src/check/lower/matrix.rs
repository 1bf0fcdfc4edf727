//! Matrices: rows of classes, guards and actions, put together with those they extend, and held to be total.
//!
//! In: a `matrix` block. Out: a `Matrix` whose rows name each class's actions up to the first `stop`, or nothing after
//! the rows that do not hold were named. A row is judged where it is written; what is inherited is judged in its own
//! matrix.

mod class_table;

use self::class_table::class_table;
use super::super::context::{Context, Decl};
use super::super::cursor::Cursor;
use super::super::guard::{self, Reads};
use super::super::{elsewhere, value};
use super::row_action;
use crate::diag::{Code, Diagnostic, Level};
use crate::policy::class::Verb;
use crate::policy::contract::Pattern;
use crate::policy::{Class, ClassSet, Guard, Matrix, Row};
use crate::source::Span;
use crate::syntax::tree::{Item, ItemKind, Statement};

/// The word for every class without an unguarded row above.
const OTHERWISE: &str = "otherwise";

/// A row as written: `otherwise` is not resolved yet.
struct Draft {
    /// Each class or pattern with the classes it stands for; none for `otherwise`.
    classes: Option<Vec<(Span, ClassSet)>>,
    row: Row,
}

/// Lowers a `matrix` block.
pub fn lower<'a>(ctx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<Matrix> {
    let lineage = ctx.lineage(decl);
    let own = rows(ctx, decl);
    let mut inherited = Some(Vec::new());
    for ancestor in lineage.decls.iter().skip(1) {
        // What an ancestor does wrong is said where it is lowered itself.
        let before = ctx.diagnostics.len();
        let more = rows(ctx, ancestor);
        ctx.diagnostics.truncate(before);
        inherited = inherited.zip(more).map(|(mut all, more)| {
            all.extend(more);
            all
        });
    }
    let mut table = Table::default();
    let own = own?;
    for (at, draft) in own.iter().enumerate() {
        let last = at + 1 == own.len();
        if draft.classes.is_none() && !last {
            ctx.report(
                Diagnostic::new(Code::OtherwiseNotLast, draft.row.span, "`otherwise` is not the last row")
                    .here("leaves nothing for the rows below")
                    .help("move it to the end of the matrix"),
            );
            return None;
        }
    }
    for draft in own {
        table.add_own(draft, &mut ctx.diagnostics);
    }
    let inherited = inherited?;
    // What the matrix that it extends lacks is said there.
    let partial = lineage.decls.len() > 1 && !covers_all(&inherited);
    for draft in inherited {
        table.add_inherited(draft);
    }
    if lineage.complete && !partial && !table.shadowed && table.covered != ClassSet::all() {
        ctx.report(not_total(decl, table.covered));
        return None;
    }
    (!table.broken).then(|| Matrix {
        name: decl.name.clone(),
        span: decl.name_span,
        docs: decl.statement.docs.clone(),
        rows: table.rows,
    })
}

/// Whether rows leave no class without one that has no guard.
fn covers_all(rows: &[Draft]) -> bool {
    let unguarded = rows.iter().filter(|draft| draft.row.guard.is_none());
    let of = |draft: &Draft| match &draft.classes {
        None => ClassSet::all(),
        Some(parts) => parts.iter().fold(ClassSet::default(), |set, (_, part)| set.union(*part)),
    };
    unguarded.fold(ClassSet::default(), |set, draft| set.union(of(draft))) == ClassSet::all()
}

fn not_total(decl: &Decl<'_>, covered: ClassSet) -> Diagnostic {
    let missing = ClassSet::all().without(covered);
    let names = listed(missing);
    let last = decl.statements().last().and_then(|row| row.items.first());
    let place = last.map_or(decl.name_span, |item| item.span);
    let message = format!("matrix `{}` says nothing about {names}", decl.name);
    let found = Diagnostic::new(Code::MatrixNotTotal, place, message);
    let found = match last {
        Some(_) => found.here("the last row").label(decl.name_span, "not every class has a row without a guard"),
        None => found.here("not every class has a row without a guard"),
    };
    let found = found.help("give each of them a row without a guard, or end with `otherwise -> stop`");
    match &decl.statement.block {
        Some(block) => {
            let last = block.statements.last().map_or(block.span.start + 1, |row| row.span.end);
            let end = Span { start: last, end: last, ..block.span };
            let text = if block.statements.is_empty() { " otherwise -> stop" } else { "\n  otherwise -> stop" };
            found.fix("add `otherwise -> stop`", end, text, false)
        }
        None => found,
    }
}

fn listed(classes: ClassSet) -> String {
    classes.iter().map(|class| format!("`{class}`")).collect::<Vec<_>>().join(", ")
}

/// The rows of one block, in order; nothing if one of them cannot be read.
fn rows<'a>(ctx: &mut Context<'a>, decl: &'a Decl<'a>) -> Option<Vec<Draft>> {
    let statements = decl.statements().iter().filter(|s| s.keyword() != Some("extends"));
    let read: Vec<Option<Draft>> = statements.map(|statement| row(ctx, statement)).collect();
    read.into_iter().collect()
}

fn row(ctx: &mut Context<'_>, statement: &Statement) -> Option<Draft> {
    if let Some(block) = &statement.block {
        let inside: Vec<_> = block.statements.iter().map(|inner| ctx.names.slice(inner.span)).collect();
        let found = Diagnostic::new(Code::UnexpectedBlock, block.span, "a row takes no block")
            .help("write the actions behind the arrow, with commas between them: `-> retry once, failover`");
        let flat = block.statements.iter().all(|inner| inner.block.is_none()) && !inside.is_empty();
        let arrow = statement.items.iter().any(|item| item.kind == ItemKind::Arrow);
        let actions = format!("{}{}", if arrow { "" } else { "-> " }, inside.join(", "));
        ctx.report(if flat && !actions.contains('\n') {
            found.fix(format!("write `{actions}`"), block.span, actions, false)
        } else {
            found
        });
        return None;
    }
    let items = statement.items.as_slice();
    let arrow = items.iter().position(|item| item.kind == ItemKind::Arrow);
    let Some((before, actions)) = arrow.and_then(|at| items.split_at_checked(at)) else {
        let last = items.last().map_or(statement.span, |item| item.span);
        // `otherwise stop`: only the arrow is not there. `failover` alone: an action that was cut off its row.
        let action = items.iter().position(|item| item.word().and_then(Verb::from_word).is_some());
        match action.and_then(|at| items.get(at)).map(|verb| verb.span) {
            Some(_) if action == Some(0) => {
                class(items.first()?, &mut ctx.diagnostics);
            }
            Some(verb) => {
                let before = Span { end: verb.start, ..verb };
                let text = ctx.names.slice(verb);
                ctx.report(
                    Diagnostic::new(Code::MissingValue, verb, format!("`->` is due before `{text}`"))
                        .here("the first action")
                        .fix("write `->`", before, "-> ", false),
                );
            }
            None => ctx.report(value::missing("`->` and what to do", last)),
        }
        return None;
    };
    if let Some(joint) = runs_on(ctx, actions) {
        let text = ctx.names.slice(joint);
        let message = format!("this row goes on on the next line, since its line ends with `{text}`");
        ctx.report(
            Diagnostic::new(Code::MissingItem, joint, message)
                .help(format!("write the action that belongs after `{text}`")),
        );
        return None;
    }
    let (arrow, actions) = actions.split_first()?;
    if let Some(second) = actions.iter().find(|item| item.kind == ItemKind::Arrow) {
        ctx.report(
            Diagnostic::new(Code::WrongValue, second.span, "a second `->` stands in this row")
                .label(arrow.span, "the first one")
                .help("keep one of them, and separate classes and actions by commas"),
        );
        return None;
    }
    let when = before.iter().position(|item| item.is("when")).unwrap_or(before.len());
    let (head, condition) = before.split_at_checked(when)?;
    if let ([all], []) = (head, condition)
        && all.is("*")
    {
        ctx.report(Diagnostic::new(Code::UnknownClass, all.span, "every other class is called `otherwise`").fix(
            "write `otherwise`",
            all.span,
            OTHERWISE,
            false,
        ));
        return None;
    }
    let classes = classes(head, arrow.span, &mut ctx.diagnostics);
    let guard = match condition.split_first().filter(|_| !head.is_empty()) {
        Some((when, items)) => guard::lower(items, when.span, Reads::Failure, &mut ctx.diagnostics).map(Some),
        None => Some(None),
    };
    let classes = classes?;
    if let (None, Some(when)) = (&classes, condition.first()) {
        ctx.report(
            Diagnostic::new(Code::OtherwiseNotLast, when.span, "`otherwise` takes no guard")
                .here("makes the matrix less than total")
                .help("name the classes that the guard is for in a row of their own"),
        );
        return None;
    }
    let actions = row_action::actions(ctx, actions, arrow.span, statement.span);
    let text = match (head.first(), head.last()) {
        (Some(first), Some(last)) => ctx.names.slice(first.span.to(last.span)).to_owned(),
        _ => String::new(),
    };
    let row = Row { classes: ClassSet::default(), text, guard: guard?, actions: actions?, span: statement.span };
    Some(Draft { classes, row })
}

/// The comma or arrow at a line's end that joins two rows: another arrow stands below it.
fn runs_on(ctx: &Context<'_>, from_arrow: &[Item]) -> Option<Span> {
    let second = from_arrow.iter().skip(1).position(|item| item.kind == ItemKind::Arrow)?;
    let pairs = from_arrow.iter().zip(from_arrow.iter().skip(1)).take(second + 1);
    let breaks = |(joint, next): &(&Item, &Item)| {
        let between = Span { start: joint.span.end, end: next.span.start, ..next.span };
        matches!(joint.kind, ItemKind::Comma | ItemKind::Arrow) && ctx.names.slice(between).contains('\n')
    };
    pairs.filter(breaks).map(|(joint, _)| joint.span).next_back()
}

/// The classes of a row's head: the inner nothing is `otherwise`.
#[allow(clippy::type_complexity)]
fn classes(head: &[Item], arrow: Span, out: &mut Vec<Diagnostic>) -> Option<Option<Vec<(Span, ClassSet)>>> {
    if let [only] = head
        && only.is(OTHERWISE)
    {
        return Some(None);
    }
    let mut cursor = Cursor::new(head, Span { end: arrow.start, ..arrow });
    let mut found = Vec::new();
    let mut sound = true;
    loop {
        let item = cursor.due("a failure class", out)?;
        match class(item, out) {
            Some(set) => found.push((item.span, set)),
            None => sound = false,
        }
        match cursor.take().map(|item| (&item.kind, item)) {
            None => break,
            Some((ItemKind::Comma, _)) => {}
            Some((_, item)) => {
                // Behind what is no class, nobody knows what was meant to follow.
                if sound {
                    out.push(value::wrong(item, "a comma, `when` or `->`"));
                }
                return None;
            }
        }
    }
    sound.then_some(Some(found))
}

/// A class, or the classes of a pattern.
pub(super) fn class(item: &Item, out: &mut Vec<Diagnostic>) -> Option<ClassSet> {
    let (ItemKind::Word(word) | ItemKind::Number(word)) = &item.kind else {
        let help = "write classes with commas between them: `connect, overloaded -> failover`";
        out.push(value::wrong(item, "a failure class").help(help));
        return None;
    };
    if let Some(meant) = elsewhere::class(word) {
        let message = format!("`{word}` is not a failure class; here that is `{meant}`");
        out.push(Diagnostic::new(Code::UnknownClass, item.span, message).fix(
            format!("write `{meant}`"),
            item.span,
            meant,
            false,
        ));
        return None;
    }
    if matches!(item.kind, ItemKind::Number(_)) {
        let help = "rows are about classes, not statuses; `switchback classify` says which class an answer has";
        out.push(value::wrong(item, "a failure class").help(help));
        return None;
    }
    if Verb::from_word(word).is_some() {
        out.push(
            Diagnostic::new(Code::UnknownClass, item.span, format!("`{word}` is an action, and begins no row"))
                .help("actions of one row stand on its line, with commas between them: `retry once, failover`"),
        );
        return None;
    }
    let pattern = Pattern(word.to_owned());
    let set = Class::ALL.iter().filter(|c| pattern.matches(c.word())).fold(ClassSet::default(), |s, c| s.with(*c));
    if set.is_empty() {
        let what = if word.contains('*') { "a pattern of any failure class" } else { "a failure class" };
        let known = Class::ALL.iter().map(|class| class.word()).chain([OTHERWISE]);
        let mut diagnostic = value::unknown_word(word, item.span, what, known);
        diagnostic.code = Code::UnknownClass;
        if word == OTHERWISE {
            diagnostic = diagnostic.help("`otherwise` stands alone, and last");
            diagnostic.fix = None;
        }
        out.push(diagnostic);
        return None;
    }
    Some(set)
}

/// Rows put together, with what they cover so far.
#[derive(Default)]
struct Table {
    rows: Vec<Row>,
    /// Classes that have an unguarded row.
    covered: ClassSet,
    /// Whether a row of them does not hold.
    broken: bool,
    /// Whether a row, or a name in it, decides nothing: it was meant for other classes, and nobody knows which.
    shadowed: bool,
}

impl Table {
    fn add_own(&mut self, draft: Draft, out: &mut Vec<Diagnostic>) {
        let mut row = draft.row;
        row.classes = match &draft.classes {
            None => ClassSet::all().without(self.covered),
            Some(parts) => parts.iter().fold(ClassSet::default(), |set, (_, part)| set.union(*part)),
        };
        let before = out.len();
        self.shadows(&draft.classes, &row, out);
        class_table(&row, out);
        self.broken |= out.iter().skip(before).any(|d| d.level() == Level::Error);
        self.push(row);
    }

    fn add_inherited(&mut self, draft: Draft) {
        let mut row = draft.row;
        row.classes = match &draft.classes {
            None => ClassSet::all().without(self.covered),
            Some(parts) => parts.iter().fold(ClassSet::default(), |set, (_, part)| set.union(*part)),
        };
        if !row.classes.without(self.covered).is_empty() {
            self.push(row);
        }
    }

    fn push(&mut self, row: Row) {
        if row.guard.is_none() {
            self.covered = self.covered.union(row.classes);
        }
        self.rows.push(row);
    }

    /// Reports what of a row is decided above it already: the whole row, or single names in it. A pattern may overlap.
    fn shadows(&mut self, parts: &Option<Vec<(Span, ClassSet)>>, row: &Row, out: &mut Vec<Diagnostic>) {
        if row.classes.is_empty() || self.decided(row.classes, row.guard.as_ref()) {
            let mut diagnostic =
                Diagnostic::new(Code::RowShadowed, row.span, format!("the row of `{}` can never decide", row.text))
                    .here("never reached")
                    .help("remove it, or move it above the row that covers it");
            self.shadowed = true;
            let cover = self.rows.iter().rev().find(|r| !r.classes.intersection(row.classes).is_empty());
            if let Some(cover) = cover {
                diagnostic = diagnostic.label(cover.span, "decides before it");
            }
            out.push(diagnostic);
            return;
        }
        let mut seen = ClassSet::default();
        for (span, part) in parts.iter().flatten() {
            let twice = part.without(seen).is_empty();
            if twice || self.decided(*part, row.guard.as_ref()) {
                self.shadowed = true;
                let class = listed(*part);
                let cover = self.rows.iter().rev().find(|r| !r.classes.intersection(*part).is_empty());
                let mut diagnostic =
                    Diagnostic::new(Code::RowShadowed, *span, format!("{class} is decided before it comes here"))
                        .here("never decides")
                        .help("remove it here, or in the place before");
                if let Some(cover) = cover.filter(|_| !twice) {
                    diagnostic = diagnostic.label(cover.span, "decides it");
                }
                out.push(diagnostic);
            }
            seen = seen.union(*part);
        }
    }

    /// Whether rows above decide all these classes whenever the guard holds.
    fn decided(&self, classes: ClassSet, guard: Option<&Guard>) -> bool {
        let same = |row: &&Row| row.guard.is_none() || row.guard.as_ref() == guard;
        let covered = self.rows.iter().filter(same).fold(ClassSet::default(), |set, row| set.union(row.classes));
        classes.without(covered).is_empty()
    }
}

#[cfg(test)]
mod tests;
