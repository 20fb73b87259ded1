//! The ways from a client to a server, our client on each, and what goes over them.

use bytes::Bytes;
use http_body_util::BodyExt;
use std::future::Future;
use std::sync::LazyLock;
use std::time::Duration;
use trunkline::Body;
use trunkline::client::{Client, ClientBuilder, ClientTls, Protocols};
use trunkline_interop::{Certificate, Endpoints};

/// A version and whether it is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    H1,
    H1Tls,
    H2c,
    H2Tls,
    H3,
}

impl Way {
    /// Those over TCP.
    pub(crate) const ALL: [Self; 4] = [Self::H1, Self::H1Tls, Self::H2c, Self::H2Tls];
    pub(crate) const H2: [Self; 2] = [Self::H2c, Self::H2Tls];

    pub(crate) fn is_h2(self) -> bool {
        matches!(self, Self::H2c | Self::H2Tls)
    }
    pub(crate) fn is_tls(self) -> bool {
        matches!(self, Self::H1Tls | Self::H2Tls | Self::H3)
    }
    pub(crate) fn version(self) -> http::Version {
        match self {
            Self::H1 | Self::H1Tls => http::Version::HTTP_11,
            Self::H2c | Self::H2Tls => http::Version::HTTP_2,
            Self::H3 => http::Version::HTTP_3,
        }
    }
    /// Where a peer serves `path` this way.
    pub(crate) fn url(self, endpoints: Endpoints, path: &str) -> String {
        let port = match self {
            Self::H1 => endpoints
                .h1
                .expect("a peer without HTTP/1.1 is not asked for it"),
            Self::H2c => endpoints.h2c,
            Self::H1Tls | Self::H2Tls | Self::H3 => endpoints.tls,
        };
        self.url_at(port, path)
    }
    pub(crate) fn url_at(self, port: u16, path: &str) -> String {
        let scheme = if self.is_tls() { "https" } else { "http" };
        format!("{scheme}://localhost:{port}{path}")
    }
    /// Our client, held to this way, on at most two connections.
    pub(crate) fn client(self, certificate: &Certificate) -> Client {
        let client = self.client_builder(certificate);
        client.build().expect("the settings are allowed")
    }
    pub(crate) fn client_builder(self, certificate: &Certificate) -> ClientBuilder {
        let root = certificate.der.clone().into();
        Client::builder()
            .protocols(match self {
                Self::H1 | Self::H1Tls => Protocols::H1Only,
                Self::H2c | Self::H2Tls => Protocols::H2Only,
                Self::H3 => Protocols::H3Only,
            })
            .tls(ClientTls::new().root(root).only_given_roots())
            .resolve("localhost", [([127, 0, 0, 1], 0).into()])
            .connections(2)
    }
}

/// Ten mebibytes in which no part is like another: a lost or doubled frame shows.
pub(crate) fn ten_mebibytes() -> Bytes {
    // Made once: without optimization it takes a part of a second.
    static MADE: LazyLock<Bytes> = LazyLock::new(|| {
        let mut bytes = vec![0; 10 * 1024 * 1024];
        for (word, place) in (0_u32..).zip(bytes.chunks_exact_mut(4)) {
            place.copy_from_slice(&word.wrapping_mul(0x9E37_79B9).to_le_bytes());
        }
        bytes.into()
    });
    MADE.clone()
}

/// Bytes and trailers of a body.
pub(crate) async fn read(body: Body) -> (Bytes, http::HeaderMap) {
    let collected = body.collect().await.expect("the body comes whole");
    let trailers = collected.trailers().cloned().unwrap_or_default();
    (collected.to_bytes(), trailers)
}

/// Runs a test of the client; one that hangs fails.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let patience = Duration::from_secs(120);
    runtime.block_on(async {
        tokio::time::timeout(patience, test)
            .await
            .expect("the test ends in two minutes");
    });
}
