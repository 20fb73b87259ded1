//! One certificate of a chain: the fields that OpenSSL's checks use (RFC 5280 section 4.1).

pub(in crate::tls) mod signature;

use rustls::crypto::WebPkiSupportedAlgorithms;
use std::net::IpAddr;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::{ExtendedKeyUsage, GeneralName, ParsedExtension, X509Extension};
use x509_parser::prelude::FromDer;
use x509_parser::x509::{AlgorithmIdentifier, SubjectPublicKeyInfo, X509Name, X509Version};

/// A certificate in DER and its parts.
pub(super) struct Certificate<'a> {
    pub(super) der: &'a [u8],
    parsed: X509Certificate<'a>,
}

#[cfg(test)]
thread_local! {
    /// Certificates that this thread has read.
    pub(super) static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The validity period relative to a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    NotYet,
    Now,
    Expired,
}

/// The side whose certificate is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyPurpose {
    Servers,
    Clients,
}

/// The parts of `keyUsage` that OpenSSL's checks use.
#[derive(Clone, Copy)]
struct AllowedUses {
    signs_certificates: bool,
    /// `digitalSignature` or `keyAgreement`.
    agrees: bool,
    enciphers: bool,
}

/// The result of checking one signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signature {
    Valid,
    Invalid,
    /// No algorithm of ours has this identifier for this key: SHA-1, MD5, a short RSA key.
    Unsupported,
}

impl<'a> Certificate<'a> {
    /// `None`: not one certificate in DER, or one with an extension twice.
    pub(super) fn read(der: &'a [u8]) -> Option<Self> {
        #[cfg(test)]
        READ.set(READ.get() + 1);
        let (rest, parsed) = X509Certificate::from_der(der).ok()?;
        // RFC 5280 section 4.2: not more than one instance of an extension.
        let is_once = parsed.tbs_certificate.extensions_map().is_ok();
        (rest.is_empty() && is_once).then_some(Self { der, parsed })
    }

