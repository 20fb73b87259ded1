//! Connection events and control frames of the callback API, and its back-pressure.

use super::stage::{Recorded, Recorder, TestServer, sends, whole};
use crate::support::frame_client::{Frame, FramePeer, GET, kind};
use crate::support::peer::Peer;
use bytes::Bytes;
use std::io::ErrorKind;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use trunkline::core::error::H2Code;
use trunkline::core::h2::frame::Setting;
use trunkline::core::http::Version;
use trunkline::server::{ControlCommand, Ended};
use trunkline::{Server, ServerConfig, server};

#[test]
fn a_drain_waits_for_the_exchange_and_ends_the_connection() {
    let server = TestServer::new(|_, _, _| {});
    let mut peer = FramePeer::connect(server.address);
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    assert_eq!(server.receives(), Recorded::Connected(Version::Http2));
    assert_eq!(server.receives(), Recorded::Requested("/".into(), true));
    server.does(|server_handle, _| server_handle.drain(Duration::from_secs(60)));
    peer.receives(kind::GOAWAY);
    server.does(|_, connections_open| {
        let (commands, handle) = &connections_open[0];
        commands.answer(Instant::now(), *handle, sends(whole("last")));
    });
    assert_eq!(peer.receives(kind::DATA).payload, b"last");
    assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
    assert_eq!(server.receives(), Recorded::Disconnected);
}

#[test]
fn a_connection_is_reported_when_its_version_is_known_and_not_with_its_first_request() {
    let server = TestServer::new(|_, _, _| {});
    let peer = FramePeer::connect(server.address);
    assert_eq!(server.receives(), Recorded::Connected(Version::Http2));
    drop(peer);
    assert_eq!(server.receives(), Recorded::Disconnected);
}

#[test]
fn a_transport_that_the_peer_resets_is_reported_once_before_the_end_of_its_exchange() {
    let server = TestServer::new(|_, _, _| {});
    let mut peer = Peer::connect(server.address);
    peer.sends("GET /h1 HTTP/1.1\r\nhost: a\r\n\r\n");
    server.receives_a_request(Version::Http11, "/h1");
    peer.resets();
    assert!(matches!(server.receives(), Recorded::Ended(_)));
    let failures = server.failures.lock().unwrap().clone();
    assert_eq!(failures, [ErrorKind::ConnectionReset]);
    assert_eq!(server.receives(), Recorded::Disconnected);
    assert_eq!(server.failures.lock().unwrap().len(), 1);
}

#[test]
fn an_access_log_is_refused_because_nobody_would_write_it() {
    let server = Server::bind("127.0.0.1:0").access_log(|_| {});
    let (received, _) = mpsc::channel();
    let recorder = Recorder {
        received,
        does: Rc::new(|_, _, _| {}),
        connections_open: Rc::default(),
        behind: Rc::default(),
        failures: Arc::default(),
    };
    let refused = server
        .listen()
        .unwrap()
        .serve_callbacks(recorder)
        .err()
        .unwrap();
    assert!(refused.to_string().contains("access_log"), "{refused}");
}

#[test]
fn an_exchange_is_reset_a_connection_pinged_shut_down_and_aborted_by_order() {
    let server = TestServer::new(|_, _, _| {});
    let mut peer = FramePeer::connect(server.address);
    for stream in [1, 3] {
        peer.sends(&Frame::new(kind::HEADERS, 0x5, stream, GET));
    }
    server.receives_a_request(Version::Http2, "/");
    assert_eq!(server.receives(), Recorded::Requested("/".into(), true));
    server.does(|_, connections_open| {
        let (commands, handle) = &connections_open[0];
        commands.reset(*handle, H2Code::ENHANCE_YOUR_CALM);
        commands.send_control(ControlCommand::Ping([7; 8]));
    });
    let reset = peer.receives(kind::RST_STREAM);
    assert_eq!((reset.stream, &reset.payload[..]), (1, &[0, 0, 0, 11][..]));
    let (code, by_peer) = (H2Code::ENHANCE_YOUR_CALM, false);
    assert_eq!(
        server.receives(),
        Recorded::Ended(Ended::Reset { code, by_peer })
    );
    let ping = peer.receives(kind::PING);
    peer.sends(&Frame::new(kind::PING, 0x1, 0, &ping.payload));
    let control_event = server.receives();
    assert!(
        matches!(control_event, Recorded::Control(server::PeerEvent::Pong(bytes, _)) if bytes == [7; 8]),
        "{control_event:?}"
    );
    server.does(|_, connections_open| connections_open[0].0.shut_down());
    let warned = peer.receives(kind::GOAWAY);
    assert_eq!(warned.payload[4..], [0; 4], "no error");
    server.does(|_, connections_open| connections_open[0].0.abort(H2Code::INTERNAL_ERROR));
    while peer.receives(kind::GOAWAY).payload[4..] != [0, 0, 0, 2] {}
    assert!(matches!(
        server.receives(),
        Recorded::Ended(Ended::Reset { .. })
    ));
    assert_eq!(server.receives(), Recorded::Disconnected);
}

