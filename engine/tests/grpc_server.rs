//! Methods of gRPC services: what they see of their clients.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::frame_client::{Frame, FramePeer, kind};
use crate::support::peer::{runtime, service_fn};

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use http::{Request, Response};
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::future::pending;
use std::sync::mpsc;
use std::time::Duration;
use tonic::{Code, Status};
use trunkline::client::Protocols;
use trunkline::grpc::with_deadlines;
use trunkline::{Body, Client, Server};

/// POST to `http://a/` with `content-type: application/grpc` (RFC 7541 appendix A).
const CALL: &[u8] = b"\x83\x86\x84\x41\x01a\x5f\x10application/grpc";

#[test]
fn a_method_that_reads_messages_sees_by_which_status_its_client_has_ended_the_call() {
    for (code, expected) in [
        (0, Code::Internal),
        (1, Code::Internal),
        (8, Code::Cancelled),
        (11, Code::ResourceExhausted),
    ] {
        let (seen, sees) = mpsc::channel();
        let reads = service_fn(move |request: Request<Body>| {
            let seen = seen.clone();
            // The call itself is dropped with its exchange; what it has spawned reads on.
            tokio::spawn(async move {
                let error = request.into_body().collect().await.unwrap_err();
                let kind = error.kind();
                let status = Status::from_error(Box::new(error));
                seen.send((status.code(), kind)).unwrap();
            });
            pending::<Result<Response<Body>, Infallible>>()
        });
        let server = Server::bind("127.0.0.1:0").workers(1);
        let running = server.serve(with_deadlines(reads)).unwrap();
        let mut peer = FramePeer::connect(running.local_addr());
        peer.sends(&Frame::new(kind::HEADERS, 0x4, 1, CALL));
        peer.sends(&Frame::new(kind::DATA, 0, 1, b"\0\0\0\0\x01"));
        peer.sends(&Frame::new(kind::RST_STREAM, 0, 1, &[0, 0, 0, code]));
        let (status, kind) = sees.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(status, expected, "{code}");
        let reset = trunkline::ErrorKind::StreamReset(trunkline::H2Code(code.into()));
        assert_eq!(kind, reset, "the error itself stays");
    }
}

/// The message `a`, and the message of gRPC-Web that ends a body with the trailers of a code.
const MESSAGE: &[u8] = b"\0\0\0\0\x01a";
const LATE: &[u8] =
    b"\x80\0\0\0\x41grpc-status:4\r\ngrpc-message:the deadline of the call has passed\r\n";

/// A service with a layer for gRPC-Web in it, whose calls end by their deadline alone: in front of the head of their
/// response, or behind a message.
fn web_call(request: &Request<Body>) -> Response<Body> {
    let media_type = request.headers()["content-type"].clone();
    let is_text = media_type
        .as_bytes()
        .starts_with(b"application/grpc-web-text");
    let message: &'static [u8] = if is_text { b"AAAAAAFh" } else { MESSAGE };
    let first = stream::iter([Ok::<_, Infallible>(Bytes::from_static(message))]);
    let mut response = Response::new(Body::from_stream(first.chain(stream::pending())));
    response.headers_mut().insert("content-type", media_type);
    response
}

#[test]
fn a_call_of_grpc_web_has_the_status_of_its_deadline_where_a_browser_reads_it() {
    let service = service_fn(async |request: Request<Body>| {
        if request.uri().path() == "/never" {
            pending::<()>().await;
        }
        Ok::<_, Infallible>(web_call(&request))
    });
    let server = Server::bind("127.0.0.1:0").workers(1);
    let running = server.serve(with_deadlines(service)).unwrap();
    let text = [b"AAAAAAFh", BASE64.encode(LATE).as_bytes()].concat();
    let client = Client::builder().protocols(Protocols::H1Only).build();
    let client = client.unwrap();
    for (media_type, body) in [
        ("application/grpc-web+proto", [MESSAGE, LATE].concat()),
        ("application/grpc-web-text+proto", text),
    ] {
        for (path, status, body) in [("never", Some("4"), Vec::new()), ("message", None, body)] {
            let url = format!("http://{}/{path}", running.local_addr());
            let request = client.post(url).header("content-type", media_type);
            let request = request.header("accept", media_type);
            let request = request.header("grpc-timeout", "20m").body("");
            let (head, read) = runtime().block_on(async {
                let (head, read) = request.send().await.unwrap().into_parts();
                (head, read.collect().await.unwrap())
            });
            assert_eq!(head.headers["content-type"], media_type, "{path}");
            let code = head.headers.get("grpc-status");
            assert_eq!(code.map(|code| code.to_str().unwrap()), status);
            assert!(read.trailers().is_none(), "no browser reads them");
            assert_eq!(read.to_bytes(), body, "{media_type} {path}");
        }
    }
}
