//! Forbidden input of a peer, each by its behaviour and section, at every cut.

#[path = "h3/rig.rs"]
mod rig;

use rig::*;
use trunkline_core::error::{H2Code, H3Code, Violation};
use trunkline_core::h3::frame::kind;
use trunkline_core::h3::settings::id;
use trunkline_core::http::event::ResetBy;
use trunkline_core::http::{Event, Side, StreamId};
use trunkline_core::limits::Config;

/// A server breaks the connection for what its client says on `stream`.
#[track_caller]
fn server_breaks(stream: u64, bytes: &[u8], violation: Violation) {
    for cut in [Cut::Whole, Cut::EveryByte, Cut::EndApart] {
        let mut rig = Rig::server(cut);
        rig.sends(stream, bytes);
        rig.breaks(violation);
    }
}

/// A client with an open request breaks the connection for what its server says.
#[track_caller]
fn client_breaks(stream: u64, bytes: &[u8], violation: Violation) {
    for cut in [Cut::Whole, Cut::EveryByte, Cut::EndApart] {
        let mut rig = Rig::client(cut);
        rig.get();
        rig.sends(stream, bytes);
        rig.breaks(violation);
    }
}

/// A request is answered with a reset of this code, and its neighbours live.
#[track_caller]
fn request_is_malformed(list: &[(&str, &str)], violation: Violation) {
    for cut in [Cut::Whole, Cut::EveryByte, Cut::EndApart] {
        let mut rig = Rig::server(cut);
        rig.sends_all(0, &headers(list));
        rig.no_event("nobody hears of it");
        assert_eq!(
            rig.wire_streams[&0].reset,
            Some(violation.h3_code()),
            "{list:?}"
        );
        rig.sends_all(4, &headers(GET));
        rig.request(4);
    }
}

// RFC 9114 section 4.1: the order of frames.

#[test]
fn data_before_the_head_is_unexpected() {
    server_breaks(0, &data(b"x"), Violation::FrameUnexpected);
    client_breaks(0, &data(b"x"), Violation::FrameUnexpected);
}

#[test]
fn data_or_a_section_behind_trailers_is_unexpected() {
    for late in [data(b""), data(b"x"), headers(&[("b", "2")])] {
        let bytes = [headers(POST), headers(&[("a", "1")]), late].concat();
        server_breaks(0, &bytes, Violation::FrameUnexpected);
    }
}

#[test]
fn a_request_that_ends_before_its_head_is_incomplete() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends_all(0, b"");
        assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::REQUEST_INCOMPLETE));
        assert_eq!(
            rig.wire_streams[&0].stopped,
            Some(H3Code::REQUEST_INCOMPLETE)
        );
        rig.no_event("nobody hears of it");
    });
}

#[test]
fn a_response_that_ends_before_its_final_head_is_malformed() {
    however_it_is_cut(|cut| {
        for bytes in [Vec::new(), headers(&[(":status", "103")])] {
            let mut rig = Rig::client(cut);
            rig.get();
            rig.sends_all(0, &bytes);
            let reset = rig.events().into_iter().find_map(|event| match event {
                Event::StreamReset { reset, .. } => Some(reset),
                _ => None,
            });
            let reset = reset.expect("the exchange ends");
            assert!(!reset.unprocessed);
            assert!(matches!(
                reset.by,
                ResetBy::Us(Violation::ResponseIncomplete | Violation::InterimWithEnd)
            ));
        }
    });
}

#[test]
fn unknown_frames_stand_anywhere() {
    however_it_is_cut(|cut| {
        let grease = || frame(0x21 + 0x1f * 7, b"grease");
        let mut rig = Rig::server(cut);
        let parts = [
            grease(),
            headers(POST),
            grease(),
            data(b"ab"),
            grease(),
            headers(&[("a", "1")]),
            grease(),
        ];
        rig.sends_all(0, &parts.concat());
        rig.request(0);
        assert!(matches!(
            rig.events().last(),
            Some(Event::TrailersReceived { .. })
        ));
        rig.answer(0, "x");
        assert_eq!(rig.conn.active(), 0);
    });
}

// RFC 9114 section 7: frames.

#[test]
fn frames_of_the_control_stream_and_of_http2_are_unexpected_on_a_request_stream() {
    for wire in [0x2, 0x3, 0x4, 0x6, 0x7, 0x8, 0x9, 0xd, 0xf_0700, 0xf_0701] {
        let bytes = [headers(POST), frame(wire, b"")].concat();
        server_breaks(0, &bytes, Violation::FrameUnexpected);
    }
    server_breaks(
        0,
        &frame(kind::PUSH_PROMISE, b"\0"),
        Violation::FrameUnexpected,
    );
}

