//! A probe that asks a model for more than it can do: it would fail on a sound target.

use super::{known, setting};
use crate::check::context::Context;
use crate::check::draft::Draft;
use crate::diag::{Code, Diagnostic};
use crate::policy::probe::ProbeKind;
use crate::policy::{Model, ProbeRules, Tools};
use crate::syntax::settings::Block;

/// Looks at each target with a probe.
pub fn lint(cx: &Context<'_>, draft: &Draft, out: &mut Vec<Diagnostic>) {
    for target in draft.targets.iter().flatten() {
        let Some(model) = known(&draft.models, target.model.index()) else { continue };
        let Some((reason, word, help)) = target.probe.as_ref().and_then(|probe| refused(probe, model)) else {
            continue;
        };
        let mut diagnostic = Diagnostic::new(
            Code::ProbeRefused,
            target.span,
            format!("target `{}` would refuse its own probe", target.name),
        )
        .here(reason)
        .help(help);
        if let Some(span) = setting(cx, Block::Model, &model.name, word) {
            diagnostic = diagnostic.label(span, format!("model `{}` says so", model.name));
        }
        out.push(diagnostic);
    }
}

/// Why a model refuses a probe, the model's word for it, and what to do. What a model does not state is unknown.
fn refused(probe: &ProbeRules, model: &Model) -> Option<(String, &'static str, &'static str)> {
    if probe.kind == ProbeKind::Endpoint {
        return None;
    }
    let most = model.capabilities.max_output.filter(|most| u64::from(probe.max_tokens) > *most);
    if let Some(most) = most {
        let reason = format!("it asks for {} tokens, and the model gives {most}", probe.max_tokens);
        return Some((reason, "max-output", "lower the probe's `max-tokens`, or give this target a probe of its own"));
    }
    let no_tools = model.capabilities.tools == Some(Tools::No);
    (probe.kind == ProbeKind::Tools && no_tools).then(|| {
        let reason = "it asks for a tool call, and the model has no tools".to_owned();
        (reason, "tools", "probe this target by `kind generate`")
    })
}
