//! Broken rules: each ends what it must, with the code of its section, and nothing more.

#[path = "h2/rig.rs"]
mod rig;

use rig::*;
use trunkline_core::error::{Closed, H2Code, Violation};
use trunkline_core::h2::frame::{Setting, flag, kind};
use trunkline_core::http::Side;
use trunkline_core::limits::Config;

/// Input of a server after a complete preface, and how it must end the connection.
#[test]
fn each_broken_connection_rule_is_answered_with_its_code() {
    let mut padded = vec![0, 0, 4, kind::DATA, flag::PADDED, 0, 0, 0, 1];
    padded.extend_from_slice(&[4, 0, 0, 0]);
    let cases: Vec<(&str, Vec<u8>, H2Code)> = vec![
        (
            "6.1 DATA on stream 0",
            body(0, b"x", false),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "5.1 DATA on an idle stream",
            body(1, b"x", false),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.1 padding as long as the payload",
            [headers(1, POST, false), padded].concat(),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "4.2 a frame above the limit",
            vec![0, 0x40, 1, kind::DATA, 0, 0, 0, 0, 1],
            H2Code::FRAME_SIZE_ERROR,
        ),
        (
            "5.1.1 an even id",
            headers(2, GET, true),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "5.1.1 an id that was skipped",
            [headers(5, GET, true), headers(3, GET, true)].concat(),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.2 HEADERS on stream 0",
            headers(0, GET, true),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.3 PRIORITY on stream 0",
            priority(0, 1),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.4 RST_STREAM on an idle stream",
            rst(1, H2Code::CANCEL),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.4 RST_STREAM of another length",
            frame(kind::RST_STREAM, 0, 1, &[0; 3]),
            H2Code::FRAME_SIZE_ERROR,
        ),
        (
            "6.5 SETTINGS on a stream",
            frame(kind::SETTINGS, 0, 1, &[]),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.5 SETTINGS of another length",
            frame(kind::SETTINGS, 0, 0, &[0; 5]),
            H2Code::FRAME_SIZE_ERROR,
        ),
        (
            "6.5 an acknowledgement with a payload",
            frame(kind::SETTINGS, flag::ACK, 0, &[0; 6]),
            H2Code::FRAME_SIZE_ERROR,
        ),
        (
            "6.5.3 an acknowledgement of nothing",
            settings_ack(),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.5.2 ENABLE_PUSH 2",
            frame(kind::SETTINGS, 0, 0, &[0, 2, 0, 0, 0, 2]),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.5.2 a window above 2^31-1",
            frame(kind::SETTINGS, 0, 0, &[0, 4, 0x80, 0, 0, 0]),
            H2Code::FLOW_CONTROL_ERROR,
        ),
        (
            "8.4 PUSH_PROMISE from a client",
            frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2]),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.7 PING on a stream",
            frame(kind::PING, 0, 1, &[0; 8]),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.7 PING of another length",
            frame(kind::PING, 0, 0, &[0; 7]),
            H2Code::FRAME_SIZE_ERROR,
        ),
        (
            "6.8 GOAWAY on a stream",
            frame(kind::GOAWAY, 0, 1, &[0; 8]),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.9 WINDOW_UPDATE of another length",
            frame(kind::WINDOW_UPDATE, 0, 0, &[0; 3]),
            H2Code::FRAME_SIZE_ERROR,
        ),
        (
            "6.9 zero for the connection",
            window_update(0, 0),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.9 on an idle stream",
            window_update(1, 1),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.9.1 a connection window above 2^31-1",
            window_update(0, 0x7fff_ffff),
            H2Code::FLOW_CONTROL_ERROR,
        ),
        (
            "6.10 CONTINUATION after nothing",
            continuation(1, &[], true),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.10 PING inside a header block",
            [frame(kind::HEADERS, 0, 1, &block(GET)), ping([0; 8])].concat(),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.10 CONTINUATION of another stream",
            [
                frame(kind::HEADERS, 0, 1, &block(GET)),
                continuation(3, &[], true),
            ]
            .concat(),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "4.3 a block that does not decode",
            frame(kind::HEADERS, flag::END_HEADERS, 1, &[0xff, 0xff, 0xff]),
            H2Code::COMPRESSION_ERROR,
        ),
        (
            "9218 7.1 PRIORITY_UPDATE for stream 0",
            priority_update(0, "u=1"),
            H2Code::PROTOCOL_ERROR,
        ),
    ];
    for (why, bytes, code) in cases {
        however_it_is_cut(|cut| {
            let mut rig = Rig::server(cut);
            rig.sends(&bytes);
            let closed = rig.expects_close(code, why);
            assert!(matches!(closed, Closed::ByUs(_)), "{why}: {closed:?}");
        });
    }
}

