//! "Did you mean": the closest known word.

/// The closest of `known` to `word`, if it is close enough to be worth saying.
pub fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let limit = (length / 3).max(1);
    known
        .into_iter()
        // No distance is shorter than what one of them is longer by.
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= limit)
        // Nor than how many characters of one are not in the other, and that is found sooner.
        .filter(|candidate| foreign(word, candidate) <= limit)
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many characters of a word have no counterpart in another.
fn foreign(word: &str, other: &str) -> usize {
    let mut left: Vec<char> = other.chars().collect();
    let has_none = |c: char| left.iter().position(|other| *other == c).map(|at| left.swap_remove(at)).is_none();
    word.chars().map(has_none).filter(|none| *none).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left out before the distance is asked for was never close.
    #[test]
    fn nothing_close_is_left_out() {
        let words = [
            "a", "b", "ab", "ba", "abc", "acb", "cab", "timeout", "timeuot", "time-out", "tmieuot", "t-11", "tt-1", "é",
        ];
        for word in words {
            let limit = (word.chars().count() / 3).max(1);
            let near = words.map(|other| (strsim::damerau_levenshtein(word, other), other));
            for (distance, other) in near {
                assert!(foreign(word, other) <= distance, "{word} {other}");
                assert_eq!(closest(word, [other]).is_some(), distance <= limit, "{word} {other}");
            }
        }
    }
}
