//! Whole exchanges on both sides, as frames on streams and as facts.

#[path = "h3/rig.rs"]
mod rig;

use rig::*;
use trunkline_core::error::{Closed, H2Code, H3Code, Misuse, Violation};
use trunkline_core::h3::UniKind;
use trunkline_core::h3::frame::kind;
use trunkline_core::h3::settings::{Settings, id};
use trunkline_core::http::event::ResetBy;
use trunkline_core::http::{Event, Fields, Side, StreamId};
use trunkline_core::limits::Config;

#[test]
fn a_machine_opens_its_control_stream_with_settings_and_no_stream_it_does_not_need() {
    for (side, control) in [(Side::Server, 3), (Side::Client, 2)] {
        let mut rig = Rig::fresh(side, Config::default(), Cut::Whole);
        assert_eq!(rig.opened, [control], "RFC 9114 section 6.2.1");
        assert_eq!(rig.uni(UniKind::Control), Some(control));
        let frames = rig.control_frames();
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0].0, kind::SETTINGS);
        let settings = Settings::parse(&frames[0].1).unwrap();
        assert_eq!(settings.qpack_table_bytes_max, 4096);
        assert_eq!(settings.qpack_blocked_streams_max, 16);
        assert_eq!(settings.field_section_bytes_max, 64 * 1024);
    }
}

#[test]
fn a_get_is_answered_with_one_write_that_ends_the_stream() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends_all(0, &headers(GET));
        let (head, end) = rig.request(0);
        assert_eq!((head.method(), head.path()), (&b"GET"[..], Some(&b"/"[..])));
        assert_eq!(end, cut != Cut::EndApart);
        rig.events();
        let stream = StreamId(0);
        let head = response(200, &[("content-length", "5")]);
        rig.conn.respond(rig.now, stream, &head, false).unwrap();
        rig.conn
            .send_body(rig.now, stream, "hello".into(), true)
            .unwrap();
        rig.run();
        assert_eq!(
            rig.wire_streams[&0].writes, 1,
            "HEADERS, DATA and the end together"
        );
        assert!(rig.wire_streams[&0].fin);
        let frames = rig.frames(0);
        assert_eq!(
            frames.iter().map(|frame| frame.0).collect::<Vec<_>>(),
            [kind::HEADERS, kind::DATA]
        );
        assert_eq!(
            rig.decode(0, &frames[0].1),
            [(":status", "200"), ("content-length", "5")].map(|(n, v)| (n.into(), v.into()))
        );
        assert_eq!(frames[1].1, b"hello");
        assert_eq!(rig.conn.active(), 0, "the stream is freed at once");
        rig.no_event("the exchange is over for both");
    });
}

#[test]
fn answers_of_one_batch_are_one_write_each() {
    let mut rig = Rig::server(Cut::Whole);
    for stream in 0..10 {
        rig.sends_all(stream * 4, &headers(GET));
    }
    rig.events();
    for stream in 0..10 {
        let head = response(200, &[]);
        let stream = StreamId(stream * 4);
        rig.conn.respond(rig.now, stream, &head, false).unwrap();
        rig.conn
            .send_body(rig.now, stream, "x".into(), true)
            .unwrap();
    }
    rig.run();
    for stream in 0..10 {
        let wire_stream = &rig.wire_streams[&(stream * 4)];
        assert!(
            wire_stream.writes == 1 && wire_stream.fin,
            "{stream}: {wire_stream:?}"
        );
    }
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
        rig.sends_all(0, &headers(&with(OK, &odd)));
        good(rig.response(0).0.section());
        let mut rig = Rig::server(cut);
        for stream in [0, 4, 8] {
            rig.sends_all(stream, &headers(&with(GET, &odd)));
            good(rig.request(stream).0.section());
            rig.events();
        }
    });
}

