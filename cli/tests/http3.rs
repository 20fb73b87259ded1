//! HTTP/3 where it cannot be had, on the binary: one clear line, and TCP goes on.

use crate::lines::Lines;
use crate::port::free_port;
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use tower_service::Service;
use trunkline::{Body, Running, Server, Tls};

const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `get` with these arguments.
fn get(arguments: &[&str]) -> Output {
    Command::new(BINARY)
        .arg("get")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts")
}

/// The body of an answer.
#[track_caller]
fn got(arguments: &[&str]) -> String {
    let output = get(arguments);
    let printed = text(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {printed}");
    text(&output.stdout)
}

/// Exit code of a connection that failed (7), a certificate that was refused (60) or a time that ran out (28), and one
/// line with all of `expected`.
#[track_caller]
fn fails(arguments: &[&str], expected: &[&str]) {
    let output = get(arguments);
    let printed = text(&output.stderr);
    let code = output.status.code();
    assert!(
        matches!(code, Some(7 | 28 | 60)),
        "{code:?}: {arguments:?}: {printed}"
    );
    assert_eq!(printed.lines().count(), 1, "{arguments:?}: {printed}");
    for word in expected {
        assert!(printed.contains(word), "{arguments:?}: {printed}");
    }
}

/// A running `serve`, ended with the value.
struct Served {
    child: Child,
    warnings: Lines,
    port: u16,
}

impl Served {
    fn start(listen: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(BINARY)
            .args(["serve", "--test-endpoints", "--listen", listen])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stdout = child.stdout.take().expect("it is piped");
        let stderr = child.stderr.take().expect("it is piped");
        let line = Lines::of(stdout).next();
        let port = line.trim().rsplit(':').next();
        let port = port.and_then(|port| port.parse().ok());
        Self {
            child,
            warnings: Lines::of(stderr),
            port: port.unwrap_or_else(|| panic!("it says where it listens: {line:?}")),
        }
    }
    fn url(&self) -> String {
        format!("https://localhost:{}/bytes/5", self.port)
    }
    /// Its next warning.
    fn warning(&mut self) -> String {
        self.warnings.next()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that is taken over UDP as long as the socket is open, and free over TCP.
fn taken_over_udp() -> (UdpSocket, String) {
    let address = SocketAddr::from(([127, 0, 0, 1], free_port().expect("a port")));
    let taken = UdpSocket::bind(address).expect("it was free");
    (taken, address.to_string())
}

#[test]
fn a_server_whose_udp_port_is_in_use_says_so_and_serves_tcp() {
    let (_taken, address) = taken_over_udp();
    let mut served = Served::start(&address, &["--http3", "--tls-self-signed"]);
    let warning = served.warning();
    assert!(warning.contains("without HTTP/3"), "{warning}");
    assert!(warning.contains("UDP port"), "{warning}");
    assert!(warning.contains(&served.port.to_string()), "{warning}");
    assert_eq!(got(&["-k", &served.url()]), "01234");
}

#[test]
fn an_origin_without_http3_is_reached_over_tcp_and_named_where_only_http3_may_be_used() {
    let served = Served::start("127.0.0.1:0", &["--tls-self-signed", "--no-http3"]);
    assert_eq!(got(&["-k", "--http3", &served.url()]), "01234");
    let url = served.url();
    fails(
        &["-k", "--http3-only", &url],
        &["QUIC", &served.port.to_string()],
    );
    // It serves on.
    assert_eq!(got(&["-k", "--http1.1", &served.url()]), "01234");
}

/// Answers everything with "old".
#[derive(Clone)]
struct Old;

impl Service<http::Request<Body>> for Old {
    type Response = http::Response<Body>;
    type Error = std::convert::Infallible;
    type Future = std::future::Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(
        &mut self,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Ready(Ok(()))
    }
    fn call(&mut self, _: http::Request<Body>) -> Self::Future {
        std::future::ready(Ok(http::Response::new(Body::full("old"))))
    }
}

/// An origin that has HTTP/1.1 and nothing newer.
fn http1_alone() -> Running {
    let tls = Tls::self_signed(["localhost"]).expect("a certificate");
    let server = Server::bind("127.0.0.1:0").tls(tls.offer(&["http/1.1"]));
    server.serve(Old).expect("it listens")
}

#[test]
fn an_origin_of_http_1_1_alone_is_reached_with_http3_allowed_and_named_where_nothing_else_may_be_used()
 {
    let running = http1_alone();
    let port = running.local_addr().port();
    let url = format!("https://localhost:{port}/");
    assert_eq!(got(&["-k", "--http3", &url]), "old");
    fails(&["-k", "--http3-only", &url], &["QUIC", &port.to_string()]);
    assert_eq!(running.metrics().requests_h1, 1);
}

#[test]
fn a_path_that_drops_udp_leaves_tcp_and_is_one_line_where_only_http3_may_be_used() {
    // Packets arrive without an answer, as behind a middlebox that drops them.
    let (_hole, address) = taken_over_udp();
    let served = Served::start(&address, &["--tls-self-signed", "--no-http3"]);
    assert_eq!(got(&["-k", "--http3", &served.url()]), "01234");
    let url = served.url();
    fails(
        &["-k", "--http3-only", "--timeout", "2", &url],
        &["a connection is being opened"],
    );
}

#[test]
fn a_certificate_that_names_no_host_is_said_and_refused_in_one_line_either_way() {
    let folder = Folder::new();
    let (certificate, key) = folder.nameless();
    let flags = ["--http3", "--tls-cert", &certificate, "--tls-key", &key];
    let mut served = Served::start("127.0.0.1:0", &flags);
    let warning = served.warning();
    assert!(warning.contains("names no host"), "{warning}");
    let url = served.url();
    for way in ["--http2", "--http3-only"] {
        fails(&["--cacert", &certificate, way, &url], &["certificate"]);
        assert_eq!(got(&["-k", way, &url]), "01234");
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("trunkline-http3-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }
    /// Certificate and key files without a name.
    fn nameless(&self) -> (String, String) {
        let signed = rcgen::generate_simple_self_signed(Vec::<String>::new()).expect("a key");
        let file = |name: &str, content: String| {
            let path = self.0.join(name);
            std::fs::write(&path, content).expect("written");
            path.display().to_string()
        };
        let certificate = file("certificate.pem", signed.cert.pem());
        (
            certificate,
            file("key.pem", signed.signing_key.serialize_pem()),
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn http3_is_served_under_tls_by_itself_and_its_flags_are_refused_where_it_is_not() {
    for flags in [
        &["--tls-self-signed"][..],
        &["--tls-self-signed", "--early-data"],
    ] {
        let served = Served::start("127.0.0.1:0", flags);
        assert_eq!(got(&["-k", "--http3-only", &served.url()]), "01234");
    }
    for (flags, expected) in [
        (&["--early-data"][..], "--early-data needs TLS"),
        (&["--http3"], "--http3 needs TLS"),
        (&["--quic-secret", "file"], "--quic-secret needs TLS"),
        (
            &["--tls-self-signed", "--no-http3", "--early-data"],
            "--no-http3",
        ),
    ] {
        let output = Command::new(BINARY)
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(flags)
            .output()
            .expect("the binary starts");
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        let printed = text(&output.stderr);
        assert!(printed.contains(expected), "{flags:?}: {printed}");
    }
}

/// As curl's --http3: no answer before has said that HTTP/3 is there.
#[test]
fn get_tries_http3_with_its_first_request_and_goes_on_over_tcp() {
    let (hole, address) = taken_over_udp();
    let served = Served::start(&address, &["--tls-self-signed", "--no-http3"]);
    assert_eq!(got(&["-k", "--http3", &served.url()]), "01234");
    let mut packet = [0; 2048];
    let (bytes, _) = hole.recv_from(&mut packet).expect("a packet came");
    // RFC 9000 section 14.1: a datagram with an Initial packet.
    assert!(bytes >= 1200, "{bytes}");
    assert_eq!(got(&["-k", &served.url()]), "01234");
    hole.set_nonblocking(true).expect("a socket");
    while hole.recv_from(&mut packet).is_ok() {}
    assert_eq!(got(&["-k", &served.url()]), "01234");
    assert!(
        hole.recv_from(&mut packet).is_err(),
        "without --http3 there is no QUIC"
    );
}
