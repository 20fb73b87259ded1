//! Whole exchanges on both sides, as frames on the wire and as facts.

#[path = "h2/rig.rs"]
mod rig;

use rig::*;
use std::time::Duration;
use trunkline_core::error::{H2Code, Misuse, Violation};
use trunkline_core::h2::frame::{Setting, flag, kind};
use trunkline_core::http::event::ResetBy;
use trunkline_core::http::{Event, Fields, Side, StreamId};
use trunkline_core::limits::Config;

#[test]
fn a_server_says_settings_first_and_raises_the_connection_window() {
    let mut rig = Rig::fresh(Side::Server, Config::default(), Cut::Whole);
    let frames = rig.frames();
    assert_eq!(frames.len(), 2, "{frames:?}");
    assert_eq!((frames[0].kind, frames[0].flags), (kind::SETTINGS, 0));
    assert_eq!((frames[1].kind, frames[1].stream), (kind::WINDOW_UPDATE, 0));
    assert_eq!(frames[1].number(), 16 * 1024 * 1024 - 65_535);
}

#[test]
fn a_get_is_answered_with_headers_and_data_that_ends_the_stream() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(&headers(1, GET, true));
        let (head, end) = rig.request(1);
        assert_eq!((head.method(), head.path()), (&b"GET"[..], Some(&b"/"[..])));
        assert!(end);
        rig.respond(1, &[("content-length", "5")], false);
        rig.send(1, "hello", true);
        let frames = rig.frames();
        assert_eq!(
            frames.len(),
            2,
            "HEADERS and DATA, nothing more: {frames:?}"
        );
        assert_eq!(frames[0].flags, flag::END_HEADERS);
        assert_eq!(
            rig.decode(&frames[0]),
            [(":status", "200"), ("content-length", "5")].map(|(n, v)| (n.into(), v.into()))
        );
        assert_eq!(
            (frames[1].kind, frames[1].ends(), &frames[1].payload[..]),
            (kind::DATA, true, &b"hello"[..])
        );
        assert_eq!(rig.conn.active(), 0, "the stream is freed at once");
        rig.no_event("the exchange is over for both");
    });
}

#[test]
fn a_client_gets_head_body_and_end() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::client(cut);
        assert_eq!(rig.conn.capacity(), 100);
        let id = rig.get();
        assert_eq!(id, 1);
        let request = rig.expects(kind::HEADERS, 1, "the request");
        assert_eq!(request.flags, flag::END_HEADERS | flag::END_STREAM);
        rig.sends(&headers(1, &with(OK, &[("content-length", "6")]), false));
        rig.sends(&body(1, b"abc", false));
        rig.sends(&body(1, b"def", true));
        let (head, end) = rig.response(1);
        assert_eq!((head.status, end), (200, false));
        match rig.event() {
            Some(Event::BodyReceived { data, end, .. }) => {
                assert_eq!((&data[..], end), (&b"abcdef"[..], true));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(rig.conn.active(), 0);
        rig.is_quiet("six bytes are no reason for a WINDOW_UPDATE");
    });
}

#[test]
fn trailers_end_the_exchange_on_both_sides() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(&headers(1, POST, false));
        rig.sends(&body(1, b"abc", false));
        rig.sends(&headers(1, &[("checksum", "1")], true));
        let (_, end) = rig.request(1);
        assert!(!end);
        assert!(matches!(
            rig.event(),
            Some(Event::BodyReceived { end: false, .. })
        ));
        match rig.event() {
            Some(Event::TrailersReceived { trailers, .. }) => {
                assert_eq!(trailers.get_named(b"checksum"), Some(&b"1"[..]));
            }
            other => panic!("{other:?}"),
        }
        rig.respond(1, &[], false);
        rig.send(1, "xyz", false);
        let trailers = fields(&[("grpc-status", "0")]);
        rig.conn
            .send_trailers(rig.now, StreamId(1), &trailers)
            .unwrap();
        let frames = rig.frames();
        let kinds: Vec<_> = frames.iter().map(|f| (f.kind, f.ends())).collect();
        assert_eq!(
            kinds,
            [
                (kind::HEADERS, false),
                (kind::DATA, false),
                (kind::HEADERS, true)
            ]
        );
        assert_eq!(rig.conn.active(), 0);
    });
}

