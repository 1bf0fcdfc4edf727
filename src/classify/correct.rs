//! Corrections of the tables: what a policy knows better about one target's failures.
//!
//! In: rows of a status, perhaps a code or phrase, and a class; and a failure. Out: the failure, of the class of the first
//! row that fits. A refusal stays one, what broke after output stays that, and a success is never corrected: it has no
//! failure.

use super::Classified;
use super::http::counted;
use crate::policy::{Class, Correction, Stage};

/// The failure, corrected by the first row that fits.
#[must_use]
pub fn corrected(failure: Classified, rows: &[Correction]) -> Classified {
    let fixed = |class| matches!(class, Class::Policy | Class::PartialStream);
    if fixed(failure.class) || failure.stage == Stage::Output {
        return failure;
    }
    let fits = |row: &&Correction| {
        let says = |text: &String| {
            let text = text.to_lowercase();
            let in_code = failure.code.as_ref().is_some_and(|c| c.to_lowercase() == text);
            in_code || failure.message.as_ref().is_some_and(|m| m.to_lowercase().contains(&text))
        };
        failure.status == Some(row.status) && row.class != Class::PartialStream && row.text.as_ref().is_none_or(says)
    };
    match rows.iter().find(fits) {
        // How wide it is was said by the rule that was wrong.
        Some(row) => Classified {
            class: row.class,
            scope: None,
            hint: counted(row.class, failure.told),
            rule: "policy-correction",
            ..failure
        },
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::{NoHeaders, http::answer};
    use crate::policy::Millis;

    fn row(status: u16, text: Option<&str>, class: Class) -> Correction {
        Correction { status, text: text.map(str::to_string), class }
    }

    #[test]
    fn the_first_row_that_fits_corrects() {
        let failure = |body: &str| answer(400, &NoHeaders, body.as_bytes(), 0);
        let rows = [
            row(401, None, Class::Auth),
            row(400, Some("No Seats"), Class::Overloaded),
            row(400, Some("E17"), Class::QuotaExhausted),
            row(400, None, Class::ServerError),
        ];
        let class = |body: &str| corrected(failure(body), &rows).class;
        assert_eq!(class(r#"{"error":{"message":"there are no seats left"}}"#), Class::Overloaded);
        assert_eq!(class(r#"{"error":{"message":"x","code":"e17"}}"#), Class::QuotaExhausted);
        assert_eq!(class(r#"{"error":{"message":"x","code":"e170"}}"#), Class::ServerError);
        let found = corrected(failure("{}"), &rows);
        assert_eq!((found.rule, found.scope), ("policy-correction", None));
    }

    #[test]
    fn the_wait_counts_by_the_class_that_it_is_corrected_to() {
        let headers = vec![("retry-after", "30")];
        let failed = answer(400, &headers, b"{}", 0);
        assert_eq!(failed.hint, None);
        let fixed = corrected(failed, &[row(400, None, Class::RateLimit)]);
        assert_eq!(fixed.hint, Some(Millis(30_000)));
        let fixed = corrected(answer(429, &headers, b"{}", 0), &[row(429, None, Class::Auth)]);
        assert_eq!(fixed.hint, None);
    }

    #[test]
    fn a_refusal_stays_one_and_so_does_what_broke_after_output() {
        let rows = [row(400, None, Class::PartialStream), row(400, None, Class::Overloaded)];
        let refused = answer(400, &NoHeaders, br#"{"error":{"code":"content_filter"}}"#, 0);
        assert_eq!(corrected(refused.clone(), &rows), refused);
        let failed = answer(400, &NoHeaders, b"{}", 0);
        assert_eq!(corrected(failed.clone(), &rows).class, Class::Overloaded);
        let partial = failed.after_output();
        assert_eq!(corrected(partial.clone(), &rows), partial);
    }
}
