//! A server of ours against a scripted client.

use super::frame::{self, CODES, END_HEADERS, END_STREAM, frame};
use super::table::{Table, named};
use super::wire::{End, Identity, Wire};
use crate::support::peer::service;
use http::{Request, Response};
use http_body_util::BodyExt;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use trunkline::{Body, Running, Server, Tls};

/// A client's bytes before its end.
pub(super) struct Script {
    pub(super) place: &'static str,
    pub(super) sent: Vec<u8>,
}

/// The cell of a request at its handler, and the part of its body that came.
pub(super) type Came = (String, String);

/// A server whose handler reads its request in a task of its own and answers behind it, and what the
/// handlers saw.
pub(super) struct Stage {
    pub(super) running: Running,
    seen: Receiver<Came>,
}

async fn read(mut body: Body) -> Came {
    let mut read = Vec::new();
    loop {
        let seen = match body.frame().await {
            None => "whole".into(),
            Some(Err(error)) => named("cut", &error),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    read.extend_from_slice(&data);
                }
                continue;
            }
        };
        return (seen, String::from_utf8(read).unwrap());
    }
}

impl Stage {
    pub(super) fn start(identity: Option<&Identity>) -> Self {
        let server = Server::bind("127.0.0.1:0").workers(1);
        Self::over(match identity {
            Some(identity) => server.tls(Tls::from_rustls(Arc::clone(&identity.server))),
            None => server,
        })
    }
    pub(super) fn over(server: Server) -> Self {
        let (report, seen) = channel();
        let handler = move |request: Request<Body>| {
            let report: Sender<_> = report.clone();
            let (done, is_done) = tokio::sync::oneshot::channel();
            tokio::task::spawn_local(async move {
                let seen = read(request.into_body()).await;
                let _ = report.send(seen);
                let _ = done.send(());
            });
            async move {
                let _ = is_done.await;
                Response::new(Body::full("answer"))
            }
        };
        let running = server.serve(service(handler)).unwrap();
        Self { running, seen }
    }
    fn connect(&self, identity: Option<&Identity>) -> Wire {
        let socket = TcpStream::connect(self.running.local_addr()).unwrap();
        Wire::connected(
            socket,
            identity.map(|identity| Arc::clone(&identity.client)),
        )
    }
    /// The outcome at the handler of the next request.
    pub(super) fn next(&self) -> Came {
        let seen = self.seen.recv_timeout(Duration::from_secs(60));
        seen.expect("a handler sees the end of its request")
    }
    /// Returns that outcome if it is there.
    pub(super) fn try_next(&self) -> Option<Came> {
        self.seen.try_recv().ok()
    }
    /// Sends `sent`, ends it, and says what came of it. `is_seen`: a handler gets a request.
    fn exchange(&self, identity: Option<&Identity>, sent: &[u8], end: End, is_seen: bool) -> Came {
        let mut wire = self.connect(identity);
        wire.write_all(sent).unwrap();
        wire.end(end);
        let mut answer = Vec::new();
        // A connection that was reset says so.
        let _ = wire.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let mut seen = self.seen_behind(identity, sent.starts_with(b"PRI "), is_seen);
        let is_answered = answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("answer");
        // After an error it is chance whether the answer left before.
        let can_read = matches!(end, End::Fin | End::CloseNotify | End::Ragged);
        if seen.0 == "whole" && is_answered && can_read {
            seen.0 = "answered".into();
        }
        seen
    }
    /// The outcome of the request before, if a handler gets it: a request on another connection shows
    /// that the server is past it.
    pub(super) fn seen_behind(
        &self,
        identity: Option<&Identity>,
        is_h2: bool,
        is_seen: bool,
    ) -> Came {
        let mut probe = self.connect(identity);
        match is_h2 {
            true => probe.write_all(&[PREFACE, &h2_head(END_STREAM, identity.is_some())].concat()),
            false => probe.write_all(b"GET /probe HTTP/1.1\r\nhost: a\r\n\r\n"),
        }
        .unwrap();
        probe.flush().unwrap();
        let probed = ("whole".into(), String::new());
        let mut seen = self.next();
        if !is_seen {
            assert_eq!(seen, probed);
            return ("none".into(), String::new());
        }
        match seen == probed {
            true => seen = self.next(),
            false => assert_eq!(self.next(), probed),
        }
        seen
    }
    /// Nothing was seen that no test asked for.
    pub(super) fn end(self) {
        drop(self.running);
        assert_eq!(self.seen.try_recv().ok(), None);
    }
}

