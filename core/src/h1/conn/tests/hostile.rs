//! Requests that two recipients could parse differently (smuggling), and requests beyond a limit:
//! each is refused with its status, and no byte behind it becomes a request. Every row runs split
//! at every byte.

use super::script::*;
use crate::http::Side;
use crate::limits::Config;

/// The bytes that a smuggler wants parsed as a request.
const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n";

#[track_caller]
fn refused(why: &str, input: &str, rule: &str, status: u16) {
    let input = format!("{input}{SMUGGLED}");
    let (received, wrote) = server_receives(answer_when_complete, &input);
    let closed = format!("closed ByUs({rule})");
    assert_eq!(received.last(), Some(&closed), "{why}: {received:?}");
    assert!(
        !received.iter().any(|fact| fact.contains("smuggled")),
        "{why}: {received:?}"
    );
    assert!(
        wrote.starts_with(&format!("HTTP/1.1 {status} ")),
        "{why}: {wrote}"
    );
    assert!(
        wrote.ends_with("content-length: 0\r\nconnection: close\r\n\r\n"),
        "{why}"
    );
    assert_eq!(wrote.matches("HTTP/1.1").count(), 1, "{why}: one answer");
}

/// A POST with these field lines.
fn post(lines: &str) -> String {
    format!("POST / HTTP/1.1\r\nhost: a\r\n{lines}\r\n\r\n")
}

#[test]
fn two_ways_to_frame_a_body_are_refused() {
    for (why, lines, rule, status) in [
        (
            "both lengths",
            "content-length: 4\r\ntransfer-encoding: chunked",
            "ContentLengthConflict",
            400,
        ),
        (
            "both, the other way round",
            "transfer-encoding: chunked\r\ncontent-length: 4",
            "ContentLengthConflict",
            400,
        ),
        (
            "two that differ",
            "content-length: 4\r\ncontent-length: 5",
            "ContentLengthConflict",
            400,
        ),
        (
            "two that agree",
            "content-length: 4\r\ncontent-length: 4",
            "ContentLengthInvalid",
            400,
        ),
        (
            "a list",
            "content-length: 4, 4",
            "ContentLengthInvalid",
            400,
        ),
        ("a sign", "content-length: +4", "ContentLengthInvalid", 400),
        ("a minus", "content-length: -4", "ContentLengthInvalid", 400),
        (
            "hexadecimal",
            "content-length: 0x4",
            "ContentLengthInvalid",
            400,
        ),
        (
            "a space inside",
            "content-length: 1 2",
            "ContentLengthInvalid",
            400,
        ),
        ("nothing", "content-length:", "ContentLengthInvalid", 400),
        (
            "more than 64 bits",
            "content-length: 18446744073709551616",
            "ContentLengthInvalid",
            400,
        ),
        (
            "chunked not last",
            "transfer-encoding: chunked, gzip",
            "TransferEncodingInvalid",
            400,
        ),
        (
            "chunked twice",
            "transfer-encoding: chunked, chunked",
            "TransferEncodingInvalid",
            400,
        ),
        (
            "chunked in two fields",
            "transfer-encoding: chunked\r\ntransfer-encoding: chunked",
            "TransferEncodingInvalid",
            400,
        ),
        (
            "another coding",
            "transfer-encoding: gzip, chunked",
            "TransferEncodingUnsupported",
            501,
        ),
        (
            "no chunked",
            "transfer-encoding: identity",
            "TransferEncodingInvalid",
            400,
        ),
        (
            "an almost chunked",
            "transfer-encoding: xchunked",
            "TransferEncodingInvalid",
            400,
        ),
        (
            "a quoted chunked",
            "transfer-encoding: \"chunked\"",
            "TransferEncodingInvalid",
            400,
        ),
        (
            "a vertical tab",
            "transfer-encoding: \x0bchunked",
            "FieldValueInvalid",
            400,
        ),
    ] {
        refused(why, &post(lines), rule, status);
    }
    let old = "POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n";
    refused("chunked in HTTP/1.0", old, "TransferEncodingInvalid", 400);
}

