//! TLS settings of a client from PEM text and from rustls, on every version.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::run;
use crate::support::peer::service;
use aws_lc_rs::digest::{SHA256, digest};
use http::Response;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, PublicKeyData as _};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::error::Error as _;
use std::sync::Arc;
use trunkline::client::{Client, ClientTls, KeyRefusal, Protocols};
use trunkline::{Body, ClientCertificates, ErrorKind, ResponseExt, Running, Server, Tls};

const VERSIONS: [Protocols; 3] = [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only];

/// A server that admits only clients with a certificate, and the texts that both need.
struct Site {
    running: Running,
    /// The server's certificate, its own root.
    root: String,
    /// A certificate of the authority's for clients, and its key.
    identity: (String, String),
}

fn site() -> Site {
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (root, key) = (signed.cert.pem(), signed.signing_key.serialize_pem());
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(params, authority_key);
    let client_key = KeyPair::generate().unwrap();
    let client = CertificateParams::default();
    let client = client.signed_by(&client_key, &issuer).unwrap();
    let clients = ClientCertificates::issued_by(authority.as_bytes()).unwrap();
    let tls = Tls::from_pem(root.as_bytes(), key.as_bytes()).unwrap();
    let running = Server::bind("127.0.0.1:0")
        .workers(1)
        .tls(tls.client_certificates(clients).unwrap())
        .http3(true)
        .serve(service(|_| async { Response::new(Body::full("in")) }))
        .unwrap();
    Site {
        running,
        root,
        identity: (client.pem(), client_key.serialize_pem()),
    }
}

async fn get(site: &Site, version: Protocols, tls: ClientTls) -> Result<String, trunkline::Error> {
    let address = site.running.local_addr();
    let client = Client::builder()
        .protocols(version)
        .resolve("localhost", [address])
        .tls(tls)
        .build()?;
    let url = format!("https://localhost:{}/", address.port());
    client.get(url).send().await?.text().await
}

#[test]
fn a_server_is_believed_by_its_key_where_keys_are_pinned() {
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let (root, key) = (signed.cert.pem(), signed.signing_key.serialize_pem());
    let hash = digest(&SHA256, &signed.signing_key.subject_public_key_info());
    let pin: [u8; 32] = hash.as_ref().try_into().unwrap();
    let running = Server::bind("127.0.0.1:0")
        .workers(1)
        .tls(Tls::from_pem(root.as_bytes(), key.as_bytes()).unwrap())
        .http3(true)
        .serve(service(|_| async { Response::new(Body::full("in")) }))
        .unwrap();
    let site = Site {
        running,
        root,
        identity: Default::default(),
    };
    let trusting = || {
        let tls = ClientTls::new().only_given_roots();
        tls.roots_from_pem(&site.root).unwrap()
    };
    for version in VERSIONS {
        run(async {
            for tls in [trusting(), ClientTls::new().insecure()] {
                let tls = tls.pinned_keys([[7; 32], pin]);
                assert_eq!(get(&site, version, tls).await.unwrap(), "in");
            }
            for tls in [trusting(), ClientTls::new().insecure()] {
                // A copy has them too.
                let tls = tls.pinned_keys([[7; 32]]).clone();
                let refused = get(&site, version, tls).await.unwrap_err();
                assert!(refused.is_certificate(), "{refused:?}");
                let cause = refused.source().unwrap();
                assert!(cause.is::<KeyRefusal>(), "{refused:?}");
            }
            // The key alone is no trust.
            let pinned = ClientTls::new().only_given_roots().mozillas_roots();
            let refused = get(&site, version, pinned.pinned_keys([pin])).await;
            assert!(refused.unwrap_err().is_certificate());
        });
    }
}

#[test]
fn roots_and_identity_are_taken_from_pem_text() {
    let site = site();
    let (chain, key) = &site.identity;
    for version in VERSIONS {
        run(async {
            let trusting = || {
                let tls = ClientTls::new().only_given_roots();
                tls.roots_from_pem(&site.root).unwrap()
            };
            let tls = trusting().identity_from_pem(chain, key).unwrap();
            assert_eq!(get(&site, version, tls).await.unwrap(), "in");
            // Both in one text.
            let both = format!("{key}\n{chain}");
            let tls = trusting().identity_from_pem(&both, &both).unwrap();
            assert_eq!(get(&site, version, tls).await.unwrap(), "in");
            let without = get(&site, version, trusting()).await.unwrap_err();
            assert_eq!(without.kind(), ErrorKind::Tls, "{without:?}");
        });
    }
}

#[test]
fn settings_of_rustls_are_used_as_they_are() {
    let site = site();
    let (chain, key) = &site.identity;
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(site.root.as_bytes()).unwrap();
    roots.add(root).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(
            vec![CertificateDer::from_pem_slice(chain.as_bytes()).unwrap()],
            PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap(),
        )
        .unwrap();
    let config = Arc::new(config);
    for version in VERSIONS {
        run(async {
            let tls = ClientTls::from_rustls(Arc::clone(&config));
            assert_eq!(get(&site, version, tls).await.unwrap(), "in");
        });
    }
}

#[test]
fn a_copy_of_the_settings_is_changed_by_itself() {
    let site = site();
    let (chain, key) = &site.identity;
    for version in VERSIONS {
        run(async {
            let shared = ClientTls::new().only_given_roots();
            let shared = shared.roots_from_pem(&site.root).unwrap();
            let known = shared.clone().identity_from_pem(chain, key).unwrap();
            for tls in [known.clone(), known] {
                assert_eq!(get(&site, version, tls).await.unwrap(), "in");
            }
            let unknown = get(&site, version, shared).await.unwrap_err();
            assert_eq!(unknown.kind(), ErrorKind::Tls, "{unknown:?}");
        });
    }
}

#[test]
fn text_without_what_is_looked_for_is_refused_by_its_name() {
    let refused = |outcome: Result<ClientTls, trunkline::Error>| outcome.unwrap_err().to_string();
    let text = refused(ClientTls::new().roots_from_pem("nothing"));
    assert_eq!(text, "the text of the certificate has no such PEM section");
    let signed = rcgen::generate_simple_self_signed(vec!["a".to_owned()]).unwrap();
    let text = refused(ClientTls::new().identity_from_pem(signed.cert.pem(), "nothing"));
    assert_eq!(text, "the text of the key has no such PEM section");
}

#[test]
fn mozillas_roots_do_not_trust_a_certificate_of_ones_own() {
    let site = site();
    run(async {
        let error = get(&site, Protocols::H2Only, ClientTls::new().mozillas_roots()).await;
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Tls, "{error:?}");
        assert!(error.is_connect());
        let (chain, key) = &site.identity;
        let tls = ClientTls::new().mozillas_roots();
        let tls = tls.roots_from_pem(&site.root).unwrap();
        let tls = tls.identity_from_pem(chain, key).unwrap();
        assert_eq!(get(&site, Protocols::H2Only, tls).await.unwrap(), "in");
    });
}
