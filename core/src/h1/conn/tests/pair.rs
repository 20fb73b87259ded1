//! A client and a server machine with seeded random input over a wire that cuts bytes anywhere and
//! damages messages at random. No message is lost or duplicated, no machine panics, and the cuts
//! make no difference. A failure names its seed.

use super::script::*;
use crate::error::Misuse;
use crate::http::{Event, Side, StreamId};
use crate::limits::Config;
use bytes::Bytes;
use std::collections::BTreeMap;

/// xorshift64*: enough to vary, the same everywhere.
struct Seeded(u64);

impl Seeded {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }
    fn is_one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

/// Bodies say whose they are and how far they are, so that a mix-up shows.
fn body(stream: u64, len: usize) -> Vec<u8> {
    (0..len)
        .map(|at| (stream as usize * 31 + at) as u8)
        .collect()
}

/// Takes up to `max` bytes from one machine and hands them to the other.
fn carry(from: &mut Script, to: &mut Script, max: usize) -> usize {
    let taken = from.write(max);
    let bytes = std::mem::take(&mut from.written);
    if to.conn.wants_read() || !bytes.is_empty() {
        to.conn.handle_bytes(to.now, &bytes);
    }
    taken
}

#[test]
fn whatever_a_client_and_a_server_exchange_arrives_whole_and_in_order() {
    for seed in 1..=60 {
        exchange_all(seed);
    }
}

fn exchange_all(seed: u64) {
    let random = &mut Seeded(seed);
    let mut config = Config::default();
    config.limits.pipelining = 1 + random.below(5) as u32;
    let (mut client, mut server) = (Script::new(Side::Client, config), Script::server());
    let (total, mut opened, mut over) = (30, 0, 0);
    let mut uploads: BTreeMap<u64, usize> = BTreeMap::new();
    let mut asked: BTreeMap<u64, usize> = BTreeMap::new();
    let mut got: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut ready: Vec<u64> = Vec::new();
    let mut replies: BTreeMap<u64, usize> = BTreeMap::new();
    for turn in 0.. {
        assert!(turn < 200_000, "seed {seed}: stuck at {over} of {total}");
        if over == total {
            break;
        }
        if opened < total && client.conn.capacity() > 0 {
            opened += 1;
            let len = random.below(3) * random.below(3000);
            let length = len.to_string();
            let head = match random.below(3) {
                0 => request("PUT", "/", &[("content-length", &length)]),
                1 => request("PUT", "/", &[]),
                _ => request("GET", "/", &[]),
            };
            let end = head.method() == b"GET";
            let stream = client.conn.open(client.now, &head, end).expect("capacity");
            assert_eq!(stream.0, opened, "seed {seed}");
            asked.insert(opened, if end { 0 } else { len });
            if !end {
                uploads.insert(opened, 0);
            }
        }
        if let Some((&stream, sent)) = uploads.iter_mut().next() {
            let left = asked[&stream] - *sent;
            let len = left.min(1 + random.below(800));
            let data = body(stream, asked[&stream])[*sent..*sent + len].to_vec();
            let end = len == left;
            let id = StreamId(stream);
            client
                .conn
                .send_body(client.now, id, data.into(), end)
                .expect("open");
            *sent += len;
            if end {
                uploads.clear();
            }
        }
        let size = 1 + random.below(700);
        carry(&mut client, &mut server, size);
        while let Some(event) = server.conn.poll_event() {
            take_body(&mut server, &event);
            match event {
                Event::RequestReceived { stream, end, .. } => {
                    got.insert(stream.0, Vec::new());
                    ready.extend(end.then_some(stream.0));
                }
                Event::BodyReceived { stream, data, end } => {
                    let whole = got.get_mut(&stream.0).expect("a head came before");
                    whole.extend_from_slice(&data);
                    ready.extend(end.then_some(stream.0));
                }
                other => panic!("seed {seed}: {other:?}"),
            }
        }
        if !ready.is_empty() && random.is_one_in(3) {
            // Handlers finish in any order.
            let stream = ready.swap_remove(random.below(ready.len()));
            let whole = got.remove(&stream).expect("it is complete");
            assert!(
                whole == body(stream, asked[&stream]),
                "seed {seed}: request {stream}"
            );
            let length = whole.len().to_string();
            let fields = [("content-length", length.as_str())];
            let known = random.is_one_in(2);
            let head = response(200, if known { &fields } else { &[] });
            let id = StreamId(stream);
            server
                .conn
                .respond(server.now, id, &head, false)
                .expect("it waits");
            let (first, second) = whole.split_at(random.below(whole.len() + 1));
            for (piece, end) in [(first, false), (second, true)] {
                let piece = Bytes::copy_from_slice(piece);
                server
                    .conn
                    .send_body(server.now, id, piece, end)
                    .expect("open");
            }
            server.conn.handler_done(id);
        }
        let size = 1 + random.below(700);
        carry(&mut server, &mut client, size);
        while let Some(event) = client.conn.poll_event() {
            take_body(&mut client, &event);
            let ended = match event {
                Event::ResponseReceived { stream, end, .. } => {
                    assert_eq!(stream.0, over + 1, "seed {seed}: in order");
                    replies.insert(stream.0, 0);
                    end.then_some(stream.0)
                }
                Event::BodyReceived { stream, data, end } => {
                    let at = replies.get_mut(&stream.0).expect("a head came before");
                    let whole = body(stream.0, asked[&stream.0]);
                    let same = data[..] == whole[*at..*at + data.len()];
                    assert!(same, "seed {seed}: reply {}", stream.0);
                    *at += data.len();
                    end.then_some(stream.0)
                }
                Event::CapacityChanged => None,
                other => panic!("seed {seed}: {other:?}"),
            };
            if let Some(stream) = ended {
                assert_eq!(replies[&stream], asked[&stream], "seed {seed}");
                over += 1;
            }
        }
    }
    assert_eq!(
        (client.conn.active(), server.conn.active()),
        (0, 0),
        "seed {seed}"
    );
    assert!(
        !client.conn.is_closed() && !server.conn.is_closed(),
        "seed {seed}"
    );
}

