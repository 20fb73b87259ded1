use super::*;

#[test]
fn a_host_that_is_not_there_is_distinguished_from_a_resolver_that_does_not_answer() {
    let kind = |text: &str| {
        let text = format!("failed to lookup address information: {text}");
        let found = with_kind(io::Error::other(text.clone()));
        assert_eq!(found.to_string(), text, "the words stay");
        found.kind()
    };
    for value in [
        "Name or service not known",
        "No address associated with hostname",
        "Name does not resolve",
    ] {
        assert_eq!(kind(value), io::ErrorKind::NotFound, "{value}");
    }
    for value in ["Temporary failure in name resolution", "Try again"] {
        assert_eq!(kind(value), io::ErrorKind::Other, "{value}");
    }
}
