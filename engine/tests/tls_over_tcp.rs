//! A server under TLS over real sockets: versions by ALPN, and what is wrong with certificates.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer;
use crate::support::peer::service;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use trunkline::{Body, Running, Server, Tls, TlsPolicy};

struct Secure {
    running: Running,
    roots: RootCertStore,
}

fn secure_hello() -> Secure {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    serving_hello(tls, root)
}

fn serving_hello(tls: Tls, root: CertificateDer<'static>) -> Secure {
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    let running = Server::bind("127.0.0.1:0")
        .tls(tls)
        .serve(service(async |_| http::Response::new(Body::full("hi"))))
        .unwrap();
    Secure { running, roots }
}

impl Secure {
    fn connect(&self, alpn: &[&str]) -> StreamOwned<ClientConnection, TcpStream> {
        self.connect_with(rustls::ALL_VERSIONS, alpn)
    }
    fn connect_with(
        &self,
        versions: &[&'static rustls::SupportedProtocolVersion],
        alpn: &[&str],
    ) -> StreamOwned<ClientConnection, TcpStream> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(versions)
            .unwrap()
            .with_root_certificates(self.roots.clone())
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let socket = TcpStream::connect(self.running.local_addr()).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        StreamOwned::new(connection, socket)
    }
}

#[test]
fn a_client_that_offers_http_1_1_alone_gets_it() {
    let secure = secure_hello();
    for alpn in [&["http/1.1"][..], &[]] {
        let mut peer = secure.connect(alpn);
        peer.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        peer.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nhi"), "{answer}");
    }
    assert_eq!(secure.running.metrics().requests_h1, 2);
}

#[test]
fn a_client_that_says_close_notify_behind_its_request_is_answered() {
    let secure = secure_hello();
    let mut peer = secure.connect(&["http/1.1"]);
    peer.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .unwrap();
    peer.conn.send_close_notify();
    peer.flush().unwrap();
    peer.sock.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    peer.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nhi"), "{answer}");
}

#[test]
fn a_server_of_tls_1_3_alone_speaks_nothing_older() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let only_tls13 = TlsPolicy::default().with_tls12(false);
    let secure = serving_hello(tls.policy(only_tls13).unwrap(), root);
    for (versions, is_served) in [
        (&[&rustls::version::TLS12][..], false),
        (&[&rustls::version::TLS13][..], true),
    ] {
        let mut peer = secure.connect_with(versions, &["http/1.1"]);
        let request = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        let mut answer = String::new();
        let received = peer.write_all(request);
        let received = received.and_then(|()| peer.read_to_string(&mut answer));
        assert_eq!(received.is_ok(), is_served, "{received:?}");
        assert_eq!(answer.ends_with("hi"), is_served, "{answer}");
    }
}

#[test]
fn a_client_that_offers_both_gets_http_2() {
    let secure = secure_hello();
    let mut peer = secure.connect(&["http/1.1", "h2"]);
    peer.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
        .unwrap();
    let mut frame = [0; 9];
    peer.read_exact(&mut frame).unwrap();
    assert_eq!(frame[3], 4, "SETTINGS come first");
    assert_eq!(peer.conn.alpn_protocol(), Some(&b"h2"[..]));
}

#[test]
fn a_peer_that_speaks_no_tls_is_counted_and_the_next_one_served() {
    let secure = secure_hello();
    let mut plain = peer::Peer::connect(secure.running.local_addr());
    plain.sends("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    plain.receives_to_the_end();
    let mut peer = secure.connect(&[]);
    peer.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    peer.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("hi"), "{answer}");
    assert_eq!(secure.running.metrics().handshakes_failed, 1);
}

#[test]
fn a_missing_certificate_file_is_named() {
    let error = Tls::from_pem_files("/nowhere/cert.pem", "/nowhere/key.pem").unwrap_err();
    assert!(error.to_string().contains("/nowhere/cert.pem"), "{error}");
}

#[test]
fn a_file_without_a_certificate_is_named_with_what_is_missing() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let error = Tls::from_pem_files(manifest, manifest).unwrap_err();
    assert!(error.to_string().contains("CERTIFICATE"), "{error}");
}

#[test]
fn four_hundred_answers_of_one_flight_arrive_whole_and_in_order() {
    fn body(path: &str) -> String {
        path.repeat(1024 / path.len())
    }
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    let running = Server::bind("127.0.0.1:0")
        .tls(tls)
        .serve(service(async |request: http::Request<Body>| {
            http::Response::new(Body::full(body(request.uri().path())))
        }))
        .unwrap();
    // It serves as long as it is held.
    let server = Secure { running, roots };
    let mut peer = server.connect(&["http/1.1"]);
    let asked: String = (1000..1400)
        .map(|number| format!("GET /{number} HTTP/1.1\r\nhost: localhost\r\n\r\n"))
        .collect();
    peer.write_all(asked.as_bytes()).unwrap();
    peer.write_all(b"GET /last HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answers = String::new();
    peer.read_to_string(&mut answers).unwrap();
    let mut bodies = answers
        .split("HTTP/1.1 200 OK\r\n")
        .map(|answer| answer.split_once("\r\n\r\n").unwrap_or_default().1);
    assert_eq!(bodies.next(), Some(""), "nothing stands before the first");
    for number in 1000..1400 {
        let received = bodies.next().unwrap_or_default();
        assert!(received == body(&format!("/{number}")), "answer {number}");
    }
    assert!(bodies.next().unwrap_or_default() == body("/last"));
    assert_eq!(bodies.next(), None);
}