const REQUESTS: &str = "GET /a HTTP/1.1\r\nhost: a\r\n\r\n\
    POST /b HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello\
    POST /c HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n\
    5;x=\"y\"\r\nhello\r\n3\r\nabc\r\n0\r\nx-sum: 1\r\n\r\n\
    GET /d HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\n\r\n";

const RESPONSES: &str = "HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n\
    HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello\
    HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n\
    HTTP/1.1 304 Not Modified\r\n\r\n";

/// Damages a few bytes, mostly with those that mean something.
fn damaged(random: &mut Seeded, text: &str) -> Vec<u8> {
    const MEANINGFUL: &[u8] = b"\r\n\0 \t:;,=\"0123456789abcdefxX/*?#@\x7f\x80\xff";
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        match random.below(3) {
            0 => bytes[at] = MEANINGFUL[random.below(MEANINGFUL.len())],
            1 => bytes.insert(at, MEANINGFUL[random.below(MEANINGFUL.len())]),
            _ => {
                bytes.remove(at);
            }
        }
    }
    bytes
}

/// Feeds the bytes in random pieces; what the machine says and writes.
fn fed(random: &mut Seeded, mut script: Script, bytes: &[u8], max: usize) -> (Vec<String>, String) {
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, left) = rest.split_at((1 + random.below(max)).min(rest.len()));
        script.connection_lists(piece);
        rest = left;
    }
    script.hangs_up();
    let mut received = script.received();
    received.retain(|fact| fact != "capacity");
    (received, script.wrote())
}

#[test]
fn damaged_requests_are_read_the_same_however_they_are_cut() {
    for seed in 1..=3000 {
        let random = &mut Seeded(seed);
        let bytes = damaged(random, REQUESTS);
        let make = || Script::server().reacting(answer_when_complete);
        let whole = fed(random, make(), &bytes, bytes.len() * 1000);
        let pieces = fed(random, make(), &bytes, 20);
        assert_eq!(
            pieces,
            whole,
            "seed {seed}: {:?}",
            String::from_utf8_lossy(&bytes)
        );
        let closed = whole
            .0
            .iter()
            .filter(|fact| fact.starts_with("closed"))
            .count();
        assert_eq!(closed, 1, "seed {seed}: it ends once");
    }
}

#[test]
fn damaged_responses_are_read_the_same_however_they_are_cut() {
    let make = || {
        let mut config = Config::default();
        config.limits.pipelining = 3;
        let mut script = Script::new(Side::Client, config);
        for _ in 0..3 {
            script.open(&request("GET", "/", &[]), true);
        }
        script
    };
    for seed in 1..=3000 {
        let random = &mut Seeded(seed);
        let bytes = damaged(random, RESPONSES);
        let whole = fed(random, make(), &bytes, bytes.len() * 1000);
        let pieces = fed(random, make(), &bytes, 20);
        assert_eq!(
            pieces,
            whole,
            "seed {seed}: {:?}",
            String::from_utf8_lossy(&bytes)
        );
        for stream in 1..=3 {
            let ends = |fact: &&String| {
                let mine = fact.starts_with(&format!("{stream} "));
                mine && (fact.ends_with(" end")
                    || fact.contains("reset")
                    || fact.contains("trailers"))
            };
            assert_eq!(
                whole.0.iter().filter(ends).count(),
                1,
                "seed {seed}: {:?}",
                whole.0
            );
        }
    }
}

#[test]
fn nothing_can_be_said_to_a_machine_that_is_over() {
    let mut script = Script::server();
    script.connection_lists("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    script.hangs_up();
    script.received();
    let refused = script
        .conn
        .respond(script.now, StreamId(1), &response(200, &[]), true);
    assert_eq!(refused, Err(Misuse::ConnectionClosed));
    script.connection_lists("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    script.conn.consume(script.now, StreamId(1), 10);
    script.conn.handler_done(StreamId(1));
    script.conn.shut_down(script.now);
    script.waits(std::time::Duration::from_secs(10_000));
    script.listen();
    assert!(
        script.received().is_empty() && script.wrote().is_empty(),
        "silence"
    );
    assert_eq!(script.conn.next_deadline(), None);
    assert!(!script.conn.wants_read());
}