#[test]
fn a_client_gets_head_body_and_end() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::client(cut);
        assert_eq!(rig.conn.capacity(), 100);
        let id = rig.get();
        assert_eq!((id, rig.conn.capacity()), (0, 99));
        assert!(rig.wire_streams[&0].fin && rig.wire_streams[&0].writes == 1);
        assert_eq!(rig.frames(0).len(), 1);
        let mut bytes = headers(&with(OK, &[("content-length", "6")]));
        bytes.extend(data(b"abc"));
        bytes.extend(data(b"def"));
        rig.sends_all(0, &bytes);
        let (head, end) = rig.response(0);
        assert_eq!((head.status, end), (200, false));
        assert_eq!(rig.body(0), (b"abcdef".to_vec(), true));
        assert_eq!(rig.conn.active(), 0);
        assert_eq!(rig.conn.capacity(), 99, "QUIC ids are not used again");
    });
}

#[test]
fn a_request_that_comes_again_is_known_under_the_same_table_and_each_is_acknowledged() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        // Capacity 220, then one entry "a: b".
        rig.sends(6, &[0x2, 0x3f, 0xbd, 0x01, 0x41, b'a', 0x01, b'b']);
        // It needs that entry, and names it.
        let mut request = section(GET);
        request[0] = 2;
        request.push(0x80);
        let again = frame(kind::HEADERS, &request);
        for number in 0..5 {
            rig.sends_all(number * 4, &again);
            let (head, _) = rig.request(number * 4);
            assert_eq!(head.method(), b"GET");
            assert_eq!(head.fields().last().unwrap().value, b"b");
            rig.conn.recycle_head(head);
            rig.events();
        }
        let decoder = rig.uni(UniKind::QpackDecoder).unwrap();
        let reported = &rig.wire_streams[&decoder].bytes;
        assert!(
            reported.ends_with(&[0x80, 0x84, 0x88, 0x8c, 0x90]),
            "{reported:?}"
        );
        rig.sends_all(20, &[headers(POST), again.clone()].concat());
        assert_eq!(
            rig.wire_streams[&20].reset,
            Some(H3Code::MESSAGE_ERROR),
            "behind a body they are trailers"
        );
        // Without room in the table the entry is gone.
        rig.sends(6, &[0x20]);
        rig.sends_all(24, &again);
        rig.breaks(Violation::QpackDecompressionFailed);
    });
}

#[test]
fn a_response_that_comes_again_is_known_under_the_same_table_and_each_is_acknowledged() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::client(cut);
        // Capacity 220, then one entry "a: b".
        rig.sends(7, &[0x2, 0x3f, 0xbd, 0x01, 0x41, b'a', 0x01, b'b']);
        // It needs that entry, and names it.
        let mut response = section(&[(":status", "200")]);
        response[0] = 2;
        response.push(0x80);
        let again = frame(kind::HEADERS, &response);
        for _ in 0..5 {
            let id = rig.get();
            rig.sends_all(id, &again);
            let (head, _) = rig.response(id);
            assert_eq!(head.status, 200);
            assert_eq!(head.fields().last().unwrap().value, b"b");
            rig.events();
        }
        let decoder = rig.uni(UniKind::QpackDecoder).unwrap();
        let reported = &rig.wire_streams[&decoder].bytes;
        assert!(
            reported.ends_with(&[0x80, 0x84, 0x88, 0x8c, 0x90]),
            "{reported:?}"
        );
        let id = rig.get();
        rig.sends_all(
            id,
            &[headers(&[(":status", "204")]), again.clone()].concat(),
        );
        assert_eq!(
            rig.wire_streams[&id].stopped,
            Some(H3Code::MESSAGE_ERROR),
            "behind a head they are trailers"
        );
        rig.events();
        let id = rig.get();
        // Without room in the table the entry is gone.
        rig.sends(7, &[0x20]);
        rig.sends_all(id, &again);
        rig.breaks(Violation::QpackDecompressionFailed);
    });
}

