use super::*;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};
use std::sync::Arc;

/// Both ends of a session over `suite`; whether the keys of the server's can be had.
fn pair(suite: SupportedCipherSuite, is_open: bool) -> (ClientConnection, ServerConnection) {
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::try_from(signed.signing_key.serialize_der()).unwrap();
    let chain = vec![signed.cert.der().clone()];
    let mut roots = RootCertStore::empty();
    roots.add(chain[0].clone()).unwrap();
    let provider = Arc::new(CryptoProvider {
        cipher_suites: vec![suite],
        ..rustls::crypto::aws_lc_rs::default_provider()
    });
    let versions = [suite.version()];
    let mut server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    server.enable_secret_extraction = is_open;
    let client = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut client = ClientConnection::new(Arc::new(client), name).unwrap();
    let mut server = ServerConnection::new(Arc::new(server)).unwrap();
    while client.is_handshaking() || server.is_handshaking() {
        let mut sent = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut sent).unwrap();
        }
        receives(&mut server, &sent).unwrap();
        let mut sent = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut sent).unwrap();
        }
        receives(&mut client, &sent).unwrap();
    }
    (client, server)
}

fn receives<D>(
    connection: &mut rustls::ConnectionCommon<D>,
    mut bytes: &[u8],
) -> Result<(), rustls::Error> {
    while !bytes.is_empty() {
        connection.read_tls(&mut bytes).unwrap();
        connection.process_new_packets()?;
    }
    Ok(())
}

/// Suites that sign with ECDSA, as the certificate does.
fn suites() -> Vec<SupportedCipherSuite> {
    let all = rustls::crypto::aws_lc_rs::ALL_CIPHER_SUITES.iter().copied();
    all.filter(|suite| !format!("{:?}", suite.suite()).contains("_RSA_"))
        .collect()
}

#[test]
fn the_peer_understands_the_alert_over_every_suite() {
    let suites = suites();
    assert_eq!(suites.len(), 6, "{suites:?}");
    for suite in suites {
        let (mut client, server) = pair(suite, true);
        let record = last_alert(server.into(), AlertDescription::CertificateExpired).unwrap();
        let received = receives(&mut client, &record);
        let reported = rustls::Error::AlertReceived(AlertDescription::CertificateExpired);
        assert_eq!(received, Err(reported), "{suite:?}");
    }
}

#[test]
fn a_session_that_keeps_its_keys_ends_without_an_alert() {
    let (_, server) = pair(suites()[0], false);
    assert!(last_alert(server.into(), AlertDescription::AccessDenied).is_none());
}
