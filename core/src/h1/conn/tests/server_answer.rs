//! The server's side: the form of responses, and which are refused.

use super::script::*;
use crate::error::{Misuse, Violation};
use crate::http::{Fields, ResponseHead, StreamId, Token, Version};
use bytes::Bytes;

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const EMPTY_200: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[test]
fn a_body_of_unknown_length_goes_out_chunked() {
    let mut script = Script::server();
    script.connection_lists(GET);
    script.respond(1, &response(200, &[("content-type", "a/b")]), false);
    script.send(1, "hello", false);
    script.send(1, "", false);
    script.send(1, " world, and more", true);
    assert_eq!(
        script.wrote(),
        "HTTP/1.1 200 OK\r\ncontent-type: a/b\r\ntransfer-encoding: chunked\r\n\r\n\
         5\r\nhello\r\n10\r\n world, and more\r\n0\r\n\r\n"
    );
    assert_eq!(script.conn.active(), 0);
    assert!(!script.conn.is_closed());
}

#[test]
fn trailers_follow_a_chunked_body() {
    let mut script = Script::server();
    script.connection_lists(GET);
    script.respond(1, &response(200, &[]), false);
    let trailers = section(&[], &[("x-sum", "1")]);
    script
        .conn
        .send_trailers(script.now, StreamId(1), &trailers)
        .unwrap();
    script.listen();
    assert!(script.wrote().ends_with("\r\n\r\n0\r\nx-sum: 1\r\n\r\n"));
}

#[test]
fn names_of_trailers_go_out_as_they_are_spelled() {
    let mut script = Script::server();
    script.connection_lists(GET);
    script.respond(1, &response(200, &[]), false);
    let mut trailers = section(&[], &[("x-sum", "1"), ("x-b", "2")]);
    trailers.spell(b"X-Sum");
    trailers.spell(b"x-B");
    script
        .conn
        .send_trailers(script.now, StreamId(1), &trailers)
        .unwrap();
    script.listen();
    assert!(
        script
            .wrote()
            .ends_with("\r\n\r\n0\r\nX-Sum: 1\r\nx-B: 2\r\n\r\n")
    );
}

#[test]
fn framing_fields_are_refused_as_trailers_we_send() {
    let mut script = Script::server();
    script.connection_lists(GET);
    script.respond(1, &response(200, &[]), false);
    let trailers = section(&[], &[("content-length", "1")]);
    let refused = script
        .conn
        .send_trailers(script.now, StreamId(1), &trailers);
    assert!(matches!(refused, Err(Misuse::Invalid(_))));
}

#[test]
fn the_owner_cannot_set_the_transfer_coding() {
    let mut script = Script::server();
    script.connection_lists(GET);
    script.respond(1, &response(200, &[("transfer-encoding", "chunked")]), true);
    assert_eq!(script.wrote(), EMPTY_200);
}

#[test]
fn a_value_that_could_split_a_response_makes_no_head() {
    for value in ["a\r\nb: c", "a\nb", "a\rb", "a\0b"] {
        let fields = section(&[], &[("x", value)]);
        let head = ResponseHead::new(200, fields, Version::Http11);
        assert_eq!(head.unwrap_err(), Violation::FieldValueInvalid, "{value:?}");
    }
    let fields = section(&[], &[("x\r\ny", "1")]);
    let head = ResponseHead::new(200, fields, Version::Http11);
    assert_eq!(head.unwrap_err(), Violation::FieldNameInvalid);
}

#[test]
fn the_body_must_be_as_long_as_content_length_says() {
    let mut script = Script::server();
    script.connection_lists(GET);
    let head = response(200, &[("content-length", "3")]);
    let conn = &mut script.conn;
    assert_eq!(
        conn.respond(script.now, StreamId(1), &head, true),
        Err(Misuse::BodyLength),
        "no body though three bytes are announced"
    );
    conn.respond(script.now, StreamId(1), &head, false).unwrap();
    for (data, end) in [("abcd", false), ("ab", true)] {
        let data = Bytes::from_static(data.as_bytes());
        assert_eq!(
            conn.send_body(script.now, StreamId(1), data, end),
            Err(Misuse::BodyLength)
        );
    }
    script.send(1, "abc", true);
    assert!(script.wrote().ends_with("\r\n\r\nabc"));
}

