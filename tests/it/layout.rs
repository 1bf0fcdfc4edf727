//! Holds the layout: who may name whom, where each crate belongs, how long a file may be.
//!
//! The tables are the project's own; `rules` applies them to the repository and, to prove that each rule can fail, to
//! planted files with one violation each.

mod read;
mod rules;

use rules::{File, Tables, violations};
use std::path::Path;

fn tables() -> Tables {
    // Every pattern is put together here, so that this file is free of what it forbids.
    let machine_paths = ["/wo|rk/", "/ro|ot/", "/ho|me/"];
    Tables {
        imports: &[
            ("source", &[]),
            ("diag", &["source"]),
            ("syntax", &["diag", "source"]),
            ("policy", &["source"]),
            ("check", &["syntax", "policy", "diag", "source"]),
            ("graph", &["policy", "source"]),
            ("decide", &["graph", "policy", "source"]),
            ("classify", &["policy"]),
            // The two values that it hands to a run.
            (
                "wire",
                &["classify", "policy", "decide::Facts", "decide::facts", "decide::Failure", "decide::event::Failure"],
            ),
            ("record", &["decide", "graph", "policy", "source"]),
            ("story", &["decide", "graph", "policy", "source", "classify", "wire", "record"]),
            ("ready", &["source", "diag", "syntax", "policy", "check", "graph"]),
            ("emulate", &["wire", "policy", "source"]),
            ("emulate::server", &["ready"]),
            (
                "runtime",
                &[
                    "source", "diag", "syntax", "policy", "check", "graph", "decide", "classify", "wire", "record",
                    "story", "ready", "emulate",
                ],
            ),
            (
                "gateway",
                &[
                    "source", "diag", "syntax", "policy", "check", "graph", "decide", "classify", "wire", "record",
                    "story", "ready", "emulate", "runtime",
                ],
            ),
            ("lsp", &["source", "diag", "syntax", "policy", "check", "graph", "ready"]),
            (
                "cli",
                &[
                    "source", "diag", "syntax", "policy", "check", "graph", "decide", "classify", "wire", "record",
                    "story", "ready", "emulate", "runtime", "gateway", "lsp",
                ],
            ),
        ],
        walls: &[
            ("arc-swap", &["runtime::snapshot"]),
            ("axum", &["gateway"]),
            ("bytes", &["*"]),
            ("clap", &["cli"]),
            ("clap_complete", &["cli"]),
            ("clap_mangen", &["cli"]),
            ("futures-util", &["runtime", "gateway", "emulate", "cli"]),
            ("getrandom", &["runtime", "gateway"]),
            ("http-body-util", &["gateway", "emulate"]),
            ("httpdate", &["classify::hint"]),
            // The upstream looks into reqwest's errors.
            ("hyper", &["gateway", "emulate", "runtime::upstream"]),
            ("hyper-util", &["gateway", "emulate"]),
            ("miette", &["diag::render::human"]),
            ("notify", &["runtime::watch"]),
            ("pest", &["syntax::pest"]),
            ("pest_derive", &["syntax::pest"]),
            ("petgraph", &["graph"]),
            ("reqwest", &["runtime::upstream"]),
            ("rustix", &["cli::files"]),
            ("rustls", &["runtime::upstream"]),
            ("schemars", &["*"]),
            ("serde", &["*"]),
            ("serde_json", &["*"]),
            ("sha2", &["graph::canonical", "decide::draw", "decide::ramp", "record"]),
            ("similar", &["cli::fmt"]),
            ("smallvec", &["*"]),
            ("strsim", &["diag::suggest"]),
            ("thiserror", &["*"]),
            ("tokio", &["runtime", "gateway", "emulate", "lsp", "cli"]),
            ("tower-lsp-server", &["lsp"]),
            ("tower-service", &["gateway", "emulate"]),
            ("tracing", &["runtime", "gateway", "emulate", "cli"]),
            ("tracing-subscriber", &["cli"]),
        ],
        pure: &[
            "source", "diag", "syntax", "policy", "check", "graph", "decide", "story", "record", "ready", "classify",
            "wire",
        ],
        impure_crates: &["tokio", "reqwest", "axum", "hyper", "notify", "arc-swap", "clap", "tracing"],
        impure_std: &[
            ("std::fs", &["source::load"]),
            ("std::env", &[]),
            ("std::net", &[]),
            ("std::process", &[]),
            ("std::thread", &[]),
            ("std::sync::Mutex", &[]),
            ("std::sync::RwLock", &[]),
            ("std::sync::atomic", &[]),
            ("Instant::now", &[]),
            ("SystemTime::now", &[]),
        ],
        cap: 400,
        machine_paths: machine_paths.iter().map(|w| w.replace('|', "")).collect(),
    }
}

