//! Streams of a peer that is slow on purpose: each wait has an end, and a byte now and then does
//! not move it (docs/attacks.md rows 4 and 15).
#![allow(clippy::unwrap_used, reason = "a scripted peer may panic")]

#[path = "h3/rig.rs"]
mod rig;

use rig::*;
use std::time::Duration;
use trunkline_core::error::{H3Code, Violation};
use trunkline_core::h3::frame::kind;
use trunkline_core::http::event::ResetBy;
use trunkline_core::http::{Event, StreamId};
use trunkline_core::limits::Config;

const SECOND: Duration = Duration::from_secs(1);

/// The next event is the end of the exchange, for this rule.
#[track_caller]
fn ends(rig: &mut Rig, due: Violation) {
    match rig.event() {
        Some(Event::StreamReset { reset, .. }) => assert_eq!(reset.by, ResetBy::Us(due)),
        other => panic!("{due:?} is due: {other:?}"),
    }
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn an_answer_that_nobody_takes_is_ended_after_the_stall_time() {
    for (size, is_scarce) in [
        (100, false),
        (10_000, false),
        (300_000, false),
        (300_000, true),
    ] {
        let mut rig = Rig::server(Cut::Whole);
        rig.follow_scarcity().set(is_scarce);
        rig.sends_all(0, &headers(GET));
        rig.events();
        rig.room.insert(0, 0);
        rig.answer(0, vec![7; size]);
        let stall = if is_scarce { 30 } else { 300 };
        rig.waits((stall - 1) * SECOND);
        assert_eq!(
            rig.wire_streams[&0].reset, None,
            "{size}: it may still move"
        );
        rig.waits(SECOND);
        assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::REQUEST_CANCELLED));
        ends(&mut rig, Violation::StreamStalled);
        assert!(rig.closed.is_none(), "{size}: the stream alone ends");
    }
}

#[test]
fn an_answer_that_is_taken_byte_by_byte_is_ended_too() {
    // CVE-2026-49975: a little room now and then holds a stream for ever.
    for (size, is_scarce) in [
        (100, true),
        (10_000, true),
        (300_000, true),
        (300_000, false),
    ] {
        let mut rig = Rig::server(Cut::Whole);
        rig.follow_scarcity().set(is_scarce);
        rig.sends_all(0, &headers(GET));
        rig.events();
        rig.room.insert(0, 0);
        rig.answer(0, vec![7; size]);
        let stall = if is_scarce { 60 } else { 330 };
        for _ in 0..stall {
            rig.waits(SECOND);
            if rig.wire_streams[&0].reset.is_none() {
                rig.takes(0, 1);
            }
        }
        assert_eq!(
            rig.wire_streams[&0].reset,
            Some(H3Code::REQUEST_CANCELLED),
            "{size}"
        );
        ends(&mut rig, Violation::StreamStalled);
    }
}

#[test]
fn an_answer_that_is_taken_slowly_but_fast_enough_is_whole() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.events();
    rig.room.insert(0, 0);
    rig.answer(0, vec![7; 200_000]);
    // 2 KiB per second, where 1 KiB is the least.
    for _ in 0..100 {
        rig.waits(SECOND);
        rig.takes(0, 2048);
    }
    assert!(rig.wire_streams[&0].fin);
    let sent: usize = rig
        .frames(0)
        .iter()
        .filter(|frame| frame.0 == kind::DATA)
        .map(|frame| frame.1.len())
        .sum();
    assert_eq!(sent, 200_000);
}

#[test]
fn answers_that_share_a_slow_line_are_not_ended() {
    let mut rig = Rig::server(Cut::Whole);
    for stream in (0..40).step_by(4) {
        rig.sends_all(stream, &headers(GET));
        rig.events();
        rig.room.insert(stream, 0);
        rig.answer(stream, vec![7; 20_000]);
    }
    // 2 KiB a second, by turns of a tenth of that.
    for _ in 0..90 {
        rig.waits(SECOND);
        for stream in (0..40).step_by(4) {
            rig.takes(stream, 205);
        }
    }
    assert_eq!(rig.conn.active(), 10);
    assert!(
        rig.wire_streams
            .values()
            .all(|wire_stream| wire_stream.reset.is_none())
    );
}

#[test]
fn a_head_that_comes_byte_by_byte_has_a_deadline_that_more_bytes_do_not_move() {
    let mut rig = Rig::server(Cut::Whole);
    let head = headers(&with(GET, &[("x", "a value that is longer than a minute")]));
    for byte in &head[..30] {
        rig.sends(0, std::slice::from_ref(byte));
        rig.waits(SECOND);
    }
    assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::REQUEST_CANCELLED));
    assert_eq!(rig.conn.active(), 0);
    rig.no_event("nobody had heard of it");
}

