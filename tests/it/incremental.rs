//! What an editor is told after each of many edits is what a check from scratch says of the same texts.
//!
//! A set of several files is edited at random places: tokens are deleted, doubled and replaced, stretches are cut out,
//! pieces are put in, and now and then the last edit is taken back. After each edit the set that parses no more than
//! what changed is compared with one that was never edited, in findings, trees and words.

use std::path::{Path, PathBuf};
use switchback::check::check_sources;
use switchback::lsp::set::Set;
use switchback::source::{FileId, Sources};
use switchback::syntax;

/// How many edits are made; `SWITCHBACK_EDITS` makes more.
const EDITS: usize = 300;

const PIECES: [&str; 16] = [
    "{",
    "}",
    "[",
    "]",
    "\n",
    ";",
    ",",
    "->",
    "\"",
    "# note\n",
    "and ",
    "x",
    "\n\n## New.\nmodel new { context 1k }\n",
    "é",
    "# allow SB0602: why\n",
    "\u{FEFF}",
];

struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }

    /// A place between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

fn edit(text: &str, draw: &mut Draw) -> String {
    let (from, to) = match draw.below(4) {
        0 => {
            let at = draw.place(text);
            (at, at)
        }
        1 => {
            let at = draw.place(text);
            let mut end = (at + 1 + draw.below(40)).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            (at, end)
        }
        _ => {
            let words: Vec<(usize, &str)> = text.match_indices(|c: char| c.is_ascii_alphanumeric()).collect();
            let Some((at, _)) = words.get(draw.below(words.len().max(1))) else { return text.to_owned() };
            let end = text[*at..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(text.len(), |length| at + length);
            (*at, end)
        }
    };
    let word = text[from..to].to_owned();
    let new = match draw.below(3) {
        0 => String::new(),
        1 => format!("{word} {word}"),
        _ => PIECES[draw.below(PIECES.len())].to_owned(),
    };
    format!("{}{new}{}", &text[..from], &text[to..])
}

#[test]
fn what_an_editor_is_told_is_what_a_check_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    // The parts of one set stand in files of their own, so that names go across files.
    let whole = read("tests/cases/damage/region-pair.sbk");
    let cut = whole.find("\ntier ").unwrap() + 1;
    let mut texts =
        vec![whole[..cut].to_owned(), format!("switchback 1\n\n{}", &whole[cut..]), read("policies/vendors.sbk")];
    let paths: Vec<PathBuf> = ["a.sbk", "b.sbk", "c.sbk"].map(|name| Path::new("/set").join(name)).to_vec();
    let mut set = Set::new("/set");
    set.read(paths.iter().cloned().zip(texts.iter().cloned()), false);
    let edits = std::env::var("SWITCHBACK_EDITS").ok().and_then(|n| n.parse().ok()).unwrap_or(EDITS);
    let mut draw = Draw(20_261_130);
    let original = texts.clone();
    let (mut broken, mut sound) = (0, 0);
    for version in 1..=edits {
        let at = draw.below(texts.len());
        // Texts that are long broken are like each other; most edits are made to sound ones.
        texts[at] = if draw.below(2) == 0 { original[at].clone() } else { edit(&texts[at], &mut draw) };
        set.open(&paths[at], i32::try_from(version).unwrap(), texts[at].as_str());
        let sources = Sources::from_texts(["a.sbk", "b.sbk", "c.sbk"].into_iter().zip(texts.iter().cloned()));
        let found = check_sources(&sources).1;
        assert_eq!(set.diagnostics(), found, "after edit {version} of {}:\n{}", paths[at].display(), texts[at]);
        for (source, id) in sources.iter().zip(0u32..) {
            let fresh = syntax::parse(source).0;
            let (_, kept) = set.file(FileId(id)).unwrap();
            assert_eq!(kept.tokens, fresh.tokens, "{}", texts[at]);
            assert_eq!(format!("{:?}", kept.statements), format!("{:?}", fresh.statements), "{}", texts[at]);
            assert_eq!(
                format!("{:?}", set.words_of(FileId(id))),
                format!("{:?}", switchback::lsp::roles::words(&fresh))
            );
        }
        *if switchback::diag::has_errors(&found) { &mut broken } else { &mut sound } += 1;
    }
    println!("incremental {edits} edits, {sound} of them leave a right set, {broken} do not");
    assert!(sound * 20 > edits && broken * 4 > edits, "{sound} right, {broken} wrong");
}
