//! A client that gives streams up: their slots stay taken until the peer has seen it.

#[path = "h2/rig.rs"]
mod rig;

use rig::*;
use std::time::Duration;
use trunkline_core::error::{H2Code, Misuse};
use trunkline_core::h2::frame::{Setting, kind};
use trunkline_core::http::{Side, StreamId};
use trunkline_core::limits::Config;

const RTT: Duration = Duration::from_millis(100);

/// A client on a path of 100 ms whose peer allows `limit` streams.
fn client(limit: u32, cut: Cut) -> Rig {
    let mut rig = Rig::fresh(Side::Client, Config::default(), cut);
    rig.waits(RTT);
    rig.sends(&settings_frame(&[Setting::MaxConcurrentStreams(limit)]));
    rig.sends(&settings_ack());
    rig.frames();
    rig.events();
    rig
}

#[test]
fn an_aborted_streams_slot_is_not_used_again_until_the_peer_has_seen_the_reset() {
    however_it_is_cut(|cut| {
        let mut rig = client(2, cut);
        rig.get();
        rig.get();
        rig.frames();
        rig.conn.reset(rig.now, StreamId(1), H2Code::CANCEL);
        assert_eq!(rig.conn.capacity(), 0);
        let refused = rig.conn.open(rig.now, &request("GET"), true);
        assert_eq!(refused, Err(Misuse::NoCapacity));
        let frames = rig.frames();
        assert_eq!(frames.len(), 2, "{frames:?}");
        assert_eq!(
            (frames[0].kind, frames[1].kind),
            (kind::RST_STREAM, kind::PING)
        );
        rig.waits(RTT - Duration::from_millis(1));
        rig.sends(&headers(3, &[(":status", "200")], false));
        assert_eq!(rig.conn.capacity(), 0, "it may have crossed the reset");
        rig.waits(Duration::from_millis(1));
        rig.sends(&body(3, b"later", false));
        assert_eq!(rig.conn.capacity(), 1, "one round trip later");
        assert_eq!(rig.get(), 5);
    });
}

#[test]
fn the_answer_to_the_ping_gives_the_slots_back() {
    however_it_is_cut(|cut| {
        let mut rig = client(1, cut);
        rig.get();
        rig.frames();
        rig.conn.reset(rig.now, StreamId(1), H2Code::CANCEL);
        let frames = rig.frames();
        rig.waits(Duration::from_millis(50));
        assert_eq!(rig.conn.capacity(), 0);
        rig.sends(&pong(&frames[1].payload));
        assert_eq!(rig.conn.capacity(), 1);
    });
}

#[test]
fn aborts_with_room_to_spare_ask_nothing() {
    let mut rig = client(100, Cut::Whole);
    rig.get();
    rig.frames();
    rig.conn.reset(rig.now, StreamId(1), H2Code::CANCEL);
    rig.expects_reset(1, H2Code::CANCEL, "the user ended it");
    rig.is_quiet("no PING: there is room for what comes");
    assert_eq!(rig.conn.capacity(), 99);
    rig.waits(Duration::from_secs(1));
    assert_eq!(rig.conn.capacity(), 100, "a silent peer has seen it by now");
}

#[test]
fn aborts_right_behind_others_are_asked_for_a_little_later() {
    let mut rig = client(1, Cut::Whole);
    let soon = Duration::from_millis(5);
    for (id, wait) in [(1, soon), (3, Duration::from_millis(250))] {
        assert_eq!(rig.get(), id);
        rig.frames();
        rig.sends(&headers(id, OK, false));
        rig.conn.reset(rig.now, StreamId(id.into()), H2Code::CANCEL);
        rig.waits(wait);
        let frames = rig.frames();
        let asked = frames.iter().find(|frame| frame.kind == kind::PING);
        let asked = asked.expect("there is no room for another request");
        assert_eq!(rig.conn.capacity(), 0);
        rig.sends(&pong(&asked.payload));
        assert_eq!(rig.conn.capacity(), 1, "behind {id}");
    }
}

#[test]
fn endless_aborts_stay_below_the_reset_budget_of_a_server() {
    let mut rig = client(100, Cut::Whole);
    let mut server = trunkline_core::abuse::Abuse::new(&Config::default().limits);
    let mut pings = 0;
    for _ in 0..10_000 {
        while rig.conn.capacity() > 0 {
            let id = rig.get();
            server.stream_opened();
            rig.conn.reset(rig.now, StreamId(id.into()), H2Code::CANCEL);
            let verdict = server.reset_received(Duration::ZERO, rig.now);
            assert_eq!(verdict, trunkline_core::abuse::Verdict::Fine);
        }
        pings += rig.frames().iter().filter(|f| f.kind == kind::PING).count();
        rig.waits(Duration::from_millis(1));
    }
    assert!(pings <= 1, "a peer that answers nothing is asked once");
}

