//! Connection facts for handlers and the access log, and the certificate that is served.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer;
use crate::support::peer::{Peer, service};
use http::{Response, StatusCode, Version};
use http_body_util::BodyExt;
use rustls::pki_types::CertificateDer;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::{Body, ConnectionInfo, ErrorKind, Running, Server, ServerConfig, Tls};

/// A certificate and its key in files.
struct Identity {
    certificate: PathBuf,
    key: PathBuf,
    root: CertificateDer<'static>,
}

fn identity(file: &str, names: &[&str]) -> Identity {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let signed = rcgen::generate_simple_self_signed(names).unwrap();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let certificate = folder.join(format!("{file}.cert.pem"));
    let key = folder.join(format!("{file}.key.pem"));
    std::fs::write(&certificate, signed.cert.pem()).unwrap();
    std::fs::write(&key, signed.signing_key.serialize_pem()).unwrap();
    Identity {
        certificate,
        key,
        root: signed.cert.der().clone(),
    }
}

fn client(running: &Running, hosts: &[&str], root: &CertificateDer<'static>) -> Client {
    client_of(Protocols::H2AndH1, running, hosts, root)
}

fn client_of(
    protocols: Protocols,
    running: &Running,
    hosts: &[&str],
    root: &CertificateDer<'static>,
) -> Client {
    let tls = ClientTls::new().root(root.clone()).only_given_roots();
    let mut builder = Client::builder().protocols(protocols).tls(tls);
    for host in hosts {
        builder = builder.resolve(host, [running.local_addr()]);
    }
    builder.build().unwrap()
}

fn url(running: &Running, host: &str) -> String {
    format!("https://{host}:{}/", running.local_addr().port())
}

async fn text(response: Response<Body>) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

fn shows_connection() -> ServerConfig {
    ServerConfig::default().with_connection_info(true)
}

/// Says what the request's extension says.
async fn answer(request: http::Request<Body>) -> Response<Body> {
    let info = request.extensions().get::<ConnectionInfo>();
    let text = info.map_or("nothing".to_owned(), |info| {
        let tls = info.tls().map(|tls| {
            let alpn = tls.alpn().map(String::from_utf8_lossy);
            let suite = tls.cipher_suite();
            (tls.protocol(), suite, tls.server_name(), alpn)
        });
        let (peer, local) = (info.peer_addr().unwrap(), info.local_addr().unwrap());
        format!("{} {local} {tls:?}", peer.ip())
    });
    Response::new(Body::full(text))
}

#[test]
fn a_request_reports_addresses_and_what_tls_agreed_on() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
    let running = server.config(shows_connection()).serve(service(answer));
    let running = running.unwrap();
    let local = running.local_addr();
    peer::block_on(async {
        let suite = Some("TLS_AES_256_GCM_SHA384");
        for (protocols, suite, alpn) in [
            (Protocols::H1Only, suite, "http/1.1"),
            (Protocols::H2Only, suite, "h2"),
            // QUIC's library does not say it.
            (Protocols::H3Only, None, "h3"),
        ] {
            let client = Client::builder()
                .protocols(protocols)
                .resolve("localhost", [local])
                .tls(ClientTls::new().root(root.clone()).only_given_roots())
                .build()
                .unwrap();
            let response = client.get(url(&running, "localhost")).send().await.unwrap();
            let expected = format!(
                "127.0.0.1 {local} Some((\"TLSv1.3\", {suite:?}, Some(\"localhost\"), Some({alpn:?})))"
            );
            assert_eq!(text(response).await, expected);
        }
    });
}

