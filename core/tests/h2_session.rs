//! Connection-level control frames on a server, received and sent by its owner: changed settings,
//! pings, GOAWAY, alternative services and origins.

#[path = "h2/rig.rs"]
mod rig;

use rig::*;
use std::time::Duration;
use trunkline_core::error::{Closed, H2Code, Misuse, Violation};
use trunkline_core::h2::frame::{AltSvcFrame, Setting, kind};
use trunkline_core::http::{Event, Side, StreamId};
use trunkline_core::limits::{Config, EXTENSION_SETTINGS_MAX};

/// A server that tells of frames, and whose preface is over.
fn telling(cut: Cut) -> Rig {
    let config = Config::default().with_frame_events(true);
    let mut rig = Rig::fresh(Side::Server, config, cut);
    rig.sends(PREFACE);
    rig.sends(&settings_frame(&[Setting::InitialWindowSize(80_000)]));
    rig.sends(&settings_ack());
    rig.frames();
    rig
}

/// A rig whose first events are taken.
fn settled(cut: Cut) -> Rig {
    let mut rig = telling(cut);
    assert_eq!(rig.events().len(), 2);
    rig
}

#[test]
fn settings_of_the_peer_and_acknowledgements_are_reported() {
    however_it_is_cut(|cut| {
        let mut rig = telling(cut);
        assert!(matches!(rig.event(), Some(Event::SettingsReceived { .. })));
        let peer = rig.conn.peer_settings();
        assert_eq!((peer.initial_window_size, peer.enable_push), (80_000, true));
        assert!(matches!(
            rig.event(),
            Some(Event::SettingsAcknowledged { round_trip }) if round_trip == Duration::ZERO
        ));
        rig.sends(&settings_frame(&[Setting::EnablePush(false)]));
        assert!(matches!(rig.event(), Some(Event::SettingsReceived { .. })));
        let peer = rig.conn.peer_settings();
        assert_eq!(
            (peer.initial_window_size, peer.enable_push),
            (80_000, false)
        );
        rig.no_event("each frame is told once");
    });
}

#[test]
fn settings_that_come_together_are_reported_frame_by_frame() {
    however_it_is_cut(|cut| {
        let mut rig = settled(cut);
        rig.conn.reported_settings();
        let frames =
            [1_000, 2_000, 3_000].map(|size| settings_frame(&[Setting::HeaderTableSize(size)]));
        rig.sends(&frames.concat());
        for size in [1_000, 2_000, 3_000] {
            assert!(matches!(rig.event(), Some(Event::SettingsReceived { .. })));
            assert_eq!(rig.conn.reported_settings().header_table_size, size);
        }
        assert_eq!(rig.conn.reported_settings(), rig.conn.peer_settings());
    });
}

#[test]
fn settings_of_extensions_are_reported_up_to_a_bound_and_change_nothing() {
    however_it_is_cut(|cut| {
        let mut rig = settled(cut);
        let before = rig.conn.peer_settings();
        let many = (0..40).map(|at| Setting::Extension(0xf000 + at, u32::from(at)));
        rig.sends(&settings_frame(&many.collect::<Vec<_>>()));
        let Some(Event::SettingsReceived { extensions }) = rig.event() else {
            panic!("it is told");
        };
        assert_eq!(extensions.len(), EXTENSION_SETTINGS_MAX);
        assert_eq!(extensions[3], (0xf003, 3));
        assert_eq!(rig.conn.peer_settings(), before);
    });
}

#[test]
fn settings_of_extensions_go_with_the_first_settings_and_with_changes() {
    let config = Config::default()
        .with_frame_events(true)
        .with_extension_settings(vec![(0xf00d, 7)]);
    let mut rig = Rig::fresh(Side::Server, config, Cut::Whole);
    rig.sends(PREFACE);
    let ours = [0xf0, 0x0d, 0, 0, 0, 7];
    let preface = rig.frames();
    assert_eq!(preface[0].kind, kind::SETTINGS);
    assert!(preface[0].payload.ends_with(&ours), "{preface:?}");
    rig.sends(&settings_frame(&[]));
    rig.sends(&settings_ack());
    rig.frames();
    rig.conn
        .change_settings(rig.now, &[Setting::Extension(0xf00d, 7)]);
    let sent = rig.expects(kind::SETTINGS, 0, "a change");
    assert_eq!(sent.payload, ours);
}

