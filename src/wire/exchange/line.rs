//! An exchange as a JSON line, and the verdict on it as another.
//!
//! In: the text of a line. Out: the exchange, and the answer to print. Whatever a line holds beside the members that are
//! read is ignored; what is read and has the wrong type is an error that names it.

use super::{Came, End, Exchange, Verdict};
use crate::classify::rules;
use crate::policy::{Class, Scope, Stage};
use crate::wire::json::{self, Members};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A line, as it is read.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Handed on, whatever it is.
    pub id: Value,
    provider: Option<String>,
    api: Option<String>,
    transport: Option<String>,
    status: Option<u16>,
    headers: Vec<(String, String)>,
    body: Option<String>,
    events: Option<Vec<String>>,
    end: Option<String>,
    fault: Option<String>,
}

/// Reads a line. Where a text is due, another value is the text that it is written as: a body that is JSON may stand as
/// JSON. A text that is no Unicode is read as far as it is.
///
/// # Errors
/// Where it is no JSON object, a member cannot be what it has to be, or nothing says what came.
pub fn read(text: &str) -> Result<Line, String> {
    // Some editors begin a file so.
    let text = text.trim_start_matches('\u{feff}').trim();
    let members = Members::read(text).map_err(|error| format!("not a JSON object: {error}"))?;
    let word = |name: &str| members.get(name).map(json::lossy);
    let one_of = |name: &str, words: &[&str]| match word(name) {
        Some(word) if !words.contains(&word.as_str()) => {
            Err(format!("`{name}` is `{word}`, not one of {}", words.join(", ")))
        }
        known => Ok(known),
    };
    let wrong = |name: &str, what: &str| format!("`{name}` is no {what}");
    let status = match word("status") {
        Some(status) => Some(status.trim().parse().map_err(|_| wrong("status", "HTTP status"))?),
        None => None,
    };
    let headers = match members.get("headers") {
        Some(headers) => Members::read(headers.get()).map_err(|_| wrong("headers", "object of names and values"))?,
        None => Members::default(),
    };
    let events: Option<Vec<&RawValue>> = match members.get("events") {
        Some(events) => serde_json::from_str(events.get()).map_err(|_| wrong("events", "list of pieces"))?,
        None => None,
    };
    let line = Line {
        id: members.get("id").map_or(Value::Null, |id| {
            serde_json::from_str(id.get()).unwrap_or_else(|_| Value::String(json::lossy(id)))
        }),
        provider: word("provider"),
        api: word("api"),
        transport: one_of("transport", &["http", "sse", "connect"])?,
        status,
        headers: headers.0.into_iter().map(|(name, value)| (name.into_owned(), json::lossy(value))).collect(),
        body: word("body"),
        events: events.map(|events| events.into_iter().map(json::lossy).collect()),
        end: one_of("end", &["eof", "reset", "stall"])?,
        fault: word("fault"),
    };
    if line.status.is_none() && line.transport.as_deref() != Some("connect") && line.fault.is_none() {
        return Err("no `status`, and neither `fault` nor `transport: connect` says why".to_string());
    }
    Ok(line)
}

impl Line {
    /// Whether it came as events; where nothing says how it came, its pieces tell.
    fn is_stream(&self) -> bool {
        self.transport.as_deref().map_or(self.events.is_some(), |transport| transport == "sse")
    }

    /// The exchange that it describes.
    pub fn exchange(&self) -> Exchange<'_> {
        let body = self.body.as_deref().unwrap_or_default();
        let end = match self.end.as_deref() {
            Some("reset") => End::Reset,
            Some("stall") => End::Stall,
            Some(_) | None => End::Clean,
        };
        let came = match (self.status, &self.events) {
            (None, _) => Came::Nothing { fault: self.fault.as_deref().unwrap_or_default(), words: body },
            (Some(status), events) if self.is_stream() => {
                let pieces = events.iter().flatten().map(String::as_str);
                // Whoever has no pieces may have the whole as one.
                let whole = Some(body).filter(|b| !b.is_empty() && events.as_ref().is_none_or(Vec::is_empty));
                Came::Stream { status, events: pieces.chain(whole).collect(), end }
            }
            (Some(status), _) => Came::Whole { status, body, end },
        };
        Exchange {
            provider: self.provider.as_deref().unwrap_or_default(),
            api: self.api.as_deref().unwrap_or_default(),
            headers: self.headers.clone(),
            came,
        }
    }
}

/// The verdict on a line. Members that do not apply are `null`; all but `id` are where the answer is no failure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The line's own `id`.
    pub id: Value,
    /// The failure class.
    pub class: Option<&'static str>,
    /// How far the attempt had come: `not-sent`, `rejected`, `sent`, `headers`, `output`.
    pub stage: Option<&'static str>,
    /// How wide the failure is: `request`, `model`, `account`, `deployment`, `region`, `provider`.
    pub scope: Option<&'static str>,
    /// The wait that the answer asks for, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// In a stream: the class that the same payload would have as a plain answer.
    pub cause: Option<&'static str>,
    /// The rule that decided.
    pub rule: Option<&'static str>,
    /// Where the shape that the rule knows is described.
    pub rule_source: Option<&'static str>,
}

impl Answer {
    /// The verdict, for printing.
    pub fn of(id: Value, verdict: &Verdict) -> Answer {
        let failure = verdict.failure.as_ref();
        Answer {
            id,
            class: failure.map(|f| f.class.word()),
            stage: failure.map(|f| f.stage.word()),
            scope: verdict.scope.map(Scope::word),
            retry_after_ms: failure.and_then(|f| f.hint).map(|h| h.0),
            cause: verdict.cause.map(Class::word),
            rule: failure.map(|f| f.rule),
            rule_source: failure.map(|f| rules::source_of(f.rule)),
        }
    }
}

/// The verdict in words.
pub fn explain(answer: &Answer, verdict: &Verdict) -> String {
    let id = answer.id.as_str().map_or_else(|| answer.id.to_string(), str::to_owned);
    let Some(failure) = &verdict.failure else { return format!("{id}: an answer without fault") };
    let mut lines = vec![format!("{id}: {} ({})", failure.class, failure.class.meaning())];
    let mut add = |name: &str, value: String| lines.push(format!("  {name:<6} {value}"));
    add("stage", format!("{} ({})", failure.stage, Stage::meaning(failure.stage)));
    if let Some(scope) = verdict.scope {
        let whence = if failure.scope.is_some() { "the answer shows it" } else { "usual for this class and vendor" };
        add("scope", format!("{scope} ({}; {whence})", scope.meaning()));
    }
    if let Some(cause) = verdict.cause {
        add("cause", format!("{cause} ({})", cause.meaning()));
    }
    let wait = failure.hint.map_or("the answer asks for none".to_string(), |h| format!("{}ms", h.0));
    add("wait", wait);
    let table = rules::table_of(failure.rule).map_or(String::new(), |table| format!(" (table: {table})"));
    add("rule", format!("{}{table}; see {}", failure.rule, rules::source_of(failure.rule)));
    if let Some(message) = &failure.message {
        add("says", message.clone());
    }
    lines.join("\n")
}
