//! Connection events and control frames of the callback API, and its back-pressure.

use super::frames::{Frame, FramePeer, GET, kind};
use super::stage::{Attended, Heard, Teller, says, whole};
use super::support::Peer;
use bytes::Bytes;
use std::rc::Rc;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use trunkline::core::error::H2Code;
use trunkline::core::h2::frame::Setting;
use trunkline::core::http::Version;
use trunkline::server::{Ended, Said};
use trunkline::{Server, ServerConfig, server};

#[test]
fn a_drain_waits_for_the_exchange_and_ends_the_connection() {
    let server = Attended::new(|_, _, _| {});
    let mut peer = FramePeer::connect(server.address);
    peer.says(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    assert_eq!(server.hears(), Heard::Connected(Version::Http2));
    assert_eq!(server.hears(), Heard::Requested("/".into(), true));
    server.does(|attending, _| attending.drain(Duration::from_secs(60)));
    peer.hears(kind::GOAWAY);
    server.does(|_, lines| {
        let (line, place) = &lines[0];
        line.answer(Instant::now(), *place, says(whole("last")));
    });
    assert_eq!(peer.hears(kind::DATA).payload, b"last");
    assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
    assert_eq!(server.hears(), Heard::Disconnected);
}

#[test]
fn a_connection_is_told_when_its_version_is_known_and_not_with_its_first_request() {
    let server = Attended::new(|_, _, _| {});
    let peer = FramePeer::connect(server.address);
    assert_eq!(server.hears(), Heard::Connected(Version::Http2));
    drop(peer);
    assert_eq!(server.hears(), Heard::Disconnected);
}

#[test]
fn an_access_log_is_refused_because_nobody_would_write_it() {
    let server = Server::bind("127.0.0.1:0").access_log(|_| {});
    let (heard, _) = mpsc::channel();
    let teller = Teller {
        heard,
        does: Rc::new(|_, _, _| {}),
        lines: Rc::default(),
        behind: Rc::default(),
    };
    let refused = server.listen().unwrap().attend(teller).err().unwrap();
    assert!(refused.to_string().contains("access_log"), "{refused}");
}

#[test]
fn an_exchange_is_reset_a_connection_pinged_shut_down_and_aborted_by_order() {
    let server = Attended::new(|_, _, _| {});
    let mut peer = FramePeer::connect(server.address);
    for stream in [1, 3] {
        peer.says(&Frame::new(kind::HEADERS, 0x5, stream, GET));
    }
    server.hears_a_request(Version::Http2, "/");
    assert_eq!(server.hears(), Heard::Requested("/".into(), true));
    server.does(|_, lines| {
        let (line, place) = &lines[0];
        line.reset(*place, H2Code::ENHANCE_YOUR_CALM);
        line.say(Said::Ping([7; 8]));
    });
    let reset = peer.hears(kind::RST_STREAM);
    assert_eq!((reset.stream, &reset.payload[..]), (1, &[0, 0, 0, 11][..]));
    let (code, by_peer) = (H2Code::ENHANCE_YOUR_CALM, false);
    assert_eq!(server.hears(), Heard::Ended(Ended::Reset { code, by_peer }));
    let ping = peer.hears(kind::PING);
    peer.says(&Frame::new(kind::PING, 0x1, 0, &ping.payload));
    let said = server.hears();
    assert!(
        matches!(said, Heard::Said(server::Heard::Pong(bytes, _)) if bytes == [7; 8]),
        "{said:?}"
    );
    server.does(|_, lines| lines[0].0.shut_down());
    let warned = peer.hears(kind::GOAWAY);
    assert_eq!(warned.payload[4..], [0; 4], "no error");
    server.does(|_, lines| lines[0].0.abort(H2Code::INTERNAL_ERROR));
    while peer.hears(kind::GOAWAY).payload[4..] != [0, 0, 0, 2] {}
    assert!(matches!(server.hears(), Heard::Ended(Ended::Reset { .. })));
    assert_eq!(server.hears(), Heard::Disconnected);
}

#[test]
fn who_does_not_keep_up_is_told_nothing_more_and_what_it_answers_goes_out() {
    let server = Attended::new(|_, _, _| {});
    let mut other = FramePeer::connect(server.address);
    other.says(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    assert_eq!(server.hears(), Heard::Connected(Version::Http2));
    assert_eq!(server.hears(), Heard::Requested("/".into(), true));
    let mut peer = Peer::connect(server.address);
    peer.says("GET /too-much HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(server.hears(), Heard::Connected(Version::Http11));
    assert_eq!(server.hears(), Heard::Requested("/too-much".into(), true));
    // On an open connection of either version, and on one that is not accepted yet.
    other.says(&Frame::new(kind::HEADERS, 0x5, 3, GET));
    peer.says("GET /more HTTP/1.1\r\nhost: a\r\n\r\n");
    let mut late = Peer::connect(server.address);
    late.says("GET /late HTTP/1.1\r\nhost: a\r\n\r\n");
    server.does(|_, lines| {
        for (line, place) in lines {
            line.answer(Instant::now(), *place, says(whole("hi")));
        }
    });
    assert_eq!(other.hears(kind::DATA).payload, b"hi");
    peer.hears_until("hi");
    assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
    assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
    server.heard_nothing();
    server.keeps_up();
    let mut heard: Vec<String> = (0..4).map(|_| format!("{:?}", server.hears())).collect();
    heard.sort();
    assert_eq!(
        heard,
        [
            "Connected(Http11)",
            "Requested(\"/\", true)",
            "Requested(\"/late\", true)",
            "Requested(\"/more\", true)"
        ]
    );
}

#[test]
fn the_time_in_which_nobody_reads_is_not_held_against_the_peers() {
    let mut config = ServerConfig::default();
    let limit = Duration::from_millis(200);
    config.timeouts.body_idle = Some(limit);
    let server = Attended::serving(Server::bind("127.0.0.1:0").config(config), |_, _, _| {});
    let mut peer = Peer::connect(server.address);
    peer.says("POST /too-much HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n");
    assert_eq!(server.hears(), Heard::Connected(Version::Http11));
    assert_eq!(server.hears(), Heard::Requested("/too-much".into(), false));
    peer.says("body");
    let silence = server.heard.recv_timeout(3 * limit);
    assert_eq!(silence, Err(mpsc::RecvTimeoutError::Timeout));
    server.keeps_up();
    assert_eq!(server.hears(), Heard::Body(b"body".to_vec(), true));
}

/// A server with frame events.
fn frame_events() -> ServerConfig {
    ServerConfig {
        frame_events: true,
        ..ServerConfig::default()
    }
}

/// The peer's control frame, other events skipped.
fn said(server: &Attended) -> server::Heard {
    loop {
        if let Heard::Said(said) = server.hears() {
            return said;
        }
    }
}

#[test]
fn both_ends_say_what_they_have_to_say_of_the_connection() {
    let server = Attended::serving(
        Server::bind("127.0.0.1:0").config(frame_events()),
        |line, _, _| {
            line.say(Said::Ping(*b"12345678"));
            line.say(Said::Settings(vec![Setting::InitialWindowSize(9)]));
            line.say(Said::Origins(vec![Bytes::from("https://a.example")]));
            line.say(Said::Goaway {
                last: None,
                code: H2Code(11),
                debug: Bytes::from("calm"),
            });
        },
    );
    let mut peer = FramePeer::connect(server.address);
    peer.says(&Frame::new(kind::PING, 0, 0, b"abcdefgh"));
    peer.says(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    assert!(matches!(said(&server), server::Heard::Settings(_)));
    assert_eq!(said(&server), server::Heard::Ping(*b"abcdefgh"));
    assert_eq!(peer.hears(kind::PING).flags, 1);
    assert_eq!(peer.hears(kind::PING).payload, b"12345678");
    peer.says(&Frame::new(kind::PING, 1, 0, b"12345678"));
    assert_eq!(peer.hears(kind::SETTINGS).payload, b"\0\x04\0\0\0\x09");
    assert_eq!(peer.hears(kind::ORIGIN).payload, b"\0\x11https://a.example");
    let goaway = peer.hears(kind::GOAWAY);
    assert_eq!(goaway.payload, b"\0\0\0\x01\0\0\0\x0bcalm");
    let acknowledged = |said| matches!(said, server::Heard::SettingsAcknowledged(_));
    assert!(acknowledged(said(&server)), "the preface's");
    assert!(matches!(said(&server), server::Heard::Pong(bytes, _) if bytes == *b"12345678"));
    assert!(acknowledged(said(&server)), "the change");
    peer.says(&Frame::new(kind::GOAWAY, 0, 0, b"\0\0\0\0\0\0\0\x02bye"));
    let (code, last, debug) = (H2Code(2), 0, Bytes::from("bye"));
    assert_eq!(said(&server), server::Heard::Goaway { code, last, debug });
}

#[test]
fn settings_that_are_changed_while_a_server_listens_reach_who_connects_then() {
    let server = Attended::new(|_, _, _| {});
    let announced = |bytes: &[u8]| {
        let (settings, _) = bytes.as_chunks::<6>();
        settings.contains(b"\0\x03\0\0\0\x07")
    };
    let mut before = FramePeer::connect(server.address);
    assert!(!announced(&before.hears(kind::SETTINGS).payload));
    let (done, is_done) = mpsc::channel();
    server.does(move |attending, _| {
        let mut config = ServerConfig::default();
        config.limits.concurrent_streams_max = 7;
        attending.configure(&config).unwrap();
        config.windows.connection = 0;
        assert!(attending.configure(&config).is_err());
        done.send(()).unwrap();
    });
    is_done.recv().unwrap();
    let mut after = FramePeer::connect(server.address);
    assert!(announced(&after.hears(kind::SETTINGS).payload));
}
