//! gRPC by tonic: its channel and server beside ours, in every pair.

use bytes::{Buf, BufMut, Bytes};
use futures_util::stream::{self, BoxStream, StreamExt};
use http::uri::PathAndQuery;
use http::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tonic::client::{Grpc, GrpcService};
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::{NamedService, StreamingService};
use tonic::service::Routes;
use tonic::transport::{Endpoint, Server};
use tonic::{Code, Status, Streaming};
use tower_service::Service;
use trunkline::Tls;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::grpc::{GrpcClient, with_deadlines};

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

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
type Messages = BoxStream<'static, Result<Bytes, Status>>;

/// A service whose methods answer by their name.
#[derive(Clone)]
struct Echo {
    /// A message for each call of `Never` and `Stall` that ended.
    ended: mpsc::UnboundedSender<()>,
}

impl NamedService for Echo {
    const NAME: &'static str = "test.Echo";
}

impl Service<Request<tonic::body::Body>> for Echo {
    type Response = Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<tonic::body::Body>) -> Self::Future {
        let method = Method {
            name: request.uri().path().rsplit('/').next().unwrap().to_owned(),
            ended: self.ended.clone(),
        };
        let mut grpc = tonic::server::Grpc::new(Raw);
        Box::pin(async move { Ok(grpc.streaming(method, request).await) })
    }
}

struct Method {
    name: String,
    ended: mpsc::UnboundedSender<()>,
}

/// Reports its end.
struct Guard(mpsc::UnboundedSender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

impl StreamingService<Bytes> for Method {
    type Response = Bytes;
    type ResponseStream = Messages;
    type Future = BoxFuture<Result<tonic::Response<Messages>, Status>>;

    fn call(&mut self, request: tonic::Request<Streaming<Bytes>>) -> Self::Future {
        let (name, ended) = (self.name.clone(), self.ended.clone());
        Box::pin(async move {
            let mut messages = request.into_inner();
            let answer: Messages = match name.as_str() {
                "Join" => {
                    let mut joined = Vec::new();
                    while let Some(message) = messages.message().await? {
                        joined.extend_from_slice(&message);
                    }
                    stream::iter([Ok(Bytes::from(joined))]).boxed()
                }
                "Split" => {
                    let message = messages.message().await?.unwrap();
                    let bytes = message.into_iter().map(|byte| Ok(Bytes::from(vec![byte])));
                    stream::iter(bytes).boxed()
                }
                "Echo" => messages.boxed(),
                "Stall" => {
                    let guard = Guard(ended);
                    let held = stream::pending().map(move |never| {
                        let _ = &guard;
                        never
                    });
                    stream::iter([Ok(Bytes::from("first"))]).chain(held).boxed()
                }
                "Never" => {
                    let _guard = Guard(ended);
                    pending::<()>().await;
                    stream::empty().boxed()
                }
                _ => {
                    let details = Bytes::from("more");
                    let code = Code::FailedPrecondition;
                    return Err(Status::with_details(code, "not so: ä", details));
                }
            };
            Ok(tonic::Response::new(answer))
        })
    }
}

/// A server of ours or tonic's on a port of its own, and the ends of its calls that do not end by themselves.
pub(crate) async fn start(ours: bool) -> (String, mpsc::UnboundedReceiver<()>) {
    let (ended, ends) = mpsc::unbounded_channel();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let routes = Routes::new(Echo { ended });
    tokio::spawn(async move {
        match ours {
            true => trunkline::serve(listener, with_deadlines(routes))
                .await
                .unwrap(),
            false => {
                let incoming = stream::unfold(listener, async |listener| {
                    let socket = listener.accept().await.map(|(socket, _)| socket);
                    Some((socket, listener))
                });
                let server = Server::builder().add_routes(routes);
                server.serve_with_incoming(incoming).await.unwrap();
            }
        }
    });
    (url, ends)
}

fn ours(url: &str) -> Grpc<GrpcClient> {
    // It offers HTTP/1.1 to others.
    let client = GrpcClient::new(Client::new());
    Grpc::with_origin(client, url.parse().unwrap())
}

fn tonics(url: &str) -> Grpc<tonic::transport::Channel> {
    Grpc::new(
        Endpoint::from_shared(url.to_owned())
            .unwrap()
            .connect_lazy(),
    )
}

fn method(name: &str) -> PathAndQuery {
    format!("/test.Echo/{name}").parse().unwrap()
}

fn words() -> impl futures_util::Stream<Item = Bytes> + Send + 'static {
    stream::iter(["a", "bc", "d"].map(Bytes::from))
}

