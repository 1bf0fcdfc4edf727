//! Corrections of the tables: what a policy knows better about one target's failures.
//!
//! In: rows of a status, perhaps a code or phrase, and a class; a failure, and the body that it was read from. Out: the
//! failure, of the class of the first row that fits. A refusal stays one, what broke after output stays that, and a
//! success is never corrected: it has no failure.

use super::Classified;
use super::http::counted;
use super::said::{READ_BYTES, Said, normal};
use crate::policy::{Class, Correction, Stage};

/// The failure that a body tells, corrected by the first row that fits.
#[must_use]
pub fn corrected(failure: Classified, body: &[u8], rows: &[Correction]) -> Classified {
    let fixed = |class| matches!(class, Class::Policy | Class::PartialStream);
    if fixed(failure.class) || failure.stage == Stage::Output {
        return failure;
    }
    let mut words = None;
    let fits = |row: &&Correction| {
        failure.status == Some(row.status)
            && row.class != Class::PartialStream
            && row.text.as_ref().is_none_or(|text| words.get_or_insert_with(|| Words::of(&failure, body)).hold(text))
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

/// What a failure says, as a policy may name it: codes, and in lower case the messages of every layer. Who writes a
/// correction has seen a body that says it in a way of its own: where neither is found in it, all of it is a message.
struct Words {
    codes: Vec<String>,
    texts: [String; 2],
}

impl Words {
    fn of(failure: &Classified, body: &[u8]) -> Words {
        let Said { mut words, mut text, .. } = Said::read(body);
        if words.is_empty() && text.is_empty() {
            text = String::from_utf8_lossy(body.get(..READ_BYTES).unwrap_or(body)).to_lowercase();
        }
        // Some stand in headers.
        words.extend(failure.code.as_deref().map(normal));
        let shown = failure.message.as_deref().unwrap_or_default().to_lowercase();
        Words { codes: words, texts: [text, shown] }
    }

    fn hold(&self, text: &str) -> bool {
        let (code, phrase) = (normal(text), text.to_lowercase());
        let is_code = !code.is_empty() && self.codes.contains(&code);
        is_code || self.texts.iter().any(|text| text.contains(&phrase))
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
        let class = |body: &str| corrected(failure(body), body.as_bytes(), &rows).class;
        assert_eq!(class(r#"{"error":{"message":"there are no seats left"}}"#), Class::Overloaded);
        assert_eq!(class(r#"{"error":{"message":"x","code":"e17"}}"#), Class::QuotaExhausted);
        assert_eq!(class(r#"{"error":{"message":"x","code":"e170"}}"#), Class::ServerError);
        let found = corrected(failure("{}"), b"{}", &rows);
        assert_eq!((found.rule, found.scope), ("policy-correction", None));
    }

    #[test]
    fn what_any_layer_says_is_known_and_all_of_a_body_that_says_nothing() {
        let class = |text: &str, body: &str| {
            let failed = answer(502, &NoHeaders, body.as_bytes(), 0);
            corrected(failed, body.as_bytes(), &[row(502, Some(text), Class::QuotaExhausted)]).class
        };
        let relayed = r#"{"error":{"message":"Provider returned error","code":502,"metadata":
            {"raw":"{\"error\":{\"message\":\"boom\",\"type\":\"seat_limit\"}}"}}}"#;
        assert_eq!(class("provider returned", relayed), Class::QuotaExhausted);
        assert_eq!(class("boom", relayed), Class::QuotaExhausted);
        assert_eq!(class("seat_limit", relayed), Class::QuotaExhausted);
        assert_eq!(class("seat", relayed), Class::ServerError);
        assert_eq!(class("Flux", r#"{"strange":"flux capacitor"}"#), Class::QuotaExhausted);
        // A message late in a long text, and one in another script.
        assert_eq!(class("at last", &format!("{} at last", "word ".repeat(200))), Class::QuotaExhausted);
        assert_eq!(class("額度", r#"{"message":"今日額度"}"#), Class::QuotaExhausted);
        assert_eq!(class("…", r#"{"error":{"code":"x"}}"#), Class::ServerError);
        // What a server repeats of a request corrects nothing.
        assert_eq!(class("seat", r#"{"message":"bad","messages":[{"content":"seat"}]}"#), Class::ServerError);
    }

    #[test]
    fn the_wait_counts_by_the_class_that_it_is_corrected_to() {
        let headers = vec![("retry-after", "30")];
        let failed = answer(400, &headers, b"{}", 0);
        assert_eq!(failed.hint, None);
        let fixed = corrected(failed, b"{}", &[row(400, None, Class::RateLimit)]);
        assert_eq!(fixed.hint, Some(Millis(30_000)));
        let fixed = corrected(answer(429, &headers, b"{}", 0), b"{}", &[row(429, None, Class::Auth)]);
        assert_eq!(fixed.hint, None);
    }

    #[test]
    fn a_refusal_stays_one_and_so_does_what_broke_after_output() {
        let rows = [row(400, None, Class::PartialStream), row(400, None, Class::Overloaded)];
        let refused = answer(400, &NoHeaders, br#"{"error":{"code":"content_filter"}}"#, 0);
        assert_eq!(corrected(refused.clone(), b"{}", &rows), refused);
        let failed = answer(400, &NoHeaders, b"{}", 0);
        assert_eq!(corrected(failed.clone(), b"{}", &rows).class, Class::Overloaded);
        let partial = failed.after_output();
        assert_eq!(corrected(partial.clone(), b"{}", &rows), partial);
    }
}
