//! A client that closes its side behind its requests: each whole request is answered.

use super::script::*;
use crate::http::Side;
use crate::limits::{Config, PIPELINED_REQUESTS_MAX};
use std::time::Duration;

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const REPORTED: &str = "input ended";
const CLOSED: &str = "closed Transport(InOrder)";

fn server_with(half_closed: Option<Duration>) -> Script {
    let mut config = Config::default();
    config.timeouts.half_closed = half_closed;
    Script::new(Side::Server, config)
}

#[test]
fn a_late_answer_reaches_a_client_that_has_ended_its_side() {
    let (received, wrote) = at_every_split(Script::server, GET.len(), |script| {
        script.connection_lists(GET);
        script.ends();
        script.waits(Duration::from_secs(5));
        script.respond(1, &response(200, &[]), true);
    });
    assert_eq!(received, ["1 GET / end", REPORTED, CLOSED]);
    assert_eq!(
        wrote,
        "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
}

#[test]
fn an_answer_that_has_begun_goes_on() {
    let mut script = Script::server();
    script.connection_lists(GET);
    script.respond(1, &response(200, &[("content-length", "4")]), false);
    script.send(1, "ab", false);
    script.ends();
    assert_eq!(script.received(), ["1 GET / end", REPORTED]);
    script.send(1, "cd", true);
    assert_eq!(script.received(), [CLOSED]);
    assert!(script.wrote().ends_with("\r\n\r\nabcd"));
}

#[test]
fn pipelined_requests_are_all_answered_and_what_is_begun_behind_them_is_dropped() {
    let count = PIPELINED_REQUESTS_MAX + 3;
    let mut script = Script::server().reacting(|_, _| {});
    script.connection_lists(format!("{}GET / HT", GET.repeat(count)));
    script.ends();
    assert_eq!(
        script.received().len(),
        PIPELINED_REQUESTS_MAX,
        "not told before all is read"
    );
    for stream in 1..=count as u64 {
        script.respond(stream, &response(200, &[]), true);
    }
    let received = script.received();
    assert_eq!(received.len(), 3 + 2, "{received:?}");
    assert_eq!(received[3..], [REPORTED, CLOSED]);
    let wrote = script.wrote();
    assert_eq!(wrote.matches("HTTP/1.1 200 OK").count(), count);
    assert_eq!(wrote.matches("connection: close").count(), 1);
    assert!(!wrote.contains("408"), "nobody is blamed for half a head");
}

#[test]
fn a_request_that_is_not_whole_is_reset_and_those_before_it_are_answered() {
    let input = format!("{GET}POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf");
    let mut script = Script::server();
    script.connection_lists(&input);
    script.ends();
    assert_eq!(
        script.received(),
        [
            "1 GET / end",
            "2 POST /",
            "2 body half",
            "2 reset Transport(InOrder)",
            REPORTED
        ]
    );
    script.respond(1, &response(200, &[]), true);
    assert_eq!(script.received(), [CLOSED]);
    assert!(script.wrote().starts_with("HTTP/1.1 200 OK\r\n"));
}

#[test]
fn an_upload_that_is_cut_off_ends_the_connection_at_once() {
    let mut script = Script::server();
    script.connection_lists(
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf",
    );
    script.ends();
    assert_eq!(
        script.received(),
        [
            "1 POST /",
            "1 body half",
            "1 reset Transport(InOrder)",
            CLOSED
        ]
    );
    assert_eq!(script.wrote(), "");
}

#[test]
fn a_client_that_ends_without_a_request_is_not_waited_for() {
    for begun in ["", "GET / HT"] {
        let mut script = Script::server();
        script.connection_lists(begun);
        script.ends();
        assert_eq!(script.received(), [CLOSED]);
        assert_eq!(script.wrote(), "");
        script.ends();
        assert!(script.received().is_empty(), "once");
    }
}

#[test]
fn a_switch_is_decided_though_the_client_has_ended_its_side() {
    let asks = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";
    let mut script = Script::server();
    script.connection_lists(asks);
    script.ends();
    assert_eq!(script.received(), ["1 GET / end"]);
    script.respond(1, &response(200, &[]), true);
    assert_eq!(script.received(), [CLOSED]);
    let mut script = Script::server();
    script.connection_lists(asks);
    script.ends();
    script.respond(1, &response(101, &[("upgrade", "x")]), false);
    assert_eq!(script.received(), ["1 GET / end", "1 upgraded "]);
}

#[test]
fn nobody_is_waited_for_longer_than_half_closed_says() {
    let mut script = server_with(Some(Duration::from_secs(3)));
    script.connection_lists(GET);
    script.waits(Duration::from_secs(10));
    script.ends();
    script.waits(Duration::from_millis(2999));
    assert_eq!(script.received(), ["1 GET / end", REPORTED]);
    script.waits(Duration::from_millis(1));
    assert_eq!(script.received(), ["1 reset Transport(InOrder)", CLOSED]);
}

#[test]
fn an_answer_that_moves_is_not_cut_by_half_closed() {
    let mut script = server_with(Some(Duration::from_secs(3)));
    script.connection_lists(GET);
    script.respond(1, &response(200, &[("content-length", "9")]), false);
    script.ends();
    for _ in 0..4 {
        script.waits(Duration::from_secs(2));
        script.send(1, "ab", false);
    }
    script.waits(Duration::from_secs(2));
    script.send(1, "c", true);
    assert_eq!(script.received(), ["1 GET / end", REPORTED, CLOSED]);
}

#[test]
fn half_closed_of_zero_takes_the_end_for_a_loss_of_interest_and_none_waits_for_ever() {
    let mut script = server_with(Some(Duration::ZERO));
    script.connection_lists(GET);
    script.ends();
    script.waits(Duration::ZERO);
    assert_eq!(
        script.received(),
        [
            "1 GET / end",
            REPORTED,
            "1 reset Transport(InOrder)",
            CLOSED
        ]
    );
    let mut script = server_with(None);
    script.connection_lists(GET);
    script.ends();
    script.waits(Duration::from_secs(3000));
    assert_eq!(script.received(), ["1 GET / end", REPORTED]);
}
