//! An axum router, unchanged, on HTTP/1.1 and HTTP/2, with and without TLS.
//!
//! `cargo run --example axum`, then `curl -k https://localhost:8443/hello/you`, or `/who` for what
//! axum's `ConnectInfo` says.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, Request};
use axum::middleware::map_request;
use axum::routing::{get, post};
use std::net::SocketAddr;
use trunkline::{ConnectionInfo, Server, ServerConfig, Tls};

/// Puts the peer's address where axum's `ConnectInfo` extractor looks for it.
async fn add_peer_address(mut request: Request) -> Request {
    let info = request.extensions().get::<ConnectionInfo>();
    if let Some(peer) = info.and_then(ConnectionInfo::peer_addr) {
        request.extensions_mut().insert(ConnectInfo(peer));
    }
    request
}

fn main() -> Result<(), trunkline::Error> {
    let app = Router::new()
        .route(
            "/",
            get(async || "Hello over whatever version you speak.\n"),
        )
        .route(
            "/hello/{name}",
            get(async |Path(name): Path<String>| format!("Hello, {name}.\n")),
        )
        .route("/echo", post(async |body: Bytes| body))
        .route(
            "/who",
            get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| format!("You are {peer}.\n")),
        )
        .layer(map_request(add_peer_address));
    let config = ServerConfig::default().with_connection_info(true);
    let clear = Server::bind("127.0.0.1:8080")
        .config(config.clone())
        .serve(app.clone())?;
    let secure = Server::bind("127.0.0.1:8443")
        .config(config)
        .tls(Tls::self_signed(["localhost", "127.0.0.1"])?)
        .serve(app)?;
    println!(
        "http://{} and https://{}",
        clear.local_addr(),
        secure.local_addr()
    );
    clear.join();
    Ok(())
}
