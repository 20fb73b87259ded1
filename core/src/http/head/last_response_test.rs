use super::super::admission::STAYS;
use super::*;
use crate::http::{Token, Version};

fn head(status: &str) -> ResponseHead {
    let mut fields = Fields::new();
    fields.push(Token::STATUS, status.as_bytes());
    fields.push(Token::CONTENT_TYPE, b"text/plain");
    ResponseHead::from_fields(fields, Version::Http3).expect("a valid head")
}

fn status_of(last: &mut LastResponse, section: &[u8], stamp: u64) -> Option<u16> {
    let head = last.again(section, stamp, Fields::new)?;
    assert_eq!(head.get(Token::CONTENT_TYPE), Some(&b"text/plain"[..]));
    assert_eq!(head.fields().len(), 1, "without the status");
    Some(head.status)
}

#[test]
fn the_same_section_under_the_same_stamp_is_the_same_head() {
    let mut last = LastResponse::default();
    assert_eq!(status_of(&mut last, b"", 0), None, "nothing is known");
    last.note(b"one", 7, &head("200"));
    assert_eq!(status_of(&mut last, b"one", 7), Some(200));
    assert_eq!(status_of(&mut last, b"one", 8), None, "another stamp");
    assert_eq!(status_of(&mut last, b"on", 7), None, "fewer bytes");
    assert_eq!(status_of(&mut last, b"one!", 7), None, "more bytes");
    last.release();
    assert_eq!(status_of(&mut last, b"one", 7), None, "it was given back");
}

#[test]
fn a_head_that_came_again_stays_while_a_few_others_pass() {
    let mut last = LastResponse::default();
    last.note(b"one", 0, &head("200"));
    assert_eq!(status_of(&mut last, b"one", 0), Some(200));
    for _ in 0..STAYS {
        last.note(b"two", 0, &head("404"));
        assert_eq!(status_of(&mut last, b"two", 0), None);
    }
    last.note(b"two", 0, &head("404"));
    assert_eq!(status_of(&mut last, b"two", 0), Some(404));
    assert_eq!(status_of(&mut last, b"one", 0), None);
}

#[test]
fn a_long_section_is_not_kept() {
    let mut last = LastResponse::default();
    let long = vec![0; BYTES_MAX + 1];
    last.note(&long, 0, &head("200"));
    assert_eq!(status_of(&mut last, &long, 0), None);
}
