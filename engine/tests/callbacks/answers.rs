//! Answers that are given by orders, whole and in pieces.

use super::stage::{GET_A_PATH, Recorded, TestServer, sends, whole};
use crate::support::frame_client::{Frame, FramePeer, GET, kind};
use crate::support::peer::Peer;
use bytes::Bytes;
use std::time::Instant;
use trunkline::core::error::H2Code;
use trunkline::core::http::Version;
use trunkline::server::{Answer, Ended, ResponseBody};

#[test]
fn a_whole_answer_goes_out_at_once_on_either_version() {
    let server = TestServer::new(|commands, handle, _| {
        commands.answer(Instant::now(), handle, sends(whole("hi")));
    });
    let mut peer = Peer::connect(server.address);
    peer.sends("GET /a HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(
        peer.receives_until("hi"),
        "HTTP/1.1 200 OK\r\nx: y\r\ncontent-length: 2\r\n\r\nhi"
    );
    assert_eq!(server.receives(), Recorded::Connected(Version::Http11));
    assert_eq!(server.receives(), Recorded::Requested("/a".into(), true));
    assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
    drop(peer);
    assert_eq!(server.receives(), Recorded::Disconnected);
    let mut peer = FramePeer::connect(server.address);
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 1, GET));
    let body = peer.receives(kind::DATA);
    assert_eq!((&body.payload[..], body.flags & 1), (&b"hi"[..], 1));
    assert_eq!(server.receives(), Recorded::Connected(Version::Http2));
}

#[test]
fn a_body_comes_in_pieces_and_what_is_not_taken_is_reported_as_ended_once() {
    let server = TestServer::new(|_, _, _| {});
    let mut peer = FramePeer::connect(server.address);
    peer.sends(&Frame::new(kind::HEADERS, 0x4, 1, GET));
    peer.sends(&Frame::new(kind::DATA, 0, 1, b"one"));
    assert_eq!(server.receives(), Recorded::Connected(Version::Http2));
    assert_eq!(server.receives(), Recorded::Requested("/".into(), false));
    assert_eq!(server.receives(), Recorded::Body(b"one".to_vec(), false));
    peer.sends(&Frame::new(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]));
    let (code, by_peer) = (H2Code::CANCEL, true);
    assert_eq!(
        server.receives(),
        Recorded::Ended(Ended::Reset { code, by_peer })
    );
    // A command after the end has no effect.
    server.does(|_, connections_open| {
        let (commands, handle) = &connections_open[0];
        commands.answer(Instant::now(), *handle, sends(whole("late")));
        commands.take(*handle, 3);
    });
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 3, GET));
    assert_eq!(server.receives(), Recorded::Requested("/".into(), true));
    server.does(|_, connections_open| {
        let (commands, handle) = &connections_open[1];
        commands.answer(Instant::now(), *handle, sends(whole("hi")));
    });
    assert_eq!(peer.receives(kind::DATA).payload, b"hi");
}

#[test]
fn a_whole_exchange_lasts_until_its_body_is_taken_and_stays_whole_when_its_connection_ends() {
    let server = TestServer::new(|commands, handle, _| {
        commands.answer(Instant::now(), handle, sends(whole("early")));
    });
    for takes in [true, false] {
        let mut peer = FramePeer::connect(server.address);
        peer.sends(&Frame::new(kind::HEADERS, 0x4, 1, GET));
        assert_eq!(peer.receives(kind::DATA).payload, b"early");
        peer.sends(&Frame::new(kind::DATA, 0x1, 1, b"all of it"));
        assert_eq!(server.receives(), Recorded::Connected(Version::Http2));
        assert_eq!(server.receives(), Recorded::Requested("/".into(), false));
        assert_eq!(
            server.receives(),
            Recorded::Body(b"all of it".to_vec(), true)
        );
        if takes {
            server.received_nothing();
            server.does(|_, connections_open| connections_open[0].0.take(connections_open[0].1, 9));
            assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
            drop(peer);
        } else {
            drop(peer);
            assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
        }
        assert_eq!(server.receives(), Recorded::Disconnected);
    }
}

#[test]
fn bodies_of_answered_requests_that_are_not_read_hold_an_http1_connection_back() {
    for declines in [false, true] {
        hold_back_until_one_is_given_back(declines);
    }
}

