//! The bound of each flood, and honest peers beside it (docs/attacks.md rows 25 to 27); stream
//! credit over many requests; a client and a server connected to each other.
#![allow(clippy::unwrap_used, reason = "a scripted peer may panic")]

#[path = "h3/rig.rs"]
mod rig;

use bytes::Bytes;
use rig::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use trunkline_core::abuse::{Abuse, Verdict};
use trunkline_core::error::{H2Code, H3Code, Violation};
use trunkline_core::h3::frame::kind;
use trunkline_core::h3::settings::id;
use trunkline_core::h3::{Conn, TransportAction, UniKind};
use trunkline_core::http::{Event, Fields, RequestHead, Side, StreamId, Version};
use trunkline_core::limits::{Config, DATAGRAMS_PER_TURN_MAX, FIELD_COUNT_MAX};

/// A config that serves as many requests as a test wants.
fn endless() -> Config {
    let mut config = Config::default();
    config.limits.requests_per_connection_max = u64::MAX;
    config
}

#[test]
fn small_messages_that_are_read_are_no_flood_beside_a_long_frame_of_another_stream() {
    let mut rig = Rig::server(Cut::Whole);
    // A DATA frame of a gibibyte, of which little comes.
    let long = [&[0x00, 0xc0, 0, 0, 0, 0x40, 0, 0, 0][..], b"x"].concat();
    rig.sends(0, &[headers(GET), long].concat());
    rig.sends(4, &headers(GET));
    for _ in 0..30_000 {
        rig.sends(4, &data(b"x"));
        for event in rig.events() {
            if let Event::BodyReceived { stream, data, .. } = event {
                rig.conn.consume(rig.now, stream, data.len());
            }
        }
        rig.run();
    }
    assert!(!rig.conn.is_closed());
    let points = rig.conn.abuse().counts();
    let points = points.filter(|(name, _)| *name == "glitch_points");
    assert_eq!(points.map(|(_, count)| count).sum::<u64>(), 0);
}

// Row 25: stream credit.

#[test]
fn a_hundred_thousand_requests_one_after_another_leave_nothing_behind() {
    let mut config = endless();
    config.limits.request_streams_max = 100;
    let mut rig = Rig::server_with(config, Cut::Whole);
    let mut granted = 100;
    for number in 0..100_000 {
        assert!(number < granted, "the credit never runs dry");
        let id = number * 4;
        if number % 7 == 3 {
            rig.sends(id, &headers(POST));
            rig.resets(id, H3Code::REQUEST_CANCELLED);
            rig.conn.handler_done(rig.now, StreamId(id));
        } else {
            rig.sends_all(id, &headers(GET));
            rig.answer(id, "x");
        }
        for event in rig.events() {
            if let Event::RequestReceived { head, .. } = event {
                rig.conn.recycle_head(head);
            }
        }
        assert_eq!((rig.conn.active(), rig.conn.running_handlers()), (0, 0));
        granted = rig.granted.unwrap_or(granted);
        rig.wire_streams.clear();
        rig.reads.clear();
        rig.now += Duration::from_millis(10);
    }
    assert!(granted > 100_000);
    assert!(rig.closed.is_none());
}

#[test]
fn as_many_as_the_limit_are_served_and_one_more_closes_the_connection() {
    let mut rig = Rig::server(Cut::Whole);
    for number in 0..256 {
        rig.sends(number * 4, &headers(POST));
        rig.request(number * 4);
    }
    rig.no_event("all are open");
    assert_eq!(rig.conn.active(), 256);
    rig.sends(256 * 4, &headers(POST));
    rig.breaks(Violation::StreamCreditExceeded);
}

#[test]
fn a_stream_far_ahead_opens_all_below_it_and_no_more_than_the_limit() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(255 * 4, &headers(GET));
    rig.request(255 * 4);
    assert_eq!(rig.conn.active(), 256, "RFC 9000 section 3.2");
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(u64::MAX / 8 * 4, &headers(GET));
    rig.breaks(Violation::StreamCreditExceeded);
}