fn repository() -> Vec<File> {
    fn walk(root: &Path, folder: &Path, files: &mut Vec<File>) {
        let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_symlink() || matches!(name.as_str(), ".git" | "target") {
                continue;
            }
            if path.is_dir() {
                walk(root, &path, files);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let inside = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
                files.push((inside, text));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    walk(root, root, &mut files);
    files
}

#[test]
fn the_repository_keeps_its_layout() {
    let files = repository();
    assert!(files.iter().any(|(path, _)| path == "Cargo.toml"), "the walk found nothing");
    let found = violations(&files, &tables());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// One file with one text, and the violations it draws.
fn planted(path: &str, text: &str) -> Vec<String> {
    violations(&[(path.to_string(), format!("//! Planted.\n{text}"))], &tables())
}

#[track_caller]
fn draws(path: &str, text: &str, expected: &str) {
    let found = planted(path, text);
    assert!(found.iter().any(|v| v.contains(expected)), "expected `{expected}`, got {found:#?}");
}

#[track_caller]
fn clean(path: &str, text: &str) {
    let found = planted(path, text);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn an_import_against_the_direction_is_reported() {
    draws("src/source/mod.rs", "use crate::diag::Code;", "src/source/mod.rs:2: `source` may not name `diag::Code`");
    draws("src/policy/units.rs", "fn f() { crate::graph::compile() }", "`policy::units` may not name `graph::compile`");
    draws("src/graph/mod.rs", "use super::decide::Run;", "`graph` may not name `decide::Run`");
    draws("src/graph/draw.rs", "use super::super::decide::Run;", "`graph::draw` may not name `decide::Run`");
    draws("src/decide/mod.rs", "use crate::{policy::Class, story::Driver};", "`decide` may not name `story::Driver`");
    draws("src/decide/mod.rs", "use crate::*;", "`decide` may not name `*`");
    draws("src/wire/mod.rs", "use crate::decide::Event;", "`wire` may not name `decide::Event`");
    draws("src/emulate/script.rs", "use crate::ready::prepare;", "`emulate::script` may not name `ready::prepare`");
    draws("src/manager.rs", "use crate::policy::Class;", "`manager` has no row in the table of imports");
}

#[test]
fn imports_along_the_direction_are_not() {
    clean("src/decide/select.rs", "use crate::{graph::Graph, policy::{Class, Millis}};\nuse super::event::Event;");
    clean("src/decide/mod.rs", "mod inner { use super::graph; }");
    clean("src/wire/mod.rs", "use crate::decide::Facts;");
    clean("src/emulate/server.rs", "use crate::ready::prepare;");
    clean("src/policy/mod.rs", "// crate::graph::compile\n/* crate::graph::x */ const A: &str = \"crate::graph::y\";");
    clean(
        "src/policy/mod.rs",
        "const A: &str = r#\"a \" crate::graph::y\"#; const B: char = '\"'; fn f<'a>(_: &'a str) {}",
    );
}

#[test]
fn tests_may_name_what_they_need() {
    clean("src/graph/mod.rs", "#[cfg(test)]\nmod tests { use crate::check::check; fn f() { tokio::spawn() } }");
    clean("src/graph/tests.rs", "use crate::check::check;");
    draws("src/graph/mod.rs", "#[cfg(test)]\nmod tests;\nuse crate::check::check;", "may not name `check::check`");
    draws("src/graph/mod.rs", "mod tests;", "`mod tests` is not under `#[cfg(test)]`");
}

#[test]
fn a_file_over_the_cap_is_reported() {
    draws(
        "src/graph/mod.rs",
        &"fn f() {}\n".repeat(400),
        "src/graph/mod.rs: 401 lines before its tests, more than 400",
    );
    clean("src/graph/mod.rs", &"fn f() {}\n".repeat(399));
    let tests = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "fn f() {}\n".repeat(399), "fn t() {}\n".repeat(300));
    clean("src/graph/mod.rs", &tests);
    clean("src/graph/tests.rs", &"fn f() {}\n".repeat(900));
}

#[test]
fn a_crate_outside_of_its_wall_is_reported() {
    draws("src/graph/mod.rs", "use pest::Parser;", "`graph` names `pest`, which belongs to syntax::pest");
    draws("src/syntax/mod.rs", "fn f() { ::pest::parse() }\nmod pest;", "`syntax` names `pest`");
    draws("src/cli/serve.rs", "#[derive(reqwest::X)] struct A;", "`cli::serve` names `reqwest`");
    draws(
        "src/gateway/mod.rs",
        "use arc_swap::ArcSwap;",
        "`gateway` names `arc_swap`, which belongs to runtime::snapshot",
    );
    draws("src/gateway/mod.rs", "use {hyper::body, arc_swap as a};", "`gateway` names `arc_swap`");
    clean("src/syntax/pest.rs", "use pest::Parser;");
    clean("src/syntax/mod.rs", "mod pest;\nfn f() { pest::parse() }");
    clean("src/syntax/lower.rs", "use super::{pest::Rule, tree};");
}

#[test]
fn a_pure_module_that_touches_the_world_is_reported() {
    draws("src/decide/mod.rs", "use tokio::time;", "pure `decide` names `tokio`");
    draws("src/story/mod.rs", "fn f() { tracing::info!(\"\") }", "pure `story` names `tracing`");
    draws("src/decide/mod.rs", "fn f() { std::time::Instant::now() }", "pure `decide` names `Instant::now`");
    draws("src/check/mod.rs", "use std::{env, fmt};", "pure `check` names `std::env`");
    draws("src/source/mod.rs", "use std::fs::read;", "pure `source` names `std::fs`");
    draws("src/decide/mod.rs", "use std::sync::{Arc, Mutex};", "pure `decide` names `std::sync::Mutex`");
    clean("src/source/load.rs", "use std::fs::read;\nuse std::sync::Arc;");
    clean("src/runtime/clock.rs", "fn f() { std::time::Instant::now() }");
}

#[test]
fn a_file_that_does_not_say_what_it_is_for_is_reported() {
    let files = [("src/graph/draw.rs".to_string(), "use std::fmt;\n".to_string())];
    assert_eq!(violations(&files, &tables()), ["src/graph/draw.rs:1: does not open with what it is for"]);
}

#[test]
fn a_dependency_without_a_wall_is_reported() {
    let rows: String = tables().walls.iter().skip(1).map(|(name, _)| format!("{name} = \"1\"\n")).collect();
    let text = format!("[dependencies]\n# Why.\n{rows}openssl = \"1\"\n\n[dev-dependencies]\nproptest = \"1\"\n");
    let found = violations(&[("Cargo.toml".to_string(), text)], &tables());
    assert_eq!(
        found,
        [
            "Cargo.toml: `openssl` has no row in the table of walls",
            "Cargo.toml: `arc-swap` has a row in the table of walls and is no dependency",
        ]
    );
}

#[test]
fn a_path_of_one_machine_is_reported() {
    for word in tables().machine_paths {
        let found = violations(&[("docs/a.md".to_string(), format!("one\nsee {word}two"))], &tables());
        assert_eq!(found, [format!("docs/a.md:2: names a path of one machine: `{word}`")]);
    }
}
