//! The certificates that a peer has sent, judged by those that are trusted.

use super::certificate::{Certificate, KeyPurpose};
use super::chain::{self, CheckedChain};
use super::refusal::CertificateRefusal;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, UnixTime};
use std::collections::HashMap;
use std::iter;

/// Trusted certificates by their subjects in DER: a judgement parses those alone that may have issued what is judged, and not
/// all the roots of the web.
#[derive(Debug)]
pub(in crate::tls) struct TrustedCertificates {
    of_subjects: HashMap<Box<[u8]>, Vec<CertificateDer<'static>>>,
}

impl TrustedCertificates {
    /// Without those that cannot be read.
    pub(in crate::tls) fn new(given: &[CertificateDer<'static>]) -> Self {
        let mut of_subjects: HashMap<_, Vec<_>> = HashMap::new();
        for der in given {
            if let Some(certificate) = Certificate::read(der) {
                let subject = certificate.subject_der().into();
                of_subjects.entry(subject).or_default().push(der.clone());
            }
        }
        Self { of_subjects }
    }

    /// The trusted certificates that may be in a chain above `presented`.
    fn above<'a>(&'a self, presented: &[Certificate<'a>]) -> Vec<Certificate<'a>> {
        let mut above: Vec<Certificate<'a>> = Vec::new();
        let mut names: Vec<&[u8]> = presented.iter().map(Certificate::issuer_der).collect();
        while let Some(name) = names.pop() {
            if above.iter().any(|one| one.subject_der() == name) {
                continue;
            }
            let found = self.of_subjects.get(name).into_iter().flatten();
            let at = above.len();
            above.extend(found.filter_map(|der| Certificate::read(der)));
            names.extend(above[at..].iter().map(Certificate::issuer_der));
        }
        above
    }
}

/// Certificates of a peer, its own first, and the trusted ones that may have issued them.
pub(super) struct PeerCertificates<'a> {
    pub(super) presented: Vec<Certificate<'a>>,
    trusted: Vec<Certificate<'a>>,
}

impl<'a> PeerCertificates<'a> {
    /// `None`: one of them cannot be read.
    pub(super) fn read(
        leaf: &'a CertificateDer<'_>,
        intermediates: &'a [CertificateDer<'_>],
        trusted: &'a TrustedCertificates,
    ) -> Option<Self> {
        let all = iter::once(leaf).chain(intermediates);
        let presented: Option<Vec<_>> = all.map(|one| Certificate::read(one)).collect();
        let presented = presented?;
        let trusted = trusted.above(&presented);
        Some(Self { presented, trusted })
    }

    /// A chain that OpenSSL accepts.
    pub(super) fn judge(
        &self,
        purpose: KeyPurpose,
        now: UnixTime,
        algorithms: &WebPkiSupportedAlgorithms,
    ) -> Result<CheckedChain<'_, 'a>, CertificateRefusal> {
        let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        let (presented, trusted) = (&self.presented, &self.trusted);
        chain::judge(purpose, presented, trusted, seconds, algorithms).map_err(|fault| {
            let (subject, issuer) = (presented[0].subject(), presented[0].issuer());
            CertificateRefusal::new(fault, &format!("{subject}, issued by {issuer}"))
        })
    }
}
