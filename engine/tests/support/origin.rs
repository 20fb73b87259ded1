//! An origin that counts what reaches it.
#![allow(clippy::unwrap_used, reason = "a peer that fails fails its test")]

use super::peer::service;
use http::{Request, Response};
use std::future::Future;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;
use trunkline::client::{Client, ClientBuilder, ClientTls, ResponseFuture};
use trunkline::{Body, Limits, Running, Server, ServerConfig, Tls};
use trunkline_core::budget::Rate;

/// A request as its handler received it.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    in_flight: AtomicU64,
    in_flight_max: AtomicU64,
    requests: AtomicU64,
}

impl Seen {
    pub(crate) fn in_flight_max(&self) -> u64 {
        self.in_flight_max.load(Ordering::SeqCst)
    }
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
}

/// A running server with its counts and what a client needs to believe it.
pub(crate) struct Origin {
    pub(crate) running: Running,
    pub(crate) seen: Arc<Seen>,
    root: Option<rustls::pki_types::CertificateDer<'static>>,
}

/// How a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    Plain,
    /// TLS with h2 and http/1.1 offered.
    Tls,
    /// TLS with http/1.1 only.
    TlsH1,
}

impl Origin {
    pub(crate) fn start<F, U>(speaks: Speaks, streams_max: u32, handler: F) -> Self
    where
        F: Fn(Request<Body>) -> U + Clone + Send + 'static,
        U: Future<Output = Response<Body>> + 'static,
    {
        let seen = Arc::new(Seen::default());
        let counts = Arc::clone(&seen);
        let counted = service(move |request| {
            let counts = Arc::clone(&counts);
            let answer = handler(request);
            async move {
                counts.requests.fetch_add(1, Ordering::SeqCst);
                let now = counts.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
                counts.in_flight_max.fetch_max(now, Ordering::SeqCst);
                let response = answer.await;
                counts.in_flight.fetch_sub(1, Ordering::SeqCst);
                response
            }
        });
        let limits = Limits::default()
            .with_concurrent_streams_max(streams_max)
            // Some tests give up more requests at once than a server takes from a stranger.
            .with_resets(Rate {
                burst: 100_000,
                per_second: 1,
            });
        let config = ServerConfig::default().with_limits(limits);
        let mut server = Server::bind("127.0.0.1:0").workers(1).config(config);
        let mut root = None;
        if speaks != Speaks::Plain {
            let (tls, certificate) = identity(speaks);
            server = server.tls(tls);
            root = Some(certificate);
        }
        let running = server.serve(counted).unwrap();
        Self {
            running,
            seen,
            root,
        }
    }
    pub(crate) fn url(&self, path: &str) -> String {
        let port = self.running.local_addr().port();
        let scheme = if self.root.is_some() { "https" } else { "http" };
        format!("{scheme}://localhost:{port}{path}")
    }
    /// Connections that the server accepted.
    pub(crate) fn sockets(&self) -> u64 {
        self.running.metrics().connections_accepted
    }
    /// Settings of a client that reaches and believes this origin.
    pub(crate) fn client(&self) -> ClientBuilder {
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        // The counts of a test must not depend on how long a handshake takes here.
        let builder = Client::builder().probe_patience(None);
        let builder = builder.resolve("localhost", [address]);
        match &self.root {
            None => builder,
            Some(root) => builder.tls(ClientTls::new().root(root.clone()).only_given_roots()),
        }
    }
}

fn identity(speaks: Speaks) -> (Tls, rustls::pki_types::CertificateDer<'static>) {
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let root = signed.cert.der().clone();
    let key = rustls::pki_types::PrivateKeyDer::try_from(signed.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![root.clone()], key.unwrap())
        .unwrap();
    config.alpn_protocols = match speaks {
        Speaks::TlsH1 => vec![b"http/1.1".to_vec()],
        _ => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
    };
    (Tls::from_rustls(Arc::new(config)), root)
}

/// Sends the request of a response by its first poll.
pub(crate) fn begun(mut response: ResponseFuture) -> ResponseFuture {
    let mut cx = Context::from_waker(Waker::noop());
    assert!(Pin::new(&mut response).poll(&mut cx).is_pending());
    response
}

/// Runs a test's future; one whose wait has no end fails instead of hanging.
pub(crate) fn run<F: Future>(future: F) -> F::Output {
    // One type for all tests: the compiler makes a copy of the runtime for each type of a future.
    let future: Pin<&mut dyn Future<Output = F::Output>> = pin!(future);
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(async {
            // Generous: the machine may be busy.
            tokio::time::timeout(Duration::from_secs(120), future)
                .await
                .expect("the test waits in vain")
        })
}
