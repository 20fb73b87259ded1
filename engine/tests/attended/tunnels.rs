//! Connections and streams that leave HTTP.

use super::frames::{Frame, FramePeer, GET, kind};
use super::stage::{Attended, GET_A_PATH, Heard, says, whole};
use super::support::Peer;
use bytes::Bytes;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use trunkline::core::error::H2Code;
use trunkline::core::http::Version;
use trunkline::core::limits::UNREAD_BODY_BYTES_MAX;
use trunkline::server::{Answer, Ended, Given, Line, Place};
use trunkline::{Server, ServerConfig};

/// `CONNECT a:1`.
const CONNECT: &[u8] = &[
    0x02, 0x07, b'C', b'O', b'N', b'N', b'E', b'C', b'T', 0x01, 0x03, b'a', b':', b'1',
];

#[test]
fn a_connection_that_leaves_http_is_its_exchanges_bytes() {
    let server = Attended::new(|line, place, _| {
        let answer = Answer {
            status: 101,
            fields: b"connection\0upgrade\0upgrade\0echo",
            ..says(Given::Streaming)
        };
        line.answer(Instant::now(), place, answer);
        line.send(place, Bytes::from("first"), false);
    });
    let mut peer = Peer::connect(server.address);
    peer.says("GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nrest");
    assert_eq!(
        peer.hears_until("first"),
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nfirst"
    );
    assert_eq!(server.hears(), Heard::Connected(Version::Http11));
    assert_eq!(server.hears(), Heard::Requested("/".into(), true));
    let mut heard = [server.hears(), server.hears()];
    heard.sort_by_key(|heard| matches!(heard, Heard::Room(_)));
    assert_eq!(heard[0], Heard::Body(b"rest".to_vec(), false));
    assert_eq!(heard[1], Heard::Room(5));
    server.does(|_, lines| {
        let (line, place) = &lines[0];
        line.take(*place, 4);
        line.send(*place, Bytes::from("last"), true);
    });
    assert_eq!(peer.hears_to_the_end(), "last");
    assert_eq!(server.hears(), Heard::Room(4));
    drop(peer);
    assert_eq!(server.hears(), Heard::Body(Vec::new(), true));
    assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
    assert_eq!(server.hears(), Heard::Disconnected);
}

#[test]
fn a_2xx_to_connect_says_no_length() {
    let server = Attended::new(|line, place, _| {
        let answer = Answer {
            fields: b"",
            ..says(whole("hi"))
        };
        line.answer(Instant::now(), place, answer);
    });
    let mut peer = FramePeer::connect(server.address);
    peer.says(&Frame::new(kind::HEADERS, 0x4, 1, CONNECT));
    assert_eq!(peer.hears(kind::HEADERS).payload, [0x88], ":status: 200");
    assert_eq!(peer.hears(kind::DATA).payload, b"hi");
    peer.says(&Frame::new(kind::HEADERS, 0x5, 3, GET));
    assert_ne!(peer.hears(kind::HEADERS).payload, [0x88]);
}

/// Answers everything by leaving HTTP.
fn leaves(line: &Line, place: Place, _: &str) {
    let answer = Answer {
        status: 101,
        fields: b"connection\0upgrade\0upgrade\0echo",
        ..says(Given::Streaming)
    };
    line.answer(Instant::now(), place, answer);
}

const UPGRADE: &str = "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";

/// A connection that has left HTTP.
fn a_tunnel(server: &Attended) -> Peer {
    let mut peer = Peer::connect(server.address);
    peer.says(UPGRADE);
    peer.hears_until("\r\n\r\n");
    server.hears_a_request(Version::Http11, "/");
    peer
}

/// Asks the server how many of its connections are open.
fn open(server: &Attended) -> u64 {
    let (tells, told) = mpsc::channel();
    server.does(move |attending, _| tells.send(attending.metrics().connections_open).unwrap());
    told.recv().unwrap()
}

#[test]
fn a_drain_waits_for_tunnels_and_ends_with_the_last() {
    let server = Attended::new(leaves);
    let peers = [a_tunnel(&server), a_tunnel(&server)];
    assert_eq!(open(&server), 2);
    server.does(|attending, _| attending.drain(Duration::MAX));
    for (at, mut peer) in peers.into_iter().enumerate() {
        server.does(move |_, lines| {
            let (line, place) = &lines[at];
            line.shut_down();
            line.send(*place, Bytes::from("still"), true);
        });
        assert_eq!(peer.hears_to_the_end(), "still");
        drop(peer);
        assert_eq!(server.hears(), Heard::Room(5));
        assert_eq!(server.hears(), Heard::Body(Vec::new(), true));
        assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
        assert_eq!(server.hears(), Heard::Disconnected);
    }
    assert_eq!(server.hears(), Heard::Over);
    assert_eq!(open(&server), 0);
}