#[test]
fn a_push_that_was_never_offered_is_an_id_error() {
    client_breaks(
        0,
        &frame(kind::PUSH_PROMISE, b"\0"),
        Violation::PushIdInvalid,
    );
    // RFC 9114 section 6.2.2: a push stream.
    client_breaks(7, &[0x1, 0], Violation::PushIdInvalid);
    server_breaks(6, &[0x1], Violation::StreamTypeForbidden);
    client_breaks(3, &number(kind::CANCEL_PUSH, 0), Violation::PushIdInvalid);
    server_breaks(2, &number(kind::CANCEL_PUSH, 0), Violation::PushIdInvalid);
}

#[test]
fn a_stream_that_ends_inside_a_frame_is_a_frame_error() {
    however_it_is_cut(|cut| {
        let whole = [headers(POST), data(b"body")].concat();
        let head = headers(POST).len();
        for len in (1..head).chain(head + 1..whole.len()) {
            let mut rig = Rig::server(cut);
            rig.sends_all(0, &whole[..len]);
            rig.breaks(Violation::FrameTruncated);
        }
    });
}

#[test]
fn a_frame_on_the_control_stream_has_all_of_its_fields_and_no_more() {
    for wire in [kind::GOAWAY, kind::MAX_PUSH_ID, kind::CANCEL_PUSH] {
        server_breaks(2, &frame(wire, b""), Violation::FrameMalformed);
        server_breaks(2, &frame(wire, b"\0\0"), Violation::FrameMalformed);
    }
    server_breaks(
        2,
        &frame(kind::PRIORITY_UPDATE_REQUEST, b""),
        Violation::FrameMalformed,
    );
}

// RFC 9114 section 6.2: streams.

#[test]
fn a_control_stream_begins_with_settings() {
    for first in [
        number(kind::GOAWAY, 0),
        frame(0x21, b""),
        data(b""),
        number(kind::MAX_PUSH_ID, 1),
    ] {
        however_it_is_cut(|cut| {
            let mut rig = Rig::fresh(Side::Server, Config::default(), cut);
            rig.sends(2, &[&[0][..], &first].concat());
            rig.breaks(Violation::SettingsMissing);
        });
    }
}

#[test]
fn settings_come_once() {
    server_breaks(2, &control(&[])[1..], Violation::FrameUnexpected);
}

#[test]
fn frames_of_request_streams_are_unexpected_on_the_control_stream() {
    for wire in [0x0, 0x1, 0x2, 0x5, 0x6, 0x8, 0x9] {
        server_breaks(2, &frame(wire, b""), Violation::FrameUnexpected);
        client_breaks(3, &frame(wire, b""), Violation::FrameUnexpected);
    }
}

#[test]
fn a_server_says_neither_max_push_id_nor_priority_update() {
    client_breaks(3, &number(kind::MAX_PUSH_ID, 1), Violation::FrameUnexpected);
    client_breaks(
        3,
        &frame(kind::PRIORITY_UPDATE_REQUEST, b"\0u=1"),
        Violation::FrameUnexpected,
    );
}

#[test]
fn max_push_id_never_falls() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(2, &number(kind::MAX_PUSH_ID, 5));
    rig.sends(2, &number(kind::MAX_PUSH_ID, 5));
    rig.no_event("pushes are nothing to us");
    rig.sends(2, &number(kind::MAX_PUSH_ID, 4));
    rig.breaks(Violation::PushIdInvalid);
}

#[test]
fn a_second_control_or_qpack_stream_is_an_error() {
    server_breaks(6, &control(&[]), Violation::StreamTypeRepeated);
    for wire in [0x2, 0x3] {
        let mut rig = Rig::server(Cut::Whole);
        rig.sends(6, &[wire]);
        rig.no_event("one is fine");
        rig.sends(10, &[wire]);
        rig.breaks(Violation::StreamTypeRepeated);
    }
}

#[test]
fn a_critical_stream_does_not_end() {
    for wire in [0x0, 0x2, 0x3] {
        for how in 0..2 {
            however_it_is_cut(|cut| {
                let mut rig = Rig::fresh(Side::Server, Config::default(), cut);
                let first = if wire == 0 { control(&[]) } else { vec![wire] };
                rig.sends(2, &first);
                match how {
                    0 => rig.sends_all(2, b""),
                    _ => rig.resets(2, H3Code::NO_ERROR),
                }
                rig.breaks(Violation::CriticalStreamClosed);
            });
        }
    }
    let mut rig = Rig::server(Cut::Whole);
    rig.stops(3, H3Code::NO_ERROR);
    rig.breaks(Violation::CriticalStreamClosed);
}

