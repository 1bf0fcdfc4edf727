//! The floors below which agreement must not fall.
//!
//! In: `floors.toml`, of which only sections, strings and whole numbers are understood. Out: what is below its floor.

use super::report::Report;
use sha2::{Digest, Sha256};

/// All floors.
#[derive(Default)]
pub struct Floors(Vec<File>);

#[derive(Default)]
struct File {
    path: String,
    sha256: String,
    /// `MEASURE AREA` and the least that must agree.
    least: Vec<(String, usize)>,
}

impl Floors {
    /// Reads the file; says which line it does not understand.
    pub fn read(text: &str) -> Result<Floors, String> {
        let mut files: Vec<File> = Vec::new();
        for (n, line) in text.lines().map(str::trim).enumerate() {
            let wrong = || format!("floors.toml:{}: `{line}`", n + 1);
            if line.is_empty() || line.starts_with('#') {
            } else if let Some(path) = line.strip_prefix("[\"").and_then(|l| l.strip_suffix("\"]")) {
                files.push(File { path: path.to_string(), ..File::default() });
            } else {
                let (key, value) = line.split_once(" = ").ok_or_else(wrong)?;
                let file = files.last_mut().ok_or_else(wrong)?;
                match key {
                    "sha256" => file.sha256 = value.trim_matches('"').to_string(),
                    _ => file.least.push((key.trim_matches('"').to_string(), value.parse().map_err(|_| wrong())?)),
                }
            }
        }
        Ok(Floors(files))
    }

    /// What is below its floor, if the file is the one that the floors were set for.
    pub fn below(&self, path: &str, text: &str, reports: &[Report]) -> Vec<String> {
        let hash: String = Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect();
        let floors = self.0.iter().filter(|f| f.path == path && f.sha256 == hash).flat_map(|f| &f.least);
        floors
            .filter_map(|(what, least)| {
                let (measure, area) = what.split_once(' ').unwrap_or((what, "all"));
                let agree = reports.iter().find(|r| r.measure == measure).map_or(0, |r| r.count(area).0);
                (agree < *least).then(|| format!("{path}: {measure} {area}: {agree} agree, the floor is {least}"))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::Case;
    use super::*;

    const TEXT: &str = "[]";
    const HASH: &str = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945";

    fn floors(hash: &str) -> Floors {
        Floors::read(&format!("# Why.\n[\"a.json\"]\nsha256 = \"{hash}\"\n\"cases routing\" = 2\n")).unwrap()
    }

    fn report(agree: usize) -> [Report; 1] {
        let case = |n: usize| Case {
            id: n.to_string(),
            area: "routing".to_string(),
            miss: (n >= agree).then(|| (String::new(), String::new())),
        };
        [Report { measure: "cases", cases: (0..2).map(case).collect() }]
    }

    #[test]
    fn a_count_below_its_floor_is_said() {
        assert!(floors(HASH).below("a.json", TEXT, &report(2)).is_empty());
        let said = floors(HASH).below("a.json", TEXT, &report(1));
        assert_eq!(said, ["a.json: cases routing: 1 agree, the floor is 2"]);
        assert_eq!(floors(HASH).below("a.json", TEXT, &[]).len(), 1, "what is not measured does not agree");
    }

    #[test]
    fn another_text_of_the_name_is_not_held_to_it() {
        assert!(floors(HASH).below("a.json", "[ ]", &report(0)).is_empty());
        assert!(floors(HASH).below("b.json", TEXT, &report(0)).is_empty());
    }

    #[test]
    fn a_line_that_says_nothing_is_refused() {
        assert_eq!(Floors::read("[\"a\"]\nfloor 3").err(), Some("floors.toml:2: `floor 3`".to_string()));
    }
}
