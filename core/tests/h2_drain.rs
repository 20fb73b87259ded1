//! Connections that end in good order: drains of ours and of the peer's, age, idleness, end of
//! file; and pairs of machines that talk to each other.

#[path = "h2/rig.rs"]
mod rig;

use rig::*;
use std::sync::Arc;
use std::time::Duration;
use trunkline_core::error::{Closed, H2Code, Misuse, TransportEnd, Violation};
use trunkline_core::h2::Conn;
use trunkline_core::h2::frame::{Setting, flag, kind};
use trunkline_core::http::event::ResetBy;
use trunkline_core::http::{Event, Side, StreamId};
use trunkline_core::limits::Config;

#[test]
fn a_server_drains_in_two_steps() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(&headers(1, GET, true));
        rig.request(1);
        rig.conn.shut_down(rig.now);
        let frames = rig.frames();
        assert_eq!(frames.len(), 2, "{frames:?}");
        assert_eq!(
            (frames[0].kind, frames[0].number()),
            (kind::GOAWAY, 0x7fff_ffff)
        );
        assert_eq!(frames[0].code(), H2Code::NO_ERROR);
        assert_eq!(frames[1].kind, kind::PING);
        rig.sends(&headers(3, GET, true));
        rig.request(3);
        rig.sends(&pong(&frames[1].payload));
        let last = rig.expects(kind::GOAWAY, 0, "the client has seen the first");
        assert_eq!((last.number(), last.code()), (3, H2Code::NO_ERROR));
        rig.sends(&headers(5, GET, true));
        rig.no_event("the client knows that 5 is not served");
        rig.is_quiet("and needs no RST_STREAM");
        rig.respond(1, &[], true);
        assert!(!rig.conn.is_closed());
        rig.respond(3, &[], true);
        assert!(rig.conn.is_closed());
        assert!(matches!(rig.event(), Some(Event::Closed(Closed::Drained))));
        assert_eq!(rig.frames().len(), 2, "both answers are still written");
    });
}

#[test]
fn the_time_in_which_nobody_reads_is_not_the_peers() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.request(1);
    // More than its window takes: it waits for WINDOW_UPDATEs that are not read.
    rig.respond(1, &[], false);
    rig.send(1, vec![0; 100_000], false);
    rig.frames();
    let upload = with(POST, &[("content-length", "100000")]);
    rig.sends(&headers(3, &upload, false));
    rig.request(3);
    rig.waits(Duration::from_secs(9));
    let pause = Duration::from_secs(3000);
    rig.now += pause;
    rig.conn.postpone(pause);
    rig.conn.handle_timeout(rig.now);
    rig.no_event("neither is late");
    rig.is_quiet("and nothing is reset");
    // 30 s of them until the bytes that its first window let out count no more.
    rig.waits(Duration::from_secs(330));
    let resets = rig.frames();
    let mut late: Vec<u32> = resets
        .iter()
        .filter(|frame| frame.kind == kind::RST_STREAM)
        .map(|frame| frame.stream)
        .collect();
    late.sort_unstable();
    assert_eq!(late, [1, 3], "their own time passes as ever");
}

#[test]
fn the_second_goaway_does_not_wait_for_ever() {
    let mut rig = Rig::server(Cut::Whole);
    rig.conn.shut_down(rig.now);
    rig.frames();
    rig.waits(Duration::from_millis(999));
    rig.is_quiet("the answer may still come");
    rig.waits(Duration::from_millis(1));
    rig.expects(kind::GOAWAY, 0, "one second is over");
    assert!(rig.conn.is_closed());
}

#[test]
fn a_server_drains_a_connection_that_its_client_has_left_when_nothing_is_open_for_a_second() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(&headers(1, GET, true));
        rig.request(1);
        rig.sends(&goaway(0, H2Code::NO_ERROR));
        rig.is_quiet("its request is still open");
        rig.sends(&headers(3, GET, true));
        rig.request(3);
        rig.respond(1, &[], true);
        assert_eq!(rig.frames().len(), 1, "the response alone");
        rig.respond(3, &[], true);
        assert_eq!(rig.frames().len(), 1, "most clients end it now");
        rig.waits(Duration::from_millis(999));
        rig.is_quiet("most clients end it now");
        rig.waits(Duration::from_millis(1));
        let frames = rig.frames();
        let kinds: Vec<_> = frames.iter().map(|frame| frame.kind).collect();
        assert_eq!(kinds, [kind::GOAWAY, kind::PING]);
        assert!(!rig.conn.is_closed(), "a request may be on its way");
        rig.sends(&pong(&frames[1].payload));
        let last = rig.expects(kind::GOAWAY, 0, "none was");
        assert_eq!((last.number(), last.code()), (3, H2Code::NO_ERROR));
        assert!(matches!(rig.event(), Some(Event::Closed(Closed::Drained))));
    });
}

