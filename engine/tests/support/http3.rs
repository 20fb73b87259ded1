//! A server of all versions and clients that speak HTTP/3 to it.
#![allow(clippy::unwrap_used, reason = "a peer that fails fails its test")]

use super::peer::service;
use http::{Request, Response};
use rustls::pki_types::CertificateDer;
use std::future::Future;
use std::net::{SocketAddr, UdpSocket};
use trunkline::client::{Client, ClientBuilder, ClientTls, HealthTimes, Protocols};
use trunkline::{Body, Limits, Running, Server, ServerConfig, Tls};

/// A running server and what a client needs to believe it.
pub(crate) struct Origin {
    pub(crate) running: Running,
    root: CertificateDer<'static>,
}

/// Bounds for tests with many resets on one connection.
pub(crate) fn generous() -> Limits {
    Limits::default()
        .with_resets(trunkline_core::budget::Rate {
            burst: 100_000,
            per_second: 1,
        })
        .with_requests_per_connection_max(1_000_000)
}

/// A UDP port without a peer as long as the socket is open: it receives only its own packets, and
/// the system does not assign its number again.
pub(crate) fn nobody() -> (UdpSocket, u16) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    socket.connect(address).unwrap();
    (socket, address.port())
}

impl Origin {
    /// One worker, default settings except for `limits`.
    pub(crate) fn start<F, U>(limits: Limits, handler: F) -> Self
    where
        F: Fn(Request<Body>) -> U + Clone + Send + 'static,
        U: Future<Output = Response<Body>> + 'static,
    {
        Self::with_workers(1, limits, handler)
    }
    pub(crate) fn with_workers<F, U>(workers: usize, limits: Limits, handler: F) -> Self
    where
        F: Fn(Request<Body>) -> U + Clone + Send + 'static,
        U: Future<Output = Response<Body>> + 'static,
    {
        let config = ServerConfig::default().with_limits(limits);
        Self::with_config(workers, config, handler)
    }
    /// One worker, extended CONNECT.
    pub(crate) fn with_extended_connect<F, U>(handler: F) -> Self
    where
        F: Fn(Request<Body>) -> U + Clone + Send + 'static,
        U: Future<Output = Response<Body>> + 'static,
    {
        let config = ServerConfig::default().with_extended_connect(true);
        Self::with_config(1, config, handler)
    }
    /// As `with_extended_connect`, with datagrams.
    pub(crate) fn with_datagrams<F, U>(handler: F) -> Self
    where
        F: Fn(Request<Body>) -> U + Clone + Send + 'static,
        U: Future<Output = Response<Body>> + 'static,
    {
        let config = ServerConfig::default()
            .with_extended_connect(true)
            .with_datagrams(true);
        Self::with_config(1, config, handler)
    }
    fn with_config<F, U>(workers: usize, config: ServerConfig, handler: F) -> Self
    where
        F: Fn(Request<Body>) -> U + Clone + Send + 'static,
        U: Future<Output = Response<Body>> + 'static,
    {
        let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
        let running = Server::bind("127.0.0.1:0")
            .workers(workers)
            .tls(tls)
            .http3(true)
            .config(config)
            .serve(service(handler))
            .unwrap();
        Self { running, root }
    }
    /// One worker whose QUIC keys are those of `secret`.
    pub(crate) fn with_secret<F, U>(secret: [u8; 32], handler: F) -> Self
    where
        F: Fn(Request<Body>) -> U + Clone + Send + 'static,
        U: Future<Output = Response<Body>> + 'static,
    {
        let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
        let running = Server::bind("127.0.0.1:0")
            .tls(tls)
            .http3(true)
            .quic_secret(secret)
            .serve(service(handler))
            .unwrap();
        Self { running, root }
    }
    pub(crate) fn url(&self, path: &str) -> String {
        let port = self.running.local_addr().port();
        format!("https://localhost:{port}{path}")
    }
    pub(crate) fn root(&self) -> CertificateDer<'static> {
        self.root.clone()
    }
    /// A client that offers HTTP/2 and HTTP/1.1, as by default.
    pub(crate) fn any_client(&self) -> ClientBuilder {
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        // The counts of a test must not depend on how long a packet takes on a busy machine.
        let health = HealthTimes::default().with_unanswered(None);
        Client::builder()
            .health(health)
            .resolve("localhost", [address])
            .tls(ClientTls::new().root(self.root.clone()).only_given_roots())
    }
    /// A client that speaks HTTP/3 and nothing else.
    pub(crate) fn client(&self) -> ClientBuilder {
        self.any_client().protocols(Protocols::H3Only)
    }
}
