//! Peers that are killed (SIGKILL): processes of their own, which play a script and wait for their
//! death. Each is this test's own program, started again with one test and told its part by its
//! environment.

use super::client::{self, outcome};
use super::frame;
use super::h3::{self, End, PLACES, play};
use super::h3_peer::{OK, POST};
use super::h3_server;
use super::quic::{IDLE, PATIENCE, Quic};
use super::server::{self, Came, Stage};
use super::table::Table;
use super::wire::{Identity, Wire, trusting};
use quinn_proto::Dir;
use rustls::pki_types::CertificateDer;
use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;
use trunkline::client::{Client, ClientTls, Protocols};

/// The part of a child: its side, its version, its row of scripts, and what it connects to.
const PART: &str = "TRUNKLINE_TEST_ENDS_CHILD";

/// The test is run as a child if its environment says so; on its own it does nothing.
#[test]
fn a_peer_in_a_process_of_its_own() {
    let Ok(part) = env::var(PART) else {
        return;
    };
    let words: Vec<&str> = part.split(' ').collect();
    match words[..] {
        ["server", "h3", script] => serve_quic(script.parse().unwrap()),
        ["server", version, security, script] => {
            serve_tcp(version, security == "tls", script.parse().unwrap());
        }
        ["client", "h3", script, to, root] => ask_quic(script.parse().unwrap(), to, root),
        ["client", version, script, to, root] => {
            ask_tcp(version, script.parse().unwrap(), to, root);
        }
        _ => panic!("{part}"),
    }
}

fn print_line(words: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "child: {words}").unwrap();
    out.flush().unwrap();
}

/// Says that the script is played, and waits to be killed, or for the end of its parent.
fn wait_for_death() {
    print_line("played");
    let _ = std::io::stdin().read_line(&mut String::new());
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let bytes = (0..text.len()).step_by(2);
    bytes
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn serve_tcp(version: &str, is_secure: bool, script: usize) {
    let identity = Identity::new(&[if version == "h1" { "http/1.1" } else { "h2" }]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    print_line(&format!("{port} {}", hex(&identity.root)));
    let tls = is_secure.then(|| Arc::clone(&identity.server));
    let mut wire = Wire::accepted(listener.accept().unwrap().0, tls);
    let sent = match version {
        "h1" => {
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"pay=1") {
                wire.read_exact(&mut byte).unwrap();
                request.push(byte[0]);
            }
            client::h1_scripts()[script].sent.clone()
        }
        _ => {
            wire.read_exact(&mut [0; 24]).unwrap();
            wire.write_all(&frame::frame(frame::SETTINGS, 0, 0, &[]))
                .unwrap();
            frame::read_request(&mut wire).unwrap();
            client::h2_scripts()[script].sent.clone()
        }
    };
    wire.write_all(&sent).unwrap();
    wire.flush().unwrap();
    wait_for_death();
}

fn serve_quic(script: usize) {
    let identity = Identity::new(&["h3"]);
    let mut quic = Quic::server(&identity, IDLE);
    print_line(&format!("{} {}", quic.port(), hex(&identity.root)));
    let mut control = None;
    loop {
        quic.turn();
        if let Some(&connection) = quic.connections().first() {
            control.get_or_insert_with(|| h3::open_control(&mut quic, connection));
        }
        if let (Some(&(connection, stream)), Some(control)) = (quic.requests().first(), control) {
            let script = &h3::scripts(OK)[script];
            play(
                &mut quic,
                connection,
                (stream, control),
                script,
                End::Silence,
                false,
            );
            return wait_for_death();
        }
    }
}

fn ask_tcp(version: &str, script: usize, to: &str, root: &str) {
    let tls = (root != "-").then(|| {
        let alpn: &[u8] = if version == "h1" { b"http/1.1" } else { b"h2" };
        trusting(CertificateDer::from(unhex(root)), vec![alpn.into()])
    });
    let is_secure = tls.is_some();
    let mut wire = Wire::connected(TcpStream::connect(to).unwrap(), tls);
    let sent = match version {
        "h1" => server::h1_scripts()[script].sent.clone(),
        _ => server::h2_scripts(is_secure)[script].sent.clone(),
    };
    wire.write_all(&sent).unwrap();
    wire.flush().unwrap();
    wait_for_death();
}

fn ask_quic(script: usize, to: &str, root: &str) {
    let tls = trusting(CertificateDer::from(unhex(root)), vec![b"h3".into()]);
    let (mut quic, connection) = Quic::connected(&tls, to.parse().unwrap(), IDLE);
    let control = h3::open_control(&mut quic, connection);
    let stream = quic.open(connection, Dir::Bi);
    let script = &h3::scripts(POST)[script];
    play(
        &mut quic,
        connection,
        (stream, control),
        script,
        End::Silence,
        false,
    );
    wait_for_death();
}

/// A running child; it dies with this.
struct Child {
    process: std::process::Child,
    printed: Box<dyn Iterator<Item = String> + Send>,
}

impl Child {
    fn start(part: &str) -> Self {
        let module = module_path!().split_once("::").unwrap().1;
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "--nocapture"])
            .arg(format!("{module}::a_peer_in_a_process_of_its_own"))
            .env(PART, part)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let printed = lines.map_while(Result::ok).filter_map(|line| {
            let (_, words) = line.split_once("child: ")?;
            Some(words.to_owned())
        });
        Self {
            process,
            printed: Box::new(printed),
        }
    }
    fn next(&mut self) -> String {
        self.printed.next().expect("the child goes on")
    }
    /// Kills the child once its script is played.
    fn die(mut self) {
        assert_eq!(self.next(), "played");
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The outcome of one POST to a server that dies behind its script.
fn asked(protocols: Protocols, is_secure: bool, part: &str) -> Came {
    let mut child = Child::start(part);
    let words = child.next();
    let (port, root) = words.split_once(' ').unwrap();
    let root = CertificateDer::from(unhex(root));
    let scheme = if is_secure { "https" } else { "http" };
    let url = format!("{scheme}://localhost:{port}/");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        let client = Client::builder()
            .resolve("localhost", [address])
            .connections(1)
            .protocols(protocols)
            .tls(ClientTls::new().root(root).only_given_roots())
            .build()
            .unwrap();
        let death = std::thread::spawn(move || child.die());
        let seen = outcome(client.post(&url).body("pay=1").send()).await;
        death.join().unwrap();
        seen
    })
}