async fn texts(mut messages: Streaming<Bytes>) -> Vec<String> {
    let mut texts = Vec::new();
    while let Some(message) = messages.message().await.unwrap() {
        texts.push(String::from_utf8(message.into()).unwrap());
    }
    texts
}

/// The four kinds of calls, a status, deadlines before and within a response, and a call given up.
async fn exercise<T>(mut client: Grpc<T>, mut ends: mpsc::UnboundedReceiver<()>)
where
    T: GrpcService<tonic::body::Body>,
    T::ResponseBody: http_body::Body<Data = Bytes> + Send + 'static,
    <T::ResponseBody as http_body::Body>::Error: Into<Box<dyn Error + Send + Sync>>,
    T::Error: std::fmt::Debug,
{
    client.ready().await.unwrap();
    let one = tonic::Request::new(Bytes::from("xyz"));
    let joined: tonic::Response<Bytes> = client.unary(one, method("Join"), Raw).await.unwrap();
    assert_eq!(joined.into_inner(), "xyz");
    client.ready().await.unwrap();
    let many = tonic::Request::new(words());
    let joined: tonic::Response<Bytes> = client
        .client_streaming(many, method("Join"), Raw)
        .await
        .unwrap();
    assert_eq!(joined.into_inner(), "abcd");
    client.ready().await.unwrap();
    let one = tonic::Request::new(Bytes::from("xyz"));
    let split = client.server_streaming(one, method("Split"), Raw).await;
    assert_eq!(texts(split.unwrap().into_inner()).await, ["x", "y", "z"]);
    client.ready().await.unwrap();
    let echoed = client
        .streaming(tonic::Request::new(words()), method("Echo"), Raw)
        .await;
    assert_eq!(texts(echoed.unwrap().into_inner()).await, ["a", "bc", "d"]);

    client.ready().await.unwrap();
    let one = tonic::Request::new(Bytes::from("x"));
    let failed = client
        .unary::<_, Bytes, _>(one, method("Fail"), Raw)
        .await
        .unwrap_err();
    assert_eq!(failed.code(), Code::FailedPrecondition);
    assert_eq!(
        (failed.message(), failed.details()),
        ("not so: ä", &b"more"[..])
    );

    client.ready().await.unwrap();
    let mut late = tonic::Request::new(Bytes::from("x"));
    late.set_timeout(Duration::from_millis(30));
    let late = client
        .unary::<_, Bytes, _>(late, method("Never"), Raw)
        .await
        .unwrap_err();
    // tonic's own channel says "cancelled" of its deadline.
    let codes = [Code::DeadlineExceeded, Code::Cancelled];
    assert!(codes.contains(&late.code()), "{late:?}");
    ends.recv().await.unwrap();

    client.ready().await.unwrap();
    let one = tonic::Request::new(Bytes::from("x"));
    let stalled = client.server_streaming(one, method("Stall"), Raw).await;
    let mut messages: Streaming<Bytes> = stalled.unwrap().into_inner();
    assert_eq!(messages.message().await.unwrap().unwrap(), "first");
    drop(messages);
    // The handler's stream ends with it.
    ends.recv().await.unwrap();
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

#[test]
fn every_kind_of_call_works_from_our_client_to_our_server() {
    run(async {
        let (url, ends) = start(true).await;
        exercise(ours(&url), ends).await;
    });
}

#[test]
fn every_kind_of_call_works_from_our_client_to_tonics_server() {
    run(async {
        let (url, ends) = start(false).await;
        exercise(ours(&url), ends).await;
    });
}

#[test]
fn every_kind_of_call_works_from_tonics_channel_to_our_server() {
    run(async {
        let (url, ends) = start(true).await;
        exercise(tonics(&url), ends).await;
    });
}

#[test]
fn every_kind_of_call_works_over_http3() {
    run(async {
        let (ended, ends) = mpsc::unbounded_channel();
        let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Routes::new(Echo { ended });
        let server = trunkline::serve(listener, with_deadlines(routes))
            .tls(tls)
            .http3(true);
        tokio::spawn(async { server.await.unwrap() });
        let client = Client::builder()
            .protocols(Protocols::H3Only)
            .resolve("localhost", [address])
            .tls(ClientTls::new().root(root).only_given_roots())
            .build();
        let origin: Uri = format!("https://localhost:{}", address.port())
            .parse()
            .unwrap();
        let client = Grpc::with_origin(GrpcClient::new(client.unwrap()), origin);
        exercise(client, ends).await;
    });
}

/// More than the 10,000 requests after which servers of other kinds drain a connection.
const CALLS: usize = 12_000;
/// Callers that make them at once, each its share.
const CALLERS: usize = 50;

#[test]
fn twelve_thousand_calls_of_tonics_channel_on_one_connection_to_our_server_fail_none() {
    run(async {
        let (url, _ends) = start(true).await;
        let opened = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&opened);
        let connector = tower::service_fn(move |to: Uri| {
            count.fetch_add(1, Ordering::SeqCst);
            async move {
                let socket = TcpStream::connect(to.authority().unwrap().as_str()).await?;
                Ok::<_, std::io::Error>(TokioIo::new(socket))
            }
        });
        let endpoint = Endpoint::from_shared(url).unwrap();
        let channel = endpoint.connect_with_connector_lazy(connector);
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| {
                let mut client = Grpc::new(channel.clone());
                tokio::spawn(async move {
                    for _ in 0..CALLS / CALLERS {
                        client.ready().await.unwrap();
                        let one = tonic::Request::new(Bytes::from("xyz"));
                        let joined = client.unary(one, method("Join"), Raw).await;
                        let joined: tonic::Response<Bytes> = joined.unwrap();
                        assert_eq!(joined.into_inner(), "xyz");
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap();
        }
        assert_eq!(opened.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_deadline_within_a_response_ends_its_messages_with_the_status() {
    run(async {
        let (url, mut ends) = start(true).await;
        // A client that applies none: the status is the server's.
        let client = Client::builder()
            .protocols(Protocols::H2Only)
            .build()
            .unwrap();
        let mut client = Grpc::with_origin(client, url.parse().unwrap());
        let mut request = tonic::Request::new(Bytes::from("x"));
        request.set_timeout(Duration::from_millis(30));
        client.ready().await.unwrap();
        let called = client
            .server_streaming::<_, Bytes, _>(request, method("Stall"), Raw)
            .await;
        // The time may have passed before the first message.
        let status = match called {
            Err(status) => status,
            Ok(response) => {
                let mut messages = response.into_inner();
                loop {
                    match messages.message().await {
                        Ok(message) => assert_eq!(message.unwrap(), "first"),
                        Err(status) => break status,
                    }
                }
            }
        };
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
        assert_eq!(ends.recv().await, Some(()));
    });
}

#[test]
fn a_refused_connection_is_unavailable_and_a_lost_one_too() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let lost = tokio::spawn(async move {
            // It accepts, reads something and leaves.
            let (mut socket, _) = listener.accept().await.unwrap();
            let mut some = [0; 64];
            let _ = tokio::io::AsyncReadExt::read(&mut socket, &mut some).await;
        });
        let code = async |url: &str| {
            let mut client = ours(url);
            client.ready().await.unwrap();
            let one = tonic::Request::new(Bytes::from("x"));
            let called = client.unary::<_, Bytes, _>(one, method("Join"), Raw).await;
            called.unwrap_err().code()
        };
        assert_eq!(code(&url).await, Code::Unavailable);
        lost.await.unwrap();
        assert_eq!(code(&url).await, Code::Unavailable);
    });
}