#[test]
fn in_cleartext_there_is_no_tls_and_by_default_nothing_is_reported() {
    let ask = |config: ServerConfig| {
        let server = Server::bind("127.0.0.1:0").config(config);
        let running = server.serve(service(answer)).unwrap();
        let mut peer = Peer::connect(running.local_addr());
        peer.sends("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        let received = peer.receives_to_the_end();
        let (_, text) = received.split_once("\r\n\r\n").unwrap();
        (text.to_owned(), running.local_addr())
    };
    let (text, local) = ask(shows_connection());
    assert_eq!(text, format!("127.0.0.1 {local} None"));
    assert_eq!(ask(ServerConfig::default()).0, "nothing");
}

#[test]
fn the_access_log_learns_of_every_exchange_once_when_it_is_over() {
    let (log, lines) = mpsc::channel();
    // The client that leaves its request ends its side in order: the server waits so long for more.
    let mut config = ServerConfig::default();
    config.timeouts.half_closed = Some(Duration::from_millis(20));
    let server = Server::bind("127.0.0.1:0").config(config);
    let server = server.access_log(move |access| {
        assert!(access.connection.peer_addr().unwrap().ip().is_loopback());
        let status = access.status.map(|status| status.as_u16());
        let line = format!(
            "{} {} {:?} {status:?} {}",
            access.method.map_or("-", |method| method.as_str()),
            access
                .target
                .map_or("-".into(), |target| target.to_string()),
            access.version,
            access.body_bytes
        );
        log.send(line).unwrap();
    });
    let handler = async |request: http::Request<Body>| match request.uri().path() {
        "/panics" => panic!("on purpose"),
        "/never" => std::future::pending().await,
        _ => Response::new(Body::full("hello")),
    };
    let running = server.serve(service(handler)).unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET /a?b HTTP/1.1\r\nhost: a\r\n\r\n");
    peer.receives_until("hello");
    peer.sends("POST /panics HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n");
    peer.receives_until("\r\n\r\n");
    // The http crate has no such target; no handler sees it.
    peer.sends("GET /`d HTTP/1.1\r\nhost: a\r\n\r\n");
    peer.receives_until("\r\n\r\n");
    peer.sends("GET /never HTTP/1.1\r\nhost: a\r\n\r\n");
    drop(peer);
    let mut logged: Vec<String> = lines.iter().take(4).collect();
    let mut peer = Peer::connect(running.local_addr());
    // A malformed body leaves the answer to the handler.
    peer.sends("POST /a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nx");
    assert!(peer.receives_to_the_end().starts_with("HTTP/1.1 200 "));
    logged.extend(lines.iter().take(1));
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("no request\r\n\r\n");
    assert!(peer.receives_to_the_end().starts_with("HTTP/1.1 400 "));
    logged.extend(lines.iter().take(1));
    running.shutdown();
    let expected = [
        "GET /a?b HTTP/1.1 Some(200) 5",
        "POST /panics HTTP/1.1 Some(500) 0",
        "GET - HTTP/1.1 Some(400) 0",
        "GET /never HTTP/1.1 None 0",
        "POST /a HTTP/1.1 Some(200) 5",
        "- - HTTP/1.1 Some(400) 0",
    ];
    assert_eq!(logged, expected);
    assert!(lines.try_recv().is_err());
}

#[test]
fn a_request_for_another_host_than_sni_named_is_misdirected_if_that_is_asked_for() {
    let two = identity("misdirected", &["a.test", "b.test"]);
    for (is_binding, protocols, version) in [
        (false, Protocols::H2AndH1, Version::HTTP_2),
        (true, Protocols::H2AndH1, Version::HTTP_2),
        (false, Protocols::H3Only, Version::HTTP_3),
        (true, Protocols::H3Only, Version::HTTP_3),
    ] {
        let tls = Tls::from_pem_files(&two.certificate, &two.key).unwrap();
        let config = ServerConfig::default().with_sni_is_binding(Some(is_binding));
        let rejected = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&rejected);
        let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
        let server = server.config(config).access_log(move |access| {
            if access.status == Some(StatusCode::MISDIRECTED_REQUEST) {
                let host = access.target.unwrap().host().unwrap();
                log.lock().unwrap().push(host.to_owned());
            }
        });
        let running = server.serve(service(async |_| Response::new(Body::full("here"))));
        let running = running.unwrap();
        peer::block_on(async {
            let client = client_of(protocols, &running, &["a.test", "b.test"], &two.root);
            let own = client.get(url(&running, "a.test")).send().await.unwrap();
            assert_eq!(own.status(), StatusCode::OK);
            let other = client.get(url(&running, "a.test")).header("host", "b.test");
            let other = other.send().await.unwrap();
            let expected = match is_binding {
                true => StatusCode::MISDIRECTED_REQUEST,
                false => StatusCode::OK,
            };
            assert_eq!((other.status(), other.version()), (expected, version));
            // On a connection of its own it is for the right host.
            let own = client.get(url(&running, "b.test")).send().await.unwrap();
            assert_eq!(own.status(), StatusCode::OK);
        });
        let misdirected = running.metrics().misdirected;
        assert_eq!(misdirected > 0, is_binding, "{misdirected}");
        let reported = rejected.lock().unwrap();
        assert_eq!(reported.len() as u64, misdirected);
        assert!(reported.iter().all(|host| host == "b.test"), "{reported:?}");
    }
}

