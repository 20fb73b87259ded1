//! Attacks of a hostile peer, and the bound of each, which the test states.

#[path = "h2/rig.rs"]
mod rig;

use rig::*;
use std::time::Duration;
use trunkline_core::error::{Closed, H2Code, Violation};
use trunkline_core::h2::frame::{Setting, flag, kind};
use trunkline_core::http::event::ResetBy;
use trunkline_core::http::{Event, StreamId};
use trunkline_core::limits::{Config, FIELD_COUNT_MAX};

/// Says it up to `max` times; how often until the connection closed, and why it did.
fn until_closed(rig: &mut Rig, max: u32, mut send: impl FnMut(u32) -> Vec<u8>) -> (u32, Closed) {
    for count in 0..max {
        rig.sends(&send(count));
        if rig.conn.is_closed() {
            let closed = rig.events().pop();
            let Some(Event::Closed(closed)) = closed else {
                panic!("Closed must be last: {closed:?}");
            };
            return (count + 1, closed);
        }
        rig.events();
    }
    panic!("the connection lives after {max}");
}

/// The answer to a head that is too large.
fn expects_431(rig: &mut Rig, stream: u32, why: &str) {
    let answer = rig.expects(kind::HEADERS, stream, why);
    assert!(answer.ends(), "{why}");
    assert_eq!(rig.decode(&answer)[0].1, "431", "{why}");
}

fn id(count: u32) -> u32 {
    1 + 2 * count
}

#[test]
fn rapid_reset_is_over_after_the_burst() {
    let mut rig = Rig::server(Cut::Whole);
    let (count, closed) = until_closed(&mut rig, 10_000, |count| {
        [
            headers(id(count), GET, true),
            rst(id(count), H2Code::CANCEL),
        ]
        .concat()
    });
    // Refused ones count too, once 200 handlers run that have not ended.
    assert_eq!(count, 1_001, "CVE-2023-44487");
    assert_eq!(closed, Closed::ByUs(Violation::ResetsTooMany));
}

#[test]
fn rapid_reset_between_good_streams_is_over_after_two_bursts() {
    let mut rig = Rig::server(Cut::Whole);
    let mut resets = 0;
    while !rig.conn.is_closed() && resets < 10_000 {
        let (good, bad) = (id(2 * resets), id(2 * resets + 1));
        rig.sends(&headers(good, GET, true));
        rig.events();
        rig.respond(good, &[], true);
        rig.conn.handler_done(rig.now, StreamId(u64::from(good)));
        rig.frames();
        rig.sends(&[headers(bad, GET, true), rst(bad, H2Code::CANCEL)].concat());
        rig.conn.handler_done(rig.now, StreamId(u64::from(bad)));
        resets += 1;
    }
    assert_eq!(resets, 2_001, "CVE-2023-44487");
    let closed = rig.events().pop();
    let due = Closed::ByUs(Violation::ResetsTooMany);
    assert!(
        matches!(closed, Some(Event::Closed(closed)) if closed == due),
        "{closed:?}"
    );
}

/// A client that gives up all the requests it may have open, `age` behind their beginning, `times` in a row. Their handlers
/// end at once.
fn gives_up_all(times: u32, age: Duration) -> Rig {
    let mut rig = Rig::server(Cut::Whole);
    for time in 0..times {
        let ids = (0..100).map(|at| id(time * 100 + at));
        let heads: Vec<_> = ids.clone().flat_map(|id| headers(id, GET, true)).collect();
        rig.sends(&heads);
        rig.waits(age);
        let resets: Vec<_> = ids.clone().flat_map(|id| rst(id, H2Code::CANCEL)).collect();
        rig.sends(&resets);
        if rig.conn.is_closed() {
            break;
        }
        ids.for_each(|id| rig.conn.handler_done(rig.now, StreamId(id.into())));
        rig.events();
    }
    rig
}

#[test]
fn a_client_that_gives_up_all_its_requests_ten_times_in_a_row_lives() {
    let mut rig = gives_up_all(10, Duration::ZERO);
    rig.sends(&headers(id(1_000), GET, true));
    rig.request(id(1_000));
    assert!(gives_up_all(11, Duration::ZERO).conn.is_closed());
}

