//! The server of gRPC's interop suite, as a tonic service.

use super::wire::{
    self, AGGREGATED_SIZE, FILL_SERVER_ID, ONLY_PAYLOAD, RESPONSE_PARAMETERS, RESPONSE_SIZE,
    RESPONSE_STATUS, SERVER_ID,
};
use crate::grpc::Raw;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tonic::body::Body;
use tonic::codec::CompressionEncoding;
use tonic::server::{Grpc, NamedService};
use tonic::{Status, Streaming};
use tower::service_fn;
use tower_service::Service;

/// The request's field that comes back in the head.
pub(super) const ECHO_INITIAL: &str = "x-grpc-test-echo-initial";
/// The request's field that comes back in the trailers.
pub(super) const ECHO_TRAILING: &str = "x-grpc-test-echo-trailing-bin";
/// Identifies the server of the test `pick_first_unary`.
const ID: &[u8] = b"the server";

type Messages = BoxStream<'static, Result<Bytes, Status>>;
type Answer<T> = Result<tonic::Response<T>, Status>;

/// `grpc.testing.TestService`.
#[derive(Clone)]
pub(super) struct TestService;

impl NamedService for TestService {
    const NAME: &'static str = "grpc.testing.TestService";
}

impl Service<Request<Body>> for TestService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(async move {
            let echoed = request.headers().clone();
            Ok(with_metadata(echoed, answer(request).await))
        })
    }
}

async fn answer(request: Request<Body>) -> Response<Body> {
    let mut grpc = Grpc::new(Raw)
        .accept_compressed(CompressionEncoding::Gzip)
        .send_compressed(CompressionEncoding::Gzip);
    let path = request.uri().path().to_owned();
    match path.rsplit('/').next().unwrap_or_default() {
        "EmptyCall" => grpc.unary(service_fn(empty), request).await,
        "UnaryCall" => grpc.unary(service_fn(unary), request).await,
        "StreamingOutputCall" => grpc.server_streaming(service_fn(output), request).await,
        "StreamingInputCall" => grpc.client_streaming(service_fn(input), request).await,
        "FullDuplexCall" => grpc.streaming(service_fn(duplex), request).await,
        _ => Status::unimplemented("no such method").into_http(),
    }
}

async fn empty(_: tonic::Request<Bytes>) -> Answer<Bytes> {
    Ok(tonic::Response::new(Bytes::new()))
}

async fn unary(request: tonic::Request<Bytes>) -> Answer<Bytes> {
    let request = request.into_inner();
    check_status(&request)?;
    let size = wire::number_of(&request, RESPONSE_SIZE)?;
    let mut response = wire::payload(ONLY_PAYLOAD, size as usize);
    if wire::number_of(&request, FILL_SERVER_ID)? != 0 {
        response.extend(wire::bytes(SERVER_ID, ID));
    }
    Ok(tonic::Response::new(response.into()))
}

async fn output(request: tonic::Request<Bytes>) -> Answer<Messages> {
    let request = stream::iter([Ok(request.into_inner())]).boxed();
    Ok(tonic::Response::new(outputs(request)))
}

async fn input(request: tonic::Request<Streaming<Bytes>>) -> Answer<Bytes> {
    let mut messages = request.into_inner();
    let mut sum = 0;
    while let Some(message) = messages.message().await? {
        sum += wire::payload_size(&message, ONLY_PAYLOAD)?;
    }
    let response = wire::number(AGGREGATED_SIZE, sum as u64);
    Ok(tonic::Response::new(response.into()))
}

async fn duplex(request: tonic::Request<Streaming<Bytes>>) -> Answer<Messages> {
    Ok(tonic::Response::new(outputs(request.into_inner().boxed())))
}

/// The responses that requests ask for; the messages end with the first status.
fn outputs(mut requests: Messages) -> Messages {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            let done = match request {
                Ok(request) => respond(&request, &sender).await,
                Err(status) => Err(status),
            };
            if let Err(status) = done {
                // The call may have ended.
                let _ = sender.send(Err(status)).await;
                return;
            }
        }
    });
    let next = async |mut receiver: mpsc::Receiver<_>| Some((receiver.recv().await?, receiver));
    stream::unfold(receiver, next).boxed()
}

async fn respond(
    request: &[u8],
    sender: &mpsc::Sender<Result<Bytes, Status>>,
) -> Result<(), Status> {
    check_status(request)?;
    for parameters in wire::all_bytes_of(request, RESPONSE_PARAMETERS)? {
        let size = wire::number_of(parameters, 1)?;
        tokio::time::sleep(Duration::from_micros(wire::number_of(parameters, 2)?)).await;
        let response = wire::payload(ONLY_PAYLOAD, size as usize).into();
        if sender.send(Ok(response)).await.is_err() {
            return Err(Status::cancelled("the call has ended"));
        }
    }
    Ok(())
}

/// The status that a request asks for.
fn check_status(request: &[u8]) -> Result<(), Status> {
    let status = wire::bytes_of(request, RESPONSE_STATUS)?;
    let code = wire::number_of(status, 1)?;
    if code == 0 {
        return Ok(());
    }
    let text = String::from_utf8_lossy(wire::bytes_of(status, 2)?).into_owned();
    Err(Status::new(tonic::Code::from_i32(code as i32), text))
}

/// Puts the fields of `custom_metadata` into head and trailers. tonic sends trailers of its own with errors only.
fn with_metadata(echoed: HeaderMap, mut response: Response<Body>) -> Response<Body> {
    if let Some(value) = echoed.get(ECHO_INITIAL) {
        response.headers_mut().insert(ECHO_INITIAL, value.clone());
    }
    let Some(value) = echoed.get(ECHO_TRAILING).cloned() else {
        return response;
    };
    response.map(|body| {
        Body::new(body.map_frame(move |frame| match frame.into_trailers() {
            Ok(mut trailers) => {
                trailers.insert(ECHO_TRAILING, value.clone());
                Frame::trailers(trailers)
            }
            Err(frame) => frame,
        }))
    })
}