#[test]
fn frames_are_reported_only_on_request() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&settings_frame(&[Setting::EnablePush(false)]));
    rig.sends(&ping([7; 8]));
    rig.sends(&goaway(0, H2Code::NO_ERROR));
    rig.no_event("nobody asked");
}

#[test]
fn pings_of_the_peer_are_answered_and_reported() {
    however_it_is_cut(|cut| {
        let mut rig = settled(cut);
        rig.sends(&ping(*b"12345678"));
        rig.expects(kind::PING, 0, "the answer");
        let reported = rig.event();
        assert!(
            matches!(reported, Some(Event::PingReceived { opaque }) if opaque == *b"12345678"),
            "{reported:?}"
        );
        rig.no_event("once");
    });
}

#[test]
fn several_pings_are_distinguished_by_their_bytes() {
    let mut rig = settled(Cut::Whole);
    rig.conn.ping(rig.now, [1; 8]);
    rig.waits(Duration::from_millis(10));
    rig.conn.ping(rig.now, [2; 8]);
    rig.conn.ping(rig.now, [2; 8]);
    assert_eq!(rig.frames().len(), 3);
    rig.waits(Duration::from_millis(5));
    for (byte, time) in [(2, 5), (1, 15), (2, 5)] {
        rig.sends(&pong(&[byte; 8]));
        let reported = rig.event();
        assert!(
            matches!(reported, Some(Event::PongReceived { opaque, round_trip })
                if opaque == [byte; 8] && round_trip == Duration::from_millis(time)),
            "{reported:?}"
        );
    }
    rig.sends(&pong(&[2; 8]));
    let reported = rig.event();
    let ended = Violation::PingAckUnexpected;
    assert!(
        matches!(reported, Some(Event::Closed(Closed::ByUs(why))) if why == ended),
        "there is no fourth: {reported:?}"
    );
}

#[test]
fn a_smaller_window_binds_from_its_acknowledgement_on() {
    let mut rig = settled(Cut::Whole);
    let small = Setting::InitialWindowSize(1000);
    rig.sends(&headers(1, POST, false));
    assert!(rig.conn.change_settings(rig.now, &[small]));
    let sent = rig.expects(kind::SETTINGS, 0, "the change");
    assert_eq!(sent.payload, b"\0\x04\0\0\x03\xe8");
    rig.events();
    rig.sends(&body(1, &[0; 2000], false));
    assert!(matches!(rig.event(), Some(Event::BodyReceived { .. })));
    rig.waits(Duration::from_millis(7));
    rig.sends(&settings_ack());
    assert!(matches!(
        rig.event(),
        Some(Event::SettingsAcknowledged { round_trip }) if round_trip == Duration::from_millis(7)
    ));
    rig.sends(&headers(3, POST, false));
    rig.sends(&body(3, &[0; 1001], false));
    rig.expects_reset(3, H2Code::FLOW_CONTROL_ERROR, "1000 bytes were granted");
}

#[test]
fn a_larger_window_is_for_streams_that_are_open_too() {
    let mut rig = settled(Cut::Whole);
    rig.sends(&headers(1, POST, false));
    rig.conn
        .change_settings(rig.now, &[Setting::InitialWindowSize(100_000)]);
    rig.sends(&settings_ack());
    rig.frames();
    for _ in 0..5 {
        rig.sends(&body(1, &[0; 16_384], false));
    }
    rig.is_quiet("80 KiB are within 100,000 bytes");
    for _ in 0..2 {
        rig.sends(&body(1, &[0; 16_384], false));
    }
    rig.expects_reset(1, H2Code::FLOW_CONTROL_ERROR, "112 KiB are not");
}

