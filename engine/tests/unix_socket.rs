//! A server on a Unix socket, and on sockets opened by another process.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer::{block_on, service};
use http::Response;
use http_body_util::BodyExt;
use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::server::UnixSocket;
use trunkline::{Body, ConnectionInfo, Running, Server, ServerConfig, Tls};

/// A folder of its own for each test, gone after it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    fn socket(&self) -> PathBuf {
        self.0.join("s")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn hello(server: Server<UnixSocket>) -> Running<SocketAddr> {
    let answer = service(async |_| Response::new(Body::full("hi")));
    server.serve(answer).unwrap()
}

fn connect(path: &Path) -> UnixStream {
    let socket = UnixStream::connect(path).unwrap();
    // A test whose wait has no end fails instead of hanging.
    let patience = Some(Duration::from_secs(60));
    socket.set_read_timeout(patience).unwrap();
    socket
}

/// A server's response to one request over HTTP/1.1, until it closes.
fn ask(path: &Path) -> String {
    let mut peer = connect(path);
    peer.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut received = String::new();
    peer.read_to_string(&mut received).unwrap();
    received
}

/// The version and the text of an answer.
fn get(client: &Client, url: &str) -> (http::Version, String, Option<String>) {
    block_on(async {
        let response = client.get(url).send().await.unwrap();
        let alt_svc = response.headers().get("alt-svc");
        let alt_svc = alt_svc.map(|value| value.to_str().unwrap().to_owned());
        let version = response.version();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        (version, text, alt_svc)
    })
}

#[test]
fn both_versions_are_served_in_cleartext() {
    let folder = Folder::new("unix-clear");
    let running = hello(Server::bind_unix(folder.socket()));
    for (protocols, version) in [
        (Protocols::H1Only, http::Version::HTTP_11),
        (Protocols::H2Only, http::Version::HTTP_2),
    ] {
        let client = Client::builder().protocols(protocols);
        let client = client.unix_socket(folder.socket()).build().unwrap();
        let answer = get(&client, "http://localhost/");
        assert_eq!(answer, (version, "hi".to_owned(), None));
    }
    let metrics = running.metrics();
    assert_eq!((metrics.requests_h1, metrics.requests_h2), (1, 1));
    assert_eq!(metrics.connections_accepted, 2);
    assert_eq!(running.local_addr().as_pathname(), Some(&*folder.socket()));
}

#[test]
fn under_tls_alpn_chooses_and_a_request_reports_no_address_but_what_was_agreed_on() {
    let folder = Folder::new("unix-tls");
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let config = ServerConfig::default()
        .with_connection_info(true)
        .with_sni_is_binding(Some(true));
    let answer = service(async |request: http::Request<Body>| {
        let info = request.extensions().get::<ConnectionInfo>().unwrap();
        let tls = info.tls().unwrap();
        let alpn = String::from_utf8_lossy(tls.alpn().unwrap()).into_owned();
        let addresses = (info.peer_addr(), info.local_addr());
        Response::new(Body::full(format!("{addresses:?} {alpn}")))
    });
    let server = Server::bind_unix(folder.socket()).tls(tls).config(config);
    let _running = server.serve(answer).unwrap();
    for (protocols, alpn) in [(Protocols::H1Only, "http/1.1"), (Protocols::H2Only, "h2")] {
        let client = Client::builder()
            .protocols(protocols)
            .unix_socket(folder.socket())
            .tls(ClientTls::new().root(root.clone()).only_given_roots())
            .build()
            .unwrap();
        let (_, text, alt_svc) = get(&client, "https://localhost/");
        assert_eq!(text, format!("(None, None) {alpn}"));
        assert_eq!(alt_svc, None, "there is no HTTP/3 to announce");
    }
}

#[test]
fn the_access_log_learns_of_requests_over_it() {
    let folder = Folder::new("unix-log");
    let received = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&received);
    let running = hello(
        Server::bind_unix(folder.socket()).access_log(move |access| {
            let line = (access.connection.peer_addr(), access.body_bytes);
            lines.lock().unwrap().push(line);
        }),
    );
    ask(&folder.socket());
    // A worker's last output comes before this.
    running.shutdown();
    assert_eq!(*received.lock().unwrap(), [(None, 2)]);
}

