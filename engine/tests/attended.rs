//! A server that is answered from one place, by orders.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/frame_client.rs"]
mod frames;
#[path = "support/peer.rs"]
mod support;

use bytes::Bytes;
use frames::{Frame, FramePeer, GET, kind};
use http_body_util::BodyExt;
use rustls::pki_types::CertificateDer;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use support::Peer;
use tokio::sync::{Notify, mpsc as tasks};
use tokio::task::LocalSet;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::core::error::H2Code;
use trunkline::core::h2::frame::Setting;
use trunkline::core::http::{Fields, RequestHead, Version};
use trunkline::core::limits::UNREAD_BODY_BYTES_MAX;
use trunkline::server::{
    self, Answer, Attendant, Attending, Ended, Given, Line, Pause, Place, Said,
};
use trunkline::{ConnectionInfo, ErrorKind, Server, ServerConfig, Tls};

/// What an attendant heard.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Connected(Version),
    Requested(String, bool),
    Body(Vec<u8>, bool),
    Room(usize),
    Ended(Ended),
    Said(server::Heard),
    Disconnected,
    /// The server.
    Over,
}

type Does = dyn Fn(&Line, Place, &str);

/// Tells what it hears, and does with the line of a request what the test says.
#[derive(Clone)]
struct Teller {
    heard: mpsc::Sender<Heard>,
    does: Rc<Does>,
    lines: Rc<RefCell<Vec<(Line, Place)>>>,
    /// It does not keep up until this ends.
    behind: Rc<RefCell<Option<Arc<Notify>>>>,
}

impl Attendant for Teller {
    type Connection = Line;
    type Exchange = ();

    fn pause(&self) -> Option<Pause> {
        let over = self.behind.borrow().clone()?;
        Some(Box::pin(async move { over.notified().await }))
    }
    fn connected(&self, line: Line, version: Version, _: Option<&ConnectionInfo>) -> Line {
        self.heard.send(Heard::Connected(version)).unwrap();
        line
    }
    fn requested(&self, line: &Line, place: Place, head: &RequestHead, end: bool) {
        let path = String::from_utf8(head.path().unwrap_or_default().to_vec()).unwrap();
        if path == "/too-much" {
            *self.behind.borrow_mut() = Some(Arc::default());
        }
        (self.does)(line, place, &path);
        let path = if place.is_early() {
            path + " early"
        } else {
            path
        };
        self.lines.borrow_mut().push((line.clone(), place));
        self.heard.send(Heard::Requested(path, end)).unwrap();
    }
    fn body(&self, (): &(), data: Bytes, end: bool) {
        self.heard.send(Heard::Body(data.to_vec(), end)).unwrap();
    }
    fn trailers(&self, (): &(), _: &Fields) {}
    fn room(&self, (): &(), bytes: usize) {
        self.heard.send(Heard::Room(bytes)).unwrap();
    }
    fn ended(&self, (): (), how: Ended) {
        self.heard.send(Heard::Ended(how)).unwrap();
    }
    fn heard(&self, _: &Line, heard: server::Heard) {
        self.heard.send(Heard::Said(heard)).unwrap();
    }
    fn disconnected(&self, _: Line) {
        // The test may be over.
        let _ = self.heard.send(Heard::Disconnected);
    }
}

impl Teller {
    fn keeps_up(&self) {
        let over = self.behind.borrow_mut().take();
        over.expect("it is behind").notify_waiters();
    }
}

type Task = Box<dyn FnOnce(&Attending, &[(Line, Place)], &Teller) + Send>;

/// A server on a thread of its own.
struct Attended {
    address: SocketAddr,
    heard: mpsc::Receiver<Heard>,
    tasks: Option<tasks::UnboundedSender<Task>>,
    thread: Option<JoinHandle<()>>,
}