#[test]
fn lines_that_end_or_begin_in_another_way_are_refused() {
    for (why, input, rule) in [
        (
            "a bare LF behind the request line",
            "GET / HTTP/1.1\nhost: a\r\n\r\n",
            "HeadInvalid",
        ),
        (
            "a bare LF behind a field",
            "GET / HTTP/1.1\r\nhost: a\nx: y\r\n\r\n",
            "HeadInvalid",
        ),
        (
            "a bare LF as the empty line",
            "GET / HTTP/1.1\r\nhost: a\r\n\n",
            "HeadInvalid",
        ),
        (
            "a bare LF before the request",
            "\nGET / HTTP/1.1\r\nhost: a\r\n\r\n",
            "HeadInvalid",
        ),
        (
            "a bare CR in a value",
            "GET / HTTP/1.1\r\nhost: a\r\nx: a\rb\r\n\r\n",
            "FieldValueInvalid",
        ),
        (
            "two CR",
            "GET / HTTP/1.1\r\nhost: a\r\r\n\r\n",
            "FieldValueInvalid",
        ),
        (
            "NUL in a value",
            "GET / HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n",
            "FieldValueInvalid",
        ),
        (
            "NUL in a name",
            "GET / HTTP/1.1\r\nhost: a\r\nx\0: b\r\n\r\n",
            "FieldNameInvalid",
        ),
        (
            "obs-fold",
            "GET / HTTP/1.1\r\nhost: a\r\nx: y\r\n z\r\n\r\n",
            "FieldNameInvalid",
        ),
        (
            "obs-fold with a tab",
            "GET / HTTP/1.1\r\nhost: a\r\nx: y\r\n\tz\r\n\r\n",
            "FieldNameInvalid",
        ),
        (
            "a space before the first field",
            "GET / HTTP/1.1\r\n host: a\r\n\r\n",
            "FieldNameInvalid",
        ),
        (
            "a space before the colon",
            "GET / HTTP/1.1\r\nhost: a\r\ncontent-length : 3\r\n\r\n",
            "FieldNameInvalid",
        ),
        (
            "a tab before the colon",
            "GET / HTTP/1.1\r\nhost: a\r\nx\t: 3\r\n\r\n",
            "FieldNameInvalid",
        ),
        (
            "no colon",
            "GET / HTTP/1.1\r\nhost: a\r\nx\r\n\r\n",
            "FieldNameInvalid",
        ),
        (
            "no name",
            "GET / HTTP/1.1\r\nhost: a\r\n: y\r\n\r\n",
            "FieldNameInvalid",
        ),
        (
            "a pseudo-field",
            "GET / HTTP/1.1\r\nhost: a\r\n:path: /b\r\n\r\n",
            "FieldNameInvalid",
        ),
    ] {
        refused(why, input, rule, 400);
    }
}

#[test]
fn request_lines_that_are_not_exact_are_refused() {
    for (why, line, rule, status) in [
        ("HTTP/0.9", "GET /", "HeadInvalid", 400),
        ("two spaces", "GET  / HTTP/1.1", "HeadInvalid", 400),
        (
            "a space in the target",
            "GET /a b HTTP/1.1",
            "HeadInvalid",
            400,
        ),
        ("a tab", "GET\t/ HTTP/1.1", "HeadInvalid", 400),
        ("a space at the end", "GET / HTTP/1.1 ", "HeadInvalid", 400),
        ("lower case", "GET / http/1.1", "HeadInvalid", 400),
        ("another protocol", "GET / RTSP/1.0", "HeadInvalid", 400),
        ("no target", "GET HTTP/1.1", "HeadInvalid", 400),
        ("no method", " / HTTP/1.1", "HeadInvalid", 400),
        (
            "a method that is no token",
            "G(T / HTTP/1.1",
            "HeadInvalid",
            400,
        ),
        ("HTTP/2.0", "GET / HTTP/2.0", "VersionUnsupported", 505),
        ("HTTP/1.2", "GET / HTTP/1.2", "VersionUnsupported", 505),
        (
            "a path without a slash",
            "GET a HTTP/1.1",
            "PathInvalid",
            400,
        ),
        ("a fragment", "GET /#a HTTP/1.1", "PathInvalid", 400),
        ("the asterisk of GET", "GET * HTTP/1.1", "PathInvalid", 400),
        (
            "user information",
            "GET http://u:p@h/ HTTP/1.1",
            "AuthorityInvalid",
            400,
        ),
        (
            "no host in the target",
            "GET http:///a HTTP/1.1",
            "AuthorityInvalid",
            400,
        ),
        (
            "CONNECT to a path",
            "CONNECT /a HTTP/1.1",
            "AuthorityInvalid",
            400,
        ),
        (
            "CONNECT without a port",
            "CONNECT a HTTP/1.1",
            "ConnectMalformed",
            400,
        ),
        (
            "the preface of HTTP/2",
            "PRI * HTTP/2.0",
            "VersionUnsupported",
            505,
        ),
    ] {
        refused(why, &format!("{line}\r\nhost: a\r\n\r\n"), rule, status);
    }
}

