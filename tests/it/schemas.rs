//! The JSON Schemas of `schemas/` are what the types say, and what the commands print fits the types.

use schemars::{JsonSchema, schema_for};
use std::path::Path;

/// Set to rewrite golden files.
const BLESS: &str = "SWITCHBACK_BLESS";

fn same<T: JsonSchema>(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(format!("{name}.schema.json"));
    let schema = serde_json::to_string_pretty(&schema_for!(T)).unwrap() + "\n";
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == schema, "schemas/{name}.schema.json is not what the types say; set {BLESS}=1 to rewrite it");
}

#[test]
fn each_schema_is_what_its_types_say() {
    same::<switchback::diag::render::json::Document>("check");
    same::<switchback::check::Listing>("list");
    same::<switchback::record::Record>("record");
    same::<switchback::graph::draw::Drawing>("graph");
    same::<switchback::story::Report>("test");
    same::<switchback::emulate::Calls>("emulator-calls");
    same::<switchback::gateway::Readiness>("readyz");
    same::<switchback::wire::exchange::line::Answer>("classify");
    same::<switchback::record::baselines::Report>("baselines");
}
