//! Errors of layers around the services of gRPC: as clients see them from our server and from tonic's, and those of routes
//! that are not gRPC's beside them.

use crate::grpc_ends::{clients, outcome};
use crate::way::run;
use axum::Router;
use axum::body::Body as AxumBody;
use axum::routing::get;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use http::{Request, Response};
use std::convert::Infallible;
use std::future::{Future, Pending, pending};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tonic::server::NamedService;
use tonic::service::Routes;
use tonic::service::interceptor::InterceptorLayer;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Code, Status};
use tower::{Layer, ServiceBuilder};
use tower_service::Service;
use trunkline::client::{Client, Protocols};
use trunkline::grpc::with_deadlines;
use trunkline::{Body, serve};

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A service that no call reaches.
#[derive(Clone)]
struct Unreached;

impl NamedService for Unreached {
    const NAME: &'static str = "test.Held";
}

impl Service<Request<tonic::body::Body>> for Unreached {
    type Response = Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, _: Request<tonic::body::Body>) -> Self::Future {
        Box::pin(async { Ok(Status::ok("reached").into_http()) })
    }
}

/// A service that answers no call.
#[derive(Clone)]
struct Unanswered;

impl Service<Request<Body>> for Unanswered {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pending<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, _: Request<Body>) -> Self::Future {
        pending()
    }
}

/// The error of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Status,
    /// One whose cause is a status.
    Caused,
    Interceptor,
    LoadShed,
    /// One that says nothing of gRPC.
    Plain,
}

const REFUSALS: [Refusal; 5] = [
    Refusal::Status,
    Refusal::Caused,
    Refusal::Interceptor,
    Refusal::LoadShed,
    Refusal::Plain,
];

#[derive(Debug)]
struct Caused(Status);

impl std::fmt::Display for Caused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a secret of the server")
    }
}

impl std::error::Error for Caused {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

fn refusal() -> Status {
    Status::with_details(Code::Unauthenticated, "wer? ü", Bytes::from("details"))
}

/// A layer whose calls fail.
#[derive(Clone, Copy)]
struct Refusing(Refusal);

#[derive(Clone)]
struct RefusingService<S> {
    _service: S,
    refusal: Refusal,
}

impl<S> Layer<S> for Refusing {
    type Service = RefusingService<S>;

    fn layer(&self, service: S) -> Self::Service {
        RefusingService {
            _service: service,
            refusal: self.0,
        }
    }
}

impl<S: Service<R>, R> Service<R> for RefusingService<S>
where
    S::Response: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = BoxFuture<Result<S::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, _: R) -> Self::Future {
        let error: BoxError = match self.refusal {
            Refusal::Status => refusal().into(),
            Refusal::Caused => Caused(refusal()).into(),
            _ => "a secret of the server".into(),
        };
        Box::pin(async { Err(error) })
    }
}

async fn start_ours(refusal_of: Refusal) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let routes = Routes::new(Unreached);
    tokio::spawn(async move {
        match refusal_of {
            Refusal::Interceptor => {
                let routes = InterceptorLayer::new(|_| Err(refusal())).layer(routes);
                serve(listener, with_deadlines(routes)).await.unwrap();
            }
            Refusal::LoadShed => {
                let shed = ServiceBuilder::new().load_shed().concurrency_limit(0);
                let served = serve(listener, with_deadlines(shed.service(routes)));
                served.await.unwrap();
            }
            other => {
                let routes = Refusing(other).layer(routes);
                serve(listener, with_deadlines(routes)).await.unwrap();
            }
        }
    });
    url
}

async fn start_tonics(refusal_of: Refusal) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let incoming = TcpIncoming::from(listener);
    tokio::spawn(async move {
        let server = Server::builder();
        let served = match refusal_of {
            Refusal::Interceptor => {
                let mut server = server.layer(InterceptorLayer::new(|_| Err(refusal())));
                let routes = server.add_service(Unreached);
                routes.serve_with_incoming(incoming).await
            }
            Refusal::LoadShed => {
                let mut server = server.load_shed(true).concurrency_limit_per_connection(0);
                let routes = server.add_service(Unreached);
                routes.serve_with_incoming(incoming).await
            }
            other => {
                let mut server = server.layer(Refusing(other));
                let routes = server.add_service(Unreached);
                routes.serve_with_incoming(incoming).await
            }
        };
        served.unwrap();
    });
    url
}