    /// In DER.
    pub(super) fn subject_der(&self) -> &'a [u8] {
        self.parsed.tbs_certificate.subject.as_raw()
    }

    /// In DER.
    pub(super) fn issuer_der(&self) -> &'a [u8] {
        self.parsed.tbs_certificate.issuer.as_raw()
    }

    /// RFC 5280 section 4.1.2.1: without extensions.
    pub(super) fn is_version_1(&self) -> bool {
        self.parsed.version() == X509Version::V1
    }

    pub(super) fn key(&self) -> &SubjectPublicKeyInfo<'a> {
        &self.parsed.tbs_certificate.subject_pki
    }

    pub(super) fn validity(&self, unix_seconds: i64) -> Validity {
        let period = self.parsed.validity();
        if unix_seconds < period.not_before.timestamp() {
            Validity::NotYet
        } else if unix_seconds > period.not_after.timestamp() {
            Validity::Expired
        } else {
            Validity::Now
        }
    }

    fn extension(&self, is: impl Fn(&ParsedExtension<'a>) -> bool) -> Option<&ParsedExtension<'a>> {
        let mut found = self.parsed.extensions().iter();
        let found = found.find(|one| is(one.parsed_extension()));
        found.map(X509Extension::parsed_extension)
    }

    /// Whether OpenSSL can process every extension that it must (RFC 5280 section 4.2).
    pub(super) fn is_understood(&self) -> bool {
        self.parsed.extensions().iter().all(|one| {
            use ParsedExtension as Known;
            match one.parsed_extension() {
                Known::ParseError { .. } => false,
                Known::BasicConstraints(_)
                | Known::KeyUsage(_)
                | Known::ExtendedKeyUsage(_)
                | Known::SubjectAlternativeName(_)
                | Known::CertificatePolicies(_)
                | Known::PolicyMappings(_)
                | Known::PolicyConstraints(_)
                | Known::InhibitAnyPolicy(_)
                | Known::NameConstraints(_)
                | Known::CRLDistributionPoints(_)
                | Known::NSCertType(_) => true,
                _ => !one.critical,
            }
        })
    }

    /// Whether it limits what may be below it, which webpki alone checks.
    pub(super) fn has_constraints(&self) -> bool {
        self.extension(|one| {
            use ParsedExtension as Kind;
            matches!(
                one,
                Kind::NameConstraints(_)
                    | Kind::PolicyConstraints(_)
                    | Kind::InhibitAnyPolicy(_)
                    | Kind::NSCertType(_)
            )
        })
        .is_some()
    }

    /// `basicConstraints`: whether it is an authority, and the authorities that may be below it.
    fn constraints(&self) -> Option<(bool, Option<u32>)> {
        match self.extension(|one| matches!(one, ParsedExtension::BasicConstraints(_)))? {
            ParsedExtension::BasicConstraints(found) => Some((found.ca, found.path_len_constraint)),
            _ => None,
        }
    }

    fn key_usage(&self) -> Option<AllowedUses> {
        match self.extension(|one| matches!(one, ParsedExtension::KeyUsage(_)))? {
            ParsedExtension::KeyUsage(found) => Some(AllowedUses {
                signs_certificates: found.key_cert_sign(),
                agrees: found.digital_signature() || found.key_agreement(),
                enciphers: found.key_encipherment(),
            }),
            _ => None,
        }
    }

    /// RFC 5280 section 6.1.4 (n).
    pub(super) fn may_sign_certificates(&self) -> bool {
        self.key_usage()
            .is_none_or(|usage| usage.signs_certificates)
    }

    fn extended_key_usage(&self) -> Option<&ExtendedKeyUsage<'a>> {
        match self.extension(|one| matches!(one, ParsedExtension::ExtendedKeyUsage(_)))? {
            ParsedExtension::ExtendedKeyUsage(found) => Some(found),
            _ => None,
        }
    }

    pub(super) fn is_authority(&self) -> bool {
        self.constraints()
            .is_some_and(|(is_authority, _)| is_authority)
    }

    pub(super) fn path_length_max(&self) -> Option<u32> {
        self.constraints().and_then(|(_, length)| length)
    }

    /// May have issued certificates: OpenSSL's `X509_check_ca`. An intermediate has to say so; the last of a chain
    /// may be of version 1, or have only a `keyUsage` that says so.
    pub(super) fn may_issue(&self, is_last: bool) -> bool {
        let usage = self.key_usage();
        if usage.is_some_and(|usage| !usage.signs_certificates) {
            return false;
        }
        match self.constraints() {
            Some((is_authority, _)) => is_authority,
            None => is_last && (self.is_version_1() && self.is_self_signed() || usage.is_some()),
        }
    }

    /// Whether its purposes have this one: OpenSSL's `check_purpose_ssl_server` and `check_purpose_ssl_client`.
    /// `anyExtendedKeyUsage` does not count there.
    pub(super) fn is_for(&self, purpose: KeyPurpose, is_leaf: bool, is_last: bool) -> bool {
        let is_extended = self.extended_key_usage().is_none_or(|usage| match purpose {
            KeyPurpose::Servers => usage.server_auth,
            KeyPurpose::Clients => usage.client_auth,
        });
        let enciphers = purpose == KeyPurpose::Servers;
        let is_usable = match is_leaf {
            true => {
                (self.key_usage()).is_none_or(|usage| usage.agrees || enciphers && usage.enciphers)
            }
            false => self.may_issue(is_last),
        };
        is_extended && is_usable
    }

    fn is_self_issued(&self) -> bool {
        self.parsed.subject().as_raw() == self.parsed.issuer().as_raw()
    }

    /// OpenSSL's `EXFLAG_SI`, for the count of a path's length.
    pub(super) fn counts_in_path(&self) -> bool {
        !self.is_self_issued()
    }

    /// By its names and key identifiers: nothing above it is looked for.
    pub(super) fn is_self_signed(&self) -> bool {
        self.is_self_issued() && self.names_key_of(self)
    }

    /// OpenSSL's `x509_likely_issued`: the names are equal, and the identifiers of keys do not contradict.
    pub(super) fn may_be_issued_by(&self, issuer: &Self) -> bool {
        self.parsed.issuer().as_raw() == issuer.parsed.subject().as_raw()
            && self.names_key_of(issuer)
    }

    /// RFC 5280 section 4.2.1.1: what `authorityKeyIdentifier` says of the issuer.
    fn names_key_of(&self, issuer: &Self) -> bool {
        let of =
            |one: &ParsedExtension<'a>| matches!(one, ParsedExtension::AuthorityKeyIdentifier(_));
        let Some(ParsedExtension::AuthorityKeyIdentifier(extension_value)) = self.extension(of)
        else {
            return true;
        };
        let is_own =
            |one: &ParsedExtension<'a>| matches!(one, ParsedExtension::SubjectKeyIdentifier(_));
        let key_matches = match (&extension_value.key_identifier, issuer.extension(is_own)) {
            (Some(extension_value), Some(ParsedExtension::SubjectKeyIdentifier(own))) => {
                extension_value.0 == own.0
            }
            _ => true,
        };
        let serial_matches = extension_value
            .authority_cert_serial
            .is_none_or(|serial| serial == issuer.parsed.raw_serial());
        key_matches && serial_matches
    }

    /// Checks the issuer's signature.
    pub(super) fn signature_by(
        &self,
        issuer: &Self,
        algorithms: &WebPkiSupportedAlgorithms,
    ) -> Signature {
        let Some(signed) = identifier(&self.parsed.signature_algorithm) else {
            return Signature::Unsupported;
        };
        // RFC 5280 section 4.1.1.2: both places name the same algorithm.
        if self.parsed.signature_algorithm != self.parsed.tbs_certificate.signature {
            return Signature::Invalid;
        }
        let message = self.parsed.tbs_certificate.as_ref();
        let signature = &self.parsed.signature_value.data;
        let all = algorithms.all.iter().copied();
        let fitting = all.filter(|one| one.signature_alg_id().as_ref() == signed);
        verify(fitting, issuer.key(), message, signature)
    }

    /// DNS names and addresses of `subjectAltName`.
    pub(super) fn names(&self) -> Names {
        let mut names = Names::default();
        let of =
            |one: &ParsedExtension<'a>| matches!(one, ParsedExtension::SubjectAlternativeName(_));
        if let Some(ParsedExtension::SubjectAlternativeName(found)) = self.extension(of) {
            for name in &found.general_names {
                match name {
                    GeneralName::DNSName(name) => {
                        names.listed.push(format!("DNS:{}", printable(name)));
                        names.dns.push((*name).to_owned());
                    }
                    GeneralName::IPAddress(bytes) => {
                        let address = address(bytes);
                        names
                            .listed
                            .extend(address.map(|one| format!("IP Address:{one}")));
                        names.addresses.extend(address);
                    }
                    _ => {}
                }
            }
        }
        let common = self.parsed.subject().iter_common_name();
        names.common = common
            .filter_map(|one| one.as_str().ok().map(str::to_owned))
            .collect();
        names
    }

    /// The subject as `CN=name`, for people.
    pub(super) fn subject(&self) -> String {
        presented(self.parsed.subject())
    }

    pub(super) fn issuer(&self) -> String {
        presented(self.parsed.issuer())
    }
}

