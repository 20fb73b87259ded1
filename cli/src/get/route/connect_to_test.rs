use super::*;

#[test]
fn a_rule_has_four_parts_each_of_which_may_be_empty() {
    let rule = Rule::parse("A.example:443:[::1]:8443").unwrap();
    assert!(rule.is_for("a.example", 443) && !rule.is_for("a.example", 80));
    assert_eq!(
        (rule.to_host.as_deref(), rule.to_port),
        (Some("::1"), Some(8443))
    );
    let rule = Rule::parse("::b.example:").unwrap();
    assert!(rule.is_for("any", 1));
    assert_eq!(
        (rule.to_host.as_deref(), rule.to_port),
        (Some("b.example"), None)
    );
    let rule = Rule::parse("[::1]:::").unwrap();
    assert!(rule.is_for("::1", 1) && rule.to_host.is_none() && rule.to_port.is_none());
    for bad in ["a", "a:1:b", "a:x:b:1", "a:1:b:0", "a:1:b:2:c", "[a:1:b:2"] {
        assert!(Rule::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_rule_from_an_address_to_a_name_is_refused() {
    let apply = |line: &str| apply(trunkline::Client::builder(), &[line.to_owned()], Vec::new());
    assert!(apply("127.0.0.1:80:b.example:80").is_err());
    assert!(apply("127.0.0.1:80:127.0.0.2:81").is_ok());
}
