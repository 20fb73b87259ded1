//! The requests that a connection carries: of its own scheme, and for the host that it was opened for.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::frame_client::{Frame, FramePeer, kind};
use crate::support::peer;
use crate::support::peer::{Peer, service};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use std::sync::{Arc, Mutex};
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::{Body, ClientCertificates, Running, Server, ServerConfig, Tls};

/// Says what the handler takes for the target.
async fn answers_target(request: Request<Body>) -> Response<Body> {
    let host = request.headers().get("host").cloned();
    let host = host.map_or(String::new(), |host| host.to_str().unwrap().to_owned());
    let mut response = Response::new(Body::full(format!("{} {host}", request.uri())));
    if request.method() == http::Method::CONNECT {
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    }
    response
}

fn cleartext(scheme_from_gateway: bool) -> Running {
    let config = ServerConfig::default().with_scheme_from_gateway(scheme_from_gateway);
    let server = Server::bind("127.0.0.1:0").config(config);
    server.serve(service(answers_target)).unwrap()
}

fn ask_http1(running: &Running, request: &str) -> (u16, String) {
    let mut peer = Peer::connect(running.local_addr());
    peer.sends(request);
    let received = peer.receives_to_the_end();
    let (head, body) = received.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

/// A field of HPACK by the index of its name, without the table (RFC 7541 section 6.2.2).
fn literal(name: u8, value: &str) -> Vec<u8> {
    let mut bytes = vec![name, value.len() as u8];
    bytes.extend(value.as_bytes());
    bytes
}

/// The status, by the static table or as a literal.
fn ask_http2(running: &Running, scheme: &str) -> u16 {
    const METHOD_GET: u8 = 0x82;
    const PATH_ROOT: u8 = 0x84;
    let mut block = vec![METHOD_GET, PATH_ROOT];
    block.extend(literal(0x06, scheme));
    block.extend(literal(0x01, "a.test"));
    let mut peer = FramePeer::connect(running.local_addr());
    peer.sends(&Frame::new(kind::HEADERS, 0x5, 1, &block));
    match peer.receives(kind::HEADERS).payload.first() {
        Some(0x88) => 200,
        // The index of `:status`, of which the static table has no 421.
        Some(0x48 | 0x08) => 421,
        other => panic!("{other:?}"),
    }
}

/// RFC 9110 section 7.4: a request for an https resource is illegitimate on a connection that is not
/// secured.
#[test]
fn a_request_in_cleartext_whose_scheme_is_not_http_is_misdirected() {
    let running = cleartext(false);
    for (scheme, status) in [
        ("http", 200),
        ("HTTP", 200),
        ("https", 421),
        ("ftp", 421),
        ("javascript", 421),
    ] {
        let request = format!(
            "GET {scheme}://a.test/x HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n"
        );
        assert_eq!(ask_http1(&running, &request).0, status, "{scheme}");
        assert_eq!(ask_http2(&running, scheme), status, "{scheme}");
    }
    assert_eq!(running.metrics().misdirected, 6);
}

#[test]
fn a_gateway_that_is_trusted_says_the_scheme_and_no_other_than_http_and_https() {
    let running = cleartext(true);
    for (scheme, status) in [("http", 200), ("https", 200), ("javascript", 421)] {
        let request = format!(
            "GET {scheme}://a.test/x HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n"
        );
        let (answered, body) = ask_http1(&running, &request);
        assert_eq!(answered, status, "{scheme}");
        if status == 200 {
            assert_eq!(body, format!("{scheme}://a.test/x a.test"));
        }
        assert_eq!(ask_http2(&running, scheme), status, "{scheme}");
    }
}

/// RFC 9112 section 3.2.2: an origin server ignores the host field beside a target in absolute form. Who
/// routes by the one and authorizes by the other must not be led astray.
#[test]
fn a_host_field_that_differs_from_the_target_is_replaced_by_its_authority() {
    let running = cleartext(false);
    let mut peer = Peer::connect(running.local_addr());
    // Each several times: what is remembered of a head must not bring the other's host.
    for target in ["a.test", "b.test", "a.test", "b.test", "b.test", "A.test"] {
        for _ in 0..3 {
            let asked = format!("GET http://{target}/x HTTP/1.1\r\nhost: evil.test\r\n\r\n");
            peer.sends(asked);
            peer.receives_until(&format!("http://{target}/x {target}"));
            peer.sends("GET /x HTTP/1.1\r\nhost: evil.test\r\n\r\n");
            peer.receives_until("\r\n\r\n/x evil.test");
        }
    }
    peer.sends("CONNECT b.test:443 HTTP/1.1\r\nhost: evil.test\r\n\r\n");
    peer.receives_until("b.test:443 b.test:443");
}

/// A connection goes on behind a request that it does not carry.
#[test]
fn a_misdirected_request_leaves_its_connection_open() {
    let running = cleartext(false);
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET https://a.test/ HTTP/1.1\r\nhost: a.test\r\n\r\n");
    assert!(peer.receives_until("\r\n\r\n").starts_with("HTTP/1.1 421 "));
    peer.sends("GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n");
    assert!(peer.receives_to_the_end().ends_with("/ a.test"));
}

#[test]
fn a_request_under_tls_whose_scheme_is_http_is_misdirected() {
    use rustls::pki_types::ServerName;
    use std::io::{Read, Write};
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls);
    let running = server.serve(service(answers_target)).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(root).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let config = Arc::new(config);
    for (scheme, status) in [("https", "200"), ("http", "421")] {
        let name = ServerName::try_from("localhost").unwrap();
        let connection = rustls::ClientConnection::new(Arc::clone(&config), name).unwrap();
        let socket = std::net::TcpStream::connect(running.local_addr()).unwrap();
        let mut stream = rustls::StreamOwned::new(connection, socket);
        let request = format!(
            "GET {scheme}://localhost/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(&answer[9..12], status, "{scheme}");
    }
}

/// A server whose names have settings of their own: `open.test` admits every client, `closed.test` only
/// clients with a certificate.
struct Names {
    running: Running,
    root: rustls::pki_types::CertificateDer<'static>,
}

fn names(sni_is_binding: Option<bool>, reached: &Arc<Mutex<Vec<String>>>) -> Names {
    let (tls, root) =
        Tls::self_signed_with_root(&["open.test", "closed.test", "localhost"]).unwrap();
    let issuer = rcgen::generate_simple_self_signed(vec!["issuer.test".to_owned()]).unwrap();
    let clients = ClientCertificates::issued_by(issuer.cert.pem().as_bytes()).unwrap();
    let closed = tls.clone().client_certificates(clients).unwrap();
    let tls = tls.choose(move |hello| {
        let is_closed = hello.server_name() == Some("closed.test");
        let chosen = is_closed.then(|| closed.clone());
        async move { Ok(chosen) }
    });
    let config = ServerConfig::default().with_sni_is_binding(sni_is_binding);
    let reached = Arc::clone(reached);
    let server = Server::bind("127.0.0.1:0").tls(tls).config(config);
    let running = server.serve(service(move |request: Request<Body>| {
        let host = match request.uri().host() {
            Some(host) => host.to_owned(),
            None => request.headers()["host"].to_str().unwrap().to_owned(),
        };
        reached.lock().unwrap().push(host);
        async { Response::new(Body::empty()) }
    }));
    Names {
        running: running.unwrap(),
        root,
    }
}

impl Names {
    async fn ask(&self, protocols: Protocols, sni: &str, host: &str) -> Option<StatusCode> {
        let address = self.running.local_addr();
        let tls = ClientTls::new().root(self.root.clone()).only_given_roots();
        let client = Client::builder()
            .protocols(protocols)
            .resolve("open.test", [address])
            .resolve("closed.test", [address])
            .tls(tls)
            .build()
            .unwrap();
        let url = format!("https://{sni}:{}/", address.port());
        let sent = client.get(url).header("host", host).send().await.ok()?;
        let status = sent.status();
        sent.into_body().collect().await.unwrap();
        Some(status)
    }
}

/// CVE-2025-23419 (nginx) and CVE-2025-23048 (Apache): a client that was admitted for one name, where
/// none or another certificate was asked for, sent requests for another.
#[test]
fn where_names_have_clients_of_their_own_sni_binds_without_being_asked_to() {
    let reached = Arc::new(Mutex::new(Vec::new()));
    let names = names(None, &reached);
    peer::block_on(async {
        for protocols in [Protocols::H1Only, Protocols::H2Only] {
            let own = names.ask(protocols, "open.test", "open.test").await;
            assert_eq!(own, Some(StatusCode::OK));
            let other = names.ask(protocols, "open.test", "closed.test").await;
            assert_eq!(other, Some(StatusCode::MISDIRECTED_REQUEST));
            // Without the certificate it is not reached at all.
            assert_eq!(
                names.ask(protocols, "closed.test", "closed.test").await,
                None
            );
        }
    });
    assert_eq!(*reached.lock().unwrap(), ["open.test", "open.test"]);
}

/// A handshake without SNI gets the settings of any name: it opens no name that asks for a client certificate.
#[test]
fn where_settings_are_chosen_by_name_a_client_that_says_none_reaches_no_name() {
    use std::io::{Read, Write};
    let reached = Arc::new(Mutex::new(Vec::new()));
    let names = names(None, &reached);
    let mut roots = rustls::RootCertStore::empty();
    roots.add(names.root.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.enable_sni = false;
    let config = Arc::new(config);
    for (host, status) in [
        ("closed.test", "421"),
        ("open.test", "421"),
        ("127.0.0.1", "200"),
    ] {
        let name = rustls::pki_types::ServerName::try_from("open.test").unwrap();
        let connection = rustls::ClientConnection::new(Arc::clone(&config), name).unwrap();
        let socket = std::net::TcpStream::connect(names.running.local_addr()).unwrap();
        let mut stream = rustls::StreamOwned::new(connection, socket);
        let request = format!("GET / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(&answer[9..12], status, "{host}");
    }
    assert_eq!(*reached.lock().unwrap(), ["127.0.0.1"]);
}

#[test]
fn a_server_that_says_so_carries_several_names_on_one_connection_all_the_same() {
    let reached = Arc::new(Mutex::new(Vec::new()));
    let names = names(Some(false), &reached);
    peer::block_on(async {
        let other = names.ask(Protocols::H2Only, "open.test", "closed.test");
        assert_eq!(other.await, Some(StatusCode::OK));
    });
}
