use super::bypass::Bypass;

fn matches(list: &str, host: &str, port: u16) -> bool {
    Bypass::parse("no_proxy", list).unwrap().matches(host, port)
}

#[test]
fn an_entry_matches_what_its_form_says() {
    let table = [
        ("nothing is listed", "", "a.test", false),
        ("every host", "*", "a.test", true),
        ("every host, an address", "*", "::1", true),
        ("the name", "a.test", "a.test", true),
        ("the name in capitals", "A.Test", "a.test", true),
        ("a name below it", "a.test", "b.a.test", true),
        ("a name that only ends alike", "a.test", "xa.test", false),
        ("a name above it", "b.a.test", "a.test", false),
        ("the last dot of a full name", "a.test", "a.test.", true),
        ("only below", ".a.test", "b.a.test", true),
        ("only below, not itself", ".a.test", "a.test", false),
        ("only below, with a star", "*.a.test", "c.b.a.test", true),
        (
            "only below, with a star, not itself",
            "*.a.test",
            "a.test",
            false,
        ),
        ("an address", "192.0.2.1", "192.0.2.1", true),
        ("another address", "192.0.2.1", "192.0.2.10", false),
        (
            "an address is not a name's end",
            "0.2.1",
            "192.0.2.1",
            false,
        ),
        ("an IPv6 address", "::1", "::1", true),
        ("one spelt otherwise", "0:0:0::1", "::1", true),
        ("one in brackets", "[::1]", "::1", true),
        ("a network", "10.0.0.0/8", "10.255.0.1", true),
        ("outside a network", "10.0.0.0/8", "11.0.0.1", false),
        ("a network with host bits", "10.1.2.3/8", "10.9.9.9", true),
        ("an IPv6 network", "fd00::/8", "fd12::1", true),
        ("a network of the other family", "::/0", "10.0.0.1", false),
        ("a network matches no name", "0.0.0.0/0", "a.test", false),
        ("the second of a list", "b.test, a.test", "a.test", true),
        ("a list by spaces", "b.test a.test", "a.test", true),
        ("empty entries", ",, ,a.test,", "a.test", true),
    ];
    for (sentence, list, host, expected) in table {
        assert_eq!(matches(list, host, 443), expected, "{sentence}: {list:?}");
    }
}

#[test]
fn a_port_restricts_an_entry() {
    for (list, host) in [
        ("a.test:8080", "a.test"),
        ("*:8080", "a.test"),
        ("[::1]:8080", "::1"),
        ("192.0.2.1:8080", "192.0.2.1"),
    ] {
        assert!(matches(list, host, 8080), "{list}");
        assert!(!matches(list, host, 443), "{list}");
    }
}

#[test]
fn an_entry_that_means_nothing_is_refused() {
    for entry in [
        "10.0.0.0/33",
        "a.test:0",
        "a.test:x",
        "a/b",
        ".",
        "*a",
        "http://a.test",
        "[::1",
    ] {
        let error = Bypass::parse("NO_PROXY", &format!("b.test,{entry}")).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("NO_PROXY: "), "{text}");
        assert!(text.contains(&format!("{entry:?}")), "{text}");
    }
}
