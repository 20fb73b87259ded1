//! The client that generated clients of tonic stand on: where its calls go.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::frames::{self, FramePeer};
use crate::support::peer::service_fn;
use http::{Request, Response};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;
use tonic::Code;
use tower_service::Service as _;
use trunkline::client::Protocols;
use trunkline::grpc::{GrpcBody, GrpcClient};
use trunkline::{Body, Client, Server};

/// A call as the `new` of a generated client makes it: its URI is a path alone.
fn call() -> Request<Body> {
    let request = Request::post("/test.Service/Method").header("content-type", "application/grpc");
    request.body(Body::empty()).unwrap()
}

#[tokio::test]
async fn a_call_without_an_origin_goes_to_that_of_the_client_and_below_its_path() {
    let asked = service_fn(async |request: Request<Body>| {
        let response = Response::builder()
            .header("content-type", "application/grpc")
            .header("grpc-status", "0")
            .header("asked", request.uri().to_string());
        Ok::<_, Infallible>(response.body(Body::empty()).unwrap())
    });
    let server = Server::bind("127.0.0.1:0").workers(1).serve(asked).unwrap();
    let origin = format!("http://{}", server.local_addr());
    let client = GrpcClient::new(Client::new());
    for (path, asked) in [
        ("", "/test.Service/Method"),
        ("/", "/test.Service/Method"),
        ("/v1", "/v1/test.Service/Method"),
        ("/v1/", "/v1/test.Service/Method"),
    ] {
        let there = format!("{origin}{path}").parse().unwrap();
        let response = client.clone().with_origin(there).call(call()).await;
        let expected = format!("{origin}{asked}");
        assert_eq!(response.unwrap().headers()["asked"], expected, "{path}");
    }
    // A generated client's own counts.
    let mut own = call();
    *own.uri_mut() = format!("{origin}/own").parse().unwrap();
    let elsewhere = "http://127.0.0.1:9".parse().unwrap();
    let response = client.clone().with_origin(elsewhere).call(own).await;
    assert_eq!(
        response.unwrap().headers()["asked"],
        format!("{origin}/own")
    );
    let nowhere = client.clone().call(call()).await.unwrap_err();
    assert_eq!(nowhere.code(), Code::Internal, "{nowhere}");
}

#[tokio::test]
async fn a_call_asks_for_no_content_coding_and_its_response_has_the_fields_of_its_service_alone() {
    let seen = service_fn(async |request: Request<Body>| {
        let mut names: Vec<_> = request.headers().keys().map(|name| name.as_str()).collect();
        names.sort_unstable();
        let response = Response::builder()
            .header("content-type", "application/grpc")
            .header("grpc-status", "5")
            .header("seen", names.join(" "));
        Ok::<_, Infallible>(response.body(Body::empty()).unwrap())
    });
    let server = Server::bind("127.0.0.1:0").workers(1).serve(seen).unwrap();
    let origin = format!("http://{}", server.local_addr());
    let mut client = GrpcClient::new(Client::new()).with_origin(origin.parse().unwrap());
    let response = client.call(call()).await.unwrap();
    assert_eq!(
        response.headers()["seen"],
        "content-length content-type user-agent"
    );
    let mut names: Vec<_> = response
        .headers()
        .keys()
        .map(|name| name.as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["content-type", "date", "grpc-status", "seen"]);
}

#[tokio::test]
async fn a_response_that_is_not_grpcs_gives_its_fields_to_the_status() {
    for (media_type, coding, code) in [
        ("text/html", None, Code::Unavailable),
        ("application/grpc", Some("br"), Code::Internal),
    ] {
        let page = service_fn(move |_: Request<Body>| {
            let mut response = Response::builder()
                .status(if coding.is_some() { 200 } else { 503 })
                .header("content-type", media_type)
                .header("retry-after", "7");
            if let Some(coding) = coding {
                response = response.header("grpc-encoding", coding);
            }
            let response = response.body(Body::from("a page")).unwrap();
            std::future::ready(Ok::<_, Infallible>(response))
        });
        let server = Server::bind("127.0.0.1:0").workers(1).serve(page).unwrap();
        let origin = format!("http://{}", server.local_addr());
        let mut client = GrpcClient::new(Client::new()).with_origin(origin.parse().unwrap());
        let status = client.call(call()).await.unwrap_err();
        assert_eq!(status.code(), code);
        let fields = status.metadata();
        assert_eq!(fields.get("retry-after").unwrap(), "7", "{media_type}");
    }
}

