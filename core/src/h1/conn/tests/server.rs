//! The server's side: requests in, and answers in their order.

use super::script::*;
use crate::error::Violation;
use crate::http::{Event, Side, Token};
use crate::limits::{Config, Limits, PIPELINED_REQUESTS_MAX};

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const EMPTY_200: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[test]
fn a_request_is_answered_and_the_connection_stays_open() {
    let input = "GET /a?b HTTP/1.1\r\nHost: a.test\r\n\r\n";
    let (received, wrote) = server_receives(answer_at_once, input);
    assert_eq!(received, ["1 GET /a?b end"]);
    assert_eq!(wrote, EMPTY_200);
}

#[test]
fn empty_lines_before_a_request_are_ignored() {
    let (received, wrote) = server_receives(answer_at_once, &format!("\r\n\r\n{GET}\r\n{GET}"));
    assert_eq!(received, ["1 GET / end", "2 GET / end"]);
    assert_eq!(wrote, EMPTY_200.repeat(2));
}

#[test]
fn a_head_that_is_the_last_one_but_for_a_shorter_path_has_its_fields() {
    let mut script = Script::server();
    let mut numbers = Vec::new();
    for path in [
        "/a/long/path",
        "/a/long/path",
        "/a/long/path",
        "/b",
        "/a/longer/path",
    ] {
        let head = format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n");
        script.conn.handle_bytes(script.now, head.as_bytes());
        let Some(Event::RequestReceived { stream, head, .. }) = script.conn.poll_event() else {
            panic!("{path} was not told");
        };
        assert_eq!(head.path(), Some(path.as_bytes()));
        numbers.push(head.fields_number());
        script.conn.handler_done(stream);
        script.respond(stream.0, &response(200, &[]), true);
    }
    assert_eq!(numbers[..2], [None; 2], "nothing was known");
    assert!(numbers[2].is_some());
    assert_eq!(numbers[3..], [numbers[2]; 2]);
}

#[test]
fn the_four_forms_of_a_target_become_pseudo_fields() {
    for (method, target, path, authority) in [
        ("GET", "/a?b", Some("/a?b"), "h"),
        ("OPTIONS", "*", Some("*"), "h"),
        ("GET", "http://x.test:8/p?q", Some("/p?q"), "x.test:8"),
        ("GET", "http://x.test", Some("/"), "x.test"),
        ("GET", "HTTP://x.test?q", Some("/?q"), "x.test"),
        ("OPTIONS", "http://x.test", Some("*"), "x.test"),
        ("CONNECT", "x.test:443", None, "x.test:443"),
    ] {
        let head = format!("{method} {target} HTTP/1.1\r\nhost: h\r\n\r\n");
        let limits = Limits::default();
        let (head, _) = crate::h1::parse::request(
            head.as_bytes(),
            None,
            Default::default(),
            &limits,
            false,
            true,
        )
        .unwrap_or_else(|violation| panic!("{target}: {violation}"));
        assert_eq!(head.path(), path.map(str::as_bytes), "{target}");
        assert_eq!(head.authority(), Some(authority.as_bytes()), "{target}");
    }
}

#[test]
fn a_body_with_content_length_comes_whole() {
    let input = "POST /u HTTP/1.1\r\nhost: a\r\ncontent-length: 11\r\n\r\nhello worldGET /";
    let (received, wrote) = server_receives(take_body, input);
    assert_eq!(received, ["1 POST /u", "1 body hello world end"]);
    assert_eq!(wrote, "", "nobody has answered");
}

#[test]
fn a_chunked_body_comes_whole_with_its_trailers() {
    let input = "POST /u HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
                 5;a=b;c=\"d;\\\"\"\r\nhello\r\n006\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n";
    let (received, _) = server_receives(answer_when_complete, &format!("{input}{GET}"));
    assert_eq!(
        received,
        [
            "1 POST /u",
            "1 body hello world",
            "1 trailers {\"x-sum\": \"1\"}",
            "2 GET / end"
        ]
    );
}