#[test]
fn with_the_limit_in_flight_credit_comes_back_in_portions() {
    let mut rig = Rig::server_with(endless(), Cut::Whole);
    let mut next = 0;
    let mut open = std::collections::VecDeque::new();
    let mut granted = 256;
    while next < 10_000 {
        while next < granted {
            rig.sends_all(next * 4, &headers(GET));
            open.push_back(next);
            next += 1;
        }
        assert!(rig.conn.active() <= 256);
        rig.events();
        let oldest = open.pop_front().unwrap();
        rig.answer(oldest * 4, "x");
        rig.run();
        granted = rig.granted.unwrap_or(granted);
    }
    assert!(rig.closed.is_none());
}

#[test]
fn rapid_resets_close_the_connection() {
    let mut rig = Rig::server_with(endless(), Cut::Whole);
    let mut number = 0;
    while rig.closed.is_none() && number < 100_000 {
        let id = number * 4;
        rig.sends_all(id, &headers(GET));
        rig.stops(id, H3Code::REQUEST_CANCELLED);
        if rig.closed.is_none() {
            rig.conn.handler_done(rig.now, StreamId(id));
        }
        number += 1;
    }
    rig.breaks(Violation::ResetsTooMany);
    assert_eq!(number, 1_001, "CVE-2023-44487");
}

#[test]
fn a_client_may_give_up_all_its_requests_at_once_three_times() {
    let mut rig = Rig::server_with(endless(), Cut::Whole);
    for number in 0..3 * 256 {
        rig.sends_all(number * 4, &headers(GET));
        if number % 256 < 255 {
            continue;
        }
        for given_up in number - 255..=number {
            rig.stops(given_up * 4, H3Code::REQUEST_CANCELLED);
            rig.conn.handler_done(rig.now, StreamId(given_up * 4));
        }
        rig.events();
    }
    rig.sends_all(3 * 256 * 4, &headers(GET));
    rig.request(3 * 256 * 4);
}

#[test]
fn handlers_of_reset_requests_count() {
    let mut config = endless();
    config.limits.request_handlers_max = 10;
    let mut rig = Rig::server_with(config, Cut::Whole);
    for number in 0..10 {
        rig.sends_all(number * 4, &headers(GET));
        rig.stops(number * 4, H3Code::REQUEST_CANCELLED);
    }
    rig.sends_all(40, &headers(GET));
    assert_eq!(rig.wire_streams[&40].reset, Some(H3Code::REQUEST_REJECTED));
    rig.conn.handler_done(rig.now, StreamId(0));
    rig.events();
    rig.sends_all(44, &headers(GET));
    rig.request(44);
}

#[test]
fn more_unidirectional_streams_than_there_are_uses_for_close_the_connection() {
    let mut rig = Rig::server(Cut::Whole);
    for stream in 1..6 {
        rig.sends(2 + stream * 4, &[0x40]);
    }
    rig.breaks(Violation::UniStreamsTooMany);
}

// Row 26: QPACK.

#[test]
fn a_section_that_overtakes_the_table_waits_and_goes_on() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        // Required Insert Count 1; the rest as literals.
        let mut early = section(POST);
        early[0] = 2;
        early.push(0x80);
        let bytes = [frame(kind::HEADERS, &early), data(b"body")].concat();
        rig.sends_all(0, &bytes);
        rig.no_event("the table is behind");
        assert_eq!(rig.conn.read_room(StreamId(0)), 0);
        // Capacity 220, then one entry "a: b".
        rig.sends(6, &[0x2, 0x3f, 0xbd, 0x01, 0x41, b'a', 0x01, b'b']);
        let (head, _) = rig.request(0);
        assert_eq!(head.fields().last().unwrap().value, b"b");
        assert_eq!(rig.body(0), (b"body".to_vec(), true));
        assert!(rig.reads.contains(&0));
        let decoder = rig.uni(UniKind::QpackDecoder).unwrap();
        assert_eq!(
            rig.wire_streams[&decoder].bytes.last(),
            Some(&0x80),
            "acknowledged"
        );
    });
}

