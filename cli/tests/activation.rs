//! `trunkline serve` on sockets that a service manager has opened (`LISTEN_FDS`).

use crate::served::{Folder, Served};
use http_body_util::BodyExt as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use trunkline::Client;
use trunkline::client::{ClientTls, Protocols};

const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");

/// `serve` with these as descriptors 3 and 4, which the shell has as its standard input and error.
fn activated(descriptors: [Option<OwnedFd>; 2], names: &str, arguments: &[&str]) -> Command {
    let count = descriptors.iter().flatten().count();
    let script = "exec 3<&0 4<&2 0</dev/null 2>&1; LISTEN_PID=$$ exec \"$0\" serve \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, BINARY]).args(arguments);
    command.env("LISTEN_FDS", count.to_string());
    command.env("LISTEN_FDNAMES", names);
    let [first, second] = descriptors.map(|it| it.map_or_else(Stdio::null, Stdio::from));
    command.stdin(first).stderr(second);
    command
}

/// A port that is free for TCP and UDP.
fn port() -> (TcpListener, UdpSocket) {
    loop {
        let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
        if let Ok(udp) = UdpSocket::bind(tcp.local_addr().expect("bound")) {
            return (tcp, udp);
        }
    }
}

fn got(version: Protocols, url: &str) -> String {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let client = Client::builder().protocols(version);
    let client = client.tls(ClientTls::default().insecure()).build();
    let client = client.expect("the settings fit");
    let body = runtime.block_on(async {
        let response = client.get(url).send().await.expect("an answer");
        response.into_body().collect().await.expect("a body")
    });
    String::from_utf8_lossy(&body.to_bytes()).into_owned()
}

fn refused(mut command: Command) -> String {
    let output = command.stdout(Stdio::piped()).output();
    let output = output.expect("the shell starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    text
}

#[test]
fn a_tcp_and_a_udp_socket_of_a_service_manager_serve_every_version() {
    let folder = Folder::new("activation-port");
    folder.file("a.txt", b"hello");
    let (tcp, udp) = port();
    let address = tcp.local_addr().expect("bound");
    let descriptors = [Some(tcp.into()), Some(udp.into())];
    let path = folder.path();
    let command = activated(descriptors, "web:web", &["--tls-self-signed", &path]);
    let served = Served::run(command);
    assert_eq!(served.url, format!("https://{address}"));
    for version in [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only] {
        assert_eq!(got(version, &served.url("/a.txt")), "hello", "{version:?}");
    }
    assert_eq!(served.terminate(), Some(0));
}

#[test]
fn a_unix_socket_and_the_admin_socket_of_a_service_manager_are_known_by_their_name() {
    let folder = Folder::new("activation-unix");
    folder.file("a.txt", b"hello");
    let path = folder.path();
    let place = format!("{path}/site.sock");
    let unix = UnixListener::bind(&place).expect("a path");
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
    let admin = tcp.local_addr().expect("bound").to_string();
    let descriptors = [Some(tcp.into()), Some(unix.into())];
    let command = activated(
        descriptors,
        "admin:site",
        &["--admin", "127.0.0.1:0", &path],
    );
    let mut served = Served::run(command);
    assert_eq!(served.url, format!("http at {place}"));
    assert_eq!(served.admin(), admin);
    let mut stream = UnixStream::connect(&place).expect("it listens");
    let request = b"GET /a.txt HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    stream.write_all(request).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.ends_with("hello"), "{answer}");
    assert_eq!(
        got(Protocols::H1Only, &format!("http://{admin}/healthz")),
        "ok\n"
    );
    assert_eq!(served.terminate(), Some(0));
    // The file is the manager's.
    assert!(fs::exists(&place).expect("a folder"));
}

#[test]
fn sockets_that_cannot_be_served_on_are_refused_with_their_descriptor() {
    let folder = Folder::new("activation-refused");
    let path = folder.path();
    let tcp = || TcpListener::bind("127.0.0.1:0").expect("a port");
    let udp = || UdpSocket::bind("127.0.0.1:0").expect("a port");
    let file = fs::File::open(folder.file("a.txt", b"hello")).expect("a file");
    let unix = UnixListener::bind(format!("{path}/site.sock")).expect("a path");
    let cases: [([Option<OwnedFd>; 2], &str); 4] = [
        (
            [Some(file.into()), None],
            "descriptor 3 of LISTEN_FDS (a) is not a socket",
        ),
        (
            [Some(tcp().into()), Some(tcp().into())],
            "descriptor 4 of LISTEN_FDS (b) is at 127.0.0.1:",
        ),
        (
            [Some(tcp().into()), Some(unix.into())],
            "descriptor 4 of LISTEN_FDS (b) is a Unix socket",
        ),
        ([Some(udp().into()), None], "HTTP/3 alone"),
    ];
    for (descriptors, expected) in cases {
        let text = refused(activated(descriptors, "a:b", &[&path]));
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let admin = activated([Some(tcp().into()), None], "admin", &[&path]);
    let text = refused(admin);
    assert!(text.contains("add --admin"), "{text}");
}