#[test]
fn trailers_that_frame_or_route_are_ignored_and_move_no_end() {
    for trailer in [
        "Transfer-Encoding: chunked",
        "Host: b",
        "Connection: close",
        "TE: trailers",
        "Upgrade: h2c",
        "Trailer: x",
    ] {
        let input = format!(
            "POST /u HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n\
             5\r\nhello\r\n0\r\nX-Sum: 1\r\n{trailer}\r\nx-end: 2\r\n\r\n{GET}"
        );
        let (received, _) = server_receives(answer_when_complete, &input);
        assert_eq!(
            received,
            [
                "1 POST /u",
                "1 body hello",
                "1 trailers {\"x-sum\": \"1\", \"x-end\": \"2\"}",
                "2 GET / end"
            ],
            "{trailer}"
        );
    }
}

#[test]
fn tiny_chunks_of_one_read_are_one_event() {
    let mut script = Script::server();
    let chunks = "1\r\na\r\n".repeat(100);
    script.conn.handle_bytes(
        script.now,
        format!("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{chunks}")
            .as_bytes(),
    );
    let mut events = 0;
    while script.conn.poll_event().is_some() {
        events += 1;
    }
    assert_eq!(events, 2, "the head and one body");
}

#[test]
fn pipelined_requests_are_answered_in_order_whatever_the_order_of_the_handlers() {
    let (received, wrote) = at_every_split(Script::server, 3 * GET.len(), |script| {
        script.connection_lists(GET.repeat(3));
        script.respond(3, &response(203, &[]), true);
        script.respond(2, &response(202, &[("content-length", "2")]), false);
        script.send(2, "ab", true);
        assert_eq!(script.wrote(), "", "the first has no answer yet");
        script.respond(1, &response(201, &[]), true);
    });
    assert_eq!(received, ["1 GET / end", "2 GET / end", "3 GET / end"]);
    assert_eq!(
        wrote,
        "HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n\
         HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\nab\
         HTTP/1.1 203 Non-Authoritative Information\r\ncontent-length: 0\r\n\r\n"
    );
}

#[test]
fn only_so_many_requests_are_parsed_ahead_and_the_rest_follows() {
    let mut script = Script::server();
    script.connection_lists(GET.repeat(PIPELINED_REQUESTS_MAX + 3));
    assert_eq!(script.received().len(), PIPELINED_REQUESTS_MAX);
    assert_eq!(script.conn.active() as usize, PIPELINED_REQUESTS_MAX);
    script.respond(1, &response(200, &[]), true);
    script.respond(2, &response(200, &[]), true);
    let next = [1, 2].map(|more| format!("{} GET / end", PIPELINED_REQUESTS_MAX + more));
    assert_eq!(script.received(), next);
}

#[test]
fn requests_that_differ_in_their_path_alone_are_read_as_any() {
    let request =
        |path: &str| format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok");
    let paths = ["/", "/", "/a", "/b?c", "/b?c", "/a", "http://a/x", "/d"];
    let input: String = paths.map(request).concat();
    let (received, wrote) = server_receives(answer_when_complete, &input);
    let expected: Vec<String> = (1..)
        .zip(paths)
        .flat_map(|(stream, path)| {
            let path = path.trim_start_matches("http://a");
            [
                format!("{stream} POST {path}"),
                format!("{stream} body ok end"),
            ]
        })
        .collect();
    assert_eq!(received, expected);
    assert_eq!(wrote, EMPTY_200.repeat(paths.len()));
}

#[test]
fn a_known_head_with_another_path_must_meet_the_limits_as_any() {
    let mut config = Config::default();
    config.limits.target_bytes_max = 20;
    let mut script = Script::new(Side::Server, config).reacting(answer_at_once);
    script.connection_lists(GET.repeat(3));
    assert_eq!(script.received().len(), 3);
    script.wrote();
    script.connection_lists(GET.replace("/ ", &format!("/{} ", "x".repeat(20))));
    assert_eq!(script.received(), ["closed ByUs(TargetTooLong)"]);
    assert!(script.wrote().starts_with("HTTP/1.1 414 "));
}

