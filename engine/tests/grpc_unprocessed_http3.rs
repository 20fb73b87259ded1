//! Calls of gRPC that a server left unprocessed over HTTP/3: which of them go out again, with which bytes.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::ends::h3::{self, End, Script, Seen};
use crate::ends::quic::{PATIENCE, Quic};
use crate::ends::wire::Identity;
use bytes::{Buf, Bytes};
use http::Request;
use http_body::Frame;
use http_body_util::StreamBody;
use quinn_proto::VarInt;
use quinn_proto::coding::Codec;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tonic::Code;
use tower_service::Service as _;
use trunkline::Client;
use trunkline::client::{ClientTls, HealthTimes, Protocols};
use trunkline::grpc::GrpcClient;

/// A message of two bytes.
const MESSAGE: &[u8] = &[0, 0, 0, 0, 2, b'h', b'i'];
/// `:status: 200`, of the static table (RFC 9204 appendix A).
const FOREIGN: &[u8] = &[0xd9];
/// `:status: 200`, `content-type: application/grpc` and `grpc-status: 0`.
const OK: &[u8] = b"\xd9\x5f\x1d\x10application/grpc\x27\x04grpc-status\x010";
/// `H3_REQUEST_CANCELLED`.
const CANCELLED: u64 = 0x10c;

/// The content of a request, out of its frames.
fn content(mut frames: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    while frames.has_remaining() {
        let kind = VarInt::decode(&mut frames).unwrap().into_inner();
        let length = VarInt::decode(&mut frames).unwrap().into_inner() as usize;
        if kind == h3::DATA {
            content.extend_from_slice(&frames[..length]);
        }
        frames.advance(length);
    }
    content
}

/// Reacts to the first call by these ends, and answers every other one; the bodies of those.
fn serve(mut quic: Quic, sent: &[u8], ends: &[End], stop: &AtomicBool) -> Vec<Vec<u8>> {
    let (mut seen, mut bodies) = (Seen::default(), Vec::new());
    while !stop.load(Ordering::SeqCst) {
        for request in seen.turn(&mut quic) {
            seen.requests.push(request);
            let (connection, stream) = request;
            if seen.requests.len() > 1 {
                bodies.push(content(&quic.received(connection, stream).unwrap().bytes));
                let head = h3::frame(h3::HEADERS, &h3::section(&[OK]));
                quic.write(connection, stream, &head, true);
                continue;
            }
            let mut script = Script {
                place: "",
                sent: sent.to_vec(),
                body: "",
                is_whole: false,
            };
            for &end in ends {
                let streams = (stream, seen.controls[&connection]);
                h3::play(&mut quic, connection, streams, &script, end, false);
                script.sent.clear();
            }
        }
    }
    bodies
}

/// The code of a call whose message is one piece of a stream, and the bodies of the calls that were answered.
fn call(sent: &[u8], ends: &'static [End], message: &'static [u8]) -> (Code, Vec<Vec<u8>>) {
    let identity = Identity::new(&["h3"]);
    let quic = Quic::server(&identity, PATIENCE);
    let url = format!("https://localhost:{}/test.Service/Method", quic.port());
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, sent) = (Arc::clone(&stop), sent.to_vec());
    let server = std::thread::spawn(move || serve(quic, &sent, ends, &stopped));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let code = runtime.block_on(async {
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        let client = Client::builder()
            .health(HealthTimes::default().with_unanswered(None))
            .resolve("localhost", [address])
            .connections(1)
            .protocols(Protocols::H3Only)
            .tls(
                ClientTls::new()
                    .root(identity.root.clone())
                    .only_given_roots(),
            )
            .build()
            .unwrap();
        let pieces = [Ok::<_, Infallible>(Frame::data(Bytes::from_static(
            message,
        )))];
        let body = StreamBody::new(futures_util::stream::iter(pieces));
        let request = Request::post(url).header("content-type", "application/grpc");
        let request = request.body(body).unwrap();
        let answer = GrpcClient::new(client).call(request).await;
        answer.map_or_else(|status| status.code(), |_| Code::Ok)
    });
    drop(runtime);
    stop.store(true, Ordering::SeqCst);
    (code, server.join().unwrap())
}

/// A name, the bytes and the ends that the peer sends, the message, the code of the call, and whether it came again.
type Row<'a> = (&'a str, &'a [u8], &'static [End], &'static [u8], Code, bool);

#[test]
fn a_call_over_http_3_that_the_peer_left_unprocessed_is_sent_again_and_no_other_is() {
    const REJECTS: &[End] = &[End::Reset(h3::REQUEST_REJECTED)];
    const GOES_AWAY: &[End] = &[End::GoawayAlone(0)];
    const GOES_AWAY_ABOVE: &[End] = &[End::Goaway(4)];
    const CANCELS: &[End] = &[End::Reset(CANCELLED)];
    let foreign = h3::frame(h3::HEADERS, &h3::section(&[FOREIGN]));
    let large: &[u8] = vec![0; 256 * 1024 + 1].leak();
    let rows: [Row<'_>; 6] = [
        ("GOAWAY below it", b"", GOES_AWAY, MESSAGE, Code::Ok, true),
        ("H3_REQUEST_REJECTED", b"", REJECTS, MESSAGE, Code::Ok, true),
        (
            "GOAWAY that includes it, and CONNECTION_CLOSE",
            b"",
            GOES_AWAY_ABOVE,
            MESSAGE,
            Code::Unavailable,
            false,
        ),
        (
            "H3_REQUEST_CANCELLED",
            b"",
            CANCELS,
            MESSAGE,
            Code::Cancelled,
            false,
        ),
        (
            "GOAWAY below a body that is not kept",
            b"",
            GOES_AWAY,
            large,
            Code::Unavailable,
            false,
        ),
        (
            "H3_REQUEST_REJECTED behind a head that is not gRPC's",
            &foreign,
            REJECTS,
            MESSAGE,
            Code::Unknown,
            false,
        ),
    ];
    for (name, sent, ends, message, code, comes_again) in rows {
        let bodies = match comes_again {
            true => vec![message.to_vec()],
            false => Vec::new(),
        };
        assert_eq!(call(sent, ends, message), (code, bodies), "{name}");
    }
}
