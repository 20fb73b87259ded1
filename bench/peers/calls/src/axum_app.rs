//! An axum application, and the three ways it is served: by our workers, by us on its own
//! runtime, and by axum and hyper.

use crate::{Outcome, config};
use axum::routing::{get, post};
use axum::{Json, Router};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use trunkline::{Server, Tls};

/// The answer of `GET /hello`.
pub(crate) const HELLO: &str = "Hello, World!";
/// The body of `POST /json`.
pub(crate) const ORDER: &str = r#"{"item":"a kettle","count":3,"note":"the blue one"}"#;
/// The answer to it.
pub(crate) const RECEIPT: &str = r#"{"item":"a kettle","count":3,"total":87}"#;

#[derive(Deserialize)]
struct PlacedOrder {
    item: String,
    count: u32,
}

#[derive(Serialize)]
struct Receipt {
    item: String,
    count: u32,
    total: u32,
}

fn router() -> Router {
    let receipt = async |Json(order): Json<PlacedOrder>| {
        Json(Receipt {
            item: order.item,
            count: order.count,
            total: order.count * 29,
        })
    };
    Router::new()
        .route("/hello", get(async || HELLO))
        .route("/json", post(receipt))
}

/// The certificate's and the key's file, where the server speaks TLS.
pub(crate) type Files<'a> = Option<(&'a str, &'a str)>;

/// On a worker of ours, handlers included.
pub(crate) fn serve_on_workers(address: &str, files: Files<'_>) -> Outcome {
    let mut server = Server::bind(address).workers(1).config(config());
    if let Some((certificate, key)) = files {
        let tls = Tls::from_pem_files(certificate, key)?;
        server = server.tls(tls).http3(true);
    }
    server.serve(router())?.join();
    Ok(())
}

/// As `axum::serve` is called: connections and handlers on this runtime.
pub(crate) async fn serve_on_this_runtime(address: &str, files: Files<'_>) -> Outcome {
    let listener = TcpListener::bind(address).await?;
    let mut server = trunkline::serve(listener, router()).workers(1);
    server = server.config(config());
    if let Some((certificate, key)) = files {
        server = server
            .tls(Tls::from_pem_files(certificate, key)?)
            .http3(true);
    }
    server.await?;
    Ok(())
}

/// By `axum::serve`; under TLS, which that has not, by hyper's connections as axum's own example does.
pub(crate) async fn serve_by_hyper(address: &str, files: Files<'_>) -> Outcome {
    let listener = TcpListener::bind(address).await?;
    let Some((certificate, key)) = files else {
        use axum::serve::ListenerExt;
        let listener = listener.tap_io(|socket| {
            // A peer that has gone is found where it is read.
            let _ = socket.set_nodelay(true);
        });
        axum::serve(listener, router()).await?;
        return Ok(());
    };
    let acceptor = acceptor(certificate, key)?;
    let service = TowerToHyperService::new(router());
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let (acceptor, service) = (acceptor.clone(), service.clone());
        tokio::spawn(async move {
            let Ok(socket) = acceptor.accept(socket).await else {
                return;
            };
            let server = auto::Builder::new(TokioExecutor::new());
            // A client that goes away is no failure here.
            let _ = server
                .serve_connection_with_upgrades(TokioIo::new(socket), service)
                .await;
        });
    }
}

fn acceptor(certificate: &str, key: &str) -> Outcome<TlsAcceptor> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
