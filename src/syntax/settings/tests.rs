use super::*;

#[test]
fn every_block_has_one_row_and_no_word_stands_twice_in_a_block() {
    for row in BLOCKS {
        assert_eq!(row.block.row().word, row.word);
        assert_eq!(BLOCKS.iter().filter(|other| other.word == row.word).count(), 1, "{}", row.word);
        let words: Vec<_> = settings_of(row.block).map(|s| s.word).collect();
        let mut once = words.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), words.len(), "{}", row.word);
    }
}

#[test]
fn a_block_that_is_not_in_effect_has_no_setting_that_is() {
    for row in BLOCKS.iter().filter(|row| row.status == Later) {
        assert!(settings_of(row.block).all(|s| s.status == Later), "{}", row.word);
    }
}

#[test]
fn explain_says_what_a_word_takes_and_whether_it_has_an_effect() {
    let deadline = explain("deadline").unwrap();
    assert!(deadline.contains("in budget") && deadline.contains("Required."), "{deadline}");
    let early = explain("tokenizer").unwrap();
    assert!(early.contains("Not in effect yet"), "{early}");
    let matrix = explain("matrix").unwrap();
    assert!(matrix.contains("in route") && matrix.contains("in defaults"), "{matrix}");
    assert!(explain("api").unwrap().contains("azure-openai"));
    assert!(explain("azure-openai").unwrap().contains("a value of api in a provider (not in effect yet)"));
    assert_eq!(explain("nonsense"), None);
}

#[test]
fn a_word_knows_its_blocks() {
    assert_eq!(blocks_with("deadline"), [Block::Budget]);
    assert_eq!(blocks_with("serves"), [Block::Route]);
    assert!(blocks_with("nonsense").is_empty());
}

#[test]
fn the_rows_are_in_the_order_of_the_blocks() {
    assert!(SETTINGS.is_sorted_by_key(|setting| setting.block));
    for row in BLOCKS {
        let rows = SETTINGS.iter().filter(|setting| setting.block == row.block).map(|setting| setting.word);
        assert!(settings_of(row.block).map(|setting| setting.word).eq(rows), "{}", row.word);
    }
}
