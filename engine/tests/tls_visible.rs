//! TLS failures are visible on both sides: the client's error names the alert, and the server counts
//! and logs what it refused, over TCP and QUIC.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer;
use crate::support::peer::service;
use http::Response;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::server::HandshakeFailure;
use trunkline::{Body, ClientCertificates, Error, ErrorKind, Retry, Running, Server, Tls};

const VERSIONS: [Protocols; 3] = [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only];

struct Logged {
    from_loopback: bool,
    quic: bool,
    failure: HandshakeFailure,
}

struct Serving {
    running: Running,
    root: rustls::pki_types::CertificateDer<'static>,
    log: Arc<Mutex<Vec<Logged>>>,
}

impl Serving {
    /// Admits clients with a certificate that no client here has.
    fn start() -> Self {
        Self::start_as(true, |tls| tls)
    }
    /// With what `settings` makes of its TLS.
    fn start_as(http3: bool, settings: impl FnOnce(Tls) -> Tls) -> Self {
        let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
        let issuer = rcgen::generate_simple_self_signed(vec!["issuer.test".to_owned()]).unwrap();
        let clients = ClientCertificates::issued_by(issuer.cert.pem().as_bytes()).unwrap();
        let tls = settings(tls.client_certificates(clients).unwrap());
        let log = Arc::new(Mutex::new(Vec::new()));
        let logged = Arc::clone(&log);
        let server = Server::bind("127.0.0.1:0").tls(tls).http3(http3);
        let server = server.handshake_log(move |failed| {
            let from_loopback = failed
                .peer_addr()
                .is_some_and(|peer| peer.ip().is_loopback());
            logged.lock().unwrap().push(Logged {
                from_loopback,
                quic: failed.is_quic(),
                failure: failed.failure().clone(),
            });
        });
        let running = server.serve(service(async |_| Response::new(Body::empty())));
        Self {
            running: running.unwrap(),
            root,
            log,
        }
    }
    fn fails(&self, protocols: Protocols, shows: bool) -> Error {
        let mut tls = ClientTls::new().root(self.root.clone()).only_given_roots();
        if shows {
            let own = rcgen::generate_simple_self_signed(vec!["stranger.test".to_owned()]).unwrap();
            let key = own.signing_key.serialize_der().try_into().unwrap();
            tls = tls.identity(vec![own.cert.der().clone()], key);
        }
        let local = self.running.local_addr();
        let client = Client::builder()
            .protocols(protocols)
            .resolve("localhost", [local])
            .tls(tls)
            .build()
            .unwrap();
        let url = format!("https://localhost:{}/", local.port());
        peer::block_on(async { client.get(url).send().await.unwrap_err() })
    }
    /// Waits until `count` handshakes have failed; each is logged once.
    fn logged(&self, count: usize) -> std::sync::MutexGuard<'_, Vec<Logged>> {
        while self.log.lock().unwrap().len() < count {
            std::thread::yield_now();
        }
        let log = self.log.lock().unwrap();
        assert_eq!(log.len(), count);
        log
    }
}

#[test]
fn a_client_without_a_certificate_learns_that_one_is_wanted_over_tcp_and_quic() {
    let serving = Serving::start();
    for (index, protocols) in VERSIONS.into_iter().enumerate() {
        let error = serving.fails(protocols, false);
        let sent = error.to_string();
        assert_eq!(error.kind(), ErrorKind::Tls, "{protocols:?} {sent}");
        assert!(
            sent.contains("certificate_required (116)"),
            "{protocols:?} {sent}"
        );
        assert_eq!(error.retry(), Retry::Never, "{protocols:?}");
        let source = std::error::Error::source(&error);
        assert!(source.is_some(), "{protocols:?}");
        let log = serving.logged(index + 1);
        let last = log.last().unwrap();
        assert!(last.from_loopback, "{protocols:?}");
        assert_eq!(last.quic, protocols == Protocols::H3Only);
        assert_eq!(
            last.failure,
            HandshakeFailure::NoCertificate,
            "{protocols:?}"
        );
    }
    let metrics = serving.running.metrics();
    assert_eq!(metrics.handshakes_failed, 3);
    assert_eq!(metrics.handshakes_failed_by, [("certificate", 3)]);
}

#[test]
fn a_client_whose_certificate_is_not_believed_learns_it_over_tcp_and_quic() {
    let serving = Serving::start();
    for protocols in VERSIONS {
        let error = serving.fails(protocols, true);
        let sent = format!("{error} {:?}", std::error::Error::source(&error));
        assert_eq!(error.kind(), ErrorKind::Tls, "{protocols:?} {sent}");
        assert!(sent.contains("the TLS alert "), "{protocols:?} {sent}");
        assert_eq!(error.retry(), Retry::Never, "{protocols:?} {sent}");
    }
    let logged = serving.logged(VERSIONS.len());
    for Logged { failure, quic, .. } in logged.iter() {
        let is_certificate = matches!(failure, HandshakeFailure::Certificate(_));
        assert!(is_certificate, "{failure:?}, over QUIC: {quic}");
    }
    drop(logged);
    let by = serving.running.metrics().handshakes_failed_by;
    assert_eq!(by, [("certificate", 3)]);
}

