//! HTTP/1.1, HTTP/2 and HTTP/3, client and server, on tokio, rustls and quinn-proto. The rules of the
//! protocols are in [`core`], which does no I/O; this crate moves bytes and time in and out of it.
//!
//! A server takes any tower service, an axum router for example, and serves it on every version from one
//! port:
//!
//! ```no_run
//! use axum::{Router, routing::get};
//! use tokio::net::TcpListener;
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let router = Router::new().route("/", get(async || "hello"));
//!     let listener = TcpListener::bind("127.0.0.1:8080").await?;
//!     trunkline::serve(listener, router).await?;
//!     Ok(())
//! }
//! ```
//!
//! A client puts many requests on few connections:
//!
//! ```no_run
//! #[tokio::main]
//! async fn main() -> Result<(), trunkline::Error> {
//!     let client = trunkline::Client::new();
//!     let response = client.get("https://example.org/").send().await?;
//!     println!("{}", response.into_body().text().await?);
//!     Ok(())
//! }
//! ```
//!
//! [`guide`] has recipes: bodies, streams, requests, programs from reqwest, errors and retries, shutdown, TLS and mutual TLS,
//! counts and traces, WebSockets, gRPC, HTTP/3, tuning.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `client` | yes | [`Client`] and what belongs to it |
//! | `server` | yes | [`serve`], [`Server`] and what belongs to them |
//! | `charset` | yes | text of a response in the charset that its `content-type` names |
//! | `dns` | yes | HTTPS records of a client's origins, asked of the system's name servers (`client::DnsResolver`) |
//! | `http3` | yes | HTTP/3 over QUIC, of clients and servers |
//! | `tower` | yes | [`Client`] as a tower service (a server takes tower services always) |
//! | `url` | yes | URLs by the WHATWG standard, hosts of other scripts included; without it by RFC 3986, with hosts in ASCII |
//! | `form` | yes | `query` and `form` of a request, by serde |
//! | `json` | yes | `json` of requests and bodies, by serde |
//! | `platform-verifier` | yes | clients trust the roots of their platform |
//! | `self-signed` | yes | [`Tls::self_signed`], certificates for development |
//! | `admin` | no | a page that shows what servers and clients are doing |
//! | `blocking` | no | a client whose calls wait, for programs without a runtime |
//! | `cookies` | no | cookies of a client (`ClientBuilder::cookie_store`) |
//! | `decompression` | no | responses in gzip, br, zstd and deflate are decompressed |
//! | `fs` | no | files as bodies (`Body::from_file`) |
//! | `hyper-upgrade` | no | upgrades as hyper has them: axum's WebSockets under [`serve`] |
//! | `multipart` | no | `multipart/form-data` (`RequestBuilder::multipart`) |
//! | `opentelemetry` | no | counts of servers and clients as instruments of an OpenTelemetry meter |
//! | `openssl-rules` | no | chains of certificates judged by OpenSSL's rules (`ClientTls::openssl_rules`, `ClientCertificates::openssl_rules`) |
//! | `qlog` | no | logs of QUIC packets, and of frames of HTTP/2 and HTTP/3 |
//! | `tonic` | no | tonic's generated clients over a client, deadlines of gRPC, statuses of errors |
//! | `tracing` | no | spans and events of `tracing` |
//! | `webpki-roots` | no | Mozilla's roots for a client |
//! | `websocket` | no | WebSockets of a client as streams of bytes (`Client::websocket`) |
//!
//! A program that is one end alone, without HTTP/3, compiles half as much:
//!
//! ```toml
//! trunkline = { version = "0.1", default-features = false, features = ["client", "json", "webpki-roots"] }
//! ```
//!
//! The oldest compiler is Rust 1.88: what the dependencies need.
//!
//! # Settings
//!
//! [`ServerConfig`], [`ClientConfig`], [`Limits`], [`Timeouts`], [`Windows`] and others are structs with defaults and public
//! fields, which may become more with any version. They are changed in one expression by a method for each field, or
//! field by field:
//!
//! ```
//! use std::time::Duration;
//! use trunkline::{Limits, ServerConfig, Timeouts};
//!
//! let config = ServerConfig::default()
//!     .with_limits(Limits::default().with_head_bytes_max(16 * 1024))
//!     .with_timeouts(Timeouts::default().with_idle(Some(Duration::from_secs(30))));
//! let mut same = ServerConfig::default();
//! same.limits.head_bytes_max = 16 * 1024;
//! same.timeouts.idle = Some(Duration::from_secs(30));
//! assert_eq!(config.limits.head_bytes_max, same.limits.head_bytes_max);
//! ```
//!
//! # Where handlers run
//!
//! - [`serve`]: connections and handlers are tasks of the tokio runtime that the future is awaited on. Handlers may block in
//!   place and spawn; what they spawn lives on when the server has ended.
//! - [`Server::serve`]: handlers run on the thread of their connection, a `current_thread` runtime of
//!   the server's. It is the fastest way, and their futures need not be `Send`. A handler that blocks delays
//!   every connection of its thread, and tasks that it spawns end with the server: [`Running::drain`] does not
//!   wait for them. [`server::on_runtime`] runs the handlers of such a server on a runtime of yours.
//!
//! A client's connections are tasks of the runtime that their first request was sent from.
#![warn(clippy::missing_errors_doc)]
#![cfg_attr(
    not(all(
        feature = "client",
        feature = "server",
        feature = "http3",
        feature = "tower"
    )),
    allow(
        dead_code,
        unreachable_pub,
        unused_imports,
        reason = "what is for one end or version alone lies beside what all of them use"
    )
)]

