//! Windows, both ways, and who sends first.

#[path = "h2/rig.rs"]
mod rig;

use rig::*;
use std::time::Duration;
use trunkline_core::error::{H2Code, Violation};
use trunkline_core::h2::frame::{Setting, flag, kind};
use trunkline_core::http::event::ResetBy;
use trunkline_core::http::{Event, Side, StreamId};
use trunkline_core::limits::{Config, SEND_SHUT_BYTES, WINDOW_BEHIND_HEAD_BYTES};

/// DATA frames as (stream, bytes, end).
fn data_frames(rig: &mut Rig) -> Vec<(u32, usize, bool)> {
    rig.frames()
        .iter()
        .filter(|frame| frame.kind == kind::DATA)
        .map(|frame| (frame.stream, frame.payload.len(), frame.ends()))
        .collect()
}

#[test]
fn a_body_stops_at_the_stream_window_and_goes_on_with_it() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(&settings_frame(&[Setting::InitialWindowSize(10)]));
        rig.sends(&headers(1, GET, true));
        rig.respond(1, &[], false);
        rig.send(1, vec![b'x'; 25], true);
        assert_eq!(data_frames(&mut rig), [(1, 10, false)]);
        rig.sends(&window_update(1, 14));
        assert_eq!(data_frames(&mut rig), [(1, 14, false)]);
        rig.sends(&window_update(1, 5));
        assert_eq!(data_frames(&mut rig), [(1, 1, true)]);
        assert_eq!(rig.conn.active(), 0);
    });
}

#[test]
fn a_body_stops_at_the_connection_window_and_goes_on_with_it() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(1 << 20)]));
    rig.sends(&headers(1, GET, true));
    rig.respond(1, &[], false);
    rig.send(1, vec![b'x'; 70_000], true);
    let sent: usize = data_frames(&mut rig).iter().map(|frame| frame.1).sum();
    assert_eq!(sent, 65_535);
    assert_eq!(rig.conn.connection_quota(), 0);
    rig.sends(&window_update(0, 10_000));
    assert_eq!(data_frames(&mut rig), [(1, 4_465, true)]);
}

#[test]
fn a_shrunk_setting_makes_the_window_negative_and_nothing_is_sent_until_it_is_not() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.respond(1, &[], false);
    rig.send(1, vec![b'x'; 100_000], true);
    let sent: usize = data_frames(&mut rig).iter().map(|frame| frame.1).sum();
    assert_eq!(sent, 65_535);
    rig.sends(&window_update(0, 1 << 20));
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(65_435)]));
    rig.expects(
        kind::SETTINGS,
        0,
        "only the acknowledgement: the window is -100",
    );
    rig.sends(&window_update(1, 100));
    rig.is_quiet("zero is not a window");
    rig.sends(&window_update(1, 1));
    assert_eq!(data_frames(&mut rig), [(1, 1, false)]);
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(65_440)]));
    assert_eq!(data_frames(&mut rig), [(1, 5, false)]);
}

#[test]
fn a_setting_that_overflows_a_window_is_a_flow_control_error() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.sends(&window_update(1, 1));
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(0x7fff_ffff)]));
    rig.expects_close(H2Code::FLOW_CONTROL_ERROR, "RFC 9113 section 6.9.2");
}

#[test]
fn no_data_frame_is_larger_than_the_peer_takes() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&window_update(0, 1 << 20));
    rig.sends(&settings_frame(&[
        Setting::InitialWindowSize(1 << 20),
        Setting::MaxFrameSize(1 << 20),
    ]));
    rig.sends(&headers(1, GET, true));
    rig.respond(1, &[], false);
    rig.send(1, vec![b'x'; 40_000], true);
    let frames = data_frames(&mut rig);
    assert_eq!(
        frames,
        [(1, 16_384, false), (1, 16_384, false), (1, 7_232, true)]
    );
}