#[test]
fn a_stream_of_unknown_type_is_stopped_and_nothing_more() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(6, &[0x40, 0x21, 1, 2, 3]);
        assert_eq!(
            rig.wire_streams[&6].stopped,
            Some(H3Code::STREAM_CREATION_ERROR),
            "RFC 9114 section 6.2"
        );
        rig.sends_all(6, b"more");
        rig.resets(6, H3Code::NO_ERROR);
        rig.no_event("the connection goes on");
        rig.sends_all(0, &headers(GET));
        rig.request(0);
    });
}

#[test]
fn a_stream_may_end_before_it_says_its_type() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(6, b"");
    rig.sends(10, &[0x40]);
    rig.resets(10, H3Code::NO_ERROR);
    rig.no_event("RFC 9114 section 6.2");
}

#[test]
fn a_request_stream_of_a_server_is_an_error() {
    client_breaks(1, &headers(GET), Violation::StreamTypeForbidden);
}

// RFC 9114 section 7.2.4: settings.

#[test]
fn settings_of_http2_and_settings_that_come_twice_are_errors() {
    for pairs in [
        &[(0x2, 1)][..],
        &[(0x3, 1)],
        &[(0x4, 1)],
        &[(0x5, 1)],
        &[
            (id::MAX_FIELD_SECTION_SIZE, 1),
            (id::MAX_FIELD_SECTION_SIZE, 1),
        ],
        &[(id::ENABLE_CONNECT_PROTOCOL, 2)],
        &[(id::H3_DATAGRAM, 2)],
    ] {
        however_it_is_cut(|cut| {
            let mut rig = Rig::fresh(Side::Client, Config::default(), cut);
            rig.sends(3, &control(pairs));
            rig.breaks(Violation::SettingInvalid);
        });
    }
}

#[test]
fn a_peer_that_says_no_settings_in_time_is_left() {
    let mut rig = Rig::fresh(Side::Server, Config::default(), Cut::Whole);
    rig.waits(std::time::Duration::from_secs(10));
    rig.breaks(Violation::PrefaceTimeout);
}

// RFC 9114 section 5.2: GOAWAY.

#[test]
fn a_goaway_of_a_server_names_a_request_stream() {
    for id in [1, 2, 3] {
        client_breaks(3, &number(kind::GOAWAY, id), Violation::StreamIdInvalid);
    }
}

#[test]
fn a_goaway_does_not_take_back_what_it_gave_up() {
    let rises = [number(kind::GOAWAY, 8), number(kind::GOAWAY, 12)].concat();
    client_breaks(3, &rises, Violation::GoawayIdIncreased);
    server_breaks(2, &rises, Violation::GoawayIdIncreased);
}

// RFC 9114 section 4.1.2: malformed messages.

#[test]
fn malformed_requests_are_errors_of_their_stream() {
    use Violation::*;
    request_is_malformed(&with(GET, &[("Upper", "1")]), FieldNameInvalid);
    request_is_malformed(&with(GET, &[("a", "x\ny")]), FieldValueInvalid);
    request_is_malformed(
        &with(GET, &[("connection", "close")]),
        ConnectionFieldForbidden,
    );
    request_is_malformed(&with(GET, &[("te", "gzip")]), TeForbidden);
    request_is_malformed(&with(GET, &[(":path", "/2")]), PseudoFieldRepeated);
    request_is_malformed(&with(&[("a", "1")], GET), PseudoFieldLate);
    request_is_malformed(&with(GET, &[(":status", "200")]), PseudoFieldUnknown);
    request_is_malformed(&GET[1..], PseudoFieldMissing);
    request_is_malformed(&with(GET, &[("host", "other.org")]), AuthorityConflict);
}

#[test]
fn pseudo_fields_in_trailers_are_malformed() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(0, &headers(POST));
        rig.request(0);
        rig.sends_all(0, &headers(&[(":path", "/")]));
        let Some(Event::StreamReset { reset, .. }) = rig.event() else {
            panic!("the exchange ends");
        };
        assert_eq!(reset.by, ResetBy::Us(Violation::PseudoFieldInTrailers));
        assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::MESSAGE_ERROR));
    });
}

#[test]
fn a_section_of_many_bytes_on_the_wire_is_refused_before_it_comes() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(0, &[0x01, 0x80, 0x01, 0x00, 0x01]);
    assert!(rig.wire_streams[&0].fin, "431 (tests/h3_attacks.rs)");
    assert_eq!(rig.wire_streams[&0].stopped, Some(H3Code::NO_ERROR));
    rig.no_event("no byte of it was kept");
}