mod body;
mod config;
mod connection_info;
mod driver;
mod error;
mod metrics;
mod net;
mod tls;
mod tunnel;

#[cfg(feature = "admin")]
pub mod admin;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "tonic")]
pub mod grpc;
#[cfg(feature = "server")]
pub mod server;

pub use body::window::{ReceiveWindow, WindowHandle};
pub use body::{Body, BodySender, BodyStream};
#[cfg(feature = "blocking")]
pub use client::blocking;
#[cfg(feature = "client")]
pub use client::{Client, ResponseExt};
#[cfg(feature = "client")]
pub use config::ClientConfig;
#[cfg(feature = "http3")]
pub use config::Congestion;
#[cfg(feature = "server")]
pub use config::{ServerConfig, Shedding};
pub use connection_info::traffic::Traffic;
pub use connection_info::{ConnectionInfo, TlsInfo};
pub use driver::event_loop;
#[cfg(feature = "http3")]
pub use driver::quic::config::quic_lb::QuicLb;
pub use error::{Attempted, Error, ErrorKind, Fault, Progress, ProxyRefusal, Retry, SocksRefusal};
#[cfg(feature = "server")]
pub use net::address_list::TrustedPeers;
pub use net::byte_stream::ByteStream;
#[cfg(feature = "server")]
pub use server::{
    Access, Drained, EarlyData, HttpService, InterimSender, Metrics, Running, ServeBuilder, Server,
    ServiceFn, serve, service_fn,
};
#[cfg(feature = "openssl-rules")]
pub use tls::CertificateRefusal;
pub use tls::ClientIdentity;
#[cfg(feature = "server")]
pub use tls::{
    CertificateFault, ClientCertificates, ClientHello, TicketKeys, Tls, TlsPolicy, TlsRefusal,
};
pub use tunnel::capsules::{Capsule, Capsules};
pub use tunnel::datagrams::Datagrams;
pub use tunnel::upgrade;

/// The types of requests and responses, and their crate.
pub use http::{self, Method, StatusCode, Uri, Version, header};

/// Recipes, one page for each subject. Every example is compiled and, where it needs no foreign peer, run as
/// a test.
pub mod guide {
    #[doc = include_str!("guide/bodies.md")]
    pub mod bodies {}
    #[doc = include_str!("guide/streams.md")]
    pub mod streams {}
    #[doc = include_str!("guide/requests.md")]
    pub mod requests {}
    #[doc = include_str!("guide/reqwest.md")]
    pub mod reqwest {}
    #[doc = include_str!("guide/errors.md")]
    pub mod errors {}
    #[doc = include_str!("guide/shutdown.md")]
    pub mod shutdown {}
    #[doc = include_str!("guide/tls.md")]
    pub mod tls {}
    #[doc = include_str!("guide/observing.md")]
    pub mod observing {}
    #[doc = include_str!("guide/websockets.md")]
    pub mod websockets {}
    #[doc = include_str!("guide/grpc.md")]
    pub mod grpc {}
    #[doc = include_str!("guide/http3.md")]
    pub mod http3 {}
    #[doc = include_str!("guide/tuning.md")]
    pub mod tuning {}
}

/// A GET request by a client of its own, which ends with it: for one request. Programs with more keep a
/// [`Client`], whose connections serve all of them.
///
/// # Errors
/// As [`RequestBuilder::send`](client::RequestBuilder::send).
#[cfg(feature = "client")]
pub async fn get(url: impl AsRef<str>) -> Result<http::Response<Body>, Error> {
    Client::new().get(url).send().await
}

/// Codes and rules that an [`ErrorKind`] names.
pub use trunkline_core::error::{H2Code, Misuse, Violation};

/// Bounds, deadlines and windows, as the core names them.
pub use trunkline_core::limits::{Limits, Timeouts, Windows};

/// The machines underneath: their events, heads and errors are part of the callback API.
pub use trunkline_core as core;