#[test]
fn one_blocked_stream_too_many_closes_the_connection() {
    let mut rig = Rig::server(Cut::Whole);
    let mut early = section(GET);
    early[0] = 2;
    for number in 0..16 {
        rig.sends(number * 4, &frame(kind::HEADERS, &early));
    }
    assert!(rig.closed.is_none());
    rig.sends(64, &frame(kind::HEADERS, &early));
    rig.breaks(Violation::QpackDecompressionFailed);
}

#[test]
fn a_blocked_stream_does_not_wait_for_ever() {
    let mut rig = Rig::server(Cut::Whole);
    let mut early = section(GET);
    early[0] = 2;
    rig.sends(0, &frame(kind::HEADERS, &early));
    rig.waits(Duration::from_secs(15));
    assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::REQUEST_CANCELLED));
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn more_fields_or_bytes_than_the_limits_are_refused() {
    let many: Vec<_> = (0..=FIELD_COUNT_MAX).map(|_| ("a", "b")).collect();
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(&with(GET, &many)));
    answers_431(&mut rig, 0);
    assert_eq!(rig.wire_streams[&0].stopped, None, "all of it had come");
    let enough: Vec<_> = (0..124).map(|_| ("a", "b")).collect();
    rig.sends_all(4, &headers(&with(GET, &enough)));
    rig.request(4);
}

/// The answer to a head that is too large, and nothing else: its owner gets no event.
#[track_caller]
fn answers_431(rig: &mut Rig, stream: u64) {
    let frames = rig.frames(stream);
    assert_eq!(frames.len(), 1, "a head and no body");
    assert_eq!(frames[0].0, kind::HEADERS);
    let answer = rig.decode(stream, &frames[0].1);
    let due = [(":status", "431"), ("content-length", "0")];
    assert_eq!(answer, due.map(|(name, value)| (name.into(), value.into())));
    let wire_stream = &rig.wire_streams[&stream];
    assert!(
        wire_stream.fin && wire_stream.reset.is_none(),
        "{wire_stream:?}"
    );
    rig.no_event("the request is no exchange");
    assert_eq!(rig.conn.active(), 0, "the stream is over");
    assert!(rig.conn.poll_refused().is_some());
}

#[test]
fn a_head_that_is_too_large_is_answered_with_431_and_the_connection_lives() {
    // (bytes of the value, whether the section is decoded, whether a body follows): above 64 KiB decoded,
    // and above 64 KiB on the wire.
    for (bytes, body) in [
        (65_400, false),
        (65_400, true),
        (70_000, false),
        (70_000, true),
    ] {
        however_it_is_cut(|cut| {
            let mut rig = Rig::server(cut);
            let mut payload = section(GET);
            payload.extend([0x21, b'x']);
            // The length of the value, with a prefix of 7 bits (RFC 7541 section 5.1).
            payload.push(0x7f);
            let mut left = bytes - 127;
            while left >= 128 {
                payload.push((left % 128) as u8 | 0x80);
                left /= 128;
            }
            payload.push(left as u8);
            payload.resize(payload.len() + bytes, b'y');
            let head = frame(kind::HEADERS, &payload);
            let more = data(&[0; 1000]);
            match body {
                true => {
                    rig.sends(0, &head);
                    rig.sends_all(0, &more);
                }
                false => rig.sends_all(0, &head),
            }
            answers_431(&mut rig, 0);
            let stopped = rig.wire_streams[&0].stopped;
            assert!(matches!(stopped, None | Some(H3Code::NO_ERROR)));
            // One above 64 KiB on the wire is refused before its end is known.
            let end_is_known = match cut {
                Cut::Whole => true,
                Cut::EveryByte => bytes < 65_536,
                Cut::EndApart => false,
            };
            assert_eq!(stopped.is_some(), body || !end_is_known, "{cut:?}, {bytes}");
            rig.sends_all(4, &headers(GET));
            rig.request(4);
            rig.answer(4, "hello");
            assert!(rig.wire_streams[&4].fin, "the connection goes on");
        });
    }
}

