//! A server's TLS settings: certificates, ALPN, client certificates.

mod alternatives;
pub(super) mod choose;
pub(super) mod clients;
mod identities;
pub(super) mod policy;
mod seed;
pub(super) mod tickets;

use super::key_log::{KeyListener, KeyLogFile};
use super::pem::{pem_error, read_pem, read_pem_files, unusable};
use crate::error::Error;
use alternatives::{Pair, SuiteOrder, pairs_of};
use choose::{Chooser, ClientHello, TlsRefusal};
use clients::{ClientCertificates, Judge};
use identities::{CertificateResolver, Identities};
use policy::{TlsPolicy, versions};
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use seed::Seed;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tickets::TicketKeys;

/// A server's TLS settings: certificate chains with their keys, h2 and http/1.1 by ALPN. SNI is
/// not required. Clones share their certificates: what is set on one holds for all, and for the
/// servers that were given one.
#[derive(Clone, Debug)]
#[must_use]
pub struct Tls {
    config: Arc<ServerConfig>,
    /// `None`: the user's own configuration has its own.
    identities: Option<Arc<Identities>>,
    keys: Option<KeyListener>,
    /// The verifier of client certificates and the judge of resumed sessions, where they are
    /// requested.
    clients: Option<(Arc<dyn ClientCertVerifier>, Judge)>,
    policy: TlsPolicy,
    /// The callback that chooses each handshake's settings, if any.
    chooser: Option<Chooser>,
}

