//! The registry, the pages and the checks say the same: each page has its heading, an example that draws its code and
//! no other error, and a counterpart that draws nothing an operator would have to look at.

use switchback::check;
use switchback::diag::{Code, Diagnostic, Level, render};
use switchback::ready::prepare;
use switchback::source::Sources;
use switchback::syntax;

/// Codes whose example would be too long for a page, or is no text alone; the page says so.
const WITHOUT_EXAMPLE: [Code; 4] = [Code::TextTooLarge, Code::LineEnds, Code::TooMany, Code::ContractChanged];

fn draws(code: Code, text: &str) -> Vec<Diagnostic> {
    let name = if code == Code::WrongFile { "example.test.sbk" } else { "example.sbk" };
    let sources = Sources::from_texts([(name, text)]);
    let mut all = Vec::new();
    let mut trees = Vec::new();
    for source in sources.iter() {
        let (tree, found) = syntax::parse(source);
        trees.push(tree);
        all.extend(found);
    }
    // A page about the shape of text shows a piece of text, and no whole policy.
    if code.entry().id >= "SB0120" {
        all.extend(check::check(&trees).1);
    }
    all
}

/// The first `sbk` snippet below a heading.
fn snippet<'a>(page: &'a str, heading: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n"))?;
    let section = rest.split("\n## ").next()?;
    let (_, rest) = section.split_once("```sbk\n")?;
    rest.split_once("```").map(|(text, _)| text)
}

