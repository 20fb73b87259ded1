//! Responses that are not what gRPC says, to tonic over our client: each has the status that gRPC's documents
//! give (PROTOCOL-HTTP2.md, http-grpc-status-mapping.md, compression.md, statuscodes.md).
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::frames::{FramePeer, Received, scripted};
use bytes::{Buf, BufMut, Bytes};
use http::uri::PathAndQuery;
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::{Code, Status};
use trunkline::Client;
use trunkline::grpc::GrpcClient;

/// Messages that are bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }
    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, out: &mut EncodeBuf<'_>) -> Result<(), Status> {
        out.put(item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

type Fields = &'static [(&'static str, &'static str)];

/// How a response ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// With the head.
    Head,
    /// With its last DATA.
    Data,
    Trailers(Fields),
    /// RST_STREAM with this code.
    Reset(u32),
    /// RST_STREAM in place of a head.
    OnlyReset(u32),
}

/// A response.
#[derive(Clone, Copy, Debug)]
struct Response {
    head: Fields,
    body: &'static [u8],
    end: End,
}

impl Response {
    fn send(self, peer: &mut FramePeer, stream: u32) {
        if let End::OnlyReset(code) = self.end {
            return peer.resets(stream, code);
        }
        let ends = matches!(self.end, End::Head);
        peer.sends_fields(stream, ends, self.head);
        // Byte by byte: no boundary of DATA is one of a message.
        for byte in self.body {
            peer.sends_data(stream, false, &[*byte]);
        }
        match self.end {
            End::Head | End::OnlyReset(_) => {}
            End::Data => peer.sends_data(stream, true, &[]),
            End::Trailers(fields) => peer.sends_fields(stream, true, fields),
            End::Reset(code) => peer.resets(stream, code),
        }
    }
}

const GRPC: Fields = &[(":status", "200"), ("content-type", "application/grpc")];
const OK: End = End::Trailers(&[("grpc-status", "0")]);
/// A message of two bytes.
const MESSAGE: &[u8] = &[0, 0, 0, 0, 2, b'h', b'i'];

