//! TLS: who we say we are, and whom we believe. The provider is aws-lc-rs; versions 1.2 and 1.3.

mod client;
mod identities;
mod key_log;
mod server;

pub use client::ClientTls;
pub use server::Tls;
