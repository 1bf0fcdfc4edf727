//! Agreement, counted by area, and its lines.

/// One case: whether it agrees.
pub struct Case {
    pub id: String,
    pub area: String,
    /// Absent where it agrees; else what was expected and what was seen.
    pub miss: Option<(String, String)>,
}

/// All cases of one measure of one file.
pub struct Report {
    pub measure: &'static str,
    pub cases: Vec<Case>,
}

impl Report {
    /// Areas in the order of their names, `all` first.
    pub fn areas(&self) -> Vec<String> {
        let mut areas: Vec<String> = self.cases.iter().map(|c| c.area.clone()).collect();
        areas.sort();
        areas.dedup();
        areas.insert(0, "all".to_string());
        areas
    }

    /// How many agree, of how many.
    pub fn count(&self, area: &str) -> (usize, usize) {
        let cases = self.cases.iter().filter(|c| area == "all" || c.area == area);
        cases.fold((0, 0), |(agree, total), c| (agree + usize::from(c.miss.is_none()), total + 1))
    }

    /// The lines of the report: the counts, then each miss.
    pub fn lines(&self, name: &str) -> Vec<String> {
        let measure = self.measure;
        let counts = self.areas().into_iter().map(|area| {
            let (agree, total) = self.count(&area);
            format!("corpus {name} {measure} {area} {agree}/{total}")
        });
        let misses = self.cases.iter().filter_map(|case| {
            let (expected, got) = case.miss.as_ref()?;
            Some(format!("miss {name} {measure} {} expected {expected} got {got}", case.id))
        });
        counts.chain(misses).collect()
    }
}

#[test]
fn counts_and_misses_are_lines() {
    let case = |id: &str, area: &str, miss: Option<(&str, &str)>| Case {
        id: id.to_string(),
        area: area.to_string(),
        miss: miss.map(|(e, g)| (e.to_string(), g.to_string())),
    };
    let report = Report {
        measure: "cases",
        cases: vec![
            case("r1", "routing", None),
            case("a1", "action", Some(("stop", "retry"))),
            case("r2", "routing", None),
        ],
    };
    assert_eq!(
        report.lines("behaviours"),
        [
            "corpus behaviours cases all 2/3",
            "corpus behaviours cases action 0/1",
            "corpus behaviours cases routing 2/2",
            "miss behaviours cases a1 expected stop got retry",
        ]
    );
}
