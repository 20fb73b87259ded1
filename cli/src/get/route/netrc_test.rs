use super::*;

const FILE: &str = "# machine a login no\nmachine a login ann password \"b c\\\"\\n\"\nmachine B\n  login bob\n  \
                    password pw\nmacdef init\nmachine c login no\n\nmachine a login eve password x\ndefault login any password one\n";

fn of(is_optional: bool) -> Netrc {
    Netrc {
        entries: entries(FILE),
        is_optional,
    }
}

#[test]
fn a_host_has_the_first_entry_that_names_it_and_its_user() {
    let given = |text: &str| Some(text.to_owned());
    for (host, url, expected) in [
        ("a", None, "ann:b c\"\n"),
        ("A", None, "ann:b c\"\n"),
        ("b", None, "bob:pw"),
        ("c", None, "any:one"),
        ("a", given("eve:"), "eve:x"),
        ("a", given("eve:other"), "eve:x"),
    ] {
        let found = of(false).credentials(host, url.clone());
        assert_eq!(found.as_deref(), Some(expected), "{host} {url:?}");
    }
    assert_eq!(of(true).credentials("a", given("u:p")), given("u:p"));
    assert_eq!(of(true).credentials("a", given("eve:")), given("eve:x"));
    assert_eq!(Netrc::default().credentials("a", None), None);
    assert_eq!(
        Netrc::default().credentials("a", given("u:p")),
        given("u:p")
    );
}
