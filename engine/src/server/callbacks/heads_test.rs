use super::*;

fn head_spec(status: u16, version: Version) -> HeadSpec {
    HeadSpec {
        status,
        version,
        length: None,
        date: false,
    }
}

fn heads(alt_svc: Option<&str>) -> AnswerOptions {
    AnswerOptions {
        date: true,
        interim: false,
        datagrams: false,
        alt_svc: alt_svc.map(Into::into),
    }
}

fn printed(head: &ResponseHead) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    head.fields()
        .map(|field| (text(field.name), text(field.value)))
        .collect()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.into(), value.into())
}

#[test]
fn a_text_becomes_fields_in_its_order() {
    let text = b"content-type\0text/plain\0set-cookie\0a=1\0set-cookie\0b=2";
    let made = heads(None).make_head(Instant::now(), None, text, head_spec(200, Version::Http2));
    let made = made.expect("it is valid");
    assert_eq!(
        printed(&made),
        [
            pair("content-type", "text/plain"),
            pair("set-cookie", "a=1"),
            pair("set-cookie", "b=2"),
        ]
    );
}

#[test]
fn what_the_text_says_is_not_said_twice() {
    let text = b"date\0then\0content-length\x007\0alt-svc\0clear";
    let head_spec = HeadSpec {
        length: Some(7),
        date: true,
        ..head_spec(200, Version::Http2)
    };
    let made = heads(Some("h3=\":1\"")).make_head(Instant::now(), None, text, head_spec);
    assert_eq!(made.expect("it is valid").fields().len(), 3);
}

#[test]
fn fields_of_the_connection_stay_where_they_belong() {
    let text = b"connection\0close\0transfer-encoding\0chunked\0upgrade\0x";
    let now = Instant::now();
    let on_h2 = heads(None).make_head(now, None, text, head_spec(200, Version::Http2));
    assert_eq!(printed(&on_h2.expect("it is valid")), []);
    let on_h1 = heads(None).make_head(now, None, text, head_spec(200, Version::Http11));
    assert_eq!(
        printed(&on_h1.expect("it is valid")),
        [pair("connection", "close"), pair("upgrade", "x")]
    );
}

#[test]
fn a_sensitive_value_is_marked_and_its_name_is_clean() {
    let text = b"\x01set-cookie\0secret\0a\0b";
    let made = heads(None).make_head(Instant::now(), None, text, head_spec(200, Version::Http2));
    let made = made.expect("it is valid");
    let sensitive: Vec<bool> = made.fields().map(|field| field.sensitive).collect();
    assert_eq!(sensitive, [true, false]);
    assert_eq!(printed(&made)[0], pair("set-cookie", "secret"));
}

#[test]
fn a_value_that_would_split_the_message_is_refused() {
    for text in [&b"a\0b\r\nc: d"[..], b"A b\0c", b"a b\0c", b"a\0b\nc"] {
        let made =
            heads(None).make_head(Instant::now(), None, text, head_spec(200, Version::Http11));
        assert!(made.is_err(), "{text:?}");
    }
}

#[test]
fn http1_spells_names_and_says_a_reason_as_they_are_given_and_nobody_else_does() {
    let (heads, now) = (heads(None), Instant::now());
    let text = b"X-One\0Value\0connection\0close\0Content-Type\0text/plain";
    let made = heads.make_head(now, Some(b"Fine"), text, head_spec(200, Version::Http11));
    let made = made.expect("it is valid");
    let names: Vec<&[u8]> = made.section().spellings().collect();
    assert_eq!(names, [&b"X-One"[..], b"connection", b"Content-Type"]);
    assert_eq!(printed(&made)[0], pair("x-one", "Value"));
    assert_eq!(made.reason(), Some(&b"Fine"[..]));
    let other = heads.make_head(now, Some(b"Other"), text, head_spec(200, Version::Http11));
    assert_eq!(other.expect("it is valid").reason(), Some(&b"Other"[..]));
    let empty = heads.make_head(now, Some(b""), text, head_spec(200, Version::Http11));
    assert_eq!(empty.expect("it is valid").phrase(), b"");
    let usual = heads.make_head(now, None, text, head_spec(200, Version::Http11));
    assert_eq!(usual.expect("it is valid").phrase(), b"OK");
    let split = heads.make_head(
        now,
        Some(b"a\r\nb: c"),
        text,
        head_spec(200, Version::Http11),
    );
    assert_eq!(split.expect_err("it splits"), Violation::FieldValueInvalid);
    let made = heads.make_head(
        now,
        Some(b"Fine"),
        b"x-one\0Value",
        head_spec(200, Version::Http2),
    );
    let made = made.expect("it is valid");
    assert_eq!(
        (made.reason(), made.section().spellings().count()),
        (None, 0)
    );
}

/// Texts that come across from JavaScript, generated: no head that is made has a value that splits it.
#[test]
fn a_text_becomes_a_head_that_splits_no_message_or_is_refused() {
    let words: [&[u8]; 14] = [
        b"a",
        b"content-type",
        b"content-length",
        b"transfer-encoding",
        b"connection",
        b"\0",
        b"\0",
        b"\0",
        b"3",
        b"text/plain",
        b"\r\n",
        b"\x01",
        b" ",
        b"\xff",
    ];
    let mut state = 1_u64;
    let mut below = |end: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) as usize % end
    };
    let (heads, now) = (heads(None), Instant::now());
    let mut good = 0;
    for _ in 0..10_000 {
        let mut text = Vec::new();
        for _ in 0..below(9) {
            text.extend_from_slice(words[below(words.len())]);
        }
        let version = [Version::Http11, Version::Http2][below(2)];
        let head_spec = head_spec([200, 204, 304][below(3)], version);
        let made = heads.make_head(now, None, &text, head_spec);
        let no_control = |text: &str| !text.contains(['\r', '\n', '\0']);
        if let Ok(head) = &made {
            good += 1;
            assert!(
                printed(head)
                    .iter()
                    .all(|(name, value)| no_control(name) && no_control(value))
            );
        }
    }
    assert!(good > 100, "{good} texts are heads");
}
