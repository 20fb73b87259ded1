use super::Expected;
use std::collections::BTreeSet;

fn failed(cases: &[&str]) -> BTreeSet<String> {
    cases.iter().map(ToString::to_string).collect()
}

#[test]
fn a_failure_without_a_reason_and_a_pass_with_one_are_surprises() {
    let expected =
        Expected::parse("[h2spec]\n\"http2/6.9/1\" = \"RFC 9113 section 6.9 says so\"\n")
            .expect("parses");
    let same = failed(&["http2/6.9/1"]);
    assert_eq!(expected.compare("h2spec", &same), Vec::<String>::new());
    assert_eq!(expected.argued("h2spec", &same), 1);
    assert_eq!(
        expected.compare("h2spec", &failed(&["http2/6.9/1", "x"])),
        ["'x' fails"]
    );
    assert_eq!(expected.compare("h2spec", &failed(&[])).len(), 1);
    assert_eq!(expected.compare("httpwg", &same), ["'http2/6.9/1' fails"]);
}

#[test]
fn a_reason_without_a_section_is_refused() {
    let why = Expected::parse("[httpwg]\n\"x\" = \"we do not care\"\n").expect_err("refused");
    assert!(why.contains("'x'"), "{why}");
}