#[test]
fn a_time_that_a_layer_ends_is_the_deadline_of_the_call() {
    run(async {
        let layer = || ServiceBuilder::new().timeout(Duration::ZERO);
        let buffered = ServiceBuilder::new().buffer(1).timeout(Duration::ZERO);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let service = with_deadlines(layer().service(Unanswered));
        tokio::spawn(async move { serve(listener, service).await.unwrap() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let behind = format!("http://{}", listener.local_addr().unwrap());
        let service = with_deadlines(buffered.service(Unanswered));
        tokio::spawn(async move { serve(listener, service).await.unwrap() });
        for url in [url, behind] {
            let (tonics, ours) = clients(&url);
            for (_, status) in [
                outcome(tonics, "Any", Bytes::new()).await,
                outcome(ours, "Any", Bytes::new()).await,
            ] {
                assert_eq!(status.code(), Code::DeadlineExceeded, "{status}");
            }
        }
    });
}

#[test]
fn an_error_of_a_layer_is_the_status_of_the_call_as_under_tonics_server() {
    run(async {
        for refusal_of in REFUSALS {
            let mut seen = Vec::new();
            for url in [start_tonics(refusal_of).await, start_ours(refusal_of).await] {
                let (tonics, ours) = clients(&url);
                for (_, status) in [
                    outcome(tonics, "Any", Bytes::new()).await,
                    outcome(ours, "Any", Bytes::new()).await,
                ] {
                    let message = status.message().to_owned();
                    seen.push((status.code(), message, status.details().to_vec()));
                }
            }
            let (theirs, ours) = seen.split_at(2);
            if refusal_of != Refusal::Plain {
                assert_eq!(theirs, ours, "{refusal_of:?}");
                assert_ne!(ours[0].0, Code::Unknown, "{refusal_of:?}");
                continue;
            }
            // tonic's server resets the stream.
            assert!(theirs.iter().all(|it| it.0 == Code::Internal), "{theirs:?}");
            let expected = (Code::Unknown, "the service failed".to_owned(), Vec::new());
            assert_eq!(ours, [expected.clone(), expected]);
        }
    });
}

/// Routes that are not gRPC's, which fail in each way that a service of gRPC's does.
fn pages() -> Router {
    let body = || {
        let panics = stream::once(async { panic!("a panic of a test") });
        // The first piece goes out before the panic.
        let pause = stream::once(tokio::task::yield_now()).filter_map(async |()| None);
        let first = stream::iter([Ok::<_, Infallible>(Bytes::from("first"))]);
        AxumBody::from_stream(first.chain(pause).chain(panics))
    };
    Router::new()
        .route(
            "/panic",
            get(async || -> &'static str { panic!("a panic of a test") }),
        )
        .route("/late", get(async move || body()))
        .route("/whole", get(async || "whole"))
}

#[test]
fn routes_beside_those_of_grpc_fail_as_http_has_it() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Routes::new(Unreached).into_axum_router().merge(pages());
        let refusing = Refusing(Refusal::Status).layer(router.clone());
        let fallible = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let refused = format!("http://{}", fallible.local_addr().unwrap());
        tokio::spawn(async move { serve(listener, with_deadlines(router)).await.unwrap() });
        tokio::spawn(async move { serve(fallible, with_deadlines(refusing)).await.unwrap() });
        for protocols in [Protocols::H1Only, Protocols::H2Only] {
            let client = Client::builder().protocols(protocols).build().unwrap();
            for (origin, path, expected) in [
                (&url, "/whole", Some((200, true))),
                (&url, "/panic", Some((500, true))),
                (&url, "/late", Some((200, false))),
                (&refused, "/whole", Some((500, true))),
            ] {
                // A field that clients of gRPC send says nothing here.
                let request = Request::get(format!("{origin}{path}")).header("grpc-timeout", "1n");
                let response = client.execute(request.body(Body::empty()).unwrap()).await;
                let mut found = None;
                if let Ok(response) = response {
                    let status = response.status().as_u16();
                    assert!(!response.headers().contains_key("grpc-status"), "{path}");
                    found = Some((status, response.into_body().bytes().await.is_ok()));
                }
                // The reset of a stream overtakes its head.
                let is_cut = path == "/late" && found.is_none();
                assert!(
                    found == expected || is_cut,
                    "{path} {protocols:?}: {found:?}"
                );
            }
        }
    });
}
