//! Reads Rust text as far as the layout rules need it: which paths does a file name, and how long is it without tests?
//!
//! In: the text of one file. Out: its paths, use trees flattened, and its length. Comments, literals and items under
//! `#[cfg(test)]` are left out. Knows no macros: what a macro writes is not seen.

/// A path that a file names.
#[derive(Debug)]
pub struct Named {
    /// Its line, from 1.
    pub line: usize,
    /// Its segments as written, `crate` and `super` included; `*` ends a glob.
    pub segments: Vec<String>,
    /// Whether it begins with `::`.
    pub absolute: bool,
    /// The inline modules around it, outermost first.
    pub inside: Vec<String>,
}

/// What the rules look at in one file.
#[derive(Debug)]
pub struct Read {
    pub paths: Vec<Named>,
    /// Modules that the file declares: their names hide crates of the same name.
    pub modules: Vec<String>,
    /// Lines that are not part of a test item.
    pub lines: usize,
}

/// Reads a file.
pub fn read(text: &str) -> Read {
    let tokens = tokens(&blank(text));
    let (tokens, test_lines) = without_tests(&tokens);
    let (paths, modules) = paths(&tokens);
    Read { paths, modules, lines: text.lines().count().saturating_sub(test_lines) }
}

struct Token {
    line: usize,
    text: String,
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The text with comments and literals turned into spaces; line breaks stay.
fn blank(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    while i < chars.len() {
        let end = literal_end(&chars, i);
        if end == i {
            out.push(at(i));
            i += 1;
        } else {
            out.extend((i..end.min(chars.len())).map(|k| if at(k) == '\n' { '\n' } else { ' ' }));
            i = end;
        }
    }
    out
}

/// Where the comment or literal that begins at `i` ends; `i` where none begins.
fn literal_end(chars: &[char], i: usize) -> usize {
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let find = |from: usize, what: &dyn Fn(usize) -> bool| (from..chars.len()).find(|k| what(*k));
    match (at(i), at(i + 1)) {
        ('/', '/') => find(i, &|k| at(k) == '\n').unwrap_or(chars.len()),
        ('/', '*') => {
            let (mut depth, mut k) = (1, i + 2);
            while depth > 0 && k < chars.len() {
                match (at(k), at(k + 1)) {
                    ('/', '*') => (depth, k) = (depth + 1, k + 2),
                    ('*', '/') => (depth, k) = (depth - 1, k + 2),
                    _ => k += 1,
                }
            }
            k
        }
        ('"', _) => {
            let mut k = i + 1;
            while k < chars.len() && at(k) != '"' {
                k += if at(k) == '\\' { 2 } else { 1 };
            }
            k + 1
        }
        ('r', '"' | '#') if i == 0 || !is_word(at(i - 1)) || matches!(at(i - 1), 'b' | 'c') => {
            let hashes = chars[i + 1..].iter().take_while(|c| **c == '#').count();
            if at(i + 1 + hashes) != '"' {
                return i;
            }
            let closes = |k: usize| at(k) == '"' && (1..=hashes).all(|h| at(k + h) == '#');
            find(i + 2 + hashes, &closes).map_or(chars.len(), |k| k + 1 + hashes)
        }
        ('\'', '\\') => find(i + 3, &|k| at(k) == '\'').map_or(chars.len(), |k| k + 1),
        ('\'', _) if at(i + 2) == '\'' => i + 3,
        _ => i,
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let word: usize = rest.chars().take_while(|c| is_word(*c)).map(char::len_utf8).sum();
            let length = if word > 0 {
                word
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            if !first.is_whitespace() {
                out.push(Token { line: n + 1, text: rest[..length].to_string() });
            }
            rest = &rest[length..];
        }
    }
    out
}

/// The tokens outside of test items, and how many lines those items take.
fn without_tests(tokens: &[Token]) -> (Vec<&Token>, usize) {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let (mut i, mut lines) = (0, 0);
    while i < tokens.len() {
        if !tokens[i..].iter().take(MARK.len()).map(|t| t.text.as_str()).eq(MARK) {
            kept.push(&tokens[i]);
            i += 1;
            continue;
        }
        let first = tokens[i].line;
        let (mut depth, mut last) = (0i32, first);
        i += MARK.len();
        while i < tokens.len() {
            let text = tokens[i].text.as_str();
            last = tokens[i].line;
            i += 1;
            match text {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth -= 1,
                _ => {}
            }
            if depth == 0 && (text == ";" || text == "}") {
                break;
            }
        }
        lines += last - first + 1;
    }
    (kept, lines)
}

fn paths(tokens: &[&Token]) -> (Vec<Named>, Vec<String>) {
    let text = |i: usize| tokens.get(i).map_or("", |t| t.text.as_str());
    let word = |i: usize| text(i).chars().next().is_some_and(|c| is_word(c) && !c.is_ascii_digit());
    let (mut found, mut modules, mut braces) = (Vec::new(), Vec::new(), Vec::<Option<String>>::new());
    let mut i = 0;
    while i < tokens.len() {
        let inside: Vec<String> = braces.iter().flatten().cloned().collect();
        let line = tokens[i].line;
        match text(i) {
            "mod" if word(i + 1) => {
                modules.push(text(i + 1).to_string());
                if text(i + 2) == "{" {
                    braces.push(Some(text(i + 1).to_string()));
                    i += 3;
                } else {
                    i += 2;
                }
            }
            "{" => {
                braces.push(None);
                i += 1;
            }
            "}" => {
                braces.pop();
                i += 1;
            }
            "use" if text(i + 1) != "<" => {
                let absolute = text(i + 1) == "::";
                let mut flat = Vec::new();
                i = use_tree(tokens, i + 1, &[], &mut flat);
                found.extend(flat.into_iter().map(|(line, segments)| Named {
                    line,
                    segments,
                    absolute,
                    inside: inside.clone(),
                }));
            }
            _ if word(i) || text(i) == "::" => {
                let absolute = text(i) == "::";
                i += usize::from(absolute);
                let mut segments = Vec::new();
                while word(i) {
                    segments.push(text(i).to_string());
                    i += 1;
                    if text(i) != "::" || !word(i + 1) {
                        break;
                    }
                    i += 1;
                }
                if segments.len() > 1 {
                    found.push(Named { line, segments, absolute, inside });
                }
            }
            _ => i += 1,
        }
    }
    (found, modules)
}

/// Flattens the use tree at `i`; returns where it ends.
fn use_tree(tokens: &[&Token], mut i: usize, prefix: &[String], out: &mut Vec<(usize, Vec<String>)>) -> usize {
    let mut path = prefix.to_vec();
    let line = tokens.get(i).map_or(0, |t| t.line);
    while let Some(token) = tokens.get(i) {
        match token.text.as_str() {
            "::" => i += 1,
            "as" => i += 2,
            "{" => {
                i += 1;
                while tokens.get(i).is_some_and(|t| t.text != "}") {
                    i = use_tree(tokens, i, &path, out);
                    i += usize::from(tokens.get(i).is_some_and(|t| t.text == ","));
                }
                return i + 1;
            }
            "," | "}" | ";" => break,
            segment => {
                path.push(segment.to_string());
                i += 1;
            }
        }
    }
    out.push((line, path));
    i
}
