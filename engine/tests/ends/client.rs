//! A client of ours against a scripted server.

use super::frame::{
    self, CODES, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, HTTP_1_1_REQUIRED, REFUSED_STREAM,
    frame, goaway,
};
use super::h3_peer::AGAIN;
use super::table::{Table, named};
use super::wire::{End, Identity, Wire};
use http::Method;
use http_body_util::BodyExt;
use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use trunkline::Body;
use trunkline::client::{Client, ClientTls, Protocols};

/// The row of a connection that stays open behind its GOAWAY.
const WITHOUT_END: &str = "GOAWAY of an error's code, last stream 1, and no end";

/// A server's bytes before its end: the received part of the body, and whether the body is
/// complete.
pub(super) struct Script {
    pub(super) place: &'static str,
    pub(super) sent: Vec<u8>,
    pub(super) body: &'static str,
}

/// The user's outcome, and the number of requests that reached the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) outcome: String,
    pub(crate) body: String,
    pub(crate) requests: usize,
}

pub(crate) async fn send(client: &Client, method: Method, url: &str) -> (String, String) {
    match method {
        Method::POST => outcome(client.post(url).body("pay=1").send()).await,
        _ => outcome(client.get(url).send()).await,
    }
}

/// The cell of a response to `sent`, and the part of its body that came.
pub(crate) async fn outcome(
    sent: impl Future<Output = Result<http::Response<Body>, trunkline::Error>>,
) -> (String, String) {
    let response = tokio::time::timeout(Duration::from_secs(60), sent).await;
    let response = match response.expect("the request settles") {
        Ok(response) => response,
        Err(error) => return (named("failed", &error), String::new()),
    };
    assert_eq!(response.status(), 200);
    let mut body = response.into_body();
    let mut read = Vec::new();
    let collected = async {
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame?.into_data() {
                read.extend_from_slice(&data);
            }
        }
        Ok::<_, trunkline::Error>(())
    };
    let ended = tokio::time::timeout(Duration::from_secs(60), collected).await;
    let ended = ended.expect("the body ends");
    let read = String::from_utf8(read).unwrap();
    match ended {
        Err(error) => (named("cut", &error), read),
        Ok(()) if read == AGAIN => ("again".into(), read),
        Ok(()) => ("whole".into(), read),
    }
}

/// Runs `serve` for each connection of a client that sends one POST; what both saw.
fn exchange(
    identity: Option<&Identity>,
    protocols: Protocols,
    serve: impl Fn(Wire) -> usize + Send + 'static,
) -> Seen {
    exchange_of(Method::POST, identity, protocols, serve)
}

