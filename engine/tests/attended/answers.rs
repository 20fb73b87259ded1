//! Answers that are given by orders, whole and in pieces.

use super::frames::{Frame, FramePeer, GET, kind};
use super::stage::{Attended, GET_A_PATH, Heard, says, whole};
use super::support::Peer;
use bytes::Bytes;
use std::time::Instant;
use trunkline::core::error::H2Code;
use trunkline::core::http::Version;
use trunkline::server::{Answer, Ended, Given};

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
    // A command after the end has no effect.
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
fn a_whole_exchange_lasts_until_its_body_is_taken_and_stays_whole_when_its_connection_ends() {
    let server = Attended::new(|line, place, _| {
        line.answer(Instant::now(), place, says(whole("early")));
    });
    for takes in [true, false] {
        let mut peer = FramePeer::connect(server.address);
        peer.says(&Frame::new(kind::HEADERS, 0x4, 1, GET));
        assert_eq!(peer.hears(kind::DATA).payload, b"early");
        peer.says(&Frame::new(kind::DATA, 0x1, 1, b"all of it"));
        assert_eq!(server.hears(), Heard::Connected(Version::Http2));
        assert_eq!(server.hears(), Heard::Requested("/".into(), false));
        assert_eq!(server.hears(), Heard::Body(b"all of it".to_vec(), true));
        if takes {
            server.heard_nothing();
            server.does(|_, lines| lines[0].0.take(lines[0].1, 9));
            assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
            drop(peer);
        } else {
            drop(peer);
            assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
        }
        assert_eq!(server.hears(), Heard::Disconnected);
    }
}

#[test]
fn bodies_of_answered_requests_that_are_not_read_hold_an_http1_connection_back() {
    const BODY_BYTES: usize = 100_000;
    let server = Attended::new(|line, place, _| {
        line.answer(Instant::now(), place, says(whole("early")));
    });
    let mut peer = Peer::connect(server.address);
    let request = format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {BODY_BYTES}\r\n\r\n");
    let body = "b".repeat(BODY_BYTES);
    peer.says(&request);
    assert_eq!(server.hears(), Heard::Connected(Version::Http11));
    let mut requests = 0;
    // Three bodies are above the bound of 256 KiB.
    for round in 0..3 {
        if round > 0 {
            peer.says(&request);
        }
        peer.says(&body);
        let mut came = 0;
        while came < BODY_BYTES {
            match server.hears() {
                Heard::Requested(..) => requests += 1,
                Heard::Body(piece, _) => came += piece.len(),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(requests, 3);
    peer.says("GET /next HTTP/1.1\r\nhost: a\r\n\r\n");
    server.does(|_, lines| lines[0].0.take(lines[0].1, BODY_BYTES));
    assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
    assert_eq!(server.hears(), Heard::Requested("/next".into(), true));
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
    // The rest is dropped.
    peer.says(&Frame::new(kind::DATA, 0x1, 1, b"rest"));
    peer.says(&Frame::new(kind::HEADERS, 0x5, 3, GET));
    assert_eq!(server.hears(), Heard::Requested("/".into(), true));
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
