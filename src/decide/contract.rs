//! The contract filter: hard and total. What a target does not state, it does not meet. Nothing relaxes it.

use super::facts::Facts;
use crate::policy::contract::Pattern;
use crate::policy::{
    Capabilities, Contract, Dialect, Millis, Modalities, Modality, Money, Prices, StructuredOutput, Target, Term,
    Terms, Tools,
};
use std::fmt;

/// What a request needs: its contract, sharpened by what it really uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Need<'a> {
    /// Content it holds or must be able to hold.
    pub modalities: Modalities,
    /// Whether it streams.
    pub streaming: bool,
    /// Tool calling.
    pub tools: Option<Tools>,
    /// Structured output.
    pub structured_output: Option<StructuredOutput>,
    /// Going on from a given beginning.
    pub prefill: bool,
    /// Reasoning.
    pub reasoning: bool,
    /// Input tokens.
    pub input_tokens: Option<u64>,
    /// Output tokens asked for.
    pub output_tokens: Option<u64>,
    /// The least context, whatever the request uses.
    pub context: Option<u64>,
    /// The least output limit, whatever the request asks for.
    pub max_output: Option<u64>,
    /// Regions that are allowed; empty: all.
    pub regions: &'a [Pattern],
    /// The most that one answer may cost at worst.
    pub max_cost: Option<Money>,
    /// The highest prices.
    pub prices: Prices,
    /// The longest retention.
    pub retention: Option<Millis>,
    /// The request's dialect, and what it says that another one has no words for.
    pub said: Option<(Dialect, Terms)>,
}

/// What a target states.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The dialect that it speaks.
    pub dialect: Dialect,
    /// Its model's capabilities.
    pub capabilities: &'a Capabilities,
    /// Where it is.
    pub region: Option<&'a str>,
    /// Its prices, or its model's.
    pub prices: Prices,
    /// Its retention, or its model's.
    pub retention: Option<Millis>,
}

impl<'a> Offer<'a> {
    /// The offer of a target of a model at a provider of a dialect: what the target says wins.
    pub fn of(target: &'a Target, capabilities: &'a Capabilities, dialect: Dialect) -> Offer<'a> {
        Offer {
            dialect,
            capabilities,
            region: target.region.as_deref(),
            prices: prices(target, capabilities),
            retention: target.retention.or(capabilities.retention),
        }
    }
}

/// The prices of a target of a model: what the target says wins.
pub fn prices(target: &Target, capabilities: &Capabilities) -> Prices {
    let model = capabilities.prices;
    Prices {
        input: target.prices.input.or(model.input),
        cached: target.prices.cached.or(model.cached),
        output: target.prices.output.or(model.output),
    }
}

/// One clause that a target does not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unmet {
    /// It cannot do this.
    Capability(&'static str),
    /// Its context is too small.
    Context,
    /// Its output limit is too small.
    Output,
    /// It is not in an allowed region.
    Region,
    /// Its worst cost, or a price, is above the limit.
    Cost,
    /// It keeps what it is sent for too long.
    Retention,
    /// Its dialect has no words for this.
    Dialect(Term),
    /// It does not state its context.
    UnknownContext,
    /// It does not state its output limit.
    UnknownOutput,
    /// It does not state its region.
    UnknownRegion,
    /// It does not state its price.
    UnknownPrice,
    /// It does not state its retention.
    UnknownRetention,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmet::Capability(what) => write!(f, "capability:{what}"),
            Unmet::Context => f.write_str("context_tokens"),
            Unmet::Output => f.write_str("output_tokens"),
            Unmet::Region => f.write_str("region"),
            Unmet::Cost => f.write_str("cost"),
            Unmet::Retention => f.write_str("retention_days"),
            Unmet::Dialect(term) => write!(f, "dialect:{term}"),
            Unmet::UnknownContext => f.write_str("unknown:context_tokens"),
            Unmet::UnknownOutput => f.write_str("unknown:output_tokens"),
            Unmet::UnknownRegion => f.write_str("unknown:region"),
            Unmet::UnknownPrice => f.write_str("unknown:price"),
            Unmet::UnknownRetention => f.write_str("unknown:retention_days"),
        }
    }
}

impl<'a> Need<'a> {
    /// The need that a contract states by itself, whatever a request uses.
    pub fn of_contract(contract: &'a Contract) -> Need<'a> {
        Need {
            modalities: contract.modalities,
            streaming: contract.streaming,
            tools: (contract.tools > Tools::No).then_some(contract.tools),
            structured_output: (contract.structured_output > StructuredOutput::None)
                .then_some(contract.structured_output),
            prefill: contract.prefill,
            reasoning: contract.reasoning,
            input_tokens: None,
            output_tokens: None,
            context: contract.context,
            max_output: contract.max_output,
            regions: &contract.regions,
            max_cost: None,
            prices: contract.prices,
            retention: contract.retention,
            said: None,
        }
    }

    /// Sharpens the need by what a request uses.
    #[must_use]
    pub fn sharpened(mut self, facts: &Facts) -> Need<'a> {
        self.modalities = self.modalities.union(facts.modalities);
        self.streaming |= facts.stream;
        if facts.tools {
            let used = if facts.parallel_tools { Tools::Parallel } else { Tools::Yes };
            self.tools = self.tools.max(Some(used));
        }
        if facts.structured_output > StructuredOutput::None {
            self.structured_output = self.structured_output.max(Some(facts.structured_output));
        }
        self.input_tokens = Some(facts.tokens);
        self.output_tokens = facts.max_output;
        self.said = Some((facts.dialect, facts.beyond));
        self
    }
}