/// The names that a certificate is for.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) dns: Vec<String>,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) common: Vec<String>,
    /// DNS names and addresses in their order, for an error's text.
    pub(super) listed: Vec<String>,
}

/// Characters of a name in an error: a peer chooses it.
const DISPLAYED_CHARS_MAX: usize = 200;

fn presented(name: &X509Name<'_>) -> String {
    printable(&name.to_string())
}

/// A text of a peer's for an error: printable characters, and not too many.
pub(super) fn printable(text: &str) -> String {
    let printable = text.chars().filter(|one| !one.is_control());
    printable.take(DISPLAYED_CHARS_MAX).collect()
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(four) = <[u8; 4]>::try_from(bytes) {
        return Some(four.into());
    }
    <[u8; 16]>::try_from(bytes).ok().map(IpAddr::from)
}

/// An algorithm's identifier as the content of its sequence in DER, which is how rustls names algorithms.
fn identifier(algorithm: &AlgorithmIdentifier<'_>) -> Option<Vec<u8>> {
    use x509_parser::asn1_rs::ToDer;
    let oid = algorithm.algorithm.as_bytes();
    let mut der = vec![
        0x06,
        u8::try_from(oid.len())
            .ok()
            .filter(|length| *length < 0x80)?,
    ];
    der.extend_from_slice(oid);
    if let Some(parameters) = &algorithm.parameters {
        der.extend(parameters.to_der_vec().ok()?);
    }
    Some(der)
}

/// Verifies with the first algorithm that is for this kind of key.
pub(super) fn verify(
    algorithms: impl Iterator<Item = &'static dyn rustls::pki_types::SignatureVerificationAlgorithm>,
    key: &SubjectPublicKeyInfo<'_>,
    message: &[u8],
    signature: &[u8],
) -> Signature {
    let Some(kind) = identifier(&key.algorithm) else {
        return Signature::Unsupported;
    };
    for algorithm in algorithms {
        if algorithm.public_key_alg_id().as_ref() != kind {
            continue;
        }
        let key = &key.subject_public_key.data;
        return match algorithm.verify_signature(key, message, signature) {
            Ok(()) => Signature::Valid,
            Err(_) => Signature::Invalid,
        };
    }
    Signature::Unsupported
}