#[test]
fn a_value_with_a_blank_at_an_end_costs_its_field_and_not_its_message() {
    let odd = [("x-odd", "v "), ("x-good", "1")];
    let good = |fields: &Fields| {
        assert_eq!(fields.get_named(b"x-odd"), None);
        assert_eq!(fields.get_named(b"x-good"), Some(&b"1"[..]));
    };
    however_it_is_cut(|cut| {
        let mut rig = Rig::client(cut);
        rig.get();
        rig.frames();
        rig.sends(&headers(1, &with(&[(":status", "103")], &odd), false));
        match rig.event() {
            Some(Event::InterimReceived { head, .. }) => good(head.section()),
            other => panic!("{other:?}"),
        }
        rig.sends(&headers(1, &with(OK, &odd), false));
        good(rig.response(1).0.section());
        rig.sends(&headers(1, &odd, true));
        match rig.event() {
            Some(Event::TrailersReceived { trailers, .. }) => good(&trailers),
            other => panic!("{other:?}"),
        }
        let mut rig = Rig::server(cut);
        // A head that comes again is known by its bytes.
        for stream in [1, 3, 5] {
            rig.sends(&headers(stream, &with(GET, &odd), true));
            good(rig.request(stream).0.section());
        }
        rig.is_quiet("nothing was wrong");
    });
}

#[test]
fn an_end_that_comes_in_the_same_turn_rides_on_the_data() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.respond(1, &[], false);
    rig.send(1, "some", false);
    rig.send(1, "thing", false);
    rig.send(1, "", true);
    let frames = rig.frames();
    assert_eq!(
        frames.len(),
        2,
        "one DATA frame for three pieces: {frames:?}"
    );
    assert_eq!(frames[1].payload, b"something");
    assert!(frames[1].ends());
}

#[test]
fn an_end_that_comes_later_is_an_empty_data_frame() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.respond(1, &[], false);
    rig.send(1, "some", false);
    assert_eq!(rig.frames().len(), 2);
    rig.send(1, "", true);
    let frame = rig.expects(kind::DATA, 1, "nothing else can carry the end");
    assert!(frame.ends() && frame.payload.is_empty());
}

#[test]
fn interim_responses_come_before_the_final_one() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::client(cut);
        rig.get();
        rig.sends(&headers(1, &[(":status", "103"), ("link", "</a>")], false));
        rig.sends(&headers(1, OK, true));
        assert!(matches!(
            rig.event(),
            Some(Event::InterimReceived { head, .. }) if head.status == 103
        ));
        let (head, end) = rig.response(1);
        assert_eq!((head.status, end), (200, true));
    });
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    let early = response(103, &[("link", "</a>")]);
    rig.conn.send_interim(rig.now, StreamId(1), &early).unwrap();
    rig.respond(1, &[], true);
    let frames = rig.frames();
    assert_eq!(frames.len(), 2);
    assert_eq!(rig.decode(&frames[0])[0].1, "103");
    assert_eq!(rig.decode(&frames[1])[0].1, "200");
    assert!(!frames[0].ends() && frames[1].ends());
}

