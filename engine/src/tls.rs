//! TLS: who we say we are, and whom we believe. The provider is aws-lc-rs; versions 1.2 and 1.3.

mod server;

pub use server::Tls;
