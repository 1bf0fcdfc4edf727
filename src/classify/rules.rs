//! What a rule is, and in which order rules are asked.
//!
//! In: what an answer says and whose it is. Out: the first rule that fits. Order: the vendor's own table, then codes,
//! phrases, types and at last the status, which hold for everybody. The tables are data, in `vendors`; nothing in them
//! runs, and each row names the place where its shape is described.

use super::said::Said;
use super::vendor::Vendor;
use super::vendors::common;
use crate::policy::{Class, Scope};

/// One row of a table.
#[derive(Debug)]
pub struct Rule {
    /// Its name, for the record.
    pub name: &'static str,
    /// Codes or types in the normal form, one of which must be there. A `*` at an end stands for anything.
    pub codes: &'static [&'static str],
    /// Pieces of the message, in lower case, one of which must be there. A `*` stands for a gap in the same line.
    pub phrases: &'static [&'static str],
    /// Statuses, one of which it must be.
    pub status: &'static [u16],
    /// What it is then.
    pub class: Class,
    /// How wide the answer shows it to be.
    pub scope: Option<Scope>,
    /// Where the shape is described.
    pub source: &'static str,
}

/// A row that asks for a code or type.
pub const fn code(
    name: &'static str,
    codes: &'static [&'static str],
    class: Class,
    scope: Option<Scope>,
    source: &'static str,
) -> Rule {
    Rule { name, codes, phrases: &[], status: &[], class, scope, source }
}

/// A row that asks for a phrase.
pub const fn phrase(
    name: &'static str,
    phrases: &'static [&'static str],
    class: Class,
    scope: Option<Scope>,
    source: &'static str,
) -> Rule {
    Rule { name, codes: &[], phrases, status: &[], class, scope, source }
}

/// A row that asks for a code and a phrase.
pub const fn both(
    name: &'static str,
    codes: &'static [&'static str],
    phrases: &'static [&'static str],
    class: Class,
    scope: Option<Scope>,
    source: &'static str,
) -> Rule {
    Rule { name, codes, phrases, status: &[], class, scope, source }
}

/// The row, for these statuses alone.
pub const fn under(status: &'static [u16], rule: Rule) -> Rule {
    let Rule { name, codes, phrases, class, scope, source, .. } = rule;
    Rule { name, codes, phrases, status, class, scope, source }
}

impl Rule {
    /// Whether each of its conditions that is not empty holds.
    pub fn fits(&self, said: &Said, status: Option<u16>) -> bool {
        (self.status.is_empty() || status.is_some_and(|s| self.status.contains(&s)))
            && (self.codes.is_empty() || self.codes.iter().any(|c| said.has_word(c)))
            && (self.phrases.is_empty() || self.phrases.iter().any(|p| said.has_phrase(p)))
    }
}

/// The first rule that fits what is said, before the status alone decides.
pub fn find(vendor: &Vendor, said: &Said, status: Option<u16>) -> Option<&'static Rule> {
    // A relay that names whom it called speaks with that one's words.
    let called = said.provider.as_deref().map(Vendor::named);
    let own = called.into_iter().map(|v| v.rules).chain([vendor.rules]);
    let everybody: [&[Rule]; 2] = if said.page { [common::PAGES, &[]] } else { [common::CODES, common::PHRASES] };
    let own: Vec<&[Rule]> = if said.page { Vec::new() } else { own.collect() };
    let types: &[Rule] = if said.page { &[] } else { common::TYPES };
    let mut tables = own.into_iter().chain(everybody).chain([types]);
    tables.find_map(|table| table.iter().find(|rule| rule.fits(said, status)))
}

/// What a type alone says where no status stands beside it: inside a stream, or under a success.
pub fn bare(said: &Said) -> Option<&'static Rule> {
    common::BARE.iter().find(|rule| rule.fits(said, None))
}

/// What a status says where nothing else does.
pub fn by_status(status: u16) -> &'static Rule {
    common::STATUS.iter().find(|rule| rule.status.contains(&status)).unwrap_or(match status {
        500..=599 => &common::STATUS_5XX,
        _ => &common::STATUS_UNKNOWN,
    })
}

/// What a limit is whose empty bucket is that of a day or more.
pub const LONG_BUCKET: Rule = Rule {
    name: "bucket-long",
    codes: &[],
    phrases: &[],
    status: &[],
    class: Class::QuotaExhausted,
    scope: None,
    source: "https://inference-docs.cerebras.ai/support/rate-limits",
};

/// What a limit is that asks for an hour or more: no rate is counted over so long.
pub const LONG_WAIT: Rule =
    Rule { name: "wait-long", source: "https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3", ..LONG_BUCKET };

/// The rule of a request that alone is more than its target takes in a minute.
pub const NEVER_FITS: &str = "phrase-request-above-the-rate";

/// Every row of every table, with the vendor whose table it is; `everybody` for the common ones.
pub fn all() -> impl Iterator<Item = (&'static str, &'static Rule)> {
    let vendors = super::vendors::TABLES.iter().flat_map(|(name, table)| table.iter().map(move |r| (*name, r)));
    let common = [common::PAGES, common::CODES, common::PHRASES, common::TYPES, common::STATUS, common::BARE];
    let common =
        common.into_iter().flatten().chain([&common::STATUS_5XX, &common::STATUS_UNKNOWN, &LONG_BUCKET, &LONG_WAIT]);
    vendors.chain(common.map(|r| ("everybody", r)))
}

/// Whose table holds a rule; nothing where no table does.
pub fn table_of(name: &str) -> Option<&'static str> {
    all().find(|(_, rule)| rule.name == name).map(|(table, _)| table)
}

/// Where the shape that a rule knows is described. Rules that no table holds come from the connection or the dialect.
pub fn source_of(name: &str) -> &'static str {
    all()
        .find(|(_, rule)| rule.name == name)
        .map_or(if name.starts_with("fault-") { "the connection" } else { "the dialect of the API" }, |(_, rule)| {
            rule.source
        })
}
