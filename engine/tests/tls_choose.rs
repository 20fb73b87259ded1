//! TLS settings chosen by the requested host name (`Tls::choose`), over real sockets.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer;
use crate::support::peer::service;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{
    AlertDescription, ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    SupportedProtocolVersion,
};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use trunkline::{
    Body, ClientCertificates, ClientHello, Running, Server, ServerConfig, Timeouts, Tls, TlsRefusal,
};

/// A wait that a test ends long before.
const LONG: Duration = Duration::from_secs(60);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

fn identity(name: &str) -> (Tls, CertificateDer<'static>) {
    Tls::self_signed_with_root(&[name]).unwrap()
}

fn serving(tls: Tls) -> Running {
    serving_with(tls, ServerConfig::default())
}

fn serving_with(tls: Tls, config: ServerConfig) -> Running {
    let server = Server::bind("127.0.0.1:0").tls(tls).config(config);
    let answer = service(async |_| http::Response::new(Body::full("hi")));
    server.serve(answer).unwrap()
}

fn config(
    roots: &[&CertificateDer<'static>],
    versions: &[&'static SupportedProtocolVersion],
) -> ClientConfig {
    let mut store = RootCertStore::empty();
    for root in roots {
        store.add((*root).clone()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(store)
        .with_no_client_auth()
}

fn client(config: &ClientConfig, name: &str) -> ClientConnection {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    ClientConnection::new(Arc::new(config.clone()), name).unwrap()
}

fn socket(running: &Running) -> TcpStream {
    let socket = TcpStream::connect(running.local_addr()).unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

/// One exchange: the answer, and the certificate that was shown.
fn asks(
    running: &Running,
    config: &ClientConfig,
    name: &str,
) -> std::io::Result<(String, CertificateDer<'static>)> {
    let mut peer = StreamOwned::new(client(config, name), socket(running));
    let host = if config.enable_sni { name } else { "127.0.0.1" };
    let request = format!("GET / HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    peer.write_all(request.as_bytes())?;
    let mut answer = String::new();
    peer.read_to_string(&mut answer)?;
    let displayed = peer.conn.peer_certificates().unwrap()[0].clone();
    Ok((answer, displayed.into_owned()))
}

/// The alert of a handshake that failed.
fn alert(error: &std::io::Error) -> Option<AlertDescription> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    match error {
        rustls::Error::AlertReceived(alert) => Some(*alert),
        _ => None,
    }
}

#[test]
fn a_handshake_goes_on_with_what_is_chosen_for_the_name_and_otherwise_with_the_servers_own() {
    let (own, own_root) = identity("own");
    let (other, other_root) = identity("other");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let names = Arc::clone(&asked);
    let running = serving(own.choose(move |hello: ClientHello| {
        let name = hello.server_name().map(str::to_owned);
        let chosen = (name.as_deref() == Some("other")).then(|| other.clone());
        names.lock().unwrap().push(name);
        async move { Ok(chosen) }
    }));
    for version in [&TLS12, &TLS13] {
        let config = config(&[&own_root, &other_root], &[version]);
        for (name, root) in [("own", &own_root), ("other", &other_root)] {
            let (answer, displayed) = asks(&running, &config, name).unwrap();
            assert!(answer.ends_with("hi"), "{answer}");
            assert_eq!(&displayed, root, "{name} over {version:?}");
        }
    }
    let asked = asked.lock().unwrap().clone();
    let names: Vec<_> = asked.iter().map(|name| name.as_deref().unwrap()).collect();
    assert_eq!(
        names,
        ["own", "other", "own", "other"],
        "once per connection"
    );
}

#[test]
fn a_client_that_names_nobody_is_reported_too_and_what_it_speaks() {
    let (own, root) = identity("localhost");
    let (report, reported) = mpsc::channel();
    let running = serving(own.choose(move |hello| {
        let protocols: Vec<_> = hello.protocols().map(<[u8]>::to_vec).collect();
        report
            .send((hello.server_name().map(str::to_owned), protocols))
            .unwrap();
        async { Ok(None) }
    }));
    let mut config = config(&[&root], rustls::ALL_VERSIONS);
    config.enable_sni = false;
    config.alpn_protocols = vec![b"http/1.1".to_vec(), b"else".to_vec()];
    asks(&running, &config, "localhost").unwrap();
    let protocols = vec![b"http/1.1".to_vec(), b"else".to_vec()];
    assert_eq!(reported.recv_timeout(LONG).unwrap(), (None, protocols));
}

#[test]
fn a_client_hello_may_come_in_two_pieces_cut_anywhere_and_byte_by_byte() {
    let (own, root) = identity("localhost");
    let running = serving(own.choose(async |hello| {
        assert_eq!(hello.server_name(), Some("localhost"));
        Ok(None)
    }));
    let config = config(&[&root], rustls::ALL_VERSIONS);
    let first = |connection: &mut ClientConnection| {
        let mut hello = Vec::new();
        connection.write_tls(&mut hello).unwrap();
        hello
    };
    let length = first(&mut client(&config, "localhost")).len();
    let finishes = |connection: ClientConnection, socket: TcpStream| {
        let mut peer = StreamOwned::new(connection, socket);
        peer.write_all(REQUEST).unwrap();
        let mut answer = String::new();
        peer.read_to_string(&mut answer).unwrap();
        assert!(answer.ends_with("hi"), "{answer}");
    };
    for cut in 1..length {
        let mut connection = client(&config, "localhost");
        let hello = first(&mut connection);
        let mut socket = socket(&running);
        socket.write_all(&hello[..cut]).unwrap();
        socket.write_all(&hello[cut..]).unwrap();
        finishes(connection, socket);
    }
    let mut connection = client(&config, "localhost");
    let hello = first(&mut connection);
    let mut socket = socket(&running);
    for byte in hello {
        socket.write_all(&[byte]).unwrap();
    }
    finishes(connection, socket);
}

#[test]
fn a_choice_may_come_later_and_what_the_client_has_sent_meanwhile_counts() {
    let (own, root) = identity("localhost");
    let (ask, asked) = mpsc::channel::<oneshot::Sender<()>>();
    let running = serving(own.choose(move |_| {
        let (answer, answered) = oneshot::channel();
        ask.send(answer).unwrap();
        async move {
            answered.await.unwrap();
            Ok(None)
        }
    }));
    let mut connection = client(&config(&[&root], rustls::ALL_VERSIONS), "localhost");
    let mut socket = socket(&running);
    connection.write_tls(&mut socket).unwrap();
    let answer = asked.recv_timeout(LONG).unwrap();
    // RFC 8446 appendix D.4.
    let change_cipher_spec = [20, 3, 3, 0, 1, 1];
    socket.write_all(&change_cipher_spec).unwrap();
    answer.send(()).unwrap();
    let mut peer = StreamOwned::new(connection, socket);
    peer.write_all(REQUEST).unwrap();
    let mut answer = String::new();
    peer.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("hi"), "{answer}");
}

#[test]
fn who_is_refused_receives_the_alert_and_is_counted() {
    let (own, root) = identity("localhost");
    let refuse = async |_| Err(TlsRefusal::new(TlsRefusal::UNRECOGNIZED_NAME, "nobody is"));
    let running = serving(own.choose(refuse));
    for version in [&TLS12, &TLS13] {
        let config = config(&[&root], &[version]);
        let error = asks(&running, &config, "localhost").unwrap_err();
        assert_eq!(
            alert(&error),
            Some(AlertDescription::UnrecognisedName),
            "{error}"
        );
    }
    // The alert is written before the end is counted.
    let until = Instant::now() + LONG;
    while running.metrics().handshakes_failed < 2 && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(running.metrics().handshakes_failed, 2);
    assert_eq!(running.metrics().requests_h1, 0);
}

#[test]
fn what_a_client_speaks_may_decide_what_it_is_offered() {
    let (own, root) = identity("localhost");
    let offering = own.clone();
    let running = serving(own.choose(move |hello: ClientHello| {
        let last = hello.protocols().last().unwrap_or(b"none").to_vec();
        let last = String::from_utf8(last).unwrap();
        let tls = offering.clone().offer(&[&last]);
        async move { Ok(Some(tls)) }
    }));
    let mut config = config(&[&root], rustls::ALL_VERSIONS);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let mut peer = StreamOwned::new(client(&config, "localhost"), socket(&running));
    peer.write_all(REQUEST).unwrap();
    assert_eq!(peer.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    let mut answer = String::new();
    peer.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
}

#[test]
fn sessions_of_what_was_chosen_are_resumed_by_it() {
    let (own, _) = identity("own");
    let (other, root) = identity("other");
    let running = serving(own.choose(move |_| {
        let chosen = other.clone();
        async { Ok(Some(chosen)) }
    }));
    let config = config(&[&root], rustls::ALL_VERSIONS);
    for kind in [rustls::HandshakeKind::Full, rustls::HandshakeKind::Resumed] {
        let mut peer = StreamOwned::new(client(&config, "other"), socket(&running));
        peer.write_all(REQUEST).unwrap();
        let mut answer = String::new();
        peer.read_to_string(&mut answer).unwrap();
        assert_eq!(peer.conn.handshake_kind(), Some(kind));
    }
}

#[test]
fn whom_the_chosen_settings_ask_for_certificates_is_admitted_by_them() {
    let (own, own_root) = identity("own");
    let (strict, strict_root) = identity("strict");
    let key = rcgen::KeyPair::generate().unwrap();
    let authority = rcgen::CertificateParams::new(vec!["authority".to_owned()]).unwrap();
    let authority = authority.self_signed(&key).unwrap().pem();
    let clients = ClientCertificates::issued_by(authority.as_bytes()).unwrap();
    let strict = strict.client_certificates(clients).unwrap();
    let running = serving(own.choose(move |hello: ClientHello| {
        let chosen = (hello.server_name() == Some("strict")).then(|| strict.clone());
        async move { Ok(chosen) }
    }));
    let config = config(&[&own_root, &strict_root], rustls::ALL_VERSIONS);
    assert!(asks(&running, &config, "own").is_ok());
    let error = asks(&running, &config, "strict").unwrap_err();
    assert_eq!(
        alert(&error),
        Some(AlertDescription::CertificateRequired),
        "{error}"
    );
}

#[test]
fn without_a_certificate_for_everybody_those_are_served_who_have_one() {
    let key = rcgen::KeyPair::generate().unwrap();
    let signed = rcgen::CertificateParams::new(vec!["else".to_owned()]).unwrap();
    let signed = signed.self_signed(&key).unwrap();
    let (pem, key) = (signed.pem(), key.serialize_pem());
    let tls = Tls::for_names().unwrap();
    let wrong = tls.set_pem_for("named", pem.as_bytes(), key.as_bytes());
    assert!(wrong.unwrap_err().to_string().contains("not for \"named\""));
    tls.set_any_pem_for("named", pem.as_bytes(), key.as_bytes())
        .unwrap();
    tls.set_pem_for("else", pem.as_bytes(), key.as_bytes())
        .unwrap();
    assert!(!tls.is_nameless());
    let running = serving(tls.clone());
    let config = config(&[signed.der()], rustls::ALL_VERSIONS);
    assert!(asks(&running, &config, "else").is_ok());
    let error = asks(&running, &config, "named").unwrap_err();
    assert!(
        alert(&error).is_none(),
        "the client itself refuses it: {error}"
    );
    let error = asks(&running, &config, "nobody").unwrap_err();
    assert_eq!(
        alert(&error),
        Some(AlertDescription::AccessDenied),
        "{error}"
    );
    tls.set_pem(pem.as_bytes(), key.as_bytes()).unwrap();
    let error = asks(&running, &config, "nobody").unwrap_err();
    assert!(alert(&error).is_none(), "now it is shown one: {error}");
}

/// Says when it is dropped.
struct Dropped(mpsc::Sender<()>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

/// A choice that never completes, with channels for its start and its end.
fn never(own: Tls) -> (Tls, mpsc::Receiver<()>, mpsc::Receiver<()>) {
    let (ask, asked) = mpsc::channel();
    let (drop, dropped) = mpsc::channel();
    let tls = own.choose(move |_| {
        ask.send(()).unwrap();
        let dropped = Dropped(drop.clone());
        async move {
            std::future::pending::<()>().await;
            drop_of(dropped);
            Ok(None)
        }
    });
    (tls, asked, dropped)
}

fn drop_of(_: Dropped) {}

#[test]
fn a_choice_is_dropped_when_the_client_leaves() {
    let (own, root) = identity("localhost");
    let (tls, asked, dropped) = never(own);
    let running = serving(tls);
    let mut connection = client(&config(&[&root], rustls::ALL_VERSIONS), "localhost");
    let mut socket = socket(&running);
    connection.write_tls(&mut socket).unwrap();
    asked.recv_timeout(LONG).unwrap();
    assert!(dropped.try_recv().is_err(), "the client is still there");
    drop(socket);
    dropped.recv_timeout(LONG).unwrap();
}

#[test]
fn a_choice_has_no_longer_than_the_handshake() {
    let (own, root) = identity("localhost");
    let (tls, asked, dropped) = never(own);
    let timeouts = Timeouts::default().with_handshake(Some(Duration::from_secs(2)));
    let config_of_server = ServerConfig::default().with_timeouts(timeouts);
    let running = serving_with(tls, config_of_server);
    let mut connection = client(&config(&[&root], rustls::ALL_VERSIONS), "localhost");
    let mut socket = socket(&running);
    connection.write_tls(&mut socket).unwrap();
    asked.recv_timeout(LONG).unwrap();
    dropped.recv_timeout(LONG).unwrap();
    assert_eq!(socket.read(&mut [0; 8]).unwrap(), 0, "nothing was said");
}

#[test]
fn who_speaks_no_tls_is_not_asked_about() {
    let (own, _) = identity("localhost");
    let (tls, asked, _dropped) = never(own);
    let running = serving(tls);
    let mut plain = peer::Peer::connect(running.local_addr());
    plain.sends(REQUEST);
    plain.receives_to_the_end();
    assert!(asked.try_recv().is_err());
}

#[test]
fn a_server_that_chooses_does_not_serve_http_3() {
    let (own, _) = identity("localhost");
    let tls = own.choose(async |_| Ok(None));
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
    let error = server.listen().unwrap_err();
    assert!(error.to_string().contains("http3 is on"), "{error}");
}