fn assert_cell(table: &Table, end: &str, place: &str, body: &str, seen: &Came) {
    let case = format!("{end}, {place}: {seen:?}");
    assert_eq!(seen.0, table.cell(end, place), "{case}");
    if seen.0 == "whole" || seen.0.starts_with("cut") {
        assert_eq!(seen.1, body, "what came is delivered: {case}");
    }
}

const SECURITIES: [(bool, &str, &str); 2] = [
    (false, "plain", "SIGKILL in cleartext"),
    (true, "tls", "SIGKILL under TLS"),
];

#[test]
fn a_client_of_a_server_that_is_killed_sees_what_the_table_says() {
    for (version, protocols, heading) in [
        ("h1", Protocols::H1Only, "A client on HTTP/1.1"),
        ("h2", Protocols::H2Only, "A client on HTTP/2"),
    ] {
        let table = Table::under(heading);
        let scripts = match version {
            "h1" => Vec::from(client::h1_scripts()),
            _ => Vec::from(client::h2_scripts()),
        };
        for (is_secure, security, end) in SECURITIES {
            for (index, script) in scripts.iter().enumerate() {
                let part = format!("server {version} {security} {index}");
                let seen = asked(protocols, is_secure, &part);
                assert_cell(&table, end, script.place, script.body, &seen);
            }
        }
        table.assert_deaths_read();
    }
}

#[test]
fn a_client_of_a_server_that_is_killed_under_http_3_sees_what_the_table_says() {
    let table = Table::under("A client on HTTP/3");
    // All at once, for each lasts as long as the idle timeout.
    let seen = (0..PLACES).map(|place| {
        std::thread::spawn(move || asked(Protocols::H3Only, true, &format!("server h3 {place}")))
    });
    let seen: Vec<_> = seen.collect();
    for (script, seen) in h3::scripts(OK).iter().zip(seen) {
        let seen = seen.join().unwrap();
        assert_cell(&table, "SIGKILL", script.place, script.body, &seen);
    }
    table.assert_deaths_read();
}

#[test]
fn a_handler_whose_client_is_killed_sees_what_the_table_says() {
    for (version, alpn, heading) in [
        ("h1", "http/1.1", "A server on HTTP/1.1"),
        ("h2", "h2", "A server on HTTP/2"),
    ] {
        let table = Table::under(heading);
        let identity = Identity::new(&[alpn]);
        for (is_secure, _, end) in SECURITIES {
            let identity = is_secure.then_some(&identity);
            let root = identity.map_or("-".to_owned(), |identity| hex(&identity.root));
            let stage = Stage::start(identity);
            let to = stage.running.local_addr();
            let scripts = match version {
                "h1" => Vec::from(server::h1_scripts()),
                _ => Vec::from(server::h2_scripts(is_secure)),
            };
            for (index, script) in scripts.iter().enumerate() {
                Child::start(&format!("client {version} {index} {to} {root}")).die();
                let is_seen = table.cell(end, script.place) != "none";
                let seen = stage.seen_behind(identity, version == "h2", is_seen);
                let body = if seen.0.starts_with("cut") {
                    "hel"
                } else {
                    "hello"
                };
                assert_cell(&table, end, script.place, body, &seen);
            }
            stage.end();
        }
        table.assert_deaths_read();
    }
}

#[test]
fn a_handler_whose_client_is_killed_under_http_3_sees_what_the_table_says() {
    let table = Table::under("A server on HTTP/3");
    let identity = Arc::new(Identity::new(&["h3"]));
    // All at once, for each lasts as long as the idle timeout.
    let seen = h3::scripts(POST)
        .into_iter()
        .enumerate()
        .map(|(place, script)| {
            let identity = Arc::clone(&identity);
            let is_seen = table.cell("SIGKILL", script.place) != "none";
            std::thread::spawn(move || {
                let stage = h3_server::start(&identity);
                let to = stage.running.local_addr();
                Child::start(&format!("client h3 {place} {to} {}", hex(&identity.root))).die();
                let mut probing = h3_server::probe(&stage, &identity);
                let mut seen = Vec::new();
                let until = Instant::now() + PATIENCE;
                while seen.len() < 1 + usize::from(is_seen) {
                    assert!(Instant::now() < until, "seen in vain: {seen:?}");
                    probing.turn();
                    seen.extend(stage.try_next());
                }
                stage.end();
                let probed = ("whole".to_owned(), String::new());
                let at = seen.iter().position(|seen| *seen == probed);
                seen.remove(at.expect("the probe is seen"));
                (script, seen.pop().unwrap_or(("none".into(), String::new())))
            })
        });
    let seen: Vec<_> = seen.collect();
    for seen in seen {
        let (script, seen) = seen.join().unwrap();
        assert_cell(&table, "SIGKILL", script.place, script.body, &seen);
    }
    table.assert_deaths_read();
}