// RFC 9204: QPACK.

#[test]
fn a_section_that_does_not_decode_ends_the_connection() {
    server_breaks(
        0,
        &frame(kind::HEADERS, &[0, 0, 0xff, 0xff, 0xff, 0x7f]),
        Violation::QpackDecompressionFailed,
    );
}

#[test]
fn instructions_that_make_no_sense_end_the_connection() {
    // A capacity above ours; an increment of zero.
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(6, &[0x2, 0x3f, 0xff, 0xff, 0x7f]);
    rig.breaks(Violation::QpackEncoderStreamInvalid);
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(6, &[0x3, 0x00]);
    rig.breaks(Violation::QpackDecoderStreamInvalid);
}

// Resets.

#[test]
fn a_request_that_its_client_resets_is_over_for_both() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(0, &headers(POST));
    rig.request(0);
    rig.resets(0, H3Code::REQUEST_CANCELLED);
    let Some(Event::StreamReset { reset, .. }) = rig.event() else {
        panic!("the handler is told");
    };
    assert_eq!(reset.by, ResetBy::Peer(H2Code::CANCEL));
    assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::REQUEST_CANCELLED));
    assert_eq!(
        rig.wire_streams[&0].stopped, None,
        "nothing is left to stop"
    );
    assert_eq!((rig.conn.active(), rig.conn.running_handlers()), (0, 1));
}

#[test]
fn a_client_that_stops_the_answer_ends_the_exchange() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.request(0);
    rig.respond(0, &[], false);
    rig.stops(0, H3Code::REQUEST_CANCELLED);
    assert!(matches!(rig.event(), Some(Event::StreamReset { .. })));
    assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::REQUEST_CANCELLED));
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn a_rejected_request_may_be_sent_again_and_a_cancelled_one_may_not() {
    for (code, unprocessed) in [
        (H3Code::REQUEST_REJECTED, true),
        (H3Code::REQUEST_CANCELLED, false),
        (H3Code(0x1234), false),
    ] {
        let mut rig = Rig::client(Cut::Whole);
        rig.get();
        rig.resets(0, code);
        let Some(Event::StreamReset { reset, .. }) = rig.event() else {
            panic!("the exchange ends");
        };
        assert_eq!(reset.unprocessed, unprocessed, "RFC 9114 section 4.1.1");
    }
}

#[test]
fn a_server_that_stops_the_body_still_answers() {
    let mut rig = Rig::client(Cut::Whole);
    let id = rig.conn.open(rig.now, &request("POST"), false).unwrap();
    rig.run();
    rig.stops(0, H3Code::NO_ERROR);
    assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::NO_ERROR));
    assert!(matches!(rig.event(), Some(Event::SendStopped { stream }) if stream == id));
    rig.no_event("its source is dropped, not the exchange");
    assert_eq!(
        rig.conn.send_body(rig.now, id, "late".into(), true),
        Ok(()),
        "thrown away"
    );
    rig.sends_all(0, &headers(OK));
    let (head, end) = rig.response(0);
    assert!(head.status == 200 && end);
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn an_answer_that_is_complete_survives_the_end_of_its_handler() {
    // RFC 9114 section 4.1: the rest of the body is read, and stopped only if it is long.
    for (rest, stopped) in [(1000, None), (100_000, Some(H3Code::NO_ERROR))] {
        let mut rig = Rig::server(Cut::Whole);
        rig.sends(0, &headers(POST));
        rig.request(0);
        rig.answer(0, "done");
        assert!(rig.wire_streams[&0].fin && rig.wire_streams[&0].stopped.is_none());
        rig.sends(0, &data(&vec![0; rest]));
        assert_eq!(rig.wire_streams[&0].stopped, stopped, "{rest}");
        if stopped.is_none() {
            rig.sends_all(0, b"");
        }
        assert_eq!(rig.wire_streams[&0].reset, None, "the answer is not lost");
        assert_eq!(rig.conn.active(), 0);
        rig.no_event("nobody reads it");
    }
}

#[test]
fn a_reset_of_ours_ends_both_sides() {
    let mut rig = Rig::client(Cut::Whole);
    rig.get();
    rig.conn.reset(rig.now, StreamId(0), H2Code::CANCEL);
    rig.run();
    assert_eq!(
        rig.wire_streams[&0].stopped,
        Some(H3Code::REQUEST_CANCELLED)
    );
    assert_eq!(rig.conn.active(), 0);
    rig.sends_all(0, &headers(OK));
    rig.no_event("it comes too late");
}