#[test]
fn a_request_behind_the_goaway_of_an_idle_client_is_served() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        let mut bytes = goaway(0, H2Code::NO_ERROR);
        bytes.extend(headers(1, GET, true));
        rig.sends(&bytes);
        rig.request(1);
        rig.respond(1, &[], true);
        rig.frames();
        rig.waits(Duration::from_secs(1));
        assert_eq!(rig.frames().len(), 2, "GOAWAY and PING");
        rig.waits(Duration::from_secs(1));
        let last = rig.expects(kind::GOAWAY, 0, "the client does not answer the PING");
        assert_eq!(last.number(), 1);
        assert!(rig.conn.is_closed());
    });
}

#[test]
fn a_client_resets_what_the_server_will_not_process() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::client(cut);
        for _ in 0..3 {
            rig.get();
        }
        rig.sends(&goaway(0x7fff_ffff, H2Code::NO_ERROR));
        assert!(
            matches!(rig.event(), Some(Event::GoingAway { code, .. }) if code == H2Code::NO_ERROR)
        );
        assert!(matches!(rig.event(), Some(Event::CapacityChanged)));
        assert_eq!(rig.conn.capacity(), 0);
        let refused = rig.conn.open(rig.now, &request("GET"), true);
        assert_eq!(refused, Err(Misuse::ConnectionClosed));
        rig.sends(&goaway(1, H2Code::NO_ERROR));
        for id in [3, 5] {
            match rig.event() {
                Some(Event::StreamReset { stream, reset }) => {
                    assert_eq!((stream, reset.unprocessed), (StreamId(id), true));
                    assert_eq!(reset.by, ResetBy::Peer(H2Code::NO_ERROR));
                }
                other => panic!("{other:?}"),
            }
        }
        rig.sends(&headers(1, OK, true));
        rig.response(1);
        let closed = rig.event();
        assert!(
            matches!(
                closed,
                Some(Event::Closed(Closed::ByPeer(H2Code::NO_ERROR)))
            ),
            "{closed:?}"
        );
    });
}

#[test]
fn behind_a_goaway_with_the_code_of_an_error_what_still_comes_is_read_and_one_second_of_silence_ends_the_rest()
 {
    for code in (1..15).map(H2Code) {
        however_it_is_cut(|cut| {
            let mut rig = Rig::client(cut);
            let [begun, waiting, above] = [rig.get(), rig.get(), rig.get()];
            rig.sends(&headers(1, OK, false));
            rig.response(u64::from(begun));
            rig.sends(&goaway(3, code));
            let id = |number| StreamId(u64::from(number));
            let ends = |rig: &mut Rig| -> Vec<_> {
                std::iter::from_fn(|| rig.event())
                    .filter_map(|event| match event {
                        Event::StreamReset { stream, reset } => Some((stream, reset)),
                        _ => None,
                    })
                    .collect()
            };
            let [(first, unprocessed)] = ends(&mut rig)[..] else {
                panic!("the streams above the last one end at once");
            };
            assert_eq!((first, unprocessed.unprocessed), (id(above), true));
            rig.waits(Duration::from_millis(900));
            rig.sends(&frame(kind::DATA, 0, 1, b"slow"));
            assert_eq!(ends(&mut rig), [], "the body goes on");
            rig.waits(Duration::from_millis(900));
            rig.sends(&frame(kind::DATA, flag::END_STREAM, 1, b"ly"));
            assert_eq!(ends(&mut rig), [], "the body goes on");
            rig.waits(Duration::from_millis(1000));
            assert!(!rig.conn.is_closed(), "a body came within the second");
            rig.waits(Duration::from_millis(1000));
            let [(second, lost)] = ends(&mut rig)[..] else {
                panic!("the stream without a response ends");
            };
            assert_eq!((second, lost.unprocessed), (id(waiting), false));
            assert_eq!(lost.by, ResetBy::Connection(Closed::ByPeer(code)));
            assert!(rig.conn.is_closed());
        });
    }
}