#[test]
fn a_limit_on_streams_binds_from_its_acknowledgement_on() {
    let mut rig = settled(Cut::Whole);
    rig.conn
        .change_settings(rig.now, &[Setting::MaxConcurrentStreams(1)]);
    rig.frames();
    rig.sends(&headers(1, POST, false));
    rig.sends(&headers(3, POST, false));
    rig.is_quiet("the client has not seen it");
    rig.sends(&settings_ack());
    rig.sends(&headers(5, POST, false));
    rig.expects_reset(5, H2Code::REFUSED_STREAM, "two are open");
}

#[test]
fn what_does_not_change_is_not_said() {
    let mut rig = settled(Cut::Whole);
    let changes = [
        Setting::EnablePush(true),
        Setting::MaxFrameSize(1 << 20),
        Setting::EnableConnectProtocol(false),
        Setting::NoRfc7540Priorities(false),
    ];
    rig.conn.change_settings(rig.now, &changes);
    let sent = rig.expects(kind::SETTINGS, 0, "an empty frame is acknowledged too");
    assert!(sent.payload.is_empty(), "{sent:?}");
    rig.sends(&settings_ack());
    assert!(matches!(
        rig.event(),
        Some(Event::SettingsAcknowledged { .. })
    ));
    rig.sends(&settings_ack());
    let closed = rig.expects_close(H2Code::PROTOCOL_ERROR, "an answer to nothing");
    assert_eq!(closed, Closed::ByUs(Violation::SettingsAckUnexpected));
}

#[test]
fn a_change_that_is_never_acknowledged_ends_the_connection() {
    let mut rig = settled(Cut::Whole);
    rig.waits(Duration::from_secs(5));
    rig.conn.change_settings(rig.now, &[]);
    rig.waits(Duration::from_millis(9_999));
    assert!(!rig.conn.is_closed());
    rig.waits(Duration::from_millis(1));
    let closed = rig.expects_close(H2Code::SETTINGS_TIMEOUT, "RFC 9113 section 6.5.3");
    assert_eq!(closed, Closed::ByUs(Violation::SettingsTimeout));
}

#[test]
fn goaway_of_a_client_is_reported_with_all_that_it_says() {
    however_it_is_cut(|cut| {
        let mut rig = settled(cut);
        rig.sends(&frame(kind::GOAWAY, 0, 0, b"\0\0\0\x07\0\0\0\x02bye"));
        let Some(Event::GoingAway { code, last, debug }) = rig.event() else {
            panic!("it is told");
        };
        assert_eq!(
            (code, last, &debug[..]),
            (H2Code(2), StreamId(7), &b"bye"[..])
        );
        assert!(!rig.conn.is_closed(), "the client closes");
    });
}

#[test]
fn goaway_in_the_words_of_the_user_leaves_the_connection_open() {
    let mut rig = settled(Cut::Whole);
    rig.sends(&headers(1, GET, true));
    rig.request(1);
    rig.conn.go_away(None, H2Code(0xb), b"calm");
    let sent = rig.expects(kind::GOAWAY, 0, "at once");
    assert_eq!(sent.payload, b"\0\0\0\x01\0\0\0\x0bcalm");
    rig.sends(&headers(3, GET, true));
    rig.no_event("the client knows that 3 is not served");
    rig.respond(1, &[], true);
    assert!(!rig.conn.is_closed());
    rig.frames();
    rig.conn.go_away(Some(9), H2Code::NO_ERROR, &[b'x'; 20_000]);
    let sent = rig.expects(kind::GOAWAY, 0, "again");
    assert_eq!(sent.number(), 1, "what was given up is not taken back");
    assert_eq!(sent.payload.len(), 16_384);
    rig.conn.shut_down(rig.now);
    let sent = rig.expects(kind::GOAWAY, 0, "nothing can cross");
    assert_eq!((sent.number(), sent.code()), (1, H2Code::NO_ERROR));
    assert!(rig.conn.is_closed());
}

