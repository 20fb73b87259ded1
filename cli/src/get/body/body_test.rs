use super::*;

fn bytes(given: &[(Kind, &str)]) -> String {
    let given = given.iter().map(|(kind, text)| (*kind, (*text).to_owned()));
    let bytes = Data(given.collect()).bytes().expect("no file is missing");
    String::from_utf8(bytes.expect("there is data")).expect("text")
}

#[test]
fn parts_are_joined_by_an_ampersand_and_json_by_nothing() {
    assert_eq!(bytes(&[(Kind::Data, "a=1"), (Kind::Raw, "@b")]), "a=1&@b");
    assert_eq!(
        bytes(&[(Kind::Json, "{\"a\":"), (Kind::Json, "1}")]),
        "{\"a\":1}"
    );
    assert_eq!(bytes(&[(Kind::Data, ""), (Kind::Data, "b")]), "b");
    assert_eq!(Data::default().bytes().expect("no file"), None);
}

#[test]
fn a_value_is_percent_encoded_and_its_name_is_not() {
    for (given, expected) in [
        ("a b", "a+b"),
        ("=a=b", "a%3Db"),
        ("n m=a&b", "n m=a%26b"),
        ("x=\u{e4}~*-._", "x=%C3%A4~%2A-._"),
        ("x=", "x="),
    ] {
        assert_eq!(bytes(&[(Kind::Encoded, given)]), expected, "{given}");
    }
}

#[test]
fn a_file_is_read_with_its_line_breaks_or_without() {
    let path = std::env::temp_dir().join(format!("trunkline-data-{}", std::process::id()));
    std::fs::write(&path, "a\r\nb\n\0c").expect("written");
    let at = format!("@{}", path.display());
    assert_eq!(bytes(&[(Kind::Data, &at)]), "abc");
    assert_eq!(bytes(&[(Kind::Binary, &at)]), "a\r\nb\n\0c");
    assert_eq!(bytes(&[(Kind::Json, &at)]), "a\r\nb\n\0c");
    assert_eq!(
        bytes(&[(Kind::Encoded, &format!("n{at}"))]),
        "n=a%0D%0Ab%0A%00c"
    );
    std::fs::remove_file(&path).expect("it is there");
    let missing = Data(vec![(Kind::Data, at)])
        .bytes()
        .expect_err("it is gone");
    assert_eq!(missing.code(), 26);
}
