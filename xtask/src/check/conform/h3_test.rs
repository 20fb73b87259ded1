use super::parse;

#[test]
fn the_count_and_the_failures_are_read() {
    let printed = "HTTP/3 conformance: 2 of 3\n\nnot ok rfc9114_4_1.a_case: Broken: 0x105 is due\n";
    let suite = parse(printed).unwrap();
    assert_eq!((suite.passed, suite.total), (2, 3));
    assert_eq!(
        suite.failed.into_iter().collect::<Vec<_>>(),
        ["rfc9114_4_1.a_case"]
    );
}

#[test]
fn a_run_that_says_no_count_is_none() {
    assert!(parse("skipped: python3 is not installed").is_none());
}