/// tonic asks for it: `with_interceptor` of a generated client takes no service without.
#[test]
fn an_interceptor_may_refuse_a_call_with_an_empty_body() {
    let body = GrpcBody::<Body>::default();
    assert!(http_body::Body::is_end_stream(&body));
}

#[tokio::test]
async fn a_call_says_a_user_agent_of_grpc_unless_its_program_says_one() {
    let seen = service_fn(async |request: Request<Body>| {
        let response = Response::builder()
            .header("content-type", "application/grpc")
            .header("grpc-status", "0")
            .header("seen", &request.headers()["user-agent"]);
        Ok::<_, Infallible>(response.body(Body::empty()).unwrap())
    });
    let server = Server::bind("127.0.0.1:0").workers(1).serve(seen).unwrap();
    let origin = format!("http://{}", server.local_addr());
    let named = Client::builder().user_agent("app/1").build().unwrap();
    let ours = format!("grpc-rust-trunkline/{}", env!("CARGO_PKG_VERSION"));
    for (client, own, expected) in [
        (Client::new(), None, ours.as_str()),
        (Client::new(), Some("own/2"), "own/2"),
        (named.clone(), None, "app/1"),
        (named, Some("own/2"), "own/2"),
    ] {
        let mut client = GrpcClient::new(client).with_origin(origin.parse().unwrap());
        let mut call = call();
        if let Some(own) = own {
            call.headers_mut()
                .insert("user-agent", own.parse().unwrap());
        }
        let response = client.call(call).await.unwrap();
        assert_eq!(response.headers()["seen"], expected);
    }
}

/// A call with `bytes` bytes of metadata.
fn large_call(bytes: usize) -> Request<Body> {
    let mut call = call();
    let value = "m".repeat(bytes).parse().unwrap();
    call.headers_mut().insert("x-metadata", value);
    call
}

#[tokio::test]
async fn metadata_beyond_what_a_server_takes_fail_their_call_alone_and_are_not_sent() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let go_on = Arc::new(Notify::new());
    let held = Arc::clone(&go_on);
    let server = service_fn(move |request: Request<Body>| {
        count.fetch_add(1, Ordering::Relaxed);
        let held = (request.uri().path() == "/held").then(|| Arc::clone(&held));
        async move {
            if let Some(held) = held {
                held.notified().await;
            }
            let response = Response::builder()
                .header("content-type", "application/grpc")
                .header("grpc-status", "0");
            Ok::<_, Infallible>(response.body(Body::empty()).unwrap())
        }
    });
    let server = Server::bind("127.0.0.1:0")
        .workers(1)
        .serve(server)
        .unwrap();
    let origin = format!("http://{}", server.local_addr());
    for bytes in [70_000, 300_000] {
        let client = GrpcClient::new(Client::new()).with_origin(origin.parse().unwrap());
        let exceeded = async || {
            let status = client.clone().call(large_call(bytes)).await.unwrap_err();
            assert_eq!(status.code(), Code::ResourceExhausted, "{bytes}: {status}");
        };
        // The first call of a connection too.
        exceeded().await;
        let mut waiting = call();
        *waiting.uri_mut() = "/held".parse().unwrap();
        let waiting = tokio::spawn(client.clone().call(waiting));
        exceeded().await;
        assert!(client.clone().call(large_call(60_000)).await.is_ok());
        go_on.notify_one();
        assert!(waiting.await.unwrap().is_ok(), "{bytes}");
    }
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn a_call_with_many_metadata_waits_until_its_server_says_how_many_it_takes() {
    let (url, listener) = frames::listen();
    let peer = std::thread::spawn(move || {
        let mut peer = FramePeer::accept(&listener);
        // SETTINGS_MAX_HEADER_LIST_SIZE.
        peer.settings(&[(6, 9_000)]);
        let stream = peer.receives_request();
        let ok = [(":status", "200"), ("grpc-status", "0")];
        peer.sends_fields(stream, true, &ok);
        stream
    });
    let client = Client::builder()
        .protocols(Protocols::H2Only)
        .build()
        .unwrap();
    let mut client = GrpcClient::new(client).with_origin(url.parse().unwrap());
    let status = client.call(large_call(10_000)).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    let text = "the head is larger than the server says it takes, and was not sent";
    assert_eq!(status.message(), text);
    assert!(client.call(large_call(8_000)).await.is_ok());
    assert_eq!(peer.join().unwrap(), 1, "the first stream");
}