#[test]
fn a_certificate_is_replaced_while_connections_go_on() {
    let (old, new) = (identity("old", &["a.test"]), identity("new", &["a.test"]));
    let tls = Tls::from_pem_files(&old.certificate, &old.key).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls.clone());
    let running = server.serve(service(async |_| Response::new(Body::empty())));
    let running = running.unwrap();
    peer::block_on(async {
        let at = url(&running, "a.test");
        let before = client(&running, &["a.test"], &old.root);
        assert_eq!(before.get(&at).send().await.unwrap().status(), 200);
        let wrong = tls.set_pem_files(&new.certificate, &old.key).unwrap_err();
        assert_eq!(wrong.kind(), ErrorKind::Config, "{wrong}");
        tls.set_pem_files(&new.certificate, &new.key).unwrap();
        assert_eq!(before.get(&at).send().await.unwrap().status(), 200);
        assert_eq!(before.totals().connections, 1, "it was not dropped");
        let after = client(&running, &["a.test"], &new.root);
        assert_eq!(after.get(&at).send().await.unwrap().status(), 200);
        let late = client(&running, &["a.test"], &old.root);
        let refused = late.get(&at).send().await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Tls, "{refused}");
    });
}

#[test]
fn each_name_has_its_certificate_and_everybody_else_the_first_over_tcp_and_quic() {
    let first = identity("first", &["a.test", "x.y.c.test"]);
    let named = identity("named", &["b.test"]);
    let wild = identity("wild", &["*.c.test"]);
    let tls = Tls::from_pem_files(&first.certificate, &first.key).unwrap();
    tls.set_pem_files_for("B.test", &named.certificate, &named.key)
        .unwrap();
    tls.set_pem_files_for("*.c.test", &wild.certificate, &wild.key)
        .unwrap();
    for name in ["a.test", "*.b.test", "127.0.0.1", ""] {
        let wrong = tls.set_pem_files_for(name, &named.certificate, &named.key);
        let wrong = wrong.unwrap_err();
        assert!(wrong.to_string().contains(&format!("{name:?}")), "{wrong}");
    }
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
    let running = server.serve(service(async |_| Response::new(Body::empty())));
    let running = running.unwrap();
    let shows = async |protocols, host: &str, identity: &Identity| {
        let client = client_of(protocols, &running, &[host], &identity.root);
        client.get(url(&running, host)).send().await.is_ok()
    };
    peer::block_on(async {
        for protocols in [Protocols::H2AndH1, Protocols::H3Only] {
            for (host, own, other) in [
                ("a.test", &first, &named),
                ("b.test", &named, &first),
                ("any.c.test", &wild, &first),
                ("x.y.c.test", &first, &wild),
            ] {
                assert!(shows(protocols, host, own).await, "{protocols:?} {host}");
                assert!(!shows(protocols, host, other).await, "{protocols:?} {host}");
            }
        }
    });
}