#[test]
fn a_host_that_is_missing_or_doubtful_is_refused() {
    for (why, lines, rule) in [
        ("none", "x: y", "HostMissing"),
        ("two", "host: a\r\nhost: a", "HostMissing"),
        ("a space inside", "host: a b", "AuthorityInvalid"),
        ("a list", "host: a, b", "AuthorityInvalid"),
        ("a path", "host: a/b", "AuthorityInvalid"),
        ("user information", "host: u@a", "AuthorityInvalid"),
    ] {
        refused(
            why,
            &format!("GET / HTTP/1.1\r\n{lines}\r\n\r\n"),
            rule,
            400,
        );
    }
}

#[test]
fn chunks_that_are_not_exact_are_refused() {
    for (why, body) in [
        ("no size", "\r\n"),
        ("a sign", "+3\r\nabc\r\n"),
        ("a minus", "-3\r\nabc\r\n"),
        ("0x", "0x3\r\nabc\r\n"),
        ("a space before", " 3\r\nabc\r\n"),
        ("a space behind", "3 \r\nabc\r\n"),
        ("a tab behind", "3\t\r\nabc\r\n"),
        ("a bare LF", "3\nabc\r\n"),
        ("a bare LF behind an extension", "3;a\nabc\r\n"),
        ("a bare CR", "3\rabc\r\n"),
        ("a bare LF behind the data", "3\r\nabc\n"),
        ("data that goes on", "3\r\nabcd\r\n"),
        ("not hexadecimal", "3g\r\nabc\r\n"),
        ("an underscore", "1_0\r\nabc\r\n"),
        ("more than 64 bits", "10000000000000003\r\nabc\r\n"),
        ("many zeros", "00000000000000003\r\nabc\r\n"),
        ("an empty extension", "3;\r\nabc\r\n"),
        ("NUL in an extension", "3;a\0\r\nabc\r\n"),
        ("a line end in a quoted string", "3;a=\"\r\n\"\r\nabc\r\n"),
        ("a second value", "3;a=b=c\r\nabc\r\n"),
        ("a comma for a semicolon", "3,a\r\nabc\r\n"),
    ] {
        refused(
            why,
            &format!("{}{body}", post("transfer-encoding: chunked")),
            "ChunkInvalid",
            400,
        );
    }
}

#[test]
fn trailers_are_fields_that_end_with_crlf_and_no_second_length() {
    for (why, trailers, rule) in [
        (
            "content-length",
            "content-length: 3\r\n\r\n",
            "TrailerForbidden",
        ),
        ("a bare LF", "x: y\n\r\n", "HeadInvalid"),
        ("a bare LF as the end", "\n", "HeadInvalid"),
        ("obs-fold", "x: y\r\n z\r\n\r\n", "FieldNameInvalid"),
        (
            "a space before the colon",
            "x : y\r\n\r\n",
            "FieldNameInvalid",
        ),
    ] {
        let input = format!("{}0\r\n{trailers}", post("transfer-encoding: chunked"));
        refused(why, &input, rule, 400);
    }
}

#[test]
fn what_is_too_much_is_refused_before_it_is_all_there() {
    let mut config = Config::default();
    config.limits.head_bytes_max = 500;
    config.limits.target_bytes_max = 100;
    config.limits.field_count_max = 5;
    config.limits.field_section_bytes_max = 400;
    config.limits.chunk_extension_bytes_max = 20;
    let extensions = "1;a=b\r\nx\r\n".repeat(8);
    for (why, input, rule, status) in [
        (
            "a head without an end",
            format!("GET / HTTP/1.1\r\nx: {}", "y".repeat(500)),
            "HeadTooLarge",
            431,
        ),
        (
            "a head just too large",
            format!(
                "GET / HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n",
                "y".repeat(469)
            ),
            "HeadTooLarge",
            431,
        ),
        (
            "a target without an end",
            format!("GET /{}", "y".repeat(200)),
            "TargetTooLong",
            414,
        ),
        (
            "a target just too long",
            format!("GET /{} HTTP/1.1\r\nhost: a\r\n\r\n", "y".repeat(100)),
            "TargetTooLong",
            414,
        ),
        (
            "one field too many",
            format!("GET / HTTP/1.1\r\nhost: a\r\n{}\r\n", "x: y\r\n".repeat(5)),
            "FieldsTooMany",
            431,
        ),
        (
            "a section that is too large",
            format!(
                "GET / HTTP/1.1\r\nhost: a\r\nx: {}\r\n\r\n",
                "y".repeat(300)
            ),
            "FieldSectionTooLarge",
            431,
        ),
        (
            "extensions that add up",
            format!("{}{extensions}", post("transfer-encoding: chunked")),
            "ChunkExtensionTooLarge",
            400,
        ),
    ] {
        let make = || Script::new(Side::Server, config.clone()).reacting(answer_when_complete);
        let (received, wrote) =
            at_every_split(make, input.len(), |script| script.connection_lists(&input));
        assert_eq!(
            received.last(),
            Some(&format!("closed ByUs({rule})")),
            "{why}"
        );
        assert!(
            wrote.starts_with(&format!("HTTP/1.1 {status} ")),
            "{why}: {wrote}"
        );
    }
}