#[test]
fn a_flood_of_heads_that_are_too_large_uses_the_resets_up() {
    let mut rig = Rig::server(Cut::Whole);
    let many: Vec<_> = (0..=FIELD_COUNT_MAX).map(|_| ("a", "b")).collect();
    let head = headers(&with(GET, &many));
    let mut count = 0;
    while rig.closed.is_none() && count < 10_000 {
        rig.sends_all(count * 4, &head);
        count += 1;
    }
    assert_eq!(count, 1_001);
    rig.breaks(Violation::ResetsTooMany);
}

#[test]
fn trailers_that_are_too_large_reset_their_exchange() {
    let many: Vec<_> = (0..=FIELD_COUNT_MAX).map(|_| ("a", "b")).collect();
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(0, &headers(POST));
        rig.request(0);
        rig.sends_all(0, &headers(&many));
        let event = rig.event();
        assert!(
            matches!(event, Some(Event::StreamReset { .. })),
            "{event:?}"
        );
        assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::EXCESSIVE_LOAD));
    });
}

#[test]
fn a_peer_that_takes_nothing_from_our_qpack_stream_is_left() {
    let mut rig = Rig::server_with(endless(), Cut::Whole);
    rig.sends(6, &[0x2, 0x3f, 0xbd, 0x01, 0x41, b'a', 0x01, b'b']);
    let decoder = rig.uni(UniKind::QpackDecoder).unwrap();
    rig.room.insert(decoder, 0);
    let mut early = section(GET);
    early[0] = 2;
    early.push(0x80);
    for number in 0..100_000 {
        if rig.closed.is_some() {
            break;
        }
        rig.sends_all(number * 4, &frame(kind::HEADERS, &early));
        if rig.closed.is_none() {
            rig.answer(number * 4, "");
        }
        rig.wire_streams.remove(&(number * 4));
        rig.events();
    }
    assert_eq!(
        rig.closed.map(|(code, _)| code),
        Some(H3Code::EXCESSIVE_LOAD)
    );
}

// Row 27: floods.

#[track_caller]
fn floods(stream: u64, piece: &[u8], most: u32) -> u32 {
    let mut rig = Rig::server(Cut::Whole);
    if stream == 0 {
        rig.sends(0, &headers(POST));
    }
    for count in 0..most {
        if rig.closed.is_some() {
            return count;
        }
        rig.sends(stream, piece);
        rig.events();
    }
    panic!("{most} were borne");
}

#[test]
fn floods_of_frames_that_say_nothing_close_the_connection() {
    let unknown = frame(0x21, b"");
    assert!(floods(0, &unknown, 20_000) > 5_000);
    assert!(floods(2, &unknown, 20_000) > 5_000);
    assert!(floods(2, &number(kind::MAX_PUSH_ID, 1), 20_000) > 5_000);
    assert!(floods(2, &number(kind::GOAWAY, 0), 20_000) > 5_000);
    let update = frame(kind::PRIORITY_UPDATE_REQUEST, b"\0u=1");
    assert!(floods(2, &update, 20_000) > 5_000);
    assert!(floods(0, &data(b""), 2_000) <= 1_003, "CVE-2019-9518");
}

#[test]
fn a_control_frame_that_is_large_is_not_kept() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(2, &[0x07, 0x80, 0x01, 0x00, 0x00]);
    rig.breaks(Violation::ControlFrameTooLarge);
}

#[test]
fn streams_of_unknown_types_are_a_budget() {
    let mut rig = Rig::server(Cut::Whole);
    let mut number = 1;
    while rig.closed.is_none() && number < 10_000 {
        rig.sends(2 + number * 4, &[0x21]);
        rig.wire_streams.clear();
        number += 1;
    }
    assert!((500..2_000).contains(&number), "{number}");
}

// RFC 9218.

