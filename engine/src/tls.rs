//! TLS 1.2 and 1.3 over rustls with aws-lc-rs: our certificates, and the peers' that we trust.

mod certified;
mod client;
mod key_log;
#[cfg(feature = "openssl-rules")]
mod openssl;
mod pem;
mod server;

pub use client::ClientTls;
pub(crate) use client::early_data;
#[cfg(feature = "http3")]
pub(crate) use client::failure::quic::{alert_of, refuses_certificate_over_quic, retry_after_quic};
pub(crate) use client::failure::{refusal_in, refuses_certificate, retry_after};
pub(crate) use client::hello::{HelloRefusal, hello_refusal};
pub use client::pins::KeyRefusal;
#[cfg(feature = "openssl-rules")]
pub use openssl::CertificateRefusal;
pub use server::Tls;
pub(crate) use server::choose::Chooser;
pub use server::choose::{ClientHello, TlsRefusal};
pub(crate) use server::clients::Judge;
pub use server::clients::{CertificateFault, ClientCertificates, ClientIdentity};
pub use server::policy::TlsPolicy;
pub use server::tickets::TicketKeys;