fn exchange_of(
    method: Method,
    identity: Option<&Identity>,
    protocols: Protocols,
    serve: impl Fn(Wire) -> usize + Send + 'static,
) -> Seen {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let tls = identity.map(|identity| Arc::clone(&identity.server));
    let server = std::thread::spawn(move || {
        let mut requests = 0;
        while let Ok((socket, _)) = listener.accept() {
            let mut byte = [0];
            // The test's own connection says that the client is done.
            if socket
                .peek(&mut byte)
                .is_ok_and(|read| read == 1 && byte == *b".")
            {
                break;
            }
            requests += serve(Wire::accepted(socket, tls.clone()));
        }
        requests
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (outcome, body) = runtime.block_on(async {
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        let mut builder = Client::builder()
            .resolve("localhost", [address])
            .connections(1)
            .protocols(protocols);
        let mut scheme = "http";
        if let Some(identity) = identity {
            let tls = ClientTls::new().root(identity.root.clone());
            builder = builder.tls(tls.only_given_roots());
            scheme = "https";
        }
        let client = builder.build().unwrap();
        send(&client, method, &format!("{scheme}://localhost:{port}/")).await
    });
    drop(runtime);
    let mut last = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    last.write_all(b".").unwrap();
    Seen {
        outcome,
        body,
        requests: server.join().unwrap(),
    }
}

fn assert_seen(table: &Table, end: &str, place: &str, body: &str, seen: &Seen) {
    let expected = table.cell(end, place);
    let case = format!("{end}, {place}: {seen:?}");
    assert_eq!(seen.outcome, expected, "{case}");
    assert_eq!(
        seen.requests,
        1 + usize::from(expected == "again"),
        "{case}"
    );
    match expected {
        _ if expected.starts_with("failed") => assert_eq!(seen.body, "", "{case}"),
        "again" => assert_eq!(seen.body, AGAIN, "{case}"),
        _ => assert_eq!(seen.body, body, "what came is delivered: {case}"),
    }
}

pub(super) fn h1_scripts() -> [Script; 7] {
    let script = |place, sent: &str, body| Script {
        place,
        sent: sent.into(),
        body,
    };
    const LENGTH: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n";
    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    [
        script("before the head", "", ""),
        script("inside the head", &LENGTH[..LENGTH.len() - 4], ""),
        script(
            "in a body with content-length",
            &format!("{LENGTH}hel"),
            "hel",
        ),
        script(
            "in a chunked body",
            &format!("{CHUNKED}3\r\nhel\r\n"),
            "hel",
        ),
        script(
            "in the trailers",
            &format!("{CHUNKED}3\r\nhel\r\n0\r\nx-sum: 1\r\n"),
            "hel",
        ),
        script(
            "in a body that the end delimits",
            "HTTP/1.1 200 OK\r\n\r\nhel",
            "hel",
        ),
        script("behind the response", &format!("{LENGTH}hello"), "hello"),
    ]
}

#[test]
fn a_client_on_http_1_1_sees_what_the_table_says() {
    let table = Table::under("A client on HTTP/1.1");
    let identity = Identity::new(&["http/1.1"]);
    for end in End::ALL {
        for script in h1_scripts() {
            let sent = script.sent.clone();
            let identity = end.is_under_tls().then_some(&identity);
            let seen = exchange(identity, Protocols::H1Only, move |mut wire| {
                let mut request = Vec::new();
                let mut byte = [0];
                while !request.ends_with(b"pay=1") {
                    match wire.read(&mut byte) {
                        Ok(1) => request.push(byte[0]),
                        _ => return 0,
                    }
                }
                wire.write_all(&sent).unwrap();
                wire.end(end);
                let _ = wire.read_to_end(&mut Vec::new());
                1
            });
            assert_seen(&table, end.name(), script.place, script.body, &seen);
        }
    }
    table.assert_all_read();
}

pub(super) fn h2_scripts() -> [Script; 4] {
    const OK: &[u8] = &[0x88];
    let head = frame(frame::HEADERS, END_HEADERS, 1, OK);
    let data = |flags, text: &str| frame(frame::DATA, flags, 1, text.as_bytes());
    let script = |place, sent, body| Script { place, sent, body };
    [
        script("before the head", Vec::new(), ""),
        // The head goes on in CONTINUATION, behind which nothing else may come.
        script("inside the head", frame(frame::HEADERS, 0, 1, OK), ""),
        script(
            "in the body",
            [head.clone(), data(0, "hel")].concat(),
            "hel",
        ),
        script(
            "behind the response",
            [head, data(END_STREAM, "hello")].concat(),
            "hello",
        ),
    ]
}

/// Speaks HTTP/2: to the first request what `sent` says, and `end`; to every other one "again".
fn serve_h2(mut wire: Wire, sent: &[u8], is_second: bool, end: Option<End>) -> usize {
    let mut preface = [0; 24];
    match wire.read_exact(&mut preface) {
        Ok(()) => serve_frames(wire, sent, is_second, end),
        Err(_) => 0,
    }
}

/// As `serve_h2`, behind the preface.
fn serve_frames(mut wire: Wire, sent: &[u8], is_second: bool, end: Option<End>) -> usize {
    wire.write_all(&frame(frame::SETTINGS, 0, 0, &[])).unwrap();
    let mut requests = 0;
    while let Some(stream) = frame::read_request(&mut wire) {
        requests += 1;
        if requests > 1 || is_second {
            let head = frame(frame::HEADERS, END_HEADERS, stream, &[0x88]);
            let body = frame(frame::DATA, END_STREAM, stream, AGAIN.as_bytes());
            let _ = wire.write_all(&[head, body].concat());
            continue;
        }
        wire.write_all(sent).unwrap();
        match end {
            Some(end) => wire.end(end),
            None => wire.flush().unwrap(),
        }
    }
    requests
}

fn h2_exchange(identity: Option<&Identity>, sent: Vec<u8>, end: Option<End>) -> Seen {
    let connections = std::sync::atomic::AtomicUsize::new(0);
    exchange(identity, Protocols::H2Only, move |wire| {
        let before = connections.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        serve_h2(wire, &sent, before > 0, end)
    })
}

#[test]
fn a_client_on_http_2_sees_what_the_table_says() {
    let table = Table::under("A client on HTTP/2");
    let identity = Identity::new(&["h2"]);
    for script in h2_scripts() {
        for end in End::ALL {
            let identity = end.is_under_tls().then_some(&identity);
            let seen = h2_exchange(identity, script.sent.clone(), Some(end));
            assert_seen(&table, end.name(), script.place, script.body, &seen);
        }
        let others: Vec<u32> = CODES.filter(|&code| code != REFUSED_STREAM).collect();
        let rows = [
            ("RST_STREAM REFUSED_STREAM", vec![REFUSED_STREAM], None),
            ("RST_STREAM of any other code", others, None),
            (
                "GOAWAY of any code, last stream 1",
                CODES.collect(),
                Some(1),
            ),
            (
                "GOAWAY of any code, last stream 0",
                CODES.collect(),
                Some(0),
            ),
            // Each waits a second; the codes are the core's tests'.
            (WITHOUT_END, vec![ENHANCE_YOUR_CALM], Some(1)),
            ("a malformed frame", vec![0], None),
        ];
        for (name, codes, last) in rows {
            let expected = table.cell(name, script.place).to_owned();
            // Here the client may speak HTTP/2 alone.
            let codes = codes.into_iter().filter(|&code| code != HTTP_1_1_REQUIRED);
            for code in codes {
                let (ending, end) = match last {
                    None if name == "a malformed frame" => (frame::malformed(), None),
                    None => (frame::rst_stream(1, code), None),
                    Some(last) => (
                        goaway(last, code),
                        (name != WITHOUT_END).then_some(End::Fin),
                    ),
                };
                let sent = [script.sent.clone(), ending].concat();
                let seen = h2_exchange(None, sent, end);
                let case = format!("{name} {code}, {}: {seen:?}", script.place);
                assert_eq!(seen.outcome, expected, "{case}");
                let requests = 1 + usize::from(expected == "again");
                assert_eq!(seen.requests, requests, "{case}");
                if seen.outcome == "whole" || seen.outcome.starts_with("cut") {
                    assert_eq!(seen.body, script.body, "{case}");
                }
            }
        }
    }
    table.assert_all_read();
}

#[test]
fn a_response_behind_a_goaway_of_any_code_is_whole_on_http_2() {
    for code in CODES {
        let complete = h2_scripts()
            .into_iter()
            .find(|script| script.place == "behind the response");
        let answer = complete.expect("a whole response").sent;
        let sent = [goaway(1, code), answer].concat();
        let seen = h2_exchange(None, sent, Some(End::Fin));
        assert_eq!(
            (seen.outcome.as_str(), seen.requests),
            ("whole", 1),
            "{code}: {seen:?}"
        );
    }
}

/// A server of HTTP/2 whose GOAWAY says that it wants HTTP/1.1, and that has it.
fn http_1_1_required(method: Method, last: u32) -> Seen {
    let identity = Identity::new(&["h2", "http/1.1"]);
    exchange_of(
        method,
        Some(&identity),
        Protocols::H2AndH1,
        move |mut wire| {
            let mut first = [0; 24];
            if wire.read_exact(&mut first).is_err() {
                return 0;
            }
            if wire.is_h2() {
                return serve_frames(
                    wire,
                    &goaway(last, HTTP_1_1_REQUIRED),
                    false,
                    Some(End::CloseNotify),
                );
            }
            let _ = wire.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nagain");
            let _ = wire.read_to_end(&mut Vec::new());
            1
        },
    )
}

#[test]
fn what_a_server_wants_over_http_1_1_is_sent_again_only_if_it_was_not_processed_or_that_is_harmless()
 {
    // RFC 9113 section 8.7: the code alone does not say that the request was not acted on.
    for (method, last, outcome, requests) in [
        (Method::POST, 1, "failed: closed", 1),
        (Method::POST, 0, "again", 2),
        (Method::GET, 1, "again", 2),
        (Method::GET, 0, "again", 2),
    ] {
        let seen = http_1_1_required(method.clone(), last);
        assert_eq!(
            (seen.outcome.as_str(), seen.requests),
            (outcome, requests),
            "{method} {last}"
        );
    }
}

#[test]
fn an_early_answer_is_read_though_its_server_resets_the_upload() {
    const ANSWER: &[u8] = b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 5\r\n\r\nlarge";
    let identity = Identity::new(&["http/1.1"]);
    for round in 0..20 {
        let secure = round % 2 == 0;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let tls = secure.then(|| Arc::clone(&identity.server));
        let server = std::thread::spawn(move || {
            let mut wire = Wire::accepted(listener.accept().unwrap().0, tls);
            let mut head = [0; 1024];
            assert!(wire.read(&mut head).unwrap() > 0);
            wire.write_all(ANSWER).unwrap();
            // Unread bytes turn the end into a reset.
            drop(wire);
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let answer = runtime.unwrap().block_on(async {
            let address: SocketAddr = ([127, 0, 0, 1], 0).into();
            let tls = ClientTls::new()
                .root(identity.root.clone())
                .only_given_roots();
            let builder = Client::builder().resolve("localhost", [address]).tls(tls);
            let client = builder.protocols(Protocols::H1Only).build().unwrap();
            let scheme = if secure { "https" } else { "http" };
            let url = format!("{scheme}://localhost:{port}/");
            let sent = client.post(url).body(vec![b'x'; 32 << 20]).send();
            let response = tokio::time::timeout(Duration::from_secs(20), sent);
            let response = response.await.expect("the request settles").unwrap();
            let status = response.status();
            (
                status,
                response.into_body().collect().await.unwrap().to_bytes(),
            )
        });
        server.join().unwrap();
        assert_eq!(
            answer,
            (http::StatusCode::PAYLOAD_TOO_LARGE, "large".into()),
            "{secure}"
        );
    }
}
