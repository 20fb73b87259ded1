//! Snapshots of connections: the bytes, the windows and the reason of each wait, on every version.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "h2/rig.rs"]
mod h2_rig;
#[path = "h3/rig.rs"]
mod h3_rig;

use std::sync::Arc;
use std::time::Duration;
use trunkline_core::h2::frame::Setting;
use trunkline_core::http::{Side, StreamId, Version};
use trunkline_core::inspect::{StreamSnapshot, StreamWait};
use trunkline_core::limits::Config;
use trunkline_core::{ByteMachine, Machine, h1};

/// The one stream of a machine.
#[track_caller]
fn only(machine: &impl Machine, now: std::time::Instant) -> StreamSnapshot {
    let connection = machine.inspect(now, 10);
    assert_eq!((connection.streams.len(), connection.unlisted), (1, 0));
    connection.streams.into_iter().next().unwrap()
}

#[test]
fn an_h2_response_waits_for_its_handler_then_for_the_window_of_its_stream() {
    use h2_rig::*;
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(10)]));
    rig.sends(&headers(1, GET, true));
    rig.events();
    rig.waits(Duration::from_secs(2));
    let stream = only(&rig.conn, rig.now);
    assert_eq!((stream.id, stream.method), (StreamId(1), "GET"));
    assert_eq!(stream.age, Duration::from_secs(2));
    assert_eq!(stream.state(), "half_closed_remote");
    assert_eq!(stream.wait(), Some(StreamWait::Handler));
    assert_eq!(stream.send_quota, Some(10));

    rig.respond(1, &[], false);
    assert_eq!(only(&rig.conn, rig.now).wait(), Some(StreamWait::Source));
    rig.send(1, vec![b'x'; 25], true);
    rig.frames();
    let stream = only(&rig.conn, rig.now);
    assert_eq!(stream.wait(), Some(StreamWait::StreamWindow));
    assert_eq!((stream.sent_bytes, stream.unsent_bytes), (10, 15));
    assert_eq!(stream.send_quota, Some(0));

    rig.sends(&window_update(1, 15));
    rig.frames();
    let connection = rig.conn.inspect(rig.now, 10);
    assert_eq!((connection.streams.len(), connection.exchanges), (0, 1));
    assert_eq!(connection.version, Version::Http2);
    assert_eq!(connection.send_quota, Some(65_535 - 25));
}

#[test]
fn an_h2_response_waits_for_the_window_of_its_connection() {
    use h2_rig::*;
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(1 << 20)]));
    rig.sends(&headers(1, GET, true));
    rig.respond(1, &[], false);
    rig.send(1, vec![b'x'; 70_000], true);
    rig.frames();
    let stream = only(&rig.conn, rig.now);
    assert_eq!(stream.wait(), Some(StreamWait::ConnectionWindow));
    assert_eq!(stream.unsent_bytes, 70_000 - 65_535);
}

#[test]
fn an_h2_upload_waits_for_the_client_and_then_for_its_reader() {
    use h2_rig::*;
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, POST, false));
    rig.events();
    let stream = only(&rig.conn, rig.now);
    assert_eq!((stream.method, stream.state()), ("POST", "open"));
    assert_eq!(stream.wait(), Some(StreamWait::RequestRest));
    let credit = stream.receive_credit;
    rig.sends(&body(1, &[b'x'; 1000], false));
    rig.events();
    let stream = only(&rig.conn, rig.now);
    assert_eq!(stream.wait(), Some(StreamWait::Reader));
    assert_eq!((stream.received_bytes, stream.unread_bytes), (1000, 1000));
    assert_eq!(stream.receive_credit, credit - 1000);
    rig.conn.consume(rig.now, StreamId(1), 1000);
    let stream = only(&rig.conn, rig.now);
    assert_eq!(stream.wait(), Some(StreamWait::RequestRest));
}

