use super::*;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use std::time::Duration;

fn params(name: &str, names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|one| (*one).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn root() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = params("root", &[]);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn judged(
    given: &[&CertificateDer<'static>],
    presented: &[&CertificateDer<'static>],
    host: &str,
) -> Result<(), &'static str> {
    let given: Vec<_> = given.iter().map(|one| (*one).clone()).collect();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let rules = OpensslRules::new(None, &given, provider);
    let rest: Vec<_> = presented[1..].iter().map(|one| (*one).clone()).collect();
    let host = ServerName::try_from(host.to_owned()).unwrap();
    // rcgen's certificates are valid from 1975 to 4096.
    let now = UnixTime::since_unix_epoch(Duration::from_secs(1 << 31));
    rules
        .judge(presented[0], &rest, &host, now)
        .map_err(|refusal| refusal.code())
}

#[test]
fn a_server_that_is_its_own_authority_is_accepted_where_it_is_given_itself() {
    let mut params = params("localhost", &["localhost"]);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let own = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
    let own = own.der();
    let other = root();
    assert_eq!(judged(&[own], &[own], "localhost"), Ok(()));
    assert_eq!(
        judged(&[other.der()], &[own], "localhost"),
        Err("DEPTH_ZERO_SELF_SIGNED_CERT")
    );
    assert_eq!(
        judged(&[own], &[own], "other.test"),
        Err("ERR_TLS_CERT_ALTNAME_INVALID")
    );
}

#[test]
fn only_a_given_certificate_that_is_its_own_issuer_is_a_root() {
    let root = root();
    let leaf = params("localhost", &["localhost"]);
    let leaf = leaf
        .signed_by(&KeyPair::generate().unwrap(), &root)
        .unwrap();
    let (leaf, root) = (leaf.der(), root.der());
    assert_eq!(judged(&[root], &[leaf], "localhost"), Ok(()));
    assert_eq!(judged(&[root], &[leaf, root], "localhost"), Ok(()));
    assert_eq!(
        judged(&[leaf], &[leaf], "localhost"),
        Err("UNABLE_TO_VERIFY_LEAF_SIGNATURE")
    );
    assert_eq!(
        judged(&[], &[leaf, root], "localhost"),
        Err("SELF_SIGNED_CERT_IN_CHAIN")
    );
}

/// A name that is equal is no signature.
#[test]
fn a_root_of_the_same_name_and_another_key_has_not_signed_it() {
    let leaf = params("localhost", &["localhost"]);
    let leaf = leaf
        .signed_by(&KeyPair::generate().unwrap(), &root())
        .unwrap();
    let unnegotiated = root();
    assert_eq!(
        judged(&[unnegotiated.der()], &[leaf.der()], "localhost"),
        Err("CERT_SIGNATURE_FAILURE")
    );
}

#[test]
fn no_changed_byte_of_a_chain_is_accepted_and_none_is_a_panic() {
    let root = root();
    let leaf = params("localhost", &["localhost"]);
    let leaf = leaf
        .signed_by(&KeyPair::generate().unwrap(), &root)
        .unwrap();
    let (leaf, root) = (leaf.der(), root.der());
    for at in 0..leaf.len() {
        let mut changed = leaf.to_vec();
        changed[at] ^= 0x01;
        let changed = CertificateDer::from(changed);
        assert!(
            judged(&[root], &[&changed], "localhost").is_err(),
            "byte {at}"
        );
        assert!(
            judged(&[root], &[&leaf[..at].to_vec().into()], "localhost").is_err(),
            "{at} bytes"
        );
    }
    for at in 0..root.len() {
        let mut changed = root.to_vec();
        changed[at] ^= 0x80;
        let _ = judged(
            &[&CertificateDer::from(changed)],
            &[leaf, root],
            "localhost",
        );
    }
}

#[test]
fn a_refusal_is_found_in_the_text_of_an_error_of_quic() {
    for (fault, detail) in [
        (ChainFault::SelfSignedLeaf, "CN=a (b), {c}: \"d\""),
        (ChainFault::Name, "x))"),
    ] {
        let refusal = CertificateRefusal::new(fault, detail);
        let text = refusal.clone().into_tls().to_string();
        assert_eq!(CertificateRefusal::in_text(&text), Some(refusal), "{text}");
    }
    assert_eq!(
        CertificateRefusal::in_text("invalid peer certificate: Expired"),
        None
    );
}
