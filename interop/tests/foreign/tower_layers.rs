//! Our client under the layers of tower and tower-http, and in the places where crates take a service
//! of requests. Services that are not always ready, under our servers.

use axum::Router;
use axum::body::Body as AxumBody;
use axum::extract::Request as AxumRequest;
use axum::response::Redirect;
use axum::routing::{any, get};
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower::{Service, ServiceBuilder, ServiceExt};
use tower_http::compression::CompressionLayer;
use tower_http::decompression::DecompressionLayer;
use tower_http::follow_redirect::FollowRedirectLayer;
use tower_http::set_header::SetRequestHeaderLayer;
use tower_http::trace::TraceLayer;
use trunkline::client::{Client, Protocols, RedirectPolicy, ResponseExt};
use trunkline::{Body, Server, serve};

type BoxError = Box<dyn Error + Send + Sync>;

const WORDS: &str = "many requests, few connections\n";

/// An origin that redirects, compresses, and says what it got.
async fn origin() -> String {
    let router = Router::new()
        .route("/from", any(async || Redirect::temporary("/to")))
        .route("/to", get(async || WORDS.repeat(100)))
        .layer(CompressionLayer::new())
        .route(
            "/asked",
            any(async |headers: HeaderMap, body: Bytes| {
                let text = |name| {
                    headers
                        .get(name)
                        .map_or("", |value: &HeaderValue| value.to_str().unwrap())
                };
                format!(
                    "{} {} {}",
                    text(USER_AGENT),
                    text(AUTHORIZATION),
                    body.len()
                )
            }),
        );
    start(router).await
}

async fn start(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async { serve(listener, router).await.unwrap() });
    url
}

/// One client for each version, which leaves everything to the layers above it.
fn clients() -> [Client; 2] {
    [Protocols::H1Only, Protocols::H2Only].map(|protocols| {
        let client = Client::builder()
            .redirect(RedirectPolicy::none())
            .decompression(false)
            .protocols(protocols);
        client.build().unwrap()
    })
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(test);
}

fn request(url: &str, path: &str) -> Request<Body> {
    Request::get(format!("{url}{path}"))
        .body(Body::empty())
        .unwrap()
}

#[test]
fn layers_of_tower_http_follow_decompress_set_fields_and_trace() {
    run(async {
        let url = origin().await;
        for client in clients() {
            let mut service = ServiceBuilder::new()
                .layer(TraceLayer::new_for_http())
                .layer(FollowRedirectLayer::new())
                .layer(SetRequestHeaderLayer::overriding(
                    USER_AGENT,
                    HeaderValue::from_static("layered"),
                ))
                .layer(DecompressionLayer::new())
                .service(client.clone());
            let response = (&mut service)
                .oneshot(request(&url, "/from"))
                .await
                .unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            assert!(!response.headers().contains_key(CONTENT_ENCODING));
            let bytes = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(bytes, WORDS.repeat(100));
            let asked = service.oneshot(request(&url, "/asked")).await.unwrap();
            let text = asked.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(text, "layered  0");
            // It was compressed on the way.
            let mut plain = request(&url, "/to");
            let accepted = HeaderValue::from_static("gzip");
            plain.headers_mut().insert(ACCEPT_ENCODING, accepted);
            let response = client.execute(plain).await.unwrap();
            assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
        }
    });
}

#[test]
fn layers_of_tower_buffer_bound_and_end_requests() {
    run(async {
        let url = origin().await;
        let stuck = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stuck_url = format!("http://{}", stuck.local_addr().unwrap());
        for client in clients() {
            let service = ServiceBuilder::new()
                .buffer::<Request<Body>>(8)
                .concurrency_limit(4)
                .timeout(Duration::from_secs(60))
                .service(client.clone());
            let mut calls = JoinSet::new();
            for _ in 0..20 {
                calls.spawn(service.clone().oneshot(request(&url, "/asked")));
            }
            while let Some(response) = calls.join_next().await {
                assert_eq!(response.unwrap().unwrap().status(), StatusCode::OK);
            }
            let soon = ServiceBuilder::new()
                .timeout(Duration::from_millis(20))
                .service(client);
            let error = soon.oneshot(request(&stuck_url, "/")).await.unwrap_err();
            assert!(error.is::<tower::timeout::error::Elapsed>(), "{error}");
        }
    });
}

