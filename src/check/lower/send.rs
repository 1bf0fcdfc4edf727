//! `send ROUTE { facts }`: the request of a test.
//!
//! In: the items after `send` and the block of facts. Out: the step, facts that are not written having their defaults.

use super::super::context::{Context, not_yet_part};
use super::super::cursor::Cursor;
use super::super::value;
use crate::diag::{Code, Diagnostic, closest};
use crate::policy::contract::Modality;
use crate::policy::{Effects, Modalities, SendFacts, StructuredOutput, TestStep};
use crate::source::Span;
use crate::syntax::settings::Early;
use crate::syntax::tree::{Item, Statement};
use std::collections::BTreeMap;

/// The facts that a request may be given.
const FACTS: [&str; 13] = [
    "stream",
    "tokens",
    "max-output",
    "tools",
    "schema",
    "modalities",
    "client",
    "region",
    "session",
    "header",
    "metadata",
    "side-effects",
    "idempotency-key",
];

/// Input tokens of a request that does not say.
const TOKENS: u64 = 1_000;
/// Output tokens of a request that does not say.
const MAX_OUTPUT: u64 = 500;

/// Reads the rest of a `send` line.
pub fn lower(ctx: &mut Context<'_>, cursor: &mut Cursor<'_>, statement: &Statement) -> Option<TestStep> {
    let route = cursor.due("the name of a route", &mut ctx.diagnostics)?;
    let route = ctx.route(route);
    let mut sound = cursor.finish(&mut ctx.diagnostics);
    let mut facts = SendFacts {
        stream: false,
        tokens: TOKENS,
        max_output: MAX_OUTPUT,
        tools: false,
        schema: StructuredOutput::None,
        modalities: Modalities::default().with(Modality::Text),
        client: None,
        region: None,
        session: None,
        headers: Vec::new(),
        metadata: Vec::new(),
        side_effects: None,
    };
    let mut seen = BTreeMap::new();
    for statement in statement.block.iter().flat_map(|block| &block.statements) {
        sound &= fact(statement, &mut facts, &mut seen, &mut ctx.diagnostics).is_some();
    }
    sound.then_some(TestStep::Send { route: route?, facts: Box::new(facts) })
}

fn fact(
    statement: &Statement,
    facts: &mut SendFacts,
    seen: &mut BTreeMap<String, Span>,
    out: &mut Vec<Diagnostic>,
) -> Option<()> {
    if let Some(block) = &statement.block {
        out.push(Diagnostic::new(Code::UnexpectedBlock, block.span, "a fact takes no block").help("remove the braces"));
        return None;
    }
    let mut cursor = Cursor::new(&statement.items, statement.span);
    let first = cursor.take()?;
    let Some(word) = first.word().filter(|word| FACTS.contains(word)) else {
        out.push(unknown(first));
        return None;
    };
    let named = matches!(word, "header" | "metadata");
    if let Some(before) = seen.insert(word.to_owned(), first.span).filter(|_| !named) {
        out.push(
            Diagnostic::new(Code::DuplicateSetting, first.span, format!("`{word}` stands here twice"))
                .label(before, "first here")
                .help("keep one of them"),
        );
        return None;
    }
    let value = cursor.due("a value", out)?;
    match word {
        "stream" => facts.stream = value::truth(value, out)?,
        "tokens" => facts.tokens = value::count(value, out)?,
        "max-output" => facts.max_output = value::count(value, out)?,
        "tools" => facts.tools = value::truth(value, out)?,
        "schema" => facts.schema = schema(value, out)?,
        "modalities" => {
            let kind = |item: &Item, out: &mut Vec<Diagnostic>| {
                value::choice(item, "a modality", Modality::ALL, Modality::word, out)
            };
            let kinds = value::list(value, "a list of modalities", out, kind)?;
            facts.modalities = kinds.into_iter().fold(Modalities::default(), |all, kind| all.with(kind.value));
        }
        "region" => facts.region = Some(value::label(value, out)?),
        "session" => facts.session = Some(value::label(value, out)?),
        "side-effects" => {
            facts.side_effects = Some(value::choice(value, "an answer here", Effects::ALL, Effects::word, out)?);
        }
        // The ledger that would know the key does not exist, and neither do client blocks.
        "client" => {
            out.push(not_yet_part(first.span, Early::SendClient));
            return None;
        }
        "idempotency-key" => {
            out.push(not_yet_part(first.span, Early::SendKey));
            return None;
        }
        "header" | "metadata" => {
            let name = value::string(value, out)?;
            let content = value::string(cursor.due("the value in quotes", out)?, out)?;
            match word {
                "header" => facts.headers.push((name.to_ascii_lowercase(), content)),
                _ => facts.metadata.push((name, content)),
            }
        }
        _ => return None,
    }
    cursor.finish(out).then_some(())
}

/// `no`, `json-object`, or `yes` for a schema.
fn schema(item: &Item, out: &mut Vec<Diagnostic>) -> Option<StructuredOutput> {
    match item.word() {
        Some("no") => Some(StructuredOutput::None),
        Some("json-object") => Some(StructuredOutput::JsonObject),
        Some("yes") => Some(StructuredOutput::JsonSchema),
        Some(word) => {
            out.push(value::unknown_word(word, item.span, "an answer here", ["yes", "no", "json-object"].into_iter()));
            None
        }
        None => {
            out.push(value::wrong(item, "`yes`, `no` or `json-object`"));
            None
        }
    }
}

fn unknown(item: &Item) -> Diagnostic {
    let Some(word) = item.word() else { return value::wrong(item, "a fact of the request") };
    let diagnostic =
        Diagnostic::new(Code::UnknownSetting, item.span, format!("a request has no `{word}`")).here("not known here");
    match closest(word, FACTS) {
        Some(near) => {
            diagnostic.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), item.span, near, false)
        }
        None => diagnostic.help(format!("one of {}", FACTS.map(|f| format!("`{f}`")).join(", "))),
    }
}
