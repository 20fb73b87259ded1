//! A client whose user leaves a tunnel: what was given of it goes, and the peer has time to read it.
#![allow(clippy::unwrap_used, reason = "a scripted peer may panic")]

#[path = "h3/rig.rs"]
mod rig;

use rig::*;
use std::time::Duration;
use trunkline_core::error::H3Code;
use trunkline_core::http::StreamId;
use trunkline_core::limits::LEFT_TUNNEL_TIME_MAX;

/// A client with a tunnel on stream 0 that was answered, `bytes` written to it, and a transport that takes `room` of
/// what it is given.
fn tunnelling(bytes: usize, room: usize) -> Rig {
    let mut rig = Rig::client(Cut::Whole);
    let opened = rig.conn.open(rig.now, &request("POST"), false);
    assert_eq!(opened, Ok(StreamId(0)));
    rig.run();
    rig.sends(0, &headers(&[(":status", "200")]));
    rig.events();
    rig.room.insert(0, room);
    rig.send(0, vec![7; bytes], false);
    rig.conn.leave(rig.now, StreamId(0));
    rig.run();
    rig
}

#[test]
fn what_was_given_of_a_tunnel_that_is_left_goes_when_the_transport_takes_it() {
    let mut rig = tunnelling(100_000, 10_000);
    let seen = |rig: &Rig| {
        let it = &rig.wire_streams[&0];
        (it.bytes.len() > 100_000, it.fin, it.reset, it.stopped)
    };
    assert_eq!(seen(&rig), (false, false, None, None));
    rig.takes(0, 1_000_000);
    assert_eq!(
        seen(&rig),
        (true, true, None, None),
        "it is the peer's to read"
    );
    rig.sends_all(0, &[]);
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn a_peer_that_goes_on_behind_a_tunnel_that_was_left_is_stopped_without_an_error() {
    let mut rig = tunnelling(10, usize::MAX);
    assert!(rig.wire_streams[&0].fin);
    rig.sends(0, &data(&[1; 60_000]));
    assert_eq!(rig.wire_streams[&0].stopped, None);
    rig.sends(0, &data(&[1; 10_000]));
    assert_eq!(rig.wire_streams[&0].stopped, Some(H3Code::NO_ERROR));
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn a_silent_peer_of_a_tunnel_that_was_left_is_stopped_in_time() {
    let mut rig = tunnelling(10, usize::MAX);
    rig.waits(LEFT_TUNNEL_TIME_MAX - Duration::from_secs(1));
    assert_eq!(rig.wire_streams[&0].stopped, None);
    rig.waits(Duration::from_secs(1));
    assert_eq!(rig.wire_streams[&0].stopped, Some(H3Code::NO_ERROR));
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn a_peer_that_takes_a_byte_now_and_then_of_a_tunnel_that_was_left_has_five_minutes() {
    let mut rig = tunnelling(100_000, 10_000);
    for _ in 0..LEFT_TUNNEL_TIME_MAX.as_secs() - 1 {
        rig.waits(Duration::from_secs(1));
        rig.takes(0, 1);
    }
    assert_eq!(rig.wire_streams[&0].reset, None);
    rig.waits(Duration::from_secs(1));
    assert!(rig.wire_streams[&0].reset.is_some());
    assert_eq!(rig.conn.active(), 0);
}
