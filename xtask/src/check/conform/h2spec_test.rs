use super::parse;

#[test]
fn cases_are_numbered_within_their_section() {
    let suite = parse(
        r#"<testsuites>
  <testsuite name="5.1.1" package="http2/5.1.1" tests="2" errors="0">
    <testcase package="http2/5.1.1" classname="even" time="0.1"></testcase>
    <testcase package="http2/5.1.1" classname="smaller" time="1.0">
      <error>GOAWAY Frame
Connection closed</error>
    </testcase>
  </testsuite>
  <testsuite name="5.1.2" package="http2/5.1.2">
    <testcase package="http2/5.1.2" classname="limit"></testcase>
  </testsuite>
</testsuites>"#,
    );
    assert_eq!((suite.passed, suite.total), (2, 3));
    assert!(suite.failed.contains("http2/5.1.1/2"), "{:?}", suite.failed);
}
