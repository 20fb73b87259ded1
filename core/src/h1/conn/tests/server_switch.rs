//! The server's side: what comes before an answer, and what leaves HTTP.

use super::script::*;
use crate::error::{Misuse, Violation};
use crate::http::StreamId;

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const EMPTY_200: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const DRAINED: &str = "closed Drained";
const EXPECTING: &str =
    "PUT / HTTP/1.1\r\nhost: a\r\nExpect: 100-Continue\r\ncontent-length: 2\r\n\r\n";

#[test]
fn a_client_that_waits_for_100_gets_it_when_the_body_is_wanted() {
    let (received, wrote) = at_every_split(Script::server, EXPECTING.len(), |script| {
        script.connection_lists(EXPECTING);
        assert_eq!(script.wrote(), "", "nobody wants the body yet");
        script.conn.consume(script.now, StreamId(1), 0);
        script.conn.consume(script.now, StreamId(1), 0);
        script.listen();
        assert_eq!(script.wrote(), "HTTP/1.1 100 Continue\r\n\r\n", "once");
        script.connection_lists("ok");
        script.respond(1, &response(200, &[]), true);
    });
    assert_eq!(received, ["1 PUT /", "1 body ok end"]);
    assert_eq!(wrote, EMPTY_200);
}

#[test]
fn a_client_that_does_not_wait_for_100_gets_none() {
    let mut script = Script::server().reacting(take_body);
    script.connection_lists(format!("{EXPECTING}ok"));
    script.respond(1, &response(200, &[]), true);
    assert_eq!(script.wrote(), EMPTY_200);
}

#[test]
fn a_final_answer_instead_of_100_closes_the_connection() {
    let (received, wrote) = server_receives(answer_at_once, EXPECTING);
    assert_eq!(received, ["1 PUT /", "1 reset Drained", DRAINED]);
    assert!(wrote.contains("connection: close"), "{wrote}");
}

#[test]
fn an_unknown_expectation_is_refused_with_417() {
    let input = "GET / HTTP/1.1\r\nhost: a\r\nexpect: 200-ok\r\n\r\n";
    let (received, wrote) = server_receives(answer_at_once, input);
    assert_eq!(received, ["closed ByUs(ExpectationUnknown)"]);
    assert!(wrote.starts_with("HTTP/1.1 417 "), "{wrote}");
}

#[test]
fn an_empty_expectation_expects_nothing() {
    let input = "POST / HTTP/1.1\r\nhost: a\r\nexpect:\r\ncontent-length: 0\r\n\r\n";
    let (_, wrote) = server_receives(answer_at_once, input);
    assert!(wrote.starts_with("HTTP/1.1 200 "), "{wrote}");
}