impl Attended {
    fn new(does: impl Fn(&Line, Place, &str) + Send + 'static) -> Self {
        Self::serving(Server::bind("127.0.0.1:0"), does)
    }
    fn serving(server: Server, does: impl Fn(&Line, Place, &str) + Send + 'static) -> Self {
        let listening = server.listen().unwrap();
        let address = listening.local_addr();
        let (heard, hears) = mpsc::channel();
        let (tasks, mut to_do) = tasks::unbounded_channel::<Task>();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            LocalSet::new().block_on(&runtime, async move {
                let lines = Rc::<RefCell<Vec<(Line, Place)>>>::default();
                let over = heard.clone();
                let teller = Teller {
                    heard,
                    does: Rc::new(does),
                    lines: Rc::clone(&lines),
                    behind: Rc::default(),
                };
                let (attending, serving) = listening.attend(teller.clone()).unwrap();
                let serving = tokio::task::spawn_local(async move {
                    serving.await.unwrap();
                    // The test may be over.
                    let _ = over.send(Heard::Over);
                });
                while let Some(task) = to_do.recv().await {
                    task(&attending, &lines.borrow(), &teller);
                }
                drop(attending);
                serving.await.unwrap();
            });
        });
        Self {
            address,
            heard: hears,
            tasks: Some(tasks),
            thread: Some(thread),
        }
    }
    fn hears(&self) -> Heard {
        self.heard.recv_timeout(Duration::from_secs(20)).unwrap()
    }
    /// A request, on a connection that it is the first on, came whole.
    fn hears_a_request(&self, version: Version, path: &str) {
        assert_eq!(self.hears(), Heard::Connected(version));
        assert_eq!(self.hears(), Heard::Requested(path.into(), true));
    }
    fn does(&self, task: impl FnOnce(&Attending, &[(Line, Place)]) + Send + 'static) {
        self.tells(move |attending, lines, _| task(attending, lines));
    }
    fn keeps_up(&self) {
        self.tells(|_, _, teller| teller.keeps_up());
    }
    fn tells(&self, task: impl FnOnce(&Attending, &[(Line, Place)], &Teller) + Send + 'static) {
        let tasks = self.tasks.as_ref().unwrap();
        assert!(tasks.send(Box::new(task)).is_ok());
    }
    /// Nothing was heard that was not taken.
    fn heard_nothing(&self) {
        assert_eq!(self.heard.try_recv(), Err(mpsc::TryRecvError::Empty));
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn says(body: Given) -> Answer<'static> {
    Answer {
        status: 200,
        reason: b"",
        fields: b"x\0y",
        body,
        date: false,
        length: true,
        quiet: false,
    }
}

fn whole(text: &'static str) -> Given {
    Given::Whole(Bytes::from(text))
}

#[test]
fn a_whole_answer_goes_out_at_once_on_either_version() {
    let server = Attended::new(|line, place, _| {
        line.answer(Instant::now(), place, says(whole("hi")));
    });
    let mut peer = Peer::connect(server.address);
    peer.says("GET /a HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(
        peer.hears_until("hi"),
        "HTTP/1.1 200 OK\r\nx: y\r\ncontent-length: 2\r\n\r\nhi"
    );
    assert_eq!(server.hears(), Heard::Connected(Version::Http11));
    assert_eq!(server.hears(), Heard::Requested("/a".into(), true));
    assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
    drop(peer);
    assert_eq!(server.hears(), Heard::Disconnected);
    let mut peer = FramePeer::connect(server.address);
    peer.says(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    let body = peer.hears(kind::DATA);
    assert_eq!((&body.payload[..], body.flags & 1), (&b"hi"[..], 1));
    assert_eq!(server.hears(), Heard::Connected(Version::Http2));
}

#[test]
fn a_body_comes_in_pieces_and_what_is_not_taken_is_told_as_ended_once() {
    let server = Attended::new(|_, _, _| {});
    let mut peer = FramePeer::connect(server.address);
    peer.says(&Frame::new(kind::HEADERS, 0x4, 1, GET));
    peer.says(&Frame::new(kind::DATA, 0, 1, b"one"));
    assert_eq!(server.hears(), Heard::Connected(Version::Http2));
    assert_eq!(server.hears(), Heard::Requested("/".into(), false));
    assert_eq!(server.hears(), Heard::Body(b"one".to_vec(), false));
    peer.says(&Frame::new(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]));
    let (code, by_peer) = (H2Code::CANCEL, true);
    assert_eq!(server.hears(), Heard::Ended(Ended::Reset { code, by_peer }));
    // What is ordered now comes too late and hurts nobody.
    server.does(|_, lines| {
        let (line, place) = &lines[0];
        line.answer(Instant::now(), *place, says(whole("late")));
        line.take(*place, 3);
    });
    peer.says(&Frame::new(kind::HEADERS, 0x5, 3, GET));
    assert_eq!(server.hears(), Heard::Requested("/".into(), true));
    server.does(|_, lines| {
        let (line, place) = &lines[1];
        line.answer(Instant::now(), *place, says(whole("hi")));
    });
    assert_eq!(peer.hears(kind::DATA).payload, b"hi");
}