/// Bytes of DATA on stream 1, and the frames behind them.
fn data_and_rest(frames: &[Frame]) -> (usize, Vec<u8>) {
    let data = frames.iter().filter(|frame| frame.kind == kind::DATA);
    let rest = frames.iter().filter(|frame| frame.kind != kind::DATA);
    (
        data.map(|frame| frame.payload.len()).sum(),
        rest.map(|frame| frame.kind).collect(),
    )
}

/// A client that has begun a request, with `bytes` of its body queued.
fn uploading(bytes: usize, theirs: &[Setting], cut: Cut) -> Rig {
    let mut rig = Rig::client_with(Config::default(), theirs, cut);
    let opened = rig.conn.open(rig.now, &request("POST"), false);
    assert_eq!(opened, Ok(StreamId(1)));
    rig.frames();
    let data = vec![b'x'; bytes].into();
    let sent = rig.conn.send_body(rig.now, StreamId(1), data, false);
    assert_eq!(sent, Ok(()));
    rig
}

#[test]
fn a_reset_behind_a_body_sends_what_was_queued_before_it() {
    however_it_is_cut(|cut| {
        for bytes in [1, 16_384, 16_385, 65_535] {
            let mut rig = uploading(bytes, &[], cut);
            rig.conn
                .reset_behind_body(rig.now, StreamId(1), H2Code::CANCEL);
            let sent = data_and_rest(&rig.frames());
            assert_eq!(sent, (bytes, vec![kind::RST_STREAM]), "{bytes} bytes");
            assert!(!rig.conn.is_open(StreamId(1)));
        }
    });
}

#[test]
fn a_reset_behind_a_body_sends_no_more_than_the_windows_let_go() {
    however_it_is_cut(|cut| {
        let mut rig = uploading(100_000, &[], cut);
        rig.conn
            .reset_behind_body(rig.now, StreamId(1), H2Code::CANCEL);
        let sent = data_and_rest(&rig.frames());
        assert_eq!(sent, (65_535, vec![kind::RST_STREAM]), "the connection's");
        let mut rig = uploading(100_000, &[Setting::InitialWindowSize(10)], cut);
        rig.conn
            .reset_behind_body(rig.now, StreamId(1), H2Code::CANCEL);
        let sent = data_and_rest(&rig.frames());
        assert_eq!(sent, (10, vec![kind::RST_STREAM]), "the stream's");
    });
}

#[test]
fn a_reset_behind_a_body_goes_through_an_outbox_that_is_full() {
    let mut rig = uploading(
        1_000_000,
        &[Setting::InitialWindowSize(1 << 30)],
        Cut::Whole,
    );
    rig.sends(&window_update(0, 1 << 29));
    rig.conn
        .reset_behind_body(rig.now, StreamId(1), H2Code::NO_ERROR);
    let sent = data_and_rest(&rig.frames());
    assert_eq!(sent, (1_000_000, vec![kind::RST_STREAM]));
}

#[test]
fn a_reset_behind_a_body_whose_end_was_queued_finishes_the_stream() {
    let mut rig = uploading(10, &[], Cut::Whole);
    rig.conn
        .send_body(rig.now, StreamId(1), bytes::Bytes::new(), true)
        .unwrap();
    rig.conn
        .reset_behind_body(rig.now, StreamId(1), H2Code::CANCEL);
    let frames = rig.frames();
    assert_eq!(
        data_and_rest(&frames),
        (10, vec![kind::RST_STREAM]),
        "the server has not ended its side"
    );
    assert!(frames[0].ends());
}

#[test]
fn an_abort_behind_bodies_sends_what_was_queued_before_it() {
    however_it_is_cut(|cut| {
        let mut rig = uploading(40_000, &[], cut);
        let opened = rig.conn.open(rig.now, &request("POST"), false);
        assert_eq!(opened, Ok(StreamId(3)));
        let sent = rig
            .conn
            .send_body(rig.now, StreamId(3), vec![b'y'; 40_000].into(), false);
        assert_eq!(sent, Ok(()));
        rig.conn
            .abort_behind_bodies(rig.now, H2Code::INTERNAL_ERROR);
        let sent = data_and_rest(&rig.frames());
        assert_eq!(
            sent,
            (65_535, vec![kind::HEADERS, kind::GOAWAY]),
            "as far as the connection's window goes"
        );
        assert!(rig.conn.is_closed());
    });
}

