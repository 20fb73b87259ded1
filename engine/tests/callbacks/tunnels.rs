//! Connections and streams that leave HTTP.

use super::stage::{GET_A_PATH, Recorded, TestServer, sends, whole};
use crate::support::frame_client::{Frame, FramePeer, GET, kind};
use crate::support::peer::Peer;
use bytes::Bytes;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use trunkline::core::error::H2Code;
use trunkline::core::http::Version;
use trunkline::core::limits::UNREAD_BODY_BYTES_MAX;
use trunkline::server::{Answer, ConnectionHandle, Ended, ResponseBody, StreamHandle};
use trunkline::{Server, ServerConfig};

/// `CONNECT a:1`.
const CONNECT: &[u8] = &[
    0x02, 0x07, b'C', b'O', b'N', b'N', b'E', b'C', b'T', 0x01, 0x03, b'a', b':', b'1',
];

#[test]
fn a_connection_that_leaves_http_is_its_exchanges_bytes() {
    let server = TestServer::new(|commands, handle, _| {
        let answer = Answer {
            status: 101,
            fields: b"connection\0upgrade\0upgrade\0echo",
            ..sends(ResponseBody::Streaming)
        };
        commands.answer(Instant::now(), handle, answer);
        commands.send(handle, Bytes::from("first"), false);
    });
    let mut peer = Peer::connect(server.address);
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nrest");
    assert_eq!(
        peer.receives_until("first"),
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nfirst"
    );
    assert_eq!(server.receives(), Recorded::Connected(Version::Http11));
    assert_eq!(server.receives(), Recorded::Requested("/".into(), true));
    let mut received = [server.receives(), server.receives()];
    received.sort_by_key(|received| matches!(received, Recorded::Room(_)));
    assert_eq!(received[0], Recorded::Body(b"rest".to_vec(), false));
    assert_eq!(received[1], Recorded::Room(5));
    server.does(|_, connections_open| {
        let (commands, handle) = &connections_open[0];
        commands.take(*handle, 4);
        commands.send(*handle, Bytes::from("last"), true);
    });
    assert_eq!(peer.receives_to_the_end(), "last");
    assert_eq!(server.receives(), Recorded::Room(4));
    drop(peer);
    assert_eq!(server.receives(), Recorded::Body(Vec::new(), true));
    assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
    assert_eq!(server.receives(), Recorded::Disconnected);
}

#[test]
fn what_was_sent_before_a_reset_of_the_same_turn_leaves_a_connection_that_leaves_http() {
    let server = TestServer::new(|commands, handle, path| {
        leaves(commands, handle, path);
        commands.send(
            handle,
            Bytes::from(vec![b'x'; UNREAD_BODY_BYTES_MAX]),
            false,
        );
        commands.send(handle, Bytes::from("last"), false);
        commands.reset(handle, H2Code::CANCEL);
    });
    let mut peer = Peer::connect(server.address);
    peer.sends(UPGRADE);
    let head = peer.receives_until("\r\n\r\n");
    let text = head + &peer.receives_to_the_end();
    let bytes = text.split_once("\r\n\r\n").unwrap().1;
    assert_eq!(bytes.len(), UNREAD_BODY_BYTES_MAX + "last".len());
    assert!(bytes.ends_with("last"));
}

#[test]
fn a_2xx_to_connect_says_no_length() {
    let server = TestServer::new(|commands, handle, _| {
        let answer = Answer {
            fields: b"",
            ..sends(whole("hi"))
        };
        commands.answer(Instant::now(), handle, answer);
    });
    let mut peer = FramePeer::connect(server.address);
    peer.sends(&Frame::new(kind::HEADERS, 0x4, 1, CONNECT));
    assert_eq!(peer.receives(kind::HEADERS).payload, [0x88], ":status: 200");
    assert_eq!(peer.receives(kind::DATA).payload, b"hi");
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 3, GET));
    assert_ne!(peer.receives(kind::HEADERS).payload, [0x88]);
}

/// Answers everything by leaving HTTP.
fn leaves(commands: &ConnectionHandle, handle: StreamHandle, _: &str) {
    let answer = Answer {
        status: 101,
        fields: b"connection\0upgrade\0upgrade\0echo",
        ..sends(ResponseBody::Streaming)
    };
    commands.answer(Instant::now(), handle, answer);
}

const UPGRADE: &str = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";

/// A connection that has left HTTP.
fn a_tunnel(server: &TestServer) -> Peer {
    let mut peer = Peer::connect(server.address);
    peer.sends(UPGRADE);
    peer.receives_until("\r\n\r\n");
    server.receives_a_request(Version::Http11, "/");
    peer
}

/// Asks the server how many of its connections are open.
fn open(server: &TestServer) -> u64 {
    let (expects, reported) = mpsc::channel();
    server.does(move |server_handle, _| {
        expects
            .send(server_handle.metrics().connections_open)
            .unwrap()
    });
    reported.recv().unwrap()
}

#[test]
fn a_drain_waits_for_tunnels_and_ends_with_the_last() {
    let server = TestServer::new(leaves);
    let peers = [a_tunnel(&server), a_tunnel(&server)];
    assert_eq!(open(&server), 2);
    server.does(|server_handle, _| server_handle.drain(Duration::MAX));
    for (at, mut peer) in peers.into_iter().enumerate() {
        server.does(move |_, connections_open| {
            let (commands, handle) = &connections_open[at];
            commands.shut_down();
            commands.send(*handle, Bytes::from("still"), true);
        });
        assert_eq!(peer.receives_to_the_end(), "still");
        drop(peer);
        assert_eq!(server.receives(), Recorded::Room(5));
        assert_eq!(server.receives(), Recorded::Body(Vec::new(), true));
        assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
        assert_eq!(server.receives(), Recorded::Disconnected);
    }
    assert_eq!(server.receives(), Recorded::Over);
    assert_eq!(open(&server), 0);
}