#[test]
fn a_stream_on_which_nothing_comes_is_given_up() {
    let mut rig = Rig::server(Cut::Whole);
    // It is opened by one above it.
    rig.sends_all(4, &headers(GET));
    rig.request(4);
    rig.answer(4, "x");
    rig.waits(15 * SECOND);
    assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::REQUEST_CANCELLED));
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn the_time_in_which_nobody_reads_is_not_the_peers() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.events();
    rig.room.insert(0, 0);
    rig.answer(0, vec![7; 10_000]);
    rig.sends(4, &headers(&with(POST, &[("content-length", "100000")])));
    rig.request(4);
    rig.waits(9 * SECOND);
    let pause = 3000 * SECOND;
    rig.now += pause;
    rig.conn.postpone(pause);
    rig.conn.handle_timeout(rig.now);
    rig.run();
    rig.no_event("neither is late");
    assert!(rig.conn.active() == 2 && rig.wire_streams[&0].reset.is_none());
    rig.waits(300 * SECOND);
    assert_eq!(rig.conn.active(), 0, "their own time passes as ever");
}

#[test]
fn a_body_that_stops_is_ended_and_one_that_goes_on_is_not() {
    let mut config = Config::default();
    config.timeouts.rate_min = 0;
    let mut rig = Rig::server_with(config, Cut::Whole);
    rig.reads_bodies = true;
    // The head takes its time too: the body has a time of its own.
    let request = headers(POST);
    rig.sends(0, &request[..1]);
    rig.waits(14 * SECOND);
    rig.sends(0, &request[1..]);
    rig.request(0);
    for _ in 0..5 {
        rig.waits(299 * SECOND);
        rig.sends(0, &data(b"some"));
        rig.events();
    }
    rig.waits(299 * SECOND);
    rig.is_quiet(0, "it may still go on");
    rig.waits(SECOND);
    assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::REQUEST_CANCELLED));
    ends(&mut rig, Violation::BodyTimeout);
}

#[test]
fn a_body_that_dribbles_is_ended_where_bytes_are_due() {
    let length: &[(&str, &str)] = &[("content-length", "1000000")];
    for (more, bytes, is_scarce, is_ended) in [
        (length, 1, false, true),
        (length, 1_000, false, true),
        (length, 1_200, false, false),
        // A gRPC client stream.
        (&[], 20, false, false),
        (&[], 20, true, true),
        (&[], 1_200, true, false),
    ] {
        let mut rig = Rig::server(Cut::Whole);
        rig.follow_scarcity().set(is_scarce);
        rig.reads_bodies = true;
        rig.sends(0, &headers(&with(POST, more)));
        rig.request(0);
        for _ in 0..60 {
            rig.waits(SECOND);
            if rig
                .wire_streams
                .get(&0)
                .is_none_or(|wire_stream| wire_stream.reset.is_none())
            {
                rig.sends(0, &data(&vec![0; bytes]));
                rig.events();
            }
        }
        let reset = rig
            .wire_streams
            .get(&0)
            .and_then(|wire_stream| wire_stream.reset);
        let due = is_ended.then_some(H3Code::REQUEST_CANCELLED);
        assert_eq!(reset, due, "{bytes} bytes a second, scarce: {is_scarce}");
        assert!(rig.closed.is_none(), "{bytes}: the stream alone ends");
    }
}

#[test]
fn bodies_that_share_a_slow_line_are_not_ended() {
    let mut rig = Rig::server(Cut::Whole);
    rig.reads_bodies = true;
    for stream in (0..40).step_by(4) {
        rig.sends(stream, &headers(POST));
        rig.request(stream);
    }
    for _ in 0..60 {
        rig.waits(SECOND);
        for stream in (0..40).step_by(4) {
            rig.sends(stream, &data(&[0; 120]));
            rig.events();
        }
    }
    assert_eq!(rig.conn.active(), 10);
}

#[test]
fn a_body_that_our_reader_holds_up_is_not_ended() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(0, &headers(POST));
    rig.request(0);
    rig.sends(0, &data(b"unread"));
    rig.waits(120 * SECOND);
    rig.is_quiet(0, "the peer is not the one to act");
    assert_eq!(rig.conn.active(), 1);
}

#[test]
fn a_body_that_waits_for_a_100_is_due_once_it_is_asked_for() {
    let mut rig = Rig::server(Cut::Whole);
    rig.reads_bodies = true;
    let held = with(
        POST,
        &[("expect", "100-continue"), ("content-length", "5000")],
    );
    rig.sends(0, &headers(&held));
    rig.request(0);
    rig.waits(120 * SECOND);
    rig.is_quiet(0, "the handler is the one to act");
    rig.conn
        .send_interim(rig.now, StreamId(0), &response(100, &[]))
        .unwrap();
    rig.waits(SECOND);
    assert_eq!(rig.conn.active(), 1, "its time begins with the 100");
    rig.waits(60 * SECOND);
    assert_eq!(rig.conn.active(), 0);
}

