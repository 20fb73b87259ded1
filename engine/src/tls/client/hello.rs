//! Encrypted ClientHellos (ECH, RFC 9849) by the keys of an origin's HTTPS record.

use super::ClientTls;
use crate::error::Error;
use rustls::client::{EchConfig, EchMode};
use rustls::crypto::aws_lc_rs::hpke::ALL_SUPPORTED_SUITES;
use rustls::pki_types::EchConfigListBytes;
use rustls::{ClientConfig, PeerIncompatible};
use std::io;
use std::sync::Arc;
use trunkline_core::pool::Protocols;

/// How a server refused an encrypted ClientHello; it has proved that it may, by a certificate for the public name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HelloRefusal {
    /// It has other keys than those of the record.
    OtherKeys,
    /// It has none (RFC 9849 section 6.1.6: the client goes on without).
    NoKeys,
}

impl ClientTls {
    /// Encrypts the ClientHello (ECH, RFC 9849), and with it the host's name, to origins whose HTTPS record has
    /// keys for it: a [`Resolver`](crate::client::Resolver) gives that record, as
    /// [`DnsResolver`](crate::client::DnsResolver) does with the feature `dns`. Only TLS 1.3 is offered there.
    /// An observer of the lookups of names still learns them. Records that come later than 50 ms after the
    /// addresses, or not at all, leave the ClientHello as it is; so do [`only_tls12`](Self::only_tls12) and
    /// [`from_rustls`](Self::from_rustls). Default: no.
    ///
    /// A server that has proved its public name and has no keys is connected to again without; one with
    /// other keys than its record's is an error.
    pub fn encrypted_client_hello(mut self) -> Self {
        self.encrypts_hello = true;
        self
    }
    /// Whether the keys of records are used.
    pub(crate) fn encrypts_hello(&self) -> bool {
        self.encrypts_hello && self.given.is_none() && self.offers_tls13()
    }
    /// As [`config`](Self::config), with the ClientHello encrypted by one of `keys`, an ECHConfigList; `None`: none of
    /// them can be used, and the ClientHello is sent as without a record.
    pub(crate) fn config_with_keys(
        &self,
        protocols: Protocols,
        keys: &[u8],
    ) -> Result<Option<Arc<ClientConfig>>, Error> {
        let base = self.config(protocols)?;
        let keys = EchConfigListBytes::from(keys);
        let Ok(keys) = EchConfig::new(keys, ALL_SUPPORTED_SUITES) else {
            return Ok(None);
        };
        let provider = Arc::clone(base.crypto_provider());
        let verifier = self.verifier(&provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_ech(EchMode::Enable(keys))
            .map_err(|error| Error::config("TLS cannot be set up").with_source(error))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config =
            builder.with_client_cert_resolver(Arc::clone(&base.client_auth_cert_resolver));
        config.alpn_protocols.clone_from(&base.alpn_protocols);
        // The sessions are those of the origin, however its name was sent.
        config.resumption = base.resumption.clone();
        config.key_log = Arc::clone(&base.key_log);
        Ok(Some(Arc::new(config)))
    }
}

/// How the server refused our encrypted ClientHello, if that ended the handshake.
pub(crate) fn hello_refusal(error: &io::Error) -> Option<HelloRefusal> {
    let tls = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    match tls {
        rustls::Error::PeerIncompatible(PeerIncompatible::ServerRejectedEncryptedClientHello(
            keys,
        )) => Some(match keys {
            Some(keys) if !keys.is_empty() => HelloRefusal::OtherKeys,
            _ => HelloRefusal::NoKeys,
        }),
        _ => None,
    }
}
