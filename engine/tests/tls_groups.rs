//! The key exchange that handshakes use: X25519MLKEM768 (draft-ietf-tls-ecdhe-mlkem) first, as browsers have it, with
//! its key share in the first flight, over TCP and QUIC.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::client_hello::first_client_hello;
use crate::support::origin::run;
use crate::support::peer::service;
use http::{Response, Version};
use rustls::crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, NamedGroup, RootCertStore};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::{Body, Running, Server, Tls};

const HYBRID: NamedGroup = NamedGroup::X25519MLKEM768;

/// A provider with this group and no other.
fn only(group: &'static dyn SupportedKxGroup) -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        kx_groups: vec![group],
        ..aws_lc_rs::default_provider()
    })
}

fn serving(tls: Tls) -> Running {
    let server = Server::bind("127.0.0.1:0").workers(1).tls(tls).http3(true);
    let service = service(|_| async { Response::new(Body::full("ok")) });
    server.serve(service).unwrap()
}

fn rustls_client(provider: Arc<CryptoProvider>, root: CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

async fn answered(address: SocketAddr, tls: ClientTls, protocols: Protocols) -> Version {
    let client = Client::builder()
        .resolve("localhost", address)
        .protocols(protocols)
        .tls(tls)
        .build()
        .unwrap();
    let url = format!("https://localhost:{}/", address.port());
    client.get(url).send().await.unwrap().version()
}

#[test]
fn a_clients_first_flight_over_tcp_offers_the_hybrid_group_first_with_its_share() {
    let (port, reading) = first_client_hello(|hello| hello.named_groups().unwrap().to_vec());
    let url = format!("https://localhost:{port}/");
    run(async move {
        let client = Client::builder().tls(ClientTls::new().insecure());
        client.build().unwrap().get(url).send().await.unwrap_err();
    });
    let (groups, bytes) = reading.join().unwrap();
    assert_eq!(groups[..2], [HYBRID, NamedGroup::X25519]);
    // The entry of the extension key_share: the group, and the length of its share, 1,216 bytes.
    let share: [u8; 4] = [0x11, 0xec, 0x04, 0xc0];
    assert!(bytes.windows(4).any(|window| window == share));
}

#[test]
fn a_server_takes_the_hybrid_group_at_once_where_the_client_has_it_and_x25519_else() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = serving(tls);
    let hybrid = Arc::new(aws_lc_rs::default_provider());
    let classical = only(aws_lc_rs::kx_group::X25519);
    for (provider, group) in [(hybrid, HYBRID), (classical, NamedGroup::X25519)] {
        let config = Arc::new(rustls_client(provider, root.clone()));
        let name = ServerName::try_from("localhost").unwrap();
        let mut tls = ClientConnection::new(config, name).unwrap();
        let mut socket = TcpStream::connect(server.local_addr()).unwrap();
        while tls.is_handshaking() {
            tls.complete_io(&mut socket).unwrap();
        }
        let chosen = tls.negotiated_key_exchange_group().unwrap();
        assert_eq!(chosen.name(), group);
        // No HelloRetryRequest: the share was in the first flight.
        assert_eq!(tls.handshake_kind(), Some(HandshakeKind::Full));
        socket.flush().unwrap();
    }
}

#[test]
fn both_ends_have_the_hybrid_group_over_quic_too() {
    run(async {
        let group = || only(aws_lc_rs::kx_group::X25519MLKEM768);
        let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
        let server = serving(tls);
        let client = ClientTls::from_rustls(Arc::new(rustls_client(group(), root)));
        let version = answered(server.local_addr(), client, Protocols::H3Only).await;
        assert_eq!(
            version,
            Version::HTTP_3,
            "a server that is asked for nothing else"
        );

        let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(signed.signing_key.serialize_der());
        let config = rustls::ServerConfig::builder_with_provider(group())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![signed.cert.der().clone()], PrivateKeyDer::from(key))
            .unwrap();
        let server = serving(Tls::from_rustls(Arc::new(config)));
        let root = signed.cert.der().clone();
        let client = ClientTls::new().root(root).only_given_roots();
        let found = answered(server.local_addr(), client, Protocols::H3Only).await;
        assert_eq!(
            found,
            Version::HTTP_3,
            "a client of a server that takes nothing else"
        );
    });
}