#[test]
fn each_broken_stream_rule_resets_its_stream_only() {
    let upper = with(GET, &[("Upper", "x")]);
    let cases: Vec<(&str, Vec<u8>, H2Code)> = vec![
        (
            "8.2 an upper-case name",
            headers(1, &upper, true),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "8.2.2 a connection field",
            headers(1, &with(GET, &[("connection", "x")]), true),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "8.3.1 no path",
            headers(1, &GET[..3], true),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "5.3.1 depends on itself",
            {
                let mut payload = vec![0, 0, 0, 1, 15];
                payload.extend_from_slice(&block(GET));
                frame(
                    kind::HEADERS,
                    flag::END_HEADERS | flag::END_STREAM | flag::PRIORITY,
                    1,
                    &payload,
                )
            },
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.3 PRIORITY of another length",
            [
                headers(1, POST, false),
                frame(kind::PRIORITY, 0, 1, &[0; 4]),
            ]
            .concat(),
            H2Code::FRAME_SIZE_ERROR,
        ),
        (
            "6.9 zero on a stream",
            [headers(1, POST, false), window_update(1, 0)].concat(),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.9.1 a stream window above 2^31-1",
            [headers(1, POST, false), window_update(1, 0x7fff_ffff)].concat(),
            H2Code::FLOW_CONTROL_ERROR,
        ),
        (
            "5.1 DATA after the end",
            [headers(1, GET, true), body(1, b"x", true)].concat(),
            H2Code::STREAM_CLOSED,
        ),
        (
            "5.1 HEADERS after the end",
            [headers(1, GET, true), headers(1, GET, true)].concat(),
            H2Code::STREAM_CLOSED,
        ),
        (
            "8.1 trailers that end nothing",
            [headers(1, POST, false), headers(1, &[("a", "b")], false)].concat(),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "8.1 pseudo-fields in trailers",
            [headers(1, POST, false), headers(1, GET, true)].concat(),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "8.1.1 content-length without a body",
            headers(1, &with(GET, &[("content-length", "1")]), true),
            H2Code::PROTOCOL_ERROR,
        ),
    ];
    for (why, bytes, code) in cases {
        however_it_is_cut(|cut| {
            let mut rig = Rig::server(cut);
            rig.sends(&bytes);
            rig.expects_reset(1, code, why);
            rig.events();
            rig.sends(&headers(3, GET, true));
            rig.request(3);
            rig.is_quiet(why);
        });
    }
}

#[test]
fn frames_on_a_stream_that_ended_for_both_sides() {
    let ended = || {
        let mut rig = Rig::server(Cut::Whole);
        rig.sends(&headers(1, GET, true));
        rig.respond(1, &[], true);
        rig.frames();
        rig.events();
        rig
    };
    let mut rig = ended();
    rig.sends(&[window_update(1, 1), rst(1, H2Code::CANCEL), priority(1, 0)].concat());
    rig.is_quiet("they crossed our end");
    rig.no_event("the exchange is over");
    for late in [headers(1, GET, true), body(1, b"x", true)] {
        let mut rig = ended();
        rig.sends(&late);
        rig.expects_close(H2Code::STREAM_CLOSED, "RFC 9113 section 5.1");
    }
}

#[test]
fn a_stream_that_the_peer_has_reset_stays_reset() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&[headers(1, POST, false), rst(1, H2Code::CANCEL)].concat());
    assert_eq!(rig.events().len(), 2);
    rig.sends(&body(1, b"x", true));
    rig.expects_reset(1, H2Code::STREAM_CLOSED, "RFC 9113 section 5.1");
    rig.no_event("the user knows already");
}

#[test]
fn unknown_frames_and_settings_are_ignored() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(&frame(0xaa, 0xff, 7, b"whatever"));
        rig.sends(&frame(kind::ALTSVC, 0, 0, b"alt"));
        rig.is_quiet("RFC 9113 section 5.5");
        rig.sends(&frame(kind::SETTINGS, 0, 0, &[0xfe, 1, 2, 3, 4, 5]));
        let ack = rig.expects(kind::SETTINGS, 0, "acknowledged all the same");
        assert_eq!(ack.flags, flag::ACK);
    });
}