/// Which part of a request came last.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Came {
    Head,
    Body,
    Trailers,
    /// CONNECT and its first bytes.
    Tunnel,
    All,
}
const CAME: [Came; 5] = [
    Came::Head,
    Came::Body,
    Came::Trailers,
    Came::Tunnel,
    Came::All,
];

/// How far the answer is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    None,
    Begun,
    Complete,
    /// Complete, and its handler is gone.
    Released,
}
const ANSWERS: [Answer; 4] = [
    Answer::None,
    Answer::Begun,
    Answer::Complete,
    Answer::Released,
];

/// The fate of a request of which nothing more comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Waits,
    TimesOut,
    /// STOP_SENDING with H3_NO_ERROR: it has its answer.
    Stopped,
    Over,
}

fn fate_of(came: Came, answer: Answer, is_read: bool) -> Fate {
    match (came, answer) {
        (Came::All, Answer::Complete | Answer::Released) => Fate::Over,
        (Came::All, _) => Fate::Waits,
        // The rest will not be read: that it comes is the peer's part, whatever is unread.
        (_, Answer::Released) => Fate::Stopped,
        // A tunnel may rest, and so may a request whose answer is being sent.
        (Came::Tunnel, _) | (_, Answer::Begun) => Fate::Waits,
        // The reader is the one to act.
        (Came::Body, _) if !is_read => Fate::Waits,
        (Came::Head | Came::Body | Came::Trailers, Answer::None | Answer::Complete) => {
            Fate::TimesOut
        }
    }
}

#[test]
fn a_request_of_which_nothing_more_comes_ends_where_the_peer_is_the_one_to_act() {
    let mut config = Config::default();
    config.timeouts.idle = None;
    let idle = config.timeouts.body_idle.unwrap();
    for came in CAME {
        for answer in ANSWERS {
            for is_read in [true, false] {
                let mut rig = Rig::server_with(config.clone(), Cut::Whole);
                rig.reads_bodies = is_read;
                match came {
                    Came::Tunnel => {
                        let connect = &[(":method", "CONNECT"), (":authority", "a.example:1")];
                        rig.sends(0, &headers(connect));
                    }
                    Came::All => rig.sends_all(0, &headers(POST)),
                    _ => rig.sends(0, &headers(POST)),
                }
                if matches!(came, Came::Body | Came::Trailers | Came::Tunnel) {
                    rig.sends(0, &data(&[7; 100]));
                    rig.events();
                }
                if came == Came::Trailers {
                    if !is_read {
                        // Trailers behind a body that lies unread.
                        rig.conn.consume(rig.now, StreamId(0), 100);
                    }
                    rig.sends(0, &headers(&[("a", "b")]));
                }
                rig.events();
                // The answer takes its time: until it is complete the peer owes nothing.
                let stream = StreamId(0);
                if answer != Answer::None {
                    rig.respond(0, &[], false);
                    rig.waits(idle - SECOND);
                }
                if matches!(answer, Answer::Complete | Answer::Released) {
                    rig.send(0, "the end", true);
                }
                if answer == Answer::Released {
                    rig.conn.handler_done(rig.now, stream);
                    rig.run();
                }
                let row = format!("{came:?}, {answer:?}, read: {is_read}");
                let due = fate_of(came, answer, is_read);
                if due != Fate::Over {
                    let time = match due {
                        // Nothing reads what is left: its end alone has time.
                        Fate::Stopped => Duration::from_millis(99),
                        _ => idle - SECOND,
                    };
                    rig.waits(time);
                    assert_eq!(rig.conn.active(), 1, "{row}: it has its time");
                }
                rig.waits(idle * 2);
                let wire_stream = rig.wire_streams.get(&0).cloned().unwrap_or_default();
                let is_open = rig.conn.active() == 1;
                let fate = match (is_open, wire_stream.stopped, wire_stream.reset) {
                    (true, None, None) => Fate::Waits,
                    (false, Some(H3Code::NO_ERROR), None) => Fate::Stopped,
                    (false, Some(H3Code::REQUEST_CANCELLED), _) => Fate::TimesOut,
                    (false, None, None) => Fate::Over,
                    other => panic!("{row}: {other:?}"),
                };
                assert_eq!(fate, due, "{row}");
                match fate {
                    Fate::TimesOut => ends(&mut rig, Violation::BodyTimeout),
                    _ => rig.no_event(&row),
                }
            }
        }
    }
}
