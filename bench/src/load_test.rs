use super::{parse, parse_ours, parts};

const PRINTED: &str = "\
finished in 40.23ms, 497130.90 req/s, 506.87MB/s
requests: 20000 total, 20000 started, 20000 done, 20000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 20000 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 20.39MB (21382160) total, 527.73KB (540400) headers (space savings 27.95%), 19.53MB (20480000) data
";

#[test]
fn the_rate_counts_when_every_request_was_answered() {
    assert_eq!(parse(PRINTED, 20_000, 20_480_000), Ok(497_130.90));
}

#[test]
fn a_missing_answer_is_an_error_that_quotes_the_generator() {
    let error = parse(PRINTED, 20_001, 20_480_000).unwrap_err();
    assert!(error.contains("20000 2xx"), "{error}");
    assert!(parse("nothing", 1, 1).is_err());
}

#[test]
fn answers_of_another_length_are_an_error_that_says_both() {
    let error = parse(PRINTED, 20_000, 20_480_001).unwrap_err();
    assert!(
        error.contains("20480000") && error.contains("20480001"),
        "{error}"
    );
    let printed = r#"{ "statuses": { "2xx": 2 }, "body_bytes": 7, "requests_per_s": 1.0 }"#;
    let error = parse_ours(printed, 2, 8).unwrap_err();
    assert!(error.contains('7') && error.contains('8'), "{error}");
}

#[test]
fn our_own_json_counts_only_when_every_request_was_answered() {
    let printed =
        r#"{ "statuses": { "2xx": 20 }, "failed": {}, "body_bytes": 40, "requests_per_s": 12.5 }"#;
    assert_eq!(parse_ours(printed, 20, 40), Ok(12.5));
    let error = parse_ours(printed, 21, 40).unwrap_err();
    assert!(error.contains("not all of 21"), "{error}");
    assert!(parse_ours(r#"{ "statuses": { "2xx": 1 } }"#, 1, 0).is_err());
    assert!(parse_ours("nothing", 1, 0).is_err());
}

#[test]
fn the_last_part_of_a_load_has_a_request_for_each_connection() {
    assert_eq!(parts(1000, 1000, 50), [1000]);
    assert_eq!(parts(1000, 400, 50), [400, 400, 200]);
    // More are sent than were asked for, and count.
    assert_eq!(parts(810, 400, 50), [400, 400, 50]);
    assert_eq!(parts(3, 400, 50), [50]);
}