#[test]
fn one_byte_data_costs_at_most_one_update_per_16_kib() {
    let mut rig = Rig::server(Cut::Whole);
    rig.reads_bodies = true;
    rig.sends(&headers(1, POST, false));
    let mut updates = 0;
    let bytes = 64 * 1024;
    for _ in 0..bytes {
        rig.sends(&body(1, b"x", false));
        rig.events();
        updates += rig.frames().len();
    }
    assert!(!rig.conn.is_closed());
    assert!(updates <= bytes / (16 * 1024), "{updates} updates");
    assert!(updates > 0, "the window of 64 KiB must be refilled");
}

#[test]
fn a_reader_that_takes_nothing_gets_no_more_than_its_window() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, POST, false));
    for _ in 0..4 {
        rig.sends(&body(1, &[0; 16_384], false));
    }
    rig.events();
    rig.is_quiet("64 KiB are unread");
    assert_eq!(rig.conn.stream_window(StreamId(1)).unwrap().unread, 65_536);
    rig.conn.consume(rig.now, StreamId(1), 65_536);
    let update = rig.expects(
        kind::WINDOW_UPDATE,
        1,
        "the stream's; the connection has enough",
    );
    assert!(update.number() >= 65_536);
}

#[test]
fn padding_is_given_back_and_delivered_to_nobody() {
    however_it_is_cut(|cut| {
        let mut config = Config::default();
        config.windows.auto = false;
        let mut rig = Rig::server_with(config, cut);
        rig.reads_bodies = true;
        rig.sends(&headers(1, POST, false));
        let mut payload = vec![255];
        payload.extend_from_slice(b"body");
        payload.extend_from_slice(&[0; 255]);
        for _ in 0..1_000 {
            rig.sends(&frame(kind::DATA, flag::PADDED, 1, &payload));
            rig.events();
        }
        assert!(
            !rig.conn.is_closed(),
            "260,000 bytes through a window of 64 KiB"
        );
        let updates = rig.frames();
        assert!(
            updates
                .iter()
                .all(|frame| frame.kind == kind::WINDOW_UPDATE)
        );
        assert_eq!(rig.conn.stream_window(StreamId(1)).unwrap().unread, 0);
        assert_eq!(rig.conn.connection_window().unread, 0);
    });
}

#[test]
fn data_for_closed_streams_never_leaks_the_connection_window() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, POST, false));
    rig.conn.reset(rig.now, StreamId(1), H2Code::CANCEL);
    rig.events();
    let mut granted = 0_u64;
    for _ in 0..4_000 {
        rig.sends(&body(1, &[0; 16_384], false));
        granted += rig
            .frames()
            .iter()
            .filter(|frame| frame.kind == kind::WINDOW_UPDATE && frame.stream == 0)
            .map(|frame| u64::from(frame.number()))
            .sum::<u64>();
        if rig.conn.is_closed() {
            break;
        }
    }
    assert!(!rig.conn.is_closed(), "the window is given back");
    assert!(granted > 40_000_000, "{granted}");
}

#[test]
fn unread_bytes_of_a_stream_that_ends_early_go_back_to_the_connection() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&[headers(1, POST, false), body(1, &[0; 9_000], false)].concat());
    assert_eq!(rig.conn.connection_window().unread, 9_000);
    rig.sends(&rst(1, H2Code::CANCEL));
    assert_eq!(rig.conn.connection_window().unread, 0);
    rig.conn.consume(rig.now, StreamId(1), 9_000);
    assert_eq!(rig.conn.connection_window().unread, 0, "and only once");
}

#[test]
fn send_room_closes_and_opens_with_an_event() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.events();
    rig.respond(1, &[], false);
    let room = 65_535 + SEND_SHUT_BYTES;
    assert_eq!(
        rig.conn.send_room(StreamId(1)),
        room,
        "what the window lets out, and a little"
    );
    rig.send(1, vec![0; 256 * 1024], false);
    assert_eq!(rig.conn.send_room(StreamId(1)), 0);
    rig.frames();
    rig.no_event("the window is shut, and more than it may hold waits");
    rig.sends(&window_update(0, 1 << 20));
    rig.no_event("it is the stream's window that is shut");
    rig.sends(&window_update(1, 1 << 20));
    rig.frames();
    assert!(matches!(rig.event(), Some(Event::SendReady { stream }) if stream == StreamId(1)));
    rig.no_event("once");
    assert_eq!(rig.conn.send_room(StreamId(1)), 256 * 1024);
}

