//! The server's side: which connections stay open, and how they end.

use super::script::*;
use crate::error::H2Code;
use crate::http::{Side, StreamId};
use crate::limits::Config;
use std::time::Duration;

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const EMPTY_200: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const CLOSING_200: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const DRAINED: &str = "closed Drained";

#[test]
fn connection_close_from_the_client_closes_after_the_answer() {
    let input = format!("GET / HTTP/1.1\r\nhost: a\r\nConnection: x, Close\r\n\r\n{GET}");
    let (received, wrote) = server_receives(answer_at_once, &input);
    assert_eq!(
        received,
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
    script.connection_lists(GET.repeat(2));
    script.respond(1, &response(200, &[("connection", "close")]), true);
    assert_eq!(
        script.wrote(),
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    );
    assert_eq!(
        script.received(),
        ["1 GET / end", "2 GET / end", "2 reset Drained", DRAINED]
    );
    assert!(script.conn.is_closed());
}

#[test]
fn an_http_1_0_client_gets_a_body_until_the_connection_closes() {
    let (received, wrote) = at_every_split(Script::server, 18, |script| {
        script.connection_lists("GET / HTTP/1.0\r\n\r\n");
        script.respond(1, &response(200, &[]), false);
        script.send(1, "hello", false);
        assert!(!script.conn.is_closed());
        script.send(1, "", true);
        assert!(script.conn.is_closed());
    });
    assert_eq!(received, ["1 GET / end", "closed ByPeer(H2Code(0))"]);
    assert_eq!(wrote, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello");
}

#[test]
fn an_http_1_0_client_that_asks_for_it_is_kept() {
    let input = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n".repeat(2);
    let (received, wrote) = server_receives(answer_at_once, &input);
    assert_eq!(received, ["1 GET / end", "2 GET / end"]);
    let one = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n";
    assert_eq!(wrote, one.repeat(2));
}

#[test]
fn a_refused_request_is_answered_after_those_before_it_and_nothing_after_it_is() {
    let input = format!("{GET}GET / HTTP/9.9\r\n\r\n{GET}");
    let (received, wrote) = at_every_split(Script::server, input.len(), |script| {
        script.connection_lists(&input);
        assert_eq!(script.wrote(), "", "the first has no answer yet");
        assert!(!script.conn.is_closed());
        script.respond(1, &response(200, &[]), true);
        script.connection_lists(GET);
    });
    assert_eq!(received, ["1 GET / end", "closed ByUs(VersionUnsupported)"]);
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
    let (received, wrote) = server_receives(take_body, input);
    assert_eq!(
        received,
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
    script.connection_lists("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
    script.respond(1, &response(200, &[]), false);
    script.wrote();
    script.connection_lists("x");
    assert_eq!(script.wrote(), "", "no last chunk, no second head");
    assert_eq!(
        script.received(),
        [
            "1 POST /",
            "1 reset ChunkInvalid",
            "closed ByUs(ChunkInvalid)"
        ]
    );
}

#[test]
fn a_reset_closes_after_the_answers_before_it() {
    let mut script = Script::server();
    script.connection_lists(GET.repeat(3));
    script.conn.reset(script.now, StreamId(2), H2Code::CANCEL);
    script.listen();
    assert!(!script.conn.is_closed());
    script.received();
    script.respond(1, &response(200, &[]), true);
    assert_eq!(script.received(), ["3 reset Drained", DRAINED], "2 knows");
    assert_eq!(script.wrote(), EMPTY_200);
}

#[test]
fn a_shut_down_says_close_with_the_last_answer() {
    let mut script = Script::server();
    script.connection_lists(format!("{GET}{GET}GET /never HTTP/1.1\r\n"));
    script.conn.shut_down(script.now);
    script.connection_lists("host: a\r\n\r\n");
    script.respond(1, &response(200, &[]), true);
    script.respond(2, &response(200, &[]), true);
    assert_eq!(script.received(), ["1 GET / end", "2 GET / end", DRAINED]);
    assert_eq!(
        script.wrote(),
        format!("{EMPTY_200}HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    );
}

#[test]
fn a_shut_down_closes_an_idle_connection_at_once() {
    let mut script = Script::server().reacting(answer_at_once);
    script.connection_lists(GET);
    script.conn.shut_down(script.now);
    script.listen();
    assert_eq!(script.received(), ["1 GET / end", DRAINED]);
}

#[test]
fn a_shut_down_answers_the_first_request_of_a_connection_and_no_other() {
    let input = format!("{GET}{GET}");
    let (received, wrote) = at_every_split(
        || {
            let mut script = Script::server().reacting(answer_at_once);
            script.conn.shut_down(script.now);
            script
        },
        input.len(),
        |script| script.connection_lists(&input),
    );
    assert_eq!(received, ["1 GET / end", DRAINED]);
    assert_eq!(wrote, CLOSING_200);
}

#[test]
fn a_shut_down_answers_a_request_whose_head_has_begun() {
    for at in 1..GET.len() {
        let mut script = Script::server().reacting(answer_at_once);
        script.connection_lists(format!("{GET}{}", &GET[..at]));
        script.conn.shut_down(script.now);
        script.connection_lists(&GET[at..]);
        assert_eq!(
            script.received(),
            ["1 GET / end", "2 GET / end", DRAINED],
            "{at}"
        );
        assert_eq!(script.wrote(), format!("{EMPTY_200}{CLOSING_200}"), "{at}");
    }
}

#[test]
fn a_shut_down_waits_a_second_for_a_first_request_and_for_a_head_as_ever() {
    let mut config = Config::default();
    for idle in [Some(60), None] {
        config.timeouts.idle = idle.map(Duration::from_secs);
        let mut script = Script::new(Side::Server, config.clone());
        script.conn.shut_down(script.now);
        script.listen();
        script.waits(Duration::from_millis(999));
        assert_eq!(script.received(), [""; 0], "{idle:?}");
        script.waits(Duration::from_millis(2));
        assert_eq!(script.received(), [DRAINED], "{idle:?}");
    }
    let mut script = Script::server();
    script.connection_lists(&GET[..GET.len() - 1]);
    script.conn.shut_down(script.now);
    script.waits(Duration::from_secs(14));
    assert_eq!(script.received(), [""; 0]);
    script.waits(Duration::from_secs(2));
    assert!(script.wrote().starts_with("HTTP/1.1 408 "));
    assert!(script.conn.is_closed());
}

#[test]
fn a_shut_down_ends_with_a_client_that_leaves_without_a_request() {
    let mut script = Script::server();
    script.conn.shut_down(script.now);
    script.ends();
    assert!(script.conn.is_closed());
    assert_eq!(script.received().len(), 1, "the connection's end");
}

#[test]
fn the_last_request_that_a_connection_may_have_learns_it() {
    let mut config = Config::default();
    config.limits.requests_per_connection_max = 2;
    let mut script = Script::new(Side::Server, config).reacting(answer_at_once);
    script.connection_lists(GET.repeat(3));
    assert_eq!(script.received(), ["1 GET / end", "2 GET / end", DRAINED]);
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
        script.received(),
        [
            "1 GET / end",
            "2 GET / end",
            "2 reset Transport(Failed)",
            "closed Transport(Failed)"
        ]
    );
    assert_eq!(script.wrote(), EMPTY_200);
    script.hangs_up();
    assert!(script.received().is_empty(), "once");
}
