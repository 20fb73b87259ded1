//! The server's side: requests in, responses out, in order.

use super::script_test::*;
use crate::error::{H2Code, Misuse, Violation};
use crate::http::{Event, Fields, ResponseHead, Side, StreamId, Token, Version};
use crate::limits::{Config, PIPELINED_REQUESTS_MAX, UNREAD_BODY_BYTES_MAX};
use bytes::Bytes;
use std::num::NonZeroU64;
use std::time::Duration;

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const EMPTY_200: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const DRAINED: &str = "closed Drained";

#[test]
fn a_request_is_answered_and_the_connection_stays_open() {
    let input = "GET /a?b HTTP/1.1\r\nHost: a.test\r\n\r\n";
    let (heard, wrote) = server_hears(answer_at_once, input);
    assert_eq!(heard, ["1 GET /a?b end"]);
    assert_eq!(wrote, EMPTY_200);
}

#[test]
fn empty_lines_before_a_request_are_ignored() {
    let (heard, wrote) = server_hears(answer_at_once, &format!("\r\n\r\n{GET}\r\n{GET}"));
    assert_eq!(heard, ["1 GET / end", "2 GET / end"]);
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
        let limits = crate::limits::Limits::default();
        let (head, _) =
            super::parse::request(head.as_bytes(), None, Default::default(), &limits, false)
                .unwrap_or_else(|violation| panic!("{target}: {violation}"));
        assert_eq!(head.path(), path.map(str::as_bytes), "{target}");
        assert_eq!(head.authority(), Some(authority.as_bytes()), "{target}");
    }
}

#[test]
fn a_body_with_content_length_comes_whole() {
    let input = "POST /u HTTP/1.1\r\nhost: a\r\ncontent-length: 11\r\n\r\nhello worldGET /";
    let (heard, wrote) = server_hears(take_body, input);
    assert_eq!(heard, ["1 POST /u", "1 body hello world end"]);
    assert_eq!(wrote, "", "nobody has answered");
}

#[test]
fn a_chunked_body_comes_whole_with_its_trailers() {
    let input = "POST /u HTTP/1.1\r\nhost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
                 5;a=b;c=\"d;\\\"\"\r\nhello\r\n006\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n";
    let (heard, _) = server_hears(answer_when_complete, &format!("{input}{GET}"));
    assert_eq!(
        heard,
        [
            "1 POST /u",
            "1 body hello world",
            "1 trailers {\"x-sum\": \"1\"}",
            "2 GET / end"
        ]
    );
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
    let (heard, wrote) = at_every_split(Script::server, 3 * GET.len(), |script| {
        script.says(GET.repeat(3));
        script.respond(3, &response(203, &[]), true);
        script.respond(2, &response(202, &[("content-length", "2")]), false);
        script.send(2, "ab", true);
        assert_eq!(script.wrote(), "", "the first has no answer yet");
        script.respond(1, &response(201, &[]), true);
    });
    assert_eq!(heard, ["1 GET / end", "2 GET / end", "3 GET / end"]);
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
    script.says(GET.repeat(PIPELINED_REQUESTS_MAX + 3));
    assert_eq!(script.heard().len(), PIPELINED_REQUESTS_MAX);
    assert_eq!(script.conn.active() as usize, PIPELINED_REQUESTS_MAX);
    script.respond(1, &response(200, &[]), true);
    script.respond(2, &response(200, &[]), true);
    assert_eq!(script.heard(), ["17 GET / end", "18 GET / end"]);
}

#[test]
fn a_body_of_unknown_length_goes_out_chunked() {
    let mut script = Script::server();
    script.says(GET);
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
    script.says(GET);
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
fn framing_fields_are_refused_as_trailers_we_send() {
    let mut script = Script::server();
    script.says(GET);
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
    script.says(GET);
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
    script.says(GET);
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
    script.says(GET);
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
        script.says(format!("{method} / HTTP/1.1\r\nhost: a\r\n\r\n"));
        script.respond(1, &response(status, fields), false);
        script.send(1, "hello", true);
        assert_eq!(script.wrote(), format!("HTTP/1.1 {head}\r\n\r\n"));
        assert_eq!(script.conn.active(), 0);
        script.says(GET);
        assert_eq!(script.heard().len(), 2, "the connection goes on");
    }
}