#[test]
fn a_client_whose_requests_all_reach_a_deadline_of_a_second_lives_for_ever() {
    assert!(!gives_up_all(1_000, Duration::from_secs(1)).conn.is_closed());
    let below = Duration::from_millis(999);
    assert!(gives_up_all(1_000, below).conn.is_closed());
}

#[test]
fn handlers_of_reset_streams_still_count() {
    let mut config = Config::default();
    config.limits.running_handlers_max = 5;
    let mut rig = Rig::server_with(config, Cut::Whole);
    for count in 0..5 {
        rig.sends(&headers(id(count), GET, true));
        rig.sends(&rst(id(count), H2Code::CANCEL));
    }
    assert_eq!((rig.conn.active(), rig.conn.running_handlers()), (0, 5));
    rig.events();
    rig.sends(&headers(11, GET, true));
    rig.expects_reset(11, H2Code::REFUSED_STREAM, "five handlers run");
    rig.conn.handler_done(rig.now, StreamId(1));
    rig.sends(&headers(13, GET, true));
    rig.request(13);
}

#[test]
fn streams_beyond_the_limit_are_refused_and_hpack_stays_in_step() {
    however_it_is_cut(|cut| {
        let mut config = Config::default();
        config.limits.concurrent_streams_max = 1;
        let mut rig = Rig::server_with(config, cut);
        rig.sends(&headers(1, GET, true));
        rig.events();
        let mut block = block(GET);
        block.extend_from_slice(&[0x40, 1, b'a', 1, b'b']);
        let flags = flag::END_HEADERS | flag::END_STREAM;
        rig.sends(&frame(kind::HEADERS, flags, 3, &block));
        rig.expects_reset(3, H2Code::REFUSED_STREAM, "one stream is the limit");
        rig.no_event("the user never hears of it");
        rig.respond(1, &[], true);
        rig.frames();
        let mut block = self::block(GET);
        block.push(0xbe);
        rig.sends(&frame(kind::HEADERS, flags, 5, &block));
        let (head, _) = rig.request(5);
        assert_eq!(head.fields().next().unwrap().name, b"a");
        assert_eq!(rig.conn.counts().refused, 1);
    });
}

#[test]
fn the_six_primitives_of_made_you_reset_end_the_connection_early() {
    type Provoke = fn(u32) -> Vec<u8>;
    let primitives: [(&str, bool, Provoke); 6] = [
        ("WINDOW_UPDATE 0", false, |id| window_update(id, 0)),
        ("window overflow", false, |id| {
            window_update(id, 0x7fff_ffff)
        }),
        ("PRIORITY of 4 bytes", false, |id| {
            frame(kind::PRIORITY, 0, id, &[0; 4])
        }),
        ("depends on itself", false, |id| priority(id, id)),
        ("HEADERS after the end", true, |id| headers(id, GET, true)),
        ("DATA after the end", true, |id| body(id, b"x", true)),
    ];
    for (what, ended, provoke) in primitives {
        let mut rig = Rig::server(Cut::Whole);
        let (count, closed) = until_closed(&mut rig, 1_000, |count| {
            let head = headers(id(count), if ended { GET } else { POST }, ended);
            [head, provoke(id(count))].concat()
        });
        assert!(count <= 20, "CVE-2025-8671, {what}: {count}");
        assert_eq!(closed, Closed::ByUs(Violation::ResetsTooMany), "{what}");
    }
}

#[test]
fn a_continuation_flood_ends_after_eight_frames_or_144_kib() {
    let start = frame(kind::HEADERS, 0, 1, &block(GET));
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&start);
    let (count, closed) = until_closed(&mut rig, 100, |_| continuation(1, b"", false));
    assert_eq!(
        (count, closed),
        (9, Closed::ByUs(Violation::ContinuationsTooMany))
    );
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&start);
    let (count, closed) = until_closed(&mut rig, 100, |_| continuation(1, &[0; 16_384], false));
    assert_eq!(
        (count, closed),
        (9, Closed::ByUs(Violation::ContinuationsTooMany))
    );
    let mut config = Config::default();
    config.limits.continuations_max = 1_000;
    let mut rig = Rig::server_with(config, Cut::Whole);
    rig.sends(&start);
    let (count, closed) = until_closed(&mut rig, 100, |_| continuation(1, &[0; 16_384], false));
    assert_eq!(
        (count, closed),
        (9, Closed::ByUs(Violation::HeaderBlockTooLarge))
    );
}