#[test]
fn who_does_not_keep_up_gets_no_more_events_and_what_it_answers_goes_out() {
    let server = TestServer::new(|_, _, _| {});
    let mut other = FramePeer::connect(server.address);
    other.sends(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    assert_eq!(server.receives(), Recorded::Connected(Version::Http2));
    assert_eq!(server.receives(), Recorded::Requested("/".into(), true));
    let mut peer = Peer::connect(server.address);
    peer.sends("GET /too-much HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(server.receives(), Recorded::Connected(Version::Http11));
    assert_eq!(
        server.receives(),
        Recorded::Requested("/too-much".into(), true)
    );
    // On an open connection of either version, and on one that is not accepted yet.
    other.sends(&Frame::new(kind::HEADERS, 0x5, 3, GET));
    peer.sends("GET /more HTTP/1.1\r\nhost: a\r\n\r\n");
    let mut late = Peer::connect(server.address);
    late.sends("GET /late HTTP/1.1\r\nhost: a\r\n\r\n");
    server.does(|_, connections_open| {
        for (commands, handle) in connections_open {
            commands.answer(Instant::now(), *handle, sends(whole("hi")));
        }
    });
    assert_eq!(other.receives(kind::DATA).payload, b"hi");
    peer.receives_until("hi");
    assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
    assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
    server.received_nothing();
    server.keeps_up();
    let mut received: Vec<String> = (0..4).map(|_| format!("{:?}", server.receives())).collect();
    received.sort();
    assert_eq!(
        received,
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
    let server = TestServer::serving(Server::bind("127.0.0.1:0").config(config), |_, _, _| {});
    let mut peer = Peer::connect(server.address);
    peer.sends("POST /too-much HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\n");
    assert_eq!(server.receives(), Recorded::Connected(Version::Http11));
    assert_eq!(
        server.receives(),
        Recorded::Requested("/too-much".into(), false)
    );
    peer.sends("body");
    let silence = server.received.recv_timeout(3 * limit);
    assert_eq!(silence, Err(mpsc::RecvTimeoutError::Timeout));
    server.keeps_up();
    assert_eq!(server.receives(), Recorded::Body(b"body".to_vec(), true));
}

/// A server with frame events.
fn frame_events() -> ServerConfig {
    ServerConfig::default().with_frame_events(true)
}

/// The peer's control frame, other events skipped.
fn control_event(server: &TestServer) -> server::PeerEvent {
    loop {
        if let Recorded::Control(control_event) = server.receives() {
            return control_event;
        }
    }
}

#[test]
fn both_ends_say_what_they_have_to_say_of_the_connection() {
    let server = TestServer::serving(
        Server::bind("127.0.0.1:0").config(frame_events()),
        |commands, _, _| {
            commands.send_control(ControlCommand::Ping(*b"12345678"));
            commands.send_control(ControlCommand::Settings(vec![Setting::InitialWindowSize(
                9,
            )]));
            commands.send_control(ControlCommand::Origins(vec![Bytes::from(
                "https://a.example",
            )]));
            commands.send_control(ControlCommand::Goaway {
                last: None,
                code: H2Code(11),
                debug: Bytes::from("calm"),
            });
        },
    );
    let mut peer = FramePeer::connect(server.address);
    peer.sends(&Frame::new(kind::PING, 0, 0, b"abcdefgh"));
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    assert!(matches!(
        control_event(&server),
        server::PeerEvent::Settings { .. }
    ));
    assert_eq!(
        control_event(&server),
        server::PeerEvent::Ping(*b"abcdefgh")
    );
    assert_eq!(peer.receives(kind::PING).flags, 1);
    assert_eq!(peer.receives(kind::PING).payload, b"12345678");
    peer.sends(&Frame::new(kind::PING, 1, 0, b"12345678"));
    assert_eq!(peer.receives(kind::SETTINGS).payload, b"\0\x04\0\0\0\x09");
    assert_eq!(
        peer.receives(kind::ORIGIN).payload,
        b"\0\x11https://a.example"
    );
    let goaway = peer.receives(kind::GOAWAY);
    assert_eq!(goaway.payload, b"\0\0\0\x01\0\0\0\x0bcalm");
    let acknowledged =
        |control_event| matches!(control_event, server::PeerEvent::SettingsAcknowledged(_));
    assert!(acknowledged(control_event(&server)), "the preface's");
    assert!(
        matches!(control_event(&server), server::PeerEvent::Pong(bytes, _) if bytes == *b"12345678")
    );
    assert!(acknowledged(control_event(&server)), "the change");
    peer.sends(&Frame::new(kind::GOAWAY, 0, 0, b"\0\0\0\0\0\0\0\x02bye"));
    let (code, last, debug) = (H2Code(2), 0, Bytes::from("bye"));
    assert_eq!(
        control_event(&server),
        server::PeerEvent::Goaway { code, last, debug }
    );
}

#[test]
fn settings_that_are_changed_while_a_server_listens_reach_who_connects_then() {
    let server = TestServer::new(|_, _, _| {});
    let announced = |bytes: &[u8]| {
        let (settings, _) = bytes.as_chunks::<6>();
        settings.contains(b"\0\x03\0\0\0\x07")
    };
    let mut before = FramePeer::connect(server.address);
    assert!(!announced(&before.receives(kind::SETTINGS).payload));
    let (done, is_done) = mpsc::channel();
    server.does(move |server_handle, _| {
        let mut config = ServerConfig::default();
        config.limits.concurrent_streams_max = 7;
        server_handle.configure(&config).unwrap();
        config.windows.connection = 0;
        assert!(server_handle.configure(&config).is_err());
        done.send(()).unwrap();
    });
    is_done.recv().unwrap();
    let mut after = FramePeer::connect(server.address);
    assert!(announced(&after.receives(kind::SETTINGS).payload));
}