/// A server that resets behind a complete response, longer than the windows, to a request of which a part came.
fn reset_behind_a_long_response(cut: Cut, code: H2Code) -> Rig {
    let mut rig = Rig::server(cut);
    rig.sends(&headers(1, POST, false));
    rig.request(1);
    rig.sends(&body(1, b"unread", false));
    rig.respond(1, &[], false);
    rig.frames();
    let data = vec![b'x'; 100_000].into();
    let sent = rig.conn.send_body(rig.now, StreamId(1), data, true);
    assert_eq!(sent, Ok(()));
    rig.conn.reset_behind_body(rig.now, StreamId(1), code);
    rig
}

#[test]
fn a_reset_without_error_behind_a_complete_response_waits_until_all_of_it_has_gone() {
    however_it_is_cut(|cut| {
        let mut rig = reset_behind_a_long_response(cut, H2Code::NO_ERROR);
        rig.conn.handler_done(rig.now, StreamId(1));
        let sent = data_and_rest(&rig.frames());
        assert_eq!(sent, (65_535, vec![]), "as far as the windows go");
        rig.sends(&window_update(1, 100_000));
        rig.sends(&window_update(0, 100_000));
        let frames = rig.frames();
        let sent = data_and_rest(&frames);
        assert_eq!(sent, (100_000 - 65_535, vec![kind::RST_STREAM]));
        assert!(frames[frames.len() - 2].ends(), "the response is whole");
        assert_eq!(frames[frames.len() - 1].payload, [0, 0, 0, 0]);
        assert!(!rig.conn.is_open(StreamId(1)));
    });
}

#[test]
fn a_reset_with_an_error_behind_a_complete_response_does_not_wait_for_the_windows() {
    let mut rig = reset_behind_a_long_response(Cut::Whole, H2Code::CANCEL);
    let sent = data_and_rest(&rig.frames());
    assert_eq!(sent, (65_535, vec![kind::RST_STREAM]));
}

#[test]
fn what_was_queued_of_a_tunnel_that_is_left_goes_as_the_windows_let_it_and_the_reset_follows_its_end()
 {
    however_it_is_cut(|cut| {
        let mut rig = uploading(100_000, &[], cut);
        rig.sends(&headers(1, &[(":status", "200")], false));
        rig.conn.leave(rig.now, StreamId(1));
        let sent = data_and_rest(&rig.frames());
        assert_eq!(sent, (65_535, vec![]), "the rest waits for the windows");
        rig.sends(&window_update(0, 100_000));
        rig.sends(&window_update(1, 100_000));
        let frames = rig.frames();
        let sent = data_and_rest(&frames);
        assert_eq!(sent, (34_465, vec![kind::RST_STREAM]));
        assert!(frames[frames.len() - 2].ends());
        assert_eq!(frames[frames.len() - 1].code(), H2Code::NO_ERROR);
        assert!(!rig.conn.is_open(StreamId(1)));
    });
}

#[test]
fn a_tunnel_that_is_left_with_nothing_queued_ends_at_once() {
    let mut rig = uploading(10, &[], Cut::Whole);
    rig.sends(&headers(1, &[(":status", "200")], false));
    rig.frames();
    rig.conn.leave(rig.now, StreamId(1));
    let frames = rig.frames();
    assert_eq!(data_and_rest(&frames), (0, vec![kind::RST_STREAM]));
    assert!(frames[0].ends());
    assert_eq!(frames[1].code(), H2Code::NO_ERROR);
}

#[test]
fn a_peer_that_takes_a_byte_now_and_then_of_a_tunnel_that_is_left_has_five_minutes() {
    let mut rig = uploading(100_000, &[], Cut::Whole);
    rig.sends(&headers(1, &[(":status", "200")], false));
    rig.conn.leave(rig.now, StreamId(1));
    rig.sends(&window_update(0, 100_000));
    rig.frames();
    for _ in 0..299 {
        rig.waits(Duration::from_secs(1));
        rig.sends(&window_update(1, 1));
        assert_eq!(data_and_rest(&rig.frames()), (1, vec![]));
    }
    rig.waits(Duration::from_secs(1));
    assert!(!rig.conn.is_open(StreamId(1)));
    assert_eq!(data_and_rest(&rig.frames()), (0, vec![kind::RST_STREAM]));
}
