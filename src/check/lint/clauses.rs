//! Which clauses of a contract a target can never meet, whatever the request.
//!
//! In: a contract and a target. Out: the clauses in words, with what the target has instead. What is not stated is
//! unknown, and meets no clause that asks for it.

use super::Link;
use crate::policy::{Contract, Millis, Price, StructuredOutput, Tools};
use std::fmt::Display;

/// The unmet clauses, in the order in which contracts are written.
pub fn unmet(contract: &Contract, link: &Link<'_>) -> Vec<String> {
    let has = &link.model.capabilities;
    let mut unmet = Vec::new();
    for kind in contract.modalities.iter() {
        match has.modalities {
            Some(kinds) if kinds.contains(kind) => {}
            Some(_) => unmet.push(format!("no `{kind}` among its modalities")),
            None => unmet.push(format!("`modalities` unknown, `{kind}` asked for")),
        }
    }
    flag(&mut unmet, "streaming", contract.streaming, has.streaming);
    scale(&mut unmet, "tools", Tools::No, contract.tools, has.tools);
    let nothing = StructuredOutput::None;
    scale(&mut unmet, "structured-output", nothing, contract.structured_output, has.structured_output);
    least(&mut unmet, "context", contract.context, has.context);
    least(&mut unmet, "max-output", contract.max_output, has.max_output);
    flag(&mut unmet, "prefill", contract.prefill, has.prefill);
    flag(&mut unmet, "reasoning", contract.reasoning, has.reasoning);
    if !contract.regions.is_empty() {
        match &link.target.region {
            Some(region) if contract.regions.iter().any(|pattern| pattern.matches(region)) => {}
            Some(region) => unmet.push(format!("region `{region}` not allowed")),
            None => unmet.push("`region` unknown, and only some allowed".to_owned()),
        }
    }
    let retention = link.target.retention.or(has.retention);
    most::<Millis>(&mut unmet, "retention", contract.retention, retention);
    let (own, model) = (link.target.prices, has.prices);
    most::<Price>(&mut unmet, "price in", contract.prices.input, own.input.or(model.input));
    most::<Price>(&mut unmet, "price cached", contract.prices.cached, own.cached.or(model.cached));
    most::<Price>(&mut unmet, "price out", contract.prices.output, own.output.or(model.output));
    unmet
}

fn flag(unmet: &mut Vec<String>, word: &str, asked: bool, has: Option<bool>) {
    match has {
        _ if !asked => {}
        Some(true) => {}
        Some(false) => unmet.push(format!("no `{word}`")),
        None => unmet.push(format!("`{word}` unknown")),
    }
}

/// Words on a scale, whose first asks for nothing.
fn scale<T: Ord + Display>(unmet: &mut Vec<String>, word: &str, nothing: T, asked: T, has: Option<T>) {
    match has {
        _ if asked == nothing => {}
        Some(has) if has >= asked => {}
        Some(has) => unmet.push(format!("`{word} {has}`, at least `{asked}` asked for")),
        None => unmet.push(format!("`{word}` unknown, `{asked}` asked for")),
    }
}

fn least(unmet: &mut Vec<String>, word: &str, asked: Option<u64>, has: Option<u64>) {
    match (asked, has) {
        (None, _) => {}
        (Some(asked), Some(has)) if has >= asked => {}
        (Some(asked), Some(has)) => unmet.push(format!("`{word}` {has}, at least {asked} asked for")),
        (Some(asked), None) => unmet.push(format!("`{word}` unknown, at least {asked} asked for")),
    }
}

fn most<T: Ord + Display>(unmet: &mut Vec<String>, word: &str, asked: Option<T>, has: Option<T>) {
    match (asked, has) {
        (None, _) => {}
        (Some(asked), Some(has)) if has <= asked => {}
        (Some(asked), Some(has)) => unmet.push(format!("`{word}` {has}, at most {asked} asked for")),
        (Some(asked), None) => unmet.push(format!("`{word}` unknown, at most {asked} asked for")),
    }
}