#[test]
fn a_drain_cuts_at_the_earliest_deadline_that_was_set() {
    let server = TestServer::new(|commands, handle, path| {
        if path == "/" {
            leaves(commands, handle, path);
        }
    });
    let mut tunnel = a_tunnel(&server);
    let mut peer = FramePeer::connect(server.address);
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 1, GET_A_PATH));
    server.receives_a_request(Version::Http2, "/p");
    let hour = Duration::from_secs(3600);
    server.does(move |server_handle, _| {
        for deadline in [hour, Duration::ZERO, hour] {
            server_handle.drain(deadline);
        }
    });
    assert_eq!(tunnel.receives_to_the_end(), "");
    let mut received = Vec::new();
    while received.last() != Some(&Recorded::Over) {
        received.push(server.receives());
    }
    let (code, by_us) = (H2Code::CANCEL, false);
    let cut = Recorded::Ended(Ended::Reset {
        code,
        by_peer: by_us,
    });
    assert!(received.contains(&cut), "{received:?}");
    let ended = received
        .iter()
        .filter(|it| matches!(it, Recorded::Ended(_)));
    assert_eq!(ended.count(), 2, "{received:?}");
}

#[test]
fn a_peer_that_takes_nothing_of_a_tunnel_is_given_up() {
    let mut config = ServerConfig::default();
    config.timeouts.write_stall = Some(Duration::from_millis(50));
    let server = TestServer::serving(Server::bind("127.0.0.1:0").config(config), leaves);
    let peer = a_tunnel(&server);
    server.does(|_, connections_open| {
        let (commands, handle) = &connections_open[0];
        // No socket holds as much.
        for _ in 0..64 {
            commands.send(*handle, Bytes::from(vec![0; 1 << 20]), false);
        }
    });
    let how = loop {
        match server.receives() {
            Recorded::Room(_) => {}
            other => break other,
        }
    };
    let (code, by_peer) = (H2Code::CANCEL, true);
    assert_eq!(how, Recorded::Ended(Ended::Reset { code, by_peer }));
    assert_eq!(server.receives(), Recorded::Disconnected);
    drop(peer);
}

#[test]
fn what_is_not_taken_of_a_request_counts_for_its_tunnel_too() {
    const BODY: usize = 200 * 1024;
    /// The most bytes reported and not taken, and a last read.
    const REPORTED_MAX: usize = UNREAD_BODY_BYTES_MAX + 32 * 1024;
    let server = TestServer::new(leaves);
    let mut peer = Peer::connect(server.address);
    let head = UPGRADE.replace("GET", "POST").replace("\r\n\r\n", "\r\n");
    peer.sends(format!("{head}content-length: {BODY}\r\n\r\n"));
    peer.sends(vec![0; BODY]);
    peer.receives_until("\r\n\r\n");
    let mut sends = peer.another();
    let writer = thread::spawn(move || sends.sends_what_it_can(vec![1; 1 << 20]));
    let mut reported = 0;
    let mut receives = |least: usize| {
        while reported < least {
            if let Recorded::Body(data, _) = server.receives() {
                reported += data.len();
            }
        }
        while let Ok(Recorded::Body(data, _)) = server.received.try_recv() {
            reported += data.len();
        }
        reported
    };
    let sends = |text: &'static str| {
        server.does(move |_, connections_open| {
            connections_open[0]
                .0
                .send(connections_open[0].1, Bytes::from(text), false)
        });
    };
    assert!(receives(UNREAD_BODY_BYTES_MAX) <= REPORTED_MAX);
    server.does(|_, connections_open| connections_open[0].0.take(connections_open[0].1, BODY));
    sends("on");
    peer.receives_until("on");
    assert!(receives(UNREAD_BODY_BYTES_MAX + BODY) <= REPORTED_MAX + BODY);
    drop(server);
    drop(peer);
    writer.join().unwrap();
}

#[test]
fn what_is_ordered_for_a_connection_that_is_closed_is_forgotten() {
    struct DropSignal(mpsc::Sender<()>);
    impl AsRef<[u8]> for DropSignal {
        fn as_ref(&self) -> &[u8] {
            b"held"
        }
    }
    impl Drop for DropSignal {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let server = TestServer::new(|commands, handle, path| {
        if path == "/" {
            leaves(commands, handle, path);
        }
    });
    let tunnel = a_tunnel(&server);
    drop(tunnel);
    assert_eq!(server.receives(), Recorded::Body(Vec::new(), true));
    let mut peer = Peer::connect(server.address);
    peer.sends("GET /open HTTP/1.1\r\nhost: a\r\n\r\n");
    server.receives_a_request(Version::Http11, "/open");
    server.does(|_, connections_open| connections_open[1].0.abort(H2Code::CANCEL));
    assert!(matches!(
        server.receives(),
        Recorded::Ended(Ended::Reset { .. })
    ));
    assert_eq!(server.receives(), Recorded::Disconnected);
    // The tunnel ends with what is ordered for it.
    server.does(|_, connections_open| {
        connections_open[0]
            .0
            .send(connections_open[0].1, Bytes::new(), true)
    });
    assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
    assert_eq!(server.receives(), Recorded::Disconnected);
    for at in 0..2 {
        let (dropped, drops) = mpsc::channel();
        server.does(move |_, connections_open| {
            let (commands, handle) = &connections_open[at];
            commands.send(*handle, Bytes::from_owner(DropSignal(dropped)), true);
        });
        drops.recv_timeout(Duration::from_secs(60)).unwrap();
    }
}