#[test]
fn answers_that_are_read_in_a_dribble_are_ended_however_the_peer_dribbles() {
    // By the stream's window, the connection's, or not reading what was written.
    let ways = ["stream", "connection", "transport"];
    // The first 30 s do not count: what the first window let out is progress.
    let scarce = ways.map(|way| (way, true, 400, 62));
    for (way, is_scarce, dribble, seconds) in ways
        .map(|way| (way, false, 50, 332))
        .into_iter()
        .chain(scarce)
    {
        let mut rig = Rig::server(Cut::Whole);
        rig.follow_scarcity().set(is_scarce);
        if way != "stream" {
            rig.sends(&settings_frame(&[Setting::InitialWindowSize(1 << 24)]));
        }
        if way == "transport" {
            rig.sends(&window_update(0, 1 << 24));
        }
        rig.sends(&headers(1, GET, true));
        rig.events();
        rig.respond(1, &[], false);
        rig.send(1, vec![0; 1 << 20], true);
        if way != "transport" {
            rig.frames();
        }
        for _ in 0..seconds {
            rig.waits(Duration::from_secs(1));
            match way {
                "stream" => rig.sends(&window_update(1, dribble)),
                "connection" => rig.sends(&window_update(0, dribble)),
                _ if rig.conn.poll_write(rig.now).is_empty() => {}
                _ => rig.conn.poll_write(rig.now).advance(dribble as usize),
            }
            if way != "transport" {
                rig.frames();
            }
        }
        assert_eq!(rig.conn.active(), 0, "by the {way}, scarce: {is_scarce}");
    }
}

#[test]
fn answers_that_share_a_slow_line_are_not_ended() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(1 << 24)]));
    for id in (1..21).step_by(2) {
        rig.sends(&headers(id, GET, true));
        rig.events();
        rig.respond(id, &[("priority", "i")], false);
        rig.send(id, vec![0; 100_000], true);
    }
    rig.frames();
    // 2 KiB a second for ten streams, by turns.
    for _ in 0..120 {
        rig.waits(Duration::from_secs(1));
        rig.sends(&window_update(0, 2_048));
        rig.frames();
    }
    assert_eq!(rig.conn.active(), 10);
}

fn open_three(rig: &mut Rig, priorities: [&str; 3]) {
    rig.sends(&window_update(0, 1 << 24));
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(1 << 20)]));
    for (index, priority) in priorities.iter().enumerate() {
        let id = 1 + 2 * index as u32;
        rig.sends(&headers(id, &with(GET, &[("priority", priority)]), true));
    }
    for id in [1, 3, 5] {
        rig.respond(id, &[], false);
        rig.send(id, vec![0; 40_000], true);
    }
    rig.events();
}

fn order(rig: &mut Rig) -> Vec<u32> {
    data_frames(rig).iter().map(|frame| frame.0).collect()
}

#[test]
fn the_more_urgent_stream_goes_first_on_the_wire() {
    let mut rig = Rig::server(Cut::Whole);
    open_three(&mut rig, ["u=5", "u=3", "u=0"]);
    assert_eq!(order(&mut rig), [5, 5, 5, 3, 3, 3, 1, 1, 1]);
}

#[test]
fn incremental_streams_share_frame_by_frame() {
    let mut rig = Rig::server(Cut::Whole);
    open_three(&mut rig, ["i", "i", "i"]);
    assert_eq!(order(&mut rig), [1, 3, 5, 1, 3, 5, 1, 3, 5]);
}

#[test]
fn a_priority_update_overtakes_what_is_queued_and_reaches_streams_to_come() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&priority_update(3, "u=0"));
    open_three(&mut rig, ["u=3", "u=7", "u=3"]);
    rig.sends(&priority_update(5, "u=1"));
    assert_eq!(order(&mut rig), [3, 3, 3, 5, 5, 5, 1, 1, 1]);
}

