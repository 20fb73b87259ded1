//! The client of gRPC's interop suite, over tonic.

use super::service::{ECHO_INITIAL, ECHO_TRAILING};
use super::wire::{self, AGGREGATED_SIZE, ONLY_PAYLOAD};
use crate::grpc::Raw;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use std::time::Duration;
use tokio::sync::mpsc;
use tonic::client::Grpc;
use tonic::metadata::MetadataValue;
use tonic::{Code, Status, Streaming};
use trunkline::grpc::GrpcClient;

/// The sizes of the suite's streams, in bytes.
const REQUEST_SIZES: [usize; 4] = [27_182, 8, 1_828, 45_904];
const RESPONSE_SIZES: [usize; 4] = [31_415, 9, 2_653, 58_979];
/// The message of `special_status_message`: characters that a status must escape.
const SPECIAL: &str = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n";

/// A client of the suite.
pub(super) struct Caller(pub(super) Grpc<GrpcClient>);

type Answer<T> = Result<tonic::Response<T>, Status>;

fn path(method: &str) -> http::uri::PathAndQuery {
    let service = match method {
        "Elsewhere" => {
            return "/grpc.testing.UnimplementedService/UnimplementedCall"
                .parse()
                .unwrap();
        }
        _ => "grpc.testing.TestService",
    };
    format!("/{service}/{method}").parse().unwrap()
}