#[test]
fn priorities_become_an_order_of_sending() {
    let mut rig = Rig::server(Cut::Whole);
    let update = |stream: u8, value: &[u8]| {
        frame(
            kind::PRIORITY_UPDATE_REQUEST,
            &[&[stream][..], value].concat(),
        )
    };
    rig.sends(2, &update(12, b"u=0"));
    for (stream, value) in [
        (0, "u=1"),
        (4, "u=1"),
        (8, "u=1, i"),
        (12, "u=7"),
        (16, "u=7"),
    ] {
        rig.sends_all(stream, &headers(&with(GET, &[("priority", value)])));
    }
    rig.sends_all(20, &headers(GET));
    rig.events();
    for number in 0..6 {
        rig.respond(number * 4, &[], false);
    }
    let order = |rig: &Rig, stream: u64| rig.wire_streams[&stream].order.unwrap_or(0);
    let sorted = [12, 0, 4, 8, 20, 16];
    for pair in sorted.windows(2) {
        assert!(order(&rig, pair[0]) > order(&rig, pair[1]), "{pair:?}");
    }
    assert_eq!(rig.wire_streams[&20].order, None, "nobody ranked it");
    rig.sends(2, &update(16, b"u=0"));
    assert!(order(&rig, 16) > order(&rig, 0));
    rig.sends(2, &frame(kind::PRIORITY_UPDATE_REQUEST, b"\x02u=1"));
    rig.breaks(Violation::StreamIdInvalid);
}

#[test]
fn our_control_and_qpack_streams_go_out_before_every_response() {
    let mut rig = Rig::fresh(Side::Server, Config::default(), Cut::Whole);
    rig.sends(2, &control(&[(id::QPACK_MAX_TABLE_CAPACITY, 4096)]));
    let urgent = with(GET, &[("priority", "u=0")]);
    rig.sends_all(0, &headers(&urgent));
    rig.events();
    rig.respond(0, &[("server", "trunkline")], false);
    let order = |stream: u64| rig.wire_streams[&stream].order.unwrap_or(0);
    let ours: Vec<UniKind> = rig.kinds.values().copied().collect();
    assert!(ours.contains(&UniKind::Control), "{ours:?}");
    assert!(ours.contains(&UniKind::QpackEncoder), "{ours:?}");
    for stream in rig.kinds.keys() {
        assert!(order(*stream) > order(0), "{stream}");
    }
}

// RFC 9297.

#[test]
fn what_a_response_says_of_its_priority_overrides_the_request_member_by_member() {
    let mut rig = Rig::server(Cut::Whole);
    for (stream, asked) in [(0, "u=2"), (4, "u=1, i"), (8, "u=0")] {
        rig.sends_all(stream, &headers(&with(GET, &[("priority", asked)])));
    }
    for stream in [12, 16] {
        rig.sends_all(stream, &headers(GET));
    }
    rig.events();
    let answered = ["u=1, i", "u=x", "u=7", "u=0", "i=?0"];
    for (number, answered) in (0..).zip(answered) {
        rig.respond(number * 4, &[("priority", answered)], false);
    }
    let order = |stream: u64| rig.wire_streams[&stream].order.unwrap_or(0);
    assert_eq!(order(0), order(4), "the second is as it was asked for");
    for pair in [12, 0, 16, 8].windows(2) {
        assert!(order(pair[0]) > order(pair[1]), "{pair:?}");
    }
}