#[test]
fn a_drain_cuts_at_the_earliest_deadline_that_was_set() {
    let server = Attended::new(|line, place, path| {
        if path == "/" {
            leaves(line, place, path);
        }
    });
    let mut tunnel = a_tunnel(&server);
    let mut peer = FramePeer::connect(server.address);
    peer.says(&Frame::new(kind::HEADERS, 0x5, 1, GET_A_PATH));
    server.hears_a_request(Version::Http2, "/p");
    let hour = Duration::from_secs(3600);
    server.does(move |attending, _| {
        for deadline in [hour, Duration::ZERO, hour] {
            attending.drain(deadline);
        }
    });
    assert_eq!(tunnel.hears_to_the_end(), "");
    let mut heard = Vec::new();
    while heard.last() != Some(&Heard::Over) {
        heard.push(server.hears());
    }
    let (code, by_us) = (H2Code::CANCEL, false);
    let cut = Heard::Ended(Ended::Reset {
        code,
        by_peer: by_us,
    });
    assert!(heard.contains(&cut), "{heard:?}");
    let ended = heard.iter().filter(|it| matches!(it, Heard::Ended(_)));
    assert_eq!(ended.count(), 2, "{heard:?}");
}

#[test]
fn a_peer_that_takes_nothing_of_a_tunnel_is_given_up() {
    let mut config = ServerConfig::default();
    config.timeouts.write_stall = Some(Duration::from_millis(50));
    let server = Attended::serving(Server::bind("127.0.0.1:0").config(config), leaves);
    let peer = a_tunnel(&server);
    server.does(|_, lines| {
        let (line, place) = &lines[0];
        // No socket holds as much.
        for _ in 0..64 {
            line.send(*place, Bytes::from(vec![0; 1 << 20]), false);
        }
    });
    let how = loop {
        match server.hears() {
            Heard::Room(_) => {}
            other => break other,
        }
    };
    let (code, by_peer) = (H2Code::CANCEL, true);
    assert_eq!(how, Heard::Ended(Ended::Reset { code, by_peer }));
    assert_eq!(server.hears(), Heard::Disconnected);
    drop(peer);
}

#[test]
fn what_is_not_taken_of_a_request_counts_for_its_tunnel_too() {
    const BODY: usize = 200 * 1024;
    /// The most bytes reported and not taken, and a last read.
    const TOLD_MAX: usize = UNREAD_BODY_BYTES_MAX + 32 * 1024;
    let server = Attended::new(leaves);
    let mut peer = Peer::connect(server.address);
    let head = UPGRADE.replace("GET", "POST").replace("\r\n\r\n", "\r\n");
    peer.says(format!("{head}content-length: {BODY}\r\n\r\n"));
    peer.says(vec![0; BODY]);
    peer.hears_until("\r\n\r\n");
    let mut says = peer.another();
    let writer = thread::spawn(move || says.says_what_it_can(vec![1; 1 << 20]));
    let mut told = 0;
    let mut hears = |least: usize| {
        while told < least {
            if let Heard::Body(data, _) = server.hears() {
                told += data.len();
            }
        }
        while let Ok(Heard::Body(data, _)) = server.heard.try_recv() {
            told += data.len();
        }
        told
    };
    let sends = |text: &'static str| {
        server.does(move |_, lines| lines[0].0.send(lines[0].1, Bytes::from(text), false));
    };
    assert!(hears(UNREAD_BODY_BYTES_MAX) <= TOLD_MAX);
    server.does(|_, lines| lines[0].0.take(lines[0].1, BODY));
    sends("on");
    peer.hears_until("on");
    assert!(hears(UNREAD_BODY_BYTES_MAX + BODY) <= TOLD_MAX + BODY);
    drop(server);
    drop(peer);
    writer.join().unwrap();
}

#[test]
fn what_is_ordered_for_a_connection_that_is_closed_is_forgotten() {
    struct Held(mpsc::Sender<()>);
    impl AsRef<[u8]> for Held {
        fn as_ref(&self) -> &[u8] {
            b"held"
        }
    }
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let server = Attended::new(|line, place, path| {
        if path == "/" {
            leaves(line, place, path);
        }
    });
    let tunnel = a_tunnel(&server);
    drop(tunnel);
    assert_eq!(server.hears(), Heard::Body(Vec::new(), true));
    let mut peer = Peer::connect(server.address);
    peer.says("GET /open HTTP/1.1\r\nhost: a\r\n\r\n");
    server.hears_a_request(Version::Http11, "/open");
    server.does(|_, lines| lines[1].0.abort(H2Code::CANCEL));
    assert!(matches!(server.hears(), Heard::Ended(Ended::Reset { .. })));
    assert_eq!(server.hears(), Heard::Disconnected);
    // The tunnel ends with what is ordered for it.
    server.does(|_, lines| lines[0].0.send(lines[0].1, Bytes::new(), true));
    assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
    assert_eq!(server.hears(), Heard::Disconnected);
    for at in 0..2 {
        let (dropped, drops) = mpsc::channel();
        server.does(move |_, lines| {
            let (line, place) = &lines[at];
            line.send(*place, Bytes::from_owner(Held(dropped)), true);
        });
        drops.recv_timeout(Duration::from_secs(20)).unwrap();
    }
}
