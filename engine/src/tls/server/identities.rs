//! The certificates of a server, by the name in SNI. They can be replaced while the server runs.

use super::alternatives::{Alternatives, Pair, SuiteOrder};
use super::seed::Seed;
use crate::error::Error;
use rustls::client::verify_server_name;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

/// The default certificate, if there is one, and those of names.
#[derive(Debug)]
pub(in crate::tls) struct Identities {
    provider: Arc<CryptoProvider>,
    /// Locked for a look-up per handshake only.
    current: RwLock<CurrentIdentities>,
}

#[derive(Clone, Debug)]
struct CurrentIdentities {
    otherwise: Option<Alternatives>,
    /// By name in lower case; a wildcard as `*.rest`.
    of_names: HashMap<String, Alternatives>,
    /// The seed of each first private key, by its certificate's name; `None`, the default certificate,
    /// comes first.
    seeds: BTreeMap<Option<String>, Seed>,
}

impl Identities {
    /// Without any certificate yet.
    pub(in crate::tls) fn new(provider: Arc<CryptoProvider>) -> Self {
        let current = CurrentIdentities {
            otherwise: None,
            of_names: HashMap::new(),
            seeds: BTreeMap::new(),
        };
        Self {
            provider,
            current: RwLock::new(current),
        }
    }
    /// The provider that parses keys and signs with them.
    pub(in crate::tls) fn provider(&self) -> &Arc<CryptoProvider> {
        &self.provider
    }
    /// Adds or replaces the default ones.
    pub(super) fn set(&self, pairs: Vec<Pair>) -> Result<(), Error> {
        let (seed, identity) = self.certified(pairs)?;
        self.change(|current| {
            current.otherwise = Some(identity);
            current.seeds.insert(None, seed);
        });
        Ok(())
    }
    /// Adds or replaces those for `name`. `is_for_it`: they must be.
    pub(super) fn set_for(
        &self,
        name: &str,
        pairs: Vec<Pair>,
        is_for_it: bool,
    ) -> Result<(), Error> {
        let (seed, identity) = self.certified(pairs)?;
        let host = host_of(name)?;
        for one in identity.iter().filter(|_| is_for_it) {
            check_host(name, &host, one)?;
        }
        let name = name.to_ascii_lowercase();
        self.change(|current| {
            current.seeds.insert(Some(name.clone()), seed);
            current.of_names.insert(name, identity);
        });
        Ok(())
    }
    /// Takes all of `other` in the place of its own.
    pub(super) fn set_all(&self, other: &Self) {
        // One lock at a time: a Tls may be given its own.
        let all = other
            .current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        self.change(|current| *current = all);
    }
    /// The seed of the default certificate's private key, or else of the first name in order: equal
    /// after a restart with the same certificates.
    pub(in crate::tls) fn seed(&self) -> Option<Seed> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.seeds.values().next().cloned()
    }
    /// Whether the default one names no host.
    pub(super) fn is_nameless(&self) -> bool {
        let identity = self.find(None);
        let mut leaves = identity
            .iter()
            .flat_map(Alternatives::iter)
            .filter_map(|one| one.cert.first());
        leaves.any(|leaf| !names_hosts(leaf))
    }
    fn certified(&self, pairs: Vec<Pair>) -> Result<(Seed, Alternatives), Error> {
        let Some((_, key)) = pairs.first() else {
            return Err(Error::config("there is no certificate with a key"));
        };
        let seed = Seed::of(key)?;
        Ok((seed, Alternatives::new(&self.provider, pairs)?))
    }
    fn change(&self, change: impl FnOnce(&mut CurrentIdentities)) {
        // No code panics while it holds the lock.
        change(&mut self.current.write().unwrap_or_else(PoisonError::into_inner));
    }
    fn find(&self, name: Option<&str>) -> Option<Alternatives> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let of_name = name.and_then(|name| current.of_name(name));
        of_name.or(current.otherwise.as_ref()).cloned()
    }
}

impl CurrentIdentities {
    fn of_name(&self, name: &str) -> Option<&Alternatives> {
        if self.of_names.is_empty() {
            return None;
        }
        let name = name.to_ascii_lowercase();
        self.of_names.get(&name).or_else(|| {
            let (_, rest) = name.split_once('.')?;
            self.of_names.get(&format!("*.{rest}"))
        })
    }
}

/// Shows the certificates of a server that negotiates in this order.
#[derive(Debug)]
pub(super) struct CertificateResolver {
    pub(super) identities: Arc<Identities>,
    pub(super) order: SuiteOrder,
}

impl ResolvesServerCert for CertificateResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let found = self.identities.find(hello.server_name())?;
        found.choose(&hello, &self.order)
    }
}

/// Whether a certificate has the extension subjectAltName (RFC 5280 section 4.2.1.6): its object
/// identifier, 2.5.29.17 in DER, is enough for a hint and spares a parser.
fn names_hosts(certificate: &CertificateDer<'_>) -> bool {
    const SUBJECT_ALT_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x1d, 0x11];
    let mut windows = certificate.windows(SUBJECT_ALT_NAME.len());
    windows.any(|window| window == SUBJECT_ALT_NAME)
}

/// The host that a client asks for by `name`; for a wildcard, any that it covers.
fn host_of(name: &str) -> Result<ServerName<'static>, Error> {
    let one = match name.strip_prefix("*.") {
        Some(rest) => format!("any.{rest}"),
        None => name.to_owned(),
    };
    let one = ServerName::try_from(one)
        .ok()
        .filter(|one| matches!(one, ServerName::DnsName(_)));
    one.ok_or_else(|| {
        Error::config(format!(
            "{name:?} is not a name that a client can ask for; it must be a host name or *.rest"
        ))
    })
}

/// Whether the certificate is for `host`, which `name` stands for.
fn check_host(name: &str, host: &ServerName<'_>, identity: &CertifiedKey) -> Result<(), Error> {
    let wrong =
        |error| Error::config(format!("the certificate is not for {name:?}")).with_source(error);
    // rustls has made sure that there is one.
    let own = identity.end_entity_cert().map_err(wrong)?;
    let own = ParsedCertificate::try_from(own).map_err(wrong)?;
    verify_server_name(&own, host).map_err(wrong)
}