impl Caller {
    async fn unary(&mut self, method: &str, request: tonic::Request<Bytes>) -> Answer<Bytes> {
        self.0.ready().await.unwrap();
        self.0.unary(request, path(method), Raw).await
    }
    async fn duplex<S>(&mut self, request: tonic::Request<S>) -> Answer<Streaming<Bytes>>
    where
        S: futures_util::Stream<Item = Bytes> + Send + 'static,
    {
        self.0.ready().await.unwrap();
        self.0.streaming(request, path("FullDuplexCall"), Raw).await
    }
    /// Runs the case of that name; false where there is none.
    pub(super) async fn run(&mut self, case: &str) -> bool {
        match case {
            "empty_unary" => self.empty_unary().await,
            "large_unary" => self.large_unary().await,
            "client_streaming" => self.client_streaming().await,
            "server_streaming" => self.server_streaming().await,
            "ping_pong" => self.ping_pong().await,
            "empty_stream" => self.empty_stream().await,
            "timeout_on_sleeping_server" => self.timeout_on_sleeping_server().await,
            "cancel_after_begin" => self.cancel_after_begin().await,
            "cancel_after_first_response" => self.cancel_after_first_response().await,
            "status_code_and_message" => self.status(2, "test status message").await,
            "special_status_message" => self.status(2, SPECIAL).await,
            "custom_metadata" => self.custom_metadata().await,
            "unimplemented_method" => self.unimplemented("UnimplementedCall").await,
            "unimplemented_service" => self.unimplemented("Elsewhere").await,
            _ => return false,
        }
        true
    }
    async fn empty_unary(&mut self) {
        let answer = self
            .unary("EmptyCall", tonic::Request::new(Bytes::new()))
            .await;
        assert_eq!(answer.unwrap().into_inner(), "");
    }
    async fn large_unary(&mut self) {
        let request = tonic::Request::new(wire::asking_once(314_159, 271_828));
        let answer = self.unary("UnaryCall", request).await.unwrap();
        let size = wire::payload_size(answer.get_ref(), ONLY_PAYLOAD);
        assert_eq!(size.unwrap(), 314_159);
    }
    async fn client_streaming(&mut self) {
        let requests = REQUEST_SIZES.map(|size| wire::payload(ONLY_PAYLOAD, size).into());
        let request = tonic::Request::new(stream::iter::<[Bytes; 4]>(requests));
        self.0.ready().await.unwrap();
        let path = path("StreamingInputCall");
        let answer: Answer<Bytes> = self.0.client_streaming(request, path, Raw).await;
        let sum = wire::number_of(answer.unwrap().get_ref(), AGGREGATED_SIZE);
        assert_eq!(sum.unwrap(), 74_922);
    }
    async fn server_streaming(&mut self) {
        let request = tonic::Request::new(wire::asking_for(&RESPONSE_SIZES, 0));
        self.0.ready().await.unwrap();
        let path = path("StreamingOutputCall");
        let answer = self.0.server_streaming(request, path, Raw).await;
        assert_eq!(sizes(answer.unwrap().into_inner()).await, RESPONSE_SIZES);
    }
    async fn ping_pong(&mut self) {
        let (sender, receiver) = mpsc::channel::<Bytes>(1);
        let requests = stream::unfold(receiver, async |mut receiver| {
            Some((receiver.recv().await?, receiver))
        });
        let request = tonic::Request::new(requests);
        sender
            .send(wire::asking_for(&RESPONSE_SIZES[..1], REQUEST_SIZES[0]))
            .await
            .unwrap();
        let mut answers = self.duplex(request).await.unwrap().into_inner();
        for at in 0..4 {
            let answer = answers.message().await.unwrap().unwrap();
            let size = wire::payload_size(&answer, ONLY_PAYLOAD).unwrap();
            assert_eq!(size, RESPONSE_SIZES[at]);
            if at < 3 {
                let next =
                    wire::asking_for(&RESPONSE_SIZES[at + 1..=at + 1], REQUEST_SIZES[at + 1]);
                sender.send(next).await.unwrap();
            }
        }
        drop(sender);
        assert!(answers.message().await.unwrap().is_none());
    }
    async fn empty_stream(&mut self) {
        let answer = self.duplex(tonic::Request::new(stream::empty())).await;
        assert!(sizes(answer.unwrap().into_inner()).await.is_empty());
    }
    async fn timeout_on_sleeping_server(&mut self) {
        let first = wire::asking_for(&[], 27_182);
        let requests = stream::iter([first]).chain(stream::pending());
        let mut request = tonic::Request::new(requests);
        request.set_timeout(Duration::from_millis(1));
        let status = match self.duplex(request).await {
            Ok(answers) => answers.into_inner().message().await.unwrap_err(),
            Err(status) => status,
        };
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
    }
    /// tonic cancels a call by dropping it; the connection must go on.
    async fn cancel_after_begin(&mut self) {
        self.0.ready().await.unwrap();
        let request = tonic::Request::new(stream::pending::<Bytes>());
        let path = path("StreamingInputCall");
        let call = self
            .0
            .client_streaming::<_, _, Bytes, _>(request, path, Raw);
        let is_pending = tokio::select! {
            biased;
            _ = call => false,
            () = tokio::task::yield_now() => true,
        };
        assert!(is_pending, "a request without an end has no answer");
        self.empty_unary().await;
    }
    async fn cancel_after_first_response(&mut self) {
        let first = wire::asking_for(&RESPONSE_SIZES[..1], REQUEST_SIZES[0]);
        let requests = stream::iter([first]).chain(stream::pending());
        let answer = self.duplex(tonic::Request::new(requests)).await;
        let mut answers = answer.unwrap().into_inner();
        let answer = answers.message().await.unwrap().unwrap();
        let size = wire::payload_size(&answer, ONLY_PAYLOAD);
        assert_eq!(size.unwrap(), RESPONSE_SIZES[0]);
        drop(answers);
        self.empty_unary().await;
    }
    async fn status(&mut self, code: i32, text: &str) {
        let message = Bytes::from(wire::echo_status(code, text));
        let one = tonic::Request::new(message.clone());
        let unary = self.unary("UnaryCall", one).await.unwrap_err();
        let many = tonic::Request::new(stream::iter([message]));
        let streamed = match self.duplex(many).await {
            Ok(answers) => answers.into_inner().message().await.unwrap_err(),
            Err(status) => status,
        };
        for status in [unary, streamed] {
            assert_eq!((status.code() as i32, status.message()), (code, text));
        }
    }
    async fn custom_metadata(&mut self) {
        let trailing = MetadataValue::from_bytes(&[0xab, 0xab, 0xab]);
        let mut one = tonic::Request::new(wire::asking_once(1, 1));
        let mut many = tonic::Request::new(stream::iter([wire::asking_for(&[1], 1)]));
        for metadata in [one.metadata_mut(), many.metadata_mut()] {
            let initial = "test_initial_metadata_value".parse().unwrap();
            metadata.insert(ECHO_INITIAL, initial);
            metadata.insert_bin(ECHO_TRAILING, trailing.clone());
        }
        let answer = self.unary("UnaryCall", one).await.unwrap();
        let initial = answer.metadata().get(ECHO_INITIAL).unwrap();
        assert_eq!(initial, "test_initial_metadata_value");
        let echoed = answer.metadata().get_bin(ECHO_TRAILING).unwrap();
        assert_eq!(echoed, &trailing);
        let answer = self.duplex(many).await.unwrap();
        let initial = answer.metadata().get(ECHO_INITIAL).unwrap();
        assert_eq!(initial, "test_initial_metadata_value");
        let mut answers = answer.into_inner();
        while answers.message().await.unwrap().is_some() {}
        let trailers = answers.trailers().await.unwrap().unwrap();
        assert_eq!(trailers.get_bin(ECHO_TRAILING).unwrap(), &trailing);
    }
    async fn unimplemented(&mut self, method: &str) {
        let answer = self.unary(method, tonic::Request::new(Bytes::new())).await;
        assert_eq!(answer.unwrap_err().code(), Code::Unimplemented);
    }
}

async fn sizes(mut answers: Streaming<Bytes>) -> Vec<usize> {
    let mut sizes = Vec::new();
    while let Some(answer) = answers.message().await.unwrap() {
        sizes.push(wire::payload_size(&answer, ONLY_PAYLOAD).unwrap());
    }
    sizes
}
