//! TLS 1.2 and 1.3 over rustls with aws-lc-rs: our certificates, and the peers' that we trust.

mod choose;
mod client;
mod clients;
mod failure;
mod identities;
mod key_log;
mod openssl;
mod policy;
mod seed;
mod server;

pub(crate) use choose::Chooser;
pub use choose::{ClientHello, TlsRefusal};
pub use client::ClientTls;
pub(crate) use clients::Judge;
pub use clients::{CertificateFault, ClientCertificates, ClientIdentity};
pub(crate) use failure::{alert_of, refusal_in, retry_after, retry_after_quic};
pub use openssl::CertificateRefusal;
pub use policy::TlsPolicy;
pub use server::Tls;