#[test]
fn a_head_that_is_too_large_is_answered_with_431_and_the_connection_lives() {
    for (value, end) in [(70_000, true), (70_000, false), (100_000, true)] {
        however_it_is_cut(|cut| {
            let mut rig = Rig::server(cut);
            let mut head = block(GET);
            // One field for the table, which the next request names, and one that is too large.
            head.extend_from_slice(&[0x40, 1, b'a', 1, b'b']);
            head.extend_from_slice(&[0x00, 1, b'x', 0x7f]);
            let mut left = value - 127;
            while left >= 128 {
                head.push((left % 128) as u8 | 0x80);
                left /= 128;
            }
            head.push(left as u8);
            head.resize(head.len() + value, b'y');
            let pieces: Vec<_> = head.chunks(16_000).collect();
            let flags = if end { flag::END_STREAM } else { 0 };
            rig.sends(&frame(kind::HEADERS, flags, 1, pieces[0]));
            for (at, piece) in pieces.iter().enumerate().skip(1) {
                rig.sends(&continuation(1, piece, at + 1 == pieces.len()));
            }
            let frames = rig.frames();
            let answer = rig.decode(&frames[0]);
            assert_eq!(answer[0], (":status".to_owned(), "431".to_owned()));
            assert!(frames[0].ends());
            let resets: Vec<_> = frames[1..].iter().map(Frame::code).collect();
            let due: &[H2Code] = if end { &[] } else { &[H2Code::NO_ERROR] };
            assert_eq!(resets, due, "the rest is not wanted");
            rig.no_event("its owner hears nothing of it");
            assert_eq!(
                rig.conn.poll_refused(),
                Some(Violation::FieldSectionTooLarge)
            );
            let mut next = block(GET);
            next.push(0xbe);
            let flags = flag::END_HEADERS | flag::END_STREAM;
            rig.sends(&frame(kind::HEADERS, flags, 3, &next));
            let (head, _) = rig.request(3);
            assert_eq!(
                head.fields().next().unwrap().name,
                b"a",
                "the tables are in step"
            );
        });
    }
}

#[test]
fn a_flood_of_goaway_uses_the_glitches_up() {
    let mut rig = Rig::server(Cut::Whole);
    let (count, closed) = until_closed(&mut rig, 1_000, |_| goaway(0, H2Code::NO_ERROR));
    assert_eq!(count, 101);
    assert_eq!(closed, Closed::ByUs(Violation::GlitchesTooMany));
}

#[test]
fn a_header_block_that_never_ends_has_a_deadline_that_more_bytes_do_not_move() {
    let mut rig = Rig::server(Cut::EveryByte);
    rig.sends(&frame(kind::HEADERS, 0, 1, &block(GET)));
    for _ in 0..7 {
        rig.waits(Duration::from_secs(2));
        rig.sends(&continuation(1, b"", false));
        assert!(!rig.conn.is_closed());
    }
    rig.waits(Duration::from_secs(1));
    let closed = rig.expects_close(H2Code::ENHANCE_YOUR_CALM, "15 s");
    assert_eq!(closed, Closed::ByUs(Violation::HeaderBlockTimeout));
}

#[test]
fn frames_that_end_in_time_never_meet_the_deadline_of_one_before() {
    let mut config = Config::default();
    config.timeouts.idle = None;
    let mut rig = Rig::server_with(config, Cut::Whole);
    let mut bytes = Vec::new();
    for count in 0..100 {
        // Every read ends inside a frame.
        bytes.extend_from_slice(&ping([count; 8]));
        let until = bytes.len() - 5;
        rig.sends(&bytes[..until]);
        bytes.drain(..until);
        rig.waits(Duration::from_secs(1));
        assert!(!rig.conn.is_closed(), "after {count} s");
    }
    rig.waits(Duration::from_secs(14));
    assert!(rig.conn.is_closed(), "the last one never ended");
}