/// The codes of a unary and of a streaming call that have this response.
fn codes(response: Response) -> [Code; 2] {
    let (url, peer) = scripted(move |mut peer| {
        loop {
            match peer.receives() {
                // A refused call comes again.
                Received::Request(stream) => response.send(&mut peer, stream),
                Received::End => return,
                _ => {}
            }
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let codes = runtime.block_on(async {
        let service = GrpcClient::new(Client::new());
        let mut client = Grpc::with_origin(service, url.parse().unwrap());
        [unary(&mut client).await, streaming(&mut client).await]
    });
    // The client's connection ends with its runtime.
    drop(runtime);
    peer.join().unwrap();
    codes
}

fn method() -> PathAndQuery {
    PathAndQuery::from_static("/test.Service/Method")
}

async fn unary(client: &mut Grpc<GrpcClient>) -> Code {
    client.ready().await.unwrap();
    let request = tonic::Request::new(Bytes::from("x"));
    let response = client.unary::<_, Bytes, _>(request, method(), Raw).await;
    response.map_or_else(|status| status.code(), |_| Code::Ok)
}

async fn streaming(client: &mut Grpc<GrpcClient>) -> Code {
    client.ready().await.unwrap();
    let request = tonic::Request::new(Bytes::from("x"));
    let response = client.server_streaming::<_, Bytes, _>(request, method(), Raw);
    let mut messages = match response.await {
        Ok(response) => response.into_inner(),
        Err(status) => return status.code(),
    };
    loop {
        match messages.message().await {
            Ok(Some(message)) => assert_eq!(message, "hi"),
            Ok(None) => return Code::Ok,
            Err(status) => return status.code(),
        }
    }
}

fn check(rows: &[(&str, Response, Code)]) {
    for &(name, response, code) in rows {
        assert_eq!(codes(response), [code; 2], "{name}");
    }
}

fn grpc(body: &'static [u8], end: End) -> Response {
    let head = GRPC;
    Response { head, body, end }
}

#[test]
fn a_malformed_message_has_the_status_that_grpc_gives_it() {
    let cut = "a message that trailers with status 0 cut";
    check(&[
        ("a whole message", grpc(MESSAGE, OK), Code::Ok),
        (
            "a compressed message without grpc-encoding",
            grpc(&[1, 0, 0, 0, 2, b'h', b'i'], OK),
            Code::Internal,
        ),
        (
            "a flag that is none",
            grpc(&[2, 0, 0, 0, 2, b'h', b'i'], OK),
            Code::Internal,
        ),
        (cut, grpc(&[0, 0, 0, 0, 2, b'h'], OK), Code::Internal),
        (
            "a message and a part of a prefix",
            grpc(&[0, 0, 0, 0, 2, b'h', b'i', 0, 0], OK),
            Code::Internal,
        ),
        (
            "a message that END_STREAM cuts",
            grpc(&[0, 0, 0, 0, 2, b'h'], End::Data),
            Code::Internal,
        ),
        (
            "a part of a message and another status",
            grpc(
                &[0, 0, 0, 0, 2, b'h'],
                End::Trailers(&[("grpc-status", "5")]),
            ),
            Code::NotFound,
        ),
    ]);
}

#[test]
fn a_response_without_a_status_or_with_one_that_is_none_is_unknown() {
    let trailers = |fields| grpc(MESSAGE, End::Trailers(fields));
    check(&[
        ("no trailers", grpc(MESSAGE, End::Data), Code::Unknown),
        (
            "trailers without grpc-status",
            trailers(&[("x-other", "1")]),
            Code::Unknown,
        ),
        (
            "a status that is no number",
            trailers(&[("grpc-status", "abc")]),
            Code::Unknown,
        ),
        (
            "a status above the last one",
            trailers(&[("grpc-status", "99")]),
            Code::Unknown,
        ),
        ("a head alone", grpc(&[], End::Head), Code::Unknown),
    ]);
}

#[test]
fn a_response_that_is_not_grpcs_has_the_status_of_its_http_status() {
    for (status, code) in [
        ("200", Code::Unknown),
        ("204", Code::Unknown),
        ("400", Code::Internal),
        ("401", Code::Unauthenticated),
        ("403", Code::PermissionDenied),
        ("404", Code::Unimplemented),
        ("418", Code::Unknown),
        ("429", Code::Unavailable),
        ("500", Code::Unknown),
        ("502", Code::Unavailable),
        ("503", Code::Unavailable),
        ("504", Code::Unavailable),
    ] {
        let head = vec![(":status", status), ("content-type", "text/html")];
        let page = Response {
            head: head.leak(),
            body: match status {
                "204" => b"",
                _ => b"<html>",
            },
            end: End::Data,
        };
        assert_eq!(codes(page), [code; 2], "HTTP status {status}");
    }
    check(&[(
        "a grpc-status decides",
        Response {
            head: &[(":status", "503"), ("grpc-status", "5")],
            body: b"",
            end: End::Head,
        },
        Code::NotFound,
    )]);
}

#[test]
fn a_reset_has_the_status_of_its_code_before_the_head_and_behind_a_message() {
    for (reset, code) in [
        (0, Code::Internal),
        (1, Code::Internal),
        (2, Code::Internal),
        (3, Code::Internal),
        (4, Code::Internal),
        (5, Code::Internal),
        (6, Code::Internal),
        (7, Code::Unavailable),
        (8, Code::Cancelled),
        (9, Code::Internal),
        (10, Code::Internal),
        (11, Code::ResourceExhausted),
        (12, Code::PermissionDenied),
    ] {
        for end in [End::OnlyReset(reset), End::Reset(reset)] {
            assert_eq!(codes(grpc(MESSAGE, end)), [code; 2], "{end:?}");
        }
    }
}

/// gRPC's documents say RESOURCE_EXHAUSTED of the first; the limit is tonic's, and so is its status.
#[test]
fn messages_above_tonics_limit_and_unknown_codings_have_a_status() {
    let unknown: Fields = &[
        (":status", "200"),
        ("content-type", "application/grpc"),
        ("grpc-encoding", "unknown"),
    ];
    check(&[
        (
            "a message of 16 MiB",
            grpc(&[0, 1, 0, 0, 0], OK),
            Code::OutOfRange,
        ),
        (
            "a coding",
            Response {
                head: unknown,
                body: MESSAGE,
                end: OK,
            },
            Code::Internal,
        ),
    ]);
}
