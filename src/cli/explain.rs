//! `switchback explain`: what a diagnostic code or a word of the language means.

use super::{Exit, Io};
use crate::diag::{Code, closest};
use crate::lsp::complete::{EARLY_FACT, EXPECTATIONS};
use crate::lsp::facts;
use crate::policy::class::{Class, Refusal, Scope, Stage, Verb};
use crate::policy::contract::Pattern;
use crate::syntax::settings;

/// Arguments of `explain`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:\n  switchback explain SB0101\n  switchback explain rate-limit")]
pub struct Args {
    /// A code (SB0101), its name (unclosed-bracket), or a word of the language (reserve, rate-limit, failover)
    #[arg(value_name = "CODE|WORD")]
    word: String,
}

/// Explains one word.
pub fn run(args: &Args, io: &mut Io) -> Exit {
    let word = args.word.trim();
    if let Some(code) = Code::find(word) {
        io.print(code.entry().page);
        return Exit::Clean;
    }
    let lower = word.to_lowercase();
    let mut parts: Vec<String> = settings::explain(&lower).into_iter().chain(vocabulary(&lower)).collect();
    if vocabulary(&lower).is_empty() {
        parts.extend(settings::explain_early(&lower));
    }
    if parts.is_empty() {
        parts.extend(Some(settings::explain_part(&lower)).filter(|text| !text.is_empty()));
    }
    if !parts.is_empty() {
        let text: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
        io.print(&format!("{}\n", text.join("\n\n")));
        return Exit::Clean;
    }
    let known = known();
    // Codes are all alike: a near one is a guess, a near word is a slip.
    let hint = closest(&lower, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
    let hint = hint.unwrap_or_else(|| "; codes look like SB0101, words like `deadline` or `rate-limit`".to_owned());
    io.say(&format!("error: `{word}` is neither a code nor a word of the language{hint}"));
    Exit::Failed
}

/// What the words of failure mean; a word may be of several kinds.
fn vocabulary(word: &str) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(class) = Class::from_word(word) {
        parts.push(explain_class(class));
    }
    if let Some(refusal) = Refusal::from_word(word) {
        parts.push(format!(
            "{refusal} (a refusal of the gateway's own)\n\nThe request is refused: {}.",
            refusal.meaning()
        ));
    }
    if let Some(verb) = Verb::from_word(word) {
        parts.push(explain_verb(verb));
    }
    if word.contains('*') {
        let covers = Class::ALL.iter().filter(|class| Pattern(word.to_owned()).matches(class.word()));
        let lines: String = covers.map(|class| format!("\n  {:19}  {}", class.word(), class.meaning())).collect();
        if !lines.is_empty() {
            parts.push(format!("{word} (a pattern of failure classes)\n{lines}"));
        }
    }
    if let Some((form, what)) = EXPECTATIONS.iter().find(|(form, _)| form.split(' ').next() == Some(word)) {
        parts.push(format!("{word} (an expectation of a test)\n\nexpect {form} …: {what}."));
    }
    if let Some(fact) = facts::find(word) {
        let early = "\nNot in effect yet: a policy that reads it is refused.";
        let early = if word == EARLY_FACT { early } else { "" };
        parts.push(format!("{word} (a fact that guards read)\n\n{}{early}", fact.meaning));
    }
    if let Some((_, text)) = GRAMMAR.iter().find(|(known, _)| *known == word) {
        parts.push((*text).to_owned());
    }
    if let Some(stage) = Stage::from_word(word) {
        parts.push(format!("{stage} (a stage: how far an attempt had come)\n\nIt means that {}.", stage.meaning()));
    }
    if let Some(scope) = Scope::from_word(word) {
        parts.push(format!("{scope} (a scope: how wide a failure is)\n\nIt is about {}.", scope.meaning()));
    }
    parts
}

fn explain_class(class: Class) -> String {
    let in_effect = Verb::ALL.iter().filter(|verb| !verb.is_later());
    let (never, may): (Vec<Verb>, Vec<Verb>) = in_effect.partition(|verb| class.forbids(**verb));
    let list = |verbs: &[Verb]| verbs.iter().map(|verb| verb.word()).collect::<Vec<_>>().join(", ");
    let mut text = format!("{class} (a failure class)\n\nAn attempt failed: {}.\n", class.meaning());
    text.push_str(&format!("A matrix row may answer it with: {}\n", list(&may)));
    if !never.is_empty() {
        text.push_str(&format!("Never with: {}\n", list(&never)));
    }
    text.push_str(&format!("A `stop` on it tells the client {} unless the row names a status.", class.client_status()));
    text
}

fn explain_verb(verb: Verb) -> String {
    let never: Vec<&str> = Class::ALL.iter().filter(|class| class.forbids(verb)).map(|class| class.word()).collect();
    let mut text = format!("{verb} (an action of a matrix)\n\nWhat is done after a failure: {}.", verb.meaning());
    if !never.is_empty() {
        text.push_str(&format!("\nNever on: {}", never.join(", ")));
    }
    if verb.is_later() {
        text.push_str("\nNot in effect yet: a policy that has this action is refused.");
    }
    text
}

/// Words that are no block, setting or value.
const GRAMMAR: [(&str, &str); 6] = [
    (
        "allow",
        "# allow SB0612: REASON (a comment)\n\nSilences a warning or advice, by its code, on the statement below it. It needs a \
         reason, and one that\nsilences nothing is a warning of its own. An error cannot be silenced.",
    ),
    (
        "switchback",
        "switchback 1 (the edition)\n\nThe first line of each file. It fixes what the words of the file mean for ever.",
    ),
    (
        "when",
        "when GUARD (in a chain, a matrix row, `match`)\n\nHolds for some requests only: facts compared by == != < <= > >= in, \
         joined by and, or, not, ( ).\nIn `trip`, `slow` and `rollback` it is followed by one measure.",
    ),
    ("env", "env NAME (a reference)\n\nThe value of an environment variable, looked up when the set is served."),
    ("file", "file \"PATH\" (a reference)\n\nThe text of a file, looked up when the set is served."),
    ("as", "as STATUS (after `stop`)\n\nThe HTTP status that the client is told."),
];

/// All words that can be asked for, names of codes among them.
fn known() -> Vec<&'static str> {
    let mut words = settings::words();
    words.extend(Class::ALL.iter().map(|class| class.word()));
    words.extend(Refusal::ALL.iter().map(|refusal| refusal.word()));
    words.extend(Verb::ALL.iter().map(|verb| verb.word()));
    words.extend(Stage::ALL.iter().map(|stage| stage.word()));
    words.extend(Scope::ALL.iter().map(|scope| scope.word()));
    words.extend(facts::FACTS.iter().map(|fact| fact.word));
    words.extend(EXPECTATIONS.iter().filter_map(|(form, _)| form.split(' ').next()));
    words.extend(settings::EARLY.iter().map(|row| row.word));
    words.extend(GRAMMAR.iter().map(|(word, _)| *word));
    words.extend(Code::ALL.iter().map(|code| code.entry().name));
    words
}
