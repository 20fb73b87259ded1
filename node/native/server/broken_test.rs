use super::*;
use bytes::Bytes;

fn code_of(violation: Violation, head: &[u8]) -> &'static str {
    llhttp_code(&Refused {
        violation,
        packet: Bytes::copy_from_slice(head),
        parsed: 0,
    })
}

#[test]
fn a_head_that_cannot_be_read_has_the_code_of_its_first_wrong_part() {
    let cases: [(&[u8], &str); 16] = [
        (b"GET / HTTP/1.1\nHost: a\n\n", "HPE_INVALID_VERSION"),
        (b"GET / HTTP/1.1\nHost: a\r\n\r\n", "HPE_INVALID_VERSION"),
        (b"GET / HTTP/1.1x\r\nHost: a\r\n\r\n", "HPE_INVALID_VERSION"),
        (b"GET / HTTP/1.11\r\nHost: a\r\n\r\n", "HPE_INVALID_VERSION"),
        (b"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", "HPE_INVALID_VERSION"),
        (b"GET / HTTP/x.1\r\nHost: a\r\n\r\n", "HPE_INVALID_VERSION"),
        (b"GET / HTTP/1.1\rHost: a\r\n\r\n", "HPE_STRICT"),
        (b"GET  HTTP/1.1\r\nHost: a\r\n\r\n", "HPE_INVALID_URL"),
        (b"GET HTTP/1.1\r\nHost: a\r\n\r\n", "HPE_INVALID_URL"),
        (b"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", "HPE_INVALID_URL"),
        (b"GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n", "HPE_INVALID_URL"),
        (b"GET /\xe9 HTTP/1.1\r\nHost: a\r\n\r\n", "HPE_INVALID_URL"),
        (b"GET / FTP/1.1\r\nHost: a\r\n\r\n", "HPE_INVALID_CONSTANT"),
        (b"GET\r\nHost: a\r\n\r\n", "HPE_INVALID_METHOD"),
        (b"GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", "HPE_INVALID_METHOD"),
        (b"GET / HTTP/1.1\r\nHost: a\n\r\n", "HPE_CR_EXPECTED"),
    ];
    for (head, code) in cases {
        let shown = head.escape_ascii();
        assert_eq!(code_of(Violation::HeadInvalid, head), code, "{shown}");
    }
}

#[test]
fn an_empty_line_of_lf_alone_is_no_field() {
    let head = b"GET / HTTP/1.1\r\nHost: a\r\n\n";
    let code = code_of(Violation::HeadInvalid, head);
    assert_eq!(code, "HPE_INVALID_HEADER_TOKEN");
}

#[test]
fn a_blank_in_front_of_the_first_field_is_named() {
    let head = b"GET / HTTP/1.1\r\n Host: a\r\n\r\n";
    let code = code_of(Violation::FieldNameInvalid, head);
    assert_eq!(code, "HPE_UNEXPECTED_SPACE");
    let head = b"GET / HTTP/1.1\r\nHost: a\r\nx: a\r\n b\r\n\r\n";
    let code = code_of(Violation::FieldNameInvalid, head);
    assert_eq!(code, "HPE_INVALID_HEADER_TOKEN");
}

#[test]
fn a_head_of_too_many_fields_is_one_that_overflows() {
    let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    assert_eq!(
        code_of(Violation::FieldsTooMany, head),
        "HPE_HEADER_OVERFLOW"
    );
}