#[test]
fn an_hpack_bomb_is_one_stream_error_and_bounded() {
    let mut rig = Rig::server(Cut::Whole);
    // One entry of almost the whole table, then 4,000 references of a byte each: 16 MB.
    let mut bomb = vec![0x40, 1, b'a', 0x7f, 0x80 + 0x51, 0x1d];
    bomb.extend_from_slice(&[b'x'; 3920]);
    bomb.extend_from_slice(&[0xbe; 4_000]);
    rig.sends(&frame(
        kind::HEADERS,
        flag::END_HEADERS | flag::END_STREAM,
        1,
        &bomb,
    ));
    expects_431(&mut rig, 1, "CVE-2016-6581");
    let many = with(GET, &[("cookie", "a"); FIELD_COUNT_MAX - 3]);
    rig.sends(&headers(3, &many, true));
    expects_431(&mut rig, 3, "CVE-2026-49975: 513 fields");
    let enough = with(GET, &[("cookie", "a"); FIELD_COUNT_MAX - 4]);
    rig.sends(&headers(5, &enough, true));
    rig.request(5);
}

/// A head of a POST with more fields than a server takes, and `kind` as its content-type in front of or behind them, as
/// literals without indexing or for the table.
fn too_many_fields(kind: &str, behind: bool, indexed: bool) -> Vec<u8> {
    let mut kind_of = vec![if indexed { 0x5f } else { 0x0f }];
    if !indexed {
        kind_of.push(31 - 15);
    }
    kind_of.push(kind.len() as u8);
    kind_of.extend_from_slice(kind.as_bytes());
    let mut head = block(POST);
    let many = [0x00, 1, b'm', 1, b'x'].repeat(FIELD_COUNT_MAX);
    let [first, last] = match behind {
        true => [many, kind_of],
        false => [kind_of, many],
    };
    head.extend_from_slice(&first);
    head.extend_from_slice(&last);
    head
}

#[test]
fn a_grpc_call_with_too_many_metadata_is_reset_so_that_its_client_reads_resource_exhausted() {
    for kind in [
        "application/grpc",
        "application/grpc+proto",
        "application/grpc;x",
    ] {
        for (behind, indexed) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut rig = Rig::server(Cut::Whole);
            for stream in [1, 3] {
                let head = too_many_fields(kind, behind, indexed);
                rig.sends(&frame(kind::HEADERS, flag::END_HEADERS, stream, &head));
                rig.expects_reset(stream, H2Code::ENHANCE_YOUR_CALM, kind);
                rig.no_event("its owner hears nothing of it");
                let due = Some(Violation::CallMetadataTooLarge);
                assert_eq!(rig.conn.poll_refused(), due);
            }
            // The content-type in the table, behind which 512 fields are too many.
            let mut head = block(POST);
            head.push(0xbe);
            let many = [0x00, 1, b'm', 1, b'x'].repeat(FIELD_COUNT_MAX);
            head.extend_from_slice(&many);
            rig.sends(&frame(kind::HEADERS, flag::END_HEADERS, 5, &head));
            match indexed {
                true => rig.expects_reset(5, H2Code::ENHANCE_YOUR_CALM, kind),
                false => assert!(rig.conn.is_closed(), "the table is empty"),
            }
        }
    }
    for kind in [
        "application/grpc-web+proto",
        "application/json",
        "text/application/grpc",
    ] {
        let mut rig = Rig::server(Cut::Whole);
        let head = too_many_fields(kind, true, false);
        let flags = flag::END_HEADERS | flag::END_STREAM;
        rig.sends(&frame(kind::HEADERS, flags, 1, &head));
        expects_431(&mut rig, 1, kind);
    }
}

