//! TLS versions, suites and groups that a server negotiates, where the user restricts them.

use crate::error::Error;
use rustls::crypto::CryptoProvider;
use rustls::version::{TLS12, TLS13};
use rustls::{ProtocolVersion, SupportedProtocolVersion};

trunkline_core::options! {
    /// The versions, suites and groups that a server negotiates. Default, and widest: TLS 1.2 and 1.3,
    /// suites with forward secrecy and AEAD. HTTP/3 needs TLS 1.3.
    #[derive(PartialEq, Eq)]
    pub struct TlsPolicy {
        /// Whether TLS 1.2 is accepted. Default: true.
        pub tls12: bool = true, with_tls12;
        /// Whether TLS 1.3 is accepted. Default: true.
        pub tls13: bool = true, with_tls13;
        /// Cipher suites by the numbers that IANA has registered, best first; those that there are not are
        /// passed over. A version without one is not accepted. `None`, the default: all.
        pub suites: Option<Vec<u16>> = None, with_suites;
        /// Groups of key exchange (RFC 8446 section 4.2.7) in the same way. `None`, the default: all.
        pub groups: Option<Vec<u16>> = None, with_groups;
        /// Whether the first of `suites` that both know is chosen, and not the first of the
        /// client's. Default: false.
        pub prefers_own_order: bool = false, with_prefers_own_order;
    }
}

impl TlsPolicy {
    /// The suites and groups of `whole` that this policy agrees to.
    ///
    /// # Errors
    /// Nothing is left with which a handshake could end.
    pub(in crate::tls) fn provider(&self, whole: &CryptoProvider) -> Result<CryptoProvider, Error> {
        let mut provider = whole.clone();
        if let Some(suites) = &self.suites {
            provider.cipher_suites = chosen(suites, |number| {
                let mut all = whole.cipher_suites.iter().copied();
                all.find(|suite| u16::from(suite.suite()) == number)
            });
        }
        if let Some(groups) = &self.groups {
            provider.kx_groups = chosen(groups, |number| {
                let mut all = whole.kx_groups.iter().copied();
                all.find(|group| u16::from(group.name()) == number)
            });
        }
        let speaks = |version| self.speaks(version);
        (provider.cipher_suites).retain(|suite| speaks(suite.version().version));
        if provider.cipher_suites.is_empty() {
            return Err(Error::config(format!(
                "no cipher suite is left of {:?} with TLS 1.2 {} and TLS 1.3 {}; at least one must be",
                self.suites,
                on_or_off(self.tls12),
                on_or_off(self.tls13),
            )));
        }
        if provider.kx_groups.is_empty() {
            return Err(Error::config(format!(
                "no group of key exchange is left of {:?}; at least one must be",
                self.groups,
            )));
        }
        Ok(provider)
    }
    fn speaks(&self, version: ProtocolVersion) -> bool {
        match version {
            ProtocolVersion::TLSv1_2 => self.tls12,
            _ => self.tls13,
        }
    }
}

fn on_or_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

/// The results of `find` for these numbers, each once, in order.
fn chosen<T: Copy>(numbers: &[u16], find: impl Fn(u16) -> Option<T>) -> Vec<T> {
    let is_first = |at: usize| !numbers[..at].contains(&numbers[at]);
    let firsts = (0..numbers.len()).filter(|&at| is_first(at));
    firsts.filter_map(|at| find(numbers[at])).collect()
}

/// The versions that `provider` has a suite for, which are all that a server must offer: one without
/// would be agreed on and then end for want of a suite.
pub(in crate::tls) fn versions(
    provider: &CryptoProvider,
) -> Vec<&'static SupportedProtocolVersion> {
    let has = |version: ProtocolVersion| {
        let mut suites = provider.cipher_suites.iter();
        suites.any(|suite| suite.version().version == version)
    };
    let all: [&'static SupportedProtocolVersion; 2] = [&TLS13, &TLS12];
    let all = all.into_iter();
    all.filter(|version| has(version.version)).collect()
}

#[cfg(test)]
#[path = "policy_test.rs"]
mod policy_test;