#[test]
fn an_unknown_frame_inside_a_header_block_is_a_connection_error() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::server(cut);
        rig.sends(&frame(kind::HEADERS, 0, 1, &block(GET)));
        rig.sends(&frame(0xaa, 0, 1, b"whatever"));
        rig.expects_close(H2Code::PROTOCOL_ERROR, "RFC 9113 section 5.5");
    });
}

#[test]
fn the_preface_may_come_in_pieces_and_must_be_the_preface() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::fresh(Side::Server, Config::default(), cut);
        rig.frames();
        rig.sends(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n");
        let closed = rig.expects_close(H2Code::PROTOCOL_ERROR, "RFC 9113 section 3.4");
        assert_eq!(closed, Closed::ByUs(Violation::PrefaceInvalid));

        let mut rig = Rig::fresh(Side::Server, Config::default(), cut);
        rig.sends(PREFACE);
        rig.sends(&ping([0; 8]));
        rig.expects_close(H2Code::PROTOCOL_ERROR, "SETTINGS must be first");
    });
}

#[test]
fn a_server_that_greets_with_something_else_is_left() {
    let mut rig = Rig::fresh(Side::Client, Config::default(), Cut::EveryByte);
    rig.sends(&headers(1, OK, true));
    rig.expects_close(H2Code::PROTOCOL_ERROR, "SETTINGS must be first");
}

#[test]
fn a_client_holds_a_server_to_its_side_of_the_rules() {
    let push = frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, &[0, 0, 0, 2]);
    let cases: Vec<(&str, Vec<u8>, H2Code)> = vec![
        ("8.4 a push", push, H2Code::PROTOCOL_ERROR),
        (
            "5.1.1 a response on an even stream",
            headers(2, OK, true),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "5.1 a response to nothing",
            headers(3, OK, true),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "6.5.2 ENABLE_PUSH 1 from a server",
            settings_frame(&[Setting::EnablePush(true)]),
            H2Code::PROTOCOL_ERROR,
        ),
        (
            "9218 7.1 PRIORITY_UPDATE from a server",
            priority_update(1, "u=1"),
            H2Code::PROTOCOL_ERROR,
        ),
    ];
    for (why, bytes, code) in cases {
        however_it_is_cut(|cut| {
            let mut rig = Rig::client(cut);
            rig.get();
            rig.sends(&bytes);
            rig.expects_close(code, why);
        });
    }
    let stream_cases: Vec<(&str, Vec<u8>)> = vec![
        ("8.1 DATA before the head", body(1, b"x", true)),
        ("8.6 101", headers(1, &[(":status", "101")], false)),
        (
            "8.1 a 1xx that ends",
            headers(1, &[(":status", "103")], true),
        ),
        ("8.3.2 no status", headers(1, &[("a", "b")], true)),
        ("9110 15 status 99", headers(1, &[(":status", "099")], true)),
    ];
    for (why, bytes) in stream_cases {
        however_it_is_cut(|cut| {
            let mut rig = Rig::client(cut);
            rig.get();
            rig.frames();
            rig.sends(&bytes);
            rig.expects_reset(1, H2Code::PROTOCOL_ERROR, why);
        });
    }
}

#[test]
fn more_data_than_a_window_allows_is_an_error_of_that_window() {
    let mut config = Config::default();
    config.windows.stream_initial = 10;
    config.windows.auto = false;
    let mut rig = Rig::server_with(config, Cut::EveryByte);
    rig.sends(&headers(1, POST, false));
    rig.sends(&body(1, &[0; 10], false));
    rig.is_quiet("ten bytes were granted, and bind us before the acknowledgement");
    rig.sends(&body(1, b"x", false));
    rig.expects_reset(1, H2Code::FLOW_CONTROL_ERROR, "the eleventh");

    let mut config = Config::default();
    config.windows.connection = 0;
    config.windows.stream_initial = 1 << 20;
    config.windows.memory_budget = 0;
    let mut rig = Rig::server_with(config, Cut::Whole);
    rig.sends(&headers(1, POST, false));
    for _ in 0..3 {
        rig.sends(&body(1, &[0; 16_384], false));
    }
    rig.sends(&body(1, &[0; 16_383], false));
    rig.is_quiet("65,535 bytes are every connection's");
    rig.sends(&body(1, b"x", false));
    rig.expects_close(H2Code::FLOW_CONTROL_ERROR, "one more");
}