#[test]
fn pings_and_settings_are_answered_at_the_rate_of_their_budget() {
    let mut rig = Rig::server(Cut::Whole);
    let (count, closed) = until_closed(&mut rig, 1_000, |_| ping([1; 8]));
    assert!(count <= 101, "CVE-2019-9512: {count}");
    assert_eq!(closed, Closed::ByUs(Violation::PingsTooMany));
    let mut rig = Rig::server(Cut::Whole);
    let (count, _) = until_closed(&mut rig, 1_000, |_| settings_frame(&[]));
    assert!(count <= 101, "CVE-2019-9515: {count}");
    let mut config = Config::default();
    config.timeouts.rate_min = 0;
    let mut rig = Rig::server_with(config, Cut::Whole);
    for _ in 0..1_000 {
        rig.waits(Duration::from_millis(100));
        rig.sends(&ping([1; 8]));
        let pong = rig
            .frames()
            .into_iter()
            .find(|frame| frame.kind == kind::PING);
        let pong = pong.expect("ten a second for ever");
        assert_eq!((pong.flags, &pong.payload[..]), (flag::ACK, &[1; 8][..]));
        rig.events();
        if rig.conn.active() == 0 {
            rig.sends(&headers(1, POST, false));
        }
        rig.sends(&body(1, b"alive", false));
        rig.conn.consume(rig.now, StreamId(1), 5);
    }
}

#[test]
fn empty_data_frames_are_few() {
    let mut rig = Rig::server(Cut::EveryByte);
    rig.sends(&headers(1, POST, false));
    let (count, closed) = until_closed(&mut rig, 10_000, |_| body(1, b"", false));
    assert_eq!(
        count, 1_002,
        "CVE-2019-9518: the first, the burst and one more"
    );
    assert_eq!(closed, Closed::ByUs(Violation::EmptyFramesTooMany));
}

#[test]
fn responses_that_begin_with_an_empty_frame_are_no_flood() {
    let mut rig = Rig::client(Cut::Whole);
    for count in 0..1_000 {
        let id = rig.get();
        rig.sends(&headers(id, OK, false));
        rig.sends(&body(id, b"", false));
        rig.sends(&body(id, b"", true));
        rig.events();
        assert!(!rig.conn.is_closed(), "after {count}");
    }
}

#[test]
fn one_byte_frames_cost_memory_by_their_bytes() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, POST, false));
    let burst = body(1, b"x", false).repeat(1_000);
    rig.sends(&burst);
    let bodies = std::iter::from_fn(|| rig.conn.poll_event())
        .filter(|event| matches!(event, Event::BodyReceived { .. }))
        .count();
    assert_eq!(
        bodies, 1,
        "RUSTSEC-2026-0258: one event per read and stream"
    );
}

/// How many glitch points the peer has used.
fn glitch_points(rig: &Rig) -> u64 {
    let found = rig.conn.abuse().counts();
    found
        .filter(|(name, _)| *name == "glitch_points")
        .map(|(_, count)| count)
        .sum()
}

/// The peer sends messages of one byte on `stream`, each of which is read at once.
fn sends_messages_that_are_read(rig: &mut Rig, stream: u32, count: u32) {
    for _ in 0..count {
        rig.sends(&body(stream, b"x", false));
        for event in rig.events() {
            if let Event::BodyReceived { stream, data, .. } = event {
                rig.conn.consume(rig.now, stream, data.len());
            }
        }
        rig.frames();
    }
}

#[test]
fn small_messages_that_are_read_are_no_flood_beside_a_body_that_is_not_read() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, POST, false));
    rig.sends(&body(1, &[b'x'; 16_000], false).repeat(3));
    rig.events();
    rig.sends(&headers(3, POST, false));
    sends_messages_that_are_read(&mut rig, 3, 30_000);
    assert!(!rig.conn.is_closed());
    assert_eq!(glitch_points(&rig), 0);
}

#[test]
fn small_messages_that_are_read_are_no_flood_behind_a_body_that_was_given_up() {
    let mut rig = Rig::client(Cut::Whole);
    let (given_up, read) = (rig.get(), rig.get());
    let stream = StreamId(given_up.into());
    rig.sends(&headers(given_up, OK, false));
    rig.conn.reset(rig.now, stream, H2Code::CANCEL);
    rig.sends(&body(given_up, &[b'x'; 16_000], false));
    rig.sends(&headers(read, OK, false));
    sends_messages_that_are_read(&mut rig, read, 30_000);
    assert!(!rig.conn.is_closed());
    assert_eq!(glitch_points(&rig), 0);
}