#[test]
fn trailers_end_the_exchange_on_both_sides() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        let mut bytes = headers(POST);
        bytes.extend(data(b"abc"));
        bytes.extend(headers(&[("checksum", "1")]));
        rig.sends_all(0, &bytes);
        let (_, end) = rig.request(0);
        assert!(!end);
        let events = rig.events();
        let Some(Event::TrailersReceived { trailers, .. }) = events.last() else {
            panic!("{events:?}");
        };
        assert_eq!(trailers.get_named(b"checksum"), Some(&b"1"[..]));
        rig.respond(0, &[], false);
        rig.send(0, "xyz", false);
        assert!(!rig.wire_streams[&0].fin);
        let trailers = fields(&[("grpc-status", "0")]);
        rig.conn
            .send_trailers(rig.now, StreamId(0), &trailers)
            .unwrap();
        rig.run();
        let kinds: Vec<_> = rig.frames(0).iter().map(|frame| frame.0).collect();
        assert_eq!(kinds, [kind::HEADERS, kind::DATA, kind::HEADERS]);
        assert!(rig.wire_streams[&0].fin);
        assert_eq!(rig.conn.active(), 0);
    });
}

#[test]
fn interim_responses_come_before_the_final_one() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::client(cut);
        rig.get();
        let mut bytes = headers(&[(":status", "103"), ("link", "</a>")]);
        bytes.extend(headers(OK));
        rig.sends_all(0, &bytes);
        let Some(Event::InterimReceived { head, .. }) = rig.event() else {
            panic!("103 was due");
        };
        assert_eq!(head.status, 103);
        assert_eq!(rig.response(0).0.status, 200);

        let mut rig = Rig::server(cut);
        rig.sends_all(0, &headers(GET));
        rig.events();
        rig.conn
            .send_interim(rig.now, StreamId(0), &response(103, &[]))
            .unwrap();
        rig.respond(0, &[], true);
        let frames = rig.frames(0);
        assert_eq!(rig.decode(0, &frames[0].1)[0].1, "103");
        assert_eq!(rig.decode(0, &frames[1].1)[0].1, "200");
    });
}

#[test]
fn an_end_that_comes_later_needs_no_frame() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.events();
    rig.respond(0, &[], false);
    rig.send(0, "some", false);
    assert_eq!(rig.frames(0).len(), 2);
    rig.send(0, "", true);
    assert!(rig.frames(0).is_empty() && rig.wire_streams[&0].fin);
}

#[test]
fn what_the_transport_does_not_take_goes_out_later_and_in_order() {
    for first in 0..60 {
        let mut rig = Rig::server(Cut::Whole);
        rig.sends_all(0, &headers(GET));
        rig.events();
        rig.room.insert(0, first);
        rig.respond(0, &[], false);
        let body: Vec<u8> = (0..40).collect();
        rig.send(0, body.clone(), false);
        rig.send(0, body.clone(), false);
        let trailers = fields(&[("checksum", "1")]);
        rig.conn
            .send_trailers(rig.now, StreamId(0), &trailers)
            .unwrap();
        rig.run();
        assert!(
            !rig.wire_streams[&0].fin && rig.conn.active() == 1,
            "{first}"
        );
        for _ in 0..200 {
            rig.takes(0, 1);
        }
        assert!(rig.wire_streams[&0].fin, "{first}");
        let frames = rig.frames(0);
        let sent: Vec<u8> = frames
            .iter()
            .filter(|frame| frame.0 == kind::DATA)
            .flat_map(|frame| frame.1.clone())
            .collect();
        assert_eq!(sent, [body.clone(), body].concat());
        assert_eq!(frames.last().unwrap().0, kind::HEADERS);
        assert_eq!(rig.conn.active(), 0);
    }
}

#[test]
fn several_writes_that_were_asked_for_stay_in_order_when_the_first_comes_back() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.events();
    rig.room.insert(0, 10);
    let (now, stream) = (rig.now, StreamId(0));
    rig.conn
        .respond(now, stream, &response(200, &[]), false)
        .unwrap();
    let pieces: Vec<Vec<u8>> = (0..5u8).map(|n| vec![n; 10_000]).collect();
    for piece in &pieces {
        let piece = piece.clone().into();
        rig.conn.send_body(now, stream, piece, false).unwrap();
    }
    rig.conn
        .send_body(now, stream, Default::default(), true)
        .unwrap();
    rig.run();
    rig.takes(0, 20_000);
    rig.takes(0, usize::MAX);
    assert!(rig.wire_streams[&0].fin);
    let sent: Vec<u8> = rig.frames(0).drain(1..).flat_map(|frame| frame.1).collect();
    assert_eq!(sent, pieces.concat());
}