#[test]
fn datagrams_go_with_their_request() {
    let mut rig = Rig::server_with(with_datagrams(), Cut::Whole);
    rig.sends(2, b"");
    rig.sends(4, &headers(TUNNEL));
    rig.events();
    rig.conn
        .handle_datagram(rig.now, Bytes::from_static(b"\x01ping"));
    let (stream, bytes) = rig.conn.poll_datagram().unwrap();
    assert_eq!((stream, &bytes[..]), (StreamId(4), &b"ping"[..]));
    rig.conn
        .handle_datagram(rig.now, Bytes::from_static(b"\x05late"));
    assert_eq!(rig.conn.poll_datagram(), None, "nobody's");
    assert!(
        rig.conn.send_datagram(StreamId(4), b"x").is_err(),
        "the client has not said that it takes them"
    );
    rig.conn.handle_datagram(rig.now, Bytes::from_static(b""));
    rig.run();
    rig.breaks(Violation::DatagramInvalid);

    let offers = [(id::H3_DATAGRAM, 1), (id::ENABLE_CONNECT_PROTOCOL, 1)];
    let mut rig = Rig::client_with(with_datagrams(), &offers, 10, Cut::Whole);
    let stream = rig.conn.open(rig.now, &tunnel(), false).unwrap();
    rig.conn.send_datagram(stream, b"ping").unwrap();
    rig.run();
    assert_eq!(rig.datagrams, [Bytes::from_static(b"\0ping")]);
}

const TUNNEL: &[(&str, &str)] = &[
    (":method", "CONNECT"),
    (":protocol", "connect-udp"),
    (":scheme", "https"),
    (":authority", "example.org"),
    (":path", "/"),
];

fn with_datagrams() -> Config {
    Config::default()
        .with_datagrams(true)
        .with_extended_connect(true)
}

fn tunnel() -> RequestHead {
    let mut fields = Fields::new();
    for (name, value) in TUNNEL {
        fields.push_named(name.as_bytes(), value.as_bytes());
    }
    RequestHead::from_fields(fields, Version::Http3).unwrap()
}

#[test]
fn a_datagram_about_a_request_that_has_none_ends_that_request() {
    let mut rig = Rig::server_with(with_datagrams(), Cut::Whole);
    rig.sends(0, &headers(POST));
    rig.sends(4, &headers(TUNNEL));
    rig.events();
    rig.conn
        .handle_datagram(rig.now, Bytes::from_static(b"\0ping"));
    rig.run();
    // RFC 9297 section 2.
    assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::DATAGRAM_ERROR));
    rig.is_quiet(4, "the tunnel goes on");
    assert_eq!(rig.conn.poll_datagram(), None);

    let offers = [(id::H3_DATAGRAM, 1)];
    let mut rig = Rig::client_with(with_datagrams(), &offers, 10, Cut::Whole);
    let stream = rig.conn.open(rig.now, &request("POST"), false).unwrap();
    assert!(rig.conn.send_datagram(stream, b"ping").is_err());
}

#[test]
fn of_datagrams_that_nobody_reads_the_latest_are_kept_and_the_others_counted() {
    let mut rig = Rig::server_with(with_datagrams(), Cut::Whole);
    rig.sends(0, &headers(TUNNEL));
    rig.events();
    for number in 0..DATAGRAMS_PER_TURN_MAX as u16 + 3 {
        let [high, low] = number.to_be_bytes();
        let bytes = Bytes::copy_from_slice(&[0, high, low]);
        rig.conn.handle_datagram(rig.now, bytes);
    }
    assert_eq!(rig.conn.counts().datagrams_dropped, 3);
    let (_, oldest) = rig.conn.poll_datagram().unwrap();
    assert_eq!(oldest[..], [0, 3]);
    let left = std::iter::from_fn(|| rig.conn.poll_datagram()).count();
    assert_eq!(left, DATAGRAMS_PER_TURN_MAX - 1);
}

#[test]
fn a_quarter_stream_id_is_no_larger_than_a_stream_id_can_be() {
    let config = Config::default().with_datagrams(true);
    // RFC 9297 section 2.1: 2^60 - 1 is the largest.
    for (id, is_good) in [
        (b"\xcf\xff\xff\xff\xff\xff\xff\xff", true),
        (b"\xd0\0\0\0\0\0\0\0", false),
    ] {
        let mut rig = Rig::server_with(config.clone(), Cut::Whole);
        rig.conn
            .handle_datagram(rig.now, Bytes::copy_from_slice(id));
        rig.run();
        match is_good {
            true => rig.no_event("dropped: no such stream is open"),
            false => rig.breaks(Violation::DatagramInvalid),
        }
    }
}

