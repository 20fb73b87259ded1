//! A server that is answered from one place, by orders.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/frame_client.rs"]
mod frames;
#[path = "support/peer.rs"]
mod support;

use bytes::Bytes;
use frames::{Frame, FramePeer, GET, kind};
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use support::Peer;
use tokio::sync::mpsc as tasks;
use tokio::task::LocalSet;
use trunkline::ConnectionInfo;
use trunkline::Server;
use trunkline::core::error::H2Code;
use trunkline::core::http::{Fields, RequestHead, Version};
use trunkline::server::{Answer, Attendant, Attending, Ended, Given, Line, Place};

/// What an attendant heard.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Connected(Version),
    Requested(String, bool),
    Body(Vec<u8>, bool),
    Room(usize),
    Ended(Ended),
    Disconnected,
}

type Does = dyn Fn(&Line, Place, &str);

/// Tells what it hears, and does with the line of a request what the test says.
#[derive(Clone)]
struct Teller {
    heard: mpsc::Sender<Heard>,
    does: Rc<Does>,
    lines: Rc<RefCell<Vec<(Line, Place)>>>,
}

impl Attendant for Teller {
    type Connection = Line;
    type Exchange = ();

    fn connected(&self, line: Line, version: Version, _: Option<&ConnectionInfo>) -> Line {
        self.heard.send(Heard::Connected(version)).unwrap();
        line
    }
    fn requested(&self, line: &Line, place: Place, head: &RequestHead, end: bool) {
        let path = String::from_utf8(head.path().unwrap().to_vec()).unwrap();
        (self.does)(line, place, &path);
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
    fn disconnected(&self, _: Line) {
        // The test may be over.
        let _ = self.heard.send(Heard::Disconnected);
    }
}

type Task = Box<dyn FnOnce(&Attending, &[(Line, Place)]) + Send>;

/// A server on a thread of its own.
struct Attended {
    address: SocketAddr,
    heard: mpsc::Receiver<Heard>,
    tasks: Option<tasks::UnboundedSender<Task>>,
    thread: Option<JoinHandle<()>>,
}

impl Attended {
    fn new(does: impl Fn(&Line, Place, &str) + Send + 'static) -> Self {
        let listening = Server::bind("127.0.0.1:0").listen().unwrap();
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
                let teller = Teller {
                    heard,
                    does: Rc::new(does),
                    lines: Rc::clone(&lines),
                };
                let (attending, serving) = listening.attend(teller);
                let serving = tokio::task::spawn_local(serving);
                while let Some(task) = to_do.recv().await {
                    task(&attending, &lines.borrow());
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
    fn does(&self, task: impl FnOnce(&Attending, &[(Line, Place)]) + Send + 'static) {
        let tasks = self.tasks.as_ref().unwrap();
        assert!(tasks.send(Box::new(task)).is_ok());
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
