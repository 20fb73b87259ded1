//! Two methods of gRPC whose messages are bytes, so that protobuf costs nothing: one sends its message back, one sends it
//! many times.

use bytes::{Buf, BufMut, Bytes};
use futures_util::stream::{Iter, iter};
use http::{Request, Response};
use std::convert::Infallible;
use std::future::{Future, Ready, ready};
use std::iter::{RepeatN, repeat_n};
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::Status;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::{Grpc, NamedService, ServerStreamingService, UnaryService};
use tonic::service::Routes;
use tower_service::Service;

/// The path of the method that sends a message back.
pub(crate) const PATH: &str = "/bench.Echo/Echo";
/// The path of the method that sends it [`STREAMED`] times.
pub(crate) const STREAM_PATH: &str = "/bench.Echo/Stream";
/// Messages of one stream.
pub(crate) const STREAMED: usize = 1000;

/// The server's services.
pub(crate) fn routes() -> Routes {
    Routes::new(Echo)
}

#[derive(Clone)]
struct Echo;

impl NamedService for Echo {
    const NAME: &'static str = "bench.Echo";
}

impl Service<Request<Body>> for Echo {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match request.uri().path() {
            STREAM_PATH => {
                Box::pin(async { Ok(Grpc::new(Raw).server_streaming(Back, request).await) })
            }
            _ => Box::pin(async { Ok(Grpc::new(Raw).unary(Back, request).await) }),
        }
    }
}

struct Back;

impl UnaryService<Bytes> for Back {
    type Response = Bytes;
    type Future = Ready<Result<tonic::Response<Bytes>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        ready(Ok(tonic::Response::new(request.into_inner())))
    }
}

impl ServerStreamingService<Bytes> for Back {
    type Response = Bytes;
    type ResponseStream = Iter<RepeatN<Result<Bytes, Status>>>;
    type Future = Ready<Result<tonic::Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        let messages = repeat_n(Ok(request.into_inner()), STREAMED);
        ready(Ok(tonic::Response::new(iter(messages))))
    }
}

/// Messages that are bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Raw;

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