#[test]
fn the_rest_of_a_request_that_is_declined_holds_no_exchange_and_its_peer_is_told_to_stop() {
    let server = Attended::new(|line, place, _| {
        line.decline(place);
        line.answer(Instant::now(), place, says(Given::Streaming));
        line.send(place, Bytes::from("no"), false);
    });
    let mut peer = FramePeer::connect(server.address);
    peer.says(&Frame::new(kind::HEADERS, 0x4, 1, GET));
    assert_eq!(peer.hears(kind::DATA).payload, b"no");
    assert_eq!(server.hears(), Heard::Connected(Version::Http2));
    assert_eq!(server.hears(), Heard::Requested("/".into(), false));
    assert_eq!(server.hears(), Heard::Room(2));
    server.does(|_, lines| lines[0].0.finish(lines[0].1, b""));
    assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
    assert_eq!(peer.hears(kind::DATA).flags & 1, 1);
    peer.says(&Frame::new(kind::DATA, 0, 1, b"more"));
    let reset = peer.hears(kind::RST_STREAM);
    assert_eq!((reset.stream, &reset.payload[..]), (1, &[0, 0, 0, 0][..]));
}

#[test]
fn an_answer_in_pieces_ends_with_its_trailers() {
    let server = Attended::new(|line, place, _| {
        line.inform(Instant::now(), place, 103, b"link\0</a>")
            .unwrap();
        line.answer(Instant::now(), place, says(Given::Streaming));
        line.send(place, Bytes::from("one"), false);
        line.send(place, Bytes::from("two"), false);
        line.finish(place, b"sum\x006");
    });
    let mut peer = Peer::connect(server.address);
    peer.says("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(
        peer.hears_until("sum: 6\r\n\r\n"),
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n\
         HTTP/1.1 200 OK\r\nx: y\r\ntransfer-encoding: chunked\r\n\r\n\
         3\r\none\r\n3\r\ntwo\r\n0\r\nsum: 6\r\n\r\n"
    );
    let heard: Vec<Heard> = (0..5).map(|_| server.hears()).collect();
    assert_eq!(heard[2..4], [Heard::Room(3), Heard::Room(3)]);
    assert_eq!(heard[4], Heard::Ended(Ended::Whole));
}

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
fn a_head_that_would_split_the_message_is_a_500() {
    let server = Attended::new(|line, place, _| {
        let answer = Answer {
            fields: b"a\0b\r\nc: d",
            ..says(whole("hi"))
        };
        line.answer(Instant::now(), place, answer);
    });
    let mut peer = Peer::connect(server.address);
    peer.says("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    let said = peer.hears_to_the_end();
    assert!(said.starts_with("HTTP/1.1 500 "), "{said}");
    assert!(!said.contains("c: d"), "{said}");
}

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
fn pieces_that_are_sent_before_their_answer_go_out_behind_it() {
    let server = Attended::new(|line, place, path| {
        line.send(place, Bytes::from("one"), false);
        match path {
            "/end" => line.send(place, Bytes::from("two"), true),
            _ => line.finish(place, b"sum\x003"),
        }
        line.answer(Instant::now(), place, says(Given::Streaming));
    });
    let head = "HTTP/1.1 200 OK\r\nx: y\r\ntransfer-encoding: chunked\r\n\r\n";
    for (path, body) in [
        ("/end", "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"),
        ("/trailers", "3\r\none\r\n0\r\nsum: 3\r\n\r\n"),
    ] {
        let mut peer = Peer::connect(server.address);
        peer.says(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n"));
        assert_eq!(peer.hears_until("\r\n\r\n"), head);
        assert_eq!(peer.hears_until("\r\n\r\n"), body);
        server.hears_a_request(Version::Http11, path);
        let sent = if path == "/end" { 6 } else { 3 };
        assert_eq!(server.hears(), Heard::Room(sent));
        assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
        drop(peer);
        assert_eq!(server.hears(), Heard::Disconnected);
    }
}

#[test]
fn pieces_for_an_answer_that_has_no_body_are_told_as_taken() {
    let server = Attended::new(|line, place, _| {
        line.send(place, Bytes::from("one"), false);
        let answer = Answer {
            status: 204,
            ..says(Given::Streaming)
        };
        line.answer(Instant::now(), place, answer);
    });
    let mut peer = Peer::connect(server.address);
    peer.says("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    let heard = peer.hears_until("\r\n\r\n");
    assert_eq!(heard, "HTTP/1.1 204 No Content\r\nx: y\r\n\r\n");
    server.hears_a_request(Version::Http11, "/");
    assert_eq!(server.hears(), Heard::Room(3));
    assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
}

/// More than a connection holds for its peer.
const MUCH: usize = 300_000;

#[test]
fn room_is_told_of_pieces_and_not_of_a_body_that_was_given_whole() {
    let server = Attended::new(|line, place, path| {
        let body = Bytes::from(vec![b'x'; MUCH]);
        match path {
            "/" => line.answer(Instant::now(), place, says(Given::Whole(body))),
            _ => {
                line.answer(Instant::now(), place, says(Given::Streaming));
                line.send(place, body.slice(..MUCH / 2), false);
                line.send(place, body.slice(MUCH / 2..), false);
                line.finish(place, b"");
            }
        }
    });
    let mut peer = FramePeer::connect(server.address);
    let hears = |peer: &mut FramePeer, count: usize| {
        let mut came = 0;
        while came < count * MUCH {
            let data = peer.hears(kind::DATA);
            came += data.payload.len();
            let room = (data.payload.len() as u32).to_be_bytes();
            if !data.payload.is_empty() {
                for stream in [0, data.stream] {
                    peer.says(&Frame::new(WINDOW_UPDATE, 0, stream, &room));
                }
            }
        }
    };
    let asks = |peer: &mut FramePeer, stream, head| {
        peer.says(&Frame::new(kind::HEADERS, 0x5, stream, head));
    };
    // The first takes all the room that there is.
    asks(&mut peer, 1, GET);
    asks(&mut peer, 3, GET);
    hears(&mut peer, 2);
    assert_eq!(server.hears(), Heard::Connected(Version::Http2));
    for _ in 0..4 {
        let heard = server.hears();
        assert!(!matches!(heard, Heard::Room(_)), "{heard:?}");
    }
    asks(&mut peer, 5, GET_A_PATH);
    hears(&mut peer, 1);
    assert_eq!(server.hears(), Heard::Requested("/p".into(), true));
    let mut taken = 0;
    let how = loop {
        match server.hears() {
            Heard::Room(bytes) => taken += bytes,
            other => break other,
        }
    };
    assert_eq!((taken, how), (MUCH, Heard::Ended(Ended::Whole)));
}

const WINDOW_UPDATE: u8 = 8;
/// `GET http://a/p`.
const GET_A_PATH: &[u8] = &[0x82, 0x86, 0x04, 0x02, b'/', b'p', 0x41, 0x01, b'a'];
/// `CONNECT a:1`.
const CONNECT: &[u8] = &[
    0x02, 0x07, b'C', b'O', b'N', b'N', b'E', b'C', b'T', 0x01, 0x03, b'a', b':', b'1',
];

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
    /// What may be told and not taken, and a last read.
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

/// A client of HTTP/3 whose connections carry one request each.
fn a_client(root: CertificateDer<'static>) -> Client {
    Client::builder()
        .protocols(Protocols::H3Only)
        .resolve("localhost", [([127, 0, 0, 1], 0).into()])
        .tls(ClientTls::new().root(root).only_given_roots())
        .requests_per_connection(Some(1))
        .early_data(true)
        .build()
        .unwrap()
}

#[test]
fn http3_is_attended_too_and_early_requests_are_marked() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
    let server = Attended::serving(server.early_data(true), |line, place, _| {
        line.answer(Instant::now(), place, says(whole("hi")));
    });
    let client = a_client(root);
    let url = format!("https://localhost:{}/", server.address.port());
    support::runtime().block_on(async {
        for path in ["/", "/ early"] {
            let response = client.get(&url).send().await.unwrap();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, "hi");
            server.hears_a_request(Version::Http3, path);
            assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
            assert_eq!(server.hears(), Heard::Disconnected);
        }
    });
}

#[test]
fn an_answer_over_http3_that_breaks_off_by_order_is_a_reset_whatever_its_code() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
    let server = Attended::serving(server, |line, place, _| {
        line.answer(Instant::now(), place, says(Given::Streaming));
        line.send(place, Bytes::from("half"), false);
    });
    let client = a_client(root);
    let url = format!("https://localhost:{}/", server.address.port());
    support::runtime().block_on(async {
        let codes = [H2Code::NO_ERROR, H2Code::CANCEL, H2Code::INTERNAL_ERROR];
        for (at, code) in codes.into_iter().enumerate() {
            let mut body = client.get(&url).send().await.unwrap().into_body();
            let first = body.frame().await.unwrap().unwrap();
            assert_eq!(first.data_ref().unwrap(), "half");
            server.hears_a_request(Version::Http3, "/");
            server.does(move |_, lines| lines[at].0.reset(lines[at].1, code));
            let error = body.frame().await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StreamReset(code));
            let mut heard = server.hears();
            while matches!(heard, Heard::Room(_)) {
                heard = server.hears();
            }
            let by_peer = false;
            assert_eq!(heard, Heard::Ended(Ended::Reset { code, by_peer }));
            assert_eq!(server.hears(), Heard::Disconnected);
        }
    });
}

