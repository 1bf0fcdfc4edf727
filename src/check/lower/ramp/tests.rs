use super::*;
use crate::check::sample::{found, policy};

fn rules(body: &str) -> RampRules {
    let text = format!("ramp g {{\n{body}\n}}\ndefaults {{ ramp g }}");
    policy(&[("ramp", &text)]).targets[0].ramp.clone()
}

fn wrong(body: &str) -> Vec<(&'static str, String)> {
    let text = format!("ramp g {{\n{body}\n}}\ndefaults {{ ramp g }}");
    found(&[("ramp", &text)])
}

fn only(code: &'static str, text: &str) -> Vec<(&'static str, String)> {
    vec![(code, text.to_owned())]
}

fn stage(share: u32, lasts: u64) -> RampStage {
    RampStage { share: Percent(share), lasts: Millis(lasts) }
}

#[test]
fn stages_rise_to_full() {
    let own = rules("10% for 2m\n50% for 5m\n100%");
    assert_eq!(own.stages, [stage(1_000, 120_000), stage(5_000, 300_000)]);
    assert_eq!(own.rollback, Rollback::default());
    assert_eq!(rules("100%").stages, []);
}

#[test]
fn a_written_rollback_replaces_both_defaults() {
    let rollback = |line: &str| rules(&format!("10% for 2m\n100%\n{line}")).rollback;
    assert_eq!(
        rollback("rollback when errors >= 30%, min 10"),
        Rollback { errors: Some((Percent(3_000), 10)), consecutive: None }
    );
    assert_eq!(rollback("rollback when consecutive >= 3"), Rollback { errors: None, consecutive: Some(3) });
    assert_eq!(
        rollback("rollback when errors >= 30%").errors,
        Some((Percent(3_000), 20)),
        "a part left out is that of the default line"
    );
}

#[test]
fn own_stages_replace_inherited_ones() {
    let with = |own: &str| {
        let text = format!(
            "ramp base {{ 10% for 2m; 100%; rollback when consecutive >= 3 }}\nramp g {{ extends base{own} }}\n\
             defaults {{ ramp g }}"
        );
        policy(&[("ramp", &text)]).targets[0].ramp.clone()
    };
    let three = Rollback { errors: None, consecutive: Some(3) };
    assert_eq!(with(""), RampRules { stages: vec![stage(1_000, 120_000)], rollback: three });
    let own = RampRules { stages: vec![stage(2_000, 60_000)], rollback: three };
    assert_eq!(with("; 20% for 1m; 100%"), own);
}

#[test]
fn a_line_that_cannot_be_meant_is_named() {
    for (lines, code, text) in [
        ("10% for 2m", "SB0822", "}"),
        ("", "SB0822", "g"),
        ("50% for 2m\n10% for 2m\n100%", "SB0821", "10%"),
        ("50% for 2m\n50% for 2m\n100%", "SB0821", "50%"),
        ("100%\n50% for 2m", "SB0821", "50%"),
        ("0% for 2m\n100%", "SB0304", "0%"),
        ("10%\n100%", "SB0307", "10%"),
        ("10% for 2\n100%", "SB0301", "2"),
        ("10 for 2m\n100%", "SB0301", "10"),
        ("10% for 2m\n100% for 5m", "SB0308", "for 5m"),
        ("100%\nrollback when slow >= 20%", "SB0305", "slow"),
        ("100%\nrollback when errors > 20%", "SB0303", ">"),
        (
            "100%\nrollback when consecutive >= 3\nrollback when consecutive >= 4",
            "SB0214",
            "rollback when consecutive >= 4",
        ),
        ("100%\ngently", "SB0212", "gently"),
    ] {
        assert_eq!(wrong(lines), only(code, text), "{lines}");
    }
}

#[test]
fn no_ramp_is_called_none() {
    assert_eq!(found(&[("ramp", "ramp none { 100% }\ndefaults { ramp none }")]), only("SB0203", "none"));
}
