use super::*;
use rcgen::{CertificateParams, KeyPair};

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::aws_lc_rs::default_provider())
}

fn certificate() -> String {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["a".to_owned()]).unwrap();
    params.self_signed(&key).unwrap().pem()
}

#[test]
fn issuers_and_lists_that_are_none_are_refused_by_name() {
    for (text, reports) in [
        ("", "the text of the issuers has no CERTIFICATE section"),
        (
            "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
            "the text of the issuers is not valid PEM",
        ),
    ] {
        let refused = ClientCertificates::issued_by(text.as_bytes()).unwrap_err();
        assert!(refused.to_string().contains(reports), "{refused}");
    }
    let clients = ClientCertificates::issued_by(certificate().as_bytes()).unwrap();
    let refused = clients.not_revoked_by(b"").unwrap_err().to_string();
    assert!(refused.contains("has no X509 CRL section"), "{refused}");
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let clients = ClientCertificates::issued_by(pem.as_bytes()).unwrap();
    let refused = clients.verifiers(&provider()).unwrap_err().to_string();
    assert!(refused.contains("issuer 1 cannot be used"), "{refused}");
}

#[test]
fn issuers_are_named_to_clients_where_they_are_few() {
    for (count, named) in [(1, 1), (ISSUERS_NAMED_MAX + 1, 0)] {
        let pem: String = (0..count).map(|_| certificate()).collect();
        let clients = ClientCertificates::issued_by(pem.as_bytes()).unwrap();
        for clients in [clients.clone(), clients.judged_by_handlers()] {
            let (verifier, _) = clients.verifiers(&provider()).unwrap();
            assert_eq!(verifier.root_hint_subjects().len(), named);
        }
    }
}

#[test]
fn no_certificate_is_trusted_without_an_issuer_and_handlers_may_admit_any() {
    let der = CertificateDer::from_pem_slice(certificate().as_bytes()).unwrap();
    let none = ClientCertificates::issued_by_none();
    for clients in [
        none.clone(),
        none.clone().optional(),
        none.judged_by_handlers(),
    ] {
        let admitted = clients.admitted;
        let (verifier, judge) = clients.verifiers(&provider()).unwrap();
        assert_eq!(
            verifier.client_auth_mandatory(),
            admitted == Admitted::Believed
        );
        let chain = std::slice::from_ref(&der);
        assert_eq!(
            judge.admit(chain).is_ok(),
            admitted == Admitted::Everybody,
            "{admitted:?}"
        );
        assert_eq!(judge.admit(&[]).is_err(), admitted == Admitted::Believed);
        let fault = judge.identify(chain).unwrap().fault().cloned();
        assert_eq!(fault, Some(CertificateFault::UnknownIssuer));
    }
}