/// Answers a turn of the runtime later, so that requests meet.
async fn page(_: Request<Body>) -> Result<Response<String>, BoxError> {
    tokio::task::yield_now().await;
    Ok(Response::new("page".to_owned()))
}

/// The responses with 200 to requests at once, over both versions.
async fn answered(url: &str) -> usize {
    let mut calls = JoinSet::new();
    for client in clients() {
        for _ in 0..20 {
            calls.spawn(client.clone().oneshot(request(url, "/")));
        }
    }
    let mut answered = 0;
    while let Some(response) = calls.join_next().await {
        answered += usize::from(response.unwrap().unwrap().status() == StatusCode::OK);
    }
    answered
}

#[test]
fn requests_wait_until_the_layers_of_a_service_are_ready() {
    crate::way::run(async {
        let one = || ServiceBuilder::new().concurrency_limit(1).service_fn(page);
        let buffered = || {
            let layers = ServiceBuilder::new().buffer(2).concurrency_limit(2);
            layers.service_fn(page)
        };
        let bind = || Server::bind("127.0.0.1:0").workers(2);
        let on_workers = [bind().serve(one()), bind().serve(buffered())];
        let mut urls = Vec::from(on_workers.each_ref().map(|server| {
            let address = server.as_ref().unwrap().local_addr();
            format!("http://{address}")
        }));
        for is_buffered in [false, true] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            urls.push(format!("http://{}", listener.local_addr().unwrap()));
            tokio::spawn(async move {
                match is_buffered {
                    false => serve(listener, one()).await.unwrap(),
                    true => serve(listener, buffered()).await.unwrap(),
                }
            });
        }
        for url in urls {
            assert_eq!(answered(&url).await, 40, "{url}");
        }
    });
}

/// How SDKs hold their transport: of one type, whatever is below, with a body of their own.
type Transport =
    tower::util::BoxCloneSyncService<Request<BoxBody<Bytes, Infallible>>, Response<Body>, BoxError>;

#[test]
fn a_client_is_the_boxed_transport_of_a_program_with_bodies_of_its_own() {
    run(async {
        let url = origin().await;
        for client in clients() {
            let client = ServiceBuilder::new()
                .map_err(BoxError::from)
                .service(client);
            let transport = Transport::new(client);
            for bytes in [0, 5, 100_000] {
                let body = Full::new(Bytes::from(vec![b'x'; bytes])).boxed();
                let request = Request::post(format!("{url}/asked"))
                    .header(AUTHORIZATION, "Bearer t")
                    .body(body)
                    .unwrap();
                let response = transport.clone().oneshot(request).await.unwrap();
                assert_eq!(response.text().await.unwrap(), format!(" Bearer t {bytes}"));
            }
        }
    });
}

/// Generic code as it is written over hyper-util's client.
async fn send_with<S, B>(mut service: S, request: Request<B>) -> Result<StatusCode, S::Error>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    std::future::poll_fn(|cx| service.poll_ready(cx)).await?;
    Ok(service.call(request).await?.status())
}

#[test]
fn a_borrowed_client_is_a_service_too() {
    run(async {
        let url = origin().await;
        for client in clients() {
            let status = send_with(&client, request(&url, "/to")).await;
            assert_eq!(status.unwrap(), StatusCode::OK);
            let body = Full::new(Bytes::from("x"));
            let request = Request::post(format!("{url}/asked")).body(body).unwrap();
            assert_eq!(send_with(&client, request).await.unwrap(), StatusCode::OK);
        }
    });
}

#[test]
fn an_axum_handler_passes_requests_on_as_they_come() {
    run(async {
        let url = origin().await;
        for client in clients() {
            let to = url.clone();
            let proxy = Router::new().fallback(async move |mut request: AxumRequest| {
                let path = request.uri().path_and_query().unwrap().as_str();
                *request.uri_mut() = format!("{to}{path}").parse().unwrap();
                // The client names the host that it goes to.
                request.headers_mut().remove(http::header::HOST);
                let response = client.execute(request).await;
                response
                    .map(|response| response.map(AxumBody::new))
                    .map_err(|error| (StatusCode::BAD_GATEWAY, error.to_string()))
            });
            let proxy = start(proxy).await;
            let direct = Client::new();
            let request = direct
                .post(format!("{proxy}/asked"))
                .body(vec![b'x'; 70_000]);
            let response = request.send().await.unwrap();
            assert_eq!(response.text().await.unwrap(), "  70000");
        }
    });
}