#[test]
fn an_h2_client_waits_for_the_response() {
    use h2_rig::*;
    let mut rig = Rig::client(Cut::Whole);
    rig.conn.open(rig.now, &request("GET"), true).unwrap();
    let stream = only(&rig.conn, rig.now);
    assert_eq!(stream.state(), "half_closed_local");
    assert_eq!(stream.wait(), Some(StreamWait::Response));
}

#[test]
fn the_oldest_streams_are_listed_and_the_others_counted() {
    use h2_rig::*;
    let mut rig = Rig::server(Cut::Whole);
    for stream in [1, 3, 5, 7, 9] {
        rig.sends(&headers(stream, GET, true));
    }
    let connection = rig.conn.inspect(rig.now, 2);
    let ids: Vec<_> = connection.streams.iter().map(|it| it.id.0).collect();
    assert_eq!((ids, connection.unlisted), (vec![1, 3], 3));
    assert_eq!(rig.conn.inspect(rig.now, 0).unlisted, 5);
    assert!(!rig.conn.inspect(rig.now, 0).is_draining);
    rig.conn.shut_down(rig.now);
    assert!(rig.conn.inspect(rig.now, 0).is_draining);
}

#[test]
fn an_h3_response_waits_for_its_handler_then_for_the_transport() {
    use h3_rig::*;
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.events();
    let stream = only(&rig.conn, rig.now);
    assert_eq!((stream.id, stream.method), (StreamId(0), "GET"));
    assert_eq!(stream.wait(), Some(StreamWait::Handler));
    rig.room.insert(0, 100);
    let head = response(200, &[]);
    rig.conn
        .respond(rig.now, StreamId(0), &head, false)
        .unwrap();
    rig.conn
        .send_body(rig.now, StreamId(0), vec![b'x'; 5000].into(), true)
        .unwrap();
    rig.run();
    let stream = only(&rig.conn, rig.now);
    assert_eq!(stream.wait(), Some(StreamWait::Transport));
    assert_eq!(stream.sent_bytes, 5000);
    assert!(stream.unsent_bytes > 4800);
    assert_eq!(stream.send_quota, None);
}

#[test]
fn an_h1_response_waits_for_its_handler_then_for_its_source_then_for_the_socket() {
    let start = h2_rig::Rig::server(h2_rig::Cut::Whole).now;
    let mut conn = h1::Conn::new(Side::Server, Arc::new(Config::default()), start);
    let later = start + Duration::from_secs(3);
    let heads = "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(2);
    conn.handle_bytes(later, heads.as_bytes());
    let connection = Machine::inspect(&conn, later + Duration::from_secs(1), 10);
    let waits = |it: &StreamSnapshot| (it.id.0, it.age, it.wait());
    let second = Duration::from_secs(1);
    assert_eq!(
        connection.streams.iter().map(waits).collect::<Vec<_>>(),
        [
            (1, second, Some(StreamWait::Handler)),
            (2, second, Some(StreamWait::Handler))
        ]
    );
    let head = h2_rig::response(200, &[("content-length", "4")]);
    // The second answer is there first.
    let body = bytes::Bytes::from_static(b"body");
    conn.answer(later, StreamId(2), &head, body.clone())
        .unwrap();
    conn.respond(later, StreamId(1), &head, false).unwrap();
    let outbox = ByteMachine::poll_write(&mut conn, later);
    let len = outbox.len();
    outbox.advance(len);
    let waits: Vec<_> = (conn.inspect(later, 10).streams.iter())
        .map(StreamSnapshot::wait)
        .collect();
    assert_eq!(waits, [Some(StreamWait::Source), Some(StreamWait::Turn)]);
    conn.send_body(later, StreamId(1), body.slice(..2), false)
        .unwrap();
    let stream = conn.inspect(later, 1).streams.remove(0);
    assert_eq!(stream.wait(), Some(StreamWait::Transport));
    assert_eq!((stream.sent_bytes, stream.unsent_bytes), (2, 2));
}
