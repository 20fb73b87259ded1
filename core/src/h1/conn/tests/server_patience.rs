//! The server's side: how much it reads ahead, and how long it waits.

use super::script::*;
use crate::http::{Side, StreamId};
use crate::limits::{Config, Limits, Timeouts, UNREAD_BODY_BYTES_MAX};
use crate::machine::Machine;
use crate::min_rate::Scarcity;
use bytes::Bytes;
use std::time::Duration;

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const DRAINED: &str = "closed Drained";
const EXPECTING: &str =
    "PUT / HTTP/1.1\r\nhost: a\r\nExpect: 100-Continue\r\ncontent-length: 2\r\n\r\n";

#[test]
fn an_unread_body_stops_reading_until_it_is_consumed() {
    let mut script = Script::server();
    script.connection_lists(format!(
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n",
        2 * UNREAD_BODY_BYTES_MAX
    ));
    assert!(script.conn.wants_read());
    script.connection_lists(vec![b'x'; UNREAD_BODY_BYTES_MAX]);
    assert!(!script.conn.wants_read());
    script.conn.consume(script.now, StreamId(1), 1);
    assert!(script.conn.wants_read());
}

#[test]
fn a_full_outbox_stops_reading_and_the_room_comes_back() {
    let mut script = Script::server();
    script.connection_lists(GET);
    script.respond(1, &response(200, &[]), false);
    let room = script.conn.send_room(StreamId(1));
    let body = Bytes::from(vec![b'x'; room]);
    script
        .conn
        .send_body(script.now, StreamId(1), body, false)
        .unwrap();
    assert_eq!(script.conn.send_room(StreamId(1)), 0);
    assert!(!script.conn.wants_read());
    script.receives();
    script.received();
    script.write(1000);
    script.receives();
    assert!(
        script.received().is_empty(),
        "too little to be worth telling"
    );
    script.listen();
    assert_eq!(script.received(), ["1 ready"]);
    assert!(script.conn.wants_read());
}

#[test]
fn an_answer_that_finds_no_room_behind_one_that_waits_gets_it_with_the_write() {
    let limits = Limits::default().with_send_buffer_bytes_max(10);
    let mut script = Script::new(Side::Server, Config::default().with_limits(limits));
    let at = script.now;
    script.conn.handle_bytes(at, GET.as_bytes());
    script.receives();
    let body = Bytes::from_static(b"more than there is room for");
    let head = response(200, &[]);
    script.conn.answer(at, StreamId(1), &head, body).unwrap();
    script.conn.handler_done(StreamId(1));
    // The client takes nothing, and asks for more.
    script.write(0);
    script.conn.handle_bytes(at, GET.as_bytes());
    script.receives();
    assert_eq!(script.conn.send_room(StreamId(2)), 0);
    script.conn.respond(at, StreamId(2), &head, false).unwrap();
    script.received();
    while script.write(usize::MAX) > 0 {}
    script.receives();
    assert_eq!(script.received(), ["2 ready"]);
}

#[test]
fn what_is_left_of_a_body_nobody_reads_is_thrown_away_within_bounds() {
    for (length, received) in [
        (UNREAD_BODY_BYTES_MAX, vec!["2 GET / end"]),
        (UNREAD_BODY_BYTES_MAX + 1, vec!["1 reset Drained", DRAINED]),
    ] {
        let mut script = Script::server();
        script.connection_lists(format!(
            "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n"
        ));
        script.respond(1, &response(200, &[]), true);
        script.conn.handler_done(StreamId(1));
        script.received();
        script.connection_lists(vec![b'x'; length]);
        script.connection_lists(GET);
        assert_eq!(script.received(), received, "{length}");
    }
}