#[test]
fn what_is_no_tls_and_who_leaves_are_counted_by_their_kinds() {
    let serving = Serving::start();
    let connect = || {
        let socket = TcpStream::connect(serving.running.local_addr()).unwrap();
        let patience = Duration::from_secs(60);
        socket.set_read_timeout(Some(patience)).unwrap();
        socket
    };
    let cases: [(&[u8], HandshakeFailure); 5] = [
        (
            b"GET / HTTP/1.1\r\nhost: a\r\n\r\n",
            HandshakeFailure::CleartextRequest,
        ),
        (
            b"OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
            HandshakeFailure::CleartextRequest,
        ),
        (
            b"CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n",
            HandshakeFailure::CleartextConnect,
        ),
        (
            b"get / HTTP/1.1\r\nhost: a\r\n\r\n",
            HandshakeFailure::NotTls,
        ),
        (b"SSH-2.0-a\r\n", HandshakeFailure::NotTls),
    ];
    let count = cases.len();
    for (index, (bytes, failure)) in cases.into_iter().enumerate() {
        let mut plain = connect();
        plain.write_all(bytes).unwrap();
        let mut alert = Vec::new();
        plain.read_to_end(&mut alert).unwrap();
        assert_eq!(serving.logged(index + 1)[index].failure, failure);
    }
    drop(connect());
    assert_eq!(
        serving.logged(count + 1)[count].failure,
        HandshakeFailure::Gone
    );
    let by = serving.running.metrics().handshakes_failed_by;
    assert_eq!(by, [("gone", 1), ("not_tls", 5)]);
}

/// A ClientHello whose newest version is that of `minor`, with one suite and no extension.
fn old_hello(minor: u8) -> Vec<u8> {
    let mut message = vec![1, 0, 0, 41, 3, minor];
    message.extend([7; 32]);
    message.extend([0, 0, 2, 0xc0, 0x13, 1, 0]);
    let mut record = vec![22, 3, 1, 0, message.len() as u8];
    record.extend(message);
    record
}

#[test]
fn a_client_of_a_version_before_tls_1_2_gets_the_alert_that_says_so() {
    let choosing = |tls: Tls| tls.choose(async |_| Ok(None));
    for serving in [Serving::start(), Serving::start_as(false, choosing)] {
        for minor in [0, 1, 2] {
            let mut client = TcpStream::connect(serving.running.local_addr()).unwrap();
            client
                .set_read_timeout(Some(Duration::from_secs(60)))
                .unwrap();
            client.write_all(&old_hello(minor)).unwrap();
            let mut alert = Vec::new();
            client.read_to_end(&mut alert).unwrap();
            // protocol_version, fatal (RFC 5246 appendix E.1 and section 7.2).
            assert_eq!(alert, [21, 3, 1, 0, 2, 2, 70], "{minor}");
        }
        let logged = serving.logged(3);
        assert!(
            logged
                .iter()
                .all(|one| one.failure == HandshakeFailure::Version)
        );
        drop(logged);
        let by = serving.running.metrics().handshakes_failed_by;
        assert_eq!(by, [("version", 3)]);
    }
}

#[test]
fn a_client_that_breaks_the_handshake_is_logged_with_what_it_did() {
    let serving = Serving::start();
    let finished = [22, 3, 3, 0, 8, 20, 0, 0, 4, 1, 1, 1, 1];
    let cut_short = [22, 3, 3, 0, 9, 1, 0, 0, 5, 3, 3, 0, 0, 0];
    let closed = [21, 3, 3, 0, 2, 1, 0];
    let mut too_long = vec![22, 3, 3, 0x48, 1];
    too_long.resize(5 + 0x4801, 1);
    let cases: [(&[u8], &str); 4] = [
        (&finished, "Unexpected("),
        (&cut_short, "Malformed("),
        (&too_long, "TooLong"),
        (&closed, "Gone"),
    ];
    for (index, (bytes, name)) in cases.into_iter().enumerate() {
        let mut client = TcpStream::connect(serving.running.local_addr()).unwrap();
        // A server that has refused it resets what still comes.
        let _ = client.write_all(bytes);
        let _ = client.shutdown(std::net::Shutdown::Write);
        let logged = serving.logged(index + 1);
        let failure = format!("{:?}", logged[index].failure);
        assert!(failure.starts_with(name), "{failure} is not {name}");
    }
}