#[test]
fn interim_responses_go_out_before_the_final_one() {
    let mut script = Script::server();
    script.connection_lists(GET);
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
    script.connection_lists("GET / HTTP/1.0\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
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
fn a_switch_hands_the_rest_over() {
    let input = "GET /ws HTTP/1.1\r\nhost: a\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\nraw";
    let (received, wrote) = at_every_split(Script::server, input.len(), |script| {
        script.connection_lists(input);
        let fields = [("upgrade", "echo"), ("connection", "upgrade")];
        script.respond(1, &response(101, &fields), false);
        assert!(!script.conn.wants_read());
    });
    assert_eq!(received, ["1 GET /ws end", "1 upgraded raw"]);
    assert_eq!(
        wrote,
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n"
    );
}

#[test]
fn a_client_that_waits_for_100_gets_it_before_101() {
    let head = "POST /ws HTTP/1.1\r\nhost: a\r\nupgrade: echo\r\nconnection: upgrade\r\n\
                expect: 100-continue\r\ncontent-length: 3\r\n\r\n";
    let (received, wrote) = at_every_split(Script::server, head.len(), |script| {
        script.connection_lists(head);
        let fields = [("upgrade", "echo"), ("connection", "upgrade")];
        script.respond(1, &response(101, &fields), false);
        script.connection_lists("abc");
    });
    assert_eq!(received, ["1 POST /ws", "1 body abc end", "1 upgraded "]);
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
    let (received, _) = at_every_split(Script::server, input.len(), |script| {
        script.connection_lists(&input);
        assert_eq!(
            script.conn.active(),
            1,
            "the next bytes may be another protocol's"
        );
        script.respond(1, &response(200, &[]), true);
    });
    assert_eq!(received, ["1 GET / end", "2 GET / end"]);
}

#[test]
fn a_switch_that_nobody_asked_for_is_misuse() {
    let mut script = Script::server();
    script.connection_lists(GET);
    let refused = script
        .conn
        .respond(script.now, StreamId(1), &response(101, &[]), false);
    assert_eq!(refused, Err(Misuse::Invalid(Violation::StatusInvalid)));
}

#[test]
fn connect_becomes_a_tunnel_with_2xx_and_closes_otherwise() {
    let input = "CONNECT x:1 HTTP/1.1\r\nhost: x:1\r\n\r\nraw";
    let (received, wrote) = at_every_split(Script::server, input.len(), |script| {
        script.connection_lists(input);
        script.respond(1, &response(200, &[("content-length", "3")]), false);
    });
    assert_eq!(received, ["1 CONNECT x:1 end", "1 upgraded raw"]);
    assert_eq!(wrote, "HTTP/1.1 200 OK\r\n\r\n");

    let (received, wrote) = at_every_split(Script::server, input.len(), |script| {
        script.connection_lists(input);
        script.respond(1, &response(403, &[]), true);
    });
    assert_eq!(received, ["1 CONNECT x:1 end", DRAINED]);
    assert!(wrote.contains("connection: close"), "{wrote}");
}

#[test]
fn a_connection_that_left_http_stays_open_whatever_its_head_said() {
    let upgrade = "host: a\r\nupgrade: echo\r\nconnection:";
    let cases = [
        (
            "CONNECT x:1 HTTP/1.1\r\nhost: x:1\r\nconnection: close\r\n\r\n".to_owned(),
            200,
        ),
        (
            "CONNECT x:1 HTTP/1.1\r\nhost: x:1\r\nconnection: keep-alive\r\n\r\n".to_owned(),
            200,
        ),
        ("CONNECT x:1 HTTP/1.0\r\n\r\n".to_owned(), 200),
        (
            "CONNECT x:1 HTTP/1.0\r\nconnection: close\r\n\r\n".to_owned(),
            299,
        ),
        (
            format!("GET / HTTP/1.1\r\n{upgrade} upgrade, close\r\n\r\n"),
            101,
        ),
        (
            format!("GET / HTTP/1.1\r\n{upgrade} close, upgrade\r\n\r\n"),
            101,
        ),
    ];
    for (head, status) in cases {
        for drains in [false, true] {
            let input = format!("{head}raw");
            let (received, wrote) = at_every_split(Script::server, input.len(), |script| {
                script.connection_lists(&*input);
                if drains {
                    script.conn.shut_down(script.now);
                }
                let fields = [("upgrade", "echo"), ("connection", "upgrade, close")];
                let fields = if status == 101 { &fields[..] } else { &[] };
                script.respond(1, &response(status, fields), false);
                script.conn.advance(script.now);
            });
            let last = received.last().map(String::as_str);
            assert_eq!(last, Some("1 upgraded raw"), "{head} {status} {received:?}");
            assert!(wrote.ends_with("\r\n\r\n"), "{head}: {wrote}");
        }
    }
}

#[test]
fn bytes_behind_a_request_that_may_leave_http_are_shown_before_its_answer() {
    let input = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nfirst";
    at_every_split(Script::server, input.len(), |script| {
        script.connection_lists(input);
        assert_eq!(script.conn.upgrade_head(), b"first");
        let switch = response(101, &[("connection", "upgrade"), ("upgrade", "x")]);
        script.respond(1, &switch, true);
        assert_eq!(script.conn.upgrade_head(), b"");
        let received = script.received();
        assert_eq!(
            received.last().map(String::as_str),
            Some("1 upgraded first")
        );
    });
}

#[test]
fn bytes_behind_a_request_that_stays_are_another_request() {
    let mut script = Script::server();
    script.connection_lists(GET);
    script.connection_lists("GET /2 HT");
    assert_eq!(script.conn.upgrade_head(), b"");
}