#[test]
fn what_a_response_says_of_its_priority_overrides_the_request_member_by_member() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&window_update(0, 1 << 24));
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(1 << 20)]));
    let asked = ["u=2", "u=1, i", "u=1, i", "u=0"];
    let answered = ["u=1, i", "u=x", "i", "u=7"];
    for (index, priority) in asked.iter().enumerate() {
        let id = 1 + 2 * index as u32;
        rig.sends(&headers(id, &with(GET, &[("priority", priority)]), true));
    }
    for (index, priority) in answered.iter().enumerate() {
        let id = 1 + 2 * index as u32;
        rig.respond(id, &[("priority", priority)], false);
        rig.send(id, vec![0; 40_000], true);
    }
    rig.events();
    assert_eq!(
        order(&mut rig),
        [1, 3, 5, 1, 3, 5, 1, 3, 5, 7, 7, 7],
        "what is not understood or not said stays as it was asked for"
    );
    for id in [9, 11] {
        rig.sends(&headers(id, GET, true));
        rig.respond(id, &[("priority", "u=1")], false);
        rig.send(id, vec![0; 40_000], true);
    }
    rig.sends(&priority_update(9, "u=5"));
    rig.events();
    assert_eq!(
        order(&mut rig),
        [11, 11, 11, 9, 9, 9],
        "the client may change its mind"
    );
}

#[test]
fn a_zero_window_holds_a_stream_no_longer_than_the_stall_time_even_if_it_drips() {
    for (drip, is_scarce) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut rig = Rig::server(Cut::Whole);
        rig.follow_scarcity().set(is_scarce);
        rig.sends(&settings_frame(&[Setting::InitialWindowSize(0)]));
        rig.sends(&headers(1, GET, true));
        rig.events();
        rig.respond(1, &[], false);
        rig.send(1, vec![0; 100_000], true);
        rig.frames();
        let stall = if is_scarce { 30 } else { 300 };
        for _ in 1..stall {
            rig.waits(Duration::from_secs(1));
            if drip {
                rig.sends(&window_update(1, 1));
                rig.frames();
            }
            rig.no_event("not yet");
        }
        rig.waits(Duration::from_secs(1));
        match rig.event() {
            Some(Event::StreamReset { reset, .. }) => {
                assert_eq!(reset.by, ResetBy::Us(Violation::StreamStalled));
            }
            other => panic!("drip {drip}: {other:?}"),
        }
        rig.expects_reset(1, H2Code::CANCEL, "CVE-2026-49975");
    }
}

#[test]
fn a_peer_that_takes_enough_is_not_stalled() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(0)]));
    rig.sends(&headers(1, GET, true));
    rig.events();
    rig.respond(1, &[], false);
    rig.send(1, vec![0; 200_000], true);
    rig.sends(&window_update(0, 1 << 20));
    for _ in 0..90 {
        rig.waits(Duration::from_secs(1));
        rig.sends(&window_update(1, 2_000));
        rig.frames();
    }
    rig.no_event("2 kB a second is twice the least");
}

#[test]
fn a_peer_that_has_not_acknowledged_may_use_the_default_window_and_no_more() {
    for (bytes, fits) in [(65_535, true), (65_536, false)] {
        let mut config = Config::default();
        config.windows.stream_initial = 1_000;
        config.windows.auto = false;
        let mut rig = Rig::fresh(Side::Server, config, Cut::Whole);
        rig.sends(&[PREFACE, &settings_frame(&[]), &headers(1, POST, false)].concat());
        rig.frames();
        for piece in vec![0; bytes].chunks(16_384) {
            rig.sends(&body(1, piece, false));
        }
        if fits {
            rig.is_quiet("RFC 9113 section 6.9.2");
            rig.sends(&settings_ack());
            rig.events();
            rig.conn.consume(rig.now, StreamId(1), bytes);
            let update = rig.expects(kind::WINDOW_UPDATE, 1, "back to a thousand");
            // The peer's window is 1,000 - 65,535 after our SETTINGS.
            assert_eq!(update.number(), 65_535);
        } else {
            rig.expects_reset(1, H2Code::FLOW_CONTROL_ERROR, "one more");
        }
    }
}

