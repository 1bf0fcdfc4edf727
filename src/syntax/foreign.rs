//! Texts of another language in the place of a policy.
//!
//! In: a text. Out: the name of the language, where all of it is of that one: JSON, YAML or TOML. One line of such a
//! language in a policy is a slip, and told where it stands.

/// The least number of lines that make a language of them.
const LEAST: usize = 2;

/// The language that a text is written in, if it is another one.
pub(super) fn language(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches('\u{FEFF}');
    // No statement of a policy begins with a bracket and a quote.
    let signs: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).take(2).collect();
    let is_json = |c: char| c.is_ascii_digit() || matches!(c, '"' | '{' | '[' | '}');
    if let [open @ ('{' | '['), next] = signs.as_slice()
        && is_json(*next)
        && !(*open == '[' && is_toml(text.trim_start().lines().next().unwrap_or("")))
    {
        return Some("JSON");
    }
    let mut counts = (0, 0, 0);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        // The edition above it makes no policy of the rest.
        if line.starts_with("switchback") {
            continue;
        }
        counts.0 += 1;
        counts.1 += usize::from(is_yaml(line));
        counts.2 += usize::from(is_toml(line));
        // Most texts are told by their first line.
        if counts.1 < counts.0 && counts.2 < counts.0 {
            return None;
        }
    }
    let (lines, yaml, toml) = counts;
    match lines {
        0..LEAST => None,
        _ if yaml == lines => Some("YAML"),
        _ if toml == lines => Some("TOML"),
        _ => None,
    }
}

/// `key:`, `key: value`, `- item`, `---`
fn is_yaml(line: &str) -> bool {
    if line == "---" || line == "..." || line == "-" || line.starts_with("- ") {
        return true;
    }
    let Some((key, rest)) = line.split_once(':') else { return false };
    is_key(key.trim_matches(['"', '\''])) && (rest.is_empty() || rest.starts_with(' '))
}

/// `[table]`, `key = value`, and what a list or table of several lines goes on with.
fn is_toml(line: &str) -> bool {
    let table = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    if let Some(name) = table {
        return is_key(name.trim_matches(['[', ']', ' ']));
    }
    line.split_once(" = ").or_else(|| line.split_once('=')).is_some_and(|(key, value)| {
        is_key(key.trim().trim_matches(['"', '\''])) && !value.starts_with('=') && !value.trim().is_empty()
    })
}

fn is_key(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '"');
    text.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '"')) && text.chars().all(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_another_language_is_told_by_all_of_its_lines() {
        for (text, told) in [
            ("{ \"providers\": [] }", Some("JSON")),
            ("[\n  { \"name\": \"a\" }\n]\n", Some("JSON")),
            ("{}", Some("JSON")),
            ("providers:\n  - name: a\n    key: env\n# more\n", Some("YAML")),
            ("---\nmodel: gpt\n", Some("YAML")),
            ("switchback: 1\nroutes:\n  chat:\n    tier: t\n", Some("YAML")),
            ("[provider.a]\napi = \"openai\"\n\n[[routes]]\nname = \"chat\"\n", Some("TOML")),
            ("switchback 1\nprovider a { api emulated }\n", None),
            ("switchback 1\nprovider: a {\n  api: emulated\n}\n", None),
            ("provider a {\n  api = emulated\n}\n", None),
            ("{ api emulated }", None),
            ("switchback 1\n", None),
            ("", None),
        ] {
            assert_eq!(language(text), told, "{text}");
        }
    }
}
