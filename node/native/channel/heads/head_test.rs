use super::*;

fn sent(head: &RequestHead) -> (String, String, Vec<String>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let fields = head
        .fields()
        .map(|field| text(field.name) + "=" + &text(field.value));
    (
        text(head.scheme().unwrap_or_default()),
        text(head.path().unwrap_or_default()),
        fields.collect(),
    )
}

fn read(heads: &mut Heads, scheme: &'static str, text: &[u8]) -> (String, String, Vec<String>) {
    sent(&heads.read(scheme, text).expect("a valid head"))
}

#[test]
fn a_head_that_comes_again_is_the_same_and_one_that_differs_is_its_own() {
    let mut heads = Heads::default();
    let fresh = |scheme, text: &[u8]| read(&mut Heads::default(), scheme, text);
    let first: &[u8] = b"GET\0/\0a.test\0x-a\x001\0authorization\0secret";
    // One after the other: again, by another scheme, another value, another path, and back.
    let all: [(&'static str, &[u8]); 7] = [
        ("https", first),
        ("https", first),
        ("http", first),
        ("https", b"GET\0/\0a.test\0x-a\x002\0authorization\0secret"),
        ("https", b"GET\0/b\0a.test\0x-a\x001\0authorization\0secret"),
        ("https", first),
        ("https", b"GET\0/\0a.test"),
    ];
    for (scheme, text) in all.into_iter().cycle().take(7 * 70) {
        assert_eq!(read(&mut heads, scheme, text), fresh(scheme, text));
    }
}

#[test]
fn a_head_that_is_refused_is_refused_again_and_the_next_is_read() {
    let mut heads = Heads::default();
    let wrong: &[u8] = b"GET\0/\0a.test\0connection\0close";
    for _ in 0..3 {
        assert!(heads.read("https", wrong).is_err());
        assert_eq!(read(&mut heads, "https", b"GET\0/\0a.test").1, "/");
    }
}

#[test]
fn what_is_secret_stays_marked_in_a_head_that_comes_again() {
    let mut heads = Heads::default();
    for _ in 0..2 {
        let head = heads.read("https", b"GET\0/\0a.test\0authorization\0secret");
        let head = head.expect("a valid head");
        let field = head.fields().next().expect("the field");
        assert!(field.sensitive);
    }
}

#[test]
fn names_are_spelled_as_they_come_and_are_lower_case_for_everybody_else() {
    let mut heads = Heads::default();
    for text in [
        &b"GET\0/\0origin\0x-one\x001\0SOAPAction\0\"a\"\0X-Two\x002"[..],
        b"GET\0/\0origin\0X-One\x001\0soapaction\0\"a\"\0x-two\x002",
    ] {
        let head = heads.read("http", text).expect("a valid head");
        let names: Vec<_> = head.fields().map(|field| field.name.to_vec()).collect();
        assert_eq!(names, [&b"x-one"[..], b"soapaction", b"x-two"]);
        let given: Vec<_> = text.split(|&byte| byte == 0).skip(3).step_by(2).collect();
        assert_eq!(head.section().spellings().collect::<Vec<_>>(), given);
    }
    let lower = heads
        .read("http", b"GET\0/\0origin\0x-one\x001")
        .expect("a valid head");
    assert_eq!(lower.section().spellings().count(), 0);
    let leaving =
        leaving_head(b"GET\0/\0origin\0connection\0upgrade\0Upgrade\0websocket\0X-Own\x001")
            .expect("a valid head");
    let spelled = leaving.fields().zip(leaving.section().spellings());
    assert!(spelled.clone().count() >= 3);
    for (field, name) in spelled {
        assert!(field.name.eq_ignore_ascii_case(name), "{:?}", field.name);
    }
}
