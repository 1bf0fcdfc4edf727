use crate::check::sample::found;

const RIGHT: &str = "provider right { api openai-chat; base-url \"http://127.0.0.1:2/v1\" }";
const FAR: &str = "provider left { api openai-chat; base-url \"http://example.com/v1\" }";

fn with(comment: &str) -> Vec<&'static str> {
    let provider = format!("{RIGHT}\n{comment}\n{FAR}");
    found(&[("provider", &provider)]).into_iter().map(|(code, _)| code).collect()
}

#[test]
fn a_reason_lets_a_warning_stand() {
    assert_eq!(with("# nothing to see"), ["SB1103"]);
    assert_eq!(with("# allow SB1103: the same rack"), [""; 0]);
    assert_eq!(with("# allow SB1103: the same rack\n\n# more on it"), [""; 0]);
}

#[test]
fn it_holds_for_the_next_statement_and_for_its_code_alone() {
    assert_eq!(with("# allow SB0612: another code"), ["SB0122", "SB1103"]);
    let provider = format!("# allow SB1103: of the wrong block\n{RIGHT}\n{FAR}");
    let codes: Vec<_> = found(&[("provider", &provider)]).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["SB0122", "SB1103"]);
}

#[test]
fn what_allows_nothing_or_for_no_reason_is_reported() {
    assert_eq!(with("# allow SB1103"), ["SB0121"]);
    assert_eq!(with("# allow SB1103:  "), ["SB0121"]);
    assert_eq!(with("# allow SB9876: no such code"), ["SB0122", "SB1103"]);
    assert_eq!(with("# allow cleartext-http: by name"), ["SB0122"]);
    assert_eq!(with("# allow larger requests: prose"), ["SB1103"]);
    assert_eq!(with("# Allow larger requests, all of them: prose"), ["SB1103"]);
    assert_eq!(with("# allow all: everything"), ["SB0122", "SB1103"]);
}

#[test]
fn spellings_of_one_meaning_are_one() {
    for comment in
        ["# Allow SB1103: reason", "# allow SB1103 - reason", "# allow SB1103 the same rack", "#allow SB1103: x"]
    {
        assert_eq!(with(comment), [""; 0], "{comment}");
    }
    assert_eq!(with("# allow SB1103 -"), ["SB0121"]);
}

#[test]
fn one_comment_allows_several_codes() {
    assert_eq!(with("# allow SB1103, SB1104: reason"), ["SB0122"], "one of them is not drawn");
    assert_eq!(with("# allow SB1103, SB1103: reason"), ["SB0122"], "twice");
    assert_eq!(with("# allow SB1104, SB1103"), ["SB0121", "SB0122"]);
}

#[test]
fn errors_stay() {
    let matrix = "# allow SB0501: it is fine\nmatrix simple { connect -> failover }";
    let codes: Vec<_> = found(&[("matrix", matrix)]).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["SB0122", "SB0501"]);
}

#[test]
fn with_errors_in_the_set_an_idle_comment_is_not_held_against_the_author() {
    let provider = format!("# allow SB0510: for later\n{RIGHT}\n{FAR}");
    let budget = "budget short { deadline 10; attempts 2 }";
    let codes: Vec<_> =
        found(&[("provider", &provider), ("budget", budget)]).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["SB1103", "SB0301"]);
}