#[test]
fn what_crosses_our_reset_is_no_glitch_as_far_as_the_stream_had_a_window() {
    const WINDOW: u32 = 16 * 1024 * 1024;
    let mut rig = Rig::client(Cut::Whole);
    let (id, _lasts) = (rig.get(), rig.get());
    let stream = StreamId(id.into());
    let wide = rig.conn.set_receive_window(rig.now, Some(stream), WINDOW);
    wide.unwrap();
    rig.sends(&headers(id, OK, false));
    rig.events();
    rig.conn.reset(rig.now, stream, H2Code::CANCEL);
    let fits = WINDOW / 1_000;
    for _ in 0..fits {
        rig.sends(&body(id, &[b'x'; 1_000], false));
        rig.frames();
    }
    assert!(!rig.conn.is_closed());
    assert_eq!(glitch_points(&rig), 0);
    let (_, closed) = until_closed(&mut rig, 20_000, |_| body(id, &[b'x'; 1_000], false));
    assert_eq!(closed, Closed::ByUs(Violation::GlitchesTooMany));
}

#[test]
fn of_a_frame_that_its_stream_does_not_outlive_no_byte_returns_to_the_window_twice() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(&headers(1, POST, false));
        rig.sends(&body(1, &[b'x'; 10_000], false));
        let short = with(POST, &[("content-length", "1")]);
        rig.sends(&headers(3, &short, false));
        rig.sends(&body(3, &[b'x'; 10_000], false));
        rig.events();
        let unread = rig.conn.connection_window().unread;
        assert_eq!(unread, 10_000, "those of the other stream");
    });
}

#[test]
fn window_updates_are_in_proportion_to_what_we_send() {
    let mut rig = Rig::server(Cut::Whole);
    let (count, closed) = until_closed(&mut rig, 10_000, |_| window_update(0, 1));
    assert!(count < 200, "{count}");
    assert_eq!(closed, Closed::ByUs(Violation::WindowUpdatesTooMany));
}

#[test]
fn priority_updates_for_streams_to_come_are_bounded() {
    let mut rig = Rig::server(Cut::Whole);
    let (count, closed) = until_closed(&mut rig, 1_000, |count| priority_update(id(count), "u=1"));
    assert_eq!(count, 101);
    assert_eq!(closed, Closed::ByUs(Violation::PriorityUpdatesTooMany));
}

#[test]
fn priority_frames_of_rfc_7540_only_use_up_the_glitch_budget() {
    let mut rig = Rig::server(Cut::Whole);
    for count in 0..1_000 {
        rig.sends(&priority(id(count), 0));
    }
    rig.is_quiet("a thousand of ten thousand points");
    let (_, closed) = until_closed(&mut rig, 20_000, |count| priority(id(count), 0));
    assert_eq!(closed, Closed::ByUs(Violation::GlitchesTooMany));
}

#[test]
fn an_unread_outbox_stops_our_reading_and_then_ends_the_connection() {
    for (is_scarce, stall) in [(false, 300), (true, 30)] {
        unread_outbox(is_scarce, stall);
    }
}

fn unread_outbox(is_scarce: bool, stall: u64) {
    let mut rig = Rig::server(Cut::Whole);
    rig.follow_scarcity().set(is_scarce);
    rig.sends(&window_update(0, 1 << 24));
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(1 << 20)]));
    rig.frames();
    assert!(rig.conn.wants_read());
    for stream in (1..100).step_by(2) {
        rig.sends(&headers(stream, GET, true));
        rig.respond(stream, &[], false);
        rig.send(stream, vec![0; 10_000], true);
    }
    rig.events();
    assert!(
        rig.conn.poll_write(rig.now).len() < 160 * 1024,
        "bodies wait on their streams, not in the outbox"
    );
    rig.waits(Duration::from_secs(stall - 1));
    assert!(!rig.conn.is_closed());
    rig.waits(Duration::from_secs(1));
    assert!(rig.conn.is_closed(), "nothing was written for {stall} s");
    let last = rig.events().pop();
    assert!(
        matches!(
            last,
            Some(Event::Closed(Closed::ByUs(Violation::WriteStalled)))
        ),
        "{last:?}"
    );
}