#[test]
fn a_response_behind_a_goaway_with_the_code_of_an_error_is_whole_and_the_connection_ends_with_the_last()
 {
    for code in (1..15).map(H2Code) {
        however_it_is_cut(|cut| {
            let mut rig = Rig::client(cut);
            rig.get();
            rig.sends(&goaway(1, code));
            rig.sends(&headers(1, OK, true));
            let events: Vec<_> = std::iter::from_fn(|| rig.event()).collect();
            let [
                Event::GoingAway { .. },
                Event::CapacityChanged,
                Event::ResponseReceived { .. },
                Event::Closed(closed),
            ] = &events[..]
            else {
                panic!("{events:?}");
            };
            assert_eq!(*closed, Closed::ByPeer(code));
        });
    }
}

#[test]
fn a_goaway_that_takes_back_what_it_gave_up_is_an_error() {
    let mut rig = Rig::client(Cut::Whole);
    rig.get();
    rig.sends(&goaway(1, H2Code::NO_ERROR));
    rig.sends(&goaway(3, H2Code::NO_ERROR));
    rig.expects_close(H2Code::PROTOCOL_ERROR, "RFC 9113 section 6.8");
}

#[test]
fn requests_and_age_drain_a_server_and_idleness_closes_it() {
    let mut config = Config::default();
    config.limits.requests_per_connection_max = 2;
    let mut rig = Rig::server_with(config, Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.is_quiet("one of two");
    rig.sends(&headers(3, GET, true));
    assert_eq!(rig.frames()[0].kind, kind::GOAWAY);

    let mut config = Config::default();
    config.timeouts.idle = None;
    config.timeouts.age_max = Some(Duration::from_secs(3_600));
    let mut rig = Rig::server_with(config, Cut::Whole);
    rig.waits(Duration::from_secs(3_599));
    rig.is_quiet("not old yet");
    rig.waits(Duration::from_secs(1));
    assert_eq!(rig.frames()[0].kind, kind::GOAWAY);

    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.events();
    rig.waits(Duration::from_secs(100));
    assert!(!rig.conn.is_closed(), "an exchange is open");
    rig.respond(1, &[], true);
    rig.frames();
    rig.waits(Duration::from_secs(74));
    assert!(!rig.conn.is_closed());
    rig.waits(Duration::from_secs(1));
    assert_eq!(
        rig.expects_close(H2Code::NO_ERROR, "75 s idle"),
        Closed::Idle
    );
}

#[test]
fn a_peer_that_never_greets_or_never_acknowledges_is_left() {
    let mut rig = Rig::fresh(Side::Server, Config::default(), Cut::Whole);
    rig.sends(&PREFACE[..10]);
    rig.waits(Duration::from_secs(10));
    let closed = rig.expects_close(H2Code::SETTINGS_TIMEOUT, "no preface");
    assert_eq!(closed, Closed::ByUs(Violation::PrefaceTimeout));

    let mut rig = Rig::fresh(Side::Server, Config::default(), Cut::Whole);
    rig.sends(&[PREFACE, &settings_frame(&[])].concat());
    rig.frames();
    rig.waits(Duration::from_secs(10));
    let closed = rig.expects_close(H2Code::SETTINGS_TIMEOUT, "no acknowledgement");
    assert_eq!(closed, Closed::ByUs(Violation::SettingsTimeout));
}

#[test]
fn end_of_file_ends_every_exchange_and_then_the_connection() {
    let mut rig = Rig::client(Cut::Whole);
    rig.get();
    rig.get();
    rig.conn.handle_close(rig.now, TransportEnd::Failed);
    let events = rig.events();
    assert_eq!(events.len(), 3, "{events:?}");
    for event in &events[..2] {
        assert!(matches!(
            event,
            Event::StreamReset { reset, .. }
                if reset.by == ResetBy::Connection(Closed::Transport(TransportEnd::Failed)) && !reset.unprocessed
        ));
    }
    assert!(matches!(events[2], Event::Closed(Closed::Transport(_))));
    assert_eq!(rig.conn.capacity(), 0);
    assert_eq!(rig.conn.next_deadline(), None);
}

#[test]
fn a_ping_of_ours_is_answered_once() {
    let mut rig = Rig::client(Cut::Whole);
    assert!(!rig.conn.awaits_pong());
    rig.conn.ping(rig.now, *b"12345678");
    let sent = rig.expects(kind::PING, 0, "asked");
    assert_eq!(sent.payload, b"12345678");
    assert!(rig.conn.awaits_pong());
    rig.waits(Duration::from_millis(40));
    rig.sends(&pong(&sent.payload));
    let Some(Event::PongReceived { opaque, round_trip }) = rig.event() else {
        panic!("the answer is told");
    };
    assert_eq!(
        (opaque, round_trip),
        (*b"12345678", Duration::from_millis(40))
    );
    assert!(!rig.conn.awaits_pong());
    rig.sends(&pong(&sent.payload));
    rig.no_event("the answer to nothing");
}

/// Carries bytes from one machine to the other, `cut` bytes per read; says whether there were any.
fn carry(from: &mut Conn, to: &mut Conn, now: std::time::Instant, cut: usize) -> bool {
    let mut bytes = Vec::new();
    loop {
        let outbox = from.poll_write(now);
        if outbox.is_empty() {
            break;
        }
        let mut slices = [std::io::IoSlice::new(&[]); 4];
        let filled = outbox.slices(&mut slices, usize::MAX);
        let before = bytes.len();
        for slice in &slices[..filled] {
            bytes.extend_from_slice(slice);
        }
        let len = bytes.len() - before;
        outbox.advance(len);
    }
    for piece in bytes.chunks(cut) {
        to.handle_bytes(now, piece);
    }
    !bytes.is_empty()
}

/// Uploads that are echoed: 40 exchanges of 100 kB both ways, through small windows.
#[test]
fn two_machines_echo_bodies_whatever_the_reads_and_the_windows() {
    for (cut, window) in [(1, 70_000), (7, 20_000), (1_000, 65_536), (100_000, 1_000)] {
        let mut config = Config::default();
        config.windows.stream_initial = window;
        config.limits.concurrent_streams_max = 7;
        let config = Arc::new(config);
        let now = Rig::fresh(Side::Client, Config::default(), Cut::Whole).now;
        let mut client = Conn::new(Side::Client, config.clone(), now);
        let mut server = Conn::new(Side::Server, config, now);
        let size = if cut == 1 { 30_000 } else { 100_000 };
        let text: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        let mut echoes: Vec<Vec<u8>> = Vec::new();
        let (mut opened, mut done) = (0, 0);
        let mut turns = 0;
        while done < 40 {
            turns += 1;
            assert!(turns < 100_000, "no progress: {done} of 40");
            while opened < 40 && client.capacity() > 0 {
                let id = client.open(now, &request("POST"), false).unwrap();
                client
                    .send_body(now, id, text.clone().into(), true)
                    .unwrap();
                opened += 1;
                echoes.push(Vec::new());
            }
            let mut moved = carry(&mut client, &mut server, now, cut);
            while let Some(event) = server.poll_event() {
                match event {
                    Event::RequestReceived { stream, .. } => {
                        server
                            .respond(now, stream, &response(200, &[]), false)
                            .unwrap();
                    }
                    Event::BodyReceived { stream, data, end } => {
                        server.consume(now, stream, data.len());
                        server.send_body(now, stream, data, end).unwrap();
                        if end {
                            server.handler_done(now, stream);
                        }
                    }
                    // This owner takes whatever comes and asks for no room.
                    Event::SendReady { .. } => {}
                    other => panic!("{other:?}"),
                }
            }
            moved |= carry(&mut server, &mut client, now, cut);
            while let Some(event) = client.poll_event() {
                match event {
                    Event::BodyReceived { stream, data, end } => {
                        client.consume(now, stream, data.len());
                        let echo = &mut echoes[stream.0 as usize / 2];
                        echo.extend_from_slice(&data);
                        if end {
                            assert!(*echo == text, "the echo of {stream:?} differs");
                            done += 1;
                        }
                    }
                    Event::ResponseReceived { .. } | Event::CapacityChanged => {}
                    other => panic!("{other:?}"),
                }
            }
            assert!(moved || done == 40, "stalled at {done}");
        }
        assert_eq!((client.active(), server.active()), (0, 0));
        assert_eq!(client.connection_window().unread, 0);
        assert_eq!(server.connection_window().unread, 0);
        client.shut_down(now);
        server.shut_down(now);
        while carry(&mut client, &mut server, now, cut) || carry(&mut server, &mut client, now, cut)
        {
        }
        assert!(client.is_closed(), "nothing was open");
        server.handle_close(now, TransportEnd::Failed);
        assert!(server.is_closed());
    }
}

#[test]
fn a_peer_that_lowers_its_limit_below_what_is_open_waits_for_them() {
    let mut rig = Rig::client(Cut::Whole);
    rig.get();
    rig.get();
    rig.sends(&settings_frame(&[Setting::MaxConcurrentStreams(1)]));
    assert_eq!(rig.conn.capacity(), 0);
    rig.sends(&headers(1, OK, true));
    assert_eq!(rig.conn.capacity(), 0);
    rig.sends(&headers(3, OK, true));
    assert_eq!(rig.conn.capacity(), 1);
}
