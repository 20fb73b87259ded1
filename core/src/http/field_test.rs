use super::*;

#[test]
fn fields_keep_their_order_and_their_values() {
    let mut fields = Fields::new();
    fields.push(Token::ACCEPT, b"*/*");
    fields.push_named(b"x-own", b"1");
    fields.push_named(b"cookie", b"");
    fields.push_named(b"x-own", b"2");
    let seen: Vec<_> = fields
        .iter()
        .map(|field| (field.name, field.value))
        .collect();
    let expected: [(&[u8], &[u8]); 4] = [
        (b"accept", b"*/*"),
        (b"x-own", b"1"),
        (b"cookie", b""),
        (b"x-own", b"2"),
    ];
    assert_eq!(seen, expected);
    assert_eq!(fields.at(2).unwrap().token, Some(Token::COOKIE));
    assert_eq!(fields.at(4), None);
    assert_eq!(fields.get_named(b"x-own"), Some(&b"1"[..]), "the first");
    assert_eq!(fields.get(Token::HOST), None);
}

#[test]
fn the_size_counts_32_bytes_for_each_field() {
    let mut fields = Fields::new();
    assert_eq!(fields.size(), 0);
    fields.push(Token::TE, b"trailers");
    fields.push_named(b"x", b"");
    assert_eq!(fields.size(), (2 + 8 + 32) + (1 + 32));
    fields.clear();
    assert_eq!((fields.size(), fields.len()), (0, 0));
}

#[test]
fn sensitive_values_are_not_printed() {
    let mut fields = Fields::new();
    fields.push(Token::AUTHORIZATION, b"secret");
    fields.push(Token::ACCEPT, b"shown");
    fields.mark_sensitive(Token::AUTHORIZATION);
    let printed = format!("{fields:?}");
    assert!(
        !printed.contains("secret") && printed.contains("shown"),
        "{printed}"
    );
}

fn section(pairs: &[(&str, &str)]) -> Fields {
    pairs.iter().copied().collect()
}

#[test]
fn the_end_of_a_section_is_appended_as_it_stands_there() {
    let rest = [
        ("host", "a"),
        ("x-own", "1"),
        ("accept", ""),
        ("x-own", "2"),
    ];
    let known = section(&[&[(":method", "GET"), (":path", "/a")], &rest[..]].concat());
    for front in [&[(":method", "GET"), (":path", "/longer")][..], &[]] {
        let mut fields = section(front);
        fields.append_from(&known, 2);
        let whole = section(&[front, &rest[..]].concat());
        assert!(fields.is_twin_of(&whole));
        assert_eq!(fields.size(), whole.size());
        assert!(fields.ends_like(front.len(), &known, 2));
        fields.append_from(&known, 6);
        assert_eq!(fields.len(), whole.len(), "nothing is behind the end");
    }
}

#[test]
fn ends_are_alike_when_each_field_is() {
    let known = section(&[(":path", "/"), ("host", "a"), ("x-own", "1")]);
    let is_like = |pairs: &[(&str, &str)]| section(pairs).ends_like(0, &known, 1);
    assert!(is_like(&[("host", "a"), ("x-own", "1")]));
    for other in [
        &[][..],
        &[("host", "a")],
        &[("host", "a"), ("x-own", "2")],
        &[("host", "a"), ("x-ow", "n1")],
        &[("host", "a"), ("x-own1", "")],
        &[("x-own", "1"), ("host", "a")],
        &[("from", "a"), ("x-own", "1")],
        &[("host", "a"), ("x-own", "1"), ("x-own", "1")],
    ] {
        assert!(!is_like(other), "{other:?}");
    }
    let mut marked = section(&[("host", "a"), ("x-own", "1")]);
    marked.mark_sensitive(Token::HOST);
    assert!(!marked.ends_like(0, &known, 1));
    assert!(section(&[]).ends_like(0, &known, 3));
    assert!(!section(&[("host", "a")]).ends_like(0, &known, 3));
}