#[test]
fn a_body_that_is_too_long_to_be_thrown_away_ends_the_connection_behind_the_answers_that_wait() {
    let length = UNREAD_BODY_BYTES_MAX + 1;
    let mut script = Script::server();
    script.connection_lists(GET);
    // Its client has all of it, and may go on with the next request before its handler has said so.
    script.respond(1, &response(200, &[("content-length", "1")]), false);
    script.send(1, "x", false);
    script.connection_lists(format!(
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n"
    ));
    script.conn.handler_done(StreamId(2));
    script.respond(2, &response(200, &[]), true);
    script.connection_lists(vec![b'x'; length]);
    assert_eq!(script.received(), ["1 GET / end", "2 POST /"]);
    script.wrote();
    script.send(1, "", true);
    assert_eq!(script.received(), [DRAINED]);
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    assert_eq!(script.wrote(), answer);
}

#[test]
fn a_response_to_a_body_that_is_too_long_to_be_thrown_away_says_that_the_connection_closes() {
    let cases = [
        (UNREAD_BODY_BYTES_MAX, 0, true, false),
        (UNREAD_BODY_BYTES_MAX + 1, 0, true, true),
        // A reader that is there may read on behind the response.
        (UNREAD_BODY_BYTES_MAX + 1, 0, false, false),
        // Most of it has come.
        (UNREAD_BODY_BYTES_MAX + 1, 1, true, false),
    ];
    for (length, received, declined, closes) in cases {
        let mut script = Script::server();
        script.connection_lists(format!(
            "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {length}\r\n\r\n"
        ));
        script.connection_lists(vec![b'x'; received]);
        if declined {
            Machine::decline(&mut script.conn, StreamId(1));
        }
        script.respond(1, &response(200, &[]), true);
        let written = script.wrote();
        let label = format!("{length}, {received} received, declined {declined}: {written}");
        assert_eq!(written.contains("connection: close"), closes, "{label}");
    }
}

#[test]
fn a_response_to_a_chunked_body_whose_length_is_unknown_says_that_the_connection_closes() {
    let cases = [
        ("", true, true),
        ("1\r\nx\r\n", true, true),
        // A reader that is there may read on behind the response.
        ("1\r\nx\r\n", false, false),
        // The last chunk has come.
        ("1\r\nx\r\n0\r\n", true, false),
        ("1\r\nx\r\n0\r\n\r\n", true, false),
    ];
    for (body, declined, closes) in cases {
        let mut script = Script::server();
        script.connection_lists(format!(
            "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{body}"
        ));
        if declined {
            Machine::decline(&mut script.conn, StreamId(1));
        }
        script.respond(1, &response(200, &[]), true);
        let written = script.wrote();
        let label = format!("{body:?}, declined {declined}: {written}");
        assert_eq!(written.contains("connection: close"), closes, "{label}");
        script.listen();
        assert_eq!(script.conn.is_closed(), closes, "{label}");
    }
}

#[test]
fn a_slow_head_is_answered_with_408() {
    let mut script = Script::server();
    script.connection_lists("GET / HT");
    script.waits(Duration::from_secs(14));
    script.connection_lists("TP/1.1\r\n");
    assert!(script.received().is_empty());
    script.waits(Duration::from_secs(2));
    assert_eq!(script.received(), ["closed ByUs(HeadTimeout)"]);
    assert!(script.wrote().starts_with("HTTP/1.1 408 "));
}

#[test]
fn an_idle_connection_closes_in_silence() {
    let mut script = Script::server().reacting(answer_at_once);
    script.waits(Duration::from_secs(74));
    script.connection_lists(GET);
    script.waits(Duration::from_secs(74));
    script.received();
    script.wrote();
    script.waits(Duration::from_secs(2));
    assert_eq!(script.received(), ["closed Idle"]);
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
    assert_eq!(script.received(), ["1 GET / end"]);
}