#[test]
fn a_path_that_exists_is_in_use_and_stays_as_it_is() {
    let folder = Folder::new("unix-in-use");
    let running = hello(Server::bind_unix(folder.socket()));
    let error = Server::bind_unix(folder.socket()).listen().unwrap_err();
    let text = error.to_string();
    assert!(text.contains(folder.socket().to_str().unwrap()), "{text}");
    assert!(text.contains("exists already"), "{text}");
    assert!(ask(&folder.socket()).ends_with("\r\n\r\nhi"));
    drop(running);
    // A stale socket of an ended program, without a listener.
    drop(UnixListener::bind(folder.socket()).unwrap());
    assert!(Server::bind_unix(folder.socket()).listen().is_err());
    assert!(folder.socket().exists());
}

#[test]
fn what_is_wrong_with_a_path_is_said_of_it() {
    let folder = Folder::new("unix-wrong");
    let long = folder.0.join("x".repeat(120));
    let length = format!("has {} bytes", long.as_os_str().len());
    let nowhere = folder.0.join("nowhere").join("s");
    for (path, words) in [
        (&long, &*length),
        (&nowhere, "in a directory that does not exist"),
    ] {
        let text = Server::bind_unix(path).listen().unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
        assert!(text.contains(path.to_str().unwrap()), "{text}");
    }
    for (path, words) in [
        (PathBuf::new(), "is empty"),
        (folder.0.join("a\0b"), "a zero byte"),
    ] {
        let text = Server::bind_unix(path).listen().unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn the_file_goes_when_nobody_is_accepted_any_more_and_what_is_open_finishes() {
    let folder = Folder::new("unix-drain");
    let (begun, begins) = channel();
    let (finish, finished) = tokio::sync::watch::channel(false);
    let answer = service(move |_| {
        let (begun, mut finished) = (begun.clone(), finished.clone());
        async move {
            begun.send(()).unwrap();
            finished.wait_for(|finished| *finished).await.unwrap();
            Response::new(Body::full("late"))
        }
    });
    let server = Server::bind_unix(folder.socket()).workers(3);
    let running = server.serve(answer).unwrap();
    let mut peer = connect(&folder.socket());
    peer.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        .unwrap();
    begins.recv_timeout(Duration::from_secs(60)).unwrap();
    let draining = std::thread::spawn(move || {
        let drained = running.drain(Duration::from_secs(20));
        block_on(drained)
    });
    let since = Instant::now();
    loop {
        assert!(since.elapsed() < Duration::from_secs(20), "still accepted");
        match UnixStream::connect(folder.socket()) {
            Err(error) if error.kind() == ErrorKind::NotFound => break,
            // A connection before the command is carried out is closed by it.
            _ => std::thread::yield_now(),
        }
    }
    finish.send(true).unwrap();
    let mut received = String::new();
    peer.read_to_string(&mut received).unwrap();
    assert!(received.ends_with("\r\n\r\nlate"), "{received}");
    assert_eq!(draining.join().unwrap().cut, 0);
}

#[test]
fn a_file_that_somebody_else_has_put_there_stays() {
    let folder = Folder::new("unix-other");
    let running = hello(Server::bind_unix(folder.socket()));
    std::fs::remove_file(folder.socket()).unwrap();
    let _other = UnixListener::bind(folder.socket()).unwrap();
    running.shutdown();
    assert!(folder.socket().exists());
}

#[test]
fn a_server_that_never_served_leaves_no_file() {
    let folder = Folder::new("unix-unserved");
    drop(Server::bind_unix(folder.socket()).listen().unwrap());
    assert!(!folder.socket().exists());
}

#[test]
fn the_mode_of_the_file_is_the_one_that_was_asked_for() {
    let folder = Folder::new("unix-mode");
    for mode in [0o600, 0o666] {
        let running = hello(Server::bind_unix(folder.socket()).mode(mode));
        let found = std::fs::metadata(folder.socket()).unwrap().permissions();
        assert_eq!(found.mode() & 0o777, mode);
        running.shutdown();
    }
}

#[test]
fn several_workers_share_a_socket_and_each_accepts() {
    let folder = Folder::new("unix-workers");
    let workers = 3;
    let (barrier, names) = (Arc::new(Barrier::new(workers)), Arc::default());
    let seen: Arc<Mutex<BTreeSet<String>>> = Arc::clone(&names);
    let (enter, entered) = channel();
    let answer = service(move |_| {
        let name = std::thread::current().name().unwrap().to_owned();
        seen.lock().unwrap().insert(name);
        enter.send(()).unwrap();
        // A worker that waits here accepts no connection: the next one goes to another.
        barrier.wait();
        async { Response::new(Body::full("hi")) }
    });
    let server = Server::bind_unix(folder.socket()).workers(workers);
    let running = server.serve(answer).unwrap();
    let path = folder.socket();
    let mut askers = Vec::new();
    for _ in 0..workers {
        let path = path.clone();
        askers.push(std::thread::spawn(move || ask(&path)));
        entered.recv_timeout(Duration::from_secs(60)).unwrap();
    }
    for asker in askers {
        assert!(asker.join().unwrap().ends_with("\r\n\r\nhi"));
    }
    assert_eq!(names.lock().unwrap().len(), workers);
    assert_eq!(running.metrics().connections_accepted, workers as u64);
    running.shutdown();
    assert!(!path.exists());
}

#[test]
fn a_socket_that_was_handed_over_is_served_and_its_file_stays() {
    let folder = Folder::new("unix-handed");
    let listener = UnixListener::bind(folder.socket()).unwrap();
    let running = hello(Server::on_unix(listener).workers(2));
    assert!(ask(&folder.socket()).ends_with("\r\n\r\nhi"));
    assert_eq!(running.local_addr().as_pathname(), Some(&*folder.socket()));
    running.shutdown();
    let refused = UnixStream::connect(folder.socket()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert!(folder.socket().exists());
}

#[test]
fn a_port_that_was_handed_over_is_served_with_http3_beside_it() {
    // A number that is free over TCP may be taken over UDP.
    let (listener, at) = std::iter::repeat_with(|| TcpListener::bind("127.0.0.1:0").unwrap())
        .map(|listener| (listener.local_addr().unwrap(), listener))
        .find_map(|(at, listener)| UdpSocket::bind(at).is_ok().then_some((listener, at)))
        .unwrap();
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::on(listener).workers(2).tls(tls).http3(true);
    let answer = service(async |_| Response::new(Body::full("hi")));
    let running = server.serve(answer).unwrap();
    assert_eq!(running.local_addr(), at);
    for (protocols, version) in [
        (Protocols::H2Only, http::Version::HTTP_2),
        (Protocols::H3Only, http::Version::HTTP_3),
    ] {
        let client = Client::builder()
            .protocols(protocols)
            .resolve("localhost", [at])
            .tls(ClientTls::new().root(root.clone()).only_given_roots())
            .build()
            .unwrap();
        let url = format!("https://localhost:{}/", at.port());
        let (spoken, text, _) = get(&client, &url);
        assert_eq!((spoken, &*text), (version, "hi"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_of_linux_has_no_file() {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("trunkline-test-{}", std::process::id());
    let running = hello(Server::bind_unix(format!("\0{name}")));
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    assert_eq!(
        running.local_addr().as_abstract_name(),
        Some(name.as_bytes())
    );
    let mut peer = UnixStream::connect_addr(&address).unwrap();
    peer.set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    peer.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut received = String::new();
    peer.read_to_string(&mut received).unwrap();
    assert!(received.ends_with("\r\n\r\nhi"), "{received}");
}

#[test]
fn an_idle_connection_is_closed_in_its_time_as_on_a_port() {
    let folder = Folder::new("unix-idle");
    let mut config = ServerConfig::default();
    config.timeouts.idle = Some(Duration::from_secs(1));
    let _running = hello(Server::bind_unix(folder.socket()).config(config));
    let mut peer = connect(&folder.socket());
    peer.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        .unwrap();
    let mut received = String::new();
    peer.read_to_string(&mut received).unwrap();
    assert!(received.ends_with("\r\n\r\nhi"), "{received}");
}
