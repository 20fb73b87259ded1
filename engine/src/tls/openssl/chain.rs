//! OpenSSL's search for a chain to a trusted certificate and its checks of it (`X509_verify_cert`), with its codes.
//!
//! Node.js lets every check run and reports the last one that failed. The order of the checks is OpenSSL's:
//! the chain, extensions and purposes, then signature and time of each certificate from the top down.

use super::certificate::{Certificate, KeyPurpose, Signature, Validity};
use super::refusal::ChainFault;
use rustls::crypto::WebPkiSupportedAlgorithms;

/// Certificates of a chain: OpenSSL's default allows 100 below the trusted one, and no chain of the
/// web has more than 5. With it the signatures that a peer can make us check are bounded.
const CHAIN_LENGTH_MAX: usize = 10;
/// Certificates of a peer that are looked at.
const PRESENTED_MAX: usize = 32;

/// A chain from the peer's certificate to a trusted one.
pub(super) struct CheckedChain<'c, 'a> {
    certificates: Vec<&'c Certificate<'a>>,
    /// How many of them, from the peer's on, are not trusted ones.
    untrusted: usize,
    is_trusted: bool,
}

/// A chain that OpenSSL accepts, or the fault that it reports.
pub(super) fn judge<'c, 'a>(
    purpose: KeyPurpose,
    presented: &'c [Certificate<'a>],
    trusted: &'c [Certificate<'a>],
    unix_seconds: i64,
    algorithms: &WebPkiSupportedAlgorithms,
) -> Result<CheckedChain<'c, 'a>, ChainFault> {
    let presented = presented.get(..PRESENTED_MAX).unwrap_or(presented);
    let Some(leaf) = presented.first() else {
        return Err(ChainFault::Untrusted);
    };
    let chain = CheckedChain::find(leaf, presented, trusted, unix_seconds);
    let mut last = chain.end_fault();
    for fault in [
        chain.extension_fault(purpose),
        chain.verify_fault(unix_seconds, algorithms),
    ] {
        last = fault.or(last);
    }
    match last {
        None => Ok(chain),
        Some(fault) => Err(fault),
    }
}

impl<'c, 'a> CheckedChain<'c, 'a> {
    fn find(
        leaf: &'c Certificate<'a>,
        presented: &'c [Certificate<'a>],
        trusted: &'c [Certificate<'a>],
        unix_seconds: i64,
    ) -> Self {
        let mut chain = Self {
            certificates: vec![leaf],
            untrusted: 1,
            is_trusted: false,
        };
        while chain.certificates.len() < CHAIN_LENGTH_MAX {
            let top = chain.top();
            if top.is_self_signed() {
                chain.is_trusted = trusted.iter().any(|one| one.der == top.der);
                break;
            }
            let above = |among: &'c [Certificate<'a>]| -> Option<&'c Certificate<'a>> {
                let fitting = |one: &&Certificate<'a>| {
                    let is_new = chain.certificates.iter().all(|had| had.der != one.der);
                    is_new && top.may_be_issued_by(one)
                };
                let fitting = || among.iter().filter(fitting);
                let valid = |one: &&Certificate<'a>| one.validity(unix_seconds) == Validity::Now;
                fitting().find(valid).or_else(|| fitting().next())
            };
            let is_below_trusted = chain.untrusted == chain.certificates.len();
            if let Some(issuer) = above(trusted) {
                chain.certificates.push(issuer);
            } else if let Some(issuer) = above(presented).filter(|_| is_below_trusted) {
                chain.certificates.push(issuer);
                chain.untrusted += 1;
            } else {
                break;
            }
        }
        chain
    }

    fn top(&self) -> &'c Certificate<'a> {
        self.certificates[self.certificates.len() - 1]
    }

    /// Whether it ends at a trusted certificate that is its own issuer.
    fn end_fault(&self) -> Option<ChainFault> {
        let count = self.certificates.len();
        if self.is_trusted {
            None
        } else if self.top().is_self_signed() {
            Some(match count {
                1 => ChainFault::SelfSignedLeaf,
                _ => ChainFault::SelfSignedInChain,
            })
        } else if count >= CHAIN_LENGTH_MAX {
            Some(ChainFault::ChainTooLong)
        } else if self.untrusted < count {
            Some(ChainFault::NoIssuer)
        } else {
            Some(ChainFault::NoIssuerLocally)
        }
    }

    fn extension_fault(&self, purpose: KeyPurpose) -> Option<ChainFault> {
        let mut last = None;
        let mut authorities_below = 0;
        for (at, certificate) in self.certificates.iter().enumerate() {
            let is_last = at + 1 == self.certificates.len();
            if !certificate.is_understood() {
                last = Some(ChainFault::UnknownCriticalExtension);
            }
            if at > 0 && !certificate.may_issue(is_last) {
                last = Some(ChainFault::NotAuthority);
            }
            if !certificate.is_for(purpose, at == 0, is_last) {
                last = Some(ChainFault::Purpose);
            }
            let length_max = certificate.path_length_max();
            if at > 1 && length_max.is_some_and(|max| authorities_below > max) {
                last = Some(ChainFault::PathTooLong);
            }
            if at > 0 && certificate.counts_in_path() {
                authorities_below += 1;
            }
        }
        last
    }

    /// Signatures and times from the top down. The signature of a certificate that is its own issuer says
    /// nothing, and is not checked; a certificate at the top that is not its own issuer is there for its key alone.
    fn verify_fault(&self, now: i64, algorithms: &WebPkiSupportedAlgorithms) -> Option<ChainFault> {
        let mut last = None;
        let is_complete = self.top().is_self_signed();
        if !is_complete && self.certificates.len() == 1 {
            last = Some(ChainFault::LeafUnverified);
        }
        for (at, certificate) in self.certificates.iter().enumerate().rev() {
            let issuer = self.certificates.get(at + 1);
            if issuer.is_none() && !is_complete && at > 0 {
                continue;
            }
            if let Some(issuer) = issuer {
                if !issuer.may_sign_certificates() {
                    last = Some(ChainFault::KeyUsage);
                }
                match certificate.signature_by(issuer, algorithms) {
                    Signature::Valid => {}
                    Signature::Invalid => last = Some(ChainFault::Signature),
                    Signature::Unsupported => last = Some(ChainFault::WeakAlgorithm),
                }
            }
            match certificate.validity(now) {
                Validity::Now => {}
                Validity::NotYet => last = Some(ChainFault::NotYetValid),
                Validity::Expired => last = Some(ChainFault::Expired),
            }
        }
        last
    }

    /// Shapes that OpenSSL accepts and webpki does not judge: a peer's certificate of version 1, one that says
    /// that it is an authority, and one that is itself trusted. Where a certificate above limits names or policies,
    /// webpki's judgement is needed.
    pub(super) fn is_beyond_webpki(&self) -> bool {
        let leaf = self.certificates[0];
        let is_odd = leaf.is_version_1() || leaf.is_authority() || self.certificates.len() == 1;
        is_odd && !self.is_limited()
    }

    /// Whether a certificate limits the names or the policies below it.
    pub(super) fn is_limited(&self) -> bool {
        self.certificates.iter().any(|one| one.has_constraints())
    }
}