#[test]
fn a_body_that_stops_coming_times_out_only_while_it_is_wanted() {
    let mut config = Config::default();
    config.timeouts.rate_min = 0;
    let mut script = Script::new(Side::Server, config);
    script.connection_lists(EXPECTING);
    script.waits(Duration::from_secs(3000));
    assert_eq!(script.received(), ["1 PUT /"], "the client waits for us");
    script.conn.consume(script.now, StreamId(1), 0);
    script.write(usize::MAX);
    script.receives();
    script.waits(Duration::from_secs(299));
    script.connection_lists("o");
    script.waits(Duration::from_secs(299));
    assert_eq!(script.received(), ["1 body o"]);
    script.waits(Duration::from_secs(2));
    assert_eq!(
        script.received(),
        ["1 reset BodyTimeout", "closed ByUs(BodyTimeout)"]
    );
}

#[test]
fn the_end_of_a_chunked_body_that_never_comes_times_out_as_a_head_does() {
    let mut script = Script::server().reacting(take_body);
    script.connection_lists(
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n",
    );
    script.waits(Duration::from_secs(14));
    assert!(!script.conn.is_closed());
    script.waits(Duration::from_secs(2));
    let received = script.received();
    let last = received.last().map(String::as_str);
    assert_eq!(last, Some("closed ByUs(HeadTimeout)"), "{received:?}");
    assert!(script.wrote().starts_with("HTTP/1.1 408 "));
}

#[test]
fn the_time_in_which_nobody_reads_is_not_the_peers() {
    let mut script = Script::server();
    script.connection_lists("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\n\r\n");
    script.waits(Duration::from_secs(9));
    let pause = Duration::from_secs(3000);
    script.now += pause;
    script.conn.postpone(pause);
    script.conn.handle_timeout(script.now);
    assert_eq!(script.received(), ["1 POST /"], "it has a second left");
    script.connection_lists("all of");
    assert_eq!(script.received(), ["1 body all of end"]);
}

#[test]
fn a_dribbled_body_is_too_slow() {
    let mut script = Script::server().reacting(take_body);
    script.connection_lists("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n");
    for _ in 0..12 {
        script.waits(Duration::from_secs(1));
        script.connection_lists("x");
    }
    let received = script.received();
    let last: Vec<_> = received.iter().rev().take(2).collect();
    assert_eq!(last, ["closed ByUs(BodyTooSlow)", "1 reset BodyTooSlow"]);
    assert!(script.wrote().starts_with("HTTP/1.1 408 "));
}

#[test]
fn a_chunked_body_may_rest_unless_connections_are_scarce() {
    let mut script = Script::server().reacting(take_body);
    let scarcity = Scarcity::shared();
    let fresh = Script::server().conn;
    script.conn = std::mem::replace(&mut script.conn, fresh).with_scarcity(&scarcity);
    script.connection_lists("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n");
    for _ in 0..100 {
        script.waits(Duration::from_secs(12));
        script.connection_lists("1\r\nx\r\n");
        assert!(!script.conn.is_closed());
    }
    script.received();
    scarcity.set(true);
    script.waits(Duration::from_secs(21));
    assert_eq!(
        script.received(),
        ["1 reset BodyTooSlow", "closed ByUs(BodyTooSlow)"]
    );
    assert!(script.wrote().starts_with("HTTP/1.1 408 "));
}

#[test]
fn a_body_may_rest_behind_the_head_of_its_response() {
    let mut script = Script::server().reacting(take_body);
    script.connection_lists("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n");
    script.respond(1, &response(200, &[]), false);
    script.listen();
    script.receives();
    script.waits(Duration::from_secs(3000));
    assert!(!script.conn.is_closed(), "the pace is the application's");
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
    script.receives();
    rests(&mut script, Duration::from_secs(299));
    script.write(1);
    rests(&mut script, Duration::from_secs(299));
    script.receives();
    assert!(!script.conn.is_closed(), "one byte was taken");
    rests(&mut script, Duration::from_secs(2));
    script.receives();
    assert_eq!(
        script.received(),
        [
            "1 GET / end",
            "1 reset ByUs(WriteStalled)",
            "closed ByUs(WriteStalled)"
        ]
    );
}

