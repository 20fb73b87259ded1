use super::resolve;

#[test]
fn an_address_is_given_for_host_and_port() {
    for (line, host, address) in [
        ("a.test:443:127.0.0.1", "a.test", "127.0.0.1:443"),
        ("a.test:80:[::1]", "a.test", "[::1]:80"),
        ("a.test:80:::1", "a.test", "[::1]:80"),
    ] {
        let (got_host, got_address) = resolve(line).expect(line);
        assert_eq!(
            (got_host, got_address.to_string()),
            (host, address.to_owned())
        );
    }
}

#[test]
fn what_is_not_an_address_is_refused_with_the_form() {
    for line in [
        "",
        "a.test",
        "a.test:443",
        ":443:127.0.0.1",
        "a:0:127.0.0.1",
        "a:443:b",
    ] {
        let text = resolve(line).expect_err(line).to_string();
        assert!(text.contains("host:port:address"), "{text}");
    }
}