#[test]
fn what_is_just_enough_is_taken() {
    let mut config = Config::default();
    config.limits.head_bytes_max = 250;
    config.limits.target_bytes_max = 100;
    config.limits.field_count_max = 5;
    let target = "y".repeat(99);
    let tail = format!(
        "GET /{target} HTTP/1.1\r\nhost: a\r\n{}",
        "x: y\r\n".repeat(3)
    );
    let pad = 250 - tail.len() - "z: \r\n\r\n".len();
    let input = format!("{tail}z: {}\r\n\r\n", "z".repeat(pad));
    let make = || Script::new(Side::Server, config.clone()).reacting(answer_when_complete);
    let (received, _) = at_every_split(make, input.len(), |script| script.connection_lists(&input));
    assert_eq!(received, [format!("1 GET /{target} end")]);
}

#[test]
fn a_value_keeps_its_bytes_and_loses_the_space_around_it() {
    let head = b"GET / HTTP/1.1\r\nHoST: a\r\nX-Y: \t a\tb \xff \t\r\nempty:\r\n\r\n";
    let limits = crate::limits::Limits::default();
    let (head, _) = crate::h1::parse::request(head, None, Default::default(), &limits, false, true)
        .expect("valid");
    let fields: Vec<_> = head
        .fields()
        .map(|field| (field.name, field.value))
        .collect();
    let expected: [(&[u8], &[u8]); 3] = [(b"host", b"a"), (b"x-y", b"a\tb \xff"), (b"empty", b"")];
    assert_eq!(fields, expected);
}

/// `https://` where the port does not speak TLS: the end of such a head would not come.
#[test]
fn a_client_hello_is_refused_at_once_by_its_own_rule() {
    refused("TLS", "\x16\x03\x01\x02\0\x01\0\x01", "TlsInCleartext", 400);
    refused("SSLv2", "\x16\x02\x01", "HeadInvalid", 400);
}

/// A client of another protocol that waits for an answer may never send the end of a line.
#[test]
fn bytes_that_begin_no_method_are_refused_before_a_line_ends() {
    for input in ["\x05\x01\0", "\x7f", "(a", "GET\t", "\r\n\x05"] {
        let (received, wrote) = server_receives(answer_when_complete, input);
        let closed = String::from("closed ByUs(HeadInvalid)");
        assert_eq!(received.last(), Some(&closed), "{input:?}");
        assert!(wrote.starts_with("HTTP/1.1 400 "), "{input:?}: {wrote}");
    }
    for input in [
        "G",
        "GET",
        "GET ",
        "GET\r",
        "\r\nGET /\x05",
        "\x16",
        "\x16\x03",
    ] {
        let (received, wrote) = server_receives(answer_when_complete, input);
        assert!(received.is_empty() && wrote.is_empty(), "{input:?}");
    }
}

#[test]
fn a_first_line_that_is_none_is_refused_before_the_head_ends() {
    for (line, status) in [
        ("Oopsie-doopsie\r\n", 400),
        ("GET /a b HTTP/1.1\r\n", 400),
        ("GET / HTTP/9.9\r\n", 505),
        ("EHLO a.test\r\n", 400),
    ] {
        let (_, wrote) = server_receives(answer_when_complete, line);
        assert!(
            wrote.starts_with(&format!("HTTP/1.1 {status} ")),
            "{line}: {wrote}"
        );
    }
    for begun in [
        "GET / HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\n",
        "\r\nGET / HTTP/1.0\r\n",
    ] {
        let (_, wrote) = server_receives(answer_when_complete, begun);
        assert_eq!(wrote, "", "{begun}");
    }
}

#[test]
fn an_owner_with_a_clock_has_a_date_in_refusals() {
    let config = Config::default().with_date(Some(|_, out| out.extend_from_slice(b"today")));
    let mut script = Script::new(Side::Server, config);
    script.connection_lists("GET / HTTP/1.1\r\nbad\r\n\r\n");
    let wrote = String::from_utf8_lossy(&script.written).into_owned();
    assert!(
        wrote.starts_with("HTTP/1.1 400 Bad Request\r\ndate: today\r\n"),
        "{wrote}"
    );
}
