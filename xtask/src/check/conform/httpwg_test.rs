use super::parse;

#[test]
fn failures_are_named_and_those_without_a_name_are_counted() {
    let suite = parse(
        "\u{1b}[32mx\u{1b}[0m Test passed: A\nx Test failed: RFC 9113 :: 8 :: host\nx Passed \u{1b}[1;32m105/107\u{1b}[0m tests in \u{1b}[1m0.3\u{1b}[0m seconds\n",
    )
    .expect("a summary");
    assert_eq!((suite.passed, suite.total), (105, 107));
    let failed: Vec<&str> = suite.failed.iter().map(String::as_str).collect();
    assert_eq!(failed, ["RFC 9113 :: 8 :: host", "unnamed 1"]);
    assert!(parse("nothing").is_none());
}