#[test]
fn the_window_of_a_connection_moves_both_ways() {
    let mut rig = settled(Cut::Whole);
    let now = rig.now;
    let window = rig.conn.connection_window().window;
    assert_eq!(rig.conn.move_connection_window(now, window + 1), Ok(()));
    let raised = rig.expects(kind::WINDOW_UPDATE, 0, "at once");
    assert_eq!(raised.number(), 1);
    assert_eq!(rig.conn.move_connection_window(now, 70_000), Ok(()));
    rig.is_quiet("what is granted cannot be taken back");
    assert_eq!(rig.conn.connection_window().window, 70_000);
    for refused in [0, 1 << 31] {
        let answer = rig.conn.move_connection_window(now, refused);
        assert!(matches!(answer, Err(Misuse::WindowInvalid(_))), "{refused}");
    }
}

#[test]
fn a_server_announces_other_places_and_origins() {
    let mut rig = settled(Cut::Whole);
    let elsewhere = AltSvcFrame {
        stream: 0,
        origin: b"https://a.example",
        value: b"h3=\":1\"",
    };
    assert_eq!(rig.conn.announce_alt_svc(elsewhere), Ok(()));
    rig.expects(kind::ALTSVC, 0, "with its origin");
    let nowhere = AltSvcFrame {
        origin: b"",
        ..elsewhere
    };
    assert_eq!(rig.conn.announce_alt_svc(nowhere), Ok(()));
    rig.is_quiet("a client would ignore it");
    assert_eq!(rig.conn.announce_origins(&["https://a.example"]), Ok(()));
    rig.expects(kind::ORIGIN, 0, "one origin");
    let long = vec![b'a'; 16_383];
    assert_eq!(rig.conn.announce_origins(&[long]), Err(Misuse::BodyLength));
    let mut client = Rig::client(Cut::Whole);
    assert_eq!(
        client.conn.announce_alt_svc(elsewhere),
        Err(Misuse::WrongSide)
    );
    client.is_quiet("a client has nothing to announce");
}

#[test]
fn the_size_of_the_table_is_said_and_binds_from_its_acknowledgement_on() {
    let mut config = Config::default();
    config.limits.header_table_bytes_max = 0;
    let mut rig = Rig::fresh(Side::Server, config, Cut::Whole);
    let sent = rig.frames().remove(0);
    assert!(
        sent.payload
            .windows(6)
            .any(|sent| sent == b"\0\x01\0\0\0\0")
    );
    rig.sends(PREFACE);
    rig.sends(&settings_frame(&[]));
    rig.sends(&headers(1, GET, true));
    rig.request(1);
    rig.sends(&settings_ack());
    rig.frames();
    rig.sends(&headers(3, GET, true));
    rig.expects_close(
        H2Code::COMPRESSION_ERROR,
        "RFC 7541 section 4.2: the new size is due",
    );
}

#[test]
fn the_accounts_of_a_connection_are_those_of_now() {
    let mut rig = settled(Cut::Whole);
    let before = rig.conn.accounts();
    assert_eq!((before.last_peer_stream, before.unread), (0, 0));
    assert_eq!(before.receivable, u64::from(before.receive_window));
    assert_eq!(before.sendable, 65_535);
    rig.sends(&headers(1, POST, false));
    rig.sends(&body(1, &[0; 1000], false));
    rig.respond(1, &[], false);
    rig.send(1, vec![0; 100], false);
    let queued = rig.conn.accounts();
    assert_eq!((queued.last_peer_stream, queued.unread), (1, 1000));
    assert_eq!(queued.receivable, before.receivable - 1000);
    assert_eq!((queued.streams_sending, queued.sendable), (1, 65_535));
    rig.frames();
    let sent = rig.conn.accounts();
    assert_eq!((sent.streams_sending, sent.sendable), (0, 65_435));
}
