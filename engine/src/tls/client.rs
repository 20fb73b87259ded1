//! A client's TLS settings: trusted roots and its own certificate. One rustls configuration per set
//! of offered versions, built at the first https connection: reading the platform's roots takes
//! milliseconds.

pub(crate) mod early_data;
pub(super) mod failure;
pub(super) mod hello;
pub(super) mod pins;
#[cfg(not(feature = "openssl-rules"))]
mod signature;

use super::certified::certified_key;
use super::key_log::KeyLogFile;
#[cfg(feature = "openssl-rules")]
use super::openssl::{OpensslRules, signature};
use super::pem::{certificates, read_certificates, read_pem, read_pem_files};
use crate::error::Error;
use rustls::ClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::SingleCertAndKey;
use rustls::version::{TLS12, TLS13};
use rustls::{
    DigitallySignedStruct, KeyLog, RootCertStore, SignatureScheme, SupportedProtocolVersion,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use trunkline_core::pool::Protocols;

static BOTH_VERSIONS: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];
static ONLY_TLS13: [&SupportedProtocolVersion; 1] = [&TLS13];
static ONLY_TLS12: [&SupportedProtocolVersion; 1] = [&TLS12];

/// A client's TLS settings. Default: the platform's roots, no certificate of our own.
#[derive(Debug)]
#[must_use]
pub struct ClientTls {
    extra_roots: Vec<CertificateDer<'static>>,
    platform_roots: PlatformRoots,
    identity: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
    insecure: bool,
    #[cfg(feature = "openssl-rules")]
    rules: Rules,
    versions: &'static [&'static SupportedProtocolVersion],
    resumed_servers_max: usize,
    key_log: Option<Arc<KeyLogFile>>,
    #[cfg(feature = "webpki-roots")]
    mozillas_roots: bool,
    /// ClientHellos are encrypted where there are keys.
    encrypts_hello: bool,
    /// Keys of which a server must have one; none: it may have any.
    pins: Vec<pins::Pin>,
    /// Made once: reading the platform's roots takes milliseconds.
    verifier: OnceLock<Arc<dyn ServerCertVerifier>>,
    /// In place of all of it.
    given: Option<Arc<ClientConfig>>,
    configs: Mutex<BTreeMap<Protocols, Arc<ClientConfig>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PlatformRoots {
    #[default]
    Believed,
    Ignored,
}

/// By whose rules chains of certificates are judged.
#[cfg(feature = "openssl-rules")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rules {
    #[default]
    Webpki,
    Openssl,
}

impl Default for ClientTls {
    fn default() -> Self {
        Self {
            extra_roots: Vec::new(),
            platform_roots: PlatformRoots::default(),
            identity: None,
            insecure: false,
            #[cfg(feature = "openssl-rules")]
            rules: Rules::default(),
            versions: &BOTH_VERSIONS,
            resumed_servers_max: RESUMED_SERVERS_MAX,
            key_log: None,
            #[cfg(feature = "webpki-roots")]
            mozillas_roots: false,
            encrypts_hello: false,
            pins: Vec::new(),
            verifier: OnceLock::new(),
            given: None,
            configs: Mutex::default(),
        }
    }
}

/// The copy keeps TLS sessions of its own, unless they are [`from_rustls`](ClientTls::from_rustls).
impl Clone for ClientTls {
    fn clone(&self) -> Self {
        let identity = self.identity.as_ref();
        Self {
            extra_roots: self.extra_roots.clone(),
            platform_roots: self.platform_roots,
            identity: identity.map(|(chain, key)| (chain.clone(), key.clone_key())),
            insecure: self.insecure,
            #[cfg(feature = "openssl-rules")]
            rules: self.rules,
            versions: self.versions,
            resumed_servers_max: self.resumed_servers_max,
            key_log: self.key_log.clone(),
            #[cfg(feature = "webpki-roots")]
            mozillas_roots: self.mozillas_roots,
            encrypts_hello: self.encrypts_hello,
            pins: self.pins.clone(),
            // One that is made of the settings would be out of date once the copy is changed.
            verifier: OnceLock::new(),
            given: self.given.clone(),
            configs: Mutex::default(),
        }
    }
}

