//! STUB
#![allow(missing_docs)]
use crate::diag::{Code, Diagnostic};
use crate::source::{Sources, Span};
pub struct Ready {
    pub graph: crate::graph::Graph,
}
pub struct Prepared {
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
    pub ready: Option<Ready>,
}
pub fn prepare(sources: Sources) -> Prepared {
    let mut diagnostics = Vec::new();
    for f in sources.iter() {
        if f.text.matches('{').count() != f.text.matches('}').count() {
            let at = f.text.rfind('{').unwrap_or(0);
            diagnostics.push(Diagnostic::new(
                Code::UnclosedBracket,
                Span::new(f.id, at, at + 1),
                "`{` is never closed",
            ));
        }
    }
    let graph = crate::graph::compile(crate::policy::Policy::default(), &sources);
    let ready = diagnostics.is_empty().then(|| Ready { graph });
    Prepared { sources, diagnostics, ready }
}