#[test]
fn connection_close_from_the_client_closes_after_the_answer() {
    let input = format!("GET / HTTP/1.1\r\nhost: a\r\nConnection: x, Close\r\n\r\n{GET}");
    let (heard, wrote) = server_hears(answer_at_once, &input);
    assert_eq!(
        heard,
        ["1 GET / end", "closed ByPeer(H2Code(0))"],
        "what follows is ignored"
    );
    assert_eq!(
        wrote,
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
}

#[test]
fn connection_close_from_the_owner_closes_after_the_answer() {
    let mut script = Script::server();
    script.says(GET.repeat(2));
    script.respond(1, &response(200, &[("connection", "close")]), true);
    assert_eq!(
        script.wrote(),
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    assert_eq!(
        script.heard(),
        ["1 GET / end", "2 GET / end", "2 reset Drained", DRAINED]
    );
    assert!(script.conn.is_closed());
}

#[test]
fn an_http_1_0_client_gets_a_body_until_the_connection_closes() {
    let (heard, wrote) = at_every_split(Script::server, 18, |script| {
        script.says("GET / HTTP/1.0\r\n\r\n");
        script.respond(1, &response(200, &[]), false);
        script.send(1, "hello", false);
        assert!(!script.conn.is_closed());
        script.send(1, "", true);
        assert!(script.conn.is_closed());
    });
    assert_eq!(heard, ["1 GET / end", "closed ByPeer(H2Code(0))"]);
    assert_eq!(wrote, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello");
}

#[test]
fn an_http_1_0_client_that_asks_for_it_is_kept() {
    let input = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n".repeat(2);
    let (heard, wrote) = server_hears(answer_at_once, &input);
    assert_eq!(heard, ["1 GET / end", "2 GET / end"]);
    let one = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n";
    assert_eq!(wrote, one.repeat(2));
}

const EXPECTING: &str =
    "PUT / HTTP/1.1\r\nhost: a\r\nExpect: 100-Continue\r\ncontent-length: 2\r\n\r\n";

#[test]
fn a_client_that_waits_for_100_gets_it_when_the_body_is_wanted() {
    let (heard, wrote) = at_every_split(Script::server, EXPECTING.len(), |script| {
        script.says(EXPECTING);
        assert_eq!(script.wrote(), "", "nobody wants the body yet");
        script.conn.consume(script.now, StreamId(1), 0);
        script.conn.consume(script.now, StreamId(1), 0);
        script.listen();
        assert_eq!(script.wrote(), "HTTP/1.1 100 Continue\r\n\r\n", "once");
        script.says("ok");
        script.respond(1, &response(200, &[]), true);
    });
    assert_eq!(heard, ["1 PUT /", "1 body ok end"]);
    assert_eq!(wrote, EMPTY_200);
}

#[test]
fn a_client_that_does_not_wait_for_100_gets_none() {
    let mut script = Script::server().reacting(take_body);
    script.says(format!("{EXPECTING}ok"));
    script.respond(1, &response(200, &[]), true);
    assert_eq!(script.wrote(), EMPTY_200);
}

#[test]
fn a_final_answer_instead_of_100_closes_the_connection() {
    let (heard, wrote) = server_hears(answer_at_once, EXPECTING);
    assert_eq!(heard, ["1 PUT /", "1 reset Drained", DRAINED]);
    assert!(wrote.contains("connection: close"), "{wrote}");
}

#[test]
fn an_unknown_expectation_is_refused_with_417() {
    let input = "GET / HTTP/1.1\r\nhost: a\r\nexpect: 200-ok\r\n\r\n";
    let (heard, wrote) = server_hears(answer_at_once, input);
    assert_eq!(heard, ["closed ByUs(ExpectationUnknown)"]);
    assert!(wrote.starts_with("HTTP/1.1 417 "), "{wrote}");
}

#[test]
fn interim_responses_go_out_before_the_final_one() {
    let mut script = Script::server();
    script.says(GET);
    let hints = response(103, &[("link", "</a>")]);
    script
        .conn
        .send_interim(script.now, StreamId(1), &hints)
        .unwrap();
    script.respond(1, &response(200, &[]), true);
    assert_eq!(
        script.wrote(),
        format!("HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n{EMPTY_200}")
    );
}

#[test]
fn an_http_1_0_client_gets_neither_an_interim_response_nor_a_switch() {
    let mut script = Script::server();
    script.says("GET / HTTP/1.0\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
    let hints = response(103, &[("link", "</a>")]);
    let (now, stream) = (script.now, StreamId(1));
    script.conn.send_interim(now, stream, &hints).unwrap();
    assert_eq!(script.wrote(), "", "RFC 9110 section 15.2");
    let refused = script.conn.respond(now, stream, &response(101, &[]), false);
    assert_eq!(refused, Err(Misuse::Invalid(Violation::StatusInvalid)));
    script.respond(1, &response(200, &[]), true);
    let wrote = script.wrote();
    assert!(wrote.starts_with("HTTP/1.1 200 OK\r\n"), "{wrote}");
}

#[test]
fn a_refused_request_is_answered_after_those_before_it_and_nothing_after_it_is() {
    let input = format!("{GET}GET / HTTP/9.9\r\n\r\n{GET}");
    let (heard, wrote) = at_every_split(Script::server, input.len(), |script| {
        script.says(&input);
        assert_eq!(script.wrote(), "", "the first has no answer yet");
        assert!(!script.conn.is_closed());
        script.respond(1, &response(200, &[]), true);
        script.says(GET);
    });
    assert_eq!(heard, ["1 GET / end", "closed ByUs(VersionUnsupported)"]);
    assert_eq!(
        wrote,
        format!(
            "{EMPTY_200}HTTP/1.1 505 HTTP Version Not Supported\r\n\
             content-length: 0\r\nconnection: close\r\n\r\n"
        )
    );
}

#[test]
fn a_body_that_breaks_before_the_answer_is_answered_with_400() {
    let input = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabcX";
    let (heard, wrote) = server_hears(take_body, input);
    assert_eq!(
        heard,
        [
            "1 POST /",
            "1 body abc",
            "1 reset ChunkInvalid",
            "closed ByUs(ChunkInvalid)"
        ]
    );
    assert!(wrote.starts_with("HTTP/1.1 400 "), "{wrote}");
}

#[test]
fn a_body_that_breaks_after_the_head_of_the_answer_cuts_the_answer_off() {
    let mut script = Script::server().reacting(take_body);
    script.says("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
    script.respond(1, &response(200, &[]), false);
    script.wrote();
    script.says("x");
    assert_eq!(script.wrote(), "", "no last chunk, no second head");
    assert_eq!(
        script.heard(),
        [
            "1 POST /",
            "1 reset ChunkInvalid",
            "closed ByUs(ChunkInvalid)"
        ]
    );
}

#[test]
fn a_switch_hands_the_rest_over() {
    let input = "GET /ws HTTP/1.1\r\nhost: a\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\nraw";
    let (heard, wrote) = at_every_split(Script::server, input.len(), |script| {
        script.says(input);
        let fields = [("upgrade", "echo"), ("connection", "upgrade")];
        script.respond(1, &response(101, &fields), false);
        assert!(!script.conn.wants_read());
    });
    assert_eq!(heard, ["1 GET /ws end", "1 upgraded raw"]);
    assert_eq!(
        wrote,
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n"
    );
}

#[test]
fn a_client_that_waits_for_100_gets_it_before_101() {
    let head = "POST /ws HTTP/1.1\r\nhost: a\r\nupgrade: echo\r\nconnection: upgrade\r\n\
                expect: 100-continue\r\ncontent-length: 3\r\n\r\n";
    let (heard, wrote) = at_every_split(Script::server, head.len(), |script| {
        script.says(head);
        let fields = [("upgrade", "echo"), ("connection", "upgrade")];
        script.respond(1, &response(101, &fields), false);
        script.says("abc");
    });
    assert_eq!(heard, ["1 POST /ws", "1 body abc end", "1 upgraded "]);
    assert_eq!(
        wrote,
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\n\
         connection: upgrade\r\n\r\n"
    );
}

#[test]
fn a_switch_that_is_not_taken_goes_on_as_http() {
    let input =
        format!("GET / HTTP/1.1\r\nhost: a\r\nupgrade: h2c\r\nconnection: Upgrade\r\n\r\n{GET}");
    let (heard, _) = at_every_split(Script::server, input.len(), |script| {
        script.says(&input);
        assert_eq!(
            script.conn.active(),
            1,
            "the next bytes may be another protocol's"
        );
        script.respond(1, &response(200, &[]), true);
    });
    assert_eq!(heard, ["1 GET / end", "2 GET / end"]);
}

#[test]
fn a_switch_that_nobody_asked_for_is_misuse() {
    let mut script = Script::server();
    script.says(GET);
    let refused = script
        .conn
        .respond(script.now, StreamId(1), &response(101, &[]), false);
    assert_eq!(refused, Err(Misuse::Invalid(Violation::StatusInvalid)));
}

#[test]
fn connect_becomes_a_tunnel_with_2xx_and_closes_otherwise() {
    let input = "CONNECT x:1 HTTP/1.1\r\nhost: x:1\r\n\r\nraw";
    let (heard, wrote) = at_every_split(Script::server, input.len(), |script| {
        script.says(input);
        script.respond(1, &response(200, &[("content-length", "3")]), false);
    });
    assert_eq!(heard, ["1 CONNECT x:1 end", "1 upgraded raw"]);
    assert_eq!(wrote, "HTTP/1.1 200 OK\r\n\r\n");

    let (heard, wrote) = at_every_split(Script::server, input.len(), |script| {
        script.says(input);
        script.respond(1, &response(403, &[]), true);
    });
    assert_eq!(heard, ["1 CONNECT x:1 end", DRAINED]);
    assert!(wrote.contains("connection: close"), "{wrote}");
}

#[test]
fn an_unread_body_stops_reading_until_it_is_consumed() {
    let mut script = Script::server();
    script.says(format!(
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n",
        2 * UNREAD_BODY_BYTES_MAX
    ));
    assert!(script.conn.wants_read());
    script.says(vec![b'x'; UNREAD_BODY_BYTES_MAX]);
    assert!(!script.conn.wants_read());
    script.conn.consume(script.now, StreamId(1), 1);
    assert!(script.conn.wants_read());
}

#[test]
fn a_full_outbox_stops_reading_and_the_room_comes_back() {
    let mut script = Script::server();
    script.says(GET);
    script.respond(1, &response(200, &[]), false);
    let room = script.conn.send_room(StreamId(1));
    let body = Bytes::from(vec![b'x'; room]);
    script
        .conn
        .send_body(script.now, StreamId(1), body, false)
        .unwrap();
    assert_eq!(script.conn.send_room(StreamId(1)), 0);
    assert!(!script.conn.wants_read());
    script.hears();
    script.heard();
    script.write(1000);
    script.hears();
    assert!(script.heard().is_empty(), "too little to be worth telling");
    script.listen();
    assert_eq!(script.heard(), ["1 ready"]);
    assert!(script.conn.wants_read());
}

#[test]
fn what_is_left_of_a_body_nobody_reads_is_thrown_away_within_bounds() {
    for (length, heard) in [
        (UNREAD_BODY_BYTES_MAX, vec!["2 GET / end"]),
        (UNREAD_BODY_BYTES_MAX + 1, vec!["1 reset Drained", DRAINED]),
    ] {
        let mut script = Script::server();
        script.says(format!(
            "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n"
        ));
        script.respond(1, &response(200, &[]), true);
        script.conn.handler_done(StreamId(1));
        script.heard();
        script.says(vec![b'x'; length]);
        script.says(GET);
        assert_eq!(script.heard(), heard, "{length}");
    }
}

#[test]
fn a_reset_closes_after_the_answers_before_it() {
    let mut script = Script::server();
    script.says(GET.repeat(3));
    script.conn.reset(script.now, StreamId(2), H2Code::CANCEL);
    script.listen();
    assert!(!script.conn.is_closed());
    script.heard();
    script.respond(1, &response(200, &[]), true);
    assert_eq!(script.heard(), ["3 reset Drained", DRAINED], "2 knows");
    assert_eq!(script.wrote(), EMPTY_200);
}

#[test]
fn a_shut_down_says_close_with_the_last_answer() {
    let mut script = Script::server();
    script.says(format!("{GET}{GET}GET /never HTTP/1.1\r\n"));
    script.conn.shut_down(script.now);
    script.says("host: a\r\n\r\n");
    script.respond(1, &response(200, &[]), true);
    script.respond(2, &response(200, &[]), true);
    assert_eq!(script.heard(), ["1 GET / end", "2 GET / end", DRAINED]);
    assert_eq!(
        script.wrote(),
        format!("{EMPTY_200}HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    );
}

#[test]
fn a_shut_down_closes_an_idle_connection_at_once() {
    let mut script = Script::server();
    script.conn.shut_down(script.now);
    script.listen();
    assert_eq!(script.heard(), [DRAINED]);
}

#[test]
fn the_last_request_that_a_connection_may_have_is_told_so() {
    let mut config = Config::default();
    config.limits.requests_per_connection_max = 2;
    let mut script = Script::new(Side::Server, config).reacting(answer_at_once);
    script.says(GET.repeat(3));
    assert_eq!(script.heard(), ["1 GET / end", "2 GET / end", DRAINED]);
    assert!(script.wrote().ends_with("connection: close\r\n\r\n"));
}

#[test]
fn an_end_of_input_resets_what_is_open_and_keeps_what_is_answered() {
    let mut script = Script::server();
    script
        .conn
        .handle_bytes(script.now, GET.repeat(2).as_bytes());
    script
        .conn
        .respond(script.now, StreamId(1), &response(200, &[]), true)
        .unwrap();
    script.hangs_up();
    assert_eq!(
        script.heard(),
        [
            "1 GET / end",
            "2 GET / end",
            "2 reset Transport",
            "closed Transport"
        ]
    );
    assert_eq!(script.wrote(), EMPTY_200);
    script.hangs_up();
    assert!(script.heard().is_empty(), "once");
}

#[test]
fn a_slow_head_is_answered_with_408() {
    let mut script = Script::server();
    script.says("GET / HT");
    script.waits(Duration::from_secs(14));
    script.says("TP/1.1\r\n");
    assert!(script.heard().is_empty());
    script.waits(Duration::from_secs(2));
    assert_eq!(script.heard(), ["closed ByUs(HeadTimeout)"]);
    assert!(script.wrote().starts_with("HTTP/1.1 408 "));
}

#[test]
fn an_idle_connection_closes_in_silence() {
    let mut script = Script::server().reacting(answer_at_once);
    script.waits(Duration::from_secs(59));
    script.says(GET);
    script.waits(Duration::from_secs(59));
    script.heard();
    script.wrote();
    script.waits(Duration::from_secs(2));
    assert_eq!(script.heard(), ["closed Idle"]);
    assert_eq!(script.wrote(), "");
}

#[test]
fn a_request_that_came_in_time_is_not_idle_before_bytes_go_out() {
    let mut script = Script::server();
    script.waits(Duration::from_secs(59));
    script.conn.handle_bytes(script.now, GET.as_bytes());
    script.now += Duration::from_secs(2);
    script.conn.handle_timeout(script.now);
    script.listen();
    assert_eq!(script.heard(), ["1 GET / end"]);
}

#[test]
fn requests_that_differ_in_their_path_alone_are_read_as_any() {
    let request =
        |path: &str| format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok");
    let paths = ["/", "/", "/a", "/b?c", "/b?c", "/a", "http://a/x", "/d"];
    let input: String = paths.map(request).concat();
    let (heard, wrote) = server_hears(answer_when_complete, &input);
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
    assert_eq!(heard, expected);
    assert_eq!(wrote, EMPTY_200.repeat(paths.len()));
}

#[test]
fn a_known_head_with_another_path_must_meet_the_limits_as_any() {
    let mut config = Config::default();
    config.limits.target_bytes_max = 20;
    let mut script = Script::new(Side::Server, config).reacting(answer_at_once);
    script.says(GET.repeat(3));
    assert_eq!(script.heard().len(), 3);
    script.wrote();
    script.says(GET.replace("/ ", &format!("/{} ", "x".repeat(20))));
    assert_eq!(script.heard(), ["closed ByUs(TargetTooLong)"]);
    assert!(script.wrote().starts_with("HTTP/1.1 414 "));
}

#[test]
fn a_numbered_head_is_written_once_and_copied_where_its_lines_would_be_the_same() {
    let requests = [
        GET,
        GET,
        "HEAD / HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n",
        GET,
        "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
    ];
    let written = |numbered: bool| {
        let mut head = response(200, &[("content-length", "2"), ("server", "t")]);
        if numbered {
            head.set_number(NonZeroU64::MIN);
        }
        let mut script = Script::server();
        let mut kept = Vec::new();
        for (stream, request) in (1..).zip(requests) {
            script.says(request);
            script.respond(stream, &head, false);
            script.send(stream, "ok", true);
            kept.push(script.conn.last_answer.find(&head).is_some());
        }
        assert!(!kept[0], "one exchange pays nothing for a second");
        assert_eq!(kept[1..], [numbered; 5]);
        script.wrote()
    };
    assert_eq!(written(true), written(false));
    // Whoever numbers two heads alike vouches for it.
    let mut script = Script::server();
    for (stream, length) in [(1, "2"), (2, "2"), (3, "02")] {
        let mut head = response(200, &[("content-length", length)]);
        head.set_number(NonZeroU64::MIN);
        script.says(GET);
        script.respond(stream, &head, false);
        script.send(stream, "ok", true);
    }
    assert_eq!(script.wrote().matches("content-length: 2\r\n").count(), 3);
}

#[test]
fn a_body_that_stops_coming_times_out_only_while_it_is_wanted() {
    let mut config = Config::default();
    config.timeouts.rate_min = 0;
    let mut script = Script::new(Side::Server, config);
    script.says(EXPECTING);
    script.waits(Duration::from_secs(3000));
    assert_eq!(script.heard(), ["1 PUT /"], "the client waits for us");
    script.conn.consume(script.now, StreamId(1), 0);
    script.waits(Duration::from_secs(29));
    script.says("o");
    script.waits(Duration::from_secs(29));
    assert_eq!(script.heard(), ["1 body o"]);
    script.waits(Duration::from_secs(2));
    assert_eq!(
        script.heard(),
        ["1 reset BodyTimeout", "closed ByUs(BodyTimeout)"]
    );
}

#[test]
fn the_time_in_which_nobody_reads_is_not_the_peers() {
    let mut script = Script::server();
    script.says("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\n\r\n");
    script.waits(Duration::from_secs(9));
    let pause = Duration::from_secs(3000);
    script.now += pause;
    script.conn.postpone(pause);
    script.conn.handle_timeout(script.now);
    assert_eq!(script.heard(), ["1 POST /"], "it has a second left");
    script.says("all of");
    assert_eq!(script.heard(), ["1 body all of end"]);
}

#[test]
fn a_dribbled_body_is_too_slow() {
    let mut script = Script::server().reacting(take_body);
    script.says("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n");
    for _ in 0..12 {
        script.waits(Duration::from_secs(1));
        script.says("x");
    }
    let heard = script.heard();
    assert_eq!(
        heard.last().map(String::as_str),
        Some("closed ByUs(RateTooLow)")
    );
}

#[test]
fn a_peer_that_reads_nothing_is_given_up() {
    let mut config = Config::default();
    config.timeouts.rate_min = 0;
    let mut script = Script::new(Side::Server, config);
    script.conn.handle_bytes(script.now, GET.as_bytes());
    script
        .conn
        .respond(script.now, StreamId(1), &response(200, &[]), false)
        .unwrap();
    script.hears();
    script.now += Duration::from_secs(29);
    script.write(1);
    script.now += Duration::from_secs(29);
    script.conn.handle_timeout(script.now);
    script.hears();
    assert!(!script.conn.is_closed(), "one byte was taken");
    script.now += Duration::from_secs(2);
    script.conn.handle_timeout(script.now);
    script.hears();
    assert_eq!(
        script.heard(),
        [
            "1 GET / end",
            "1 reset ByUs(WriteStalled)",
            "closed ByUs(WriteStalled)"
        ]
    );
}

#[test]
fn recycled_memory_serves_the_next_head() {
    let mut script = Script::server();
    script.says("GET / HTTP/1.1\r\nhost: a\r\nx-one: 1\r\n\r\n");
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
    script.says(GET);
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