#[test]
fn recycled_memory_serves_the_next_head() {
    let mut script = Script::server();
    script.connection_lists("GET / HTTP/1.1\r\nhost: a\r\nx-one: 1\r\n\r\n");
    script.conn.recycle(section(&[], &[("x-old", "1")]));
    script
        .conn
        .handle_bytes(script.now, b"GET /2 HTTP/1.1\r\nhost: b\r\n\r\n");
    let Some(Event::RequestReceived { head, .. }) = script.conn.poll_event() else {
        panic!("a request");
    };
    assert_eq!(head.fields().len(), 1, "nothing of the old head is left");
    assert_eq!(head.get(Token::HOST), Some(&b"b"[..]));
}

#[test]
fn a_request_without_a_host_is_served_by_those_who_need_none() {
    let missing = |text: &str, needs_host: bool| {
        let mut script = Script::new(Side::Server, Config::default().with_needs_host(needs_host));
        script.conn.handle_bytes(script.now, text.as_bytes());
        match script.conn.poll_event() {
            Some(Event::RequestReceived { head, .. }) => {
                head.authority().map(|authority| authority.to_vec())
            }
            _ => Some(b"refused".to_vec()),
        }
    };
    let bare = "GET / HTTP/1.1\r\n\r\n";
    assert_eq!(missing(bare, true), Some(b"refused".to_vec()));
    assert_eq!(missing(bare, false), None);
    let absolute = "GET http://b/ HTTP/1.1\r\n\r\n";
    assert_eq!(missing(absolute, true), Some(b"refused".to_vec()));
    assert_eq!(missing(absolute, false), Some(b"b".to_vec()));
    // The rest stays as strict.
    for text in [
        "GET / HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a/b\r\n\r\n",
        "CONNECT / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nx : y\r\n\r\n",
    ] {
        assert_eq!(missing(text, false), Some(b"refused".to_vec()), "{text}");
    }
}

#[test]
fn names_are_kept_as_they_are_spelled_for_those_who_ask() {
    let asks =
        |path: &str| format!("GET {path} HTTP/1.1\r\nHost: a\r\nX-One: 1\r\nx-two: 2\r\n\r\n");
    for asked in [true, false] {
        let config = Config {
            spelled_names: asked,
            ..Config::default()
        };
        let mut script = Script::new(Side::Server, config);
        // New, again, again, and with another path.
        for path in ["/", "/", "/", "/b"] {
            script.conn.handle_bytes(script.now, asks(path).as_bytes());
            let Some(Event::RequestReceived { stream, head, .. }) = script.conn.poll_event() else {
                panic!("a request was due");
            };
            let names: Vec<&[u8]> = head.section().spellings().collect();
            let all: &[&[u8]] = if asked {
                &[b"Host", b"X-One", b"x-two"]
            } else {
                &[]
            };
            assert_eq!(names, all, "{path}");
            assert!(head.fields().all(
                |field| field.name.is_ascii() && field.name == field.name.to_ascii_lowercase()
            ));
            script.conn.recycle_head(head);
            script.respond(stream.0, &response(204, &[]), true);
            script.conn.handler_done(stream);
        }
    }
}

#[test]
fn a_request_has_as_many_fields_as_the_limits_say() {
    for (field_count_max, came, fits) in [
        (5, 5, true),
        (5, 6, false),
        (300, 256, true),
        (300, 257, true),
        (300, 301, false),
        (1000, 1000, true),
    ] {
        let limits = Limits {
            field_count_max,
            ..Limits::default()
        };
        let fields = "x: y\r\n".repeat(came - 1);
        let head = format!("GET / HTTP/1.1\r\nhost: a\r\n{fields}\r\n");
        let parsed = crate::h1::parse::request(
            head.as_bytes(),
            None,
            Default::default(),
            &limits,
            true,
            true,
        );
        match fits {
            true => assert_eq!(parsed.unwrap().0.fields().count(), came),
            false => assert_eq!(parsed.err(), Some(Violation::FieldsTooMany)),
        }
    }
}