#[test]
fn an_initial_window_of_zero_opens_behind_each_head_so_that_no_body_waits_for_ever() {
    however_it_is_cut(|cut| {
        let mut config = Config::default();
        config.windows.stream_initial = 0;
        let mut rig = Rig::fresh(Side::Server, config, cut);
        rig.sends(&[PREFACE, &settings_frame(&[]), &settings_ack()].concat());
        rig.frames();
        rig.sends(&headers(1, GET, true));
        rig.is_quiet("no body, no window");
        for stream in [3, 5] {
            rig.sends(&headers(stream, POST, false));
            let update = rig.expects(kind::WINDOW_UPDATE, stream, "behind the head");
            assert_eq!(update.number(), WINDOW_BEHIND_HEAD_BYTES);
        }
        rig.events();
        rig.sends(&body(3, &[0; WINDOW_BEHIND_HEAD_BYTES as usize], false));
        rig.conn
            .consume(rig.now, StreamId(3), WINDOW_BEHIND_HEAD_BYTES as usize);
        let update = rig.expects(kind::WINDOW_UPDATE, 3, "what was read is granted again");
        assert!(update.number() >= WINDOW_BEHIND_HEAD_BYTES);
        rig.sends(&body(5, &[0; WINDOW_BEHIND_HEAD_BYTES as usize], false));
        rig.sends(&body(5, &[0], true));
        rig.expects_reset(5, H2Code::FLOW_CONTROL_ERROR, "nothing of it was read");
    });
}

#[test]
fn an_announced_length_opens_the_window_before_the_body_fills_it() {
    for (length, increment) in [
        ("65535", None),
        ("65536", None),
        ("100000", Some(100_001 - 65_536)),
        ("67108864", Some(256 * 1024 + 1 - 65_536)),
    ] {
        let mut rig = Rig::client(Cut::Whole);
        rig.get();
        rig.frames();
        let head = [(":status", "200"), ("content-length", length)];
        rig.sends(&headers(1, &head, false));
        match increment {
            Some(increment) => {
                let update = rig.expects(kind::WINDOW_UPDATE, 1, "at the head");
                assert_eq!(update.number(), increment);
            }
            None => rig.is_quiet("it fits"),
        }
    }
}

/// nghttp2, and so node:http2 and curl, sends the end of a stream behind its last bytes only while the window has room, though an
/// empty frame needs none (RFC 9113 section 6.9): such a response would never end.
#[test]
fn a_body_of_a_known_length_leaves_room_for_an_end_that_comes_apart() {
    for length in [1, 65_535, 65_536, 65_537, 100_000, 200_000, 1_000_000] {
        let mut rig = Rig::client(Cut::Whole);
        rig.reads_bodies = true;
        rig.get();
        rig.frames();
        let text = length.to_string();
        let head = [(":status", "200"), ("content-length", text.as_str())];
        rig.sends(&headers(1, &head, false));
        let (mut window, mut left) = (65_536_i64, length);
        while left > 0 {
            window += granted(&mut rig);
            let bytes = left.min(window).min(16_384);
            assert!(
                bytes > 0,
                "{left} bytes of {length} are due and nothing is granted"
            );
            rig.sends(&body(1, &vec![b'x'; bytes as usize], false));
            window -= bytes;
            left -= bytes;
        }
        window += granted(&mut rig);
        assert!(
            window > 0,
            "{length} bytes came and there is no room for the end"
        );
        rig.sends(&body(1, &[], true));
        rig.events();
        assert_eq!(rig.conn.active(), 0);
    }
}

/// Bytes that the frames which wait grant to the first stream.
fn granted(rig: &mut Rig) -> i64 {
    rig.events();
    let updates = rig.frames().into_iter();
    let updates = updates.filter(|frame| frame.kind == kind::WINDOW_UPDATE && frame.stream == 1);
    updates.map(|frame| i64::from(frame.number())).sum()
}

#[test]
fn an_announced_length_does_not_move_a_fixed_window() {
    let mut config = Config::default();
    config.windows.auto = false;
    let mut rig = Rig::client_with(config, &[], Cut::Whole);
    rig.get();
    rig.frames();
    let head = [(":status", "200"), ("content-length", "67108864")];
    rig.sends(&headers(1, &head, false));
    rig.is_quiet("64 KiB was asked for");
}