#[test]
fn a_response_to_head_has_a_content_length_and_no_body() {
    let mut rig = Rig::client(Cut::Whole);
    rig.conn.open(rig.now, &request("HEAD"), true).unwrap();
    rig.sends(&headers(1, &with(OK, &[("content-length", "9")]), true));
    let (head, end) = rig.response(1);
    assert_eq!((head.content_length(), end), (Some(9), true));
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn a_body_that_does_not_fit_its_content_length_is_a_stream_error() {
    however_it_is_cut(|cut| {
        for (data, end) in [(&b"toolong"[..], false), (b"ab", true)] {
            let mut rig = Rig::server(cut);
            rig.sends(&headers(1, &with(POST, &[("content-length", "3")]), false));
            rig.sends(&body(1, data, end));
            rig.expects_reset(1, H2Code::PROTOCOL_ERROR, "RFC 9113 section 8.1.1");
            let reset = rig.events().pop();
            assert!(
                matches!(
                    reset,
                    Some(Event::StreamReset { reset, .. })
                        if reset.by == ResetBy::Us(Violation::ContentLengthMismatch)
                ),
                "{reset:?}"
            );
        }
    });
}

#[test]
fn our_own_body_must_fit_its_content_length_too() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.respond(1, &[("content-length", "3")], false);
    let send = |rig: &mut Rig, data: &'static str, end| {
        rig.conn.send_body(rig.now, StreamId(1), data.into(), end)
    };
    assert_eq!(send(&mut rig, "four", false), Err(Misuse::BodyLength));
    assert_eq!(send(&mut rig, "no", true), Err(Misuse::BodyLength));
    assert_eq!(send(&mut rig, "yes", true), Ok(()));
    assert_eq!(send(&mut rig, "more", true), Err(Misuse::StreamNotOpen));
}

#[test]
fn an_answer_in_one_is_what_its_head_and_its_body_are_by_themselves() {
    let answers = |in_one: bool, len: usize, half_open: bool, busy: bool| {
        let mut rig = Rig::server(Cut::Whole);
        let body = vec![b'x'; len];
        let length = len.to_string();
        let head = response(200, &[("content-length", &length)]);
        if busy {
            // Its body waits for a window, and with it all streams of equal urgency.
            rig.sends(&headers(1, GET, true));
            rig.respond(1, &[], false);
            rig.send(1, vec![b'y'; 65_000], false);
        }
        rig.sends(&headers(3, GET, !half_open));
        let (now, stream) = (rig.now, StreamId(3));
        if in_one {
            rig.conn.answer(now, stream, &head, body.into()).unwrap();
        } else {
            rig.conn.respond(now, stream, &head, len == 0).unwrap();
            if len > 0 {
                rig.conn.send_body(now, stream, body.into(), true).unwrap();
            }
        }
        let again = rig.conn.answer(now, stream, &head, "again".into());
        assert_eq!(again, Err(Misuse::StreamNotOpen), "it is answered");
        (rig.frames(), rig.conn.active(), rig.conn.counts())
    };
    for len in [0, 1, 1_024, 16_384, 16_385, 65_535, 65_536] {
        for (half_open, busy) in [(false, false), (true, false), (false, true)] {
            assert_eq!(
                answers(true, len, half_open, busy),
                answers(false, len, half_open, busy),
                "{len} bytes, request open: {half_open}, others wait: {busy}"
            );
        }
    }
}

#[test]
fn an_answer_in_one_must_fit_its_content_length_or_nothing_is_sent() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.frames();
    let head = response(200, &[("content-length", "3")]);
    for body in ["", "no", "four"] {
        let answered = rig.conn.answer(rig.now, StreamId(1), &head, body.into());
        assert_eq!(answered, Err(Misuse::BodyLength), "{body:?}");
        assert!(rig.frames().is_empty(), "{body:?}");
    }
    let answered = rig.conn.answer(rig.now, StreamId(1), &head, "yes".into());
    assert_eq!(answered, Ok(()));
    assert_eq!(rig.frames().len(), 2);
}

#[test]
fn extended_connect_needs_the_servers_setting_on_both_sides() {
    let connect = [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        (":scheme", "https"),
        (":authority", "example.org"),
        (":path", "/chat"),
    ];
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, &connect, false));
    rig.expects_reset(1, H2Code::PROTOCOL_ERROR, "it was not offered");

    let config = Config::default().with_extended_connect(true);
    let mut rig = Rig::server_with(config, Cut::Whole);
    rig.sends(&headers(1, &connect, false));
    let (head, end) = rig.request(1);
    assert_eq!((head.protocol(), end), (Some(&b"websocket"[..]), false));
    rig.respond(1, &[], false);
    rig.send(1, "frame", false);
    assert_eq!(rig.frames().len(), 2, "the tunnel carries bytes");

    let version = trunkline_core::http::Version::Http2;
    let head = connect.into_iter().collect();
    let head = trunkline_core::http::RequestHead::from_fields(head, version).unwrap();
    let mut rig = Rig::client(Cut::Whole);
    assert!(rig.conn.open(rig.now, &head, false).is_err());
    let offer = [Setting::EnableConnectProtocol(true)];
    let mut rig = Rig::client_with(Config::default(), &offer, Cut::Whole);
    assert!(rig.conn.open(rig.now, &head, false).is_ok());
}

