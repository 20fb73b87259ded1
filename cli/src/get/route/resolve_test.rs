use super::*;

fn addresses(lines: &[&str], host: &str, port: u16) -> Option<Vec<String>> {
    let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let found = pinned(&pins(&lines).expect("they are read"), host, port)?;
    Some(found.iter().map(ToString::to_string).collect())
}

#[test]
fn addresses_are_given_for_host_and_port() {
    for (line, expected) in [
        ("a.test:443:127.0.0.1", &["127.0.0.1:443"][..]),
        ("+A.test:443:127.0.0.1", &["127.0.0.1:443"]),
        ("*:443:127.0.0.1", &["127.0.0.1:443"]),
        ("a.test:443:[::1]", &["[::1]:443"]),
        ("a.test:443:::1", &["[::1]:443"]),
        (
            "a.test:443:127.0.0.2,[::1],127.0.0.1",
            &["127.0.0.2:443", "[::1]:443", "127.0.0.1:443"],
        ),
    ] {
        let found = addresses(&[line], "a.test", 443).expect(line);
        assert_eq!(found, expected, "{line}");
        assert_eq!(addresses(&[line], "a.test", 80), None, "{line}");
    }
}

#[test]
fn a_later_entry_takes_the_place_of_an_earlier_one() {
    let found = |lines: &[&str]| addresses(lines, "a.test", 80).unwrap_or_default().concat();
    let (first, second) = ("a.test:80:127.0.0.1", "a.test:80:127.0.0.2");
    assert_eq!(found(&[first, second]), "127.0.0.2:80");
    assert_eq!(found(&[first, "-a.test:80"]), "");
    assert_eq!(found(&[first, "-a.test:81"]), "127.0.0.1:80");
    assert_eq!(found(&["*:80:127.0.0.3", first]), "127.0.0.1:80");
    assert_eq!(
        found(&["*:80:127.0.0.3", first, "-a.test:80"]),
        "127.0.0.3:80"
    );
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
        "a:443:127.0.0.1,",
        "-a",
    ] {
        let text = pins(&[line.to_owned()]).expect_err(line).to_string();
        assert!(text.contains("host:port:address"), "{text}");
    }
}