#[test]
fn no_datagram_is_sent_once_our_side_is_closed() {
    let offers = [(id::H3_DATAGRAM, 1), (id::ENABLE_CONNECT_PROTOCOL, 1)];
    let mut rig = Rig::client_with(with_datagrams(), &offers, 10, Cut::Whole);
    let stream = rig.conn.open(rig.now, &tunnel(), true).unwrap();
    rig.run();
    assert!(rig.conn.send_datagram(stream, b"late").is_err());
    rig.run();
    assert!(rig.datagrams.is_empty(), "RFC 9297 section 2.1");
}

// A client and a server.

/// The next number of a small generator (xorshift).
fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Bytes on their way on one stream.
#[derive(Default)]
struct Way {
    bytes: Vec<u8>,
    fin: bool,
    ended: bool,
}

/// Takes what `from` asks for onto its ways.
fn load(from: &mut Conn, ways: &mut BTreeMap<u64, Way>, rig: &Rig, seed: &mut u64) {
    while let Some(action) = from.poll_transport(rig.now) {
        match action {
            TransportAction::Write {
                stream,
                mut pieces,
                fin,
            } => {
                let way = ways.entry(stream.0).or_default();
                let len = pieces[0].len() + pieces[1].len();
                let mut left = match next(seed) % 3 {
                    0 => len,
                    _ => (next(seed) as usize) % (len + 1),
                };
                let all = left == len;
                for piece in &mut pieces {
                    let now = piece.split_to(left.min(piece.len()));
                    left -= now.len();
                    way.bytes.extend_from_slice(&now);
                }
                if all {
                    way.fin = fin;
                } else {
                    from.handle_stream_blocked(rig.now, stream, pieces, fin);
                }
            }
            TransportAction::Reset { .. }
            | TransportAction::StopSending { .. }
            | TransportAction::Close { .. } => {
                panic!("nobody breaks a rule: {action:?}")
            }
            _ => {}
        }
    }
}

/// Gives `to` some of what is on the way, streams in any order, cut anywhere.
fn unload(to: &mut Conn, ways: &mut BTreeMap<u64, Way>, rig: &Rig, seed: &mut u64) {
    for (&stream, way) in ways.iter_mut() {
        if next(seed).is_multiple_of(2) || way.ended {
            continue;
        }
        let room = to.read_room(StreamId(stream));
        let len = (next(seed) as usize % (way.bytes.len() + 1)).min(room);
        let piece: Vec<u8> = way.bytes.drain(..len).collect();
        let ended = way.fin && way.bytes.is_empty();
        way.ended = ended;
        to.handle_stream(rig.now, StreamId(stream), &piece, ended);
    }
}

#[test]
fn a_client_and_a_server_understand_each_other_whatever_the_transport_does() {
    for seed in 1..=40_u64 {
        let mut seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let rig = Rig::server(Cut::Whole);
        let mut client = Conn::new(Side::Client, Arc::new(endless()), rig.now);
        let mut server = Conn::new(Side::Server, Arc::new(endless()), rig.now);
        let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
        client.handle_streams_available(rig.now, 256);
        let mut bodies: BTreeMap<u64, usize> = BTreeMap::new();
        let mut opened = 0;
        for _ in 0..20_000 {
            if opened < 20 && client.capacity() > 0 {
                let number = opened.to_string();
                let head = request_with("POST", &[("x-number", &number)]);
                let stream = client.open(rig.now, &head, false).unwrap();
                let body = Bytes::from(vec![1; opened * 3000]);
                client.send_body(rig.now, stream, body, true).unwrap();
                opened += 1;
            }
            load(&mut client, &mut there, &rig, &mut seed);
            unload(&mut server, &mut there, &rig, &mut seed);
            serve(&mut server, &rig);
            load(&mut server, &mut back, &rig, &mut seed);
            unload(&mut client, &mut back, &rig, &mut seed);
            for number in 0..20 {
                client.handle_stream_room(rig.now, StreamId(number * 4));
                server.handle_stream_room(rig.now, StreamId(number * 4));
            }
            for number in [2, 6, 10] {
                client.handle_stream_room(rig.now, StreamId(number));
                server.handle_stream_room(rig.now, StreamId(number + 1));
            }
            while let Some(event) = client.poll_event() {
                if let Event::BodyReceived { stream, data, .. } = event {
                    *bodies.entry(stream.0).or_default() += data.len();
                    client.consume(rig.now, stream, data.len());
                }
            }
            if opened == 20 && client.active() == 0 && server.active() == 0 {
                break;
            }
        }
        let echoed: Vec<usize> = (1..20).map(|number| number * 3000).collect();
        let got: Vec<usize> = bodies.values().copied().filter(|&len| len > 0).collect();
        assert_eq!(got, echoed, "every body came back whole");
        assert_eq!((client.active(), server.active()), (0, 0));
    }
}

