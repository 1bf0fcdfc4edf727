//! `switchback explain`: what a diagnostic code or a word of the language means.

use super::{Exit, Io};
use crate::diag::{Code, closest};
use crate::policy::class::{Class, Refusal, Scope, Stage, Verb};
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
    let parts: Vec<String> = settings::explain(&lower).into_iter().chain(vocabulary(&lower)).collect();
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
    if let Some(stage) = Stage::from_word(word) {
        parts.push(format!("{stage} (a stage: how far an attempt had come)\n\nIt means that {}.", stage.meaning()));
    }
    if let Some(scope) = Scope::from_word(word) {
        parts.push(format!("{scope} (a scope: how wide a failure is)\n\nIt is about {}.", scope.meaning()));
    }
    parts
}

fn explain_class(class: Class) -> String {
    let (never, may): (Vec<Verb>, Vec<Verb>) = Verb::ALL.iter().partition(|verb| class.forbids(**verb));
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
    text
}

/// All words that can be asked for, names of codes among them.
fn known() -> Vec<&'static str> {
    let mut words = settings::words();
    words.extend(Class::ALL.iter().map(|class| class.word()));
    words.extend(Refusal::ALL.iter().map(|refusal| refusal.word()));
    words.extend(Verb::ALL.iter().map(|verb| verb.word()));
    words.extend(Stage::ALL.iter().map(|stage| stage.word()));
    words.extend(Scope::ALL.iter().map(|scope| scope.word()));
    words.extend(Code::ALL.iter().map(|code| code.entry().name));
    words
}
