//! An axum router, unchanged, on HTTP/1.1 and HTTP/2, with and without TLS.
//!
//! `cargo run --example axum`, then `curl -k https://localhost:8443/hello/you`.

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::routing::{get, post};
use trunkline::{Server, Tls};

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
        .route("/echo", post(async |body: Bytes| body));
    let clear = Server::bind("127.0.0.1:8080").serve(app.clone())?;
    let secure = Server::bind("127.0.0.1:8443")
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
