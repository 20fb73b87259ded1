//! Panics of a tonic service: as its clients, and clients of HTTP alone, see them from our server and from hyper's.

use crate::grpc::Raw;
use crate::grpc_ends::{clients, outcome};
use crate::ports;
use crate::way::run;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt};
use http::{Request, Response};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::net::TcpListener;
use tonic::server::{NamedService, StreamingService};
use tonic::service::Routes;
use tonic::{Code, Status, Streaming};
use tower_service::Service;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::grpc::with_deadlines;
use trunkline::{Body, Tls};

/// Where a method panics, which is its name.
const PLACES: [&str; 3] = ["Head", "First", "Later"];

/// A service whose methods panic: before the head, before the first message, behind it.
#[derive(Clone)]
struct Panicking;

impl NamedService for Panicking {
    const NAME: &'static str = "test.Held";
}

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl Service<Request<tonic::body::Body>> for Panicking {
    type Response = Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<tonic::body::Body>) -> Self::Future {
        let place = request.uri().path().rsplit('/').next().unwrap().to_owned();
        let mut grpc = tonic::server::Grpc::new(Raw);
        Box::pin(async move { Ok(grpc.streaming(Method { place }, request).await) })
    }
}

struct Method {
    place: String,
}

impl StreamingService<Bytes> for Method {
    type Response = Bytes;
    type ResponseStream = BoxStream<'static, Result<Bytes, Status>>;
    type Future = BoxFuture<Result<tonic::Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, _: tonic::Request<Streaming<Bytes>>) -> Self::Future {
        let place = self.place.clone();
        Box::pin(async move {
            assert_ne!(place, "Head", "a panic of a test");
            let panics = stream::once(async { panic!("a panic of a test") });
            let messages = match place.as_str() {
                "Later" => {
                    // It goes out by itself before the panic.
                    let first = stream::iter([Ok(Bytes::from("first"))]);
                    let pause = stream::once(tokio::task::yield_now()).filter_map(async |()| None);
                    first.chain(pause).chain(panics).boxed()
                }
                _ => panics.boxed(),
            };
            Ok(tonic::Response::new(messages))
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// tonic's server, on hyper.
    Tonic,
    /// Ours with the routes as they are.
    Bare,
    /// Ours as the guide has it.
    WithDeadlines,
}

/// A server on a port of its own; ours with every version there.
async fn start(kind: Kind) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let routes = Routes::new(Panicking);
    tokio::spawn(async move {
        match kind {
            Kind::Bare => trunkline::serve(listener, routes).await.unwrap(),
            Kind::WithDeadlines => {
                let served = trunkline::serve(listener, with_deadlines(routes));
                served.await.unwrap();
            }
            Kind::Tonic => {
                let router = routes.prepare().into_axum_router();
                axum::serve(listener, router).await.unwrap();
            }
        }
    });
    port
}

/// The bare service of ours over TLS and QUIC.
async fn start_secure() -> u16 {
    let listener = ports::listener().await;
    let port = listener.local_addr().unwrap().port();
    let tls = Tls::self_signed(["localhost"]).unwrap();
    let served = trunkline::serve(listener, Routes::new(Panicking));
    tokio::spawn(async move { served.tls(tls).http3(true).await.unwrap() });
    port
}

/// How an exchange ended: the status of a whole response, or the error of one that is not whole. Whether the head of such a
/// one arrives is left to the transport: a reset overtakes it.
async fn end(protocols: Protocols, url: String) -> String {
    let client = Client::builder()
        .protocols(protocols)
        .tls(ClientTls::new().insecure());
    let request = Request::post(url).header("content-type", "application/grpc");
    let request = request.body(Body::from("\0\0\0\0\x01a")).unwrap();
    let response = match client.build().unwrap().execute(request).await {
        Err(error) => return format!("{:?}", error.kind()),
        Ok(response) => response,
    };
    let status = response.status().as_u16().to_string();
    match response.into_body().bytes().await {
        Err(error) => format!("{:?}", error.kind()),
        Ok(_) => status,
    }
}

#[test]
fn a_panic_of_a_service_is_unknown_to_every_client_behind_the_messages_that_were_sent() {
    run(async {
        let mut seen = Vec::new();
        for kind in [Kind::Tonic, Kind::Bare, Kind::WithDeadlines] {
            let url = format!("http://127.0.0.1:{}", start(kind).await);
            for place in PLACES {
                let (tonics, ours) = clients(&url);
                let (theirs, their_status) = outcome(tonics, place, Bytes::from("x")).await;
                let (messages, status) = outcome(ours, place, Bytes::from("x")).await;
                // A reset may overtake them; a status never does.
                if kind == Kind::WithDeadlines {
                    let sent = usize::from(place == "Later");
                    assert_eq!((messages.len(), theirs.len()), (sent, sent), "{place}");
                }
                seen.push((kind, place, their_status.code(), status.code()));
            }
        }
        // hyper gives up a stream whose task is gone with CANCEL, which is the client's own word in gRPC. A reset with
        // INTERNAL_ERROR is INTERNAL, and a 500 UNKNOWN, by the tables of gRPC over HTTP/2.
        let rows = [
            (Kind::Tonic, [Code::Cancelled; 3]),
            (Kind::Bare, [Code::Unknown, Code::Unknown, Code::Internal]),
            (Kind::WithDeadlines, [Code::Unknown; 3]),
        ];
        let expected: Vec<_> = rows
            .into_iter()
            .flat_map(|(kind, codes)| {
                let places = PLACES.into_iter().zip(codes);
                places.map(move |(place, code)| (kind, place, code, code))
            })
            .collect();
        assert_eq!(seen, expected);
    });
}

#[test]
fn a_panic_on_each_version_is_a_500_before_the_head_and_a_cut_body_behind_it() {
    run(async {
        let theirs = format!("http://127.0.0.1:{}", start(Kind::Tonic).await);
        let ours = format!("http://127.0.0.1:{}", start(Kind::Bare).await);
        let secure = format!("https://localhost:{}", start_secure().await);
        // hyper has no response to give of a task that is gone; CANCEL is 8, INTERNAL_ERROR 2.
        let closed = "TransportClosed";
        let (cancelled, broken) = ("StreamReset(H2Code(8))", "StreamReset(H2Code(2))");
        let cut = "Violation(BodyTruncated)";
        for (origin, protocols, expected) in [
            (&theirs, Protocols::H1Only, [closed; 3]),
            (&theirs, Protocols::H2Only, [cancelled; 3]),
            (&ours, Protocols::H1Only, ["500", "500", cut]),
            (&ours, Protocols::H2Only, ["500", "500", broken]),
            (&secure, Protocols::H3Only, ["500", "500", broken]),
        ] {
            for (place, expected) in PLACES.into_iter().zip(expected) {
                let found = end(protocols, format!("{origin}/test.Held/{place}")).await;
                assert_eq!(found, expected, "{origin} {protocols:?} {place}");
            }
        }
    });
}
