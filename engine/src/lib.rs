//! Trunkline's engine: moves bytes and time in and out of the core's machines, and gives them an
//! API. A [`Server`] serves any tower service on HTTP/1.1 and HTTP/2, cleartext and TLS, on one
//! port; the client side multiplexes requests over few connections.
//!
//! Core decides, the engine moves bytes: no protocol rule is carried out here.

mod body;
mod byte_stream;
mod capsules;
mod config;
mod connection_info;
mod datagrams;
mod driver;
mod error;
mod net;
mod tls;
mod window;

pub mod client;
pub mod server;
pub mod upgrade;

pub use body::{Body, BodySender};
pub use byte_stream::ByteStream;
pub use capsules::{Capsule, Capsules};
pub use client::Client;
pub use config::{ClientConfig, Congestion, ServerConfig};
pub use connection_info::{ConnectionInfo, TlsInfo};
pub use datagrams::Datagrams;
pub use error::{Attempted, Error, ErrorKind, Origin, ProxyRefusal, Retry, SocksRefusal};
pub use server::{
    Access, Drained, EarlyData, HttpService, InterimSender, Metrics, Running, ServeBuilder, Server,
    ServiceFn, serve, service_fn,
};
pub use tls::{
    CertificateFault, CertificateRefusal, ClientCertificates, ClientHello, ClientIdentity, Tls,
    TlsPolicy, TlsRefusal,
};
pub use window::{ReceiveWindow, WindowHandle};

/// Bounds, deadlines and windows, as the core names them.
pub use trunkline_core::limits::{Limits, Timeouts, Windows};

/// The machines underneath, for those who drive a connection themselves
/// ([`client::Direct`]).
pub use trunkline_core as core;