#[test]
fn a_large_body_goes_by_reference_and_in_turns() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.sends_all(4, &headers(GET));
    rig.events();
    rig.room.insert(0, 100_000);
    rig.respond(0, &[], false);
    rig.send(0, vec![1; 300_000], true);
    rig.respond(4, &[], false);
    rig.send(4, vec![2; 1000], true);
    assert!(
        rig.wire_streams[&4].fin,
        "a blocked stream does not hold another up"
    );
    rig.takes(0, usize::MAX);
    let body: usize = rig.frames(0).drain(1..).map(|frame| frame.1.len()).sum();
    assert_eq!(body, 300_000);
}

#[test]
fn send_ready_comes_when_half_of_a_full_buffer_is_gone() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.events();
    rig.room.insert(0, 0);
    rig.respond(0, &[], false);
    rig.send(0, vec![1; 256 * 1024], false);
    assert_eq!(rig.conn.send_room(StreamId(0)), 0);
    rig.takes(0, 100_000);
    rig.no_event("less than half is gone");
    rig.takes(0, 100_000);
    assert!(matches!(rig.event(), Some(Event::SendReady { .. })));
    rig.no_event("once");
    assert!(rig.conn.send_room(StreamId(0)) > 0);
}

#[test]
fn send_ready_comes_too_where_what_the_transport_gave_back_filled_the_buffer() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.events();
    rig.respond(0, &[], false);
    rig.room.insert(0, 0);
    let (now, stream) = (rig.now, StreamId(0));
    // Two writes are asked for, the rest waits in a buffer that is nearly full.
    for _ in 0..7 {
        let piece = vec![1; 48 * 1024].into();
        assert!(rig.conn.send_room(stream) > 0);
        rig.conn.send_body(now, stream, piece, false).unwrap();
    }
    assert!(rig.conn.send_room(stream) > 0, "a writer goes on");
    rig.run();
    assert_eq!(rig.conn.send_room(stream), 0, "and finds no room");
    rig.takes(0, usize::MAX);
    assert!(matches!(rig.event(), Some(Event::SendReady { .. })));
    rig.no_event("once");
}

#[test]
fn a_reader_that_rests_stops_the_peer_and_goes_on_at_half() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(0, &headers(POST));
    let stream = StreamId(0);
    assert_eq!(rig.conn.read_room(stream), 64 * 1024);
    rig.sends(0, &data(&[0; 64 * 1024]));
    assert_eq!(rig.conn.read_room(stream), 0);
    rig.conn.consume(rig.now, stream, 32 * 1024 - 1);
    rig.run();
    assert!(rig.reads.is_empty());
    rig.conn.consume(rig.now, stream, 1);
    rig.run();
    assert!(rig.reads.contains(&0));
    assert_eq!(rig.conn.read_room(stream), 32 * 1024);
}

#[test]
fn a_body_of_another_length_than_announced_is_refused_both_ways() {
    however_it_is_cut(|cut| {
        for (length, body) in [("4", &b"abc"[..]), ("2", b"abc")] {
            let mut rig = Rig::server(cut);
            let mut bytes = headers(&with(POST, &[("content-length", length)]));
            bytes.extend(data(body));
            rig.sends_all(0, &bytes);
            let last = rig.events().pop();
            let violation = Violation::ContentLengthMismatch;
            assert!(
                matches!(last, Some(Event::StreamReset { reset, .. }) if reset.by == ResetBy::Us(violation)),
                "{last:?}"
            );
            assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::MESSAGE_ERROR));
        }
    });
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.events();
    rig.respond(0, &[("content-length", "3")], false);
    let sent = rig
        .conn
        .send_body(rig.now, StreamId(0), "abcd".into(), false);
    assert_eq!(sent, Err(Misuse::BodyLength));
}