/// Reports every clause that a target does not meet, in the fixed order.
pub fn unmet(need: &Need<'_>, offer: &Offer<'_>, report: &mut dyn FnMut(Unmet)) {
    capabilities(need, offer.capabilities, report);
    if need.input_tokens.is_some() || need.output_tokens.is_some() || need.context.is_some() {
        let used = need.input_tokens.unwrap_or(0).saturating_add(need.output_tokens.unwrap_or(0));
        match offer.capabilities.context {
            None => report(Unmet::UnknownContext),
            Some(context) if context < used.max(need.context.unwrap_or(0)) => report(Unmet::Context),
            Some(_) => {}
        }
    }
    if let Some(least) = need.output_tokens.max(need.max_output) {
        match offer.capabilities.max_output {
            None => report(Unmet::UnknownOutput),
            Some(limit) if limit < least => report(Unmet::Output),
            Some(_) => {}
        }
    }
    if !need.regions.is_empty() {
        match offer.region {
            None => report(Unmet::UnknownRegion),
            Some(region) if !need.regions.iter().any(|p| p.matches(region)) => report(Unmet::Region),
            Some(_) => {}
        }
    }
    cost(need, offer, report);
    if let Some(longest) = need.retention {
        match offer.retention {
            None => report(Unmet::UnknownRetention),
            Some(retention) if retention > longest => report(Unmet::Retention),
            Some(_) => {}
        }
    }
    translation(need, offer, report);
}

/// What is lost on the way to another dialect. A request without a limit of output is given the model's where the
/// dialect asks for one, so that has to be known.
fn translation(need: &Need<'_>, offer: &Offer<'_>, report: &mut dyn FnMut(Unmet)) {
    let Some((_, beyond)) = need.said.filter(|(dialect, _)| *dialect != offer.dialect) else { return };
    beyond.iter().for_each(|term| report(Unmet::Dialect(term)));
    let unlimited = need.output_tokens.is_none() && need.max_output.is_none();
    if offer.dialect.needs_max_output() && unlimited && offer.capabilities.max_output.is_none() {
        report(Unmet::UnknownOutput);
    }
}

fn capabilities(need: &Need<'_>, has: &Capabilities, report: &mut dyn FnMut(Unmet)) {
    for modality in need.modalities.iter() {
        if !has.modalities.is_some_and(|m| m.contains(modality)) {
            report(Unmet::Capability(modality_word(modality)));
        }
    }
    if need.streaming && has.streaming != Some(true) {
        report(Unmet::Capability("streaming"));
    }
    if let Some(tools) = need.tools
        && has.tools.is_none_or(|t| t < tools)
    {
        report(Unmet::Capability(if tools == Tools::Parallel { "parallel-tools" } else { "tools" }));
    }
    if let Some(form) = need.structured_output
        && has.structured_output.is_none_or(|s| s < form)
    {
        report(Unmet::Capability(form.word()));
    }
    if need.prefill && has.prefill != Some(true) {
        report(Unmet::Capability("prefill"));
    }
    if need.reasoning && has.reasoning != Some(true) {
        report(Unmet::Capability("reasoning"));
    }
}

fn modality_word(modality: Modality) -> &'static str {
    modality.word()
}

fn cost(need: &Need<'_>, offer: &Offer<'_>, report: &mut dyn FnMut(Unmet)) {
    let limits = [
        (need.prices.input, offer.prices.input),
        (need.prices.cached, offer.prices.cached),
        (need.prices.output, offer.prices.output),
    ];
    let asked = limits.iter().any(|(limit, _)| limit.is_some()) || need.max_cost.is_some();
    if !asked {
        return;
    }
    let worst = match (offer.prices.input, offer.prices.output) {
        (Some(input), Some(output)) => {
            Some(input.of(need.input_tokens.unwrap_or(0)).plus(output.of(need.output_tokens.unwrap_or(0))))
        }
        (Some(_) | None, _) => None,
    };
    let unknown = limits.iter().any(|(limit, has)| limit.is_some() && has.is_none())
        || (need.max_cost.is_some() && worst.is_none());
    let above = limits.iter().any(|(limit, has)| matches!((limit, has), (Some(l), Some(h)) if h > l))
        || matches!((need.max_cost, worst), (Some(limit), Some(w)) if w > limit);
    if unknown {
        report(Unmet::UnknownPrice);
    } else if above {
        report(Unmet::Cost);
    }
}
