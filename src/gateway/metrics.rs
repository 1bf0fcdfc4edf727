//! `/metrics`: what was counted, in Prometheus' text format.
//!
//! In: counters. Out: text. Label values are names of the policy and words of the language.

use crate::policy::Money;
use crate::record::dollars;
use crate::runtime::meters::Family;
use std::fmt::{Display, Write};

/// A page of metrics.
#[derive(Debug, Default)]
pub struct Page(String);

impl Page {
    /// A family of counters.
    pub fn counters<const N: usize>(&mut self, name: &str, help: &str, labels: [&str; N], family: &Family<N>) {
        self.head(name, "counter", help);
        for (values, count) in family.values() {
            let pairs: Vec<(&str, &str)> = labels.iter().copied().zip(values.iter().map(String::as_str)).collect();
            self.line(name, &pairs, count);
        }
    }

    /// A family that counts billionths of a dollar, in dollars.
    pub fn dollars<const N: usize>(&mut self, name: &str, help: &str, labels: [&str; N], family: &Family<N>) {
        self.head(name, "counter", help);
        for (values, nano) in family.values() {
            let pairs: Vec<(&str, &str)> = labels.iter().copied().zip(values.iter().map(String::as_str)).collect();
            self.line(name, &pairs, dollars(Money(nano)));
        }
    }

    /// One counter without labels.
    pub fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, "counter", help);
        self.line(name, &[], value);
    }

    /// One value that goes up and down.
    pub fn gauge(&mut self, name: &str, help: &str, labels: &[(&str, &str)], value: u64) {
        self.head(name, "gauge", help);
        self.line(name, labels, value);
    }

    /// Values that go up and down, by labels.
    pub fn gauges<const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        labels: [&str; N],
        values: &[([String; N], impl Display + Copy)],
    ) {
        self.head(name, "gauge", help);
        for (texts, value) in values {
            let pairs: Vec<(&str, &str)> = labels.iter().copied().zip(texts.iter().map(String::as_str)).collect();
            self.line(name, &pairs, *value);
        }
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.0
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (i, (label, text)) in labels.iter().enumerate() {
            let _ = write!(self.0, "{}{label}=\"{}\"", if i == 0 { '{' } else { ',' }, escaped(text));
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_prometheus_text() {
        let family = Family::default();
        family.count(["chat", "a\"b"]);
        let mut page = Page::default();
        page.counters("x_total", "What.", ["route", "result"], &family);
        page.gauge("y", "Which.", &[], 1);
        let want = "# HELP x_total What.\n# TYPE x_total counter\nx_total{route=\"chat\",result=\"a\\\"b\"} 1\n\
                    # HELP y Which.\n# TYPE y gauge\ny 1\n";
        assert_eq!(page.into_text(), want);
    }
}