/// `declines`: the body of the first one is declined, and not taken.
fn hold_back_until_one_is_given_back(declines: bool) {
    const BODY_BYTES: usize = 100_000;
    let server = TestServer::new(|commands, handle, _| {
        commands.answer(Instant::now(), handle, sends(whole("early")));
    });
    let mut peer = Peer::connect(server.address);
    let request = format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {BODY_BYTES}\r\n\r\n");
    let body = "b".repeat(BODY_BYTES);
    peer.sends(&request);
    assert_eq!(server.receives(), Recorded::Connected(Version::Http11));
    let mut requests = 0;
    // Three bodies are above the bound of 256 KiB.
    for round in 0..3 {
        if round > 0 {
            peer.sends(&request);
        }
        peer.sends(&body);
        let mut came = 0;
        while came < BODY_BYTES {
            match server.receives() {
                Recorded::Requested(..) => requests += 1,
                Recorded::Body(piece, _) => came += piece.len(),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(requests, 3);
    peer.sends("GET /next HTTP/1.1\r\nhost: a\r\n\r\n");
    server.does(move |_, connections_open| {
        let (commands, handle) = &connections_open[0];
        match declines {
            false => commands.take(*handle, BODY_BYTES),
            true => commands.decline(*handle),
        }
    });
    assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
    assert_eq!(server.receives(), Recorded::Requested("/next".into(), true));
}

#[test]
fn the_rest_of_a_request_that_is_declined_holds_no_exchange_and_its_peer_is_asked_to_stop() {
    let server = TestServer::new(|commands, handle, _| {
        commands.decline(handle);
        commands.answer(Instant::now(), handle, sends(ResponseBody::Streaming));
        commands.send(handle, Bytes::from("no"), false);
    });
    let mut peer = FramePeer::connect(server.address);
    peer.sends(&Frame::new(kind::HEADERS, 0x4, 1, GET));
    assert_eq!(peer.receives(kind::DATA).payload, b"no");
    assert_eq!(server.receives(), Recorded::Connected(Version::Http2));
    assert_eq!(server.receives(), Recorded::Requested("/".into(), false));
    assert_eq!(server.receives(), Recorded::Room(2));
    server.does(|_, connections_open| connections_open[0].0.finish(connections_open[0].1, b""));
    assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
    assert_eq!(peer.receives(kind::DATA).flags & 1, 1);
    // The peer waits with its body: no byte of it is what asks for the reset.
    let reset = peer.receives(kind::RST_STREAM);
    assert_eq!((reset.stream, &reset.payload[..]), (1, &[0, 0, 0, 0][..]));
}

#[test]
fn an_answer_in_pieces_ends_with_its_trailers() {
    let server = TestServer::new(|commands, handle, _| {
        commands
            .send_informational(Instant::now(), handle, 103, b"link\0</a>")
            .unwrap();
        commands.answer(Instant::now(), handle, sends(ResponseBody::Streaming));
        commands.send(handle, Bytes::from("one"), false);
        commands.send(handle, Bytes::from("two"), false);
        commands.finish(handle, b"sum\x006");
    });
    let mut peer = Peer::connect(server.address);
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    assert_eq!(
        peer.receives_until("sum: 6\r\n\r\n"),
        "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n\
         HTTP/1.1 200 OK\r\nx: y\r\ntransfer-encoding: chunked\r\n\r\n\
         3\r\none\r\n3\r\ntwo\r\n0\r\nsum: 6\r\n\r\n"
    );
    let received: Vec<Recorded> = (0..5).map(|_| server.receives()).collect();
    assert_eq!(received[2..4], [Recorded::Room(3), Recorded::Room(3)]);
    assert_eq!(received[4], Recorded::Ended(Ended::Whole));
}

#[test]
fn a_head_that_would_split_the_message_is_a_500() {
    let server = TestServer::new(|commands, handle, _| {
        let answer = Answer {
            fields: b"a\0b\r\nc: d",
            ..sends(whole("hi"))
        };
        commands.answer(Instant::now(), handle, answer);
    });
    let mut peer = Peer::connect(server.address);
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    let control_event = peer.receives_to_the_end();
    assert!(
        control_event.starts_with("HTTP/1.1 500 "),
        "{control_event}"
    );
    assert!(!control_event.contains("c: d"), "{control_event}");
}

#[test]
fn pieces_that_are_sent_before_their_answer_go_out_behind_it() {
    let server = TestServer::new(|commands, handle, path| {
        commands.send(handle, Bytes::from("one"), false);
        match path {
            "/end" => commands.send(handle, Bytes::from("two"), true),
            _ => commands.finish(handle, b"sum\x003"),
        }
        commands.answer(Instant::now(), handle, sends(ResponseBody::Streaming));
    });
    let head = "HTTP/1.1 200 OK\r\nx: y\r\ntransfer-encoding: chunked\r\n\r\n";
    for (path, body) in [
        ("/end", "3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"),
        ("/trailers", "3\r\none\r\n0\r\nsum: 3\r\n\r\n"),
    ] {
        let mut peer = Peer::connect(server.address);
        peer.sends(format!("GET {path} HTTP/1.1\r\nhost: a\r\n\r\n"));
        assert_eq!(peer.receives_until("\r\n\r\n"), head);
        assert_eq!(peer.receives_until("\r\n\r\n"), body);
        server.receives_a_request(Version::Http11, path);
        let sent = if path == "/end" { 6 } else { 3 };
        assert_eq!(server.receives(), Recorded::Room(sent));
        assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
        drop(peer);
        assert_eq!(server.receives(), Recorded::Disconnected);
    }
}

#[test]
fn pieces_for_an_answer_that_has_no_body_are_reported_as_taken() {
    let server = TestServer::new(|commands, handle, _| {
        commands.send(handle, Bytes::from("one"), false);
        let answer = Answer {
            status: 204,
            ..sends(ResponseBody::Streaming)
        };
        commands.answer(Instant::now(), handle, answer);
    });
    let mut peer = Peer::connect(server.address);
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    let received = peer.receives_until("\r\n\r\n");
    assert_eq!(received, "HTTP/1.1 204 No Content\r\nx: y\r\n\r\n");
    server.receives_a_request(Version::Http11, "/");
    assert_eq!(server.receives(), Recorded::Room(3));
    assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
}

/// More than a connection holds for its peer.
const MUCH: usize = 300_000;

#[test]
fn room_is_reported_for_pieces_and_not_of_a_body_that_was_given_whole() {
    let server = TestServer::new(|commands, handle, path| {
        let body = Bytes::from(vec![b'x'; MUCH]);
        match path {
            "/" => commands.answer(Instant::now(), handle, sends(ResponseBody::Whole(body))),
            _ => {
                commands.answer(Instant::now(), handle, sends(ResponseBody::Streaming));
                commands.send(handle, body.slice(..MUCH / 2), false);
                commands.send(handle, body.slice(MUCH / 2..), false);
                commands.finish(handle, b"");
            }
        }
    });
    let mut peer = FramePeer::connect(server.address);
    let receives = |peer: &mut FramePeer, count: usize| {
        let mut came = 0;
        while came < count * MUCH {
            let data = peer.receives(kind::DATA);
            came += data.payload.len();
            let room = (data.payload.len() as u32).to_be_bytes();
            if !data.payload.is_empty() {
                for stream in [0, data.stream] {
                    peer.sends(&Frame::new(WINDOW_UPDATE, 0, stream, &room));
                }
            }
        }
    };
    let asks = |peer: &mut FramePeer, stream, head| {
        peer.sends(&Frame::new(kind::HEADERS, 0x5, stream, head));
    };
    // The first takes all the room that there is.
    asks(&mut peer, 1, GET);
    asks(&mut peer, 3, GET);
    receives(&mut peer, 2);
    assert_eq!(server.receives(), Recorded::Connected(Version::Http2));
    for _ in 0..4 {
        let received = server.receives();
        assert!(!matches!(received, Recorded::Room(_)), "{received:?}");
    }
    asks(&mut peer, 5, GET_A_PATH);
    receives(&mut peer, 1);
    assert_eq!(server.receives(), Recorded::Requested("/p".into(), true));
    let mut taken = 0;
    let how = loop {
        match server.receives() {
            Recorded::Room(bytes) => taken += bytes,
            other => break other,
        }
    };
    assert_eq!((taken, how), (MUCH, Recorded::Ended(Ended::Whole)));
}

const WINDOW_UPDATE: u8 = 8;

#[test]
fn a_quiet_answer_ends_its_exchange_though_the_request_goes_on() {
    let server = TestServer::new(|commands, handle, _| {
        let quiet = Answer {
            quiet: true,
            ..sends(whole("hi"))
        };
        commands.answer(Instant::now(), handle, quiet);
    });
    let mut peer = FramePeer::connect(server.address);
    peer.sends(&Frame::new(kind::HEADERS, 0x4, 1, GET));
    assert_eq!(peer.receives(kind::DATA).payload, b"hi");
    assert_eq!(server.receives(), Recorded::Connected(Version::Http2));
    assert_eq!(server.receives(), Recorded::Requested("/".into(), false));
    assert_eq!(server.receives(), Recorded::Ended(Ended::Quiet));
    // The rest is dropped.
    peer.sends(&Frame::new(kind::DATA, 0x1, 1, b"rest"));
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 3, GET));
    assert_eq!(server.receives(), Recorded::Requested("/".into(), true));
}

#[test]
fn a_body_of_another_length_than_was_said_is_reset_and_does_not_look_whole() {
    let server = TestServer::new(|commands, handle, path| {
        let answer = Answer {
            fields: b"content-length\x003",
            ..sends(ResponseBody::Streaming)
        };
        commands.answer(Instant::now(), handle, answer);
        let data = if path == "/" { "four" } else { "2!" };
        commands.send(handle, Bytes::from(data), true);
    });
    let mut peer = FramePeer::connect(server.address);
    assert_eq!(server.receives(), Recorded::Connected(Version::Http2));
    for (stream, head, path) in [(1, GET, "/"), (3, GET_A_PATH, "/p")] {
        peer.sends(&Frame::new(kind::HEADERS, 0x5, stream, head));
        let reset = peer.receives(kind::RST_STREAM);
        assert_eq!((reset.stream, reset.payload[3]), (stream, 2));
        assert_eq!(server.receives(), Recorded::Requested(path.into(), true));
        let (code, by_peer) = (H2Code::INTERNAL_ERROR, false);
        assert_eq!(
            server.receives(),
            Recorded::Ended(Ended::Reset { code, by_peer })
        );
    }
}
