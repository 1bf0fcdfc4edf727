//! Diagnostics for people: message, the piece of the policy with its labels, and the next step. The only place that
//! knows of miette.
//!
//! In: diagnostics and sources. Out: text of at most [`WIDTH`] columns where words allow it. A label over several lines
//! is shown on its first one, and each snippet reads only the lines it shows.

use crate::diag::{Code, Diagnostic, Level};
use crate::source::{Source, Sources, Span};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, Severity, SourceCode,
    SourceSpan, SpanContents,
};

/// How many columns the text may take.
const WIDTH: usize = 100;

/// Renders diagnostics, an empty line after each.
pub fn human(diagnostics: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let theme = if color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(WIDTH)
        .with_links(false)
        .with_context_lines(1)
        .with_show_related_as_nested(true)
        .with_break_words(false);
    let mut out = String::new();
    let masked = masked(diagnostics, sources);
    let sources = masked.as_ref().unwrap_or(sources);
    for diagnostic in diagnostics {
        if is_too_wide(diagnostic, sources) {
            out.push_str(&super::concise(std::slice::from_ref(diagnostic), sources));
            out.push('\n');
            continue;
        }
        // Writing into a string does not fail.
        let _ = handler.render_report(&mut out, &Report::new(diagnostic, sources));
        out.push('\n');
    }
    out
}

/// Longest line that is drawn, in bytes: the drawing underlines by formatting to a width, which has its limit, and nobody
/// reads so far.
const WIDEST: usize = 4_000;

/// Whether a line that would be drawn is too long for it.
fn is_too_wide(diagnostic: &Diagnostic, sources: &Sources) -> bool {
    let spans = std::iter::once(diagnostic.span).chain(diagnostic.labels.iter().map(|label| label.span));
    spans.into_iter().any(|span| {
        let Some(source) = sources.get(span.file) else { return false };
        let (before, after) = source.text.split_at_checked(span.start as usize).unwrap_or_default();
        let left = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        let right = after.find('\n').unwrap_or(after.len());
        left + right > WIDEST
    })
}

/// The sources with every literal key blacked out, and every character that nobody sees made visible, at its length;
/// nothing where there is none. What is shown of a policy
/// goes to logs that more people read than the policy.
pub fn masked(diagnostics: &[Diagnostic], sources: &Sources) -> Option<Sources> {
    let keys: Vec<Span> = diagnostics.iter().filter(|d| d.code == Code::KeyLiteral).map(|d| d.span).collect();
    let hidden: Vec<Span> = diagnostics.iter().filter(|d| d.code == Code::HiddenText).map(|d| d.span).collect();
    if keys.is_empty() && hidden.is_empty() {
        return None;
    }
    let texts = sources.iter().map(|source| {
        let mut text = source.text.to_string();
        for span in keys.iter().filter(|span| span.file == source.id) {
            let range = span.start as usize..span.end as usize;
            if let Some(key) = text.get(range.clone()) {
                let stars: String =
                    key.bytes().map(|b| if b == b'"' || b == b'\n' { char::from(b) } else { '*' }).collect();
                text.replace_range(range, &stars);
            }
        }
        for span in hidden.iter().filter(|span| span.file == source.id) {
            let range = span.start as usize..span.end as usize;
            if let Some(run) = text.get(range.clone()) {
                // As long as what it stands for.
                let shown: String = run.chars().flat_map(|c| visible(c.len_utf8())).collect();
                text.replace_range(range, &shown);
            }
        }
        (source.name.clone(), text)
    });
    Some(Sources::from_texts(texts.collect::<Vec<_>>()))
}

/// Characters that stand for a hidden one of so many bytes.
fn visible(bytes: usize) -> impl Iterator<Item = char> {
    let (sign, more) = if bytes < 3 { (None, bytes) } else { (Some('\u{FFFD}'), bytes - 3) };
    sign.into_iter().chain(std::iter::repeat_n('?', more))
}