#[test]
fn a_quiet_answer_ends_its_exchange_though_the_request_goes_on() {
    let server = Attended::new(|line, place, _| {
        let quiet = Answer {
            quiet: true,
            ..says(whole("hi"))
        };
        line.answer(Instant::now(), place, quiet);
    });
    let mut peer = FramePeer::connect(server.address);
    peer.says(&Frame::new(kind::HEADERS, 0x4, 1, GET));
    assert_eq!(peer.hears(kind::DATA).payload, b"hi");
    assert_eq!(server.hears(), Heard::Connected(Version::Http2));
    assert_eq!(server.hears(), Heard::Requested("/".into(), false));
    assert_eq!(server.hears(), Heard::Ended(Ended::Quiet));
    // Nobody hears of the rest.
    peer.says(&Frame::new(kind::DATA, 0x1, 1, b"rest"));
    peer.says(&Frame::new(kind::HEADERS, 0x5, 3, GET));
    assert_eq!(server.hears(), Heard::Requested("/".into(), true));
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
fn a_body_of_another_length_than_was_said_is_reset_and_does_not_look_whole() {
    let server = Attended::new(|line, place, path| {
        let answer = Answer {
            fields: b"content-length\x003",
            ..says(Given::Streaming)
        };
        line.answer(Instant::now(), place, answer);
        let data = if path == "/" { "four" } else { "2!" };
        line.send(place, Bytes::from(data), true);
    });
    let mut peer = FramePeer::connect(server.address);
    assert_eq!(server.hears(), Heard::Connected(Version::Http2));
    for (stream, head, path) in [(1, GET, "/"), (3, GET_A_PATH, "/p")] {
        peer.says(&Frame::new(kind::HEADERS, 0x5, stream, head));
        let reset = peer.hears(kind::RST_STREAM);
        assert_eq!((reset.stream, reset.payload[3]), (stream, 2));
        assert_eq!(server.hears(), Heard::Requested(path.into(), true));
        let (code, by_peer) = (H2Code::INTERNAL_ERROR, false);
        assert_eq!(server.hears(), Heard::Ended(Ended::Reset { code, by_peer }));
    }
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

/// Whoever asks for frames.
fn frame_events() -> ServerConfig {
    ServerConfig {
        frame_events: true,
        ..ServerConfig::default()
    }
}

/// What the peer said of its connection, other things passed over.
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
