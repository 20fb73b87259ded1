use super::admission::STAYS;
use super::*;
use crate::http::{Fields, Token};

fn head(path: &str) -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, b"GET");
    fields.push(Token::SCHEME, b"https");
    fields.push(Token::AUTHORITY, b"example.com");
    fields.push(Token::PATH, path.as_bytes());
    fields.push(Token::USER_AGENT, b"a test");
    RequestHead::from_fields(fields, Version::Http2).expect("a valid head")
}

/// As a machine does with a head that is not the last one.
fn keep_if_due(last: &mut LastHead, bytes: &[u8], path: &str) {
    if last.is_due() {
        last.keep(bytes, 0, &head(path), Version::Http2);
    }
}

fn path_of(last: &mut LastHead, bytes: &[u8], stamp: u64) -> Option<String> {
    let known = last.find(bytes, stamp)?;
    assert_eq!(known.version(), Version::Http2);
    let head = known.again(None);
    assert_eq!(head.get(Token::USER_AGENT), Some(&b"a test"[..]));
    Some(String::from_utf8_lossy(head.path().unwrap_or_default()).into_owned())
}

#[test]
fn the_same_bytes_under_the_same_stamp_are_the_same_head() {
    let mut last = LastHead::default();
    assert_eq!(path_of(&mut last, b"", 0), None, "nothing is known");
    last.keep(b"one", 7, &head("/one"), Version::Http2);
    assert_eq!(path_of(&mut last, b"one", 7).as_deref(), Some("/one"));
    assert_eq!(path_of(&mut last, b"one", 8), None, "another stamp");
    assert_eq!(path_of(&mut last, b"on", 7), None, "fewer bytes");
    assert_eq!(path_of(&mut last, b"one!", 7), None, "more bytes");
    last.release();
    assert_eq!(path_of(&mut last, b"one", 7), None, "it was given back");
    assert_eq!(last.len(), 0);
}

#[test]
fn a_head_that_comes_again_stays_while_a_few_others_pass() {
    let mut last = LastHead::default();
    last.keep(b"one", 0, &head("/one"), Version::Http2);
    assert!(path_of(&mut last, b"one", 0).is_some());
    for _ in 0..STAYS {
        keep_if_due(&mut last, b"two", "/two");
        assert_eq!(path_of(&mut last, b"two", 0), None);
    }
    keep_if_due(&mut last, b"two", "/two");
    assert_eq!(path_of(&mut last, b"two", 0).as_deref(), Some("/two"));
    assert_eq!(path_of(&mut last, b"one", 0), None);
}

#[test]
fn heads_that_never_come_again_are_kept_ever_more_rarely() {
    let mut last = LastHead::default();
    let mut kept = 0;
    for n in 0..1_000_u32 {
        let bytes = n.to_be_bytes();
        let before = last.known.as_ref().map(|known| known.bytes.clone());
        keep_if_due(&mut last, &bytes, "/");
        let after = last.known.as_ref().map(|known| known.bytes.clone());
        kept += u32::from(before != after);
    }
    assert!(kept < 30, "{kept} of 1,000 were kept");
}

#[test]
fn a_long_head_is_not_kept() {
    let mut last = LastHead::default();
    last.keep(&[0; BYTES_MAX + 1], 0, &head("/"), Version::Http2);
    assert_eq!(last.len(), 0);
    // A few bytes that mean many.
    let path = format!("/{}", "x".repeat(SECTION_BYTES_MAX));
    last.keep(b"few", 0, &head(&path), Version::Http2);
    assert_eq!(last.len(), 0);
}

#[test]
fn no_two_heads_have_one_number() {
    let mut last = LastHead::default();
    let mut numbers = Vec::new();
    for n in 0..200_u32 {
        let bytes = n.to_be_bytes();
        keep_if_due(&mut last, &bytes, "/");
        if let Some(known) = last.find(&bytes, 0) {
            let head = known.again(None);
            numbers.push(head.number().expect("it came before"));
        }
        if n % 10 == 0 {
            last.release();
        }
    }
    let all = numbers.len();
    numbers.dedup();
    assert!(all > 2 && numbers.len() == all, "{numbers:?}");
    assert_eq!(head("/").number(), None, "it came for the first time");
}