#[test]
fn an_answer_in_one_must_fit_its_content_length_or_nothing_is_sent() {
    let mut script = Script::server();
    script.connection_lists(GET);
    let head = response(200, &[("content-length", "3")]);
    let answer = |script: &mut Script, body: &'static str| {
        let answered = script
            .conn
            .answer(script.now, StreamId(1), &head, body.into());
        script.listen();
        answered
    };
    for body in ["", "no", "four"] {
        let answered = answer(&mut script, body);
        assert_eq!(answered, Err(Misuse::BodyLength), "{body:?}");
        assert_eq!(script.wrote(), "", "{body:?}");
    }
    assert_eq!(answer(&mut script, "abc"), Ok(()));
    assert!(script.wrote().ends_with("\r\n\r\nabc"));
    assert_eq!(answer(&mut script, "abc"), Err(Misuse::StreamNotOpen));
}

#[test]
fn answers_to_head_and_204_and_304_have_no_body() {
    for (method, status, fields, head) in [
        (
            "HEAD",
            200,
            &[("content-length", "5")][..],
            "200 OK\r\ncontent-length: 5",
        ),
        (
            "GET",
            304,
            &[("content-length", "5")][..],
            "304 Not Modified\r\ncontent-length: 5",
        ),
        (
            "GET",
            204,
            &[("content-length", "5"), ("a", "b")][..],
            "204 No Content\r\na: b",
        ),
        ("GET", 204, &[("a", "b")][..], "204 No Content\r\na: b"),
    ] {
        let mut script = Script::server();
        script.connection_lists(format!("{method} / HTTP/1.1\r\nhost: a\r\n\r\n"));
        script.respond(1, &response(status, fields), false);
        script.send(1, "hello", true);
        assert_eq!(script.wrote(), format!("HTTP/1.1 {head}\r\n\r\n"));
        assert_eq!(script.conn.active(), 0);
        script.connection_lists(GET);
        assert_eq!(script.received().len(), 2, "the connection goes on");
    }
}

#[test]
fn an_answer_is_spelled_and_reasoned_as_its_owner_says() {
    let mut fields = Fields::new();
    for name in ["X-One", "Content-Length", "Connection"] {
        fields.spell(name.as_bytes());
        fields.push_named(name.to_ascii_lowercase().as_bytes(), b"0");
    }
    fields.push(Token::DATE, b"now");
    let head = ResponseHead::new(200, fields, Version::Http11).expect("it is valid");
    let head = head.with_reason(b"Fine and \xe9").expect("it is valid");
    let mut script = Script::server();
    script.connection_lists(GET);
    script.respond(1, &head, true);
    assert_eq!(
        script.wrote(),
        "HTTP/1.1 200 Fine and \u{fffd}\r\nX-One: 0\r\nContent-Length: 0\r\nConnection: 0\r\n\
         date: now\r\n\r\n"
    );
    for split in [&b"a\r\nb: c"[..], b"\0", b"\x7f"] {
        let refused = response(200, &[]).with_reason(split);
        assert_eq!(refused.err(), Some(Violation::FieldValueInvalid));
    }
}

#[test]
fn lines_that_are_added_to_an_answer_have_capitals_where_its_owner_spells_names_so() {
    for (name, added) in [
        ("X-One", "Transfer-Encoding: chunked"),
        ("x-one", "transfer-encoding: chunked"),
    ] {
        let mut fields = Fields::new();
        fields.spell(name.as_bytes());
        fields.push_named(b"x-one", b"1");
        let head = ResponseHead::new(200, fields, Version::Http11).expect("it is valid");
        let mut script = Script::server();
        script.connection_lists(GET);
        script.respond(1, &head, false);
        script.send(1, "hi", true);
        let body = "2\r\nhi\r\n0\r\n\r\n";
        assert_eq!(
            script.wrote(),
            format!("HTTP/1.1 200 OK\r\n{name}: 1\r\n{added}\r\n\r\n{body}")
        );
    }
}

#[test]
fn a_close_of_the_owner_stays_in_its_place_as_it_is_spelled() {
    let mut script = Script::server();
    script.connection_lists(GET);
    let mut fields = section(
        &[(Token::STATUS, "200")],
        &[
            ("connection", "Close"),
            ("x-one", "1"),
            ("content-length", "0"),
        ],
    );
    for name in ["Connection", "X-One", "Content-Length"] {
        fields.spell(name.as_bytes());
    }
    let head = ResponseHead::received(fields, Version::Http11).unwrap();
    script.respond(1, &head, true);
    assert_eq!(
        script.wrote(),
        "HTTP/1.1 200 OK\r\nConnection: Close\r\nX-One: 1\r\nContent-Length: 0\r\n\r\n"
    );
    assert!(script.conn.is_closed());
}

#[test]
fn a_response_may_say_a_host_as_any_other_field_and_twice() {
    let mut script = Script::server();
    script.connection_lists(GET);
    script.respond(1, &response(200, &[("host", "a"), ("host", "b")]), true);
    let wrote = script.wrote();
    assert!(wrote.contains("\r\nhost: a\r\nhost: b\r\n"), "{wrote}");
}
