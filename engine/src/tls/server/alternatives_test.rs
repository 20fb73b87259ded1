use super::super::{Tls, TlsPolicy};
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ED25519, PKCS_RSA_SHA256};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CipherSuite, DigitallySignedStruct, Error, SignatureScheme};
use rustls::{ClientConfig, ClientConnection, Connection, ServerConnection};
use std::sync::Arc;

use CipherSuite as Suite;
use SignatureScheme as Scheme;

const ECDSA: Scheme = Scheme::ECDSA_NISTP256_SHA256;
const PSS: Scheme = Scheme::RSA_PSS_SHA256;
const PKCS1: Scheme = Scheme::RSA_PKCS1_SHA256;
const SUITE13: Suite = Suite::TLS13_AES_128_GCM_SHA256;
const SUITE_ECDSA: Suite = Suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256;
const SUITE_RSA: Suite = Suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256;

struct Made {
    kind: &'static str,
    der: CertificateDer<'static>,
    cert: String,
    key: String,
}

fn made(kind: &'static str) -> Made {
    let key = KeyPair::generate_for(match kind {
        "rsa" => &PKCS_RSA_SHA256,
        "ed25519" => &PKCS_ED25519,
        _ => &PKCS_ECDSA_P256_SHA256,
    });
    let key = key.unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let cert = params.self_signed(&key).unwrap();
    Made {
        kind,
        der: cert.der().clone(),
        cert: cert.pem(),
        key: key.serialize_pem(),
    }
}

fn joined(made: &[Made], part: impl Fn(&Made) -> &str) -> Vec<u8> {
    made.iter().map(part).collect::<String>().into_bytes()
}

/// Accepts every certificate, and signatures of these schemes.
#[derive(Debug)]
struct Accepts(Vec<Scheme>);

impl ServerCertVerifier for Accepts {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }
    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }
    fn supported_verify_schemes(&self) -> Vec<Scheme> {
        self.0.clone()
    }
}

/// The certificate that a client with these suites and schemes, best first, is shown.
fn shown(tls: &Tls, suites: &[Suite], schemes: &[Scheme]) -> Option<CertificateDer<'static>> {
    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    let all = provider.cipher_suites.clone();
    let named = |suite: &Suite| all.iter().copied().find(|one| one.suite() == *suite);
    provider.cipher_suites = suites.iter().filter_map(named).collect();
    let versions = crate::tls::server::policy::versions(&provider);
    let config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&versions)
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Accepts(schemes.to_vec())))
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let server = ServerConnection::new(tls.config_of(None)).unwrap();
    let mut ends = [Connection::from(client), Connection::from(server)];
    while ends.iter().any(|end| end.is_handshaking()) {
        for (from, to) in [(0, 1), (1, 0)] {
            let mut bytes = Vec::new();
            while ends[from].wants_write() {
                ends[from].write_tls(&mut bytes).unwrap();
            }
            let mut bytes = &bytes[..];
            while !bytes.is_empty() {
                ends[to].read_tls(&mut bytes).unwrap();
                ends[to].process_new_packets().ok()?;
            }
        }
    }
    Some(ends[0].peer_certificates().unwrap()[0].clone())
}

#[test]
fn a_client_is_shown_the_certificate_whose_signatures_it_verifies() {
    let made = ["rsa", "ecdsa", "ed25519"].map(made);
    let (cert, key) = (
        joined(&made, |one| &one.cert),
        joined(&made, |one| &one.key),
    );
    let tls = Tls::from_pem(&cert, &key).unwrap();
    let own = tls
        .clone()
        .policy(TlsPolicy::default().with_prefers_own_order(true))
        .unwrap();
    let own12 = TlsPolicy::default()
        .with_suites(Some(vec![SUITE_RSA.into(), SUITE_ECDSA.into()]))
        .with_prefers_own_order(true);
    let own12 = tls.clone().policy(own12).unwrap();
    let twelve = [SUITE_ECDSA, SUITE_RSA];
    let everything = [PSS, ECDSA, PKCS1, Scheme::ED25519];
    for (tls, suites, schemes, kind) in [
        (&tls, &[SUITE13][..], &everything[..], Some("rsa")),
        (&own, &[SUITE13], &everything, Some("ecdsa")),
        (&tls, &[SUITE13], &[PSS], Some("rsa")),
        (&tls, &[SUITE13], &[PKCS1, ECDSA], Some("ecdsa")),
        (&tls, &[SUITE13, SUITE_RSA], &[ECDSA, PSS], Some("ecdsa")),
        (&own, &[SUITE13], &[Scheme::ED25519, PSS], Some("ed25519")),
        (&tls, &[SUITE13], &[Scheme::ED448], None),
        (&tls, &twelve, &everything, Some("ecdsa")),
        (&tls, &twelve, &[Scheme::ED25519, ECDSA], Some("ed25519")),
        (&tls, &twelve, &[PKCS1], Some("rsa")),
        (&tls, &[SUITE_RSA], &everything, Some("rsa")),
        (&tls, &[SUITE_RSA], &[ECDSA], None),
        (&own12, &twelve, &everything, Some("rsa")),
        (&own12, &twelve, &[ECDSA], Some("ecdsa")),
    ] {
        let leaf = shown(tls, suites, schemes);
        let found = made.iter().find(|one| Some(&one.der) == leaf.as_ref());
        assert_eq!(found.map(|one| one.kind), kind, "{suites:?} {schemes:?}");
    }
}

#[test]
fn certificates_of_a_name_are_chosen_among_alike_over_tcp_and_quic() {
    let made = ["ecdsa", "rsa"].map(made);
    let (cert, key) = (
        joined(&made, |one| &one.cert),
        joined(&made, |one| &one.key),
    );
    let tls = Tls::for_names().unwrap();
    tls.set_pem_for("localhost", &cert, &key).unwrap();
    let over_quic = Tls::from_rustls(tls.quic_config(false));
    for (tls, scheme, at) in [&tls, &over_quic]
        .into_iter()
        .flat_map(|tls| [(tls, ECDSA, 0), (tls, PSS, 1)])
    {
        assert_eq!(
            shown(tls, &[SUITE13], &[scheme]),
            Some(made[at].der.clone())
        );
    }
    let refused = tls.set_pem_for("other.test", &cert, &key).unwrap_err();
    assert!(refused.to_string().contains("not for"), "{refused}");
}

#[test]
fn keys_have_any_order_and_those_without_a_certificate_are_not_used() {
    let made = ["rsa", "ecdsa", "ed25519"].map(made);
    let [rsa, ecdsa, other] = &made;
    let cert = [&*rsa.cert, &*other.cert, &*ecdsa.cert].concat();
    let key = [&*ecdsa.key, &*rsa.key].concat();
    let tls = Tls::from_pem(cert.as_bytes(), key.as_bytes()).unwrap();
    assert_eq!(shown(&tls, &[SUITE13], &[ECDSA]), Some(ecdsa.der.clone()));
    assert_eq!(shown(&tls, &[SUITE13], &[PSS]), Some(rsa.der.clone()));
    let tls = Tls::from_pem(rsa.cert.as_bytes(), key.as_bytes()).unwrap();
    assert_eq!(
        shown(&tls, &[SUITE13], &[PSS, ECDSA]),
        Some(rsa.der.clone())
    );
    assert!(Tls::from_pem(other.cert.as_bytes(), key.as_bytes()).is_err());
}