/// Echoes bodies.
fn serve(server: &mut Conn, rig: &Rig) {
    while let Some(event) = server.poll_event() {
        match event {
            Event::RequestReceived { stream, head, end } => {
                let number = head.get_number();
                let head = response(200, &[("x-number", &number)]);
                server.respond(rig.now, stream, &head, end).unwrap();
                if end {
                    server.handler_done(rig.now, stream);
                }
            }
            Event::BodyReceived { stream, data, end } => {
                server.consume(rig.now, stream, data.len());
                server.send_body(rig.now, stream, data, end).unwrap();
                if end {
                    server.handler_done(rig.now, stream);
                }
            }
            other => panic!("{other:?}"),
        }
    }
}

trait Number {
    fn get_number(&self) -> String;
}

impl Number for RequestHead {
    fn get_number(&self) -> String {
        let mut fields = self.fields();
        let field = fields.find(|field| field.name == b"x-number").unwrap();
        String::from_utf8(field.value.to_vec()).unwrap()
    }
}

// Resets of our client, at a server that counts as ours does.

#[test]
fn endless_aborts_stay_below_the_reset_budget_of_a_server() {
    let mut rig = Rig::client_with(endless(), &[], 1_000_000, Cut::Whole);
    let mut server = Abuse::new(&Config::default().limits);
    let mut resets = 0;
    for _ in 0..10_000 {
        while rig.conn.capacity() > 0 {
            let id = StreamId(rig.get());
            server.stream_opened();
            rig.conn.reset(rig.now, id, H2Code::CANCEL);
            rig.run();
            let verdict = server.reset_received(Duration::ZERO, rig.now);
            assert_eq!(verdict, Verdict::Fine, "behind {resets}");
            resets += 1;
        }
        rig.waits(Duration::from_millis(1));
    }
    let (burst, open, per_second) = (500, 256, 30);
    let allowed = burst + open + per_second * 10;
    // The last one is due with the end of the time.
    assert_eq!(resets, allowed - 1);
}

#[test]
fn streams_that_wait_behind_resets_are_let_go_one_by_one() {
    let mut rig = Rig::client_with(endless(), &[], 1_000_000, Cut::Whole);
    let limit = rig.conn.capacity();
    for _ in 0..500 {
        let id = StreamId(rig.get());
        rig.conn.reset(rig.now, id, H2Code::CANCEL);
    }
    rig.run();
    assert_eq!(rig.conn.capacity(), limit, "a burst costs nothing");
    while rig.conn.capacity() > 0 {
        let id = StreamId(rig.get());
        rig.conn.reset(rig.now, id, H2Code::CANCEL);
    }
    rig.run();
    rig.events();
    rig.waits(Duration::from_millis(33));
    rig.no_event("the next one is not due");
    rig.waits(Duration::from_millis(1));
    assert!(matches!(rig.event(), Some(Event::CapacityChanged)));
    assert_eq!(rig.conn.capacity(), 1);
    rig.waits(Duration::from_secs(60));
    assert_eq!(rig.conn.capacity(), limit);
    assert!(!rig.conn.is_closed());
}