#[test]
fn a_connection_that_says_nothing_is_answered_with_408_where_a_first_request_has_its_time() {
    let wait = Duration::from_secs(20);
    let timeouts = Timeouts::default().with_first_request(Some(wait));
    let config = Config::default().with_timeouts(timeouts);
    let mut script = Script::new(Side::Server, config);
    script.connection_lists("");
    script.waits(wait);
    assert!(script.wrote().starts_with("HTTP/1.1 408 "));
    assert_eq!(script.received(), ["closed ByUs(HeadTimeout)"]);
}

#[test]
fn an_answer_that_the_transport_does_not_take_has_its_deadline_all_the_same() {
    let stall = Duration::from_secs(1);
    let mut config = Config::default();
    config.timeouts.write_stall = Some(stall);
    let mut script = Script::new(Side::Server, config);
    script.connection_lists(GET);
    let answer = response(200, &[]);
    let answered = script.conn.respond(script.now, StreamId(1), &answer, true);
    answered.unwrap();
    // As a driver does whose socket is full: one attempt, and one more call.
    script.write(0);
    script.write(0);
    assert_eq!(script.conn.next_deadline(), Some(script.now + stall));
    script.write(usize::MAX);
    script.write(usize::MAX);
    assert_ne!(script.conn.next_deadline(), Some(script.now + stall));
}

/// A server that has answered with more than its client takes, and the flag that connections are scarce.
fn unread() -> (Script, Scarcity) {
    let scarcity = Scarcity::shared();
    let mut script = Script::server();
    let fresh = Script::server().conn;
    script.conn = std::mem::replace(&mut script.conn, fresh).with_scarcity(&scarcity);
    script.connection_lists(GET);
    let (now, length) = (script.now, ("content-length", "100000"));
    let answer = response(200, &[length]);
    let sent = script.conn.respond(now, StreamId(1), &answer, false);
    sent.unwrap();
    let body = Bytes::from(vec![7; 100_000]);
    let sent = script.conn.send_body(now, StreamId(1), body, true);
    sent.unwrap();
    script.write(0);
    (script, scarcity)
}

/// Time passes, and the transport takes nothing.
fn rests(script: &mut Script, time: Duration) {
    let until = script.now + time;
    while let Some(at) = script.conn.next_deadline().filter(|&at| at <= until) {
        script.now = script.now.max(at);
        script.conn.handle_timeout(script.now);
    }
    script.now = until;
}

/// The last event of a connection that is over.
fn end(script: &mut Script) -> Option<String> {
    assert!(script.conn.is_closed());
    script.listen();
    script.received().pop()
}

#[test]
fn a_client_that_pauses_for_minutes_gets_the_rest_of_its_answer() {
    let (mut script, _) = unread();
    script.write(10_000);
    for _ in 0..29 {
        rests(&mut script, Duration::from_secs(10));
        assert!(!script.conn.is_closed(), "a player that is paused");
    }
    script.write(usize::MAX);
    script.write(usize::MAX);
    assert!(script.conn.poll_write(script.now).is_empty());
    assert!(!script.conn.is_closed());
}

#[test]
fn a_client_that_takes_nothing_or_a_drip_for_five_minutes_is_left() {
    for drip in [0, 50] {
        let (mut script, _) = unread();
        for _ in 0..299 {
            rests(&mut script, Duration::from_secs(1));
            script.write(drip);
        }
        assert!(!script.conn.is_closed(), "{drip}");
        rests(&mut script, Duration::from_secs(1));
        let due = match drip {
            0 => "closed ByUs(WriteStalled)",
            _ => "closed ByUs(RateTooLow)",
        };
        assert_eq!(end(&mut script).as_deref(), Some(due));
    }
}

#[test]
fn a_client_that_pauses_has_ten_seconds_where_connections_are_scarce() {
    let (mut script, scarcity) = unread();
    rests(&mut script, Duration::from_secs(100));
    assert!(!script.conn.is_closed());
    scarcity.set(true);
    rests(&mut script, Duration::from_secs(10));
    assert_eq!(end(&mut script).as_deref(), Some("closed ByUs(RateTooLow)"));
}