impl ClientTls {
    /// The platform's roots, no certificate of our own.
    pub fn new() -> Self {
        Self::default()
    }
    /// Trusts this root (DER) too.
    #[doc(alias = "add_root_certificate")]
    pub fn root(mut self, root: CertificateDer<'static>) -> Self {
        self.extra_roots.push(root);
        self
    }
    /// Trusts every certificate in this PEM file too.
    ///
    /// # Errors
    /// Names the file and what is wrong with it: unreadable, or without a certificate.
    pub fn roots_from_pem_file(mut self, path: impl AsRef<Path>) -> Result<Self, Error> {
        self.extra_roots.extend(certificates(path.as_ref())?);
        Ok(self)
    }
    /// Trusts every certificate in this PEM text too.
    ///
    /// # Errors
    /// Text that is not valid PEM, or has no certificate in it.
    pub fn roots_from_pem(mut self, pem: impl AsRef<[u8]>) -> Result<Self, Error> {
        self.extra_roots.extend(read_certificates(pem.as_ref())?);
        Ok(self)
    }
    /// Trusts Mozilla's roots as they were when the crate `webpki-roots` was built, in place of the platform's.
    #[cfg(feature = "webpki-roots")]
    pub fn mozillas_roots(mut self) -> Self {
        self.mozillas_roots = true;
        self.platform_roots = PlatformRoots::Ignored;
        self
    }
    /// Trusts the roots given by [`root`](Self::root) and no other.
    pub fn only_given_roots(mut self) -> Self {
        self.platform_roots = PlatformRoots::Ignored;
        self
    }
    /// Shows this certificate chain (our own first) to servers that ask for one.
    pub fn identity(
        mut self,
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Self {
        self.identity = Some((chain, key));
        self
    }
    /// As [`identity`](Self::identity), from PEM files: a chain and its private key, which may be one file.
    ///
    /// # Errors
    /// Names the file that cannot be read or has no certificate or key.
    pub fn identity_from_pem_files(
        self,
        certificate: impl AsRef<Path>,
        key: impl AsRef<Path>,
    ) -> Result<Self, Error> {
        let (chain, key) = read_pem_files(certificate.as_ref(), key.as_ref())?;
        Ok(self.identity(chain, key))
    }
    /// As [`identity`](Self::identity), from PEM text: a chain and its private key, which may be one text.
    ///
    /// # Errors
    /// Says of which text it is that it is not valid PEM, or has no certificate or key.
    pub fn identity_from_pem(
        self,
        certificate: impl AsRef<[u8]>,
        key: impl AsRef<[u8]>,
    ) -> Result<Self, Error> {
        let (chain, key) = read_pem(certificate.as_ref(), key.as_ref())?;
        Ok(self.identity(chain, key))
    }
    /// Settings of rustls that are made elsewhere: roots, verifier, certificates, provider and versions are
    /// taken from it. The names of protocols (ALPN) are the client's own, by
    /// [`ClientBuilder::protocols`](crate::client::ClientBuilder::protocols). What this struct sets
    /// beside it is not used, except for [`key_log`](Self::key_log).
    pub fn from_rustls(config: Arc<ClientConfig>) -> Self {
        Self {
            given: Some(config),
            ..Self::default()
        }
    }
    /// Accepts every certificate, so that an attacker on the path can read and change everything:
    /// for tests on your own machine only.
    #[doc(alias = "danger_accept_invalid_certs")]
    pub fn insecure(mut self) -> Self {
        self.insecure = true;
        self
    }
    /// Judges chains to the given roots by OpenSSL's rules, as Node.js does: a server's certificate that is
    /// itself a given root is accepted, also where it says that it is an authority; so are certificates of
    /// version 1, and a CN where there is no DNS name. A given certificate that is not its own issuer is no
    /// root, and a root that has expired is none. What is refused has a
    /// [`CertificateRefusal`](crate::CertificateRefusal) among the sources of its error.
    #[cfg(feature = "openssl-rules")]
    pub fn openssl_rules(mut self) -> Self {
        self.rules = Rules::Openssl;
        self
    }
    /// Offers TLS 1.3 alone. Default: TLS 1.2 too.
    pub fn only_tls13(mut self) -> Self {
        self.versions = &ONLY_TLS13;
        self
    }
    /// Offers TLS 1.2 alone, with which there is no HTTP/3. Default: TLS 1.3 too.
    pub fn only_tls12(mut self) -> Self {
        self.versions = &ONLY_TLS12;
        self
    }
    /// The number of servers whose sessions are kept, so that later connections to them resume
    /// (RFC 8446 section 2.2); those of the server that was connected to first go first. 0: every handshake
    /// is a whole one. Default 32; 4,096 at most, whatever is given.
    pub fn resumed_servers(mut self, max: usize) -> Self {
        self.resumed_servers_max = max.min(RESUMED_SERVERS_LIMIT);
        self
    }
    /// Appends the secrets of every session, over TCP and QUIC, to this file, in the format of
    /// `SSLKEYLOGFILE`. The file decrypts the traffic: for debugging only.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    pub fn key_log(mut self, path: impl AsRef<Path>) -> Result<Self, Error> {
        self.key_log = Some(Arc::new(KeyLogFile::open(path.as_ref())?));
        Ok(self)
    }

