//! Any text as a policy: it is checked without panic, what is found lies within it, and laying it out keeps its meaning.

use switchback::check::Checked;
use switchback::diag::{Diagnostic, render};
use switchback::graph::compile;
use switchback::policy::Policy;
use switchback::source::{Source, Sources};
use switchback::{check, syntax};

type Outcome = (Option<Checked<Policy>>, Vec<Diagnostic>);

/// One input, bytes that are no text included.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let sources = Sources::from_texts([("a.sbk", text.as_ref())]);
    let before = check::check_sources(&sources);
    let found = &before.1;
    for finding in found {
        let (start, end) = (finding.span.start as usize, finding.span.end as usize);
        assert!(start <= end && end <= text.len(), "{finding:?}");
        assert!(text.get(start..end).is_some(), "cut within a character: {finding:?}");
    }
    let _ = render::human(found, &sources, false);
    let Some(source) = sources.iter().next() else { return };
    let (tree, wrong) = syntax::parse(source);
    if !wrong.is_empty() {
        return;
    }
    let once = syntax::format(&tree);
    let laid_out = Source::new(source.id, "a.sbk", once.as_str());
    let (again, wrong) = syntax::parse(&laid_out);
    assert!(wrong.is_empty() && syntax::says_the_same(&tree, &again), "{once}");
    assert_eq!(syntax::format(&again), once);
    let after = Sources::from_texts([("a.sbk", once)]);
    let hash = |(policy, _): &Outcome, sources| policy.as_ref().map(|p| compile(p, sources).hash().to_owned());
    assert_eq!(hash(&before, &sources), hash(&check::check_sources(&after), &after));
}
