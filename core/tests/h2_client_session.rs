//! Frames of a connection itself on a client that is driven by its owner: origins and alternative
//! services of the server, GOAWAY in the owner's words, and requests before the server's SETTINGS.

#[path = "h2/rig.rs"]
mod rig;

use rig::*;
use trunkline_core::error::{H2Code, Misuse, Violation};
use trunkline_core::h2::frame::{AltSvcFrame, Setting, kind, origin};
use trunkline_core::http::{Event, Side, StreamId};
use trunkline_core::limits::Config;

/// A client that takes frames as events, and whose preface is over.
fn reporting(cut: Cut) -> Rig {
    let config = Config::default().with_frame_events(true);
    let mut rig = Rig::fresh(Side::Client, config, cut);
    rig.sends(&settings_frame(&[]));
    rig.sends(&settings_ack());
    rig.frames();
    rig.events();
    rig
}

fn origins(list: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    origin::write(list, &mut bytes);
    bytes
}

fn alt_svc(stream: u32, origin: &[u8], value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let sent = AltSvcFrame {
        stream,
        origin,
        value,
    };
    sent.write(&mut bytes);
    bytes
}

#[test]
fn origins_and_alternative_services_of_a_server_are_reported_once_each() {
    however_it_is_cut(|cut| {
        let mut rig = reporting(cut);
        rig.sends(&origins(&["https://a.example", "https://b.example"]));
        let Some(Event::OriginsReceived { origins }) = rig.event() else {
            panic!("no origins");
        };
        assert_eq!(origins, ["https://a.example", "https://b.example"]);
        rig.sends(&alt_svc(0, b"https://a.example", b"h3=\":1\""));
        let Some(Event::AltSvcReceived {
            stream,
            origin,
            value,
        }) = rig.event()
        else {
            panic!("no service");
        };
        assert_eq!(
            (stream, &origin[..], &value[..]),
            (StreamId(0), &b"https://a.example"[..], &b"h3=\":1\""[..])
        );
        rig.no_event("each frame is reported once");
        rig.is_quiet("none is answered");
    });
}

#[test]
fn announcements_that_a_receiver_must_ignore_are_no_events() {
    however_it_is_cut(|cut| {
        let mut rig = reporting(cut);
        // RFC 7838 section 4: named twice, or not at all.
        rig.sends(&alt_svc(0, b"", b"h3=\":1\""));
        rig.sends(&alt_svc(1, b"https://a.example", b"h3=\":1\""));
        // RFC 8336 section 2.1: on a stream, with a flag of a later version, or cut off.
        rig.sends(&frame(kind::ORIGIN, 0, 1, b"\0\x01a"));
        rig.sends(&frame(kind::ORIGIN, 1, 0, b"\0\x01a"));
        rig.sends(&frame(kind::ORIGIN, 0, 0, b"\0\x02a"));
        rig.sends(&frame(kind::ALTSVC, 0, 0, b"\0"));
        rig.no_event("they are ignored");
        assert!(!rig.conn.is_closed());
    });
}

#[test]
fn announcements_are_no_events_unless_frames_are() {
    let mut rig = Rig::client(Cut::Whole);
    rig.events();
    rig.sends(&origins(&["https://a.example"]));
    rig.sends(&alt_svc(0, b"https://a.example", b"h3=\":1\""));
    rig.no_event("they are unknown frames");
}

#[test]
fn announcements_without_end_cost_the_connection() {
    let mut rig = reporting(Cut::Whole);
    for _ in 0..100_000 {
        rig.sends(&origins(&["https://a.example"]));
        while rig.event().is_some() {}
        if rig.conn.is_closed() {
            return;
        }
    }
    panic!("no bound");
}

#[test]
fn a_client_says_goaway_in_its_users_words_and_goes_on() {
    let mut rig = reporting(Cut::Whole);
    rig.conn.go_away(None, H2Code(0xb), b"calm");
    let sent = rig.expects(kind::GOAWAY, 0, "at once");
    assert_eq!(sent.payload, b"\0\0\0\0\0\0\0\x0bcalm");
    let stream = rig.get();
    rig.expects(kind::HEADERS, stream, "a request starts behind it");
    assert!(!rig.conn.is_closed());
}

#[test]
fn as_many_requests_as_allowed_start_before_the_servers_settings() {
    for (early, capacity) in [(1, 1), (100, 100)] {
        let mut config = Config::default();
        config.limits.early_streams_max = early;
        config.limits.concurrent_streams_max = 1000;
        let mut rig = Rig::fresh(Side::Client, config, Cut::Whole);
        assert_eq!(rig.conn.capacity(), capacity);
        for _ in 0..capacity {
            rig.get();
        }
        let refused = rig.conn.open(rig.now, &request("GET"), true);
        assert_eq!(refused, Err(Misuse::NoCapacity));
        rig.sends(&settings_frame(&[Setting::MaxConcurrentStreams(
            capacity + 1,
        )]));
        assert_eq!(rig.conn.capacity(), 1);
    }
}

#[test]
fn a_client_skips_ids_and_takes_none_of_the_servers_or_a_used_one() {
    let mut rig = reporting(Cut::Whole);
    assert_eq!(rig.conn.next_stream(), 1);
    assert!(rig.conn.skip_to(9));
    assert!(!rig.conn.skip_to(8));
    assert!(!rig.conn.skip_to(7));
    assert!(!rig.conn.skip_to((1 << 31) + 1));
    assert_eq!(rig.get(), 9);
    assert!(rig.conn.is_open(StreamId(9)));
    assert!(!rig.conn.is_open(StreamId(11)));
    // A skipped stream is closed, not idle (RFC 9113 section 5.1.1).
    rig.sends(&rst(7, H2Code::CANCEL));
    assert!(!rig.conn.is_closed());
    rig.sends(&rst(11, H2Code::CANCEL));
    let closed = rig.expects_close(H2Code::PROTOCOL_ERROR, "11 is idle");
    assert_eq!(
        closed,
        trunkline_core::error::Closed::ByUs(Violation::StreamIdle)
    );
}
