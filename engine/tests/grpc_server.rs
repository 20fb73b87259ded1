//! Methods of gRPC services: what they see of their clients.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::frame_client::{Frame, FramePeer, kind};
use crate::support::peer::service_fn;
use http::{Request, Response};
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::future::pending;
use std::sync::mpsc;
use std::time::Duration;
use tonic::{Code, Status};
use trunkline::grpc::with_deadlines;
use trunkline::{Body, Server};

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
        let reset = trunkline::ErrorKind::StreamReset(trunkline::core::error::H2Code(code.into()));
        assert_eq!(kind, reset, "the error itself stays");
    }
}