#[test]
fn a_header_section_on_a_tunnel_is_a_stream_error() {
    let connect = [(":method", "CONNECT"), (":authority", "example.org:443")];
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(&headers(1, &connect, false));
        rig.request(1);
        rig.respond(1, &[], false);
        rig.frames();
        rig.sends(&headers(1, &[("a", "b")], true));
        rig.expects_reset(1, H2Code::PROTOCOL_ERROR, "RFC 9113 section 8.5");
    });
}

/// A client checked that of no tunnel, and gave the section to its user as trailers.
#[test]
fn a_header_section_on_a_tunnel_is_a_stream_error_for_a_client_too() {
    let connect = [(":method", "CONNECT"), (":authority", "example.org:443")];
    for (status, is_tunnel) in [("200", true), ("403", false)] {
        however_it_is_cut(|cut| {
            let head = connect.into_iter().collect();
            let version = trunkline_core::http::Version::Http2;
            let head = trunkline_core::http::RequestHead::from_fields(head, version).unwrap();
            let mut rig = Rig::client(cut);
            rig.conn.open(rig.now, &head, false).unwrap();
            rig.frames();
            rig.sends(&headers(1, &[(":status", status)], false));
            rig.response(1);
            rig.sends(&headers(1, &[("a", "b")], true));
            if is_tunnel {
                rig.expects_reset(1, H2Code::PROTOCOL_ERROR, "RFC 9113 section 8.5");
            } else {
                let trailers = rig.event();
                assert!(matches!(trailers, Some(Event::TrailersReceived { .. })));
            }
        });
    }
}

#[test]
fn a_client_may_open_as_many_streams_as_the_lower_limit_says() {
    let two = [Setting::MaxConcurrentStreams(2)];
    let mut rig = Rig::fresh(Side::Client, Config::default(), Cut::Whole);
    assert_eq!(rig.conn.capacity(), 1, "before the peer's SETTINGS");
    rig.sends(&settings_frame(&two));
    assert_eq!(rig.conn.capacity(), 2);
    assert!(matches!(rig.event(), Some(Event::CapacityChanged)));
    rig.get();
    rig.get();
    let refused = rig.conn.open(rig.now, &request("GET"), true);
    assert_eq!(refused, Err(Misuse::NoCapacity));
    rig.sends(&[headers(1, OK, true), headers(3, OK, true)].concat());
    let changes = rig
        .events()
        .iter()
        .filter(|event| matches!(event, Event::CapacityChanged))
        .count();
    assert_eq!(changes, 1, "two streams ended in one read");
    assert_eq!(rig.conn.capacity(), 2);
    rig.sends(&settings_frame(&[Setting::MaxConcurrentStreams(0)]));
    assert_eq!(rig.conn.capacity(), 0);
    assert!(matches!(rig.event(), Some(Event::CapacityChanged)));
}

