//! Connections that begin with a header of the PROXY protocol.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer::service_fn;
use http::{Request, Response};
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use trunkline::client::{Client, ClientTls, ProxyHeaderVersion};
use trunkline::core::proxy::ProxyHeader;
use trunkline::{Body, ConnectionInfo, Running, Server, ServerConfig, Tls, TrustedPeers};

/// Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);
const HEADER: ProxyHeader = ProxyHeader {
    addresses: Some((
        address([198, 51, 100, 7], 4711),
        address([192, 0, 2, 1], 443),
    )),
};
const NAMED: &str = "198.51.100.7:4711 192.0.2.1:443";

const fn address(ip: [u8; 4], port: u16) -> std::net::SocketAddr {
    let [a, b, c, d] = ip;
    let ip = std::net::Ipv4Addr::new(a, b, c, d);
    std::net::SocketAddr::V4(std::net::SocketAddrV4::new(ip, port))
}

/// Answers with the addresses of the connection, the peer's and ours.
async fn addresses(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let info = request.extensions().get::<ConnectionInfo>().unwrap();
    let text = match (info.peer_addr(), info.local_addr()) {
        (Some(peer), Some(local)) => format!("{peer} {local}"),
        _ => "none".to_owned(),
    };
    Ok(Response::new(Body::from(text)))
}

fn config() -> ServerConfig {
    ServerConfig::default().with_connection_info(true)
}

fn server(from: &str) -> Server {
    Server::bind("127.0.0.1:0")
        .workers(1)
        .config(config())
        .proxy_protocol(TrustedPeers::parse([from]).unwrap())
}