fn assert_seen(table: &Table, end: &str, place: &str, seen: &Came) {
    let expected = table.cell(end, place);
    assert_eq!(seen.0, expected, "{end}, {place}: {seen:?}");
    if expected != "none" {
        let body = if expected.starts_with("cut") {
            "hel"
        } else {
            "hello"
        };
        assert_eq!(seen.1, body, "what came is delivered: {end}, {place}");
    }
}

#[test]
fn a_handler_on_http_1_1_sees_what_the_table_says() {
    let table = Table::under("A server on HTTP/1.1");
    let scripts = h1_scripts();
    let identity = Identity::new(&["http/1.1"]);
    let (plain, secure) = (Stage::start(None), Stage::start(Some(&identity)));
    for end in End::ALL {
        for script in &scripts {
            let is_seen = table.cell(end.name(), script.place) != "none";
            let seen = match end.is_under_tls() {
                true => secure.exchange(Some(&identity), &script.sent, end, is_seen),
                false => plain.exchange(None, &script.sent, end, is_seen),
            };
            assert_seen(&table, end.name(), script.place, &seen);
        }
    }
    table.assert_all_read();
    plain.end();
    secure.end();
}

pub(super) fn h1_scripts() -> [Script; 5] {
    const LENGTH: &str = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n";
    const CHUNKED: &str = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
    let script = |place, sent: &str| Script {
        place,
        sent: sent.into(),
    };
    [
        script("inside the head", &LENGTH[..LENGTH.len() - 4]),
        script("in a body with content-length", &format!("{LENGTH}hel")),
        script("in a chunked body", &format!("{CHUNKED}3\r\nhel\r\n")),
        script(
            "in the trailers",
            &format!("{CHUNKED}3\r\nhel\r\n0\r\nx-sum: 1\r\n"),
        ),
        script("behind the request", &format!("{LENGTH}hello")),
    ]
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// `POST /` of the host `a`, in names and values that need no table.
fn h2_head(flags: u8, secure: bool) -> Vec<u8> {
    // ":scheme: http" and ":scheme: https" (RFC 7541 appendix A).
    let scheme = if secure { 0x87 } else { 0x86 };
    let post = [0x83, scheme, 0x84, 0x41, 0x01, b'a'];
    frame(frame::HEADERS, END_HEADERS | flags, 1, &post)
}

pub(super) fn h2_scripts(secure: bool) -> [Script; 3] {
    let data = |flags, text: &str| frame(frame::DATA, flags, 1, text.as_bytes());
    let script = |place, frames: &[Vec<u8>]| Script {
        place,
        sent: [PREFACE, &frames.concat()].concat(),
    };
    let mut begun = h2_head(0, secure);
    // END_HEADERS is not among its flags: the head goes on in CONTINUATION.
    begun[4] = 0;
    let head = || h2_head(0, secure);
    [
        script("inside the head", &[begun]),
        script("in the body", &[head(), data(0, "hel")]),
        script("behind the request", &[head(), data(END_STREAM, "hello")]),
    ]
}

#[test]
fn a_handler_on_http_2_sees_what_the_table_says() {
    let table = Table::under("A server on HTTP/2");
    let identity = Identity::new(&["h2"]);
    let (plain, secure) = (Stage::start(None), Stage::start(Some(&identity)));
    let secured = h2_scripts(true);
    for (script, secured) in h2_scripts(false).iter().zip(&secured) {
        for end in End::ALL {
            let is_seen = table.cell(end.name(), script.place) != "none";
            let seen = match end.is_under_tls() {
                true => secure.exchange(Some(&identity), &secured.sent, end, is_seen),
                false => plain.exchange(None, &script.sent, end, is_seen),
            };
            assert_seen(&table, end.name(), script.place, &seen);
        }
        for (name, ending) in [
            (
                "RST_STREAM of any code",
                frame::rst_stream as fn(u32, u32) -> Vec<u8>,
            ),
            ("GOAWAY of any code, then FIN", |_, code| {
                frame::goaway(0, code)
            }),
            ("a malformed frame", |_, _| frame::malformed()),
        ] {
            let expected = table.cell(name, script.place);
            let codes = if name == "a malformed frame" {
                0..=0
            } else {
                CODES
            };
            for code in codes {
                let sent = [&script.sent[..], &ending(1, code)].concat();
                let seen = plain.exchange(None, &sent, End::Fin, expected != "none");
                assert_eq!(
                    seen.0, expected,
                    "{name} {code}, {}: {seen:?}",
                    script.place
                );
            }
        }
    }
    table.assert_all_read();
    plain.end();
    secure.end();
}
