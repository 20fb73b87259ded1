use super::super::certificate::READ;
use super::*;
use crate::tls::{CertificateFault, ClientCertificates};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rcgen::{DnValue, date_time_ymd};

type Root = CertifiedIssuer<'static, KeyPair>;

fn params(name: &str, is_ca: IsCa) -> CertificateParams {
    let mut params = CertificateParams::default();
    let name = DnValue::Utf8String(name.to_owned());
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = is_ca;
    params
}

fn authority() -> IsCa {
    IsCa::Ca(BasicConstraints::Unconstrained)
}

fn root(params: CertificateParams) -> Root {
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn below(root: &Root, params: &CertificateParams) -> CertificateDer<'static> {
    let made = params.signed_by(&KeyPair::generate().unwrap(), root);
    made.unwrap().der().clone()
}

/// The faults that webpki alone finds, and that OpenSSL's rules find.
fn judged(issuer: &Root, chain: &[CertificateDer<'_>]) -> [Option<CertificateFault>; 2] {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let clients = ClientCertificates::issued_by(issuer.pem().as_bytes()).unwrap();
    [clients.clone(), clients.openssl_rules()].map(|clients| {
        let (_, judge) = clients.verifiers(&provider).unwrap();
        judge.identify(chain).unwrap().fault().cloned()
    })
}

fn code(fault: Option<&CertificateFault>) -> Option<&'static str> {
    match fault {
        Some(CertificateFault::Openssl(refusal)) => Some(refusal.code()),
        _ => None,
    }
}

#[test]
fn a_client_is_accepted_that_an_authority_has_issued_or_that_is_an_issuer_itself() {
    let root = root(params("root", authority()));
    let client = below(&root, &params("client", IsCa::NoCa));
    assert_eq!(judged(&root, &[client]), [None, None]);
    let [by_webpki, by_openssl] = judged(&root, &[root.der().clone()]);
    assert!(by_webpki.is_some());
    assert_eq!(by_openssl, None);
}

#[test]
fn the_key_of_a_certificate_that_is_no_authority_issues_no_client() {
    for is_ca in [IsCa::ExplicitNoCa, IsCa::NoCa] {
        let pinned = root(params("pinned", is_ca));
        assert_eq!(judged(&pinned, &[pinned.der().clone()])[1], None);
        let issued = below(&pinned, &params("admin", IsCa::NoCa));
        let [by_webpki, by_openssl] = judged(&pinned, &[issued]);
        assert_eq!(by_webpki, None);
        assert_eq!(code(by_openssl.as_ref()), Some("INVALID_PURPOSE"));
    }
}

#[test]
fn an_issuer_that_has_expired_or_has_an_issuer_of_its_own_is_none() {
    let mut expired = params("expired", authority());
    expired.not_after = date_time_ymd(2000, 1, 1);
    let expired = root(expired);
    let client = below(&expired, &params("client", IsCa::NoCa));
    let [by_webpki, by_openssl] = judged(&expired, &[client]);
    assert_eq!(by_webpki, None);
    assert_eq!(code(by_openssl.as_ref()), Some("CERT_HAS_EXPIRED"));

    let top = root(params("root", authority()));
    let between = params("between", authority());
    let between = CertifiedIssuer::signed_by(between, KeyPair::generate().unwrap(), &top).unwrap();
    let client = below(&between, &params("client", IsCa::NoCa));
    let [by_webpki, by_openssl] = judged(&between, &[client]);
    assert_eq!(by_webpki, None);
    assert_eq!(code(by_openssl.as_ref()), Some("UNABLE_TO_GET_ISSUER_CERT"));
}

#[test]
fn bytes_that_are_no_certificate_behind_a_client_make_it_one_that_is_not_accepted() {
    let root = root(params("root", authority()));
    let client = below(&root, &params("client", IsCa::NoCa));
    let [_, by_openssl] = judged(&root, &[client, vec![7; 8].into()]);
    assert!(
        matches!(by_openssl, Some(CertificateFault::Other(_))),
        "{by_openssl:?}"
    );
}

#[test]
fn a_client_is_judged_without_parsing_the_issuers_that_have_other_names() {
    let issuers: Vec<Root> = (0..40)
        .map(|number| root(params(&format!("root {number}"), authority())))
        .collect();
    let text: String = issuers.iter().map(|one| one.pem()).collect();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let clients = ClientCertificates::issued_by(text.as_bytes()).unwrap();
    let (_, judge) = clients.openssl_rules().verifiers(&provider).unwrap();
    let client = below(&issuers[17], &params("client", IsCa::NoCa));
    let before = READ.get();
    for _ in 0..3 {
        let identity = judge.identify(std::slice::from_ref(&client)).unwrap();
        assert_eq!(identity.fault(), None);
    }
    // The client's and its issuer's, each time.
    assert_eq!(READ.get() - before, 6);
}
