//! Area `contract`: the hard filter by what a request needs.

use super::behaviours::{Driver, spelled};
use serde_json::{Map, Value, json};
use switchback::decide::contract::{Need, Offer, Unmet, unmet};
use switchback::policy::contract::Pattern;
use switchback::policy::{Capabilities, Millis, Modalities, Modality, Money, Price, Prices, StructuredOutput, Tools};

struct Contract {
    targets: Vec<Value>,
}

pub fn driver(given: &Value) -> Box<dyn Driver> {
    Box::new(Contract { targets: given["targets"].as_array().cloned().unwrap_or_default() })
}

/// The capabilities of a list of the corpus, as the language's capability words.
struct Able {
    modalities: Modalities,
    streaming: bool,
    tools: Option<Tools>,
    structured_output: Option<StructuredOutput>,
    prefill: bool,
    reasoning: bool,
}

impl Able {
    fn read(list: &Value) -> Able {
        let has = |word: &str| list.as_array().is_some_and(|l| l.iter().any(|w| w == word));
        let modalities = Modality::ALL.iter().filter(|m| has(corpus_word(m.word())));
        let structured = StructuredOutput::ALL.iter().filter(|s| has(&corpus_word(s.word()).replace('-', "_")));
        Able {
            modalities: modalities.fold(Modalities::default(), |all, m| all.with(*m)),
            streaming: has("streaming"),
            tools: if has("parallel_tools") { Some(Tools::Parallel) } else { has("tools").then_some(Tools::Yes) },
            structured_output: structured.max().copied(),
            prefill: has("prefill"),
            reasoning: has("reasoning"),
        }
    }
}

/// The corpus names what a model does, the language what it takes.
fn corpus_word(word: &str) -> &str {
    match word {
        "text" => "chat",
        "image" => "vision",
        other => other,
    }
}

fn days(value: &Value) -> Option<Millis> {
    value.as_u64().map(|days| Millis(days.saturating_mul(86_400_000)))
}

fn capabilities(target: &Value) -> Capabilities {
    let able = Able::read(&target["capabilities"]);
    Capabilities {
        modalities: Some(able.modalities),
        streaming: Some(able.streaming),
        tools: able.tools,
        structured_output: able.structured_output,
        prefill: Some(able.prefill),
        reasoning: Some(able.reasoning),
        context: target["context_tokens"].as_u64(),
        max_output: target["output_tokens"].as_u64(),
        ..Capabilities::default()
    }
}

/// The corpus prices a token, the language a million.
fn prices(target: &Value) -> Prices {
    let price = |name: &str| target[name].as_u64().map(|nano| Price(nano.saturating_mul(1_000_000)));
    Prices { input: price("price_in_nusd"), cached: None, output: price("price_out_nusd") }
}

fn reason(unmet: Unmet) -> String {
    match unmet {
        Unmet::Capability(word) => format!("capability:{}", spelled(corpus_word(word))),
        other => other.to_string(),
    }
}

impl Driver for Contract {
    fn step(&mut self, _now: u64, op: &Value) -> Value {
        let needs = &op["needs"];
        let able = Able::read(&needs["capabilities"]);
        let regions: Vec<Pattern> = needs["regions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|r| r.as_str().map(|r| Pattern(r.to_string())))
            .collect();
        let need = Need {
            modalities: able.modalities,
            streaming: able.streaming,
            tools: able.tools,
            structured_output: able.structured_output,
            prefill: able.prefill,
            reasoning: able.reasoning,
            input_tokens: needs["input_tokens"].as_u64(),
            output_tokens: needs["max_output_tokens"].as_u64(),
            regions: &regions,
            max_cost: needs["max_cost_nusd"].as_u64().map(Money),
            retention: days(&needs["max_retention_days"]),
            ..Need::default()
        };
        let (mut kept, mut dropped) = (Vec::new(), Map::new());
        for target in &self.targets {
            let capabilities = capabilities(target);
            let offer = Offer {
                dialect: switchback::policy::Dialect::Chat,
                capabilities: &capabilities,
                region: target["region"].as_str(),
                prices: prices(target),
                retention: days(&target["retention_days"]),
            };
            let mut reasons = Vec::new();
            unmet(&need, &offer, &mut |clause| reasons.push(reason(clause)));
            // The engine lists capabilities in its own order, a case in that of its needs.
            let asked = |r: &String| {
                let word = r.strip_prefix("capability:")?;
                needs["capabilities"].as_array()?.iter().position(|w| w == word)
            };
            reasons.sort_by_key(|r| asked(r).unwrap_or(usize::MAX));
            let id = target["id"].as_str().unwrap_or_default();
            if reasons.is_empty() {
                kept.push(id);
            } else {
                dropped.insert(id.to_string(), json!(reasons));
            }
        }
        json!({ "kept": kept, "dropped": dropped })
    }
}