impl Tls {
    /// Reads a certificate chain (the server's own first) and a private key, both PEM. Where there are several keys, as one of
    /// RSA beside one of ECDSA, the certificate of each begins a chain: a client is shown one whose signatures it verifies,
    /// the one that it prefers unless [`TlsPolicy::prefers_own_order`] is set. A key without a certificate is not used.
    ///
    /// # Errors
    /// Names the file and what is wrong with it: unreadable, without a certificate or key, or a
    /// key that does not belong to the certificate.
    pub fn from_pem_files(
        certificate: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<Self, Error> {
        let tls = Self::for_names()?;
        tls.set_pem_files(certificate, key)?;
        Ok(tls)
    }
    /// As [`from_pem_files`](Self::from_pem_files), from PEM text.
    ///
    /// # Errors
    /// Those of [`from_pem_files`](Self::from_pem_files).
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Self, Error> {
        let tls = Self::for_names()?;
        tls.set_pem(certificate, key)?;
        Ok(tls)
    }
    /// Has no certificate yet: handshakes end with an alert except for clients whose name has one
    /// ([`set_pem_for`](Self::set_pem_for)) or is given settings ([`choose`](Self::choose)).
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub fn for_names() -> Result<Self, Error> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let identities = Arc::new(Identities::new(provider));
        let nobody = WebPkiClientVerifier::no_client_auth();
        let mut config = config_with(nobody, &TlsPolicy::default(), Arc::clone(&identities))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            config: Arc::new(config),
            identities: Some(identities),
            keys: None,
            clients: None,
            policy: TlsPolicy::default(),
            chooser: None,
        })
    }
    /// Takes another certificate chain and key in the place of the first one, if there is one, as
    /// [`set_pem_files`](Self::set_pem_files) does.
    ///
    /// # Errors
    /// Those of [`set_pem_files`](Self::set_pem_files).
    pub fn set_pem(&self, certificate: &[u8], key: &[u8]) -> Result<(), Error> {
        let identities = self.identities()?;
        identities.set(identities_in(identities.provider(), certificate, key)?)
    }
    /// As [`set_pem_files_for`](Self::set_pem_files_for), from PEM text.
    ///
    /// # Errors
    /// Those of [`set_pem_files_for`](Self::set_pem_files_for).
    pub fn set_pem_for(&self, name: &str, certificate: &[u8], key: &[u8]) -> Result<(), Error> {
        let identities = self.identities()?;
        let pairs = identities_in(identities.provider(), certificate, key)?;
        identities.set_for(name, pairs, true)
    }
    /// As [`set_pem_for`](Self::set_pem_for), for a certificate that need not be for `name`:
    /// clients that verify will refuse it.
    ///
    /// # Errors
    /// Those of [`set_pem_files`](Self::set_pem_files).
    pub fn set_any_pem_for(&self, name: &str, certificate: &[u8], key: &[u8]) -> Result<(), Error> {
        let identities = self.identities()?;
        let pairs = identities_in(identities.provider(), certificate, key)?;
        identities.set_for(name, pairs, false)
    }
    /// The ALPN protocols offered over TCP, best first: `h2`, `http/1.1`. Default: both. A client
    /// without ALPN is served HTTP/1.1 where that is offered, or nothing is; otherwise its
    /// connection closes, unless the callback API takes it. The same holds for any other negotiated
    /// name.
    pub fn offer(mut self, protocols: &[&str]) -> Self {
        let offered = protocols.iter().map(|name| name.as_bytes().to_vec());
        Arc::make_mut(&mut self.config).alpn_protocols = offered.collect();
        self
    }
    /// Whether a client that does not say what it speaks is served HTTP/1.1.
    pub(crate) fn serves_unnamed(&self) -> bool {
        let offered = &self.config.alpn_protocols;
        offered.is_empty() || offered.iter().any(|name| name == b"http/1.1")
    }
    /// Reads another certificate chain and key in the place of the first one. From the next
    /// handshake on it is shown, on every clone and every server; connections stay as they are.
    ///
    /// # Errors
    /// Those of [`from_pem_files`](Self::from_pem_files): nothing has changed then. Settings made
    /// by [`from_rustls`](Self::from_rustls) have a resolver of their own.
    pub fn set_pem_files(
        &self,
        certificate: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<(), Error> {
        let identities = self.identities()?;
        let (certificate, key) = (certificate.as_ref(), key.as_ref());
        identities.set(identities_in_files(
            identities.provider(),
            certificate,
            key,
        )?)
    }
    /// Sets the certificate of clients that ask for `name` (SNI, RFC 6066 section 3): adds one or
    /// replaces the one that this name has. The first certificate serves all other names. `*.rest`
    /// matches every name with one label more than `rest` that has no certificate of its own.
    ///
    /// # Errors
    /// Those of [`set_pem_files`](Self::set_pem_files), and a certificate that is not for `name`.
    pub fn set_pem_files_for(
        &self,
        name: &str,
        certificate: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<(), Error> {
        let identities = self.identities()?;
        let (certificate, key) = (certificate.as_ref(), key.as_ref());
        let pairs = identities_in_files(identities.provider(), certificate, key)?;
        identities.set_for(name, pairs, true)
    }
    /// Takes the certificates of `other` in the place of its own, all in one step: from the next handshake on they are
    /// shown, on every clone and every server. A name that `other` has no certificate for has none any more.
    ///
    /// # Errors
    /// Either was made by [`from_rustls`](Self::from_rustls), which has a resolver of its own.
    pub fn set_certificates_of(&self, other: &Self) -> Result<(), Error> {
        self.identities()?.set_all(other.identities()?);
        Ok(())
    }
    /// Seals sessions into tickets that clients keep, over TCP and QUIC: every server with one of these keys resumes
    /// them, also after a restart. Default: a server remembers 256 sessions itself, and no key seals tickets.
    ///
    /// A session says for itself what its client was: give keys only to servers that ask clients for the same. Not
    /// with [`Server::early_data`](crate::Server::early_data): servers that share nothing but keys cannot notice that
    /// a request was replayed.
    pub fn ticket_keys(mut self, keys: &TicketKeys) -> Self {
        Arc::make_mut(&mut self.config).ticketer = Arc::new(keys.clone());
        self
    }
    /// Whether sessions are sealed into tickets.
    pub(crate) fn seals_tickets(&self) -> bool {
        self.config.ticketer.enabled()
    }
    /// A fresh self-signed certificate for `names`, which clients trust only if they are configured
    /// to: for development.
    ///
    /// # Errors
    /// When a name is neither a host name nor an address.
    #[cfg(feature = "self-signed")]
    pub fn self_signed<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Result<Self, Error> {
        let names = names.into_iter().map(Into::into).collect();
        Ok(Self::generated(names)?.0)
    }
    /// A fresh self-signed certificate, in settings and alone.
    #[cfg(feature = "self-signed")]
    fn generated(names: Vec<String>) -> Result<(Self, CertificateDer<'static>), Error> {
        let signed = rcgen::generate_simple_self_signed(names.clone()).map_err(|error| {
            Error::config(format!("no certificate can be made for {names:?}")).with_source(error)
        })?;
        let root = signed.cert.der().clone();
        let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der())
            .map_err(|error| Error::config(format!("the generated key is unusable: {error}")))?;
        Ok((Self::from_der(vec![root.clone()], key)?, root))
    }
    /// Takes any rustls configuration as it is. Set `alpn_protocols` yourself.
    pub fn from_rustls(config: Arc<ServerConfig>) -> Self {
        Self {
            config,
            identities: None,
            keys: None,
            clients: None,
            policy: TlsPolicy::default(),
            chooser: None,
        }
    }
    /// Whether the default certificate names no host at all: it has no subjectAltName, and clients
    /// have not looked elsewhere for a name for years (RFC 9110 section 4.3.4). They will refuse
    /// it, over TCP and QUIC alike. Not known of [`from_rustls`](Self::from_rustls): false.
    pub fn is_nameless(&self) -> bool {
        self.identities
            .as_deref()
            .is_some_and(Identities::is_nameless)
    }
    /// Appends the secrets of every session, over TCP and QUIC, to this file, in the format of
    /// `SSLKEYLOGFILE`. The file decrypts the traffic: for debugging only.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    pub fn key_log(mut self, path: impl AsRef<Path>) -> Result<Self, Error> {
        let log = KeyLogFile::open(path.as_ref())?;
        Arc::make_mut(&mut self.config).key_log = Arc::new(log);
        Ok(self)
    }
    /// Passes the secrets of every session over TCP to `listener`, a line each without its end, in
    /// the format of `SSLKEYLOGFILE`, with the addresses of the connection: the peer's address and
    /// ours, which a Unix socket does not have. It is called in the middle of a handshake, and must
    /// not block. For debugging only.
    pub fn key_listener(
        mut self,
        listener: impl Fn(Option<(SocketAddr, SocketAddr)>, &str) + Send + Sync + 'static,
    ) -> Self {
        self.keys = Some(KeyListener::new(listener));
        self
    }
    /// Asks clients for a certificate, over TCP and QUIC, and admits those of `clients`. What was
    /// shown stands in [`TlsInfo::client`](crate::TlsInfo::client). Sessions from before are not
    /// resumed.
    ///
    /// # Errors
    /// An issuer or a revocation list that cannot be used. Settings made by
    /// [`from_rustls`](Self::from_rustls) have a verifier of their own.
    pub fn client_certificates(mut self, clients: ClientCertificates) -> Result<Self, Error> {
        let verifiers = clients.verifiers(self.config.crypto_provider())?;
        self.clients = Some(verifiers);
        self.rebuilt()
    }
    /// Agrees to no more than `policy` in handshakes over TCP and QUIC. Sessions from before are not
    /// resumed.
    ///
    /// # Errors
    /// A policy that leaves nothing to agree on. Settings made by [`from_rustls`](Self::from_rustls)
    /// have one of their own.
    pub fn policy(mut self, policy: TlsPolicy) -> Result<Self, Error> {
        self.policy = policy;
        self.rebuilt()
    }
    /// Asks `choose` at each handshake over TCP, once the client has said whom it asks for: the
    /// handshake goes on with the settings that it gives, or with these for `None`, or ends with
    /// the alert of a refusal. It may take as long as
    /// [`Timeouts::handshake`](crate::Timeouts::handshake) leaves; its future is dropped when the
    /// client leaves. Sessions of settings that were chosen are resumed by the same settings and
    /// their clones alone. Not for HTTP/3, whose handshake cannot wait: a server of both is
    /// refused. A server without it costs nothing more.
    ///
    /// ```no_run
    /// # async fn of_customer(_: &str) -> Option<trunkline::Tls> { None }
    /// # fn example(tls: trunkline::Tls) -> trunkline::Tls {
    /// use trunkline::TlsRefusal;
    ///
    /// tls.choose(async |hello| {
    ///     let Some(name) = hello.server_name() else {
    ///         return Ok(None);
    ///     };
    ///     match of_customer(name).await {
    ///         Some(tls) => Ok(Some(tls)),
    ///         None => Err(TlsRefusal::new(TlsRefusal::UNRECOGNIZED_NAME, "unknown customer")),
    ///     }
    /// })
    /// # }
    /// ```
    pub fn choose<F>(mut self, choose: impl Fn(ClientHello) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Option<Tls>, TlsRefusal>> + Send + 'static,
    {
        self.chooser = Some(Chooser::new(choose));
        self
    }
    /// The callback that chooses each handshake's settings, if any.
    pub(crate) fn chooser(&self) -> Option<&Chooser> {
        self.chooser.as_ref()
    }
    /// Logs its secrets to the listener of `other`, unless it has one of its own.
    pub(crate) fn listened_as(mut self, other: &Self) -> Self {
        self.keys = self.keys.or_else(|| other.keys.clone());
        self
    }
    /// The judge of client certificates, if they are requested.
    pub(crate) fn judge(&self) -> Option<&Judge> {
        self.clients.as_ref().map(|(_, judge)| judge)
    }
    /// Rebuilds the configuration for settings that rustls takes only before.
    fn rebuilt(mut self) -> Result<Self, Error> {
        let Some(identities) = &self.identities else {
            return Err(Error::config(
                "settings made from a rustls configuration keep its versions and its verifier of \
                 clients",
            ));
        };
        let verifier = match &self.clients {
            Some((verifier, _)) => Arc::clone(verifier),
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let mut config = config_with(verifier, &self.policy, Arc::clone(identities))?;
        config
            .alpn_protocols
            .clone_from(&self.config.alpn_protocols);
        config.key_log = Arc::clone(&self.config.key_log);
        config.ticketer = Arc::clone(&self.config.ticketer);
        // A client that resumes a session and is not admitted gets an alert, for which rustls has
        // no call.
        config.enable_secret_extraction = self.clients.is_some();
        self.config = Arc::new(config);
        Ok(self)
    }
    /// Whether a callback reads where handshakes come from.
    pub(crate) fn reports_addresses(&self) -> bool {
        self.keys.is_some() || self.chooser.is_some()
    }
    /// The configuration for a connection between these addresses, the peer's and ours.
    pub(crate) fn config_of(
        &self,
        addresses: Option<(SocketAddr, SocketAddr)>,
    ) -> Arc<ServerConfig> {
        match &self.keys {
            Some(keys) => {
                let mut config = (*self.config).clone();
                config.key_log = keys.of(addresses, config.key_log);
                Arc::new(config)
            }
            None => Arc::clone(&self.config),
        }
    }
    fn from_der(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, Error> {
        let tls = Self::for_names()?;
        tls.identities()?.set(vec![(chain, key)])?;
        Ok(tls)
    }
    fn identities(&self) -> Result<&Identities, Error> {
        self.identities.as_deref().ok_or_else(|| {
            Error::config(
                "settings made from a rustls configuration keep its certificates; change them in \
                 its own resolver",
            )
        })
    }
    /// The seed of the private key; `None`: no certificate is set yet, or the user's own rustls
    /// configuration holds the key.
    pub(crate) fn seed(&self) -> Option<Seed> {
        self.identities.as_deref()?.seed()
    }
    /// The configuration for QUIC: h3 by ALPN, and early data if enabled.
    pub(crate) fn quic_config(&self, early_data: bool) -> Arc<ServerConfig> {
        let mut config = ServerConfig::clone(&self.config);
        config.alpn_protocols = vec![b"h3".to_vec()];
        // RFC 9001 section 4.6.1: over QUIC it is one of these two.
        config.max_early_data_size = if early_data { u32::MAX } else { 0 };
        Arc::new(config)
    }
    /// Resumes the sessions of another; for tests.
    #[doc(hidden)]
    pub fn resuming_those_of(mut self, other: &Self) -> Self {
        let storage = Arc::clone(&other.config.session_storage);
        Arc::make_mut(&mut self.config).session_storage = storage;
        self
    }
    /// The chain of a self-signed certificate is what a client must trust; for tests.
    ///
    /// # Errors
    /// When no certificate can be made for the names.
    #[cfg(feature = "self-signed")]
    #[doc(hidden)]
    pub fn self_signed_with_root(names: &[&str]) -> Result<(Self, CertificateDer<'static>), Error> {
        Self::generated(names.iter().map(|name| (*name).to_owned()).collect())
    }
}

/// A configuration that asks clients for what `verifier` wants and shows them `identities`.
fn config_with(
    verifier: Arc<dyn ClientCertVerifier>,
    policy: &TlsPolicy,
    identities: Arc<Identities>,
) -> Result<ServerConfig, Error> {
    let provider = policy.provider(identities.provider())?;
    let versions = versions(&provider);
    let order = SuiteOrder::of(&provider, policy.prefers_own_order);
    let config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&versions)
        .map_err(|error| Error::config("TLS cannot be set up").with_source(error))?;
    let mut config = config
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(Arc::new(CertificateResolver { identities, order }));
    config.ignore_client_order = policy.prefers_own_order;
    Ok(config)
}

/// The chains in files, each with its key.
fn identities_in_files(
    provider: &CryptoProvider,
    certificate: &Path,
    key: &Path,
) -> Result<Vec<Pair>, Error> {
    let (chain, _) = read_pem_files(certificate, key)?;
    let keys = PrivateKeyDer::pem_file_iter(key)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| pem_error("the key file", key, error))?;
    pairs_of(provider, chain, keys)
}

/// As [`identities_in_files`], in PEM text.
fn identities_in(
    provider: &CryptoProvider,
    certificate: &[u8],
    key: &[u8],
) -> Result<Vec<Pair>, Error> {
    let (chain, _) = read_pem(certificate, key)?;
    let keys = PrivateKeyDer::pem_slice_iter(key)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unusable("key", error))?;
    pairs_of(provider, chain, keys)
}

#[cfg(test)]
#[path = "server_test.rs"]
mod server_test;
