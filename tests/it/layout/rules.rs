//! The layout rules, as one function from files to violations.
//!
//! In: the files of the repository and the tables. Out: one sentence for each violation, with file and line. Touches no
//! disk, so that planted files prove each rule.

use super::read::{Named, read};

/// A file: its path from the repository's root, with `/`, and its text.
pub type File = (String, String);

/// A list of rows: what is on the left may name, or may be named by, what is on the right.
pub type Table = &'static [(&'static str, &'static [&'static str])];

/// What holds where.
pub struct Tables {
    /// Module path → module paths that it may name beside its own top-level module. Rows of outer modules hold inside.
    pub imports: Table,
    /// Crate → module paths that may name it; `*` for all.
    pub walls: Table,
    /// Modules that touch nothing outside.
    pub pure: &'static [&'static str],
    /// Crates that no pure module names.
    pub impure_crates: &'static [&'static str],
    /// Standard library paths that no pure module names → the module paths that may all the same.
    pub impure_std: Table,
    /// Most lines of a file before its tests.
    pub cap: usize,
    /// Texts that stand nowhere in the repository.
    pub machine_paths: Vec<String>,
}

/// Everything that breaks a rule.
pub fn violations(files: &[File], tables: &Tables) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in files {
        words(path, text, tables, &mut found);
        if path == "Cargo.toml" {
            manifest(text, tables, &mut found);
        }
        if path.starts_with("src/") && path.ends_with(".rs") {
            source(path, text, tables, &mut found);
        }
    }
    found.dedup();
    found
}

fn words(path: &str, text: &str, tables: &Tables, found: &mut Vec<String>) {
    for (n, line) in text.lines().enumerate() {
        for word in tables.machine_paths.iter().filter(|w| line.contains(w.as_str())) {
            found.push(format!("{path}:{}: names a path of one machine: `{word}`", n + 1));
        }
    }
}

fn manifest(text: &str, tables: &Tables, found: &mut Vec<String>) {
    let names: Vec<&str> = text
        .lines()
        .skip_while(|l| *l != "[dependencies]")
        .skip(1)
        .take_while(|l| !l.starts_with('['))
        .filter(|l| !l.starts_with(['#', ' ']))
        .filter_map(|l| l.split_once('=').map(|(name, _)| name.trim()))
        .collect();
    for name in &names {
        if !tables.walls.iter().any(|(c, _)| c == name) {
            found.push(format!("Cargo.toml: `{name}` has no row in the table of walls"));
        }
    }
    for (name, _) in tables.walls.iter().filter(|(c, _)| !names.contains(c)) {
        found.push(format!("Cargo.toml: `{name}` has a row in the table of walls and is no dependency"));
    }
}

fn source(path: &str, text: &str, tables: &Tables, found: &mut Vec<String>) {
    let module = module_of(path);
    // Tests may build whatever they need to look at their subject, and the subject says what it is for.
    if module.iter().any(|m| m == "tests") {
        return;
    }
    if !text.starts_with("//!") {
        found.push(format!("{path}:1: does not open with what it is for"));
    }
    let read = read(text);
    if read.lines > tables.cap {
        found.push(format!("{path}: {} lines before its tests, more than {}", read.lines, tables.cap));
    }
    if read.modules.iter().any(|m| m == "tests") {
        found.push(format!("{path}: `mod tests` is not under `#[cfg(test)]`"));
    }
    for named in &read.paths {
        let place = format!("{path}:{}", named.line);
        match from_root(named, &module) {
            Some(inner) => import(&place, &module, &inner, tables, found),
            None => {
                let hidden = !named.absolute && named.segments.first().is_some_and(|s| read.modules.contains(s));
                if !hidden {
                    outside(&place, &module, &named.segments, tables, found);
                }
            }
        }
    }
}

/// `src/decide/event.rs` → `decide::event`; the crate's roots are the empty path.
fn module_of(path: &str) -> Vec<String> {
    let inner = path.trim_start_matches("src/").trim_end_matches(".rs");
    inner.split('/').filter(|s| !matches!(*s, "mod" | "lib" | "main")).map(str::to_string).collect()
}

/// The path from the crate's root; absent where it leads outside or stays relative to its own module.
fn from_root(named: &Named, module: &[String]) -> Option<Vec<String>> {
    let segments = match named.segments.first().map(String::as_str) {
        Some("self") => named.segments.get(1..)?,
        _ => &named.segments[..],
    };
    let supers = segments.iter().take_while(|s| *s == "super").count();
    if segments.first()? == "crate" {
        return Some(segments[1..].to_vec());
    }
    if supers == 0 {
        return None;
    }
    let here: Vec<String> = module.iter().chain(&named.inside).cloned().collect();
    let kept = here.len().saturating_sub(supers);
    Some(here[..kept].iter().chain(&segments[supers..]).cloned().collect())
}

fn import(place: &str, module: &[String], inner: &[String], tables: &Tables, found: &mut Vec<String>) {
    // The roots declare; they import nothing.
    let (Some(own), Some(other)) = (module.first(), inner.first()) else { return };
    if own == other {
        return;
    }
    let known = tables.imports.iter().any(|(m, _)| m == other);
    let allowed = tables
        .imports
        .iter()
        .filter(|(row, _)| begins(module, row))
        .flat_map(|(_, may)| may.iter())
        .any(|may| begins(inner, may));
    if (known || other == "*") && !allowed {
        found.push(format!("{place}: `{}` may not name `{}`", module.join("::"), inner.join("::")));
    }
    if !tables.imports.iter().any(|(m, _)| m == own) {
        found.push(format!("{place}: `{own}` has no row in the table of imports"));
    }
}

fn outside(place: &str, module: &[String], segments: &[String], tables: &Tables, found: &mut Vec<String>) {
    let Some(first) = segments.first() else { return };
    let here = module.join("::");
    let pure = module.first().is_some_and(|m| tables.pure.contains(&m.as_str()));
    if pure && tables.impure_crates.iter().any(|c| c.replace('-', "_") == *first) {
        found.push(format!("{place}: pure `{here}` names `{first}`"));
    }
    let wall = tables.walls.iter().find(|(c, _)| c.replace('-', "_") == *first);
    if let Some((_, may)) = wall
        && !may.iter().any(|m| *m == "*" || begins(module, m))
    {
        found.push(format!("{place}: `{here}` names `{first}`, which belongs to {}", may.join(", ")));
    }
    let std = tables.impure_std.iter().find(|(p, _)| begins(segments, p) || ends(segments, p));
    if let Some((name, may)) = std
        && pure
        && !may.iter().any(|m| begins(module, m))
    {
        found.push(format!("{place}: pure `{here}` names `{name}`"));
    }
}

fn begins(path: &[String], prefix: &str) -> bool {
    prefix.split("::").enumerate().all(|(i, s)| path.get(i).is_some_and(|p| p == s))
}

fn ends(path: &[String], suffix: &str) -> bool {
    let parts: Vec<&str> = suffix.split("::").collect();
    path.len() >= parts.len() && path[path.len() - parts.len()..].iter().eq(parts.iter())
}