fn connect(running: &Running) -> TcpStream {
    let socket = TcpStream::connect(running.local_addr()).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n";

/// The answer to these bytes, to the end of the connection.
fn answer(mut socket: impl Read + Write, bytes: &[u8]) -> String {
    socket.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    // A connection that is refused may be reset.
    let _ = socket.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

#[test]
fn a_listed_proxy_names_the_addresses_by_both_versions_and_the_bytes_behind_are_the_clients() {
    let running = server("127.0.0.0/8").serve(service_fn(addresses)).unwrap();
    for version in [ProxyHeaderVersion::V1, ProxyHeaderVersion::V2] {
        let header = HEADER.encode(version);
        let text = answer(connect(&running), &[&header, REQUEST].concat());
        assert!(
            text.starts_with("HTTP/1.1 200 ") && text.ends_with(NAMED),
            "{text}"
        );
        let mut socket = connect(&running);
        for byte in &header {
            socket.write_all(&[*byte]).unwrap();
        }
        assert!(answer(socket, REQUEST).ends_with(NAMED));
    }
    // A proxy's own connection: it asks whether the server lives.
    let own = ProxyHeader { addresses: None };
    let socket = connect(&running);
    let expected = format!("{} {}", socket.local_addr().unwrap(), running.local_addr());
    let text = answer(
        socket,
        &[&own.encode(ProxyHeaderVersion::V1), REQUEST].concat(),
    );
    assert!(text.ends_with(&expected), "{text}");
}

#[test]
fn a_listed_proxy_without_a_header_is_cut_counted_and_passed_to_the_handshake_log() {
    let (log, failures) = mpsc::channel();
    let log = std::sync::Mutex::new(log);
    let running = server("127.0.0.1")
        .handshake_log(move |failed| {
            let text = failed.failure().to_string();
            log.lock().unwrap().send(text).unwrap();
        })
        .serve(service_fn(addresses))
        .unwrap();
    assert_eq!(answer(connect(&running), REQUEST), "");
    let why = failures.recv_timeout(PATIENCE).unwrap();
    assert!(
        why.contains("does not begin with a header of the PROXY protocol"),
        "{why}"
    );
    let mut half = connect(&running);
    half.write_all(b"PROXY TCP4 198.").unwrap();
    half.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(answer(half, b""), "");
    failures.recv_timeout(PATIENCE).unwrap();
    let metrics = running.metrics();
    assert_eq!(metrics.handshakes_failed, 2);
    let by = metrics.handshakes_failed_by;
    assert_eq!(by, [("gone", 1), ("proxy_header", 1)]);
}

#[test]
fn a_header_of_a_peer_that_is_not_listed_is_no_request_and_names_no_client() {
    let running = server("10.0.0.0/8").serve(service_fn(addresses)).unwrap();
    let header = HEADER.encode(ProxyHeaderVersion::V1);
    let text = answer(connect(&running), &[&header, REQUEST].concat());
    assert!(text.starts_with("HTTP/1.1 400 "), "{text}");
    let socket = connect(&running);
    let own = socket.local_addr().unwrap().to_string();
    let text = answer(socket, REQUEST);
    assert!(text.contains(&own), "{text}");
}

#[test]
fn each_client_behind_a_proxy_has_the_bound_of_its_own_address() {
    let config = config().with_connections_per_address_max(Some(1));
    let running = server("127.0.0.1")
        .config(config)
        .serve(service_fn(addresses))
        .unwrap();
    let open = |client: [u8; 4]| {
        let header = ProxyHeader {
            addresses: Some((address(client, 1), address([192, 0, 2, 1], 80))),
        };
        let mut socket = connect(&running);
        let head = b"GET / HTTP/1.1\r\nhost: a.test\r\n\r\n";
        let bytes = [&header.encode(ProxyHeaderVersion::V2)[..], head].concat();
        socket.write_all(&bytes).unwrap();
        let mut first = [0; 12];
        let read = socket.read_exact(&mut first);
        let is_served = read.is_ok() && first.starts_with(b"HTTP/1.1 200");
        (socket, is_served)
    };
    let first = open([198, 51, 100, 1]);
    assert!(first.1);
    // The other connections of the proxy are of other clients.
    let second = open([198, 51, 100, 2]);
    assert!(second.1);
    assert!(
        !open([198, 51, 100, 1]).1,
        "a second one of the first client"
    );
    assert_eq!(running.metrics().connections_refused, 1);
    drop(first);
    let until = Instant::now() + PATIENCE;
    while !open([198, 51, 100, 1]).1 {
        assert!(Instant::now() < until, "its place is never free again");
    }
}

#[cfg(unix)]
#[test]
fn every_connection_of_a_unix_socket_begins_with_a_header() {
    use std::os::unix::net::UnixStream;
    let path = std::env::temp_dir().join(format!("trunkline-proxied-{}", std::process::id()));
    let _running = Server::bind_unix(&path)
        .workers(1)
        .config(config())
        .proxy_protocol(TrustedPeers::parse(["::1"]).unwrap())
        .serve(service_fn(addresses))
        .unwrap();
    let connect = || UnixStream::connect(&path).unwrap();
    let header = HEADER.encode(ProxyHeaderVersion::V2);
    assert!(answer(connect(), &[&header, REQUEST].concat()).ends_with(NAMED));
    assert_eq!(answer(connect(), REQUEST), "");
}

#[tokio::test]
async fn the_header_comes_before_tls_and_a_client_can_send_it() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let running = server("127.0.0.1")
        .tls(tls)
        .serve(service_fn(addresses))
        .unwrap();
    let url = format!("https://localhost:{}/", running.local_addr().port());
    for version in [ProxyHeaderVersion::V1, ProxyHeaderVersion::V2] {
        let client = Client::builder()
            .tls(ClientTls::new().root(root.clone()).only_given_roots())
            .resolve("localhost", [running.local_addr()])
            .proxy_protocol(version)
            .build()
            .unwrap();
        let response = client.get(&url).send().await.unwrap();
        let text = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(text.to_vec()).unwrap();
        let local = format!(" {}", running.local_addr());
        assert!(
            text.starts_with("127.0.0.1:") && text.ends_with(&local),
            "{text}"
        );
    }
}