fn said(diagnostics: &[Diagnostic]) -> String {
    let line = |d: &Diagnostic| format!("  {} {} `{}`", d.entry().id, d.message, d.span.start);
    diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_code_has_a_page_whose_examples_draw_what_they_should() {
    let mut wrong = Vec::new();
    for code in Code::ALL {
        let entry = code.entry();
        let heading = format!("# {} {}\n\n", entry.id, entry.name);
        let text = entry.page.strip_prefix(&heading).unwrap_or_default();
        if text.len() < 80 {
            wrong.push(format!("{}: the page does not begin with its heading and a paragraph", entry.id));
        }
        if WITHOUT_EXAMPLE.contains(code) {
            continue;
        }
        let (Some(bad), Some(good)) = (snippet(entry.page, "Wrong"), snippet(entry.page, "Right")) else {
            wrong.push(format!("{}: the page has no example, or no counterpart", entry.id));
            continue;
        };
        let found = draws(*code, bad);
        let only = found.iter().all(|d| d.code == *code || d.level() != Level::Error);
        if !only || !found.iter().any(|d| d.code == *code) {
            wrong.push(format!("{} wrong example draws\n{}", entry.id, said(&found)));
        }
        // The counterpart of a file that holds too much is the same text in another file.
        let code = if *code == Code::WrongFile { Code::BadName } else { *code };
        let found = draws(code, good);
        if found.iter().any(|d| d.level() != Level::Advice) {
            wrong.push(format!("{} right example draws\n{}", entry.id, said(&found)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_finding_has_a_next_step() {
    for code in Code::ALL {
        let Some(bad) = snippet(code.entry().page, "Wrong") else { continue };
        for diagnostic in draws(*code, bad) {
            assert!(!diagnostic.help.is_empty(), "{} has no help: {}", diagnostic.entry().id, diagnostic.message);
            let message = &diagnostic.message;
            assert!(!message.ends_with('.') && !message.is_empty(), "{}: {message}", diagnostic.entry().id);
        }
    }
}

#[test]
fn numbers_and_names_are_given_once_and_in_order() {
    let ids: Vec<_> = Code::ALL.iter().map(|code| code.entry().id).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    let mut names: Vec<_> = Code::ALL.iter().map(|code| code.entry().name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// What the first two digits of a code say.
const GROUPS: [(&str, &str); 10] = [
    ("01", "Text and shape"),
    ("02", "Names and settings"),
    ("03", "Values, units and guards"),
    ("04", "Contracts"),
    ("05", "Matrices"),
    ("06", "Tiers, chains and routes"),
    ("07", "Budgets"),
    ("08", "Breakers, probes and ramps"),
    ("09", "Tests"),
    ("11", "Security"),
];

/// The tables of the index: a row for each code, with the first sentence of its page.
fn index() -> String {
    let count = |level: Level| Code::ALL.iter().filter(|code| code.entry().level == level).count();
    let (errors, warnings, advice) = (count(Level::Error), count(Level::Warning), count(Level::Advice));
    let mut text = format!("{} codes: {errors} errors, {warnings} warnings, {advice} of advice.\n", Code::ALL.len());
    for (digits, title) in GROUPS {
        let codes = Code::ALL.iter().map(|code| code.entry()).filter(|entry| &entry.id[2..4] == digits);
        let rows: Vec<String> = codes
            .map(|entry| {
                let about = entry.page.split("\n\n").nth(1).unwrap().replace('\n', " ");
                let sentence = about.split_once(". ").map_or(about.trim_end_matches('.'), |(first, _)| first);
                format!("| [{0}]({0}.md) | `{1}` | {2} | {sentence} |\n", entry.id, entry.name, entry.level.word())
            })
            .collect();
        text += &format!(
            "\n### SB{digits}xx: {title} ({})\n\n| code | name | level | when |\n| --- | --- | --- | --- |\n",
            rows.len()
        );
        text += &rows.concat();
    }
    text
}

/// The index lists every code, in its group; `SWITCHBACK_BLESS=1` rewrites the tables and leaves what is around them.
#[test]
fn every_code_is_in_the_index() {
    let grouped = |code: &&Code| GROUPS.iter().any(|(digits, _)| code.entry().id[2..].starts_with(digits));
    assert!(Code::ALL.iter().all(|code| grouped(&code)));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/diagnostics/README.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (head, rest) = page.split_once("<!-- codes -->\n").unwrap();
    let (_, tail) = rest.split_once("<!-- /codes -->\n").unwrap();
    let wanted = format!("{head}<!-- codes -->\n{}<!-- /codes -->\n{tail}", index());
    if std::env::var_os("SWITCHBACK_BLESS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap();
    assert!(kept == wanted, "docs/diagnostics/README.md is not what the registry says; SWITCHBACK_BLESS=1 rewrites it");
    // What is said to wait for a word waits for one that is refused.
    for word in tail
        .lines()
        .filter_map(|line| line.rsplit_once(" | "))
        .flat_map(|(_, waits)| waits.split('`').skip(1).step_by(2))
    {
        let word = word.split(' ').next_back().unwrap();
        let settings = switchback::syntax::settings::explain(word).unwrap_or_default();
        assert!(
            settings.contains("ot in effect yet") || word.starts_with("serve"),
            "`{word}` has an effect: {settings}"
        );
    }
}

/// How each page's example looks to people; `SWITCHBACK_BLESS=1` rewrites the files.
#[test]
fn every_rendering_is_the_one_that_was_agreed_on() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/diagnostics");
    let bless = std::env::var_os("SWITCHBACK_BLESS").is_some();
    let mut wrong = Vec::new();
    let mut known: Vec<String> = Vec::new();
    for code in Code::ALL {
        let Some(bad) = snippet(code.entry().page, "Wrong") else { continue };
        let name = if *code == Code::WrongFile { "example.test.sbk" } else { "example.sbk" };
        let sources = Sources::from_texts([(name, bad)]);
        let found: Vec<Diagnostic> = draws(*code, bad).into_iter().filter(|d| d.code == *code).collect();
        let text = render::human(&found, &sources, false);
        let text: String = text.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
        let path = folder.join(format!("{}.txt", code.entry().id));
        known.push(format!("{}.txt", code.entry().id));
        if bless {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != text {
            wrong.push(format!("{}\n{text}", path.display()));
        }
    }
    let mut there: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    there.sort();
    assert_eq!(there, known);
    assert!(wrong.is_empty(), "not as agreed:\n{}", wrong.join("\n"));
}

/// A proposed change does away with what it is proposed for, and a safe one keeps what the text says.
#[test]
fn every_fix_of_an_example_mends_it() {
    let mut fixed = 0;
    for code in Code::ALL {
        let Some(bad) = snippet(code.entry().page, "Wrong") else { continue };
        let count = |text: &str| draws(*code, text).iter().filter(|d| d.code == *code).count();
        let before = count(bad);
        for diagnostic in draws(*code, bad).into_iter().filter(|d| d.code == *code) {
            let Some(fix) = &diagnostic.fix else { continue };
            let (head, tail) = (&bad[..fix.span.start as usize], &bad[fix.span.end as usize..]);
            let text = format!("{head}{}{tail}", fix.text);
            let id = code.entry().id;
            assert!(count(&text) < before, "{id}: `{}` leaves\n{}", fix.title, said(&draws(*code, &text)));
            if fix.safe && *code != Code::AllowWithoutEffect {
                let tree = |text: &str| syntax::parse(Sources::from_texts([("a.sbk", text)]).iter().next().unwrap()).0;
                let hash =
                    |text: &str| prepare(Sources::from_texts([("a.sbk", text)])).ready.map(|r| r.hash().to_owned());
                let same = syntax::says_the_same(&tree(bad), &tree(&text))
                    || hash(bad).is_some_and(|before| hash(&text) == Some(before));
                assert!(same, "{id}: `{}` is not safe", fix.title);
            }
            fixed += 1;
        }
    }
    assert!(fixed >= 25, "{fixed} examples have a fix");
}

/// Whatever the form of a text allows to be laid out anew stays what it is, comments included, and is then left alone:
/// every example of a page, every worked example, and every text that a fuzzer has been given.
#[test]
fn every_example_is_formatted_once_and_for_all() {
    let parse = |text: &str| syntax::parse(Sources::from_texts([("a.sbk", text)]).iter().next().unwrap());
    let mut texts: Vec<(String, String)> = Vec::new();
    for code in Code::ALL {
        for heading in ["Wrong", "Right"] {
            let text = snippet(code.entry().page, heading);
            texts.extend(text.map(|text| (format!("{} {heading}", code.entry().id), text.to_owned())));
        }
    }
    for folder in ["policies", "tests/cases/damage", "tests/cases/examples", "tests/fuzz/corpus/policy"] {
        for entry in std::fs::read_dir(format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"))).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).ok();
            texts.extend(text.map(|text| (path.display().to_string(), text)));
        }
    }
    let mut formatted = 0;
    for (name, text) in texts {
        let (tree, found) = parse(&text);
        if !found.is_empty() {
            continue;
        }
        let once = syntax::format(&tree);
        let again = parse(&once);
        assert!(again.1.is_empty() && syntax::says_the_same(&tree, &again.0), "{name}:\n{once}");
        assert_eq!(syntax::format(&again.0), once, "{name}");
        let comments = |text: &str| text.matches('#').count();
        assert_eq!(comments(&once), comments(&text), "{name}: comments");
        formatted += 1;
    }
    assert!(formatted > 220, "{formatted}");
}
