//! A server in a process of its own, which can be killed. The process is this test's own program,
//! started again with one test and told by its environment to serve.
#![allow(clippy::unwrap_used, reason = "a server that fails fails its test")]

use super::peer::service;
use super::port;
use http::{Request, Response};
use rustls::pki_types::CertificateDer;
use std::env;
use std::future::pending;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use trunkline::client::{Client, ClientBuilder, ClientTls};
use trunkline::{Body, Server, Tls};

/// The test that serves in the child process.
const TEST: &str = "a_server_in_a_process_of_its_own";
const CHILD_ADDRESS: &str = "TRUNKLINE_TEST_CHILD";

/// The body of `/download`.
pub(crate) const DOWNLOAD_BYTES: usize = 3 << 20;

/// A certificate that outlives processes.
#[derive(Clone)]
pub(crate) struct Identity {
    certificate: String,
    key: String,
    root: CertificateDer<'static>,
}

/// The source of a server's key for stateless resets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Default,
    /// Bytes that no other process has.
    OfItsOwn,
}

impl Identity {
    pub(crate) fn new() -> Self {
        let signed = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        Self {
            certificate: signed.cert.pem(),
            key: signed.signing_key.serialize_pem(),
            root: signed.cert.der().clone(),
        }
    }
    pub(crate) fn client(&self) -> ClientBuilder {
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        Client::builder()
            .resolve("localhost", [address])
            .tls(ClientTls::new().root(self.root.clone()).only_given_roots())
    }
}

/// A running process; it ends with this.
pub(crate) struct Child {
    process: std::process::Child,
    /// Its output, line by line.
    sent: mpsc::Receiver<String>,
    port: u16,
    identity: Identity,
}

impl Child {
    /// `port`: 0 for one that no other test gets, also while a server that was killed starts again.
    pub(crate) async fn start(identity: &Identity, key: Key, port: u16) -> Self {
        let port = match port {
            0 => port::free_port().unwrap(),
            _ => port,
        };
        Self::begin(identity, key, port, "first", true).await
    }
    pub(crate) async fn start_without_http3(identity: &Identity, port: u16) -> Self {
        Self::begin(identity, Key::Default, port, "second", false).await
    }
    async fn begin(identity: &Identity, key: Key, port: u16, name: &str, http3: bool) -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", TEST, "--nocapture"])
            .env(CHILD_ADDRESS, format!("{port} {name} {key:?} {http3}"))
            .env("TRUNKLINE_TEST_CERTIFICATE", &identity.certificate)
            .env("TRUNKLINE_TEST_KEY", &identity.key)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        let (send, sent) = mpsc::channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                let Some((_, word)) = line.split_once("child: ") else {
                    continue;
                };
                if send.send(word.to_owned()).is_err() {
                    return;
                }
            }
        });
        let mut child = Self {
            process,
            sent,
            port: 0,
            identity: identity.clone(),
        };
        child.port = child.next().await.parse().unwrap();
        child
    }
    pub(crate) fn process(&self) -> u32 {
        self.process.id()
    }
    pub(crate) fn port(&self) -> u16 {
        self.port
    }
    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.port)
    }
    /// Waits until it says `word`.
    pub(crate) async fn wait_for(&mut self, word: &str) {
        while self.next().await != word {}
    }
    async fn next(&mut self) -> String {
        loop {
            match self.sent.try_recv() {
                Ok(word) => return word,
                Err(mpsc::TryRecvError::Empty) => {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                Err(mpsc::TryRecvError::Disconnected) => panic!("the server has ended"),
            }
        }
    }
    /// Ends it without a word (SIGKILL).
    pub(crate) fn kill(mut self) {
        self.end();
    }
    /// It stands still (SIGSTOP) until [`go_on`](Self::go_on); what comes waits in its sockets.
    pub(crate) fn stand_still(&self) {
        self.signal("STOP");
    }
    /// It goes on (SIGCONT).
    pub(crate) fn go_on(&self) {
        self.signal("CONT");
    }
    fn signal(&self, signal: &str) {
        let command = format!("kill -{signal} {}", self.process.id());
        let status = Command::new("sh").args(["-c", &command]).status();
        assert!(status.unwrap().success(), "{command}");
    }
    /// Kills the server, and another one takes its port at once.
    pub(crate) async fn kill_and_start_again(mut self, key: Key) -> Self {
        self.end();
        Self::begin(&self.identity, key, self.port, "second", true).await
    }
    fn end(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// Serves until standard input ends, if this process was started for it.
pub(crate) fn serve_if_asked() {
    let Ok(place) = env::var(CHILD_ADDRESS) else {
        return;
    };
    let words: Vec<&str> = place.split(' ').collect();
    let [port, name, key, http3] = words[..] else {
        panic!("{place}");
    };
    let certificate = env::var("TRUNKLINE_TEST_CERTIFICATE").unwrap();
    let private = env::var("TRUNKLINE_TEST_KEY").unwrap();
    let tls = Tls::from_pem(certificate.as_bytes(), private.as_bytes()).unwrap();
    let name = name.to_owned();
    let answer = move |request: Request<Body>| {
        let name = name.clone();
        async move {
            let is_stuck = match request.uri().path() {
                "/stuck" => true,
                "/stuck-at-first" => name == "first",
                _ => false,
            };
            if is_stuck {
                send("stuck");
                pending::<()>().await;
            }
            match request.uri().path() {
                "/late" => {
                    // The answer is late, not the acknowledgement.
                    tokio::time::sleep(Duration::from_millis(400)).await;
                    Response::new(Body::full("late"))
                }
                "/upload" => {
                    let received = request.into_body().bytes().await.unwrap().len();
                    Response::new(Body::full(received.to_string()))
                }
                "/download" => Response::new(Body::full(vec![0; DOWNLOAD_BYTES])),
                "/version" => Response::new(Body::full(format!("{:?}", request.version()))),
                _ => Response::new(Body::full(name)),
            }
        }
    };
    let mut server = Server::bind(format!("127.0.0.1:{port}"))
        .tls(tls)
        .http3(http3 == "true");
    if key == format!("{:?}", Key::OfItsOwn) {
        let secret = rcgen::KeyPair::generate().unwrap().serialize_der();
        server = server.quic_secret(secret);
    }
    let running = server.serve(service(answer)).unwrap();
    send(&running.local_addr().port().to_string());
    let mut rest = String::new();
    let _ = std::io::stdin().read_line(&mut rest);
}

fn send(word: &str) {
    let mut out = std::io::stdout().lock();
    // A client without further output has ended.
    let _ = writeln!(out, "child: {word}");
    let _ = out.flush();
}