    /// The rustls configuration that offers `protocols`.
    pub(crate) fn config(&self, protocols: Protocols) -> Result<Arc<ClientConfig>, Error> {
        let mut configs = self.configs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = configs.get(&protocols) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.make(protocols)?);
        configs.insert(protocols, Arc::clone(&config));
        Ok(config)
    }

    fn offers_tls13(&self) -> bool {
        self.versions.iter().any(|version| **version == TLS13)
    }

    /// The QUIC configuration; `early_data`: requests may go out with the handshake of a resumed
    /// session. `keys`: for the ClientHello.
    pub(crate) fn quic_config(
        &self,
        early_data: bool,
        keys: Option<&[u8]>,
    ) -> Result<Arc<ClientConfig>, Error> {
        let config = match keys {
            Some(keys) => self.config_with_keys(Protocols::H3Only, keys)?,
            None => None,
        };
        let config = match config {
            Some(config) => config,
            None => self.config(Protocols::H3Only)?,
        };
        if !early_data {
            return Ok(config);
        }
        // The copy shares the sessions.
        let mut config = ClientConfig::clone(&config);
        config.enable_early_data = true;
        Ok(Arc::new(config))
    }

    fn make(&self, protocols: Protocols) -> Result<ClientConfig, Error> {
        let mut config = match &self.given {
            // The copies share the sessions.
            Some(given) => ClientConfig::clone(given),
            None => self.make_own()?,
        };
        // RFC 7301: in order of preference.
        let offered: &[&[u8]] = match protocols {
            // HTTP/3 has a handshake of its own.
            Protocols::H2AndH1 | Protocols::All => &[b"h2", b"http/1.1"],
            Protocols::H1Only => &[b"http/1.1"],
            Protocols::H2Only => &[b"h2"],
            // QUIC carries TLS 1.3 and nothing older; rustls sees to it there.
            Protocols::H3Only => &[b"h3"],
        };
        config.alpn_protocols = offered.iter().map(|name| name.to_vec()).collect();
        if let Some(log) = &self.key_log {
            config.key_log = Arc::clone(log) as Arc<dyn KeyLog>;
        }
        Ok(config)
    }

    fn make_own(&self) -> Result<ClientConfig, Error> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = self.verifier(&provider)?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(self.versions)
            .map_err(|error| Error::config("TLS cannot be set up").with_source(error))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let identity =
                    certified_key(builder.crypto_provider(), chain.clone(), key.clone_key())
                        .map_err(|error| {
                            Error::config(
                                "the client certificate and its key cannot be used together",
                            )
                            .with_source(error)
                        })?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity)))
            }
        };
        config.resumption = match self.resumed_servers_max {
            0 => Resumption::disabled(),
            servers => Resumption::in_memory_sessions(servers.saturating_mul(SESSIONS_PER_SERVER)),
        };
        Ok(config)
    }

    fn verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, Error> {
        if let Some(verifier) = self.verifier.get() {
            return Ok(Arc::clone(verifier));
        }
        let mut made = self.make_verifier(provider)?;
        if !self.pins.is_empty() {
            made = Arc::new(pins::Pinned {
                pins: self.pins.clone(),
                trust: made,
            });
        }
        Ok(Arc::clone(self.verifier.get_or_init(|| made)))
    }

    fn make_verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, Error> {
        if self.insecure {
            return Ok(Arc::new(BelievesAll(Arc::clone(provider))));
        }
        #[cfg(feature = "openssl-rules")]
        if self.rules == Rules::Openssl {
            return self.openssl_verifier(provider);
        }
        let roots = self.extra_roots.iter().cloned();
        #[cfg(feature = "platform-verifier")]
        if self.platform_roots == PlatformRoots::Believed {
            let provider = Arc::clone(provider);
            let verifier =
                rustls_platform_verifier::Verifier::new_with_extra_roots(roots, provider);
            return verifier
                .map(|verifier| Arc::new(verifier) as Arc<dyn ServerCertVerifier>)
                .map_err(no_platform_roots);
        }
        let mut store = RootCertStore::empty();
        #[cfg(feature = "webpki-roots")]
        if self.mozillas_roots {
            store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        for root in roots {
            store.add(root).map_err(|error| {
                Error::config("a root certificate cannot be used").with_source(error)
            })?;
        }
        WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
            .build()
            .map(|verifier| verifier as Arc<dyn ServerCertVerifier>)
            .map_err(|error| Error::config(NO_ROOT).with_source(error))
    }

    #[cfg(feature = "openssl-rules")]
    fn openssl_verifier(
        &self,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ServerCertVerifier>, Error> {
        let platform = match self.platform_roots {
            #[cfg(feature = "platform-verifier")]
            PlatformRoots::Believed => {
                match rustls_platform_verifier::Verifier::new(Arc::clone(provider)) {
                    Ok(verifier) => Some(Arc::new(verifier) as Arc<dyn ServerCertVerifier>),
                    Err(error) if self.extra_roots.is_empty() => {
                        return Err(no_platform_roots(error));
                    }
                    Err(_) => None,
                }
            }
            _ => None,
        };
        let (given, provider) = (&self.extra_roots, Arc::clone(provider));
        Ok(Arc::new(OpensslRules::new(platform, given, provider)))
    }
}

#[cfg(feature = "platform-verifier")]
fn no_platform_roots(error: rustls::Error) -> Error {
    Error::config(
        "the platform has no usable root certificates; install them \
         (ca-certificates) or give roots of your own",
    )
    .with_source(error)
}

/// The verifier behind [`ClientTls::insecure`]: signatures are checked, names and chains are not.
#[derive(Debug)]
struct BelievesAll(Arc<CryptoProvider>);

impl ServerCertVerifier for BelievesAll {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        signature::verify_tls12(message, cert, dss, algorithms)
    }
    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        signature::verify_tls13(message, cert, dss, algorithms)
    }
    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Neither the platform's roots nor others.
const NO_ROOT: &str = "no root certificate was given; give one, or build with the feature \
                       platform-verifier, or webpki-roots and ClientTls::mozillas_roots";
/// Servers whose sessions are kept.
const RESUMED_SERVERS_MAX: usize = 32;
/// Sessions of at most this many servers. The cache allocates its full size at once, half a
/// megabyte.
const RESUMED_SERVERS_LIMIT: usize = 4096;
/// Tickets that rustls keeps of one server: it counts its bound in them.
const SESSIONS_PER_SERVER: usize = 8;
