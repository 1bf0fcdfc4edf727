//! Results: numbers, and the line that says one of them.

use serde_json::json;

/// One result. `against` names what it is compared with and that one's value.
pub fn result(bench: &str, unit: &str, value: f64, against: Option<(&str, f64)>, n: usize) {
    let round = |x: f64| (x * 1_000.0).round() / 1_000.0;
    let line = json!({
        "bench": bench,
        "unit": unit,
        "value": round(value),
        "against": against.map(|(what, value)| format!("{what}: {}", round(value))),
        "ratio": against.map(|(_, other)| round(value / other)),
        "n": n,
    });
    println!("{line}");
}

/// The value below which `share` of the sorted values lie.
pub fn at(sorted: &[f64], share: f64) -> f64 {
    let place = ((sorted.len() as f64 - 1.0) * share).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::NAN)
}

/// The same of values in any order.
pub fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    at(values, share)
}

/// The middle of a few values.
pub fn median(mut values: Vec<f64>) -> f64 {
    quantile(&mut values, 0.5)
}

/// A whole number from the environment.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}