/// A head of an HTTP/1.1 request, as its parser makes it.
fn head_of(method: &str, path: &str) -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, method.as_bytes());
    fields.push(Token::PATH, path.as_bytes());
    fields.push(Token::HOST, b"a");
    RequestHead::from_fields(fields, Version::Http11).expect("a valid head")
}

#[test]
fn a_head_with_another_path_alone_is_the_known_one_with_that_path() {
    let mut last = LastHead::default();
    let known = b"GET /one HTTP/1.1\r\nhost: a\r\n\r\n";
    last.keep(known, 0, &head_of("GET", "/one"), Version::Http11);
    let input = b"GET /other?q=1 HTTP/1.1\r\nhost: a\r\n\r\nGET /more";
    let found = last.find_but_path(input).expect("it is but for its path");
    assert_eq!(found.len, input.len() - b"GET /more".len());
    assert_eq!(found.version(), Version::Http11);
    let other = found.head(None);
    let parsed = head_of("GET", "/other?q=1");
    assert!(other.section().is_twin_of(parsed.section()));
    assert_eq!(other.path(), Some(&b"/other?q=1"[..]));
    assert_eq!(other.authority(), Some(&b"a"[..]));
    assert_eq!(other.number(), None);
    let again = last.find(known, 0).expect("it is kept").again(None);
    assert!(again.number().is_some());
    assert_eq!(again.fields_number(), other.fields_number());
}

#[test]
fn a_head_that_differs_in_more_than_its_path_is_not_the_known_one() {
    let mut last = LastHead::default();
    let known = b"GET /one HTTP/1.1\r\nhost: a\r\n\r\n";
    last.keep(known, 0, &head_of("GET", "/one"), Version::Http11);
    for other in [
        "POST /one HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET  /one HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /one HTTP/1.0\r\nhost: a\r\n\r\n",
        "GET /one  HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /one HTTP/1.1\nhost: a\r\n\r\n",
        "GET /one HTTP/1.1\r\nhost: b\r\n\r\n",
        "GET /one HTTP/1.1\r\nhost: a\r\nx: y\r\n\r\n",
        "GET /one HTTP/1.1\r\nhost: a\r\n\r",
        "GET /one#two HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /\u{e9} HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET http://a/ HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET * HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET ",
        "",
    ] {
        assert!(last.find_but_path(other.as_bytes()).is_none(), "{other:?}");
    }
    // A request without a path is never found so.
    let options = b"OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n";
    last.keep(options, 0, &head_of("OPTIONS", "*"), Version::Http11);
    assert!(last.find_but_path(options).is_none());
    let other = b"OPTIONS / HTTP/1.1\r\nhost: a\r\n\r\n";
    assert!(last.find_but_path(other).is_none());
}

#[test]
fn regular_fields_keep_their_number_whatever_the_head_asks_for() {
    let mut last = LastHead::default();
    last.keep(b"one", 0, &head("/one"), Version::Http2);
    let mut two = head("/two");
    last.number_fields(&mut two);
    let number = two.fields_number().expect("its fields came before");
    last.keep(b"two", 0, &two, Version::Http2);
    let again = last.find(b"two", 0).expect("it is kept").again(None);
    assert_eq!(again.fields_number(), Some(number));
    assert_ne!(again.number(), Some(number));
    let mut fields = head("/two").into_fields();
    fields.push(Token::ACCEPT, b"*/*");
    let mut other = RequestHead::from_fields(fields, Version::Http2).expect("a valid head");
    last.number_fields(&mut other);
    assert_eq!(other.fields_number(), None);
    last.keep(b"three", 0, &other, Version::Http2);
    let again = last.find(b"three", 0).expect("it is kept").again(None);
    assert_ne!(again.fields_number(), Some(number));
}