#[test]
fn refused_streams_are_unprocessed_and_cancelled_ones_are_not() {
    for (code, unprocessed) in [(H2Code::REFUSED_STREAM, true), (H2Code::CANCEL, false)] {
        let mut rig = Rig::client(Cut::Whole);
        rig.get();
        rig.sends(&rst(1, code));
        match rig.event() {
            Some(Event::StreamReset { reset, .. }) => {
                assert_eq!(reset.by, ResetBy::Peer(code));
                assert_eq!(reset.unprocessed, unprocessed);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_comes_after_our_reset_is_ignored_and_keeps_hpack_in_step() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::client(cut);
        rig.get();
        rig.get();
        rig.frames();
        rig.conn.reset(rig.now, StreamId(1), H2Code::CANCEL);
        rig.expects_reset(1, H2Code::CANCEL, "the user ended it");
        rig.no_event("the peer has not seen it yet");
        // The late response puts a field into the table that the next one refers to.
        let mut block = vec![0x88];
        block.extend_from_slice(&[0x40, 1, b'a', 1, b'b']);
        rig.sends(&frame(kind::HEADERS, flag::END_HEADERS, 1, &block));
        assert!(matches!(rig.event(), Some(Event::CapacityChanged)));
        rig.sends(&body(1, b"late", true));
        rig.no_event("nobody waits for it");
        rig.sends(&frame(
            kind::HEADERS,
            flag::END_HEADERS | flag::END_STREAM,
            3,
            &[0x88, 0xbe],
        ));
        let (head, _) = rig.response(3);
        assert_eq!(head.fields().next().unwrap().value, b"b");
        let window = rig.conn.connection_window();
        assert_eq!(window.unread, 0, "the late bytes went back");
    });
}

#[test]
fn a_body_that_nobody_reads_behind_a_complete_response_is_declined_without_error() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(&headers(1, POST, false));
        rig.request(1);
        rig.respond(1, &[], true);
        rig.conn.handler_done(rig.now, StreamId(1));
        rig.expects(kind::HEADERS, 1, "the response");
        rig.is_quiet("the body may be small and on its way");
        rig.sends(&body(1, b"more to come", false));
        rig.expects_reset(1, H2Code::NO_ERROR, "RFC 9113 section 8.1");
        rig.sends(&body(1, b"sent before it saw that", true));
        rig.is_quiet("what comes late is ignored");
        rig.no_event("nobody is there to hear it");
    });
}

#[test]
fn a_request_that_rests_behind_a_complete_response_is_declined_within_a_tenth_of_a_second() {
    however_it_is_cut(|cut| {
        for answered_first in [true, false] {
            let mut rig = Rig::server(cut);
            rig.sends(&headers(1, POST, false));
            rig.request(1);
            if !answered_first {
                rig.conn.handler_done(rig.now, StreamId(1));
            }
            rig.waits(Duration::from_secs(5));
            rig.respond(1, &[], true);
            if answered_first {
                rig.conn.handler_done(rig.now, StreamId(1));
            }
            rig.expects(kind::HEADERS, 1, "the response");
            rig.waits(Duration::from_millis(99));
            rig.is_quiet("its end may be on its way");
            assert_eq!(rig.conn.active(), 1);
            rig.waits(Duration::from_millis(1));
            rig.expects_reset(1, H2Code::NO_ERROR, "RFC 9113 section 8.1");
            assert_eq!(rig.conn.active(), 0);
            rig.no_event("its exchange was over");
        }
    });
}

#[test]
fn a_request_that_is_read_on_behind_a_complete_response_may_rest() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, POST, false));
    rig.request(1);
    rig.respond(1, &[], true);
    rig.expects(kind::HEADERS, 1, "the response");
    rig.waits(Duration::from_secs(30));
    rig.is_quiet("its handler reads on");
    rig.sends(&body(1, b"late", true));
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn a_small_body_behind_a_complete_response_and_one_that_is_read_are_let_in() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        for id in [1, 3] {
            rig.sends(&headers(id, POST, false));
            rig.request(id);
            rig.respond(id, &[], true);
            rig.expects(kind::HEADERS, id, "the response");
        }
        rig.conn.handler_done(rig.now, StreamId(1));
        rig.sends(&body(1, b"small", true));
        rig.is_quiet("it is whole");
        rig.sends(&body(3, b"its handler", false));
        rig.sends(&body(3, b" reads on", true));
        rig.conn.handler_done(rig.now, StreamId(3));
        rig.is_quiet("it was read");
        assert_eq!(rig.conn.active(), 0);
    });
}