#[test]
fn an_answer_in_one_must_fit_its_content_length_or_nothing_is_sent() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.events();
    let head = response(200, &[("content-length", "3")]);
    for body in ["", "no", "four"] {
        let answered = rig.conn.answer(rig.now, StreamId(0), &head, body.into());
        assert_eq!(answered, Err(Misuse::BodyLength), "{body:?}");
    }
    let answered = rig.conn.answer(rig.now, StreamId(0), &head, "yes".into());
    assert_eq!(answered, Ok(()));
    rig.run();
    let frames = rig.frames(0);
    assert_eq!(frames.len(), 2, "HEADERS and DATA: {frames:?}");
    assert_eq!(frames[1].1, b"yes");
}

#[test]
fn extended_connect_needs_the_setting() {
    let connect = [
        (":method", "CONNECT"),
        (":protocol", "websocket"),
        (":scheme", "https"),
        (":authority", "example.org"),
        (":path", "/chat"),
    ];
    let config = Config::default().with_extended_connect(true);
    let mut rig = Rig::server_with(config, Cut::Whole);
    rig.sends(0, &headers(&connect));
    let (head, end) = rig.request(0);
    assert_eq!((head.protocol(), end), (Some(&b"websocket"[..]), false));
    rig.respond(0, &[], false);
    rig.sends(0, &data(b"frame"));
    rig.send(0, "answer", false);
    assert_eq!(rig.body(0), (b"frame".to_vec(), false));
    rig.sends(0, &headers(&[("late", "1")]));
    rig.breaks(Violation::FrameUnexpected);

    let mut rig = Rig::server(Cut::Whole);
    rig.sends(0, &headers(&connect));
    rig.no_event("RFC 9220 section 3: it was not offered");
    assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::MESSAGE_ERROR));

    let fields = connect.into_iter().collect();
    let version = trunkline_core::http::Version::Http3;
    let head = trunkline_core::http::RequestHead::from_fields(fields, version).unwrap();
    let mut rig = Rig::client(Cut::Whole);
    assert!(rig.conn.open(rig.now, &head, false).is_err());
    let offers = [(id::ENABLE_CONNECT_PROTOCOL, 1)];
    let mut rig = Rig::client_with(Config::default(), &offers, 10, Cut::Whole);
    assert!(rig.conn.takes_extended_connect());
    assert!(rig.conn.open(rig.now, &head, false).is_ok());
}

#[test]
fn a_command_on_a_stream_that_is_gone_is_a_misuse() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.events();
    rig.answer(0, "x");
    for stream in [0, 4, 3] {
        let sent = rig
            .conn
            .send_body(rig.now, StreamId(stream), "x".into(), true);
        assert_eq!(sent, Err(Misuse::StreamNotOpen));
    }
    rig.conn.abort(rig.now, H2Code::NO_ERROR);
    rig.run();
    assert_eq!(rig.closed.map(|closed| closed.0), Some(H3Code::NO_ERROR));
    assert!(matches!(
        rig.events().pop(),
        Some(Event::Closed(Closed::Drained))
    ));
}

#[test]
fn a_packets_worth_of_nothing_is_a_frame_that_peers_ignore() {
    let mut rig = Rig::client(Cut::Whole);
    rig.control_frames();
    rig.conn.pad();
    rig.conn.pad();
    rig.run();
    let frames = rig.control_frames();
    assert_eq!(frames.len(), 1, "one that waits is enough");
    assert_eq!((frames[0].0, frames[0].1.len()), (kind::RESERVED, 1120));
    let mut peer = Rig::server(Cut::Whole);
    peer.sends(2, &frame(kind::RESERVED, &frames[0].1));
    assert_eq!(peer.closed, None);
    peer.no_event("nothing was said");
}
