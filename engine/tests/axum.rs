//! An axum router, unchanged, on every version from one port.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, Request};
use axum::middleware::map_request;
use axum::routing::{get, post};
use http::{StatusCode, Version};
use http_body_util::BodyExt;
use std::net::SocketAddr;
use trunkline::client::{Client, ClientTls, ConnectionUse, Protocols};
use trunkline::{ConnectionInfo, Server, ServerConfig, Tls};

fn router() -> Router {
    Router::new()
        .route(
            "/hello/{name}",
            get(async |Path(name): Path<String>| format!("Hello, {name}.")),
        )
        .route("/echo", post(async |body: Bytes| body))
        .route("/unchanged", get(async || StatusCode::NOT_MODIFIED))
}

#[test]
fn a_router_is_served_on_every_version_from_one_port() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
    let running = server.serve(router()).unwrap();
    let origin = format!("https://localhost:{}", running.local_addr().port());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        for (protocols, version) in [
            (Protocols::H1Only, Version::HTTP_11),
            (Protocols::H2Only, Version::HTTP_2),
            (Protocols::H3Only, Version::HTTP_3),
        ] {
            let client = Client::builder()
                .protocols(protocols)
                .resolve("localhost", [running.local_addr()])
                .tls(ClientTls::new().root(root.clone()).only_given_roots())
                .build()
                .unwrap();
            let hello = client
                .get(format!("{origin}/hello/you"))
                .send()
                .await
                .unwrap();
            assert_eq!(hello.version(), version);
            // RFC 7838: what is not HTTP/3 says where HTTP/3 is.
            let reported = hello.headers().contains_key("alt-svc");
            assert_eq!(reported, version != Version::HTTP_3, "{version:?}");
            let text = hello.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(text, "Hello, you.");
            // axum gives it a content-length of 0, which would be that of the content (RFC 9110 section 8.6).
            let unchanged = client.get(format!("{origin}/unchanged"));
            let unchanged = unchanged.send().await.unwrap();
            assert_eq!(unchanged.status(), StatusCode::NOT_MODIFIED);
            assert!(!unchanged.headers().contains_key("content-length"));
            let body = vec![7; 300_000];
            let echo = client.post(format!("{origin}/echo")).body(body.clone());
            let back = echo
                .send()
                .await
                .unwrap()
                .into_body()
                .collect()
                .await
                .unwrap();
            assert!(back.to_bytes() == body, "{version:?}");
            let missing = client
                .get(format!("{origin}/nowhere"))
                .send()
                .await
                .unwrap();
            assert_eq!(missing.status(), 404);
        }
    });
    let metrics = running.metrics();
    let counted = [
        metrics.requests_h1,
        metrics.requests_h2,
        metrics.requests_h3,
    ];
    assert_eq!(counted, [4, 4, 4]);
}

async fn add_peer_address(mut request: Request) -> Request {
    let info = request.extensions().get::<ConnectionInfo>();
    let peer = info.and_then(ConnectionInfo::peer_addr).unwrap();
    request.extensions_mut().insert(ConnectInfo(peer));
    request
}

#[test]
fn connect_info_of_axum_is_the_peer_of_the_connection() {
    let who = get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string());
    let router = Router::new()
        .route("/", who)
        .layer(map_request(add_peer_address));
    let config = ServerConfig::default().with_connection_info(true);
    let running = Server::bind("127.0.0.1:0").config(config).serve(router);
    let running = running.unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = Client::builder().connection_info(true).build().unwrap();
        let url = format!("http://{}/", running.local_addr());
        for earlier in [0, 1] {
            let response = client.get(&url).send().await.unwrap();
            let used = response
                .extensions()
                .get::<ConnectionUse>()
                .unwrap()
                .clone();
            assert_eq!(used.earlier_requests(), earlier);
            let info = used.info().unwrap();
            assert_eq!(info.peer_addr(), Some(running.local_addr()));
            assert_eq!(info.tls(), None);
            let reported = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(reported, info.local_addr().unwrap().to_string());
        }
    });
}
