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
//! # Where handlers run
//!
//! - [`serve`]: connections run on threads of the server, handlers as tasks of the tokio runtime that the
//!   future is awaited on. They may block in place and spawn; what they spawn lives on when the server has ended.
//! - [`Server::serve`]: handlers run on the thread of their connection, a `current_thread` runtime of
//!   the server's. It is the fastest way, and their futures need not be `Send`. A handler that blocks delays
//!   every connection of its thread, and tasks that it spawns end with the server: [`Running::drain`] does not
//!   wait for them. [`server::on_runtime`] runs the handlers of such a server on a runtime of yours.
//!
//! A client's connections are tasks of the runtime that their first request was sent from.
#![warn(clippy::missing_errors_doc)]

mod body;
mod byte_stream;
mod config;
mod connection_info;
mod driver;
mod error;
mod net;
mod tls;
mod tunnel;

pub mod client;
pub mod server;

pub use body::window::{ReceiveWindow, WindowHandle};
pub use body::{Body, BodySender};
pub use byte_stream::ByteStream;
pub use client::Client;
pub use config::{ClientConfig, Congestion, ServerConfig};
pub use connection_info::traffic::Traffic;
pub use connection_info::{ConnectionInfo, TlsInfo};
pub use error::{Attempted, Error, ErrorKind, Fault, ProxyRefusal, Retry, SocksRefusal};
pub use server::{
    Access, Drained, EarlyData, HttpService, InterimSender, Metrics, Running, ServeBuilder, Server,
    ServiceFn, serve, service_fn,
};
pub use tls::{
    CertificateFault, CertificateRefusal, ClientCertificates, ClientHello, ClientIdentity, Tls,
    TlsPolicy, TlsRefusal,
};
pub use tunnel::capsules::{Capsule, Capsules};
pub use tunnel::datagrams::Datagrams;
pub use tunnel::upgrade;

/// Bounds, deadlines and windows, as the core names them.
pub use trunkline_core::limits::{Limits, Timeouts, Windows};

/// The machines underneath: their events, heads and errors are part of the callback API.
pub use trunkline_core as core;