/// A diagnostic as miette takes it.
#[derive(Debug)]
struct Report<'a> {
    code: Option<String>,
    severity: Severity,
    message: &'a str,
    help: Option<&'a str>,
    text: Option<Text<'a>>,
    labels: Vec<LabeledSpan>,
    /// Labels in other files.
    elsewhere: Vec<Report<'a>>,
}

impl<'a> Report<'a> {
    fn new(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Report<'a> {
        let entry = diagnostic.entry();
        let severity = match entry.level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Advice => Severity::Advice,
        };
        let source = sources.get(diagnostic.span.file);
        let mut labels = Vec::new();
        let mut elsewhere = Vec::new();
        if let Some(source) = source {
            let here = Some(diagnostic.here.clone()).filter(|here| !here.is_empty());
            labels.push(LabeledSpan::new_primary_with_span(here, first_line(source, diagnostic.span)));
        }
        for label in &diagnostic.labels {
            match sources.get(label.span.file) {
                Some(other) if label.span.file == diagnostic.span.file => {
                    labels.push(LabeledSpan::new_with_span(Some(label.message.clone()), first_line(other, label.span)));
                }
                Some(other) => elsewhere.push(Report {
                    code: None,
                    severity: Severity::Advice,
                    message: &label.message,
                    help: None,
                    text: Some(Text(other)),
                    labels: vec![LabeledSpan::new_primary_with_span(None, first_line(other, label.span))],
                    elsewhere: Vec::new(),
                }),
                None => {}
            }
        }
        Report {
            code: Some(format!("{}[{}] {}", entry.level.word(), entry.id, entry.name)),
            severity,
            message: &diagnostic.message,
            help: Some(diagnostic.help.as_str()).filter(|help| !help.is_empty()),
            text: source.map(Text),
            labels,
            elsewhere,
        }
    }
}

/// The part of a span that is on its first line.
fn first_line(source: &Source, span: Span) -> SourceSpan {
    let line = source.slice(span).split('\n').next().unwrap_or("").trim_end();
    (span.start as usize, line.len()).into()
}

impl std::fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn std::fmt::Display + 'b>> {
        self.code.as_ref().map(|code| Box::new(code) as Box<dyn std::fmt::Display>)
    }

    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help<'b>(&'b self) -> Option<Box<dyn std::fmt::Display + 'b>> {
        self.help.map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.text.as_ref().map(|text| text as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn related<'b>(&'b self) -> Option<Box<dyn Iterator<Item = &'b dyn miette::Diagnostic> + 'b>> {
        if self.elsewhere.is_empty() {
            return None;
        }
        Some(Box::new(self.elsewhere.iter().map(|report| report as &dyn miette::Diagnostic)))
    }
}

/// A file's text. miette's own reading of a string begins at its first byte for each label.
#[derive(Debug)]
struct Text<'a>(&'a Source);

impl SourceCode for Text<'_> {
    fn read_span<'b>(
        &'b self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'b> + 'b>, MietteError> {
        let text: &str = &self.0.text;
        let (from, to) = (span.offset(), span.offset() + span.len());
        let (Some(head), Some(tail)) = (text.get(..from), text.get(to..)) else {
            return Err(MietteError::OutOfBounds);
        };
        // Without context the contents are the span itself; with it, whole lines.
        let (start, end) = if before + after == 0 {
            (from, to)
        } else {
            let start = head.rmatch_indices('\n').nth(before).map_or(0, |(at, _)| at + 1);
            let end = tail.match_indices('\n').nth(after).map_or(text.len(), |(at, _)| to + at);
            (start, end)
        };
        let place = self.0.place(u32::try_from(start).unwrap_or(u32::MAX));
        let contents = text.get(start..end).unwrap_or("");
        Ok(Box::new(MietteSpanContents::new_named(
            self.0.name.clone(),
            contents.as_bytes(),
            (start, contents.len()).into(),
            place.line as usize - 1,
            place.column as usize - 1,
            contents.matches('\n').count() + 1,
        )))
    }
}
