//! Calls of gRPC that a server left unprocessed: which of them go out again, with which bytes.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::frames;
use crate::support::frames::{FramePeer, Received};
use bytes::Bytes;
use http::Request;
use http_body::Frame;
use http_body_util::StreamBody;
use std::convert::Infallible;
use tonic::Code;
use tower_service::Service as _;
use trunkline::Client;
use trunkline::client::Protocols;
use trunkline::grpc::GrpcClient;

/// A message of two bytes.
const MESSAGE: &[u8] = &[0, 0, 0, 0, 2, b'h', b'i'];
const OK: &[(&str, &str)] = &[
    (":status", "200"),
    ("content-type", "application/grpc"),
    ("grpc-status", "0"),
];

/// The peer's reaction to a call and the first bytes of its body.
type React = fn(&mut FramePeer, u32);

/// A peer that reacts so to the first request, and answers `more` others, on this connection or on later ones. Returns the
/// body of the first of them.
fn peer(
    listener: std::net::TcpListener,
    react: React,
    more: u32,
    has_body: bool,
) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut peer = FramePeer::accept(&listener);
        peer.settings(&[]);
        let first = peer.receives_request();
        peer.receives_data();
        react(&mut peer, first);
        let (mut answered, mut body) = (0, Vec::new());
        while answered < more {
            match peer.receives_more() {
                Received::Request(stream) => {
                    if answered == 0 && has_body {
                        body = peer.receives_data();
                    }
                    peer.sends_fields(stream, true, OK);
                    answered += 1;
                }
                Received::End => {
                    peer = FramePeer::accept(&listener);
                    peer.settings(&[]);
                }
                _ => {}
            }
        }
        while peer.receives() != Received::End {}
        body
    })
}

/// The code of a call whose message is one piece of a stream, and the body with which it came again, if it did.
fn call(react: React, message: &'static [u8], comes_again: bool) -> (Code, Vec<u8>) {
    let (url, listener) = frames::listen();
    let peer = peer(listener, react, 1 + u32::from(comes_again), comes_again);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let code = runtime.block_on(async {
        let client = Client::builder().protocols(Protocols::H2Only);
        let client = client.connections(1).build().unwrap();
        let pieces = [Ok::<_, Infallible>(Frame::data(Bytes::from_static(
            message,
        )))];
        let body = StreamBody::new(futures_util::stream::iter(pieces));
        let request = Request::post(format!("{url}test.Service/Method"));
        let request = request.header("content-type", "application/grpc");
        let request = request.body(body).unwrap();
        let answer = GrpcClient::new(client.clone()).call(request).await;
        // The peer waits for it.
        client.get(&url).send().await.unwrap();
        answer.map_or_else(|status| status.code(), |_| Code::Ok)
    });
    drop(runtime);
    (code, peer.join().unwrap())
}

#[test]
fn a_call_that_the_peer_left_unprocessed_is_sent_again_and_no_other_is() {
    let goes_away: React = |peer, _| peer.goes_away(0);
    let refuses: React = |peer, stream| peer.refuses(stream);
    let processes: React = |peer, stream| {
        peer.goes_away(stream);
        peer.resets(stream, 8);
    };
    let cancels: React = |peer, stream| peer.resets(stream, 8);
    let answers_first: React = |peer, stream| {
        peer.answers_in_part(stream);
        peer.resets(stream, 7);
    };
    let long: &[u8] = vec![0; 256 * 1024].leak();
    let too_long: &[u8] = vec![0; 256 * 1024 + 1].leak();
    let rows: [(&str, React, &'static [u8], Code, bool); 7] = [
        ("GOAWAY below it", goes_away, MESSAGE, Code::Ok, true),
        (
            "GOAWAY below as much as is kept",
            goes_away,
            long,
            Code::Ok,
            true,
        ),
        ("REFUSED_STREAM", refuses, MESSAGE, Code::Ok, true),
        (
            "GOAWAY that includes it, and CANCEL",
            processes,
            MESSAGE,
            Code::Cancelled,
            false,
        ),
        ("CANCEL", cancels, MESSAGE, Code::Cancelled, false),
        (
            "GOAWAY below a body that is not kept",
            goes_away,
            too_long,
            Code::Unavailable,
            false,
        ),
        (
            "REFUSED_STREAM behind a head that is not gRPC's",
            answers_first,
            MESSAGE,
            Code::Unknown,
            false,
        ),
    ];
    for (name, react, message, code, comes_again) in rows {
        // The frame with which it came again.
        let body = match comes_again {
            true => &message[..message.len().min(16_384)],
            false => b"",
        };
        assert_eq!(
            call(react, message, comes_again),
            (code, body.to_vec()),
            "{name}"
        );
    }
}