#[test]
fn a_request_body_that_stops_is_ended_and_one_that_our_reader_holds_up_is_not() {
    for held in [false, true] {
        let mut rig = Rig::server(Cut::Whole);
        rig.sends(&headers(1, POST, false));
        if held {
            rig.sends(&body(1, b"unread", false));
        }
        rig.events();
        rig.waits(Duration::from_secs(299));
        rig.is_quiet("its length is not known: no byte is missing");
        rig.waits(Duration::from_secs(2));
        if held {
            rig.no_event("the reader is slow, not the peer");
        } else {
            rig.expects_reset(1, H2Code::CANCEL, "5 minutes without a byte");
        }
    }
}

/// The uploads: length if known, bytes in a piece, seconds between two, whether connections are
/// scarce, and whether it is ended.
const UPLOADS: [(Option<u32>, usize, u64, bool, bool); 9] = [
    (Some(1_000_000), 1, 1, false, true),
    (Some(1_000_000), 1_200, 1, false, false),
    (Some(1_000_000), 1, 1, true, true),
    (Some(1_000_000), 1_200, 1, true, false),
    // A gRPC client stream: a message a second, and one in 12 s; and one in four minutes.
    (None, 20, 1, false, false),
    (None, 20, 12, false, false),
    (None, 1, 240, false, false),
    (None, 20, 1, true, true),
    (None, 1_200, 1, true, false),
];

#[test]
fn a_body_that_waits_for_a_100_is_due_once_it_is_asked_for() {
    let mut rig = Rig::server(Cut::Whole);
    let held = with(
        POST,
        &[("expect", "100-continue"), ("content-length", "5000")],
    );
    rig.sends(&headers(1, &held, false));
    rig.request(1);
    rig.waits(Duration::from_secs(120));
    rig.no_event("the handler is the one to act");
    let asked = response(100, &[]);
    rig.conn.send_interim(rig.now, StreamId(1), &asked).unwrap();
    rig.waits(Duration::from_secs(1));
    assert_eq!(rig.conn.active(), 1, "its time begins with the 100");
    rig.waits(Duration::from_secs(60));
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn a_request_body_that_dribbles_is_ended_where_bytes_are_due() {
    for (length, bytes, pause, is_scarce, is_ended) in UPLOADS {
        let mut rig = Rig::server(Cut::Whole);
        rig.follow_scarcity().set(is_scarce);
        let length = length.map(|length| length.to_string());
        let length = length
            .as_ref()
            .map(|length| ("content-length", &length[..]));
        rig.sends(&headers(1, &with(POST, length.as_slice()), false));
        rig.request(1);
        for _ in 0..60 {
            rig.waits(Duration::from_secs(pause));
            rig.sends(&body(1, &vec![0; bytes], false));
            rig.conn.consume(rig.now, StreamId(1), bytes);
        }
        let ended = rig.conn.active() == 0;
        let what = format!("{bytes} bytes in {pause} s of {length:?}, scarce: {is_scarce}");
        assert_eq!(ended, is_ended, "{what}");
        assert!(!rig.conn.is_closed(), "the stream alone ends: {what}");
        let due = ResetBy::Us(Violation::BodyTooSlow);
        let is_due =
            |event: &Event| matches!(event, Event::StreamReset { reset, .. } if reset.by == due);
        assert_eq!(
            rig.events().iter().any(is_due),
            is_ended,
            "its owner learns why: {what}"
        );
    }
}

#[test]
fn memory_is_given_back_by_an_idle_connection() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.respond(1, &[], true);
    rig.frames();
    rig.events();
    rig.conn.release();
    rig.sends(&headers(3, GET, true));
    rig.request(3);
}

#[test]
fn a_response_may_rest_for_as_long_as_the_user_waits() {
    let mut rig = Rig::client(Cut::Whole);
    let id = rig.conn.open(rig.now, &request("POST"), false).unwrap();
    rig.conn
        .send_body(rig.now, id, vec![0; 100_000].into(), true)
        .unwrap();
    rig.frames();
    rig.sends(
        &[
            headers(1, OK, false),
            window_update(0, 1 << 20),
            window_update(1, 1 << 20),
        ]
        .concat(),
    );
    rig.frames();
    rig.events();
    rig.waits(Duration::from_secs(600));
    rig.no_event("an event stream is quiet between two events");
    rig.sends(&body(1, b"at last", true));
    assert!(matches!(
        rig.event(),
        Some(Event::BodyReceived { end: true, .. })
    ));
}
